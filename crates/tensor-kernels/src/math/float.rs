//! The arithmetic, bit operations and constants of `f32` and `f64` that the functions use.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::FmaMode;

/// A binary floating-point format.
pub(crate) trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    const TWO: Self;
    const INFINITY: Self;
    const NAN: Self;
    /// The least normal number.
    const MIN_NORMAL: Self;
    /// `1.5 · 2^mantissa`: adding it to a small number rounds that to an integer, in the low bits.
    const MAGIC: Self;
    /// A power of two that makes every subnormal number normal.
    const SUBNORMAL_SCALE: Self;
    /// The exponent of [`SUBNORMAL_SCALE`](Self::SUBNORMAL_SCALE).
    const SUBNORMAL_SCALE_LOG2: Self;

    /// A power of two: the fraction of a quotient below it has at least one bit.
    const MAX_EXACT_QUOTIENT: Self;

    const LOG2_E: Self;
    /// ln 2 in two parts; the first times an exponent is exact.
    const LN2: [Self; 2];
    const SQRT_HALF: Self;
    /// The rounding error of [`LOG2_E`](Self::LOG2_E).
    const LOG2_E_REST: Self;
    /// log10 e, rounded, and its rounding error.
    const LOG10_E: [Self; 2];
    /// log10 2 in two parts; the first times an exponent is exact.
    const LOG10_2: [Self; 2];

    /// The largest argument of the polynomial [`TANH`](Self::TANH); tanh is above 1/2 there.
    const MAX_TANH_POLYNOMIAL: Self;
    /// From here on tanh rounds to 1.
    const TANH_IS_ONE: Self;

    /// Below this the logistic function is computed with a scale.
    const LOGISTIC_SCALED: Self;
    /// That scale.
    const LOGISTIC_SCALE: Self;
    /// The number of powers of two that the scale takes away.
    const LOGISTIC_SCALE_LOG2: Self;
    /// Below this the logistic function is 0, also if multiplied by its argument.
    const LOGISTIC_IS_ZERO: Self;

    /// Below this, e to a power is 0, also if multiplied by the exponent.
    const EXP_UNDERFLOW: Self;
    /// Above this it is infinite.
    const EXP_OVERFLOW: Self;
    /// Below this it may be subnormal.
    const EXP_SUBNORMAL: Self;
    /// Up to this magnitude e to a power is a normal number, and so is the power of two next to it.
    const MAX_EXP_FAST: Self;
    /// The factor that brings scaled powers of two back.
    const EXP_SUBNORMAL_SCALE: Self;

    /// [`MAGIC`](Self::MAGIC) plus the biased exponent of 1/2, in the low bits.
    const EXP_MAGIC: Self;
    /// `(e^r − 1 − r) / r²` on ±0.352, lowest power first.
    const EXP: &'static [Self];
    /// `(ln((1 + s) / (1 − s)) / s − 2) / s²` of s², for s up to 0.1716.
    const LOG: &'static [Self];
    /// `(tanh(x) / x − 1) / x²` of x², for x up to 0.602.
    const TANH: &'static [Self];
    /// The same for x up to 0.174, with an error relative to tanh of 2^-32, or 2^-57 for f64.
    const TANH_OF_REST: &'static [Self];

    fn fma<M: FmaMode>(self, factor: Self, summand: Self) -> Self;

    /// The product plus a much smaller number, with an error of little more than half a unit in the
    /// last place.
    fn exact_fma<M: FmaMode>(self, factor: Self, summand: Self) -> Self;

    /// The integer part.
    fn trunc(self) -> Self;

    /// The largest integer not above it.
    fn floor(self) -> Self;

    /// `self % divisor` of the standard library.
    fn library_remainder(self, divisor: Self) -> Self;

    /// The magnitude.
    fn abs(self) -> Self;

    /// This magnitude with another number's sign.
    fn signed_as(self, sign: Self) -> Self;

    /// The number without the lower half of its mantissa.
    fn truncated(self) -> Self;

    /// The power of two whose biased exponent is in the low bits of `magic`. If `low` it is scaled
    /// up, so that the smallest one is normal.
    fn power_of_two(magic: Self, low: bool) -> Self;

    /// The exponent n and the mantissa m of a normal positive number `m · 2^n`, m from √½ to √2.
    fn split(self) -> (Self, Self);

    /// The polynomial of up to 24 coefficients, lowest power first.
    ///
    /// Estrin's scheme: neighbours are combined, then pairs of them, and so on. The chain of
    /// dependent operations is a third of Horner's, and a CPU cannot look far enough ahead to hide
    /// Horner's.
    #[inline(always)]
    fn polynomial<M: FmaMode>(self, coefficients: &[Self]) -> Self {
        let mut sums = [Self::ZERO; 24];
        let mut count = coefficients.len();
        sums[..count].copy_from_slice(coefficients);
        let mut power = self;
        while count > 1 {
            let pairs = count / 2;
            for i in 0..pairs {
                sums[i] = sums[2 * i + 1].fma::<M>(power, sums[2 * i]);
            }
            if count % 2 == 1 {
                sums[pairs] = sums[count - 1];
            }
            count = pairs + count % 2;
            power = power * power;
        }
        sums[0]
    }

    /// The larger of the two; `self` if it is NaN.
    #[inline(always)]
    fn at_least(self, bound: Self) -> Self {
        if self < bound { bound } else { self }
    }

    /// The smaller of the two; `self` if it is NaN.
    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        if self > bound { bound } else { self }
    }
}

