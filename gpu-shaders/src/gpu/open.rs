//! Which graphics card is used, and what is said where there is none.

use std::error::Error;
use std::fmt;

/// Which graphics card, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only drivers that draw on the processor, for tests; else only real graphics cards.
    pub software: bool,
    /// Part of the adapter's name, in capitals or not. The variable `WGPU_ADAPTER_NAME` says it where this does not.
    pub name: Option<String>,
    /// Bytes of device memory for a chunk of a stage.
    pub memory: Option<u64>,
}

/// Facts about an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A card with memory of its own.
    Discrete,
    /// A part of the processor.
    Integrated,
    /// A share of a card in a virtual machine.
    Virtual,
    /// Not known.
    Unknown,
    /// A driver that draws on the processor.
    Software,
}

/// A graphics card with its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    pub name: String,
    /// The interface: `vulkan` or `metal`.
    pub backend: String,
    pub driver: String,
    pub driver_info: String,
    pub kind: Kind,
}

impl Adapter {
    fn of(adapter: &wgpu::Adapter) -> Adapter {
        let info = adapter.get_info();
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => Kind::Discrete,
            wgpu::DeviceType::IntegratedGpu => Kind::Integrated,
            wgpu::DeviceType::VirtualGpu => Kind::Virtual,
            wgpu::DeviceType::Cpu => Kind::Software,
            wgpu::DeviceType::Other => Kind::Unknown,
        };
        let backend = info.backend.to_str().to_string();
        Adapter { name: info.name, backend, driver: info.driver, driver_info: info.driver_info, kind }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kind = match self.kind {
            Kind::Discrete => "card",
            Kind::Integrated => "integrated",
            Kind::Virtual => "virtual",
            Kind::Unknown => "unknown kind",
            Kind::Software => "software",
        };
        write!(f, "{} ({}, {kind}, {} {})", self.name, self.backend, self.driver, self.driver_info)
    }
}

/// No graphics card can be used: the cause and what to do, then what was found and what was looked for, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAdapter {
    /// The request makes no sense on any machine.
    Asked(String),
    /// This machine has none that is wanted.
    Missing(String),
}

impl fmt::Display for NoAdapter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (NoAdapter::Asked(text) | NoAdapter::Missing(text)) = self;
        f.write_str(text)
    }
}

impl Error for NoAdapter {}

/// The interfaces that this program can use, by their names.
const BACKENDS: &[(&str, wgpu::Backends)] = if cfg!(target_vendor = "apple") {
    &[("metal", wgpu::Backends::METAL)]
} else {
    &[("vulkan", wgpu::Backends::VULKAN), ("vk", wgpu::Backends::VULKAN)]
};

const LOOKED_FOR: &[&str] = if cfg!(target_vendor = "apple") {
    &["Metal devices of this machine"]
} else if cfg!(windows) {
    &["vulkan-1.dll on the search path", "drivers that the registry lists"]
} else {
    &[
        "the Vulkan loader libvulkan.so.1 on the library path",
        "drivers listed in VK_DRIVER_FILES, or else in /etc/vulkan/icd.d and /usr/share/vulkan/icd.d",
    ]
};

/// All graphics cards and software drivers of this machine that the stages could run on.
pub fn adapters() -> Result<Vec<Adapter>, String> {
    Ok(found(&variable("WGPU_BACKEND"))?.iter().map(|(adapter, _)| adapter.clone()).collect())
}

fn adapters_of_any() -> Vec<Adapter> {
    found(&None).unwrap_or_default().into_iter().map(|(adapter, _)| adapter).collect()
}

