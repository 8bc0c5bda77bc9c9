//! Judges the boards' output: the same hashes everywhere, and counts within the budgets.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::ExitCode};

type Budgets = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

/// Tests, how many of them may be of wide bundles, lines, and instructions of one `closest`.
type Sample = [u64; 4];

/// Cost of a line, a test and a test of a wide bundle, beside the fixed cost of a query.
type Model = [u64; 4];

/// The kind of ground, each with a model of its own: instructions are at most base + line x lines + test x tests.
/// Ground with wide bundles has its own test of those alone.
fn ground_of(scene: &str) -> &str {
    match scene {
        "field" => "field",
        "wide" | "plain" | "island" => WIDE,
        _ => GROUND,
    }
}

const GROUND: &str = "ground";
const WIDE: &str = "wide";

/// The numbers in the budgets, by the names [`set_model`] gives them.
fn model(budgets: &Budgets, board: &str, ground: &str) -> Option<Model> {
    let all = budgets.get("model")?.get(board)?;
    let number = |ground: &str, part: &str| all.get(&format!("{ground}_{part}")).copied();
    let other = if ground == WIDE { GROUND } else { ground };
    Some([number(other, "base")?, number(other, "line")?, number(other, "test")?, number(ground, "test")?])
}

fn set_model(budgets: &mut Budgets, board: &str, ground: &str, [base, line, test, wide]: Model) {
    let all = budgets.entry("model".into()).or_default().entry(board.into()).or_default();
    let parts = [("base", base), ("line", line), ("test", test)];
    let parts = if ground == WIDE { &[("test", wide)][..] } else { &parts };
    all.extend(parts.iter().map(|(part, value)| (format!("{ground}_{part}"), *value)));
}

fn modelled([base, line, test, wide]: Model, [tests, of_wide, lines]: [u64; 3]) -> u64 {
    base + line * lines + test * (tests - of_wide) + wide * of_wide
}

/// The model in steps of 10 that neither a sample nor what it is held to exceeds, and whose mean over the samples is
/// least; its base with a margin of one in 32.
fn fit(samples: &[Sample], held: &[Sample]) -> Model {
    let mut most: BTreeMap<[u64; 2], u64> = BTreeMap::new();
    for &[tests, _, lines, count] in samples.iter().chain(held) {
        let worst = most.entry([tests, lines]).or_default();
        *worst = count.max(*worst);
    }
    let sum = |i: usize| samples.iter().map(|s| s[i]).sum::<u64>();
    let (tests, lines) = (sum(0), sum(2));
    let steps = || (0..=100).map(|k| 10 * k);
    let (_, [base, line, test]) = steps()
        .flat_map(|line| steps().map(move |test| (line, test)))
        .map(|(line, test)| {
            let over = most.iter().map(|(&[tests, lines], &count)| count.saturating_sub(line * lines + test * tests));
            let base = over.max().unwrap_or(0);
            (base * samples.len() as u64 + line * lines + test * tests, [base, line, test])
        })
        .min()
        .unwrap();
    [(base + base / 32).next_multiple_of(10), line, test, test]
}

/// The model of ground with wide bundles: that of other ground with the least test of those that no sample exceeds,
/// with a margin of one in 8, for a division takes the longer the more its quotient has bits: at the ends of the domain
/// a tenth more than on these scenes.
fn fit_wide(samples: &[Sample], [base, line, test, _]: Model) -> Model {
    let of = |&[tests, wide, lines, count]: &Sample| {
        count.saturating_sub(modelled([base, line, test, 0], [tests, wide, lines])).div_ceil(wide.max(1))
    };
    let wide = samples.iter().map(of).max().unwrap_or(0);
    [base, line, test, (wide + wide / 8).next_multiple_of(10)]
}

