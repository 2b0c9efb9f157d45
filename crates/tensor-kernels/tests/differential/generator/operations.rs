//! The named operations and closures to draw from, with their element types.
//!
//! Every operation is listed with types of different widths. Not with every type, as each one is
//! compiled for every SIMD level.

use tensor_kernels::{
    map, map_inplace, map_into, ops, zip, zip_inplace, zip_into, zip3, zip3_inplace, zip3_into,
};

use super::{
    Case, Check, Outcome,
    elementwise::{
        Binary,
        Oracle::{Itself, Native},
        Ternary, Unary, binary, ternary, unary,
    },
};

/// `None`, or the in-place form.
macro_rules! optional {
    () => {
        None
    };
    ($form:expr) => {
        Some($form)
    };
}
pub(crate) use optional;

macro_rules! unaries {
    ($($name:ident $into:ident $([$inplace:ident])? : $a:ty => $r:ty, $oracle:expr;)*) => {
        &[$(|case| unary::<$a, $r>(case, &Unary {
            name: concat!(stringify!($name), " of ", stringify!($a)),
            into: |exec, a, out| ops::$into(exec, a, out),
            allocating: |exec, a| ops::$name(exec, a),
            inplace: optional!($(|exec, x| ops::$inplace(exec, x))?),
            oracle: $oracle,
        })),*]
    };
}

macro_rules! binaries {
    ($($name:ident $into:ident $([$inplace:ident])? $(refusing $zero:expr)?;
        $a:ty => $r:ty, $oracle:expr;)*) => {
        &[$(|case| binary::<$a, $a, $r>(case, &Binary {
            name: concat!(stringify!($name), " of ", stringify!($a)),
            into: |exec, a, b, out| ops::$into(exec, a, b, out),
            allocating: |exec, a, b| ops::$name(exec, a, b),
            inplace: optional!($(|exec, x, b| ops::$inplace(exec, x, b))?),
            oracle: $oracle,
            refused_divisor: optional!($($zero)?),
        })),*]
    };
}
pub(crate) use binaries;

macro_rules! maps {
    ($($a:ty => $r:ty, $f:expr;)*) => {
        &[$(|case| unary::<$a, $r>(case, &Unary {
            name: concat!("map from ", stringify!($a), " to ", stringify!($r)),
            into: |exec, a, out| map_into(exec, &a.view(), out, $f),
            allocating: |exec, a| map(exec, &a.view(), $f),
            inplace: None,
            oracle: Native($f),
        })),*]
    };
}

macro_rules! zips {
    ($($a:ty, $b:ty => $r:ty, $f:expr;)*) => {
        &[$(|case| binary::<$a, $b, $r>(case, &Binary {
            name: concat!(
                "zip from ", stringify!($a), " and ", stringify!($b), " to ", stringify!($r)
            ),
            into: |exec, a, b, out| zip_into(exec, &a.view(), &b.view(), out, $f),
            allocating: |exec, a, b| zip(exec, &a.view(), &b.view(), $f),
            inplace: None,
            oracle: Native($f),
            refused_divisor: None,
        })),*]
    };
}

macro_rules! zip3s {
    ($($a:ty, $b:ty, $c:ty => $r:ty, $f:expr;)*) => {
        &[$(|case| ternary::<$a, $b, $c, $r>(case, &Ternary {
            name: concat!(
                "zip3 from ", stringify!($a), ", ", stringify!($b), " and ", stringify!($c),
                " to ", stringify!($r)
            ),
            into: |exec, a, b, c, out| zip3_into(exec, &a.view(), &b.view(), &c.view(), out, $f),
            allocating: |exec, a, b, c| zip3(exec, &a.view(), &b.view(), &c.view(), $f),
            inplace: None,
            oracle: Native($f),
        })),*]
    };
}

pub(crate) const ALL: &[Check] =
    &[one_input, two_inputs, closures, three_inputs, closures, in_place_closures];

fn one_input(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(UNARIES)(case)
}

