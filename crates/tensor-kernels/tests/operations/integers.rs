//! Integers, compared with 128-bit arithmetic, and bool.

use tensor_kernels::ops;

use crate::check::{binary, binary_of, in_place, operands, ternary, unary};

/// `a^b` by repeated multiplication; 0 for a negative exponent, unless `a` is ±1.
fn power(a: i128, b: i128) -> i128 {
    match (a, b) {
        (1 | -1, ..0) => {
            if b % 2 == 0 {
                1
            } else {
                a
            }
        }
        (_, ..0) => 0,
        _ => (0..b).fold(1i128, |product, _| product.wrapping_mul(a)),
    }
}

macro_rules! integers {
    ($($name:ident: $type:ty, $table:expr;)*) => {$(
        #[test]
        fn $name() {
            type T = $type;
            let table: &[T] = &$table;
            let wide = |a: T| a as i128;
            macro_rules! two {
                ($op:ident, $a:ident, $b:ident => $value:expr) => {
                    two!(table.to_vec(), $op, $a, $b => $value)
                };
                ($values:expr, $op:ident, $a:ident, $b:ident => $value:expr) => {{
                    let values: Vec<T> = $values;
                    let oracle = |a: T, b: T| {
                        let ($a, $b) = (wide(a), wide(b));
                        let value: i128 = $value;
                        value as T
                    };
                    let name = concat!(stringify!($type), " ", stringify!($op));
                    binary_of(name, operands(&values), |e, a, b, o| ops::$op(e, a, b, o), oracle);
                    in_place(name, operands(&values), |e, a, b, o| ops::$op(e, a, b, o), oracle);
                }};
            }
            macro_rules! one {
                ($op:ident, $a:ident => $value:expr) => {
                    let name = concat!(stringify!($type), " ", stringify!($op));
                    unary(name, table, |e, a, o| ops::$op(e, a, o), |a: T| {
                        let $a = wide(a);
                        $value
                    });
                };
            }
            macro_rules! compared {
                ($op:ident, $a:ident, $b:ident => $value:expr) => {
                    let oracle = |a: T, b: T| {
                        let ($a, $b) = (wide(a), wide(b));
                        $value
                    };
                    binary(stringify!($op), table, |e, a, b, o| ops::$op(e, a, b, o), oracle);
                };
            }
            // Division by 0 is refused, which `refusals` tests.
            let not_zero: Vec<T> = table.iter().copied().filter(|&x| x != 0).collect();
            let exponents = [0, 1, 2, 3, 7, 11, (0 as T).wrapping_sub(1) & 0x4F, table[0]];
            let exponents: Vec<T> =
                exponents.into_iter().filter(|&x| wide(x).abs() < 200).collect();
            let bits = T::BITS as i128;
            two!(add_into, a, b => a + b);
            two!(sub_into, a, b => a - b);
            two!(mul_into, a, b => a.wrapping_mul(b));
            two!(not_zero.clone(), rem_into, a, b => a - b * num_floor(a, b));
            two!(not_zero.clone(), div_floor_into, a, b => num_floor(a, b));
            two!(not_zero.clone(), div_trunc_into, a, b => a / b);
            two!(exponents.clone(), pow_into, a, b => power(a, b));
            two!(minimum_into, a, b => a.min(b));
            two!(maximum_into, a, b => a.max(b));
            two!(bitwise_and_into, a, b => a & b);
            two!(bitwise_or_into, a, b => a | b);
            two!(bitwise_xor_into, a, b => a ^ b);
            two!(shl_into, a, b => if (0..bits).contains(&b) { a << b } else { 0 });
            two!(shr_into, a, b => if (0..bits).contains(&b) { a >> b } else { a >> 127 });
            compared!(eq_into, a, b => a == b);
            compared!(ne_into, a, b => a != b);
            compared!(lt_into, a, b => a < b);
            compared!(le_into, a, b => a <= b);
            compared!(gt_into, a, b => a > b);
            compared!(ge_into, a, b => a >= b);
            compared!(logical_and_into, a, b => a != 0 && b != 0);
            compared!(logical_or_into, a, b => a != 0 || b != 0);
            compared!(logical_xor_into, a, b => (a != 0) != (b != 0));
            compared!(div_into, a, b => a as T as f32 / b as T as f32);
            one!(neg_into, a => -a as T);
            one!(abs_into, a => a.unsigned_abs() as T);
            one!(sign_into, a => a.signum() as T);
            one!(square_into, a => a.wrapping_mul(a) as T);
            one!(relu_into, a => a.max(0) as T);
            one!(floor_into, a => a as T);
            one!(ceil_into, a => a as T);
            one!(round_into, a => a as T);
            one!(trunc_into, a => a as T);
            one!(bitwise_not_into, a => !a as T);
            one!(logical_not_into, a => a == 0);
            one!(is_nan_into, _a => false);
            one!(sqrt_into, a => (a as T as f32).sqrt());
            one!(recip_into, a => 1.0 / (a as T as f32));
            let mul_add = |a: T, b: T, c: T| {
                wide(a).wrapping_mul(wide(b)).wrapping_add(wide(c)) as T
            };
            let clamp = |a: T, b: T, c: T| a.max(b).min(c);
            ternary("mul_add", table, |e, a, b, c, o| ops::mul_add_into(e, a, b, c, o), mul_add);
            ternary("clamp", table, |e, a, b, c, o| ops::clamp_into(e, a, b, c, o), clamp);
        }
    )*};
}

