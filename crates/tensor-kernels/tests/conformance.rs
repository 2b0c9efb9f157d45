//! Every path, for every element width, at every SIMD level, serial and on threads, is compared
//! with one oracle, bit for bit.
//!
//! Sources are signalling NaNs if the type has them. Destinations start as canaries, so a store to
//! a gap, before the first element or after the last one is detected. If `TENSOR_SIMD` is set only
//! that level is tested, and must be the active one; otherwise all that this CPU has.

mod common;

use std::collections::BTreeSet;

use common::{CASES, Case, Memory, RunConfig, Sample, levels, run_configs, strided};
use tensor_kernels::{
    CopyPlan, Exec, Layout, Machine, Ordered, SimdLevel, TensorView, TensorViewMut, copy_into,
    elementwise_path, map_into, zip_into,
};

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

for_every_width! {
    every_path, every_length_of_a_run, every_extent_of_a_transpose, every_elementwise_path
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

/// The identity as an elementwise operation, which must give the same result as a copy.
fn every_elementwise_path<T: Sample>() {
    let run_configs = run_configs();
    let mut reached = BTreeSet::new();
    for case in CASES {
        let [from, to] = case.layouts([1, 0]);
        reached.insert(elementwise_path([&to, &from], [size_of::<T>(); 2]).unwrap());
        let source = Memory::<T>::samples(common::extent(&from), 1);
        let blank = Memory::<T>::for_layout(&to, 0);
        let expected = blank.with(&to, &source.values(&from));
        for config in &run_configs {
            let mut result = blank.clone();
            let (a, mut out) = (source.view(&from), result.view_mut(&to));
            config.run(|exec| map_into(exec, &a, &mut out, |x| x)).unwrap();
            result.assert_is(&expected, || format!("{}, {from:?} to {to:?}, {config}", case.0));
        }
    }
    let paths =
        ["contiguous", "rows", "transposed", "gathered", "transposed_and_gathered", "tiled"];
    let has_kernels = matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16);
    let with_kernels = if has_kernels { &["packed_rows"][..] } else { &[] };
    let paths = paths.into_iter().chain(with_kernels.iter().copied());
    assert_eq!(reached, paths.collect(), "cases for every elementwise path");
}

/// Elements that are larger, or more strictly aligned, than the scratch memory allows, in every
/// configuration.
fn check_large_elements<T: bytemuck::Pod + PartialEq + Send + Sync>(nth: fn(u8) -> T) {
    let shape = [3, 5];
    let source: Vec<T> = (0..60).map(nth).collect();
    for strides in [[5, 1], [1, 3], [10, 2], [-5, -1], [0, 1], [1, 0], [2, 7]] {
        for out in [[5, 1], [1, 3], [10, 2], [2, 7]] {
            let (from, to) = (strided(&shape, &strides, 2), strided(&shape, &out, 1));
            let mut result = vec![nth(99); 60];
            let mut expected = result.clone();
            for (to, from) in common::offsets_of(&to).into_iter().zip(common::offsets_of(&from)) {
                expected[to] = source[from];
            }
            let a = TensorView::new(&source, from).unwrap();
            for config in run_configs() {
                let mut view = TensorViewMut::new(&mut result, to.clone()).unwrap();
                config.run(|exec| zip_into(exec, &a, &a, &mut view, |x, _| x)).unwrap();
                assert!(result == expected, "{strides:?} to {out:?}, {config}");
                result.fill(nth(99));
            }
        }
    }
}

#[test]
fn fault_elements_larger_than_scratch_memory() {
    check_large_elements::<[u8; 20_000]>(|n| [n; 20_000]);
    check_large_elements::<[u64; 9]>(|n| [n.into(); 9]);
}

#[test]
fn fault_elements_more_aligned_than_scratch_memory() {
    #[derive(Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(256))]
    struct Aligned([u8; 256]);
    check_large_elements(|n| Aligned([n; 256]));
}

/// The values on which instruction sets are known to differ: NaN in either operand, zeros and
/// infinities of either sign, subnormals.
const EDGE_VALUES: [f32; 12] = [
    f32::NAN,
    -f32::NAN,
    0.0,
    -0.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MIN_POSITIVE / 3.0,
    -f32::MIN_POSITIVE / 5.0,
    f32::MAX,
    1.0 / 3.0,
    -7.25,
    16_777_217.0,
];

/// Named operations of one to three inputs, as functions of views.
mod named {
    use tensor_kernels::{Exec, TensorView, TensorViewMut, ops};

    pub(super) type Operation = fn(
        &Exec,
        [&TensorView<'_, f32>; 3],
        &mut TensorViewMut<'_, f32>,
    ) -> tensor_kernels::Result<()>;

    pub(super) const ALL: [(&str, Operation); 9] = [
        ("add", |exec, [a, b, _], out| ops::add_into(exec, a, b, out)),
        ("sub", |exec, [a, b, _], out| ops::sub_into(exec, a, b, out)),
        ("mul", |exec, [a, b, _], out| ops::mul_into(exec, a, b, out)),
        ("div", |exec, [a, b, _], out| ops::div_into(exec, a, b, out)),
        ("neg", |exec, [a, _, _], out| ops::neg_into(exec, a, out)),
        ("relu", |exec, [a, _, _], out| ops::relu_into(exec, a, out)),
        ("sqrt", |exec, [a, _, _], out| ops::sqrt_into(exec, a, out)),
        ("exp", |exec, [a, _, _], out| ops::exp_into(exec, a, out)),
        ("mul_add", |exec, [a, b, c], out| ops::mul_add_into(exec, a, b, c, out)),
    ];
}

/// The bits of a result, or `None` for NaN: which of two NaNs is returned, and its sign, may differ
/// between levels.
fn bits(value: f32) -> Option<u32> {
    (!value.is_nan()).then_some(value.to_bits())
}

#[test]
fn fault_every_level_computes_the_same_bits() {
    let n = EDGE_VALUES.len();
    let shape = [n, n, n, 3];
    let all = |strides: [isize; 4]| strided(&shape, &strides, 0);
    let inputs = [all([1, 0, 0, 0]), all([0, 1, 0, 0]), all([0, 0, 1, 0])];
    let [a, b, c] = inputs.map(|layout| TensorView::new(&EDGE_VALUES, layout).unwrap());
    for (name, operation) in named::ALL {
        let compute = |exec: &Exec| {
            let mut out = vec![0.5f32; a.numel()];
            let layout = Layout::contiguous(&shape).unwrap();
            let mut view = TensorViewMut::new(&mut out, layout).unwrap();
            operation(exec, [&a, &b, &c], &mut view).unwrap();
            out.into_iter().map(bits).collect::<Vec<_>>()
        };
        let expected = RunConfig::serial(SimdLevel::Scalar, false).run(compute);
        for config in run_configs() {
            assert!(config.run(compute) == expected, "{name}, {config}");
        }
    }
}

#[test]
fn fault_relu_keeps_nan_and_negative_zero() {
    let relu = |x: f32| Ordered::relu(x).to_bits();
    for x in [f32::NAN, -f32::NAN, -0.0, 0.0, f32::INFINITY, f32::MIN_POSITIVE] {
        assert_eq!(relu(x), x.to_bits(), "{x}");
    }
    for x in [-f32::MIN_POSITIVE, -1.0, f32::NEG_INFINITY] {
        assert_eq!(relu(x), 0, "{x}");
    }
}
