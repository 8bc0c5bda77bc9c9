//! Cortex-M: SysTick begins ticks, and says how long one takes.

use super::{Board, CLOCK_HZ, Tick, flash};
use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering},
};
use cortex_m::peripheral::{Peripherals, SYST, syst::SystClkSource};
use cortex_m_rt::{ExceptionFrame, entry, exception};
use hardpan::heapless::spsc::{Consumer, Producer, Queue};
use semihosting::process::exit;

/// From the timer to the loop. One that is full drops ticks, which are late.
static mut QUEUE: Queue<Tick, 4> = Queue::new();

struct Shared(UnsafeCell<Option<Producer<'static, Tick>>>);
// SAFETY: set before the interrupt is enabled, and used by it alone.
unsafe impl Sync for Shared {}
static PRODUCER: Shared = Shared(UnsafeCell::new(None));
static BEGUN: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    let number = BEGUN.load(Ordering::Relaxed).wrapping_add(1);
    BEGUN.store(number, Ordering::Relaxed);
    // SAFETY: nothing else uses it once the interrupt is enabled.
    if let Some(producer) = unsafe { &mut *PRODUCER.0.get() } {
        _ = producer.enqueue(number);
    }
}

struct Core {
    timer: SYST,
    ticks: Consumer<'static, Tick>,
    producer: Option<Producer<'static, Tick>>,
    /// The tick that is being done.
    now: u32,
    /// Counts of the timer that a thousand instructions take.
    thousand: u64,
}

impl Core {
    fn counts(&self) -> u64 {
        let (begun, left) = (BEGUN.load(Ordering::Relaxed), SYST::get_current());
        // the timer may begin again between the two
        let (begun, left) = match BEGUN.load(Ordering::Relaxed) {
            same if same == begun => (begun, left),
            other => (other, SYST::get_current()),
        };
        let a_tick = u64::from(SYST::get_reload()) + 1;
        a_tick * u64::from(begun.wrapping_sub(self.now)) + (a_tick - 1 - u64::from(left))
    }
}

impl Board for Core {
    fn start(&mut self, ticks_a_second: u32) {
        let timer = &mut self.timer;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(0xff_ffff);
        timer.clear_current();
        timer.enable_counter();
        let time = |call: fn()| {
            let start = SYST::get_current();
            call();
            start.wrapping_sub(SYST::get_current()) & 0xff_ffff
        };
        self.thousand = u64::from(time(super::nops::<1000>).saturating_sub(time(super::nops::<0>))).max(1);
        timer.set_reload(CLOCK_HZ.checked_div(ticks_a_second).unwrap_or(CLOCK_HZ).saturating_sub(1));
        timer.clear_current();
        // SAFETY: the interrupt is not enabled yet.
        unsafe { *PRODUCER.0.get() = self.producer.take() };
        timer.enable_interrupt();
    }

    fn wait(&mut self) -> u32 {
        loop {
            if let Some(number) = self.ticks.dequeue() {
                self.now = number;
                return self.ticks.len() as u32;
            }
            cortex_m::asm::wfi();
        }
    }

    fn settle(&mut self) {
        while self.ticks.dequeue().is_some() {}
    }

    #[cfg(feature = "counts")]
    #[inline(never)]
    fn stack(&self, call: &dyn Fn()) -> usize {
        const DEPTH: usize = 16_384;
        const PAINT: u32 = 0xcccc_cccc;
        cortex_m::interrupt::free(|_| {
            let sp: usize;
            // SAFETY: all that is painted lies below the stack pointer, in the stack's own region, and no interrupt
            // comes.
            unsafe {
                core::arch::asm!("mov {}, sp", out(reg) sp);
                let low = (sp - DEPTH) as *mut u32;
                (0..DEPTH / 4).for_each(|i| low.add(i).write_volatile(PAINT));
                call();
                (0..DEPTH / 4).find(|&i| low.add(i).read_volatile() != PAINT).map_or(0, |first| DEPTH - 4 * first)
            }
        })
    }

    fn spent(&self) -> u64 {
        (self.counts() * 1000).checked_div(self.thousand).unwrap_or(u64::MAX)
    }
}

#[entry]
fn start() -> ! {
    // SAFETY: runs once, and nothing else names the queue.
    let (producer, ticks) = unsafe { (*&raw mut QUEUE).split() };
    // SAFETY: nothing else uses the timer.
    let timer = unsafe { Peripherals::steal() }.SYST;
    let core = Core { timer, ticks, producer: Some(producer), now: 0, thousand: 1 };
    exit(crate::run(core, flash()).into())
}

/// Flash with ECC answers two bad bits of a word with a fault: stop.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    exit(4)
}
