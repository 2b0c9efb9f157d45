//! The properties of a machine that plans depend on, and how each was measured.
//!
//! A plan is a function of layouts and of a [`Machine`]. With a fixed machine, as in the tests,
//! plans are the same everywhere.
//!
//! [`Machine::detect`] takes what the operating system describes, and thresholds that are a
//! compromise between the machines below; [`Machine::calibrated`] takes measured ones.
//!
//! Measured on two cores of a Cascade Lake server (AVX-512; 32 KiB, 1 MiB and 36 MiB of cache, the
//! last shared with other users), best of many:
//!
//! | result of a transpose of floats | through the cache | non-temporal |
//! |---|---|---|
//! | 1 MiB | 106 µs | 176 µs |
//! | 4 MiB | 525 µs | 714 µs |
//! | 8 MiB | 3417 µs | 1593 µs |
//! | 32 MiB | 14.2 ms | 6.5 ms |
//!
//! So [`stream`](Machine::stream) is 6 MiB there: six times the second-level cache, but at most 8
//! MiB, because nothing is known of the cache behind it, which is often shared. Rows that are
//! copied in the order of memory are prefetched by the hardware, and gain from non-temporal stores
//! only from twice that size on: 942 µs through the cache and 1390 µs non-temporal at 8 MiB, 3270
//! µs and 3169 µs at 16 MiB.
//!
//! Transposes may be streamed from an eighth of it on, if the plan's predicted time is less. On a
//! Sapphire Rapids (2 MiB and 105 MiB of cache) those of 4 MiB took 19 times as long through the
//! cache. With the size of Cascade Lake, which loses up to two thirds between 1 and 6 MiB, the
//! regret is least.
//!
//! On Zen 5 (1 MiB and 32 MiB, of which the last is that of these cores) results stay in the
//! third-level cache: `stream` is a quarter of it, and transposes are not streamed before, unless
//! their rows share sets ([`keeps_transposes`](Machine::keeps_transposes)). That takes of the time
//! with the sizes above, over 130 random copies, 0.97 in the mean from 0.7 to 1.5 MB, 0.98 from 1.5
//! to 6, 0.88 from 6 to 9 MB (0.5 to 1.1), over 11 elementwise operations of 6 to 8 MB 0.84. With
//! 12 MiB, results of 6 to 12 MB take 0.91, of 12 to 24 MB 1.03, with 24 MiB these take 1.28.
//!
//! [`channel`](Machine::channel) is that of Zen 5 on CPUs of AMD, and 0 on others, on which the
//! effect has not been measured.
//!
//! [`grain`](Machine::grain) is the size from which a second thread pays: a transpose of 64 KiB
//! takes 2.4 µs on one thread and 3.1 µs on two, one of 128 KiB 5.3 µs and 5.1 µs.
//!
//! Sizes that kernels keep in cache are stated where they are used: scratch of elementwise blocks,
//! rows of a non-temporal transpose, strips of a plain one.

use std::sync::OnceLock;

use super::{SimdLevel, calibrated::cpu};

/// The properties of a machine that plans depend on, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// First-level data cache of a core.
    pub l1: usize,
    /// Second-level cache of a core.
    pub l2: usize,
    /// Results of at least this size are written with non-temporal stores.
    pub stream: usize,
    /// Are transposes written through the caches up to that size, unless their rows share sets of
    /// these? Else they may be streamed from an eighth of it on.
    pub keeps_transposes: bool,
    /// The least work for which another thread pays.
    pub grain: usize,
    /// A vector register of the kernels: 64 for AVX-512, 32 for AVX2, 16 for others. It says which
    /// rates plans are compared by: what kernels take relative to each other and to the caches.
    pub vector: usize,
    /// Lines of a result at multiples of this distance lie in one channel of the memory, which
    /// takes few of them at once; 0 where that is not known to matter.
    pub channel: usize,
}

impl Machine {
    /// A fixed machine: a plan made for it is the same everywhere.
    pub const REFERENCE: Machine = Machine {
        l1: 32 << 10,
        l2: 1 << 20,
        stream: 6 << 20,
        keeps_transposes: false,
        grain: 128 << 10,
        vector: 64,
        channel: 0,
    };

    /// This machine with the best instruction set of its CPU, as the operating system describes it;
    /// [`REFERENCE`](Self::REFERENCE) for what it does not describe.
    pub fn detect() -> Self {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        *MACHINE.get_or_init(|| {
            let l1 = cache_size("Data", 1).unwrap_or(Self::REFERENCE.l1);
            let l2 = cache_size("Unified", 2).unwrap_or(Self::REFERENCE.l2).max(l1);
            let is_amd = cpu().starts_with("AuthenticAMD");
            let near_l3 = cache_size("Unified", 3).filter(|&l3| is_amd && l3 >= NEAR_L3);
            let stream = near_l3.map_or(6 * l2, |l3| l3 / 4).min(8 << 20);
            let (keeps_transposes, channel) =
                (near_l3.is_some(), if is_amd { AMD_CHANNEL } else { 0 });
            let detected = Self { l1, l2, stream, keeps_transposes, channel, ..Self::REFERENCE };
            detected.with_vectors_of(SimdLevel::detect())
        })
    }

    /// The same machine, with the vector registers of a level.
    pub(super) const fn with_vectors_of(self, level: SimdLevel) -> Self {
        Self { vector: level.vector_bytes(), ..self }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::detect()
    }
}

/// The [`channel`](Machine::channel) of Zen 5. A transpose of doubles whose rows lie 512 bytes or a
/// multiple apart is streamed at 14 GB/s row by row; 28 GB/s if they lie 256 bytes apart, 40 to 60
/// GB/s otherwise (results of 8 to 64 MB).
const AMD_CHANNEL: usize = 512;

/// A third-level cache of this size on a CPU of AMD keeps results: see the module. It belongs to
/// some cores, of which a virtual machine often has all or none.
const NEAR_L3: usize = 16 << 20;

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
        let Machine { l1, l2, stream, grain, vector, channel, .. } = Machine::detect();
        assert!(l1 >= 4 << 10 && l2 >= l1 && stream >= l2 && grain >= l1);
        assert!([0, AMD_CHANNEL].contains(&channel));
        assert!([16, 32, 64].contains(&vector));
    }
}
