//! The same of elementwise operations, and what named operations do with special values.

use std::collections::BTreeSet;

use tensor_kernels::{
    Exec, Layout, Ordered, SimdLevel, TensorView, TensorViewMut, elementwise_path, map_into,
    zip_into,
};

use super::{
    CASES,
    common::{self, Memory, RunConfig, Sample, run_configs, strided},
};

for_every_width! { every_elementwise_path }

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
            let layout = Layout::contiguous(shape).unwrap();
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