macro_rules! float {
    (
        $type:ty, $bits:ty, mantissa $mantissa:literal, mul_add $mul_add:ident $exact_mul_add:ident,
            truncated $truncated:literal, bias $bias:literal, low shift $shift:literal;
        $($name:ident: $kind:ty = $value:expr;)*
    ) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const INFINITY: Self = <$type>::INFINITY;
            const NAN: Self = <$type>::NAN;
            const MIN_NORMAL: Self = <$type>::MIN_POSITIVE;
            const MAGIC: Self = 1.5 * (1u64 << $mantissa) as $type;
            const MAX_EXACT_QUOTIENT: Self = (1u64 << ($mantissa - 1)) as $type;
            const EXP_MAGIC: Self = Self::MAGIC + ($bias - 1.0);
            const SUBNORMAL_SCALE: Self = (1u64 << ($mantissa + 2)) as $type;
            const SUBNORMAL_SCALE_LOG2: Self = ($mantissa + 2) as $type;
            const EXP_SUBNORMAL_SCALE: Self = 1.0 / ((1u128 << ($shift - 1)) as $type);
            $(const $name: $kind = $value;)*

            #[inline(always)]
            fn fma<M: FmaMode>(self, factor: Self, summand: Self) -> Self {
                M::$mul_add(self, factor, summand)
            }

            #[inline(always)]
            fn exact_fma<M: FmaMode>(self, factor: Self, summand: Self) -> Self {
                M::$exact_mul_add(self, factor, summand)
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                <$type>::trunc(self)
            }

            #[inline(always)]
            fn floor(self) -> Self {
                <$type>::floor(self)
            }

            #[inline(always)]
            fn library_remainder(self, divisor: Self) -> Self {
                self % divisor
            }

            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }

            #[inline(always)]
            fn signed_as(self, sign: Self) -> Self {
                self.copysign(sign)
            }

            #[inline(always)]
            fn truncated(self) -> Self {
                Self::from_bits(self.to_bits() >> $truncated << $truncated)
            }

            #[inline(always)]
            fn power_of_two(magic: Self, low: bool) -> Self {
                let higher: $bits = if low { $shift << $mantissa } else { 0 };
                Self::from_bits((magic.to_bits() << $mantissa).wrapping_add(higher))
            }

            #[inline(always)]
            fn split(self) -> (Self, Self) {
                const ONE: $bits = <$type>::to_bits(1.0);
                const BELOW: $bits = <$type>::to_bits(<$type as Float>::SQRT_HALF);
                // An integer in the low bits of 2^mantissa is a number.
                const BASE: $type = (1u64 << $mantissa) as $type;
                let bits = self.to_bits().wrapping_add(ONE - BELOW);
                let biased = <$type>::from_bits(BASE.to_bits() | bits >> $mantissa);
                let rest = (bits & ((1 << $mantissa) - 1)).wrapping_add(BELOW);
                (biased - (BASE + $bias), Self::from_bits(rest))
            }
        }
    };
}

