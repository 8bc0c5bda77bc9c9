//! RV32: the timer of the machine begins ticks.

use super::{Board, CLOCK_HZ, Tick, flash};
use core::{
    arch::{asm, global_asm},
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering},
};
use hardpan::heapless::spsc::{Consumer, Producer, Queue};
use semihosting::process::exit;

// Interrupts save what a call may change; all other traps are faults.
global_asm!(
    ".section .text._start, \"ax\"",
    ".global _start",
    "_start: la sp, _stack",
    "la t0, _trap",
    "csrw mtvec, t0",
    "j {start}",
    ".balign 4",
    "_trap: addi sp, sp, -64",
    "sw ra, 0(sp)", "sw t0, 4(sp)", "sw t1, 8(sp)", "sw t2, 12(sp)", "sw t3, 16(sp)", "sw t4, 20(sp)", "sw t5, 24(sp)",
    "sw t6, 28(sp)", "sw a0, 32(sp)", "sw a1, 36(sp)", "sw a2, 40(sp)", "sw a3, 44(sp)", "sw a4, 48(sp)",
    "sw a5, 52(sp)", "sw a6, 56(sp)", "sw a7, 60(sp)",
    "csrr t0, mcause",
    "bgez t0, 1f",
    "call {tick}",
    "lw ra, 0(sp)", "lw t0, 4(sp)", "lw t1, 8(sp)", "lw t2, 12(sp)", "lw t3, 16(sp)", "lw t4, 20(sp)", "lw t5, 24(sp)",
    "lw t6, 28(sp)", "lw a0, 32(sp)", "lw a1, 36(sp)", "lw a2, 40(sp)", "lw a3, 44(sp)", "lw a4, 48(sp)",
    "lw a5, 52(sp)", "lw a6, 56(sp)", "lw a7, 60(sp)",
    "addi sp, sp, 64",
    "mret",
    "1: j {fault}",
    start = sym start,
    tick = sym tick,
    fault = sym fault,
);

static mut QUEUE: Queue<Tick, 4> = Queue::new();

struct Shared(UnsafeCell<Option<Producer<'static, Tick>>>);
// SAFETY: set before the interrupt is enabled, and used by it alone.
unsafe impl Sync for Shared {}
static PRODUCER: Shared = Shared(UnsafeCell::new(None));
/// Counts of the timer that a tick has.
static A_TICK: AtomicU32 = AtomicU32::new(0);

const TIME: *const u32 = 0x0200_bff8 as *const u32;
const NEXT: *mut u32 = 0x0200_4000 as *mut u32;

fn time() -> u64 {
    // SAFETY: registers of the timer.
    let (high, low) = unsafe { (TIME.add(1).read_volatile(), TIME.read_volatile()) };
    u64::from(high) << 32 | u64::from(low)
}

fn next(at: u64) {
    // SAFETY: registers of the timer; the high half first, so that it does not go off between.
    unsafe {
        NEXT.add(1).write_volatile(u32::MAX);
        NEXT.write_volatile(at as u32);
        NEXT.add(1).write_volatile((at >> 32) as u32);
    }
}

fn counts() -> u32 {
    let v;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) v) };
    v
}

extern "C" fn tick() {
    next(time() + u64::from(A_TICK.load(Ordering::Relaxed)));
    // SAFETY: nothing else uses it once the interrupt is enabled.
    if let Some(producer) = unsafe { &mut *PRODUCER.0.get() } {
        _ = producer.enqueue(counts());
    }
}

struct Core {
    ticks: Consumer<'static, Tick>,
    producer: Option<Producer<'static, Tick>>,
    began: u32,
    /// Counts that a thousand instructions take: emulators count time.
    thousand: u64,
}

impl Board for Core {
    fn start(&mut self, ticks_a_second: u32) {
        let count = |call: fn()| {
            let start = counts();
            call();
            counts().wrapping_sub(start)
        };
        let thousand = count(super::nops::<1000>).saturating_sub(count(super::nops::<0>));
        self.thousand = u64::from(thousand).max(1);
        A_TICK.store(CLOCK_HZ / ticks_a_second, Ordering::Relaxed);
        // SAFETY: the interrupt is not enabled yet.
        unsafe { *PRODUCER.0.get() = self.producer.take() };
        next(time() + u64::from(CLOCK_HZ / ticks_a_second));
        // SAFETY: enables the timer's interrupt.
        unsafe { asm!("csrs mie, {}", "csrsi mstatus, 8", in(reg) 1 << 7) };
    }

    fn wait(&mut self) -> u32 {
        loop {
            if let Some(began) = self.ticks.dequeue() {
                self.began = began;
                return self.ticks.len() as u32;
            }
            // SAFETY: sleeps until an interrupt.
            unsafe { asm!("wfi") };
        }
    }

    fn settle(&mut self) {
        while self.ticks.dequeue().is_some() {}
    }

    fn spent(&self) -> u64 {
        (u64::from(counts().wrapping_sub(self.began)) * 1000).checked_div(self.thousand).unwrap_or(u64::MAX)
    }
}

extern "C" fn start() -> ! {
    // SAFETY: runs once, and nothing else names the queue.
    let (producer, ticks) = unsafe { (*&raw mut QUEUE).split() };
    let core = Core { ticks, producer: Some(producer), began: 0, thousand: 1 };
    exit(crate::run(core, flash()).into())
}

extern "C" fn fault() -> ! {
    exit(4)
}
