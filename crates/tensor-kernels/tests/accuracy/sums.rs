//! The error of sums, and their independence of the number of threads.
//!
//! One bound holds for all layouts, for long rows and for long columns. Summation in sequence
//! exceeds it in every case here.

use tensor_kernels::{Exec, Layout, Machine, Par, ReduceDims, Tensor, TensorView, ops};

use super::{common::on_threads, execs};

/// The documented bound of the error of a sum of `n` numbers, relative to the sum of magnitudes and
/// in units in the last place of 1.
fn bound(n: usize) -> f64 {
    (128.0 + (n as f64).log2()) * f64::from(f32::EPSILON) / 2.0
}

/// Numbers for which summation in sequence is inaccurate: many small ones, and large ones that
/// cancel.
fn ill_conditioned(n: usize) -> Vec<f32> {
    let element = |i: usize| match i {
        0 => 1.0e7,
        _ if i == n - 1 => -1.0e7,
        _ => 0.7 + (i.wrapping_mul(0x9E37_79B9) >> 13 & 0xFF) as f32 / 512.0,
    };
    (0..n).map(element).collect()
}

/// Compares the sums over a dimension of `shape`, or over both, with sums in double precision.
fn check(shape: [usize; 2], strides: [isize; 2], over: Option<usize>, what: &str) {
    let elements = ill_conditioned(shape[0] * shape[1]);
    let view = TensorView::new(&elements, Layout::new(shape, strides, 0).unwrap()).unwrap();
    let count = over.map_or(1, |d| shape[1 - d]);
    let mut exact = vec![(0.0, 0.0); count];
    for (place, x) in view.iter().map(f64::from).enumerate() {
        let index = [place / shape[1], place % shape[1]];
        let (sum, magnitude) = &mut exact[over.map_or(0, |d| index[1 - d])];
        (*sum, *magnitude) = (*sum + x, *magnitude + x.abs());
    }
    let bound = bound(elements.len() / count);
    for (level, exec) in execs() {
        let sums: Tensor<f32> =
            ops::sum(&exec, &view, over.map_or(ReduceDims::ALL, |d| (d as isize).into())).unwrap();
        for (i, (sum, (exact, magnitude))) in sums.to_vec().unwrap().iter().zip(&exact).enumerate()
        {
            let off = (f64::from(*sum) - exact).abs() / magnitude;
            assert!(off <= bound, "{what}, {level}, sum {i}: off by {off:e}, more than {bound:e}");
        }
    }
}

const MILLION: usize = 1 << 20;

#[test]
fn plain_summation_breaks_the_bound() {
    let elements = vec![0.1f32; 4 * MILLION];
    let exact = f64::from(0.1f32) * elements.len() as f64;
    let plain: f32 = elements.iter().fold(0.0, |sum, x| sum + x);
    assert!((f64::from(plain) - exact).abs() / exact > bound(elements.len()));
}

#[test]
fn long_rows() {
    check([1, MILLION], [0, 1], None, "all");
    check([2, MILLION], [MILLION as isize, 1], Some(1), "rows");
    check([MILLION, 2], [1, MILLION as isize], Some(0), "rows, the other way round");
}

#[test]
fn long_columns() {
    check([MILLION, 2], [2, 1], Some(0), "two columns");
    check([MILLION / 16, 16], [16, 1], Some(0), "sixteen columns");
    check([20_000, 33], [33, 1], Some(0), "columns");
    check([33, 20_000], [1, 33], Some(1), "columns, the other way round");
}

#[test]
fn strided_elements() {
    let elements = vec![0.1f32; 3 * MILLION];
    let exact = f64::from(0.1f32) * MILLION as f64;
    for (shape, strides) in
        [([1, MILLION], [0, 3]), ([1024, 1024], [3072, 2]), ([1024, 1024], [3, 3072])]
    {
        let view = TensorView::new(&elements, Layout::new(shape, strides, 0).unwrap()).unwrap();
        for (level, exec) in execs() {
            let off = (f64::from(ops::sum_all(&exec, &view).unwrap()) - exact).abs() / exact;
            assert!(off <= bound(MILLION), "{shape:?}, {strides:?}, {level}: off by {off:e}");
        }
    }
}

/// Large enough for all levels of the pairwise tree, and split as finely as possible.
#[test]
fn sums_are_the_same_on_any_number_of_threads_and_at_every_level() {
    let n = 150_000;
    let elements = ill_conditioned(n);
    for (shape, strides) in [
        ([1, n], [0, 1]),
        ([300, 500], [500, 1]),
        ([600, 250], [250, 1]),
        ([500, 300], [1, 500]),
        ([50_000, 3], [3, 1]),
        ([3, 50_000], [50_000, 1]),
        ([250, 300], [600, 2]),
    ] {
        let view = TensorView::new(&elements, Layout::new(shape, strides, 0).unwrap()).unwrap();
        for over in [ReduceDims::ALL, 0.into(), 1.into()] {
            let bits = |exec: &Exec| -> Vec<u32> {
                let sums: Tensor<f32> = ops::sum(exec, &view, over.clone()).unwrap();
                sums.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
            };
            let expected = bits(&execs()[0].1);
            for (level, exec) in execs() {
                assert_eq!(bits(&exec), expected, "{shape:?} {over:?} {level}");
                let mut exec = exec;
                exec.par = Par::Auto;
                exec.machine = Machine { l1: 4 << 10, grain: 64, ..Machine::REFERENCE };
                for threads in [1, 2, 3, 8] {
                    assert_eq!(
                        on_threads(threads, || bits(&exec)),
                        expected,
                        "{shape:?} {over:?}, {threads} threads"
                    );
                }
            }
        }
    }
}
