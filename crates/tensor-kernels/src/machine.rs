//! The numbers of a machine that plans depend on, and how each was found.
//!
//! A plan is a function of layouts and of this; so plans can be compared across machines by passing a fixed one, as the tests do.

use std::sync::OnceLock;

/// What a plan needs to know of a machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// First-level data cache of a core.
    pub l1: usize,
    /// Second-level cache of a core.
    pub l2: usize,
    /// Results of at least this size are written past the caches.
    pub stream: usize,
    /// The least work that is worth another thread.
    pub grain: usize,
}

impl Machine {
    /// A fixed machine: a plan made for it is the same everywhere.
    pub const REFERENCE: Machine =
        Machine { l1: 32 << 10, l2: 1 << 20, stream: 4 << 20, grain: 128 << 10 };

    /// This machine, as the operating system describes it; where it does not, as [`REFERENCE`](Self::REFERENCE).
    pub fn detect() -> Self {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        *MACHINE.get_or_init(|| {
            let l1 = cache_size("Data", 1).unwrap_or(Self::REFERENCE.l1);
            let l2 = cache_size("Unified", 2).unwrap_or(Self::REFERENCE.l2).max(l1);
            // A result that leaves no room for its source in L2 comes from and goes to memory (or a shared L3) anyhow.
            Self { l1, l2, stream: 4 * l2, ..Self::REFERENCE }
        })
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::detect()
    }
}

/// The size of the first core's cache of a kind and level, from Linux's `/sys`.
fn cache_size(kind: &str, level: usize) -> Option<usize> {
    (0..8).find_map(|index| {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            std::fs::read_to_string(path).map(|text| text.trim().to_owned())
        };
        let found = read("type").ok()? == kind && read("level").ok()? == level.to_string();
        if !found {
            return None;
        }
        let size = read("size").ok()?;
        let kibibytes: usize = size.strip_suffix('K')?.parse().ok()?;
        (1..=1 << 20).contains(&kibibytes).then_some(kibibytes << 10)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detected_machine_is_plausible() {
        let Machine { l1, l2, stream, grain } = Machine::detect();
        assert!(l1 >= 4 << 10 && l2 >= l1 && stream >= l2 && grain >= l1);
    }
}
