//! Generic code needs one bound, `Real` or another of these traits, and nothing that is internal.

use tensor_kernels::{
    Error, Integer, Number, Ordered, Real, ReduceDims, Scalar, Tensor, TensorExt, TensorView,
    tensor,
};

/// Rows with mean 0 and variance `1/4`.
fn normalise<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>, Error> {
    let rows = ReduceDims::from(-1).keepdim();
    let centred = x - &x.mean(rows.clone())?;
    let deviation = (&centred * &centred).mean(rows)?.sqrt()?;
    let half = T::ONE / T::from_f64(2.0) + T::ZERO;
    Ok(centred / (deviation + T::from_f64(0.0)) * half)
}

/// Functions of one element need no type parameter either.
fn cosh<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>, Error> {
    x.map(|v| (v.exp() + (-v).exp()) / T::from_f64(2.0))
}

fn of_view<T: Real>(x: &TensorView<'_, T>) -> Result<Tensor<T>, Error> {
    let shifted = x - x.min_all()?;
    Ok(-(shifted * T::from_f64(2.0)) + T::ONE)
}

fn polynomial<T: Number>(x: &Tensor<T>, factors: &[T]) -> Tensor<T> {
    let zero = x * T::ZERO;
    factors.iter().rev().fold(zero, |sum, &factor| sum * x + factor)
}

fn horner<T: Number>(x: T, factors: &[T]) -> T {
    let mut sum = T::ZERO;
    for &factor in factors.iter().rev() {
        sum *= x;
        sum += factor;
    }
    sum
}

/// The same by the inverse operators.
fn undone<T: Number>(mut x: T, factor: T) -> T {
    x -= factor;
    x /= factor;
    x
}

fn range<T: Ordered>(x: &Tensor<T>) -> Result<T, Error> {
    let (least, most) = (x.min_all()?, x.max_all()?);
    if least < most { Ok(most - least) } else { Ok(T::ZERO) }
}

fn low_bits<T: Integer>(x: &Tensor<T>) -> Tensor<T> {
    x & (T::ONE + T::ONE + T::ONE)
}

fn total<T: Real>(x: &TensorView<'_, T>) -> T {
    x.iter().sum()
}

fn shown<T: Scalar>(x: T) -> String {
    format!("{x} {x:?}")
}

#[test]
fn functions_of_one_element_in_generic_closures() {
    let x = tensor![0.0f32, 1.0, -1e6];
    assert_eq!(cosh(&x).unwrap().to_vec().unwrap(), [1.0, 1.543_080_6, f32::INFINITY]);
    fn sines<T: Real>(x: &Tensor<T>) -> Tensor<T> {
        x.map(|v| v.sin() * v.sin() + v.cos() * v.cos()).unwrap()
    }
    let ones = sines(&x).to_vec().unwrap();
    assert!(ones.iter().all(|one| (one - 1.0).abs() < 1e-6), "{ones:?}");
    fn roots<T: Real>(x: &Tensor<T>) -> Tensor<T> {
        x.map(|v| v.ln() + v.sqrt() + v.tanh() + v.sigmoid() + v.log2() + v.log10()).unwrap()
    }
    let one = roots(&tensor![1.0f64]).item().unwrap();
    assert!((one - (1.0 + 1.0f64.tanh() + 1.0 / (1.0 + (-1.0f64).exp()))).abs() < 1e-12, "{one}");
}

#[test]
fn generic_functions_over_real_numbers() {
    let x = tensor![[1.0f32, 3.0], [5.0, 9.0]];
    assert_eq!(normalise(&x).unwrap().to_vec().unwrap(), [-0.5, 0.5, -0.5, 0.5]);
    let wide = x.cast::<f64>().unwrap();
    assert_eq!(normalise(&wide).unwrap().to_vec().unwrap(), [-0.5, 0.5, -0.5, 0.5]);
    let guard = x.read().unwrap();
    assert_eq!(of_view(&guard.as_view()).unwrap().to_vec().unwrap(), [1.0, -3.0, -7.0, -15.0]);
    assert_eq!(total(&guard.as_view()), 18.0);
    assert_eq!((undone(9.0f32, 3.0), undone(9i64, 3)), (2.0, 2));
}

#[test]
fn generic_functions_over_other_numbers() {
    let x = tensor![1i64, 2, -3];
    let expected = x.iter().unwrap().map(|x| horner(x, &[1, 2, 1])).collect::<Vec<_>>();
    assert_eq!(polynomial(&x, &[1, 2, 1]).to_vec().unwrap(), expected);
    assert_eq!(expected, [4, 9, 4]);
    assert_eq!((range(&x).unwrap(), range(&tensor![7u8]).unwrap()), (5, 0));
    assert_eq!(low_bits(&tensor![7u8, 8, 9]).to_vec().unwrap(), [3, 0, 1]);
    assert_eq!((shown(1.5f32), shown(true)), ("1.5 1.5".into(), "true true".into()));
}

#[test]
#[cfg(feature = "half")]
fn generic_functions_over_halves() {
    let x = tensor![[1.0f32, 3.0]].cast::<half::f16>().unwrap();
    let result = normalise(&x).unwrap().cast::<f32>().unwrap();
    assert_eq!(result.to_vec().unwrap(), [-0.5, 0.5]);
}
