//! Start, instruction clock and stack of the emulated boards. The emulator runs with `-icount shift=8`:
//! an instruction takes 256 ns, several ticks of any SysTick, so that counts are exact.

use core::arch::asm;

unsafe extern "C" {
    static _image: u8;
    static _image_room: u8;
    static _queries: u8;
    static _queries_room: u8;
}

/// Address and size of the two blobs' regions.
pub fn regions() -> [(*const u8, usize); 2] {
    [(&raw const _image, &raw const _image_room as usize), (&raw const _queries, &raw const _queries_room as usize)]
}

#[cfg(target_arch = "arm")]
mod counter {
    use cortex_m::peripheral::{Peripherals, SYST, syst::SystClkSource};

    #[cortex_m_rt::entry]
    fn start() -> ! {
        crate::main()
    }

    #[cortex_m_rt::exception]
    unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
        semihosting::process::exit(99)
    }

    pub fn start_counter() {
        // SAFETY: the only user of SysTick.
        let mut syst = unsafe { Peripherals::steal() }.SYST;
        syst.set_clock_source(SystClkSource::Core);
        syst.set_reload(0xff_ffff);
        syst.clear_current();
        syst.enable_counter();
    }

    #[inline(always)]
    pub fn now() -> u32 {
        SYST::get_current()
    }

    #[inline(always)]
    pub fn since(start: u32) -> u32 {
        start.wrapping_sub(SYST::get_current()) & 0xff_ffff // counts down
    }
}

#[cfg(target_arch = "riscv32")]
mod counter {
    use core::arch::{asm, global_asm};

    global_asm!(
        ".section .text._start, \"ax\"",
        ".global _start",
        "_start: la sp, _stack",
        "la t0, _fault",
        "csrw mtvec, t0",
        "j {start}",
        ".balign 4",
        "_fault: j {fault}",
        start = sym start,
        fault = sym fault,
    );

    extern "C" fn start() -> ! {
        crate::main()
    }

    extern "C" fn fault() -> ! {
        semihosting::process::exit(99)
    }

    pub fn start_counter() {}

    #[inline(always)]
    pub fn now() -> u32 {
        let v;
        // SAFETY: reads a counter.
        unsafe { asm!("csrr {}, minstret", out(reg) v) };
        v
    }

    #[inline(always)]
    pub fn since(start: u32) -> u32 {
        now().wrapping_sub(start)
    }
}

pub use counter::{now, since};

/// Ticks of a thousand instructions.
pub struct Clock(u32);

impl Clock {
    /// Starts the counter and calibrates it.
    pub fn start() -> Self {
        counter::start_counter();
        let time = |call: fn()| {
            let start = now();
            call();
            since(start)
        };
        Clock(time(nops::<1000>) - time(nops::<0>))
    }

    /// Ticks as instructions, rounded.
    pub fn instructions(&self, ticks: u32) -> u32 {
        ((u64::from(ticks) * 1000 + u64::from(self.0 / 2)) / u64::from(self.0)) as u32
    }
}

#[inline(never)]
fn nops<const N: usize>() {
    // SAFETY: does nothing.
    unsafe { asm!(".rept {}", "nop", ".endr", const N) };
}

/// Bytes of stack below here that `call` writes to.
#[inline(never)]
pub fn stack(call: impl FnOnce()) -> usize {
    const DEPTH: usize = 6144;
    const PAINT: u32 = 0xcccc_cccc;
    let sp: usize;
    // SAFETY: reads the stack pointer; all that is painted lies below it, in the stack's own region, and no interrupt
    // is enabled.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) sp);
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) sp);
        let low = (sp - DEPTH) as *mut u32;
        for i in 0..DEPTH / 4 {
            low.add(i).write_volatile(PAINT);
        }
        call();
        match (0..DEPTH / 4).find(|&i| low.add(i).read_volatile() != PAINT) {
            Some(0) => semihosting::process::exit(98), // deeper than is looked at
            first => first.map_or(0, |i| DEPTH - 4 * i),
        }
    }
}
