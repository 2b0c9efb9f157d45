//! NEON, also called Advanced SIMD: a register of one 128-bit lane, and pairs of them up to a cache
//! line.
//!
//! Kernels write whole cache lines, so the widest register is a pair of pairs. Its tiles of 1- and
//! 2-byte elements need more than the 32 registers of the CPU; the compiler spills the rest to the
//! stack.
//!
//! Stable Rust has no intrinsic for the non-temporal store of AArch64 (`STNP`, which is only a
//! hint). So [`Vector::stream`] is a plain store here and [`Registers::fence`] does nothing: plain
//! stores are visible to every thread that acquires what this thread releases afterwards. Streamed
//! kernels still write each line whole, once and in ascending order; CPUs that detect this do not
//! fetch the line first.

use std::arch::aarch64::{uint8x16_t, uint8x16x2_t};

use pulp::{NullaryFnOnce, aarch64, cast};

#[cfg(feature = "elementwise")]
use crate::kernel::generic::register::Arithmetic;
use crate::kernel::{
    generic::{
        across_lanes::{FunnelShift, UnzipLanes},
        register::{LANE_BYTES, Pair, Registers, Vector},
    },
    isa::{Kernel, Vectorize},
    unit::Unit,
};

/// The proof (M5) that the CPU has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(aarch64::Neon);

impl Neon {
    /// The proof, if the CPU has NEON.
    pub(in crate::kernel) fn new() -> Option<Self> {
        aarch64::Neon::try_new().map(Self)
    }
}

impl Vectorize for Neon {
    #[inline(always)]
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "neon")]
        fn compiled<K: Kernel>(isa: Neon, kernel: K) -> K::Output {
            kernel.run(isa)
        }
        // SAFETY: `self` proves that the CPU has these instructions (M5).
        unsafe { compiled(self, kernel) }
    }

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        self.0.vectorize(f)
    }
}

impl Registers for Neon {
    type Full = Pair<Pair<N128>>;
    type Native = N128;
    type Half = Pair<N128>;
    type Lane = N128;

    const NON_TEMPORAL: bool = false;

    #[inline(always)]
    fn fence(self) {}
}

/// One lane.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct N128 {
    isa: Neon,
    bits: uint8x16_t,
}

impl Vector for N128 {
    type Token = Neon;

    const LANES: usize = 1;

    #[inline(always)]
    fn splat(isa: Neon, lane: [u8; LANE_BYTES]) -> Self {
        Self { isa, bits: cast(lane) }
    }

    #[inline(always)]
    unsafe fn load(isa: Neon, src: *const u8) -> Self {
        // SAFETY: readable by M1; any bits are a register's, and the read asks for no alignment.
        let bits = unsafe { src.cast::<uint8x16_t>().read_unaligned() };
        Self { isa, bits }
    }

    #[inline(always)]
    unsafe fn load_lanes(isa: Neon, src: *const u8, _step: isize) -> Self {
        // SAFETY: there is one lane, at `src`, readable by M1.
        unsafe { Self::load(isa, src) }
    }

