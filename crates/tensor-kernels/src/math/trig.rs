//! Sine, cosine and the angle of a point.

use super::{Float, FmaMode};

/// 2/π.
const PER_QUADRANT: f64 = std::f64::consts::FRAC_2_PI;
/// π/2 in four parts; 2^20 times each of the first three is exact.
const QUADRANT: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_9e-32,
];
/// From here on an argument needs the large-argument path: multiples of π/2 exceed 2^20.
const MIN_LARGE_ARGUMENT: f64 = 1_647_099.0;
/// The same for single precision: multiples exceed 2^17. The rounding of 2/π makes remainders of
/// larger arguments exceed π/4 by so much that results are less accurate.
const MIN_LARGE_ARGUMENT_F32: f32 = 205_887.0;
/// `(sin x / x − 1) / x²` of x², for x up to π/4.
const SIN: &[f64] = &[
    -0.166_666_666_666_666_32,
    0.008_333_333_333_322_205,
    -0.000_198_412_698_296_329_45,
    2.755_731_362_875_608e-6,
    -2.505_074_786_382_847_5e-8,
    1.589_618_184_470_566_5e-10,
];
/// `(cos x − 1 + x²/2) / x⁴` of x².
const COS: &[f64] = &[
    0.041_666_666_666_666_595,
    -0.001_388_888_888_887_384,
    2.480_158_728_929_735e-5,
    -2.755_731_429_665_791e-7,
    2.087_571_541_668_999_3e-9,
    -1.135_922_699_706_061_8e-11,
];
/// The same for single precision, for x up to 0.86, with an error of 2^-31 of the result.
const SIN_F32: &[f32] = &[-0.166_666_67, 0.008_333_371, -1.984_878_3e-4, 2.782_921_5e-6];
const COS_F32: &[f32] = &[0.041_666_634, -0.001_388_676_6, 2.437_172_2e-5];
/// π/2 in three parts, each the rounding error of the sum of those before it.
const QUADRANT_F32: [f32; 3] = [std::f32::consts::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15];

/// Sine and cosine, one by a shift of a quarter turn.
pub(crate) trait SinCos: Float {
    /// Is the magnitude too large for [`sin_of_quarters`](Self::sin_of_quarters)?
    fn is_large(self) -> bool;
    /// The sine of x plus `quarters` quarter turns, for arguments that are not large.
    fn sin_of_quarters<M: FmaMode>(self, quarters: u64) -> Self;
    /// The same for any argument, by the standard library; `quarters` is 0 or 1.
    fn sin_of_quarters_large(self, quarters: u64) -> Self;
}

/// x in quarter turns, rounded to an integer n: as bits whose low end is n, and as a float.
#[inline(always)]
fn quadrant<M: FmaMode>(x: f64) -> (u64, f64) {
    let magic = x.fma::<M>(PER_QUADRANT, f64::MAGIC);
    (magic.to_bits(), magic - f64::MAGIC)
}

/// The sine or the cosine, by the lowest bit of the quadrant; its sign by the next bit.
#[inline(always)]
fn sin_or_cos(quadrant: u64, sin: f64, cos: f64) -> f64 {
    let value = if quadrant & 1 == 0 { sin } else { cos };
    f64::from_bits(value.to_bits() ^ (quadrant & 2) << 62)
}

impl SinCos for f32 {
    #[inline(always)]
    fn is_large(self) -> bool {
        self.abs() >= MIN_LARGE_ARGUMENT_F32
    }

