//! The loop of a rig runs, and says what its page says; the page's figures have their rows.

use super::*;
use hardpan::Terrain;
use hardpan_builder::demo::fixtures;

/// The sum of four wheels' answers in so many ticks to and fro along the diagonal, then at random places, thrice at
/// each.
fn asked_as_the_loop_does(t: &Terrain, ticks: usize) -> f64 {
    let ([low, high], mut all, mut seed) = (t.bounds(), 0.0, 1u64);
    let [width, depth] = [0, 1].map(|k| high[k] - low[k]);
    let tick = |x: f64, y: f64| {
        let wheels = [[0.0, 0.8], [0.0, -0.8], [-2.7, 0.8], [-2.7, -0.8]];
        wheels.iter().fold(0.0, |sum, at| {
            let answer = t.closest([x + at[0], y + at[1], high[2] + 1.0]);
            let ([dzdx, dzdy], [mu, ..]) = (t.slope_f64(&answer.hit), t.surface(&answer));
            sum + (t.z_f64(&answer.hit) + dzdx + dzdy + mu)
        })
    };
    for i in 0..ticks {
        let way = 0.03 * i as f64 / width.max(1.0);
        let part = way - 2.0 * (way / 2.0).floor();
        let along = if part < 1.0 { part } else { 2.0 - part };
        all += tick(low[0] + along * width, low[1] + along * depth);
    }
    for _ in 0..200 {
        let place = [0; 2].map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / 9007199254740992.0
        });
        for _ in 0..3 {
            all += tick(low[0] + place[0] * width, low[1] + place[1] * depth);
        }
    }
    all
}

#[test]
fn by_18_loop_at_1_khz_gets_the_answers_of_rust_and_prints_its_rows() {
    let (image, path) = image("loop", &fixtures::bridge());
    let program = compile("loop_1khz", &interface().join("examples/loop_1khz.c"), &[]);
    let text = run(&program, &[&path, Path::new("0.2")], &[]);
    for row in ["four wheels, 1 kHz, cursors", "four wheels, cold caches", "the loop woke late by"] {
        let line = text.lines().find(|l| l.starts_with(row)).unwrap_or_else(|| panic!("no row {row} in {text}"));
        let figures: Vec<u64> = line[38..].split_whitespace().map(|w| w.parse().unwrap()).collect();
        assert!(figures.len() == 4 && figures.is_sorted(), "{line}");
    }
    let sum = text.lines().find_map(|l| l.strip_prefix("sum of all heights, slopes and frictions: ")).unwrap();
    assert_eq!(sum.parse::<f64>().unwrap(), asked_as_the_loop_does(&Terrain::open(&image).unwrap(), 201));
    // 0.2 s are 200 ticks and one: the histogram has them all
    let counted: u64 = text
        .lines()
        .filter(|l| l.starts_with("  below"))
        .map(|l| l.split_whitespace().nth(3).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(counted, 201);
    let page = fs::read_to_string(interface().join("../docs/hil.md")).unwrap();
    for row in text.lines().filter(|l| l.starts_with("four wheels, ")).filter_map(|l| l.split("  ").next()) {
        let row = row.split(':').next().unwrap();
        assert!(page.contains(row), "the page has no {row}");
    }
}
