//! The machine that figures belong to.
//!
//! Linux has files for it, macOS `sysctl`, Windows an environment variable with the processor.
//! Unknown fields are left out, never guessed.

use std::{
    collections::HashSet,
    env, fmt, fs,
    path::Path,
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize};

use crate::{
    output::render,
    system::{memory, pool},
};

/// A machine, as far as it is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineInfo {
    /// The processor's name.
    pub cpu: Option<String>,
    /// Which processor it is, where the name is that of many: clouds give one name to several
    /// generations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
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

/// What `CPUID` says of an x86 processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The family, the extended one included.
    pub family: u32,
    /// The model within the family.
    pub model: u32,
    /// The revision of the model.
    pub stepping: u32,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { family, model, stepping } = self;
        write!(f, "family {family} model {model} stepping {stepping}")
    }
}

/// A data cache of one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the first-level cache.
    pub level: u32,
    /// Its size in bytes.
    pub bytes: u64,
}

impl MachineInfo {
    /// This machine, with the SIMD level of the kernels.
    pub fn read(simd: &impl ToString) -> MachineInfo {
        MachineInfo {
            cpu: cpu(),
            identity: identity(),
            cores: pool::cores(),
            caches: caches(),
            simd: simd.to_string(),
            memory: memory::meminfo("MemTotal"),
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                .ok()
                .map(|text| text.trim().to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Whether the hardware and the system are the same, as far as both are known. Two processors
    /// without a name may differ.
    pub fn is_same_hardware(&self, other: &MachineInfo) -> bool {
        let facts = |machine: &MachineInfo| {
            (machine.cpu.clone(), machine.cores, machine.caches.clone(), machine.system.clone())
        };
        self.cpu.is_some() && facts(self) == facts(other) && self.may_be_of(other.identity)
    }

    /// Whether nothing in the two descriptions differs. Old documents have no identity.
    pub fn is_described_like(&self, other: &MachineInfo) -> bool {
        let identity = self.identity.and(other.identity);
        self.may_be_of(other.identity)
            && MachineInfo { identity, ..self.clone() } == MachineInfo { identity, ..other.clone() }
    }

    fn may_be_of(&self, other: Option<Identity>) -> bool {
        self.identity.zip(other).is_none_or(|(own, other)| own == other)
    }

    /// The processor in words.
    pub fn processor(&self) -> String {
        let name = self.cpu.as_deref().unwrap_or("unknown CPU");
        match self.identity {
            Some(identity) => format!("{name} ({identity})"),
            None => name.to_owned(),
        }
    }

    /// Two lines of text.
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
                simd_in_words(&self.simd)
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

/// A SIMD level with the instruction set that it is named for: `SIMD level v4 (AVX-512)`.
fn simd_in_words(level: &str) -> String {
    match level {
        "v4" => "SIMD level v4 (AVX-512)".to_owned(),
        "v3" => "SIMD level v3 (AVX2)".to_owned(),
        other => format!("SIMD level {other}"),
    }
}

/// Cache sizes in binary units.
fn binary(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

fn cpu() -> Option<String> {
    let name = match env::consts::OS {
        "macos" => sysctl(&["-n", "machdep.cpu.brand_string"]),
        "windows" => env::var("PROCESSOR_IDENTIFIER").ok(),
        _ => fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(cpu_name),
    };
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// On Windows the name has it, and on macOS names are those of single processors.
fn identity() -> Option<Identity> {
    read_identity(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// The identity of the first processor, from lines such as `model : 143`.
fn read_identity(text: &str) -> Option<Identity> {
    let number = |name: &str| {
        let field = |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().parse().ok())?
        };
        text.lines().find_map(field)
    };
    let family = number("cpu family")?;
    Some(Identity { family, model: number("model")?, stepping: number("stepping")? })
}

fn caches() -> Vec<Cache> {
    match env::consts::OS {
        "macos" => {
            let sizes = ["hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize"];
            sysctl(&sizes).as_deref().map_or_else(Vec::new, named_caches)
        }
        _ => described_caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
    }
}

/// The output of `sysctl`, whatever its exit code: with one unknown name it fails but prints the
/// other values.
fn sysctl(args: &[&str]) -> Option<String> {
    let output = Command::new("sysctl").args(args).stdin(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// The name of the first processor. ARM has none in this file: the implementer and part numbers of
/// each kind of core.
fn cpu_name(cpuinfo: &str) -> Option<String> {
    let fields = |name| {
        let field = move |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        };
        cpuinfo.lines().filter_map(field)
    };
    if let Some(name) = fields("model name").next() {
        return Some(name);
    }
    let cores = fields("CPU implementer").zip(fields("CPU part"));
    let mut kinds: Vec<String> =
        cores.map(|(implementer, part)| format!("implementer {implementer} part {part}")).collect();
    let mut seen = HashSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// Caches as `sysctl` prints them: `hw.l2cachesize: 4194304`. A size of 0 means that there is no
/// such cache.
fn named_caches(text: &str) -> Vec<Cache> {
    let cache = |line: &str| {
        let (name, bytes) = line.split_once(':')?;
        let level = name.trim().strip_prefix("hw.l")?.get(..1)?.parse().ok()?;
        let bytes = bytes.trim().parse().ok().filter(|&bytes| bytes > 0)?;
        Some(Cache { level, bytes })
    };
    text.lines().filter_map(cache).collect()
}

/// Caches as Linux describes them, a folder for each.
fn described_caches(folder: &Path) -> Vec<Cache> {
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
    fn processors_of_one_name_are_told_apart_by_their_models() {
        let text = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Some CPU\n\
                    stepping\t: 8\n";
        let identity = Identity { family: 6, model: 143, stepping: 8 };
        assert_eq!(read_identity(text), Some(identity));
        assert_eq!(read_identity("processor\t: 0\nmodel\t: 3\n"), None);
        let machine = |identity| {
            let cpu = Some("Some CPU".to_owned());
            MachineInfo { cpu, identity, ..MachineInfo::read(&"v4") }
        };
        let (known, unknown) = (machine(Some(identity)), machine(None));
        let other = machine(Some(Identity { model: 85, ..identity }));
        for (a, b, same) in
            [(&known, &known, true), (&known, &unknown, true), (&known, &other, false)]
        {
            assert_eq!((a.is_same_hardware(b), a.is_described_like(b)), (same, same));
            assert_eq!((b.is_same_hardware(a), b.is_described_like(a)), (same, same));
        }
        let scalar = MachineInfo { simd: "scalar".to_owned(), ..known.clone() };
        assert!(known.is_same_hardware(&scalar) && !known.is_described_like(&scalar));
        assert_eq!(known.processor(), "Some CPU (family 6 model 143 stepping 8)");
    }

    #[test]
    fn arm_processors_are_named_by_the_kinds_of_their_cores() {
        let core = |at, part| {
            format!(
                "processor\t: {at}\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n\
                 CPU architecture: 8\n\
                 CPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n\n"
            )
        };
        let alike: String = (0..4).map(|at| core(at, "0xd0c")).collect();
        assert_eq!(cpu_name(&alike).as_deref(), Some("implementer 0x41 part 0xd0c"));
        let unlike = core(0, "0xd05") + &core(1, "0xd0b") + &core(2, "0xd05");
        let name = "implementer 0x41 part 0xd05, implementer 0x41 part 0xd0b";
        assert_eq!(cpu_name(&unlike).as_deref(), Some(name));
    }

    #[test]
    fn caches_that_have_names_are_read_by_them() {
        let text = "hw.l1dcachesize: 65536\nhw.l2cachesize: 4194304\n";
        let two = [Cache { level: 1, bytes: 64 << 10 }, Cache { level: 2, bytes: 4 << 20 }];
        assert_eq!(named_caches(text), two);
        assert_eq!(named_caches(&format!("{text}hw.l3cachesize: 0\n")), two);
        let third = named_caches("hw.l3cachesize: 8388608\n");
        assert_eq!(third, [Cache { level: 3, bytes: 8 << 20 }]);
        assert_eq!(named_caches("sysctl: unknown oid 'hw.l3cachesize'\nhw.l: 1\n"), []);
    }

    /// On the systems where it can be known.
    #[test]
    fn this_machine_says_what_its_processor_is() {
        if cfg!(any(target_os = "linux", target_os = "macos", target_os = "windows"))
            && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        {
            let machine = MachineInfo::read(&"Scalar");
            assert!(machine.cpu.is_some(), "{machine:?}");
        }
    }

    #[test]
    fn cache_sizes_have_units() {
        let sizes = ["48K", "2M", "512", "1G", "K"].map(cache_bytes);
        assert_eq!(sizes, [Some(49152), Some(2 << 20), Some(512), None, None]);
    }

    #[test]
    fn a_machine_that_says_nothing_has_a_description() {
        assert_eq!(described_caches(Path::new("/missing")), []);
        let machine = MachineInfo {
            cpu: None,
            caches: vec![],
            memory: None,
            kernel: None,
            ..MachineInfo::read(&"Scalar")
        };
        assert!(machine.lines()[0].starts_with("unknown, "), "{machine:?}");
    }
}