    /// Each result is a sum of two, whose second part is small and takes up all rounding errors.
    #[inline(always)]
    fn sin_of_quarters<M: FmaMode>(self, quarters: u64) -> f32 {
        let magic = M::exact_mul_add32(self, PER_QUADRANT as f32, f32::MAGIC);
        let (r, tail) = remainder32::<M>(self, magic - f32::MAGIC);
        let square = r * r;
        // sin(r + tail) is sin r + tail cos r, and cos(r + tail) is cos r − tail sin r, to first
        // order. 1 − r²/2 for cos r and r for sin r are exact enough.
        let minus_half = -0.5 * r;
        let tail_cos = (minus_half * r).fma::<M>(tail, tail);
        let cubic = square.polynomial::<M>(SIN_F32);
        let sin = r + M::exact_mul_add32(r * square, cubic, tail_cos);
        let head = M::exact_mul_add32(minus_half, r, 1.0);
        let lost = M::exact_mul_add32(minus_half, r, 1.0 - head);
        let small = r.fma::<M>(-tail, lost);
        let cos = head + (square * square).fma::<M>(square.polynomial::<M>(COS_F32), small);
        // The sum above would turn −0 into 0.
        let sin = if r == 0.0 { self } else { sin };
        let quadrant = magic.to_bits().wrapping_add(quarters as u32);
        let value = if quadrant & 1 == 0 { sin } else { cos };
        f32::from_bits(value.to_bits() ^ (quadrant & 2) << 30)
    }

    fn sin_of_quarters_large(self, quarters: u64) -> f32 {
        if quarters == 0 { self.sin() } else { self.cos() }
    }
}

impl SinCos for f64 {
    #[inline(always)]
    fn is_large(self) -> bool {
        self.abs() >= MIN_LARGE_ARGUMENT
    }

    #[inline(always)]
    fn sin_of_quarters<M: FmaMode>(self, quarters: u64) -> f64 {
        let (magic, n) = quadrant::<M>(self);
        let (r, tail) = remainder(self, n);
        let square = r * r;
        // sin(r + tail) is sin r + tail cos r, and cos(r + tail) is cos r − tail sin r, to first
        // order. In the terms with the tail, 1 − r²/2 for cos r and r for sin r are exact
        // enough.
        let cube = square * r;
        let correction =
            cube.fma::<M>(square.polynomial::<M>(&SIN[1..]) * square, tail - 0.5 * square * tail);
        let sin = r + cube.fma::<M>(SIN[0], correction);
        let half = 0.5 * square;
        let head = 1.0 - half;
        let lost = (1.0 - head) - half;
        let cos = head + (square * square).fma::<M>(square.polynomial::<M>(COS), lost - r * tail);
        // The sum above would turn −0 into 0.
        let sin = if r == 0.0 { self } else { sin };
        sin_or_cos(magic.wrapping_add(quarters), sin, cos)
    }

    fn sin_of_quarters_large(self, quarters: u64) -> f64 {
        if quarters == 0 { self.sin() } else { self.cos() }
    }
}

/// `x − n π/2` in two parts, for n up to 2^20. The first difference is exact: it is a multiple of
/// the last place of π/2, and less than 1. So it is a multiple of the last place of the second
/// product too, and the rounding error of the second difference is a difference.
#[inline(always)]
fn remainder32<M: FmaMode>(x: f32, n: f32) -> (f32, f32) {
    let first = M::exact_mul_add32(n, -QUADRANT_F32[0], x);
    let product = n * QUADRANT_F32[1];
    let slip = M::exact_mul_add32(n, QUADRANT_F32[1], -product);
    let r = first - product;
    (r, ((first - r) - product) - n.fma::<M>(QUADRANT_F32[2], slip))
}

/// `x − n π/2` in two parts. The products are exact, and each sum passes on its rounding error.
#[inline(always)]
fn remainder(x: f64, n: f64) -> (f64, f64) {
    let first = x - n * QUADRANT[0];
    let (second, lost) = sum(first, -n * QUADRANT[1]);
    let (third, also_lost) = sum(second, -n * QUADRANT[2]);
    let tail = lost + (also_lost - n * QUADRANT[3]);
    let r = third + tail;
    (r, (third - r) + tail)
}

/// A sum and its rounding error.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// π/4 in two parts; up to four times the first is exact.
const QUARTER_PI: [f64; 2] = [std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17];
/// tan π/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;
/// `(atan(x) / x − 1) / x²` of x², for x up to 0.4143.
const ATAN: &[f64] = &[
    -0.333_333_333_333_332,
    0.199_999_999_999_539_07,
    -0.142_857_142_802_299_16,
    0.111_111_107_851_661_49,
    -0.090_908_978_074_334_07,
    0.076_920_611_037_039_44,
    -0.066_631_141_406_892_26,
    0.058_479_622_795_009_14,
    -0.050_396_302_984_250_65,
    0.038_072_732_209_818_41,
    -0.017_916_034_348_703_227,
];