/// A line for each, each with a line break before it.
fn list(all: &[Adapter]) -> String {
    match all {
        [] => "\nfound: none".into(),
        all => all.iter().map(|adapter| format!("\nfound: {adapter}")).collect(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn found(backend: &Option<String>) -> Result<Vec<(Adapter, wgpu::Adapter)>, String> {
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
    desc.backends = backends(backend.as_deref())?;
    let all = pollster::block_on(wgpu::Instance::new(desc).enumerate_adapters(wgpu::Backends::all()));
    Ok(all.into_iter().map(|adapter| (Adapter::of(&adapter), adapter)).collect())
}

/// The interfaces that a list names.
fn backends(list: Option<&str>) -> Result<wgpu::Backends, String> {
    let Some(list) = list else { return Ok(BACKENDS.iter().map(|(_, backend)| *backend).collect()) };
    let one = |name: &str| {
        let known = BACKENDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
        known.map(|(_, backend)| *backend).ok_or_else(|| {
            format!(
                "WGPU_BACKEND={list}: this program knows no \"{}\"; set WGPU_BACKEND={} or unset it",
                name.trim(),
                BACKENDS[0].0
            )
        })
    };
    list.split(',').map(one).collect()
}

/// The graphics card that is wanted.
pub(super) fn choose(wanted: &Wanted) -> Result<(Adapter, wgpu::Adapter), NoAdapter> {
    let with_found = |text: String| NoAdapter::Asked(format!("{text}{}", list(&adapters_of_any())));
    let mut found = found(&variable("WGPU_BACKEND")).map_err(with_found)?;
    let all: Vec<Adapter> = found.iter().map(|(adapter, _)| adapter.clone()).collect();
    let at = best(&all, wanted, variable("WGPU_ADAPTER_NAME").as_deref())?;
    Ok(found.swap_remove(at))
}

/// Which of some adapters: a card before what is integrated, of two of a kind the first.
fn best(all: &[Adapter], wanted: &Wanted, variable: Option<&str>) -> Result<usize, NoAdapter> {
    let name = wanted.name.as_deref().or(variable);
    let is_named = |a: &Adapter| name.is_none_or(|name| a.name.to_lowercase().contains(&name.to_lowercase()));
    let is_wanted = |a: &Adapter| (a.kind == Kind::Software) == wanted.software && is_named(a);
    let best = (0..all.len()).filter(|i| is_wanted(&all[*i])).min_by_key(|i| all[*i].kind);
    best.ok_or_else(|| {
        NoAdapter::Missing(explain(all, wanted, name, variable.filter(|_| wanted.name.is_none()).is_some()))
    })
}

fn explain(all: &[Adapter], wanted: &Wanted, name: Option<&str>, is_variable: bool) -> String {
    let what = if wanted.software { "software driver" } else { "graphics card" };
    let named = match name {
        Some(name) if is_variable => format!(" whose name contains \"{name}\" (WGPU_ADAPTER_NAME)"),
        Some(name) => format!(" whose name contains \"{name}\""),
        None => String::new(),
    };
    let help = if wanted.software {
        "on Debian and Ubuntu: apt-get install mesa-vulkan-drivers"
    } else {
        "install the driver of the card, with its Vulkan part"
    };
    let looked: String = LOOKED_FOR.iter().map(|what| format!("\nlooked for: {what}")).collect();
    format!("no {what}{named}; {help}{}{looked}", list(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, kind: Kind) -> Adapter {
        Adapter { name: name.into(), backend: "vulkan".into(), driver: "d".into(), driver_info: "1".into(), kind }
    }

    #[test]
    fn cards_come_before_what_is_integrated_and_software_is_asked_for() {
        let all = [
            adapter("llvmpipe", Kind::Software),
            adapter("Iris", Kind::Integrated),
            adapter("Big One", Kind::Discrete),
            adapter("Big Two", Kind::Discrete),
        ];
        let wanted = |software, name: Option<&str>| Wanted { software, name: name.map(Into::into), memory: None };
        assert_eq!(best(&all, &wanted(false, None), None), Ok(2));
        assert_eq!(best(&all, &wanted(true, None), None), Ok(0));
        assert_eq!(best(&all, &wanted(false, Some("iris")), Some("two")), Ok(1));
        assert_eq!(best(&all, &wanted(false, None), Some("two")), Ok(3));
        assert_eq!(best(&all[..2], &wanted(false, None), None), Ok(1));
        // a software driver is no graphics card; one cause a line
        let missing = |all: &[Adapter], wanted: &Wanted, variable| {
            let NoAdapter::Missing(text) = best(all, wanted, variable).unwrap_err() else {
                panic!("nothing was typed")
            };
            text.lines().map(String::from).collect::<Vec<_>>()
        };
        let lines = missing(&all[..1], &wanted(false, None), None);
        assert_eq!(lines[0], "no graphics card; install the driver of the card, with its Vulkan part");
        assert_eq!(lines[1], "found: llvmpipe (vulkan, software, d 1)");
        assert!(lines[2..].iter().all(|l| l.starts_with("looked for: ")) && lines.len() == 2 + LOOKED_FOR.len());
        let lines = missing(&all, &wanted(true, None), Some("RTX"));
        let cause = "no software driver whose name contains \"RTX\" (WGPU_ADAPTER_NAME); ";
        assert!(lines[0].starts_with(cause) && lines[4].starts_with("found: Big Two ("), "{lines:?}");
        let lines = missing(&[], &wanted(true, None), None);
        assert!(lines[0].ends_with("apt-get install mesa-vulkan-drivers") && lines[1] == "found: none", "{lines:?}");
        assert!(lines.iter().all(|line| line.len() <= 120), "{lines:?}");
    }

    #[test]
    fn interfaces_that_are_not_known_are_errors() {
        assert_eq!(backends(Some(BACKENDS[0].0)), Ok(BACKENDS[0].1));
        assert_eq!(backends(Some(&BACKENDS[0].0.to_uppercase())), Ok(BACKENDS[0].1));
        assert_eq!(backends(None), Ok(BACKENDS[0].1));
        let text = backends(Some("bogus")).unwrap_err();
        assert!(text.starts_with("WGPU_BACKEND=bogus: ") && text.contains(BACKENDS[0].0), "{text}");
    }
}
