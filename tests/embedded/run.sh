#!/usr/bin/env bash
# Builds the kernel for small cores and checks it on emulated ones:
#   - no panic path survives in any entry point (linked without a panic handler),
#   - every answer has the same bits on Cortex-M4F, Cortex-M0, RV32, wasm32 and here, in debug and release builds,
#   - exact instruction counts and stack stay within budgets.toml.
# run.sh [--bless]: with --bless the budgets are written anew from what was measured.
# What cannot run for want of a tool is skipped, with the reason; with HARDPAN_CI=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target/embedded}
out=$CARGO_TARGET_DIR/out
rm -rf "$out"
mkdir -p "$out"
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

skip() {
    echo "skipped, because $*"
    [ "${HARDPAN_CI:-0}" != 1 ] || fail "nothing may be skipped with HARDPAN_CI=1"
}

# usable TARGET [PROGRAM]: whether the compiler has the target and the program is there; says so if not.
usable() {
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1" ]; then
        skip "target $1 is not installed (rustup target add $1)"
        return 1
    fi
    if [ $# = 2 ] && ! command -v "$2" >/dev/null; then
        skip "$2 is not installed"
        return 1
    fi
}

build() { cargo build --quiet --locked "$@"; }

roots=$(sed -n 's/^    \(gate_[a-z0-9_]*\)(.*/-u \1/p' gate/src/lib.rs)
lld=$(echo "$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)

# link TARGET PROFILE ARG..: links the gate, without a definition of what panics call.
link() {
    local target=$1 profile=$2
    shift 2
    # shellcheck disable=SC2086
    "$lld" -flavor gnu --gc-sections -e gate_open $roots -Map="$out/gate.map" -o "$out/gate.elf" \
        "$CARGO_TARGET_DIR/$target/$profile/libgate.a" "$@"
}

# why TARGET PROFILE: which functions reach what panics.
why() {
    link "$1" "$2" --unresolved-symbols=ignore-all --why-live='*panic*' 2>&1 |
        sed -nE '/no section/d; s/^live symbol: .*\(([^()]+)\)$/    \1/p; s/^>>> referenced by: [^ ]*\(([^()]+)\).*/        by \1/p'
}

# section NAME: its bytes in the linked gate.
section() { echo $((16#0$(awk -v s="$1" '$5 == s { print $3 }' "$out/gate.map"))); }

# gate TARGET PROFILE: fails, and names the functions, if a panic path survives.
gate() {
    build -p gate --target "$1" --profile "$2"
    if link "$1" "$2" 2>"$out/gate.err"; then
        echo "panic-free: $1, $2: code $(section .text) bytes, constants $(section .rodata), memory $(($(section .data) + $(section .bss)))"
        echo "$1 $2 $(section .text)" >>"$out/code"
    else
        fail "a panic path survives for $1, profile $2:"
        why "$1" "$2" || cat "$out/gate.err"
    fi
}

for target in thumbv7em-none-eabihf thumbv6m-none-eabi riscv32imac-unknown-none-elf; do
    usable $target || continue
    gate $target release
    gate $target checked
    # a gate that never closes proves nothing
    build -p gate --target $target --release --features guilty
    if link $target release 2>"$out/gate.err"; then fail "the gate let a guilty function through for $target"; fi
    why $target release | grep -q 'by gate_guilty' ||
        fail "the gate does not name the guilty function for $target"
done

build -p host
build -p host --release
host() { "$CARGO_TARGET_DIR/release/host" "$@"; }
host write "$out"

# emulate BOARD TARGET QEMU IMAGE-ADDRESS QUERIES-ADDRESS SCENE..
emulate() {
    local board=$1 target=$2 qemu=$3 image=$4 queries=$5
    shift 5
    usable "$target" "${qemu%% *}" || return 0
    build -p firmware --target "$target" --release
    for scene in "$@"; do
        # shellcheck disable=SC2086
        timeout 120 $qemu -display none -serial null -monitor none -icount shift=8,align=off,sleep=off \
            -semihosting-config enable=on,target=native \
            -kernel "$CARGO_TARGET_DIR/$target/release/firmware" \
            -device "loader,file=$out/$scene.hpan,addr=$image,force-raw=on" \
            -device "loader,file=$out/$scene.queries,addr=$queries,force-raw=on" \
            >"$out/$board.$scene.txt" || fail "$scene on $board: exit code $?"
    done
}

for scene in hills proving field small; do
    host hash "$out" $scene >"$out/host-release.$scene.txt"
    "$CARGO_TARGET_DIR/debug/host" hash "$out" $scene >"$out/host-debug.$scene.txt"
done
# addresses: firmware/build.rs
emulate an386 thumbv7em-none-eabihf "qemu-system-arm -M mps2-an386" 0x21000000 0x21f00000 hills proving field small
emulate microbit thumbv6m-none-eabi "qemu-system-arm -M microbit" 0x28000 0x3c000 small
emulate virt riscv32imac-unknown-none-elf "qemu-system-riscv32 -M virt -bios none" 0x81000000 0x81f00000 hills proving field small
if usable wasm32-unknown-unknown node; then
    cargo rustc --quiet --locked -p probe --target wasm32-unknown-unknown --release --crate-type cdylib
    for scene in hills proving field small; do
        node wasm.mjs "$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/probe.wasm" "$out/$scene.hpan" "$out/$scene.queries" \
            >"$out/wasm32.$scene.txt" || fail "$scene in wasm32: exit code $?"
    done
fi
host check "$out" budgets.toml "$@" || failed=1
exit $failed
