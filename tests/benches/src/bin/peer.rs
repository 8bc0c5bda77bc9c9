//! Hardpan for harnesses that run each peer as a program, on scenes and queries in files:
//!
//! `peer hardpan|hardpan-cursor DIR SCENE [--works rand:near,..] [--dump DIR] [--build-only] [--budget SECONDS]`
//!
//! `DIR/SCENE.tri` holds a u64 count, then nine f32 a triangle; `DIR/SCENE.WORK.qry` a u64 count, then f64 x, y, z and
//! length a query; all little-endian. One CSV line is printed per workload; `--dump` writes the heights instead.
//! Both 99.9th percentiles in it are floors. `--budget` is accepted and has no meaning.

use benchmarks::image::{self, Hardpan};
use benchmarks::scenes::{Mesh, Modeller};
use benchmarks::timing::{self, Contestant};
use benchmarks::{Peer, Query, Surface, digest};
use hardpan::Cursor;
use std::cell::RefCell;
use std::fs;
use std::io::{self, ErrorKind};
use std::time::Instant;

const QUERIES: usize = 200_000;
const ROUNDS: usize = 9;
const SINGLES: usize = 20_000;
const SWEPT: usize = 2_000;

/// The records of a file after its count.
fn records<const N: usize>(path: &str) -> io::Result<Vec<[u8; N]>> {
    let bytes = fs::read(path)?;
    let (count, records) = bytes.split_first_chunk().ok_or(ErrorKind::UnexpectedEof)?;
    let (records, rest) = records.as_chunks::<N>();
    match u64::from_le_bytes(*count) == records.len() as u64 && rest.is_empty() {
        true => Ok(records.to_vec()),
        false => Err(ErrorKind::InvalidData.into()),
    }
}

fn mesh(path: &str) -> io::Result<Mesh> {
    let mut modeller = Modeller::default();
    for record in records::<36>(path)? {
        let v: [f32; 9] = std::array::from_fn(|i| f32::from_le_bytes(record.as_chunks().0[i]));
        modeller.triangle([[v[0], v[1], v[2]], [v[3], v[4], v[5]], [v[6], v[7], v[8]]]);
    }
    Ok(modeller.mesh)
}

fn queries(path: &str) -> io::Result<Vec<Query>> {
    let query = |record: [u8; 32]| {
        let [x, y, z, reach] = std::array::from_fn(|i| f64::from_le_bytes(record.as_chunks().0[i]));
        Query { at: [x, y, z], reach }
    };
    Ok(records::<32>(path)?.into_iter().map(query).collect())
}

/// Questions of a workload.
enum Ask {
    Closest,
    Cursor,
    Down,
    Layers,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let [peer, folder, scene, ..] = &arguments[..] else {
        eprintln!("usage: peer hardpan|hardpan-cursor DIR SCENE [--works WORK:MODE,..] [--dump DIR] [--build-only]");
        std::process::exit(2);
    };
    let mesh = mesh(&format!("{folder}/{scene}.tri"))?;
    let n = mesh.triangles.len();
    let source = image::scene(&mesh);
    let start = Instant::now();
    let built = image::image(&source);
    let seconds = start.elapsed().as_secs_f64();
    let bytes = built.image.len();
    if arguments.iter().any(|a| a == "--build-only") {
        println!("{peer},{scene},build,{n},{seconds:.3},{:.3},{bytes}", n as f64 / seconds / 1e6);
        return Ok(());
    }
    let hardpan = Hardpan::new(&built.image);
    let terrain = hardpan.terrain;
    let cursor = RefCell::new(Cursor::new());
    let works =
        option("--works").map_or("rand:down,rand:near,tri:near,wheel:down,wheel:near,layers:layers", String::as_str);
    for work in works.split(',') {
        let (file, mode) = work.split_once(':').unwrap_or((work, "down"));
        let Ok(queries) = queries(&format!("{folder}/{scene}.{file}.qry")) else {
            continue;
        };
        let ask = match (mode, peer.as_str()) {
            ("near", "hardpan") => Ask::Closest,
            ("near", "hardpan-cursor") => Ask::Cursor,
            ("down", _) => Ask::Down,
            ("layers", _) => Ask::Layers,
            _ => continue,
        };
        // How many surfaces, and the sum of their heights.
        let one = |s: Option<Surface>| (usize::from(s.is_some()), digest(s));
        let answer = |q: &Query| match ask {
            Ask::Closest => one(hardpan.closest(q)),
            Ask::Cursor => one(hardpan.surface(&terrain.closest_cursor(q.at, &mut cursor.borrow_mut()))),
            Ask::Down => one(hardpan.surface(&terrain.segment_m(q.at, q.reach))),
            Ask::Layers => hardpan.layers(q),
        };
        if let Some(folder) = option("--dump") {
            let mut out = (queries.len() as u64).to_le_bytes().to_vec();
            for (found, z) in queries.iter().map(answer) {
                out.extend(if found > 0 { z } else { f64::NAN }.to_le_bytes());
            }
            fs::write(format!("{folder}/{scene}.{file}_{mode}.{peer}.ans"), out)?;
            continue;
        }
        let n = QUERIES.min(queries.len());
        let tally = || queries[..n].iter().map(answer).fold((0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let mut contestants = [Contestant::new(peer, |i| {
            let (count, sum) = answer(&queries[i]);
            count as f64 + sum
        })];
        let times = &timing::race(&mut contestants, n, ROUNDS)[0];
        let [mut best, mut swept] = [contestants[0].best(SINGLES.min(n), n), contestants[0].swept(SWEPT.min(n), n)];
        let [p50, p999] = [0.5, 0.999].map(|q| timing::quantile(&mut best, q));
        let [cold50, cold99] = [0.5, 0.99].map(|q| timing::quantile(&mut swept, q));
        let ([low, high], median, (hits, sum)) = (times.range(), times.median(), tally());
        print!("{peer},{scene},{file}_{mode},{n},{median:.1},{low:.1},{high:.1},{p50:.0},{p999:.0},{p999:.0},");
        println!("{cold50:.0},{cold99:.0},{seconds:.3},{bytes},{hits},{sum:.3}");
    }
    Ok(())
}
