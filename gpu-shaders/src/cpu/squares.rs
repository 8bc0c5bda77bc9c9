//! Triangles to squares of the plan.

use crate::plan::Plan;
use crate::sort::{lists, morton, place};
use crate::{Ground, Squares};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Triangles that are looked at together.
const CHUNK: usize = 1 << 14;

pub fn squares(ground: Ground, log2: u32) -> Squares {
    let side = 1i64 << log2;
    let home = |x: i64, y: i64| morton((x + (1 << 31)) as u64, (y + (1 << 31)) as u64);
    let homes_of = |chunk: usize| {
        let mut homes = Homes::default();
        let first = chunk * CHUNK;
        for i in first as u32..(first + CHUNK).min(ground.faces.len()) as u32 {
            let corners = ground.corners(i);
            let ends = |k: usize| {
                let v = corners.map(|c| c[k]);
                (i64::from(v[0].min(v[1]).min(v[2]) >> log2), i64::from(v[0].max(v[1]).max(v[2]) >> log2))
            };
            let ((x0, x1), (y0, y1)) = (ends(0), ends(1));
            if x0 == x1 && y0 == y1 {
                homes.add(home(x0, y0), i);
                continue;
            }
            let plan = Plan::new(corners);
            let places = (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (x, y)));
            let met = places.filter(|&(x, y)| plan.meets([x * side, y * side], [side; 2]));
            met.for_each(|(x, y)| homes.add(home(x, y), i));
        }
        homes
    };
    let chunks: Vec<Homes> = (0..ground.faces.len().div_ceil(CHUNK)).into_par_iter().map(homes_of).collect();
    let mut squares: Vec<u64> = chunks.iter().flat_map(|homes| &homes.squares).copied().collect();
    squares.sort_unstable();
    squares.dedup();
    let number = |square: &u64| squares.binary_search(square).expect("one of them") as u32;
    let numbers: Vec<Vec<u32>> = chunks.iter().map(|homes| homes.squares.iter().map(number).collect()).collect();
    let runs = chunks.iter().zip(&numbers);
    let runs = runs.flat_map(|(homes, numbers)| homes.runs.iter().map(|(n, run)| (numbers[*n as usize], run)));
    let pairs = runs.flat_map(|(square, run)| run.clone().map(move |i| (square, i)));
    let (mut starts, faces) = lists(squares.len(), pairs);
    starts.truncate(squares.len() + 1);
    let squares = squares.into_iter().map(|s| place(s).map(|v| (i64::from(v) - (1 << 31)) as i32)).collect();
    Squares { squares, starts, faces }
}

/// Squares of some triangles, by their places in Morton order.
#[derive(Default)]
struct Homes {
    squares: Vec<u64>,
    numbers: HashMap<u64, u32>,
    /// Numbers of squares among these, and triangles one after the other that each holds.
    runs: Vec<(u32, Range<u32>)>,
}

impl Homes {
    fn add(&mut self, square: u64, triangle: u32) {
        let squares = &mut self.squares;
        // mostly that of the triangle before
        if let Some((_, run)) =
            self.runs.last_mut().filter(|(n, run)| squares[*n as usize] == square && run.end == triangle)
        {
            run.end += 1;
            return;
        }
        let number = *self.numbers.entry(square).or_insert_with(|| {
            squares.push(square);
            squares.len() as u32 - 1
        });
        self.runs.push((number, triangle..triangle + 1));
    }
}
