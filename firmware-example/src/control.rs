//! The loop.

use crate::{
    board::Board,
    boot::{End, boot},
    vehicle::{self, Vehicle},
};

/// Ticks of a run, and of how many one is printed.
const TICKS: u32 = 300;
const PRINTED: u32 = 150;

pub fn run(mut board: impl Board, flash: &'static [u8]) -> Result<(), End> {
    board.start(vehicle::TICKS_A_SECOND);
    let terrain = boot(&mut board, flash)?;
    let mut vehicle = Vehicle::new(&terrain);
    let mut late = 0;
    let mut most = 0;
    board.settle();
    for tick in 0..TICKS {
        let waiting = board.wait();
        vehicle.tick(&terrain, tick);
        let spent = board.spent();
        most = most.max(spent);
        // another tick waits already, or this one took more than it may
        if waiting > 0 || spent > vehicle::BUDGET {
            late += 1;
        }
        if tick % PRINTED == 0 {
            vehicle.say(&terrain, tick);
            board.settle(); // printing is not timed
        }
    }
    say!("{TICKS} ticks, {late} late");
    say!("count tick {most}");
    #[cfg(feature = "counts")]
    vehicle::counts::say(&terrain, &board);
    if late > 0 { Err(End::Late) } else { Ok(()) }
}