float! {
    f32, u32, mantissa 23, mul_add mul_add32 exact_mul_add32, truncated 12,
        bias 127.0, low shift 64;
    LOG2_E: Self = std::f32::consts::LOG2_E;
    LN2: [Self; 2] = [0.693_145_75, 1.428_606_8e-6];
    SQRT_HALF: Self = std::f32::consts::FRAC_1_SQRT_2;
    LOG2_E_REST: Self = 1.925_963e-8;
    LOG10_E: [Self; 2] = [std::f32::consts::LOG10_E, -1.010_305e-8];
    LOG10_2: [Self; 2] = [0.301_025_4, 4.605_039e-6];
    MAX_TANH_POLYNOMIAL: Self = 0.6;
    TANH_IS_ONE: Self = 10.0;
    LOGISTIC_SCALED: Self = -60.0;
    LOGISTIC_SCALE: Self = 1.0 / (1u128 << 64) as f32;
    LOGISTIC_SCALE_LOG2: Self = 64.0;
    LOGISTIC_IS_ZERO: Self = -120.0;
    EXP_UNDERFLOW: Self = -110.0;
    EXP_OVERFLOW: Self = 89.0;
    EXP_SUBNORMAL: Self = -83.0;
    MAX_EXP_FAST: Self = 87.0;
    EXP: &'static [Self] =
        &[0.499_999_94, 0.166_665_1, 0.041_668_497, 0.008_369_823, 0.001_381_233_9];
    LOG: &'static [Self] = &[0.666_666_6, 0.400_003_37, 0.285_371_7, 0.235_849_81];
    TANH: &'static [Self] =
        &[-0.333_332_96, 0.133_318_48, -0.053_776_62, 0.020_769_373, -0.005_861_746_6];
    TANH_OF_REST: &'static [Self] = &[-0.333_333_22, 0.133_311_14, -0.052_714_53];
}

float! {
    f64, u64, mantissa 52, mul_add mul_add64 exact_mul_add64, truncated 27,
        bias 1023.0, low shift 128;
    LOG2_E: Self = std::f64::consts::LOG2_E;
    LN2: [Self; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    SQRT_HALF: Self = std::f64::consts::FRAC_1_SQRT_2;
    LOG2_E_REST: Self = 2.035_527_374_093_103_3e-17;
    LOG10_E: [Self; 2] = [std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17];
    LOG10_2: [Self; 2] = [0.301_029_995_663_611_77, 3.694_239_077_158_931e-13];
    MAX_TANH_POLYNOMIAL: Self = 0.6;
    TANH_IS_ONE: Self = 20.0;
    LOGISTIC_SCALED: Self = -600.0;
    LOGISTIC_SCALE: Self = f64::from_bits((1023 - 512) << 52);
    LOGISTIC_SCALE_LOG2: Self = 512.0;
    LOGISTIC_IS_ZERO: Self = -800.0;
    EXP_UNDERFLOW: Self = -755.0;
    EXP_OVERFLOW: Self = 710.0;
    EXP_SUBNORMAL: Self = -700.0;
    MAX_EXP_FAST: Self = 708.0;
    EXP: &'static [Self] = &[
        0.500_000_000_000_001_2, 0.166_666_666_666_663_72, 0.041_666_666_666_512_524,
        0.008_333_333_333_515_613, 0.001_388_888_894_887_219,
        0.000_198_412_694_740_493_67, 2.480_148_716_228_292_5e-5, 2.755_760_350_062_396e-6,
        2.763_251_576_696_054_3e-7,
        2.499_837_970_454_211e-8,
    ];
    LOG: &'static [Self] = &[
        0.666_666_666_666_673_5, 0.399_999_999_994_074_9, 0.285_714_287_441_416_3,
        0.222_221_983_784_350_5, 0.181_835_751_680_690_27,
        0.153_137_556_849_624_35, 0.147_990_669_582_159_45,
    ];
    TANH: &'static [Self] = &[
        -0.333_333_333_333_331_1, 0.133_333_333_332_973_95, -0.053_968_253_948_169_08,
        0.021_869_487_974_977_887, -0.008_863_226_390_259_849, 0.003_592_034_023_665_896,
        -0.001_455_196_805_379_265_8, 0.000_587_122_796_890_844_4,
        -0.000_230_253_362_660_983_93, 7.913_733_697_921_096e-5, -1.708_512_563_724_139_4e-5,
    ];
    TANH_OF_REST: &'static [Self] = &[
        -0.333_333_333_333_324_5, 0.133_333_333_327_637_22, -0.053_968_252_747_011_46,
        0.021_869_368_092_412_893, -0.008_857_220_762_842_47, 0.003_443_750_263_659_275,
    ];
}
