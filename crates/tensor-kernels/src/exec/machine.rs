//! The numbers of a machine that plans depend on, and how each was found.
//!
//! A plan is a function of layouts and of this; so plans can be compared across machines by passing
//! a fixed one, as the tests do.
//!
//! Measured on two cores of a Cascade Lake server (AVX-512; 32 KiB, 1 MiB and, shared with others,
//! 36 MiB of cache), best of many:
//!
//! | result of a transpose of floats | through the cache | streamed |
//! |---|---|---|
//! | 1 MiB | 106 µs | 176 µs |
//! | 4 MiB | 525 µs | 714 µs |
//! | 8 MiB | 3417 µs | 1593 µs |
//! | 32 MiB | 14.2 ms | 6.5 ms |
//!
//! So [`stream`](Machine::stream) lies at 6 MiB there: six times a second-level cache, and 8 MiB at
//! most, as nothing is known of the cache behind it, which is often shared. Rows that lie as they
//! are copied, which the hardware reads ahead, gain by streaming from twice that on: 942 µs through
//! the cache and 1390 µs streamed at 8 MiB, 3270 µs and 3169 µs at 16 MiB.
//!
//! [`grain`](Machine::grain) is where a second thread begins to pay: a transpose of 64 KiB takes
//! 2.4 µs on one thread and 3.1 on two, one of 128 KiB 5.3 and 5.1.
//!
//! What kernels hold in cache is stated where it is used: scratch of elementwise blocks, rows of a
//! streamed transpose, strips of a plain one.

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
        Machine { l1: 32 << 10, l2: 1 << 20, stream: 6 << 20, grain: 128 << 10 };

    /// This machine, as the operating system describes it; where it does not, as
    /// [`REFERENCE`](Self::REFERENCE).
    pub fn detect() -> Self {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        *MACHINE.get_or_init(|| {
            let l1 = cache_size("Data", 1).unwrap_or(Self::REFERENCE.l1);
            let l2 = cache_size("Unified", 2).unwrap_or(Self::REFERENCE.l2).max(l1);
            Self { l1, l2, stream: (6 * l2).min(8 << 20), ..Self::REFERENCE }
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
