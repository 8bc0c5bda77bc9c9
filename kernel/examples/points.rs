//! Many points at once: `points IMAGE POINTS ANSWERS [TIMES]`. Answers as bytes, for other languages to be held
//! against.
//!
//! POINTS has x, y, z of each point as little-endian f64. ANSWERS gets of each z, slope, normal, mu, rolling resistance
//! and gain as f64, material and source as u16. It prints how many nanoseconds the batch took, the median of so many
//! times.

use hardpan::{Answer, Terrain, format::ALIGN};
use std::{env, error::Error, fs, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [image, points, out, times @ ..] = &args[..] else {
        return Err("points IMAGE POINTS ANSWERS [TIMES]".into());
    };
    let times = times.first().map_or(Ok(1), |n| n.parse())?;
    let mut memory = vec![0; ALIGN]; // room to begin at a multiple of it
    memory.extend(fs::read(image)?);
    let start = memory.as_ptr().align_offset(ALIGN);
    memory.copy_within(ALIGN.., start);
    let terrain = Terrain::open(&memory[start..])?;
    let bytes = fs::read(points)?;
    let numbers: Vec<f64> = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let points = numbers.as_chunks::<3>().0;
    let mut answers = vec![Answer::NONE; points.len()];
    let mut took = [0].repeat(times);
    for took in &mut took {
        let began = Instant::now();
        terrain.closest_batch(points, &mut answers);
        *took = began.elapsed().as_nanos();
    }
    took.sort_unstable();
    let mut bytes = Vec::new();
    for answer in &answers {
        let hit = &answer.hit;
        let (slope, normal) = (terrain.slope_f64(hit), terrain.normal_f64(hit));
        let floats = [&[terrain.z_f64(hit)], &slope[..], &normal, &terrain.surface(answer)].concat();
        floats.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        [hit.material, hit.source].iter().for_each(|v| bytes.extend(v.to_le_bytes()));
    }
    fs::write(out, bytes)?;
    println!("{}", took.get(times / 2).unwrap_or(&0));
    Ok(())
}
