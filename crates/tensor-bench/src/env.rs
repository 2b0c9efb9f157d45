//! The card of the machine: what a figure depends on beside the code.
//!
//! Everything is read from where Linux tells it; what a system does not tell is left out, never guessed.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::{memory, pool, render};

/// A machine, as far as it says what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The processor's name.
    pub cpu: Option<String>,
    /// How many threads can run at once.
    pub cores: usize,
    /// The caches of the first core, smallest first.
    pub caches: Vec<Cache>,
    /// The SIMD level the kernels use.
    pub simd: String,
    /// All memory, in bytes.
    pub memory: Option<u64>,
    /// The operating system and the architecture: `linux x86_64`.
    pub system: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The version of this crate.
    pub version: String,
}

/// A data cache of one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Card {
    /// The card of this machine, for kernels that run at a SIMD level.
    pub fn read(simd: &impl ToString) -> Card {
        Card {
            cpu: fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(cpu_name),
            cores: pool::cores(),
            caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
            simd: simd.to_string(),
            memory: memory::meminfo("MemTotal"),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                .ok()
                .map(|text| text.trim().to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The card on two lines.
    pub fn lines(&self) -> [String; 2] {
        let unknown = || "unknown".to_owned();
        let caches = self.caches.iter().map(|c| format!("L{} {}", c.level, binary(c.bytes)));
        let caches: Vec<_> = caches.collect();
        let memory = self.memory.map_or_else(unknown, |bytes| render::bytes(bytes.into()));
        [
            format!(
                "{}, {} cores, {}",
                self.cpu.clone().unwrap_or_else(unknown),
                self.cores,
                self.simd
            ),
            format!(
                "{}; memory {memory}; {} {}",
                caches.join(", "),
                self.system,
                self.kernel.clone().unwrap_or_default()
            ),
        ]
    }
}

/// Cache sizes are powers of two and are named so.
fn binary(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

fn cpu_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn caches(folder: &Path) -> Vec<Cache> {
    let mut caches: Vec<Cache> =
        (0..8).filter_map(|i| cache(&folder.join(format!("index{i}")))).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let read = |name| fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
    let level = read("level")?.parse().ok()?;
    let is_data = read("type")? != "Instruction";
    is_data.then_some(Cache { level, bytes: cache_bytes(&read("size")?)? })
}

fn cache_bytes(size: &str) -> Option<u64> {
    let split = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
    let unit: u64 = match &size[split..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    size[..split].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\nflags\t: sse\n";
        assert_eq!(cpu_name(text).as_deref(), Some("Some CPU @ 2.50GHz"));
        assert_eq!(cpu_name("processor\t: 0\n"), None);
    }

    #[test]
    fn cache_sizes_have_units() {
        let sizes = ["48K", "2M", "512", "1G", "K"].map(cache_bytes);
        assert_eq!(sizes, [Some(49152), Some(2 << 20), Some(512), None, None]);
    }

    #[test]
    fn a_machine_that_says_nothing_still_has_a_card() {
        assert_eq!(caches(Path::new("/nowhere")), []);
        let card =
            Card { cpu: None, caches: vec![], memory: None, kernel: None, ..Card::read(&"Scalar") };
        assert!(card.lines()[0].starts_with("unknown, "), "{card:?}");
    }
}