fn two_inputs(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(BINARIES)(case)
}

fn three_inputs(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(TERNARIES)(case)
}

fn closures(case: &mut Case<'_>) -> Outcome {
    match case.choices.draw(4) {
        0 => case.choices.pick(MAPS)(case),
        1 => case.choices.pick(ZIPS)(case),
        #[cfg(feature = "complex")]
        2 => case.choices.pick(COMPLEX_MAPS)(case),
        _ => case.choices.pick(ZIP3S)(case),
    }
}

fn in_place_closures(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(IN_PLACE)(case)
}

const UNARIES: &[Check] = unaries! {
    neg neg_into [neg_inplace]: i8 => i8, Native(i8::wrapping_neg);
    neg neg_into [neg_inplace]: f64 => f64, Native(|a| -a);
    abs abs_into [abs_inplace]: i32 => i32, Native(i32::wrapping_abs);
    abs abs_into [abs_inplace]: f32 => f32, Native(f32::abs);
    sign sign_into [sign_inplace]: i16 => i16, Native(i16::signum);
    recip recip_into: u8 => f32, Native(|a| 1.0 / f32::from(a));
    recip recip_into [recip_inplace]: f64 => f64, Native(|a| 1.0 / a);
    sqrt sqrt_into: u64 => f32, Native(|a| (a as f32).sqrt());
    sqrt sqrt_into [sqrt_inplace]: f32 => f32, Native(f32::sqrt);
    rsqrt rsqrt_into [rsqrt_inplace]: f64 => f64, Native(|a| 1.0 / a.sqrt());
    square square_into [square_inplace]: u16 => u16, Native(|a| a.wrapping_mul(a));
    exp exp_into [exp_inplace]: f32 => f32, Itself(4);
    exp exp_into: i8 => f32, Itself(4);
    ln ln_into [ln_inplace]: f64 => f64, Itself(4);
    log2 log2_into [log2_inplace]: f32 => f32, Itself(4);
    log10 log10_into: u64 => f32, Itself(4);
    sin sin_into [sin_inplace]: f32 => f32, Itself(4);
    cos cos_into [cos_inplace]: f64 => f64, Itself(4);
    tanh tanh_into [tanh_inplace]: f64 => f64, Itself(4);
    sigmoid sigmoid_into [sigmoid_inplace]: f32 => f32, Itself(4);
    relu relu_into [relu_inplace]: i8 => i8, Native(|a| a.max(0));
    gelu gelu_into [gelu_inplace]: f32 => f32, Itself(4);
    silu silu_into [silu_inplace]: f32 => f32, Itself(6);
    floor floor_into [floor_inplace]: f64 => f64, Native(f64::floor);
    ceil ceil_into [ceil_inplace]: f32 => f32, Native(f32::ceil);
    round round_into [round_inplace]: f32 => f32, Native(f32::round_ties_even);
    trunc trunc_into [trunc_inplace]: f64 => f64, Native(f64::trunc);
    is_nan is_nan_into: f64 => bool, Native(f64::is_nan);
    logical_not logical_not_into: i64 => bool, Native(|a| a == 0);
    bitwise_not bitwise_not_into [bitwise_not_inplace]: bool => bool, Native(|a| !a);
    bitwise_not bitwise_not_into [bitwise_not_inplace]: u32 => u32, Native(|a| !a);
};