    #[inline(always)]
    unsafe fn load_lanes_at(isa: Neon, src: *const u8, offset: impl Fn(usize) -> isize) -> Self {
        // SAFETY: there is one lane, readable by M1.
        unsafe { Self::load(isa, src.wrapping_offset(offset(0))) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: writable by M2, and the write asks for no alignment.
        unsafe { dst.cast::<uint8x16_t>().write_unaligned(self.bits) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: writable by M2, which is all that a plain store asks for.
        unsafe { self.store(dst) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, _p: usize, dst: *mut u8) {
        // SAFETY: M2 holds for the 16 bytes at `dst`: the register is one lane.
        unsafe { self.store(dst) }
    }

    #[inline(always)]
    fn zip<L: Unit>(self, other: Self) -> [Self; 2] {
        let (isa, neon, a, b) = (self.isa, self.isa.0.neon, self.bits, other.bits);
        let halves = match L::WIDTH {
            1 => [neon.vzip1q_u8(a, b), neon.vzip2q_u8(a, b)],
            2 => {
                let (a, b) = (cast(a), cast(b));
                [cast(neon.vzip1q_u16(a, b)), cast(neon.vzip2q_u16(a, b))]
            }
            4 => {
                let (a, b) = (cast(a), cast(b));
                [cast(neon.vzip1q_u32(a, b)), cast(neon.vzip2q_u32(a, b))]
            }
            8 => {
                let (a, b) = (cast(a), cast(b));
                [cast(neon.vzip1q_u64(a, b)), cast(neon.vzip2q_u64(a, b))]
            }
            _ => [a, b],
        };
        [Self { isa, bits: halves[0] }, Self { isa, bits: halves[1] }]
    }

    #[inline(always)]
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self {
        let isa = self.isa;
        // An index of 16 or more makes a table look-up write 0, not only one of 128 or more.
        Self { isa, bits: isa.0.neon.vqtbl1q_u8(self.bits, cast(index)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.neon.vorrq_u8(self.bits, other.bits) }
    }
}

#[cfg(feature = "elementwise")]
impl Arithmetic for N128 {
    #[inline(always)]
    fn add<L: Unit>(self, other: Self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vaddq_f32(cast(self.bits), cast(other.bits))),
            _ => cast(neon.vaddq_f64(cast(self.bits), cast(other.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn sub<L: Unit>(self, other: Self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vsubq_f32(cast(self.bits), cast(other.bits))),
            _ => cast(neon.vsubq_f64(cast(self.bits), cast(other.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn mul<L: Unit>(self, other: Self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vmulq_f32(cast(self.bits), cast(other.bits))),
            _ => cast(neon.vmulq_f64(cast(self.bits), cast(other.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn div<L: Unit>(self, other: Self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vdivq_f32(cast(self.bits), cast(other.bits))),
            _ => cast(neon.vdivq_f64(cast(self.bits), cast(other.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn mul_add<L: Unit>(self, factor: Self, summand: Self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vfmaq_f32(cast(summand.bits), cast(self.bits), cast(factor.bits))),
            _ => cast(neon.vfmaq_f64(cast(summand.bits), cast(self.bits), cast(factor.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn sqrt<L: Unit>(self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vsqrtq_f32(cast(self.bits))),
            _ => cast(neon.vsqrtq_f64(cast(self.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn relu<L: Unit>(self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let is_negative = match L::WIDTH {
            4 => cast(neon.vcltzq_f32(cast(self.bits))),
            _ => cast(neon.vcltzq_f64(cast(self.bits))),
        };
        Self { isa, bits: neon.vbicq_u8(self.bits, is_negative) }
    }

    #[inline(always)]
    fn neg<L: Unit>(self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vnegq_f32(cast(self.bits))),
            _ => cast(neon.vnegq_f64(cast(self.bits))),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn abs<L: Unit>(self) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bits = match L::WIDTH {
            4 => cast(neon.vabsq_f32(cast(self.bits))),
            _ => cast(neon.vabsq_f64(cast(self.bits))),
        };
        Self { isa, bits }
    }
}

impl FunnelShift for N128 {
    /// A table look-up: both registers together are one table of 32 bytes.
    #[inline(always)]
    fn funnel_shift<L: Unit>(self, next: Self, back: usize) -> Self {
        let (isa, neon) = (self.isa, self.isa.0.neon);
        let bytes: uint8x16_t = cast([0_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let first = neon.vdupq_n_u8((LANE_BYTES - back) as u8);
        let index = neon.vaddq_u8(bytes, first);
        Self { isa, bits: neon.vqtbl2q_u8(uint8x16x2_t(self.bits, next.bits), index) }
    }
}

impl UnzipLanes for N128 {
    #[inline(always)]
    fn unzip_lanes(self, other: Self) -> [Self; 2] {
        let _ = other;
        unreachable!("a register of one lane")
    }
}