/// The same with a relative error of 2^-35.
const ATAN_F32: &[f64] = &[
    -0.333_333_324_989_394_6,
    0.199_999_038_907_054_34,
    -0.142_820_072_495_184_52,
    0.110_446_851_722_478_34,
    -0.084_762_324_455_904_98,
    0.047_439_708_674_095_28,
];

/// The angle of the point (x, y), from −π to π.
///
/// The smaller coordinate is divided by the larger. If the angle is above π/8, π/4 is subtracted
/// first, so that one division gives a tangent of at most √2 − 1. The result is plus or minus its
/// arc tangent, plus a multiple of π/4.
#[inline(always)]
pub(crate) fn atan2_64<M: FmaMode>(y: f64, x: f64) -> f64 {
    let (smaller, larger, swapped) = ordered(y.abs(), x.abs());
    let diagonal = smaller > larger * TAN_EIGHTH;
    let t = if diagonal { (smaller - larger) / (smaller + larger) } else { smaller / larger };
    let square = t * t;
    let arc = (t * square).fma::<M>(square.polynomial::<M>(ATAN), t);
    let backwards = x.is_sign_negative();
    let quarters = if diagonal { 1.0 } else { 0.0 };
    let quarters = if swapped { 2.0 - quarters } else { quarters };
    let quarters = if backwards { 4.0 - quarters } else { quarters };
    let arc = if swapped != backwards { -arc } else { arc };
    let angle = quarters * QUARTER_PI[0] + (quarters * QUARTER_PI[1] + arc);
    if x.is_nan() | y.is_nan() { x + y } else { angle.copysign(y) }
}

/// The same for single precision, computed in double precision and rounded once. All quotients,
/// sums and products of two single-precision numbers are normal there, so that nothing is scaled.
#[inline(always)]
pub(crate) fn atan2_32<M: FmaMode>(y: f32, x: f32) -> f32 {
    let (height, width) = (y.abs(), x.abs());
    let swapped = height > width;
    let smaller = if swapped { width } else { height };
    let larger = if swapped { height } else { width };
    // Quotients of zeros and infinities become the limits that C99 asks for.
    let both_infinite = smaller == f32::INFINITY;
    let limited = if both_infinite { f32::MAX } else { larger };
    let smaller = f64::from(if both_infinite { f32::MAX } else { smaller });
    let larger = f64::from(if larger == 0.0 { 1.0 } else { limited });
    // One selection, or the compiler would compute all that follows for both cases.
    let (above, below, offset) = if smaller > larger * TAN_EIGHTH {
        (smaller - larger, smaller + larger, QUARTER_PI[0])
    } else {
        (smaller, larger, 0.0)
    };
    let t = above / below;
    let square = t * t;
    let arc = (t * square).fma::<M>(square.polynomial::<M>(ATAN_F32), t);
    let angle = offset + arc;
    let angle = if swapped { 2.0 * QUARTER_PI[0] - angle } else { angle };
    let angle = if x.is_sign_negative() { 4.0 * QUARTER_PI[0] - angle } else { angle } as f32;
    if x.is_nan() | y.is_nan() { x + y } else { angle.copysign(y) }
}

/// The smaller and the larger number, and whether the first is the larger. They are scaled so that
/// their sum is finite, and so that quotients of zeros or infinities are the limits that C99 asks
/// for.
#[inline(always)]
fn ordered(y: f64, x: f64) -> (f64, f64, bool) {
    let swapped = y > x;
    let (smaller, larger) = if swapped { (x, y) } else { (y, x) };
    let scale = if larger > f64::SUBNORMAL_SCALE { 0.5 } else { 1.0 };
    let (smaller, larger) = (smaller * scale, larger * scale);
    let infinite = larger == f64::INFINITY;
    let also = if smaller == f64::INFINITY { 1.0 } else { 0.0 };
    let smaller = if infinite { also } else { smaller };
    let larger = if infinite | (larger == 0.0) { 1.0 } else { larger };
    (smaller, larger, swapped)
}
