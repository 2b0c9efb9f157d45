//! The stated bounds of errors, against double precision; special values; long rows.

use tensor_kernels::{Exec, Tensor, TensorExt, Tolerance, copy_into, ops, tensor};

/// Numbers without a pattern, from −8 to 8.
fn noise(shape: &[usize]) -> Tensor<f32> {
    let mut state = 12345u64;
    Tensor::from_fn(shape, |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) as f32 / (1 << 24) as f32 - 0.5) * 16.0
    })
    .unwrap()
}

fn doubles(x: &Tensor<f32>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(f64::from).collect()
}

fn assert_near(ours: &Tensor<f32>, exact: &[f64], units: f64) {
    let ours = doubles(ours);
    assert_eq!(ours.len(), exact.len());
    for (at, (&ours, &exact)) in ours.iter().zip(exact).enumerate() {
        let bound = units * f64::from(f32::EPSILON) * exact.abs();
        assert!((ours - exact).abs() <= bound, "{at}: {ours}, exactly {exact}");
    }
}

/// Rows of one element, around the lanes of a vector and the leaves of a sum, and rows that are
/// computed in parts.
const LENGTHS: [usize; 12] = [1, 2, 15, 16, 17, 100, 1023, 1025, 5000, 65_537, 150_000, 300_001];

#[test]
fn softmax_and_its_logarithm_are_within_their_bounds() {
    for len in LENGTHS {
        let x = noise(&[2, len]);
        let exact = |row: &[f64]| {
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
            let shares = row.iter().map(|x| (x - most).exp() / sum).collect::<Vec<_>>();
            (shares, row.iter().map(|x| x - most - sum.ln()).collect::<Vec<_>>(), most + sum.ln())
        };
        let rows: Vec<_> = doubles(&x).chunks(len).map(exact).collect();
        let shares: Vec<f64> = rows.iter().flat_map(|row| row.0.clone()).collect();
        let logs: Vec<f64> = rows.iter().flat_map(|row| row.1.clone()).collect();
        let sums: Vec<f64> = rows.iter().map(|row| row.2).collect();
        assert_near(&x.softmax(1).unwrap(), &shares, 60.0);
        for (ours, exact) in doubles(&x.log_softmax(1).unwrap()).iter().zip(&logs) {
            assert!((ours - exact).abs() <= 1e-5 * exact.abs().max(1.0), "{ours} {exact}");
        }
        for (ours, exact) in doubles(&x.logsumexp(1).unwrap()).iter().zip(&sums) {
            assert!((ours - exact).abs() <= 1e-5 * exact.abs().max(1.0), "{ours} {exact}");
        }
        // The same elements down columns.
        let columns = x.t().unwrap().contiguous().unwrap();
        let across = columns.softmax(0).unwrap().t().unwrap();
        assert_near(&across.contiguous().unwrap(), &shares, 60.0);
    }
}

/// Rows in every group that is computed together, and rows left over.
const COUNTS: [usize; 9] = [1, 2, 3, 8, 9, 11, 16, 17, 35];

#[test]
fn rows_have_the_same_logarithms_alone_and_beside_others() {
    for (count, len) in COUNTS
        .into_iter()
        .flat_map(|count| [1, 2, 3, 16, 127, 128, 129, 2047, 2048, 2049].map(|len| (count, len)))
    {
        let x = noise(&[count, len]);
        let together = x.log_softmax(1).unwrap();
        for i in 0..count as isize {
            let alone = x.select(0, i).unwrap().contiguous().unwrap().log_softmax(0).unwrap();
            let row = together.select(0, i).unwrap();
            assert_eq!(
                row.to_vec().unwrap(),
                alone.to_vec().unwrap(),
                "row {i} of {count} x {len}"
            );
        }
    }
}

fn exact_variance(row: &[f64], correction: f64) -> f64 {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let squares: f64 = row.iter().map(|x| (x - mean) * (x - mean)).sum();
    squares / (row.len() as f64 - correction)
}

