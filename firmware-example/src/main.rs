//! Ground under four wheels on a Cortex-M, from a terrain image in flash: proven before the loop starts, asked once a
//! tick. Exit codes: 0 fine, 1 no image, 2 damaged or too many tiles, 3 too slow for the tick, 4 a fault.
#![no_std]
#![no_main]

use cortex_m_rt::{ExceptionFrame, entry, exception};
use hardpan::{Fixed, Terrain, VerifyError, include_image};
use semihosting::{println, process::exit};

/// In flash, aligned as the kernel needs it. This one is of `hardpan demo --fixture ramp`, yours of `hardpan build
/// track.obj`.
static IMAGE: &[u8] = include_image!("../ramp.hpan");

/// Instructions that a control tick may spend on the ground: here half a millisecond at 168 MHz, if an instruction
/// takes two cycles.
const BUDGET: u64 = 42_000;
/// Of them for height, slope and friction of one answer, at most.
const READING: u64 = 470;
/// Bytes of flash that a step of the proof reads, and tiles of the image at most.
const STEP: usize = 256;
const TILES: usize = 512;

/// The ground under a wheel.
struct Ground {
    z_mm: i32,
    slope: [f32; 2],
    mu: f32,
}

/// Why the image is refused.
enum Refused {
    /// It has more tiles than the bitmap has bits.
    Tiles(u32),
    /// Some byte is not what was built.
    Damaged(VerifyError),
}

/// Proves that every byte of the image is what was built. No step takes longer than the first, so that a watchdog can
/// be fed between. If it is better to go on where some tiles are damaged: `Verifier::usable` and
/// `Terrain::with_damage`, in kernel/docs/firmware.md.
fn prove(terrain: &Terrain) -> Result<(), Refused> {
    let mut damage = [0; TILES / 8];
    let tiles = terrain.header().tile_count;
    if tiles as usize > TILES {
        return Err(Refused::Tiles(tiles));
    }
    let mut verifier = terrain.verifier();
    let mut done = verifier.step(0, &mut damage).map_err(Refused::Damaged)?; // all sections but the tiles
    while !done {
        done = verifier.step(STEP, &mut damage).map_err(Refused::Damaged)?;
    }
    Ok(())
}

/// Instructions of a wheel on a Cortex-M4F at most: the model of kernel/docs/firmware.md for `closest`, with what
/// `Fixed` and reading the answer add. Tests of large or steep triangles are slow.
fn worst(terrain: &Terrain) -> u64 {
    let bound = terrain.bound();
    let [lines, tests, wide] = [bound.lines, bound.tests, terrain.header().wide_tests].map(u64::from);
    READING + 380 + 130 + 410 * lines + 70 * (tests - wide) + 8380 * wide
}

/// One tick: hubs in millimetres, x east, y north, z up. Nothing where there is no ground: that is for the controller
/// to judge.
fn tick(terrain: &Terrain, hubs_mm: [[i32; 3]; 4]) -> [Option<Ground>; 4] {
    hubs_mm.map(|hub| {
        let answer = terrain.closest(hub.map(|mm| Fixed::from_num(mm) / 1000));
        answer.found().then(|| Ground {
            z_mm: terrain.z_fixed(&answer.hit).wrapping_mul_int(1000).wrapping_round().to_num(),
            slope: terrain.slope_f32(&answer.hit),
            mu: terrain.surface_f32(&answer)[0],
        })
    })
}

#[entry]
fn main() -> ! {
    let terrain = Terrain::open(IMAGE).unwrap_or_else(|why| {
        println!("no image: {why}");
        exit(1)
    });
    match prove(&terrain) {
        Ok(()) => {}
        Err(Refused::Damaged(why)) => {
            println!("the image is damaged: {why}");
            exit(2)
        }
        Err(Refused::Tiles(tiles)) => {
            println!("the image has {tiles} tiles, and this program takes at most {TILES}");
            exit(2)
        }
    }
    let most = 4 * worst(&terrain);
    if most > BUDGET {
        println!("four wheels may take {most} instructions a tick, of which {BUDGET} may be spent");
        exit(3)
    }
    // on a board this is the timer's interrupt
    for time in 0..4 {
        let (front, rear) = (68_000 + 10_000 * time, 65_400 + 10_000 * time);
        let hubs = [[front, 800], [front, -800], [rear, 800], [rear, -800]].map(|[x, y]| [x, y, 7_000]);
        for (wheel, ground) in tick(&terrain, hubs).iter().enumerate() {
            match ground {
                Some(Ground { z_mm, slope: [x, y], mu }) => {
                    println!("{time} {wheel}: {z_mm} mm, slope {x} {y}, mu {mu}")
                }
                None => println!("{time} {wheel}: no ground"),
            }
        }
    }
    exit(0)
}

/// Flash with ECC answers two bad bits of a word with a fault: stop.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    exit(4)
}
