//! Before the loop: which image, whether every byte of it is what was built, and whether it suits this program.

use crate::{board::Board, slot, vehicle};
use hardpan::{OpenError, Terrain, VerifyError};

/// Bytes that a slice of the proof reads, and tiles of an image at most.
const SLICE: usize = 256;
const TILES: usize = 4096;
/// Layers of ground over a place that the program has room for.
pub const LAYERS: usize = 32;

/// Why the program ends.
pub enum End {
    NoImage(OpenError),
    /// There is no sound slot.
    NoSlot,
    Damaged(VerifyError),
    /// More tiles than the bitmap has bits.
    Tiles(u32),
    /// Instructions that a tick may take.
    Slow(u64),
    /// Layers that the image may have over a place.
    Deep(u32),
    /// Ticks that were not done in time.
    Late,
}

impl End {
    pub fn code(&self) -> u8 {
        match self {
            End::NoImage(_) | End::NoSlot => 1,
            End::Damaged(_) | End::Tiles(_) => 2,
            End::Slow(_) => 3,
            End::Deep(_) => 5,
            End::Late => 6,
        }
    }

    fn say(&self, name: &str) {
        match self {
            End::NoImage(why) => say!("{name}: refused: {why}"),
            End::NoSlot => say!("refused: there is no sound slot"),
            End::Damaged(why) => say!("{name}: refused: the image is damaged: {why}"),
            End::Tiles(tiles) => say!("{name}: refused: {tiles} tiles, and there is room for {TILES}"),
            End::Slow(most) => {
                say!("{name}: refused: too slow: a tick may take {most} instructions, and has {}", vehicle::BUDGET)
            }
            End::Deep(layers) => say!("{name}: refused: too deep: {layers} layers, and there is room for {LAYERS}"),
            End::Late => {}
        }
    }
}

/// Opens an image and proves it, a slice a tick.
fn proven(board: &mut impl Board, bytes: &'static [u8]) -> Result<(Terrain<'static>, u32), End> {
    let terrain = Terrain::open(bytes).map_err(End::NoImage)?;
    let tiles = terrain.header().tile_count;
    if tiles as usize > TILES {
        return Err(End::Tiles(tiles));
    }
    let layers = terrain.max_layers();
    if layers as usize > LAYERS {
        return Err(End::Deep(layers));
    }
    let most = vehicle::most(&terrain);
    if cfg!(feature = "counts") {
        say!("count stated: {most} instructions a tick");
    } else if most > vehicle::BUDGET {
        return Err(End::Slow(most));
    }
    let mut damage = [0; TILES / 8];
    let mut verifier = terrain.verifier();
    let mut slices = 1;
    // the first takes all sections but the tiles
    let mut done = verifier.step(0, &mut damage).map_err(End::Damaged)?;
    while !done {
        _ = board.wait();
        done = verifier.step(SLICE, &mut damage).map_err(End::Damaged)?;
        slices += 1;
    }
    Ok((terrain, slices))
}

/// The first candidate that suits; each that does not is refused with a reason.
pub fn boot(board: &mut impl Board, flash: &'static [u8]) -> Result<Terrain<'static>, End> {
    let mut first = None;
    for candidate in slot::candidates(flash) {
        match proven(board, candidate.bytes) {
            Ok((terrain, slices)) => {
                say!("{}: {} bytes, proven in {slices} slices", candidate.name, terrain.bytes().len());
                return Ok(terrain);
            }
            Err(end) => {
                end.say(candidate.name);
                first.get_or_insert(end);
            }
        }
    }
    Err(first.unwrap_or_else(|| {
        End::NoSlot.say("");
        End::NoSlot
    }))
}
