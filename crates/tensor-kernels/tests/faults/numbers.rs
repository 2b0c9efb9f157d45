//! Arithmetic at the limits of types: integers wrap, conversions saturate, in any layout.

use tensor_kernels::{Cast, Element, Exec, Number, Ordered, Tensor, TensorExt, ops};

use crate::common::levels;

/// The elements in every second column of a transposed matrix, so that they are not adjacent.
fn scattered<T: Element>(values: &[T]) -> Tensor<T> {
    let spread = values.iter().flat_map(|&value| [value; 3]).collect();
    Tensor::from_vec(spread, [values.len(), 3]).unwrap().t().unwrap()
}

/// The first row of a result.
fn row<T: Element>(result: &Tensor<T>) -> Vec<T> {
    result.select(0, 1).unwrap().to_vec().unwrap()
}

fn casts<T: Cast<U>, U: Element + PartialEq + std::fmt::Debug>(cases: &[(T, U)]) {
    let from: Vec<T> = cases.iter().map(|case| case.0).collect();
    let to: Vec<U> = cases.iter().map(|case| case.1).collect();
    assert_eq!(row(&scattered(&from).cast::<U>().unwrap()), to);
}

#[test]
fn fault_floats_truncate_and_saturate_to_integers() {
    casts::<f32, u8>(&[(-1.0, 0), (-0.0, 0), (0.9, 0), (255.9, 255), (256.0, 255), (f32::NAN, 0)]);
    casts::<f32, i8>(&[(-129.0, -128), (127.9, 127), (128.0, 127), (f32::NEG_INFINITY, -128)]);
    casts::<f64, i32>(&[
        (2_147_483_647.9, i32::MAX),
        (-3e9, i32::MIN),
        (3e9, i32::MAX),
        (f64::NAN, 0),
    ]);
    casts::<f32, i64>(&[(9.3e18, i64::MAX), (f32::INFINITY, i64::MAX), (-9.3e18, i64::MIN)]);
    casts::<f64, u64>(&[(-1.0, 0), (1.9e19, u64::MAX), (1e19, 10_000_000_000_000_000_000)]);
}

#[test]
fn fault_an_integer_keeps_its_low_bits_and_a_float_its_nearest_value() {
    casts::<i32, u8>(&[(-1, 255), (256, 0), (257, 1), (i32::MIN, 0)]);
    casts::<u64, i32>(&[(u64::MAX, -1), (1 << 31, i32::MIN), (1 << 32, 0)]);
    casts::<u8, i8>(&[(127, 127), (128, -128), (255, -1)]);
    casts::<i64, f32>(&[((1 << 24) + 1, 16_777_216.0), (i64::MAX, 9_223_372_036_854_775_808.0)]);
    casts::<f64, f32>(&[(1e300, f32::INFINITY), (-1e-60, -0.0), (0.1, 0.1)]);
}

#[test]
fn fault_to_bool_is_not_zero_and_from_bool_is_zero_or_one() {
    casts::<f32, bool>(&[(0.0, false), (-0.0, false), (0.1, true), (f32::NAN, true)]);
    casts::<i64, bool>(&[(0, false), (1 << 40, true), (-1, true)]);
    casts::<bool, f64>(&[(true, 1.0), (false, 0.0)]);
}

#[cfg(feature = "half")]
#[test]
fn fault_to_half_out_of_range_is_infinite() {
    use half::{bf16, f16};
    casts::<f32, f16>(&[
        (65_520.0, f16::INFINITY),
        (65_519.0, f16::MAX),
        (-1e9, f16::NEG_INFINITY),
    ]);
    casts::<f64, bf16>(&[(3.4e38, bf16::INFINITY), (1.0, bf16::ONE)]);
    casts::<f16, u8>(&[(f16::INFINITY, 255), (f16::NAN, 0), (f16::NEG_INFINITY, 0)]);
}

#[test]
fn fault_integers_wrap_around() {
    let (a, b) = ([i32::MIN, i32::MAX, -1, 46_341], [-1, 1, i32::MIN, 46_341]);
    let (x, y) = (scattered(&a), scattered(&b));
    assert_eq!(row(&(&x + &y)), [i32::MAX, i32::MIN, i32::MAX, 92_682]);
    assert_eq!(row(&(&x - &y)), [-i32::MAX, i32::MAX - 1, i32::MAX, 0]);
    assert_eq!(row(&(&x * &y)), [i32::MIN, i32::MAX, i32::MIN, -2_147_479_015]);
    assert_eq!(row(&-&x), [i32::MIN, -i32::MAX, 1, -46_341]);
    assert_eq!(row(&x.mul_add(&y, &x).unwrap()), [0, -2, i32::MAX, -2_147_432_674]);

    let (x, y) = (scattered(&[0u8, 255, 16]), scattered(&[1u8, 1, 16]));
    assert_eq!(row(&(&x - &y)), [255, 254, 0]);
    assert_eq!(row(&(&x + &y)), [1, 0, 32]);
    assert_eq!(row(&(&x * &y)), [0, 255, 0]);
    assert_eq!(row(&-&x), [0, 1, 240]);
}

