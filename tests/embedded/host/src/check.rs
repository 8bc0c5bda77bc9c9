//! Judges the boards' output: the same hashes everywhere, and counts within the budgets.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::ExitCode};

type Budgets = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

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
        for count in lines("count") {
            let [name, least, mean, most] = count[..] else { continue };
            let of = |kind| lines(kind).find(|w| w[0] == name).unwrap_or_default();
            let worst = of("worst");
            let most: u64 = most.parse().unwrap();
            let stack = of("stack").get(1).map_or(0, |bytes| bytes.parse().unwrap());
            let calls = measured.entry(board.clone()).or_default().entry(scene.clone()).or_default();
            calls.insert(name.into(), most);
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
            println!("{scene:8} {board:12} stated bound {:52}  {}", "", bound.join(" "));
        }
        let hashes: Vec<_> = lines("hash").collect();
        let expected = outputs.get(&(scene.clone(), "host-release".into())).map_or("", |o| o);
        let expected: Vec<Vec<&str>> = expected
            .lines()
            .filter(|l| l.starts_with("hash "))
            .map(|l| l.split_whitespace().skip(1).collect())
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

/// Measured, plus one in 32 and 4; stacks, and what overflows, as measured.
fn render(measured: &Budgets) -> String {
    let mut text = String::from(
        "# The most instructions and bytes of stack that each call may take, the most bytes of code,\n# and how many entry points may panic if overflows are checked.\n# run.sh --bless writes this file.\n",
    );
    for (board, scenes) in measured {
        for (scene, calls) in scenes {
            writeln!(text, "\n[{board}.{scene}]").unwrap();
            for (name, most) in calls {
                let budget =
                    if name.ends_with("_stack") || name == "overflowing" { *most } else { most + most / 32 + 4 };
                writeln!(text, "{name} = {budget}").unwrap();
            }
        }
    }
    text
}
