//! Conversions of f16 and bf16 to f32 and back, by bit operations. The `half` crate checks the
//! CPU's features for every number, which does not vectorise.
//!
//! To f32 is exact. From f32 rounds to nearest, ties to even. NaN stays NaN, quiet, with the high
//! bits of its payload.

use half::{bf16, f16};

/// A half-precision format.
pub(crate) trait Half: Copy {
    fn widen(self) -> f32;
    fn narrow(wide: f32) -> Self;
}

impl Half for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrow(wide: f32) -> Self {
        let bits = wide.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        let quiet = bits >> 16 | 0x40;
        Self::from_bits(if wide.is_nan() { quiet } else { rounded } as u16)
    }
}

/// 2^112: the ratio of the exponent biases of f32 and f16.
const EXPONENT_SCALE: f32 = f32::from_bits((127 + 112) << 23);
/// The least normal f16.
const MIN_NORMAL_BITS: u32 = (127 - 14) << 23;
/// The first power of two that overflows f16.
const OVERFLOW_BITS: u32 = (127 + 16) << 23;
/// A number whose last place is the smallest subnormal f16.
const SUBNORMAL_ROUNDER: f32 = 0.5;

impl Half for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = u32::from(self.to_bits());
        // The product is exact, also where the f16 is subnormal.
        let finite = (f32::from_bits((bits & 0x7FFF) << 13) * EXPONENT_SCALE).to_bits();
        let infinite = if bits & 0x7C00 == 0x7C00 { 0x7F80_0000 } else { 0 };
        f32::from_bits(finite | infinite | (bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn narrow(wide: f32) -> Self {
        let sign = wide.to_bits() >> 16 & 0x8000;
        let bits = wide.to_bits() & 0x7FFF_FFFF;
        let normal = bits.wrapping_sub(112 << 23).wrapping_add(0xFFF + (bits >> 13 & 1)) >> 13;
        // The addition rounds at the last place of a subnormal f16.
        let small = (f32::from_bits(bits) + SUBNORMAL_ROUNDER)
            .to_bits()
            .wrapping_sub(SUBNORMAL_ROUNDER.to_bits());
        let finite = if bits < MIN_NORMAL_BITS { small } else { normal };
        let number = if bits < OVERFLOW_BITS { finite } else { 0x7C00 };
        let quiet = 0x7E00 | bits >> 13 & 0x3FF;
        Self::from_bits((if wide.is_nan() { quiet } else { number } | sign) as u16)
    }
}