/// Runs `check` at each level.
fn at_every_level(check: impl Fn(&Exec)) {
    for level in levels() {
        check(&Exec::current().unwrap().with_simd(level).unwrap());
    }
}

#[test]
fn fault_negating_the_smallest_integer_wraps() {
    at_every_level(|exec| {
        let x = scattered(&[i32::MIN, i32::MIN + 1, -1, 0, i32::MAX]);
        assert_eq!(row(&ops::abs(exec, &x).unwrap()), [i32::MIN, i32::MAX, 1, 0, i32::MAX]);
        assert_eq!(row(&ops::neg(exec, &x).unwrap()), [i32::MIN, i32::MAX, 1, 0, -i32::MAX]);
        let x = scattered(&[i8::MIN, -1]);
        assert_eq!(row(&ops::abs(exec, &x).unwrap()), [i8::MIN, 1]);
        let x = scattered(&[i64::MIN, i64::MAX]);
        assert_eq!(row(&ops::neg(exec, &x).unwrap()), [i64::MIN, -i64::MAX]);
        assert_eq!(row(&ops::square(exec, &x).unwrap()), [0, 1]);
    });
}

#[test]
fn fault_the_smallest_integer_divided_by_minus_one_wraps() {
    at_every_level(|exec| {
        let (x, y) = (scattered(&[i64::MIN, i64::MIN, -7]), scattered(&[-1, i64::MIN, 2]));
        assert_eq!(row(&ops::div_trunc(exec, &x, &y).unwrap()), [i64::MIN, 1, -3]);
        assert_eq!(row(&ops::div_floor(exec, &x, &y).unwrap()), [i64::MIN, 1, -4]);
        assert_eq!(row(&ops::rem(exec, &x, &y).unwrap()), [0, 0, 1]);
        let (x, y) = (scattered(&[i8::MIN, i8::MIN]), scattered(&[-1, 1]));
        assert_eq!(row(&ops::div_trunc(exec, &x, &y).unwrap()), [i8::MIN, i8::MIN]);
        assert_eq!(row(&ops::div_floor(exec, &x, &y).unwrap()), [i8::MIN, i8::MIN]);
    });
}

#[test]
fn fault_a_shift_beyond_the_width_leaves_zero_or_the_sign() {
    at_every_level(|exec| {
        let (x, by) = (scattered(&[-5i32, 5, -5, 5, 1]), scattered(&[32, 33, -1, i32::MIN, 31]));
        assert_eq!(row(&ops::shl(exec, &x, &by).unwrap()), [0, 0, 0, 0, i32::MIN]);
        assert_eq!(row(&ops::shr(exec, &x, &by).unwrap()), [-1, 0, -1, 0, 0]);
        let (x, by) = (scattered(&[255u8, 255, 255]), scattered(&[8, 255, 7]));
        assert_eq!(row(&ops::shl(exec, &x, &by).unwrap()), [0, 0, 128]);
        assert_eq!(row(&ops::shr(exec, &x, &by).unwrap()), [0, 0, 1]);
    });
}

#[test]
fn fault_powers_of_integers_wrap_and_negative_ones_are_zero() {
    at_every_level(|exec| {
        let (x, y) =
            (scattered(&[3i32, 2, -2, -1, 1, 0, 7]), scattered(&[21, 32, 31, -3, -4, 0, -1]));
        let cubes = 3i32.wrapping_pow(21);
        assert_eq!(row(&ops::pow(exec, &x, &y).unwrap()), [cubes, 0, i32::MIN, -1, 1, 1, 0]);
    });
}

#[test]
fn fault_sums_and_products_of_integers_wrap() {
    at_every_level(|exec| {
        let x = scattered(&[i64::MAX, 1, i64::MAX, 1]);
        assert_eq!(ops::sum(exec, &x, 1).unwrap().get(&[2]), Ok(0));
        let x = scattered(&[u64::MAX, 2]);
        assert_eq!(ops::prod(exec, &x, 1).unwrap().get(&[0]), Ok(u64::MAX - 1));
        // Sums of narrow integers are 64 bits wide.
        assert_eq!(ops::sum_all::<u8>(exec, &Tensor::full([70_000], 255).unwrap()), Ok(17_850_000));
    });
}

#[test]
fn fault_relu_of_integers_is_zero_below_zero() {
    assert_eq!(row(&scattered(&[i8::MIN, -1, 0, 127]).relu().unwrap()), [0, 0, 0, 127]);
    assert_eq!((Ordered::relu(200u8), Number::negated(i64::MIN)), (200, i64::MIN));
}

#[test]
fn fault_a_product_and_sum_of_floats_is_rounded_once() {
    let x = scattered(&[1.0f32 + f32::EPSILON, f32::MAX]);
    let minus_square = scattered(&[-(1.0 + 2.0 * f32::EPSILON), f32::NEG_INFINITY]);
    let fused = row(&x.mul_add(&x, &minus_square).unwrap());
    assert_eq!(fused, [f32::EPSILON * f32::EPSILON, f32::NEG_INFINITY]);
}
