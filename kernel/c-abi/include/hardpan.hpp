// Hardpan for C++17: handles that close themselves. SPDX-License-Identifier: MIT OR Apache-2.0
//
//     hpan::View view;
//     if (hpan_error e = view.open(bytes, length)) { puts(hpan_error_text(e)); return 1; }
//     hpan_answer answer;
//     hpan_closest(view, x, y, z, &answer);
//
// Each type is the handle in memory of its own and converts to the handle's pointer, which all functions of hardpan.h take.
// They move, and do not copy. Nothing throws; where there is no memory, the error is HPAN_ERROR_ROOM.
#ifndef HARDPAN_HPP
#define HARDPAN_HPP

#include "hardpan.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace hpan {

// An open handle in memory of its own, or none.
template <class H, std::size_t (*size)(), std::size_t (*align)(), hpan_error (*close_handle)(H *)>
class Handle {
public:
    Handle() = default;
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    Handle(Handle &&from) noexcept : handle_(std::exchange(from.handle_, nullptr)), memory_(std::exchange(from.memory_, nullptr)) {}
    Handle &operator=(Handle &&from) noexcept {
        std::swap(handle_, from.handle_);
        std::swap(memory_, from.memory_);
        return *this;
    }
    ~Handle() { close(); }

    // Closes the handle, if there is one.
    void close() noexcept {
        if (handle_ != nullptr) {
            close_handle(handle_);
        }
        ::operator delete(memory_, std::align_val_t(align()), std::nothrow);
        handle_ = nullptr;
        memory_ = nullptr;
    }

    // Whether there is an open handle.
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    // The handle, or null, which every function answers with HPAN_ERROR_NULL.
    operator H *() const noexcept { return handle_; }

protected:
    // Makes the handle anew with a function that gets memory, its size and where the handle goes.
    template <class Make>
    hpan_error make(Make start) noexcept {
        close();
        memory_ = ::operator new(size(), std::align_val_t(align()), std::nothrow);
        if (memory_ == nullptr) {
            return HPAN_ERROR_ROOM;
        }
        const hpan_error error = start(memory_, size(), &handle_);
        if (error != HPAN_OK) {
            close();
        }
        return error;
    }

private:
    H *handle_ = nullptr;
    void *memory_ = nullptr;
};

// An open image. The bytes stay where they are, unchanged, as long as it is open.
class View : public Handle<hpan_view, hpan_view_size, hpan_view_align, hpan_close> {
public:
    // hpan_open
    hpan_error open(const void *bytes, std::size_t length) noexcept {
        return make([=](void *m, std::size_t n, hpan_view **v) { return hpan_open(m, n, bytes, length, v); });
    }
    // hpan_open_verified
    hpan_error open_verified(const void *bytes, std::size_t length, std::uint32_t *where = nullptr) noexcept {
        return make([=](void *m, std::size_t n, hpan_view **v) { return hpan_open_verified(m, n, bytes, length, v, where); });
    }
};

// What one wheel remembers.
class Cursor : public Handle<hpan_cursor, hpan_cursor_size, hpan_cursor_align, hpan_cursor_close> {
public:
    // hpan_cursor_start
    hpan_error start() noexcept { return make(hpan_cursor_start); }
};

// A proof of an image in steps.
class Verifier : public Handle<hpan_verifier, hpan_verifier_size, hpan_verifier_align, hpan_verifier_close> {
public:
    // hpan_verifier_start
    hpan_error start(const hpan_view *view) noexcept {
        return make([=](void *m, std::size_t n, hpan_verifier **v) { return hpan_verifier_start(m, n, view, v); });
    }
};

// Surfaces in order.
class Stack : public Handle<hpan_stack, hpan_stack_size, hpan_stack_align, hpan_stack_close> {
public:
    // hpan_stack_start
    hpan_error start(const hpan_surface *surfaces, std::size_t count) noexcept {
        return make([=](void *m, std::size_t n, hpan_stack **s) { return hpan_stack_start(m, n, surfaces, count, s); });
    }
};

} // namespace hpan

#endif
