//! `--backend`: where the data-parallel stages run, and what is said of it.

use super::{Failure, VERSION, note, report::Report};
use crate::build::backend::{Backend, CHOICES, Choice, NoBackend, Wanted};
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(clap::Args)]
#[group(skip)] // its name is taken by the command that has it
pub struct Args {
    /// Where stages run, to the same bytes; more options: builder/docs/gpu.md
    #[arg(long, value_name = "BACKEND", default_value = "auto", value_parser = CHOICES)]
    backend: String,
    /// Part of the graphics card's name
    #[arg(long, hide = true, value_name = "NAME")]
    adapter: Option<String>,
    /// Most memory of the graphics card for a chunk, as 512MiB or 2GiB [default: 1GiB]
    #[arg(long, hide = true, value_name = "SIZE", value_parser = size)]
    gpu_memory: Option<u64>,
}

/// Bytes, KiB, MiB or GiB.
fn size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let of = units.iter().find_map(|(unit, log2)| Some((text.strip_suffix(unit)?, *log2)));
    let (digits, log2) = of.unwrap_or((text, 0));
    let number: u64 = digits.trim().parse().map_err(|_| "a whole number of bytes, or of KiB, MiB or GiB, as 512MiB")?;
    let bytes = number.checked_mul(1 << log2).ok_or("more than there can be")?;
    if bytes >= 1 << 16 { Ok(bytes) } else { Err("at least 64KiB".into()) }
}

impl Args {
    /// The backend for a job of so many triangles.
    pub fn open(&self, triangles: usize) -> Result<Backend, Failure> {
        let choice: Choice = self.backend.parse().expect("one of the choices");
        let wanted = Wanted { choice, adapter: self.adapter.clone(), memory: self.gpu_memory };
        if (wanted.adapter.is_some() || wanted.memory.is_some()) && choice == Choice::Cpu {
            let text =
                "--adapter and --gpu-memory are for a graphics card, but --backend cpu uses none; leave them out";
            return Err(Failure::Input(text.into()));
        }
        let backend = Backend::choose(&wanted, triangles as u64).map_err(|e| {
            let text = format!("--backend {}: {e}", self.backend);
            match e {
                NoBackend::Left(_) => Failure::Unsupported(text),
                NoBackend::Asked(_) => Failure::Input(text),
                NoBackend::Missing(_) => Failure::Machine(text),
            }
        })?;
        if backend.is_device() || choice == Choice::Auto && triangles as u64 >= crate::build::backend::LARGE {
            note(format!("stages run on {}: {}", backend.stages().name(), backend.why()));
        }
        Ok(backend)
    }
}

/// Reports which device did what; warns if the device failed.
pub fn settle(backend: &Backend, report: &mut Report) {
    let stages: Vec<Value> = backend
        .stages()
        .work()
        .iter()
        .map(|w| {
            json!({
                "stage": w.stage,
                "device": w.device,
                "items": w.items,
                "chunks": w.chunks,
                "redone": w.redone,
                "on_host": w.on_host,
                "bytes": w.bytes,
                "seconds": w.seconds,
            })
        })
        .collect();
    report.backend = Some(json!({ "name": backend.stages().name(), "why": backend.why(), "stages": stages }));
    if let Some(text) = backend.warning() {
        report.warn(text);
    }
}

/// `hardpan --version --verbose`: the version, and the graphics cards of this machine.
pub fn version() -> ExitCode {
    let mut text = format!("hardpan {VERSION}\n");
    match crate::build::backend::adapters() {
        Ok(all) if all.is_empty() => text.push_str("adapters: none\n"),
        Ok(all) => all.iter().for_each(|adapter| text.push_str(&format!("adapter: {adapter}\n"))),
        Err(why) => text.push_str(&format!("adapters: not known; {why}\n")),
    }
    use std::io::Write;
    let mut out = super::Stdout::open();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => super::failed(&e.into()),
    }
}
