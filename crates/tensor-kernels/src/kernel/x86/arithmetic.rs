//! Arithmetic on the registers of x86-64.

use pulp::cast;

use super::avx2::{X128, X256};
#[cfg(feature = "avx512")]
use super::avx512::X512;
use crate::kernel::{
    generic::register::{Arithmetic, LANE_BYTES, Vector},
    unit::Unit,
};

/// A lane with the sign bits of its floats.
#[inline(always)]
fn sign_bits<L: Unit>() -> [u8; LANE_BYTES] {
    match L::WIDTH {
        4 => bytemuck::cast([-0.0_f32; 4]),
        _ => bytemuck::cast([-0.0_f64; 2]),
    }
}

/// Implements [`Arithmetic`] by the instructions for f32 and those for f64: the fields of the token
/// that have them, and their names.
macro_rules! arithmetic {
    (
        $register:ident, $proof:ident,
        $single:ident: $add:ident $sub:ident $mul:ident $div:ident $sqrt:ident $max:ident,
        $double:ident:
            $add64:ident $sub64:ident $mul64:ident $div64:ident $sqrt64:ident $max64:ident,
        $fma:ident: $fmadd:ident $fmadd64:ident,
        $bits:ident: $xor:ident $and_not:ident
    ) => {
        impl $register {
            /// A function of floats, whose registers have other types.
            #[inline(always)]
            fn with_bits<T: bytemuck::Pod>(self, value: T) -> Self {
                Self { isa: self.isa, bits: cast(value) }
            }
        }

        impl Arithmetic for $register {
            #[inline(always)]
            fn add<L: Unit>(self, other: Self) -> Self {
                let (isa, a, b) = (self.isa.$proof(), self.bits, other.bits);
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$add(cast(a), cast(b))),
                    _ => self.with_bits(isa.$double.$add64(cast(a), cast(b))),
                }
            }

            #[inline(always)]
            fn sub<L: Unit>(self, other: Self) -> Self {
                let (isa, a, b) = (self.isa.$proof(), self.bits, other.bits);
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$sub(cast(a), cast(b))),
                    _ => self.with_bits(isa.$double.$sub64(cast(a), cast(b))),
                }
            }

            #[inline(always)]
            fn mul<L: Unit>(self, other: Self) -> Self {
                let (isa, a, b) = (self.isa.$proof(), self.bits, other.bits);
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$mul(cast(a), cast(b))),
                    _ => self.with_bits(isa.$double.$mul64(cast(a), cast(b))),
                }
            }

            #[inline(always)]
            fn div<L: Unit>(self, other: Self) -> Self {
                let (isa, a, b) = (self.isa.$proof(), self.bits, other.bits);
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$div(cast(a), cast(b))),
                    _ => self.with_bits(isa.$double.$div64(cast(a), cast(b))),
                }
            }

            #[inline(always)]
            fn mul_add<L: Unit>(self, factor: Self, summand: Self) -> Self {
                let (isa, a, b, c) = (self.isa.$proof(), self.bits, factor.bits, summand.bits);
                match L::WIDTH {
                    4 => self.with_bits(isa.$fma.$fmadd(cast(a), cast(b), cast(c))),
                    _ => self.with_bits(isa.$fma.$fmadd64(cast(a), cast(b), cast(c))),
                }
            }

            #[inline(always)]
            fn sqrt<L: Unit>(self) -> Self {
                let isa = self.isa.$proof();
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$sqrt(cast(self.bits))),
                    _ => self.with_bits(isa.$double.$sqrt64(cast(self.bits))),
                }
            }

            /// The instruction returns its second operand if both are zeros, or one is NaN.
            #[inline(always)]
            fn relu<L: Unit>(self) -> Self {
                let isa = self.isa.$proof();
                let zero = Self::splat(self.isa, [0; _]).bits;
                match L::WIDTH {
                    4 => self.with_bits(isa.$single.$max(cast(zero), cast(self.bits))),
                    _ => self.with_bits(isa.$double.$max64(cast(zero), cast(self.bits))),
                }
            }

            #[inline(always)]
            fn neg<L: Unit>(self) -> Self {
                let (isa, sign) = (self.isa.$proof(), Self::splat(self.isa, sign_bits::<L>()));
                self.with_bits(isa.$bits.$xor(self.bits, sign.bits))
            }

            #[inline(always)]
            fn abs<L: Unit>(self) -> Self {
                let (isa, sign) = (self.isa.$proof(), Self::splat(self.isa, sign_bits::<L>()));
                self.with_bits(isa.$bits.$and_not(sign.bits, self.bits))
            }
        }
    };
}

arithmetic! {
    X128, token,
    sse: _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_sqrt_ps _mm_max_ps,
    sse2: _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd _mm_sqrt_pd _mm_max_pd,
    fma: _mm_fmadd_ps _mm_fmadd_pd,
    sse2: _mm_xor_si128 _mm_andnot_si128
}

arithmetic! {
    X256, token,
    avx: _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_sqrt_ps _mm256_max_ps,
    avx: _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_sqrt_pd _mm256_max_pd,
    fma: _mm256_fmadd_ps _mm256_fmadd_pd,
    avx2: _mm256_xor_si256 _mm256_andnot_si256
}

#[cfg(feature = "avx512")]
arithmetic! {
    X512, token,
    avx512f: _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_sqrt_ps _mm512_max_ps,
    avx512f: _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_sqrt_pd _mm512_max_pd,
    avx512f: _mm512_fmadd_ps _mm512_fmadd_pd,
    avx512f: _mm512_xor_si512 _mm512_andnot_si512
}
