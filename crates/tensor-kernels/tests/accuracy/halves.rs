//! f16 and bf16, all bit patterns: functions are computed in f32 and rounded once.
//!
//! An intermediate rounding would make some results wrong by one unit in the last place.

use half::{bf16, f16};
use tensor_kernels::{Exec, Result, Scalar, Tensor, ops};

use crate::execs;

/// The conversions to f32, which is exact, and back.
type Convert<T> = (fn(T) -> f32, fn(f32) -> T);
type Unary<T> = fn(&Exec, &Tensor<T>) -> Result<Tensor<T>>;

/// Compares a function of half precision with that of f32, bit for bit, where all NaNs are equal.
fn check<T: Scalar>(
    name: &str,
    every: &[T],
    (widen, narrow): Convert<T>,
    run: Unary<T>,
    of_f32: Unary<f32>,
) {
    let wide: Vec<f32> = every.iter().map(|&x| widen(x)).collect();
    let (x, wide) = (tensor(every), tensor(&wide));
    for (level, exec) in execs() {
        let got = run(&exec, &x).unwrap().to_vec().unwrap();
        let expected = of_f32(&exec, &wide).unwrap().to_vec().unwrap();
        for ((x, got), expected) in every.iter().zip(got).zip(expected) {
            let (got, once) = (widen(got), widen(narrow(expected)));
            let same = got.to_bits() == once.to_bits() || (got.is_nan() && once.is_nan());
            assert!(same, "{name} of {:?} at {level}: {got:?}, not {once:?}", widen(*x));
        }
    }
}

fn tensor<T: Scalar>(elements: &[T]) -> Tensor<T> {
    Tensor::from_slice(elements, [elements.len()]).unwrap()
}

macro_rules! functions {
    ($every:ident, $convert:ident: $($op:ident)*) => {
        $(check(stringify!($op), &$every, $convert, |e, x| ops::$op(e, x), |e, x| ops::$op(e, x));)*
    };
}

macro_rules! halves {
    ($($name:ident: $type:ty;)*) => {$(
        #[test]
        fn $name() {
            let every: Vec<$type> = (0..=u16::MAX).map(<$type>::from_bits).collect();
            let convert: Convert<$type> = (<$type>::to_f32, <$type>::from_f32);
            functions!(every, convert:
                rsqrt recip sqrt square exp ln log2 log10 sin cos tanh sigmoid silu gelu);
        }
    )*};
}

halves! {
    of_11_bits: f16;
    of_8_bits: bf16;
}

/// `rsqrt` compared with `1 / sqrt` of the standard library, which the kernel does not use.
#[test]
fn reciprocal_roots() {
    let positive = (1..=0x7BFF).map(f16::from_bits).collect::<Vec<_>>();
    for (_, exec) in execs() {
        let got = ops::rsqrt(&exec, tensor(&positive)).unwrap().to_vec().unwrap();
        for (x, got) in positive.iter().zip(got) {
            assert_eq!(got, f16::from_f32(1.0 / x.to_f32().sqrt()), "of {x}");
        }
    }
}

#[test]
fn means() {
    // The sum, 2049, is not representable in f16, but a third of it is.
    let x = tensor(&[2048.0, 1.0, 0.0].map(f16::from_f32));
    for (_, exec) in execs() {
        assert_eq!(ops::mean_all(&exec, &x).unwrap(), f16::from_f32(683.0));
    }
}