fn num_floor(a: i128, b: i128) -> i128 {
    a / b - i128::from(a % b != 0 && (a < 0) != (b < 0))
}

integers! {
    u8s: u8, [0, 1, 2, 3, 7, 8, 9, 100, 127, 128, 200, 255];
    u16s: u16, [0, 1, 2, 5, 15, 16, 17, 1000, 32767, 32768, 65535];
    u32s: u32, [0, 1, 2, 5, 31, 32, 33, 100_000, u32::MAX / 2, u32::MAX];
    u64s: u64, [0, 1, 2, 5, 63, 64, 65, 10_000_000_000, u64::MAX / 2, u64::MAX];
    i8s: i8, [-128, -127, -100, -9, -8, -7, -1, 0, 1, 2, 7, 8, 100, 127];
    i16s: i16, [i16::MIN, -1000, -17, -16, -3, -1, 0, 1, 2, 15, 16, 1000, i16::MAX];
    i32s: i32, [i32::MIN, -100_000, -33, -32, -3, -1, 0, 1, 2, 31, 32, 46_341, i32::MAX];
    i64s: i64,
        [i64::MIN, -10_000_000_000, -65, -64, -3, -1, 0, 1, 2, 63, 64, 3_037_000_500, i64::MAX];
}

#[test]
fn bools() {
    let table = [false, true, true];
    macro_rules! two {
        ($($op:ident, |$a:ident, $b:ident| $value:expr;)*) => {$(
            let oracle = |$a: bool, $b: bool| -> bool { $value };
            binary(stringify!($op), &table, |e, a, b, o| ops::$op(e, a, b, o), oracle);
            in_place(stringify!($op), operands(&table), |e, a, b, o| ops::$op(e, a, b, o), oracle);
        )*};
    }
    two! {
        bitwise_and_into, |a, b| a && b;
        bitwise_or_into, |a, b| a || b;
        bitwise_xor_into, |a, b| a != b;
        logical_and_into, |a, b| a && b;
        logical_or_into, |a, b| a || b;
        logical_xor_into, |a, b| a != b;
        minimum_into, |a, b| a && b;
        maximum_into, |a, b| a || b;
        eq_into, |a, b| a == b;
        ne_into, |a, b| a != b;
        lt_into, |a, b| !a && b;
        le_into, |a, b| !a || b;
        gt_into, |a, b| a && !b;
        ge_into, |a, b| a || !b;
    }
    unary("bitwise_not", &table, |e, a, o| ops::bitwise_not_into(e, a, o), |a: bool| !a);
    unary("logical_not", &table, |e, a, o| ops::logical_not_into(e, a, o), |a: bool| !a);
    ternary(
        "where",
        &table,
        |e, a, b, c, o| ops::where_cond_into(e, a, b, c, o),
        |a: bool, b: bool, c: bool| if a { b } else { c },
    );
}
