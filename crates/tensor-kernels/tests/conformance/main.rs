//! Every path, for every element width, at every SIMD level, serial and on threads, is compared
//! with one oracle, bit for bit.
//!
//! Sources are signalling NaNs if the type has them. Destinations start as canaries, so a store to
//! a gap, before the first element or after the last one is detected. If `TENSOR_SIMD` is set only
//! that level is tested, and must be the active one; otherwise all that this CPU has.

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{CASES, Case, Memory, RunConfig, Sample, levels, run_configs, strided};
use tensor_kernels::{CopyPlan, Layout, Machine, copy_into};

/// Instantiates `fn test<T>()` for element types of every width: all powers of two up to 16 and
/// others, with natural alignment and with alignment 1.
macro_rules! for_every_width {
    ($($test:ident),*) => {$(
        mod $test {
            #[test]
            fn width_1() { super::$test::<u8>(); }
            #[test]
            fn width_2() { super::$test::<i16>(); }
            #[test]
            fn width_3() { super::$test::<[u8; 3]>(); }
            #[test]
            fn width_4() { super::$test::<f32>(); }
            #[test]
            fn width_6() { super::$test::<[u8; 6]>(); }
            #[test]
            fn width_8() { super::$test::<f64>(); }
            #[test]
            fn width_12() { super::$test::<[f32; 3]>(); }
            #[test]
            fn width_16() { super::$test::<u128>(); }
            #[test]
            fn width_16_unaligned() { super::$test::<[u8; 16]>(); }
            #[cfg(feature = "complex")]
            #[test]
            fn width_16_complex() { super::$test::<num_complex::Complex<f64>>(); }
            #[test]
            fn width_24() { super::$test::<[u64; 3]>(); }
        }
    )*};
}

#[cfg(feature = "elementwise")]
mod elementwise;

for_every_width! {
    every_path, every_length_of_a_run, every_extent_of_a_transpose
}

/// Copies between two layouts in every configuration, and compares all memory of the destination.
fn check_copy<T: Sample>(
    from: &Layout,
    to: &Layout,
    skew: [usize; 2],
    run_configs: &[RunConfig],
    what: &str,
) {
    let source = Memory::<T>::samples(common::extent(from), skew[0]);
    let blank = Memory::<T>::for_layout(to, skew[1]);
    let expected = blank.with(to, &source.values(from));
    for config in run_configs {
        let mut result = blank.clone();
        config.run(|exec| copy_into(exec, source.view(from), &mut result.view_mut(to))).unwrap();
        result.assert_is(&expected, || format!("{what}, {from:?} to {to:?}, {config}"));
    }
}

/// The offsets of the first elements of source and destination from the start of a cache line.
const LEADS: [[usize; 2]; 3] = [[0, 0], [1, 0], [0, 1]];

fn every_path<T: Sample>() {
    let run_configs = run_configs();
    for case in CASES {
        for lead in LEADS {
            let [from, to] = case.layouts(lead);
            check_copy::<T>(&from, &to, lead, &run_configs, case.0);
        }
    }
}

/// For each power of two as the element width every path must be reached, on the reference machine
/// or one that the cases run on. Elements of other widths are copied as runs of smaller units, so
/// they never reach some paths. Elements of 16 bytes are whole lanes: their sources are never
/// packed, and they are not shuffled.
#[test]
fn the_cases_reach_every_path() {
    let machines: Vec<_> = run_configs().iter().map(RunConfig::machine).collect();
    for width in [1, 2, 4, 8, 16] {
        let paths = |case: &Case| {
            let [from, to] = case.layouts([0, 0]);
            let on = |machine| CopyPlan::new(&from, &to, width, machine).unwrap().path();
            machines.iter().chain([&Machine::REFERENCE]).map(on).collect::<Vec<_>>()
        };
        let reached: BTreeSet<_> = CASES.iter().flat_map(paths).collect();
        let of_narrow = |path: &str| matches!(path, "packed_source" | "shuffled_blocks");
        let is_missed = |path: &&str| !reached.contains(path) && (width < 16 || !of_narrow(path));
        let missed: Vec<_> = CopyPlan::paths().filter(is_missed).collect();
        assert!(missed.is_empty(), "add a case for each of {missed:?} (width {width})");
    }
}

/// All lengths up to two of the widest registers and one more, lengths around the thresholds of
/// streaming and of `memcpy`, and every start within a cache line.
fn every_length_of_a_run<T: Sample>() {
    let register = 64 / size_of::<T>().min(64);
    let around = |bytes: usize| {
        let len = bytes / size_of::<T>();
        [len.saturating_sub(1), len, len + 1]
    };
    let lengths = (0..=2 * register + 1).chain([256, 1024, 4096].into_iter().flat_map(around));
    let starts = (64 / align_of::<T>()).max(1);
    for (i, len) in lengths.enumerate() {
        check_runs::<T>(len, [i % starts, i * 7 % starts]);
    }
    for start in 0..starts {
        for len in [register + 1, 300 / size_of::<T>() + 1] {
            check_runs::<T>(len, [(start + 1) % starts, start]);
        }
    }
}

/// One-dimensional copies: adjacent elements, one broadcast element, and strides of either sign in
/// the source or the destination.
fn check_runs<T: Sample>(len: usize, skew: [usize; 2]) {
    let run_configs = serial_ways();
    for [from, to] in [[1, 1], [0, 1], [-1, 1], [2, 1], [-3, 1], [5, 1], [1, 2], [1, -3]] {
        let (from, to) = (strided(&[len], &[from], 0), strided(&[len], &[to], 0));
        check_copy::<T>(&from, &to, skew, &run_configs, "a run");
    }
}

fn serial_ways() -> Vec<RunConfig> {
    let plain_and_streamed = |simd| [RunConfig::serial(simd, false), RunConfig::serial(simd, true)];
    levels().into_iter().flat_map(plain_and_streamed).collect()
}

/// Sizes around those of the registers and blocks of a transpose, in all combinations.
fn every_extent_of_a_transpose<T: Sample>() {
    const EXTENTS: [usize; 15] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 63, 64, 67];
    let run_configs = serial_ways();
    for (i, u) in EXTENTS.into_iter().enumerate() {
        for v in EXTENTS {
            // Row strides with and without padding, multiples of a cache line and not.
            let [src, dst] = [[v, u], [v + 1, u], [v, u + 3], [64, 128]][i % 4];
            let from = strided(&[v, u], &[1, src as isize], 0);
            let to = strided(&[v, u], &[dst as isize, 1], 0);
            let skew = [i % 3, (i + v) % 5];
            check_copy::<T>(&from, &to, skew, &run_configs, "a transpose");
        }
    }
}