const BINARIES: &[Check] = binaries! {
    add add_into [add_inplace]; f32 => f32, Native(|a, b| a + b);
    add add_into [add_inplace]; u8 => u8, Native(u8::wrapping_add);
    sub sub_into [sub_inplace]; f64 => f64, Native(|a, b| a - b);
    sub sub_into [sub_inplace]; i16 => i16, Native(i16::wrapping_sub);
    mul mul_into [mul_inplace]; u64 => u64, Native(u64::wrapping_mul);
    mul mul_into [mul_inplace]; i8 => i8, Native(i8::wrapping_mul);
    div div_into [div_inplace]; f32 => f32, Native(|a, b| a / b);
    div div_into; u8 => f32, Native(|a, b| f32::from(a) / f32::from(b));
    div_floor div_floor_into [div_floor_inplace] refusing |b| b == 0; i32 => i32, Itself(0);
    div_trunc div_trunc_into [div_trunc_inplace] refusing |b| b == 0; i8 => i8,
        Native(i8::wrapping_div);
    rem rem_into [rem_inplace] refusing |b| b == 0; u16 => u16, Native(|a, b| a % b);
    rem rem_into [rem_inplace]; f64 => f64, Itself(0);
    pow pow_into [pow_inplace]; f32 => f32, Itself(4);
    pow pow_into [pow_inplace]; i64 => i64, Itself(0);
    atan2 atan2_into [atan2_inplace]; f32 => f32, Itself(4);
    minimum minimum_into [minimum_inplace]; u8 => u8, Native(u8::min);
    maximum maximum_into [maximum_inplace]; f64 => f64, Itself(0);
    logical_xor logical_xor_into; f64 => bool, Native(|a, b| (a != 0.0) ^ (b != 0.0));
    logical_and logical_and_into; u8 => bool, Native(|a, b| a != 0 && b != 0);
    logical_or logical_or_into; i32 => bool, Native(|a, b| a != 0 || b != 0);
    bitwise_and bitwise_and_into [bitwise_and_inplace]; u16 => u16, Native(|a, b| a & b);
    bitwise_or bitwise_or_into [bitwise_or_inplace]; bool => bool, Native(|a, b| a | b);
    bitwise_xor bitwise_xor_into [bitwise_xor_inplace]; u64 => u64, Native(|a, b| a ^ b);
    shl shl_into [shl_inplace]; u32 => u32, Native(|a, b| a.checked_shl(b).unwrap_or(0));
    shr shr_into [shr_inplace]; u8 => u8, Native(|a, b| a.checked_shr(b.into()).unwrap_or(0));
};

const TERNARIES: &[Check] = &[
    |case| {
        ternary::<f64, f64, f64, f64>(
            case,
            &Ternary {
                name: "mul_add of f64",
                into: |exec, a, b, c, out| ops::mul_add_into(exec, a, b, c, out),
                allocating: |exec, a, b, c| ops::mul_add(exec, a, b, c),
                inplace: Some(|exec, x, b, c| ops::mul_add_inplace(exec, x, b, c)),
                oracle: Native(f64::mul_add),
            },
        )
    },
    |case| {
        ternary::<u8, u8, u8, u8>(
            case,
            &Ternary {
                name: "clamp of u8",
                into: |exec, a, b, c, out| ops::clamp_into(exec, a, b, c, out),
                allocating: |exec, a, b, c| ops::clamp(exec, a, b, c),
                inplace: Some(|exec, x, b, c| ops::clamp_inplace(exec, x, b, c)),
                oracle: Native(|a, b, c| a.max(b).min(c)),
            },
        )
    },
    |case| ternary::<bool, u8, u8, u8>(case, &where_of()),
    |case| ternary::<bool, f64, f64, f64>(case, &where_of()),
    |case| ternary::<bool, [u8; 3], [u8; 3], [u8; 3]>(case, &where_of()),
    #[cfg(feature = "complex")]
    |case| ternary::<bool, Complex64, Complex64, Complex64>(case, &where_of()),
];

#[cfg(feature = "complex")]
type Complex64 = num_complex::Complex<f64>;
#[cfg(feature = "complex")]
type Complex32 = num_complex::Complex<f32>;

fn where_of<T: super::values::Value>() -> Ternary<bool, T, T, T> {
    Ternary {
        name: "where_cond",
        into: |exec, condition, a, b, out| ops::where_cond_into(exec, condition, a, b, out),
        allocating: |exec, condition, a, b| ops::where_cond(exec, condition, a, b),
        inplace: None,
        oracle: Native(|condition, a, b| if condition { a } else { b }),
    }
}

