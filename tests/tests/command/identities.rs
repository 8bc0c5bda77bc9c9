//! Images keep their bytes: builds of fixtures and real files, without rays and with them, against identities
//! that are written down.

use crate::shell::{expect, folder, info};
use rayon::prelude::*;
use std::{env, path::Path, process::Command};
use verification::obj::data_or_skip;

/// Lines `IDENTITY  fixture NAME` and `IDENTITY  build FILES OPTIONS`, files below the folder of real data.
const WRITTEN: &str = include_str!("../../goldens/identities.txt");

/// The same line with the identity that the build gives now.
fn built(data: &Path, folder: &Path, number: usize, line: &str) -> String {
    let image = format!("{number}.hpan");
    let place = folder.join(&image);
    let typed: Vec<&str> = line.split_whitespace().skip(1).collect();
    let first: &[&str] = if typed[0] == "fixture" { &["demo", "--fixture"] } else { &["build"] };
    expect(0, data, &[first, &typed[1..], &["-o", place.to_str().unwrap()]].concat());
    format!("{}  {}", info(folder, &image)["identity"].as_str().unwrap(), typed.join(" "))
}

#[test]
fn by_04_images_keep_their_identities() {
    let Some(data) = data_or_skip() else { return };
    let folder = folder("by_04_images_keep_their_identities");
    let lines: Vec<&str> = WRITTEN.lines().collect();
    assert!(lines.len() >= 110, "{}", lines.len());
    let now: Vec<String> = lines.par_iter().enumerate().map(|(n, line)| built(&data, &folder, n, line)).collect();
    let changed: Vec<_> = lines.iter().zip(&now).filter(|(then, now)| *then != now).map(|(_, now)| now).collect();
    assert!(changed.is_empty(), "other images than tests/goldens/identities.txt says; now:\n{changed:#?}");
}

/// Without the real files their tests say that they are left out; with `HARDPAN_CI=1` they fail.
#[test]
fn tests_without_real_files_are_not_passed_over_in_silence() {
    for name in [
        "identities::by_04_images_keep_their_identities",
        "fbx::vt_23_real_files_have_the_ground_of_their_obj",
        "export::the_crack_of_a_real_interchange_is_found",
    ] {
        for (ci, is_fine) in [("0", true), ("1", false)] {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args(["--exact", name]).env("HARDPAN_DATA", "/there/is/none").env("HARDPAN_CI", ci);
            let output = command.output().unwrap();
            let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(output.status.success(), is_fine, "{out}{err}");
            assert!(out.contains("running 1 test\n"), "{out}");
            let said = format!("{name}: skipped, because there is no folder /there/is/none (set HARDPAN_DATA)\n");
            assert_eq!(err.contains(&said), is_fine, "{err}");
        }
    }
}
