//! Where the data-parallel stages run: on the processor's cores or on a graphics card. The bytes of an image do not
//! depend on it.

use hardpan_shaders::{Cpu, Stages};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Triangles from which on a graphics card is taken by itself. Unmeasured: no card has run a whole build yet.
pub const LARGE: u64 = 5_000_000;

/// Why a program has no graphics cards.
#[cfg(any(test, not(feature = "gpu")))]
const LEFT: &str = "this program was built without graphics cards";
/// How to install a program that has them.
pub const INSTALL: &str = "cargo install --locked --path builder --features gpu";

/// Where the stages are to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// On a graphics card from [`LARGE`] triangles on, if there is one, or on one that is named; else on the processor.
    /// Never on a software driver.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On a graphics card.
    Gpu,
    /// On a Vulkan driver that runs on the processor, for tests: slower than `Cpu`.
    Software,
}

/// Their names.
pub const CHOICES: [&str; 4] = ["auto", "cpu", "gpu", "software"];

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let choices = [Choice::Auto, Choice::Cpu, Choice::Gpu, Choice::Software];
        let at = CHOICES.iter().position(|name| *name == text);
        at.map(|i| choices[i]).ok_or_else(|| format!("one of {}", CHOICES.join(", ")))
    }
}

/// Request for a backend.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub choice: Choice,
    /// Part of a graphics card's name.
    pub adapter: Option<String>,
    /// Bytes of device memory for a chunk of a stage.
    pub memory: Option<u64>,
}

/// Why there is no such backend.
#[derive(Debug)]
pub enum NoBackend {
    /// This program was built without graphics cards.
    Left(String),
    /// A variable or an option says what makes no sense on any machine.
    Asked(String),
    /// There is no such graphics card.
    Missing(String),
}

impl fmt::Display for NoBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBackend::Left(text) | NoBackend::Asked(text) | NoBackend::Missing(text) => f.write_str(text),
        }
    }
}

impl Error for NoBackend {}

/// A backend.
pub struct Backend {
    stages: On,
    why: String,
}

enum On {
    Cpu(Cpu),
    #[cfg(feature = "gpu")]
    Gpu(Box<hardpan_shaders::Gpu>),
}

impl Backend {
    /// The processor, with the reason.
    pub fn cpu(why: impl Into<String>) -> Backend {
        Backend { stages: On::Cpu(Cpu::new()), why: why.into() }
    }

    /// Chooses a backend for a job of so many triangles.
    pub fn choose(wanted: &Wanted, triangles: u64) -> Result<Backend, NoBackend> {
        match wanted.choice {
            Choice::Cpu => Ok(Backend::cpu("as asked")),
            Choice::Auto if triangles < LARGE && wanted.adapter.is_none() => {
                Ok(Backend::cpu(format!("fewer than {} million triangles", LARGE / 1_000_000)))
            }
            _ => Backend::card(wanted),
        }
    }

    #[cfg(feature = "gpu")]
    fn card(wanted: &Wanted) -> Result<Backend, NoBackend> {
        let Wanted { choice, adapter, memory } = wanted;
        let of = hardpan_shaders::gpu::Wanted {
            software: *choice == Choice::Software,
            name: adapter.clone(),
            memory: *memory,
        };
        match hardpan_shaders::Gpu::open(&of) {
            Ok(gpu) => {
                let why = if *choice == Choice::Auto && adapter.is_none() { "a large job" } else { "as asked" };
                Ok(Backend { stages: On::Gpu(Box::new(gpu)), why: why.into() })
            }
            // what somebody asked for by name is no reason to take something else
            Err(e) if *choice == Choice::Auto && adapter.is_none() && !is_named() => {
                let cards = hardpan_shaders::gpu::adapters().unwrap_or_default();
                let is_card = |a: &hardpan_shaders::gpu::Adapter| a.kind != hardpan_shaders::gpu::Kind::Software;
                let text = e.to_string();
                let cause = text.lines().next().unwrap_or_default();
                Ok(Backend::cpu(if cards.iter().any(is_card) { cause } else { "no graphics card was found" }))
            }
            Err(hardpan_shaders::gpu::NoAdapter::Asked(text)) => Err(NoBackend::Asked(text)),
            Err(hardpan_shaders::gpu::NoAdapter::Missing(text)) => Err(NoBackend::Missing(text)),
        }
    }

    #[cfg(not(feature = "gpu"))]
    fn card(wanted: &Wanted) -> Result<Backend, NoBackend> {
        Backend::without(wanted)
    }

    /// Backend of a program without the feature `gpu`, for a job that a card would do.
    #[cfg(any(test, not(feature = "gpu")))]
    fn without(wanted: &Wanted) -> Result<Backend, NoBackend> {
        if wanted.choice == Choice::Auto && wanted.adapter.is_none() {
            return Ok(Backend::cpu(LEFT));
        }
        Err(NoBackend::Left(format!("{LEFT}; install it with them: {INSTALL}")))
    }

    /// The stages.
    pub fn stages(&self) -> &dyn Stages {
        match &self.stages {
            On::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            On::Gpu(gpu) => &**gpu,
        }
    }

    /// Why it was taken.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether it is a graphics card or a software driver of one.
    pub fn is_device(&self) -> bool {
        !matches!(self.stages, On::Cpu(_))
    }

    /// The first failure of the device, if there was one: its chunks were done again on the processor.
    pub fn warning(&self) -> Option<String> {
        match &self.stages {
            On::Cpu(_) => None,
            #[cfg(feature = "gpu")]
            On::Gpu(gpu) => gpu.warning(),
        }
    }
}

/// Whether variables say which graphics card is meant.
#[cfg(feature = "gpu")]
fn is_named() -> bool {
    ["WGPU_BACKEND", "WGPU_ADAPTER_NAME"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The graphics cards and software drivers of this machine, a line each; or why none is known.
pub fn adapters() -> Result<Vec<String>, String> {
    #[cfg(feature = "gpu")]
    return hardpan_shaders::gpu::adapters().map(|all| all.iter().map(ToString::to_string).collect());
    #[cfg(not(feature = "gpu"))]
    Err(format!("{LEFT}; install it with them: {INSTALL}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what is typed needs a card; everything else is done by the processor.
    #[test]
    fn without_the_feature_a_typed_card_is_answered_with_the_command() {
        let of = |choice, adapter: Option<&str>| {
            Backend::without(&Wanted { choice, adapter: adapter.map(Into::into), memory: None })
        };
        assert!(!of(Choice::Auto, None).unwrap().is_device());
        for (choice, adapter) in [(Choice::Gpu, None), (Choice::Software, None), (Choice::Auto, Some("RTX"))] {
            let Err(NoBackend::Left(text)) = of(choice, adapter) else { panic!("{choice:?}") };
            assert!(text.ends_with("--path builder --features gpu"), "{text}");
        }
    }
}