#[test]
fn variance_is_within_its_bound_far_from_zero() {
    for len in LENGTHS {
        for shift in [0.0, 1000.0] {
            let x = noise(&[3, len]).map(|x| x + shift).unwrap();
            let exact: Vec<f64> =
                doubles(&x).chunks(len).map(|row| exact_variance(row, 0.0)).collect();
            let units = 200.0 + (len as f64).log2();
            assert_near(&x.var(1, 0.0).unwrap(), &exact, units);
            let roots: Vec<f64> = exact.iter().map(|x| x.sqrt()).collect();
            assert_near(&x.std(1, 0.0).unwrap(), &roots, units);
            let columns = x.t().unwrap().contiguous().unwrap();
            assert_near(&columns.var(0, 0.0).unwrap(), &exact, units);
        }
    }
}

#[test]
fn norms_of_all_orders() {
    for len in LENGTHS {
        let x = noise(&[2, len]);
        for p in [1.0, 2.0, 3.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            let exact = |row: &[f64]| match p {
                f64::INFINITY => row.iter().fold(0.0, |a: f64, x| a.max(x.abs())),
                f64::NEG_INFINITY => row.iter().fold(f64::MAX, |a: f64, x| a.min(x.abs())),
                _ => row.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(1.0 / p),
            };
            let exact: Vec<f64> = doubles(&x).chunks(len).map(exact).collect();
            assert_near(&x.norm(1, p).unwrap(), &exact, 130.0);
        }
        assert_eq!(x.norm(.., 0.0).unwrap().item().unwrap(), x.numel() as f32);
    }
}

#[test]
fn running_sums_are_those_of_double_precision_rounded() {
    let exec = Exec::current().unwrap();
    for len in LENGTHS {
        for count in COUNTS {
            let x = noise(&[count, len.min(20_000)]);
            let mut exact = doubles(&x);
            for row in exact.chunks_mut(len.min(20_000)) {
                let mut sum = 0.0;
                for x in row {
                    sum += *x;
                    *x = sum;
                }
            }
            let rounded: Vec<f32> = exact.iter().map(|&x| x as f32).collect();
            assert_eq!(x.cumsum(1).unwrap().to_vec().unwrap(), rounded);
            let across = x.t().unwrap().contiguous().unwrap().cumsum(0).unwrap();
            assert_eq!(across.t().unwrap().to_vec().unwrap(), rounded);
            let columns = across.zeros_like().unwrap();
            ops::cumsum_into(exec, &x, 1, &columns.t().unwrap()).unwrap();
            assert_eq!(columns.t().unwrap().to_vec().unwrap(), rounded);
        }
    }
}

/// Several blocks of rows that are reduced where they lie, and of rows that are copied first.
#[test]
fn rows_have_the_same_norm_and_variance_alone_and_beside_others() {
    for shape in [[300, 700], [7000, 17], [98_306, 1], [5, 40_000], [1, 3]] {
        let x = noise(&shape);
        let columns = x.t().unwrap().contiguous().unwrap().t().unwrap();
        for x in [x, columns] {
            let of = |x: &Tensor<f32>| {
                [x.norm(-1, 2.0), x.norm(-1, 3.0), x.var(-1, 0.0), x.logsumexp(-1)]
                    .map(Result::unwrap)
            };
            let together = of(&x);
            for i in (0..shape[0]).step_by(shape[0].div_ceil(40)).chain([shape[0] - 1]) {
                let alone = of(&x.select(0, i as isize).unwrap().contiguous().unwrap());
                for (all, one) in together.iter().zip(alone) {
                    let (all, one) = (all.get(&[i]).unwrap(), one.item().unwrap());
                    assert_eq!(all.to_bits(), one.to_bits(), "row {i} of {shape:?}");
                }
            }
        }
    }
}

#[test]
fn running_sums_of_integers_and_of_rows_with_gaps() {
    let exec = Exec::current().unwrap();
    for (count, len) in
        COUNTS.into_iter().flat_map(|count| [1, 2, 17, 1025].map(|len| (count, len)))
    {
        let x = noise(&[count, len + 3]).narrow(1, 1, len).unwrap().cast::<i32>().unwrap();
        let wide = Tensor::full([count, len + 3], 7).unwrap();
        let gaps = wide.narrow(1, 1, len).unwrap();
        copy_into(exec, &x, &gaps).unwrap();
        let exact = x.cast::<f64>().unwrap().cumsum(1).unwrap();
        for sums in [x.cumsum(1).unwrap(), gaps.cumsum(1).unwrap()] {
            assert_eq!(sums.cast::<f64>().unwrap(), exact, "{count} x {len}");
        }
    }
}

