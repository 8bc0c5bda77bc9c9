//! The loop of a rig runs, and says what its page says; the page's figures have their rows.

use super::*;
use hardpan_builder::fixtures;

#[test]
fn by_18_loop_at_1_khz_runs_and_prints_its_rows() {
    let (_, path) = image("loop", &fixtures::bridge());
    let program = compile("loop_1khz", &interface().join("examples/loop_1khz.c"), &[]);
    let text = run(&program, &[&path, Path::new("0.2")], &[]);
    for row in ["four wheels, 1 kHz, cursors", "four wheels, cold caches", "the loop woke late by"] {
        let line = text.lines().find(|l| l.starts_with(row)).unwrap_or_else(|| panic!("no row {row} in {text}"));
        let figures: Vec<u64> = line[38..].split_whitespace().map(|w| w.parse().unwrap()).collect();
        assert!(figures.len() == 4 && figures.is_sorted(), "{line}");
    }
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