const MAPS: &[Check] = maps! {
    u8 => u16, |a| u16::from(a) << 7 | 3;
    f64 => u8, |a| a.to_bits() as u8;
    f64 => bool, |a| a > 0.5;
    u8 => f64, |a| f64::from(a) * 0.5;
    f64 => u16, |a| (a.to_bits() >> 40) as u16;
    f32 => u8, |a| (a.to_bits() >> 16) as u8;
    [u8; 3] => f32, |a| f32::from(a[0]) - f32::from(a[2]);
    [u64; 3] => u8, |a| (a[0] ^ a[2]) as u8;
    [u64; 9] => u64, |a| a[0] ^ a[8];
    u128 => bool, |a| a & 4 == 0;
};

#[cfg(feature = "complex")]
const COMPLEX_MAPS: &[Check] = maps! {
    Complex32 => bool, |a| a.re < a.im;
    Complex64 => u8, |a| (a.re.to_bits() ^ a.im.to_bits() >> 9) as u8;
    u16 => Complex64, |a| Complex64::new(a.into(), 0.5);
};

const ZIPS: &[Check] = zips! {
    f64, f64 => u8, |a, b| (a.to_bits() ^ b.to_bits() >> 8) as u8;
    u8, f64 => u16, |a, b| u16::from(a) ^ b.to_bits() as u16;
    u16, f32 => f64, |a, b| f64::from(a) - f64::from(b);
    u128, u8 => u32, |a, b| a as u32 ^ u32::from(b) << 24;
    bool, u128 => bool, |a, b| a ^ (b & 1 == 1);
};

const ZIP3S: &[Check] = zip3s! {
    f64, u8, u128 => u16, |a, b, c| a.to_bits() as u16 ^ u16::from(b) ^ c as u16;
    bool, f32, u16 => f64, |a, b, c| if a { f64::from(b) } else { f64::from(c) };
    u8, u64, u8 => u8, |a, b, c| a ^ b as u8 ^ c.rotate_left(3);
};

const IN_PLACE: &[Check] = &[
    |case| {
        unary::<u8, u8>(
            case,
            &Unary {
                name: "map_inplace of u8",
                into: |exec, a, out| map_into(exec, a.view(), out, |a| a.rotate_left(3)),
                allocating: |exec, a| map(exec, a.view(), |a: u8| a.rotate_left(3)),
                inplace: Some(|exec, x| map_inplace(exec, x, |a| a.rotate_left(3))),
                oracle: Native(|a| a.rotate_left(3)),
            },
        )
    },
    |case| {
        binary::<u8, f64, u8>(
            case,
            &Binary {
                name: "zip_inplace of u8 with f64",
                into: |exec, a, b, out| zip_into(exec, a.view(), b.view(), out, byte_and_double),
                allocating: |exec, a, b| zip(exec, a.view(), b.view(), byte_and_double),
                inplace: Some(|exec, x, b| zip_inplace(exec, x, b.view(), byte_and_double)),
                oracle: Native(byte_and_double),
                refused_divisor: None,
            },
        )
    },
    |case| {
        ternary::<u16, u64, u8, u16>(
            case,
            &Ternary {
                name: "zip3_inplace of u16 with u64 and u8",
                into: |exec, a, b, c, out| {
                    zip3_into(exec, a.view(), b.view(), c.view(), out, three_widths)
                },
                allocating: |exec, a, b, c| zip3(exec, a.view(), b.view(), c.view(), three_widths),
                inplace: Some(|exec, x, b, c| {
                    zip3_inplace(exec, x, b.view(), c.view(), three_widths)
                }),
                oracle: Native(three_widths),
            },
        )
    },
];

fn byte_and_double(a: u8, b: f64) -> u8 {
    a.wrapping_add(b.to_bits() as u8)
}

fn three_widths(a: u16, b: u64, c: u8) -> u16 {
    a ^ b as u16 ^ u16::from(c) << 8
}