#[test]
fn sums_of_long_rows_keep_infinities_apart() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let of = |first: f64, last: f64| {
        let x = Tensor::full([200_000], -inf).unwrap();
        x.set(&[0], first).unwrap();
        x.set(&[199_999], last).unwrap();
        x.logsumexp(..).unwrap().item().unwrap()
    };
    assert_eq!(of(-inf, -inf), -inf);
    assert_eq!(of(1.0, -inf), 1.0);
    assert_eq!(of(-inf, 1.0), 1.0);
    assert_eq!(of(inf, 1.0), inf);
    assert_eq!(of(1.0, inf), inf);
    assert_eq!(of(inf, inf), inf);
    assert!(of(nan, 1.0).is_nan() && of(1.0, nan).is_nan() && of(nan, inf).is_nan());
    assert!((of(2.0, 2.0) - (2.0 + 2f64.ln())).abs() < 1e-15);
}

#[test]
fn softmax_of_long_rows_has_the_special_values_of_short_ones() {
    for len in [3, 300_000] {
        for special in [f64::NAN, f64::INFINITY] {
            let x = Tensor::full([len], 1.0).unwrap();
            x.set(&[len - 1], special).unwrap();
            assert!(x.softmax(0).unwrap().is_nan().unwrap().all_all().unwrap(), "{len} {special}");
            assert!(x.log_softmax(0).unwrap().is_nan().unwrap().all_all().unwrap());
        }
        let none = Tensor::full([len], f64::NEG_INFINITY).unwrap();
        assert!(none.softmax(0).unwrap().is_nan().unwrap().all_all().unwrap());
    }
}

#[cfg(feature = "half")]
#[test]
fn halves_are_computed_in_single_precision_and_rounded_once() {
    use half::{bf16, f16};
    let x = noise(&[5, 300]);
    let halves: Tensor<f16> = x.cast().unwrap();
    let singles: Tensor<f32> = halves.cast().unwrap();
    let rounded = |x: Tensor<f32>| x.cast::<f16>().unwrap();
    assert_eq!(halves.softmax(1).unwrap(), rounded(singles.softmax(1).unwrap()));
    assert_eq!(halves.softmax(0).unwrap(), rounded(singles.softmax(0).unwrap()));
    assert_eq!(halves.var(1, 1.0).unwrap(), rounded(singles.var(1, 1.0).unwrap()));
    assert_eq!(halves.norm(0, 2.0).unwrap(), rounded(singles.norm(0, 2.0).unwrap()));
    let brief: Tensor<bf16> = x.cast().unwrap();
    let singles: Tensor<f32> = brief.cast().unwrap();
    assert_eq!(brief.logsumexp(1).unwrap(), singles.logsumexp(1).unwrap().cast().unwrap());
    assert_eq!(brief.cumsum(1).unwrap(), singles.cumsum(1).unwrap().cast().unwrap());
}

#[test]
fn comparisons_within_tolerances() {
    let exec = Exec::current().unwrap();
    let exact = Tolerance { rtol: 0.0, atol: 0.0, equal_nan: true };
    let x = tensor![f32::NAN, f32::INFINITY, 1.0];
    assert!(ops::allclose(exec, &x, &x, exact).unwrap());
    assert!(!ops::allclose(exec, &x, &x, Tolerance::default()).unwrap());
    let wide = Tolerance { rtol: f64::INFINITY, ..exact };
    assert!(!ops::allclose(exec, &x, x.map(|x| -x).unwrap(), wide).unwrap());
    assert!(ops::allclose(exec, Tensor::<f32>::zeros([0]).unwrap(), 1.0, exact).unwrap());
}

#[test]
fn any_and_all_over_dimensions() {
    let x = tensor![[0.0, f64::NAN], [0.0, 0.0], [2.0, 1.0]];
    assert_eq!(x.any(1).unwrap().to_vec().unwrap(), [true, false, true]);
    assert_eq!(x.all(1).unwrap().to_vec().unwrap(), [false, false, true]);
    assert_eq!((x.any_all().unwrap(), x.all_all().unwrap()), (true, false));
    let none: Tensor<bool> = Tensor::zeros([0, 2]).unwrap();
    assert_eq!(none.any(0).unwrap().to_vec().unwrap(), [false, false]);
    assert_eq!(none.all(0).unwrap().to_vec().unwrap(), [true, true]);
}
