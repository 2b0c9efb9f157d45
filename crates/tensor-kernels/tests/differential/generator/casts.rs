//! Conversions and comparisons: inputs and results of different widths.

use tensor_kernels::{Cast, ops};

use super::{
    Case, Check, Outcome,
    elementwise::{Binary, Oracle::Native, Unary, binary, unary},
    operations::{binaries, optional},
    values::Number,
};

pub(crate) fn check(case: &mut Case<'_>) -> Outcome {
    match case.choices.draw(8) {
        0..3 => case.choices.pick(COMPARISONS)(case),
        #[cfg(feature = "complex")]
        3 => case.choices.pick(COMPLEX_COMPARISONS)(case),
        _ => {
            let from = case.choices.pick(CASTS);
            let to = case.choices.pick(from);
            case.choices.pick(to)(case)
        }
    }
}

const COMPARISONS: &[Check] = binaries! {
    gt gt_into; f64 => bool, Native(|a, b| a > b);
    eq eq_into; u8 => bool, Native(|a, b| a == b);
    ne ne_into; f32 => bool, Native(|a, b| a != b);
    lt lt_into; u16 => bool, Native(|a, b| a < b);
    le le_into; i64 => bool, Native(|a, b| a <= b);
    ge ge_into; f32 => bool, Native(|a, b| a >= b);
    lt lt_into; f64 => bool, Native(|a, b| a < b);
    ge ge_into; i8 => bool, Native(|a, b| a >= b);
    eq eq_into; bool => bool, Native(|a, b| a == b);
};

#[cfg(feature = "complex")]
const COMPLEX_COMPARISONS: &[Check] = binaries! {
    eq eq_into; num_complex::Complex<f64> => bool, Native(|a, b| a == b);
    ne ne_into; num_complex::Complex<f32> => bool, Native(|a, b| a != b);
};

fn cast<A: Number + Cast<R>, R: Number>(case: &mut Case<'_>) -> Outcome {
    unary::<A, R>(
        case,
        &Unary {
            name: "cast",
            into: |exec, a, out| ops::cast_into(exec, a, out),
            allocating: |exec, a| ops::cast(exec, a),
            inplace: None,
            oracle: Native(|a| R::narrow(a.wide())),
        },
    )
}

/// The casts from each of some types to each of others.
macro_rules! casts {
    ($from:tt $to:tt) => {
        casts!(@each $from $to)
    };
    (@each [$($from:ty),*] $to:tt) => {
        &[$(casts!(@row $from, $to)),*]
    };
    (@row $from:ty, [$($to:ty),*]) => {
        &[$(cast::<$from, $to>),*] as &[Check]
    };
}

const PLAIN: &[&[Check]] = casts! {
    [bool, u8, u16, u32, u64, i8, i16, i32, i64, f32, f64]
    [bool, u8, u16, u32, u64, i8, i16, i32, i64, f32, f64]
};

#[cfg(feature = "half")]
const HALVES: [&[&[Check]]; 2] = [
    casts! {
        [half::f16, half::bf16]
        [f64, bool, u8, u32, i64, f32, half::f16, half::bf16]
    },
    casts! {
        [f64, bool, i8, u16, i64, f32]
        [half::f16, half::bf16]
    },
];

#[cfg(feature = "complex")]
const COMPLEX: [&[&[Check]]; 2] = [
    casts! {
        [num_complex::Complex<f32>, num_complex::Complex<f64>]
        [bool, u8, u16, i64, f32, f64, num_complex::Complex<f32>, num_complex::Complex<f64>]
    },
    casts! {
        [f64, bool, u8, u16, i64, f32]
        [num_complex::Complex<f32>, num_complex::Complex<f64>]
    },
];

#[cfg(all(feature = "half", feature = "complex"))]
const BETWEEN: [&[&[Check]]; 2] = [
    casts! {
        [half::f16, half::bf16]
        [num_complex::Complex<f32>, num_complex::Complex<f64>]
    },
    casts! {
        [num_complex::Complex<f32>, num_complex::Complex<f64>]
        [half::f16, half::bf16]
    },
];

/// All pairs of types, in groups.
const CASTS: &[&[&[Check]]] = &[
    PLAIN,
    PLAIN,
    #[cfg(feature = "half")]
    HALVES[0],
    #[cfg(feature = "half")]
    HALVES[1],
    #[cfg(feature = "complex")]
    COMPLEX[0],
    #[cfg(feature = "complex")]
    COMPLEX[1],
    #[cfg(all(feature = "half", feature = "complex"))]
    BETWEEN[0],
    #[cfg(all(feature = "half", feature = "complex"))]
    BETWEEN[1],
];
