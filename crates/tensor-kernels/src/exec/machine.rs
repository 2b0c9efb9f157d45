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
//! Transposes may be streamed from a quarter of it on, or from an eighth if their rows share sets
//! of the caches, if the plan's predicted time is less: Cascade Lake loses up to two thirds between
//! 1 and 6 MiB, Emerald Rapids (2 MiB and 260 MiB of cache) up to half of its speed from 1 to 1.4
//! MB, and nothing from 2 MB on.
//!
//! On Zen 5 a group of cores has a third-level cache to itself (32 MiB here), which keeps results.
//! So `stream` is a quarter of it there, and smaller transposes are streamed only if their rows
//! share sets of the caches ([`keeps_transposes`](Machine::keeps_transposes)). In parts of the time
//! with the sizes above: 130 random copies take 0.97 in the mean from 0.7 to 1.5 MB, 0.98 from 1.5
//! to 6, 0.88 from 6 to 9 MB (0.5 to 1.1); 11 elementwise operations of 6 to 8 MB take 0.84. With
//! 12 MiB as `stream`, results of 6 to 12 MB take 0.91 and those of 12 to 24 MB 1.03; with 24 MiB
//! the latter take 1.28.
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
    /// these? Else they may be streamed from a quarter of it on, or an eighth if rows share sets.
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
            let channel = if is_amd { AMD_CHANNEL } else { 0 };
            let near_l3 = cache_size("Unified", 3).filter(|_| is_amd);
            let detected = Self { l1, l2, channel, ..Self::REFERENCE };
            detected.with_streams(near_l3).with_vectors_of(SimdLevel::detect())
        })
    }

    /// The same machine, with the sizes from which results are streamed, if its cores have this
    /// third-level cache to themselves.
    fn with_streams(self, near_l3: Option<usize>) -> Self {
        let near_l3 = near_l3.filter(|&l3| l3 >= MIN_NEAR_L3);
        let stream = near_l3.map_or(6 * self.l2, |l3| l3 / 4).min(8 << 20);
        Self { stream, keeps_transposes: near_l3.is_some(), ..self }
    }

    /// Is a result so much larger than the caches that it is streamed even where its lines follow
    /// each other, and transposes without comparing plans? On Zen 5 rows of 15 MB take 1.1 to 1.8
    /// times as long through the caches, transposes 1.6 times.
    pub(crate) fn is_far_larger(&self, bytes: usize) -> bool {
        match self.keeps_transposes {
            true => bytes / 3 * 2 >= self.stream,
            false => bytes / 2 >= self.stream,
        }
    }

    /// The size from which the result of an operation is streamed: `result` bytes, which take
    /// `all` bytes with the inputs. A near cache keeps a result as long as it keeps the inputs,
    /// too: not if all take 2.5 times [`stream`](Self::stream), and always if they take less than
    /// twice as much. On Zen 4 with 32 MiB, operations of 20 to 28 MB whose result is smaller than
    /// `stream` take 0.6 to 0.85 of the time streamed, those of 16 to 20 MB 1.0 to 1.3; a cast of
    /// 4 to 9 MB takes 1.7.
    #[cfg(feature = "elementwise")]
    pub(crate) fn stream_of_operation(&self, result: usize, all: usize) -> usize {
        let stream = self.stream;
        match self.keeps_transposes {
            true if all / 5 >= stream / 2 => stream.min(result),
            true if all / 2 < stream => stream.max(result.saturating_add(1)),
            _ => stream,
        }
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

/// A smaller third-level cache is not counted on to keep results.
const MIN_NEAR_L3: usize = 16 << 20;

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
        let Machine { l1, l2, stream, keeps_transposes: _, grain, vector, channel } =
            Machine::detect();
        assert!(l1 >= 4 << 10 && l2 >= l1 && stream >= l2 && grain >= l1);
        assert!([0, AMD_CHANNEL].contains(&channel));
        assert!([16, 32, 64].contains(&vector));
    }

    #[cfg(feature = "elementwise")]
    #[test]
    fn a_near_cache_keeps_a_result_as_long_as_the_inputs() {
        let near = Machine { stream: 8 << 20, keeps_transposes: true, ..Machine::REFERENCE };
        let is_streamed = |machine: Machine, result: usize, all: usize| {
            result << 20 >= machine.stream_of_operation(result << 20, all << 20)
        };
        let cases = [(7, 14), (7, 19), (7, 21), (9, 14), (9, 18), (9, 30)];
        let streamed = |machine| cases.map(|(result, all)| is_streamed(machine, result, all));
        assert_eq!(streamed(near), [false, false, true, false, true, true]);
        let far = Machine { keeps_transposes: false, ..near };
        assert_eq!(streamed(far), [false, false, false, true, true, true], "by the result alone");
    }

    #[test]
    fn results_are_streamed_where_no_near_cache_keeps_them() {
        let sizes = |l2: usize, near_l3: Option<usize>| {
            let machine = Machine { l2, ..Machine::REFERENCE }.with_streams(near_l3);
            (machine.stream >> 20, machine.keeps_transposes)
        };
        assert_eq!(sizes(1 << 20, None), (6, false), "Cascade Lake");
        assert_eq!(sizes(2 << 20, None), (8, false), "Sapphire Rapids");
        assert_eq!(sizes(1 << 20, Some(32 << 20)), (8, true), "Zen 5");
        assert_eq!(sizes(1 << 20, Some(16 << 20)), (4, true));
        assert_eq!(sizes(512 << 10, Some(8 << 20)), (3, false), "too small");
        let far = |near_l3| {
            let machine = Machine::REFERENCE.with_streams(near_l3);
            (0..64).find(|mib| machine.is_far_larger(mib << 20))
        };
        assert_eq!([None, Some(32 << 20)].map(far), [Some(12); 2]);
    }
}
