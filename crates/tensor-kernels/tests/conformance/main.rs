//! Every path, for every element width, at every SIMD level, serial and on threads, is compared
//! with one oracle, bit for bit.
//!
//! Sources are signalling NaNs if the type has them. Destinations start as canaries, so a store to
//! a gap, before the first element or after the last one is detected. If `TENSOR_SIMD` is set only
//! that level is tested, and must be the active one; otherwise all that this CPU has.

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{Memory, RunConfig, Sample, levels, run_configs, strided};
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

/// A copy: its name, the shape, the strides of the source and those of the destination.
struct Case(&'static str, &'static [usize], &'static [isize], &'static [isize]);

/// At least one case for each path, with sizes that are no multiple of a register or a block.
const CASES: &[Case] = &[
    Case("no elements", &[3, 0, 2], &[1, 1, 1], &[0, 2, 1]),
    Case("one element", &[], &[], &[]),
    Case("one element of rank 3", &[1, 1, 1], &[7, -9, 0], &[1, 1, 1]),
    Case("adjacent", &[7, 91], &[91, 1], &[91, 1]),
    Case("adjacent in one order", &[7, 3, 31], &[1, 217, 7], &[1, 217, 7]),
    Case("flipped alike", &[501], &[-1], &[-1]),
    Case("rows out of wider ones", &[9, 37], &[50, 1], &[37, 1]),
    Case("rows into wider ones", &[9, 37], &[37, 1], &[40, 1]),
    Case("rows in another order", &[5, 6, 33], &[33, 165, 1], &[198, 33, 1]),
    Case("rows of a pair", &[19, 6, 2], &[2, 38, 1], &[12, 2, 1]),
    Case("rows of three", &[19, 6, 3], &[3, 57, 1], &[18, 3, 1]),
    Case("rows flipped", &[9, 70], &[-70, 1], &[70, 1]),
    Case("many short rows out of wider ones", &[701, 3], &[5, 1], &[3, 1]),
    Case("many short rows into wider ones", &[701, 3], &[3, 1], &[4, 1]),
    Case("many short rows, backwards into wider ones", &[701, 4], &[-6, 1], &[-5, 1]),
    Case("many short rows that overlap", &[701, 3], &[1, 1], &[3, 1]),
    Case("a short row for many", &[701, 3], &[0, 1], &[3, 1]),
    Case("a short row for many, twice", &[2, 331, 3], &[9, 0, 1], &[993, 3, 1]),
    Case("one for each short row", &[701, 3], &[2, 0], &[3, 1]),
    Case("one for each short row, backwards into wider ones", &[701, 4], &[-1, 0], &[7, 1]),
    Case("windows that overlap", &[40, 9], &[1, 1], &[9, 1]),
    Case("one for all", &[613], &[0], &[1]),
    Case("one for a row", &[13, 71], &[1, 0], &[71, 1]),
    Case("one for a row, with gaps", &[13, 71], &[-3, 0], &[80, 1]),
    Case("a row for all", &[13, 71], &[0, 1], &[71, 1]),
    Case("transpose", &[71, 67], &[1, 71], &[67, 1]),
    Case("transpose into columns", &[71, 67], &[67, 1], &[1, 71]),
    Case("transpose with gaps on both sides", &[35, 67], &[1, 41], &[72, 1]),
    Case("transpose of power-of-two rows", &[64, 40], &[1, 256], &[256, 1]),
    Case("transpose, source columns flipped", &[35, 67], &[1, -41], &[67, 1]),
    Case("transpose, source rows flipped", &[35, 67], &[-1, 41], &[67, 1]),
    Case("transpose, destination flipped", &[35, 67], &[1, 41], &[67, -1]),
    Case("transpose into long rows", &[9, 1100], &[1, 9], &[1100, 1]),
    Case("transpose of several blocks", &[140, 131], &[1, 140], &[131, 1]),
    Case("three channels apart", &[3, 211], &[1, 3], &[211, 1]),
    Case("three channels together", &[211, 3], &[1, 211], &[3, 1]),
    Case("four channels apart", &[4, 130], &[1, 4], &[130, 1]),
    Case("four channels together", &[130, 4], &[1, 130], &[4, 1]),
    Case("channels last to first", &[3, 5, 6, 7], &[210, 1, 35, 5], &[210, 42, 7, 1]),
    Case("channels first to last", &[3, 6, 7, 5], &[210, 7, 1, 42], &[210, 35, 5, 1]),
    Case("batched transpose", &[4, 33, 18], &[594, 1, 33], &[594, 18, 1]),
    Case("axes of rank 3 reversed", &[9, 10, 11], &[1, 9, 90], &[110, 11, 1]),
    Case(
        "axes of rank 8 reversed",
        &[2, 3, 2, 2, 3, 2, 2, 3],
        &[1, 2, 6, 12, 24, 72, 144, 288],
        &[432, 144, 72, 36, 12, 6, 3, 1],
    ),
    Case(
        "short axes reversed",
        &[3, 4, 5, 6, 7, 2],
        &[1, 3, 12, 60, 360, 2520],
        &[1680, 420, 84, 14, 2, 1],
    ),
    Case(
        "short axes reversed, some backwards",
        &[3, 4, 5, 6, 7, 2],
        &[1, -3, 12, -60, 360, -2520],
        &[1680, 420, 84, 14, 2, 1],
    ),
    Case("long axes around short ones", &[90, 2, 3, 70], &[6, 1, 2, 540], &[420, 210, 70, 1]),
    Case(
        "few adjacent in the result, many in the source",
        &[5, 5, 55, 5, 3, 2],
        &[8250, 1650, 5, 1, 275, 825],
        &[8250, 1650, 30, 6, 2, 1],
    ),
    Case(
        "many adjacent in the result, few in the source",
        &[34, 5, 14, 2, 3],
        &[6, 1, 510, 7140, 204],
        &[420, 84, 6, 3, 1],
    ),
    Case("pairs in pairs", &[12, 41, 2, 2], &[4, 48, 1, 2], &[164, 4, 2, 1]),
    Case("each three times, transposed", &[61, 10, 4, 3], &[4, 244, 1, 0], &[120, 12, 3, 1]),
    Case("each three times", &[701, 3], &[1, 0], &[3, 1]),
    Case("short rows backwards", &[701, 3], &[3, -1], &[3, 1]),
    Case("short rows in pairs", &[11, 13, 2, 5], &[130, 10, -5, 1], &[130, 10, 5, 1]),
    Case("short axes with gaps", &[6, 7, 8, 5], &[2, 12, 90, 730], &[280, 40, 5, 1]),
    Case("into short axes with gaps", &[6, 7, 8, 5], &[280, 40, 5, 1], &[2, 12, 90, 730]),
    Case("backwards", &[501], &[-1], &[1]),
    Case("rows backwards", &[7, 70], &[70, -1], &[70, 1]),
    Case("every second", &[300], &[2], &[1]),
    Case("every second of each row", &[7, 70], &[140, 2], &[70, 1]),
    Case("every third, backwards", &[7, 70], &[210, -3], &[70, 1]),
    Case("every fifth", &[150], &[5], &[1]),
    Case("every seventh, backwards", &[150], &[-7], &[1]),
    Case("to every second", &[300], &[1], &[2]),
    Case("to every third of each row", &[7, 70], &[70, 1], &[210, 3]),
    Case("to every fifth, backwards", &[150], &[1], &[-5]),
    Case("every second to every third", &[301], &[2], &[3]),
    Case("every second, transposed", &[71, 67], &[2, 142], &[67, 1]),
    // Of rank 5: fewer dimensions of so few elements are copied without a plan.
    Case("a few of every third, transposed", &[1, 1, 1, 9, 7], &[0, 0, 0, 3, 27], &[9, 9, 9, 7, 1]),
    Case("transposed to every second", &[71, 67], &[1, 71], &[134, 2]),
    Case("every third, transposed to every second", &[35, 67], &[3, 105], &[134, 2]),
    Case("interleaved without nesting", &[3, 2], &[1, 3], &[2, 3]),
    Case("one very long row of columns", &[2, 3000], &[1, 2], &[3000, 1]),
];

impl Case {
    fn layouts(&self, lead: [usize; 2]) -> [Layout; 2] {
        [strided(self.1, self.2, lead[0]), strided(self.1, self.3, lead[1])]
    }
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
        config.run(|exec| copy_into(exec, &source.view(from), &mut result.view_mut(to))).unwrap();
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

/// For each power of two as the element width every path must be reached. Elements of other widths
/// are copied as runs of smaller units, so they never reach some paths.
#[test]
fn the_cases_reach_every_path() {
    for width in [1, 2, 4, 8, 16] {
        let path = |case: &Case| {
            let [from, to] = case.layouts([0, 0]);
            CopyPlan::new(&from, &to, width, &Machine::REFERENCE).unwrap().path()
        };
        let reached: BTreeSet<_> = CASES.iter().map(path).collect();
        let missed: Vec<_> = CopyPlan::paths().filter(|path| !reached.contains(path)).collect();
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