/// Outputs are BOARD.SCENE.txt; the ones from here are host-release.SCENE.txt, and all others must agree with them.
pub fn run(dir: &Path, budgets: &Path, bless: bool) -> ExitCode {
    let text = fs::read_to_string(budgets).unwrap_or_default();
    let allowed: Budgets = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", budgets.display()));
    let outputs: BTreeMap<(String, String), String> = fs::read_dir(dir)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.strip_suffix(".txt")?;
            let (board, scene) = name.split_once('.')?;
            Some(((scene.into(), board.into()), fs::read_to_string(&path).unwrap()))
        })
        .collect();
    let mut failures = Vec::new();
    let mut measured = Budgets::new();
    let mut samples: BTreeMap<(&str, &str), Vec<(&str, Sample)>> = BTreeMap::new();
    let mut held: BTreeMap<(&str, &str), Vec<(&str, Sample)>> = BTreeMap::new();
    let mut bounds: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    println!(
        "{:8} {:12} {:15} {:>7} {:>9} {:>7} {:>7} {:>6}  nodes leaves tests lines of its costliest query",
        "scene", "board", "instructions", "least", "mean", "most", "budget", "stack"
    );
    for ((scene, board), output) in &outputs {
        let lines = |kind: &'static str| {
            output.lines().filter_map(move |l| {
                let mut words = l.split_whitespace();
                (words.next() == Some(kind)).then(|| words.collect::<Vec<_>>())
            })
        };
        for count in lines("count").chain(lines("ray")) {
            let [name, least, mean, most] = count[..] else { continue };
            let of = |kind| lines(kind).find(|w| w[0] == name).unwrap_or_default();
            let worst = of("worst");
            let most: u64 = most.parse().unwrap();
            let stack = of("stack").get(1).map_or(0, |bytes| bytes.parse().unwrap());
            let calls = measured.entry(board.clone()).or_default().entry(scene.clone()).or_default();
            calls.insert(name.into(), most);
            if name == "closest" || name.starts_with("ray_") {
                calls.insert(format!("{name}_mean"), mean.parse::<f64>().unwrap().round() as u64);
            }
            if stack > 0 {
                calls.insert(format!("{name}_stack"), stack);
            }
            let budget = allowed.get(board).and_then(|b| b.get(scene)).and_then(|b| b.get(name)).copied();
            let shown = budget.map_or("none".into(), |b| b.to_string());
            println!(
                "{scene:8} {board:12} {name:15} {least:>7} {mean:>9} {most:>7} {shown:>7} {stack:>6}  {}",
                worst.get(4..).unwrap_or_default().join(" ")
            );
        }
        for bound in lines("bound") {
            if let [_, _, tests, lines, wide] = numbers(&bound)[..] {
                bounds.insert((board, scene), [tests, wide, lines]);
                let calls = measured.entry(board.clone()).or_default().entry(scene.clone()).or_default();
                calls.extend(
                    [("bound_tests", tests), ("bound_wide", wide), ("bound_lines", lines)].map(|(n, v)| (n.into(), v)),
                );
            }
            println!("{scene:8} {board:12} stated bound {:52}  {}", "", bound.join(" "));
        }
        let most_wide = bounds.get(&(board.as_str(), scene.as_str())).map_or(0, |b| b[1]);
        // beside a field of heights places off the ground are none of the model's
        let held_too = ground_of(scene) != "field";
        for (all, kind) in [(&mut samples, "sample"), (&mut held, "held")] {
            for sample in lines(kind).filter(|_| kind == "sample" || held_too) {
                let [_, _, tests, lines, count] = numbers(&sample)[..] else { continue };
                let sample = [tests, tests.min(most_wide), lines, count];
                all.entry((board, ground_of(scene))).or_default().push((scene, sample));
            }
        }
        let hashes: Vec<_> = lines("hash").collect();
        let expected = outputs.get(&(scene.clone(), "host-release".into())).map_or("", |o| o);
        let expected: Vec<Vec<&str>> = expected
            .lines()
            .filter(|l| l.starts_with("hash "))
            .map(|l| l.split_whitespace().skip(1).collect())
            // a small flash has room for rays in its least program alone; the programs in C draw nothing
            .filter(|hash: &Vec<&str>| {
                let of = (board.as_str(), hash.first().copied());
                !matches!(of, ("microbit", Some("rays")) | ("host-c" | "an386-c", Some("draws")))
            })
            .collect();
        if hashes.is_empty() || hashes.len() != expected.len() {
            failures.push(format!("{scene} on {board}: {} hashes, not {}", hashes.len(), expected.len()));
        }
        for (got, want) in hashes.iter().zip(&expected).filter(|(a, b)| a != b) {
            failures.push(format!(
                "{scene} on {board}: answers of `{}` differ from the host's ({} is not {})",
                got[0], got[1], want[1]
            ));
        }
    }
    // TARGET WHAT NUMBER: bytes of code of all entry points, and how many could panic if overflows were checked
    for line in fs::read_to_string(dir.join("gate")).unwrap_or_default().lines() {
        let [target, what, number] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let gate = measured.entry("gate".into()).or_default().entry(target.into()).or_default();
        gate.insert(what.into(), number.parse().unwrap());
        println!("{target:38} {what} {number}");
    }
    for ((board, ground), samples) in &samples {
        let held = held.get(&(*board, *ground)).map_or(&[][..], |h| h);
        let [counts, others] = [&samples[..], held].map(|all| all.iter().map(|s| s.1).collect::<Vec<Sample>>());
        if bless {
            let fitted = match model(&measured, board, GROUND).filter(|_| *ground == WIDE) {
                Some(other) => fit_wide(&[&counts[..], &others].concat(), other),
                None => fit(&counts, &others),
            };
            set_model(&mut measured, board, ground, fitted);
        }
        let Some(m) = model(if bless { &measured } else { &allowed }, board, ground) else {
            failures.push(format!("{board} has no model of {ground}; --bless writes one"));
            continue;
        };
        let [base, line, test, wide] = m;
        println!(
            "{board:12} {ground}: instructions <= {base} + {line} x lines + {test} x tests, {wide} a wide one, of {} queries",
            counts.len() + others.len()
        );
        for (scene, [tests, wide, lines, count]) in
            samples.iter().chain(held).filter(|(_, [at @ .., count])| *count > modelled(m, *at))
        {
            failures.push(format!(
                "{scene} on {board}: {count} instructions of {tests} tests, {wide} of them wide, and {lines} lines, beyond the model"
            ));
        }
        let scenes: BTreeMap<&str, u64> = samples.iter().fold(BTreeMap::new(), |mut most, (scene, s)| {
            most.entry(*scene).and_modify(|m: &mut u64| *m = s[3].max(*m)).or_insert(s[3]);
            most
        });
        for (scene, most) in scenes {
            let stated = bounds.get(&(board, scene)).map_or(0, |&bound| modelled(m, bound));
            println!(
                "    {scene:10} at the stated bound {stated}, {:.2} times the most, {most}",
                stated as f64 / most as f64
            );
        }
    }
    let boards: BTreeMap<_, _> =
        outputs.keys().fold(BTreeMap::new(), |mut all: BTreeMap<&str, Vec<&str>>, (scene, board)| {
            all.entry(scene).or_default().push(board);
            all
        });
    for (scene, boards) in boards {
        println!("{scene:8} answers compared: {}", boards.join(", "));
    }
    if bless {
        fs::write(budgets, render(&measured)).unwrap();
    } else {
        for (board, scenes) in &measured {
            for (scene, calls) in scenes {
                for (name, &most) in calls {
                    match allowed.get(board).and_then(|b| b.get(scene)).and_then(|b| b.get(name)) {
                        _ if name.starts_with("bound_") => {}
                        // rays have budgets on some scenes alone
                        None if name.starts_with("ray_") => {}
                        Some(&budget) if most <= budget => {}
                        Some(budget) => {
                            failures.push(format!("{scene} on {board}: {name} took {most}, budget {budget}"))
                        }
                        None => failures.push(format!("{scene} on {board}: {name} has no budget; --bless writes one")),
                    }
                }
            }
        }
    }
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}

fn numbers(words: &[&str]) -> Vec<u64> {
    words.iter().map(|w| w.parse().unwrap()).collect()
}

/// Measured, plus one in 32 and 4; stacks, what overflows, the images' bounds and models as they are.
fn render(measured: &Budgets) -> String {
    let mut text = String::from(
        "# The most instructions and bytes of stack that each call may take, the most bytes of code,\n# and how many entry points may panic if overflows are checked; the images' stated bounds; and of each board a model of the\n# instructions of `closest`, by kind of ground: base + line x lines + test x tests.\n# run.sh --bless writes this file.\n",
    );
    for (board, scenes) in measured {
        for (scene, calls) in scenes {
            writeln!(text, "\n[{board}.{scene}]").unwrap();
            for (name, most) in calls {
                let exact =
                    name.ends_with("_stack") || name.starts_with("bound_") || name == "overflowing" || board == "model";
                let budget = if exact { *most } else { most + most / 32 + 4 };
                writeln!(text, "{name} = {budget}").unwrap();
            }
        }
    }
    text
}
