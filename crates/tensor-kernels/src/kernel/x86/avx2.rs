//! AVX2: registers of one and of two 128-bit lanes.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast};

use super::STREAMS_AS_PLAIN;
use crate::kernel::{
    generic::{
        across_lanes::{FunnelShift, UnzipLanes},
        register::{LANE_BYTES, Pair, Registers, Vector},
    },
    isa::{Kernel, Vectorize},
    unit::Unit,
};

/// The proof (M5) that the CPU has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(V3);

impl Avx2 {
    /// The proof, if the CPU has AVX2.
    pub(in crate::kernel) fn new() -> Option<Self> {
        V3::try_new().map(Self)
    }

    #[cfg(feature = "elementwise")]
    #[inline(always)]
    pub(super) fn token(self) -> V3 {
        self.0
    }

    /// The proof contained in that of a wider instruction set.
    #[cfg(feature = "avx512")]
    #[inline(always)]
    pub(super) fn of(token: V3) -> Self {
        Self(token)
    }
}

impl Vectorize for Avx2 {
    #[inline(always)]
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(
            enable = "sse,sse2,fxsr,sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt"
        )]
        fn compiled<K: Kernel>(isa: Avx2, kernel: K) -> K::Output {
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

impl Registers for Avx2 {
    type Full = Pair<X256>;
    type Native = X256;
    type Half = X256;
    type Lane = X128;

    const NON_TEMPORAL: bool = true;

    #[inline(always)]
    fn fence(self) {
        self.0.sse._mm_sfence();
    }
}

/// One lane.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct X128 {
    pub(super) isa: Avx2,
    pub(super) bits: __m128i,
}

/// Two lanes.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct X256 {
    pub(super) isa: Avx2,
    pub(super) bits: __m256i,
}

/// Reads one lane.
///
/// # Safety
///
/// M1 for `src[..16]`.
#[inline(always)]
pub(super) unsafe fn load_lane(src: *const u8) -> __m128i {
    // SAFETY: readable by M1; any bits are a register's, and the read asks for no alignment.
    unsafe { src.cast::<__m128i>().read_unaligned() }
}

/// Writes one lane.
///
/// # Safety
///
/// M2 for `dst[..16]`.
#[inline(always)]
pub(super) unsafe fn store_lane(bits: __m128i, dst: *mut u8) {
    // SAFETY: writable by M2, and the write asks for no alignment.
    unsafe { dst.cast::<__m128i>().write_unaligned(bits) }
}

impl Vector for X128 {
    type Token = Avx2;

    const LANES: usize = 1;

    #[inline(always)]
    fn splat(isa: Avx2, lane: [u8; LANE_BYTES]) -> Self {
        Self { isa, bits: cast(lane) }
    }

    #[inline(always)]
    unsafe fn load(isa: Avx2, src: *const u8) -> Self {
        // SAFETY: M1 holds for the 16 bytes at `src`: the register is one lane.
        Self { isa, bits: unsafe { load_lane(src) } }
    }

    #[inline(always)]
    unsafe fn load_lanes(isa: Avx2, src: *const u8, _step: isize) -> Self {
        // SAFETY: M1 holds for the 16 bytes at `src`: the register is one lane.
        unsafe { Self::load(isa, src) }
    }

    #[inline(always)]
    unsafe fn load_lanes_at(isa: Avx2, src: *const u8, offset: impl Fn(usize) -> isize) -> Self {
        // SAFETY: there is one lane, readable by M1.
        unsafe { Self::load(isa, src.wrapping_offset(offset(0))) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: M2 holds for the 16 bytes at `dst`: the register is one lane.
        unsafe { store_lane(self.bits, dst) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        if STREAMS_AS_PLAIN {
            // SAFETY: M2 holds for the register at `dst`.
            return unsafe { self.store(dst) };
        }
        // SAFETY: M2 holds for the register at `dst`, which is a multiple of 16.
        unsafe { self.isa.0.sse2._mm_stream_si128(dst.cast(), self.bits) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, _p: usize, dst: *mut u8) {
        // SAFETY: M2 holds for the 16 bytes at `dst`: the register is one lane.
        unsafe { self.store(dst) }
    }

    #[inline(always)]
    fn zip<L: Unit>(self, other: Self) -> [Self; 2] {
        let (isa, sse2, a, b) = (self.isa, self.isa.0.sse2, self.bits, other.bits);
        let halves = match L::WIDTH {
            1 => [sse2._mm_unpacklo_epi8(a, b), sse2._mm_unpackhi_epi8(a, b)],
            2 => [sse2._mm_unpacklo_epi16(a, b), sse2._mm_unpackhi_epi16(a, b)],
            4 => [sse2._mm_unpacklo_epi32(a, b), sse2._mm_unpackhi_epi32(a, b)],
            8 => [sse2._mm_unpacklo_epi64(a, b), sse2._mm_unpackhi_epi64(a, b)],
            _ => [a, b],
        };
        [Self { isa, bits: halves[0] }, Self { isa, bits: halves[1] }]
    }

    #[inline(always)]
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.ssse3._mm_shuffle_epi8(self.bits, cast(index)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.sse2._mm_or_si128(self.bits, other.bits) }
    }
}

impl Vector for X256 {
    type Token = Avx2;

    const LANES: usize = 2;

    #[inline(always)]
    fn splat(isa: Avx2, lane: [u8; LANE_BYTES]) -> Self {
        Self { isa, bits: isa.0.avx2._mm256_broadcastsi128_si256(cast(lane)) }
    }

    #[inline(always)]
    unsafe fn load(isa: Avx2, src: *const u8) -> Self {
        // SAFETY: readable by M1; any bits are a register's, and the read asks for no alignment.
        let bits = unsafe { src.cast::<__m256i>().read_unaligned() };
        Self { isa, bits }
    }

    #[inline(always)]
    unsafe fn load_lanes(isa: Avx2, src: *const u8, step: isize) -> Self {
        // SAFETY: M1 holds for the 16 bytes of lane 0.
        let low = unsafe { load_lane(src) };
        // SAFETY: M1 holds for the 16 bytes of lane 1.
        let high = unsafe { load_lane(src.wrapping_offset(step)) };
        let low = isa.0.avx._mm256_castsi128_si256(low);
        Self { isa, bits: isa.0.avx2._mm256_inserti128_si256::<1>(low, high) }
    }

    #[inline(always)]
    unsafe fn load_lanes_at(isa: Avx2, src: *const u8, offset: impl Fn(usize) -> isize) -> Self {
        // SAFETY: M1 holds for the 16 bytes of lane 0.
        let low = unsafe { load_lane(src.wrapping_offset(offset(0))) };
        // SAFETY: M1 holds for the 16 bytes of lane 1.
        let high = unsafe { load_lane(src.wrapping_offset(offset(1))) };
        let low = isa.0.avx._mm256_castsi128_si256(low);
        Self { isa, bits: isa.0.avx2._mm256_inserti128_si256::<1>(low, high) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: writable by M2, and the write asks for no alignment.
        unsafe { dst.cast::<__m256i>().write_unaligned(self.bits) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        if STREAMS_AS_PLAIN {
            // SAFETY: M2 holds for the register at `dst`.
            return unsafe { self.store(dst) };
        }
        // SAFETY: M2 holds for the register at `dst`, which is a multiple of 32.
        unsafe { self.isa.0.avx._mm256_stream_si256(dst.cast(), self.bits) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, p: usize, dst: *mut u8) {
        let lane = match p {
            0 => self.isa.0.avx._mm256_castsi256_si128(self.bits),
            _ => self.isa.0.avx2._mm256_extracti128_si256::<1>(self.bits),
        };
        // SAFETY: M2 holds for the 16 bytes at `dst`.
        unsafe { store_lane(lane, dst) }
    }

    #[inline(always)]
    fn zip<L: Unit>(self, other: Self) -> [Self; 2] {
        let (isa, avx2, a, b) = (self.isa, self.isa.0.avx2, self.bits, other.bits);
        let halves = match L::WIDTH {
            1 => [avx2._mm256_unpacklo_epi8(a, b), avx2._mm256_unpackhi_epi8(a, b)],
            2 => [avx2._mm256_unpacklo_epi16(a, b), avx2._mm256_unpackhi_epi16(a, b)],
            4 => [avx2._mm256_unpacklo_epi32(a, b), avx2._mm256_unpackhi_epi32(a, b)],
            8 => [avx2._mm256_unpacklo_epi64(a, b), avx2._mm256_unpackhi_epi64(a, b)],
            _ => [a, b],
        };
        [Self { isa, bits: halves[0] }, Self { isa, bits: halves[1] }]
    }

    #[inline(always)]
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self {
        let isa = self.isa;
        let index = Self::splat(isa, index).bits;
        Self { isa, bits: isa.0.avx2._mm256_shuffle_epi8(self.bits, index) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.avx2._mm256_or_si256(self.bits, other.bits) }
    }
}

impl FunnelShift for X256 {
    #[inline(always)]
    fn funnel_shift<L: Unit>(self, next: Self, back: usize) -> Self {
        match L::WIDTH {
            1 | 2 => self.join_bytes(next, back),
            _ => self.join_words(next, back / 4),
        }
    }
}

/// The last units of the first register, followed by the first ones of the second.
impl X256 {
    /// Each lane of the result is made of two neighbours among four lanes: the last bytes of the
    /// earlier one, and the first bytes of the later one.
    #[inline(always)]
    fn join_bytes(self, next: Self, back: usize) -> Self {
        let (isa, avx, avx2) = (self.isa, self.isa.0.avx, self.isa.0.avx2);
        let middle = avx2._mm256_permute2x128_si256::<0x21>(self.bits, next.bits);
        let is_late = avx._mm256_set1_epi8(if back < LANE_BYTES { -1 } else { 0 });
        let earlier = avx2._mm256_blendv_epi8(self.bits, middle, is_late);
        let later = avx2._mm256_blendv_epi8(middle, next.bits, is_late);
        let skipped = avx._mm256_set1_epi8((LANE_BYTES - back % LANE_BYTES) as i8);
        let numbers = Self::splat(isa, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let index = avx2._mm256_add_epi8(numbers.bits, skipped);
        // A shuffle writes 0 where the highest bit of an index is set: of the earlier lane from 16
        // on, of the later one below 16.
        let in_earlier = avx2._mm256_add_epi8(index, avx._mm256_set1_epi8(112));
        let in_later = avx2._mm256_sub_epi8(index, avx._mm256_set1_epi8(16));
        let earlier = avx2._mm256_shuffle_epi8(earlier, in_earlier);
        let later = avx2._mm256_shuffle_epi8(later, in_later);
        Self { isa, bits: avx2._mm256_or_si256(earlier, later) }
    }

    #[inline(always)]
    fn join_words(self, next: Self, back: usize) -> Self {
        let (isa, avx2) = (self.isa, self.isa.0.avx2);
        let words: __m256i = cast([0_i32, 1, 2, 3, 4, 5, 6, 7]);
        let back = isa.0.avx._mm256_set1_epi32(back as i32);
        // Only the low three bits of an index count, so negative ones wrap: both registers are
        // rotated alike.
        let turn = avx2._mm256_sub_epi32(words, back);
        let before = avx2._mm256_permutevar8x32_epi32(self.bits, turn);
        let after = avx2._mm256_permutevar8x32_epi32(next.bits, turn);
        let is_before = avx2._mm256_cmpgt_epi32(back, words);
        Self { isa, bits: avx2._mm256_blendv_epi8(after, before, is_before) }
    }
}

impl UnzipLanes for X256 {
    #[inline(always)]
    fn unzip_lanes(self, other: Self) -> [Self; 2] {
        let (isa, avx2, a, b) = (self.isa, self.isa.0.avx2, self.bits, other.bits);
        let even = avx2._mm256_permute2x128_si256::<0x20>(a, b);
        let odd = avx2._mm256_permute2x128_si256::<0x31>(a, b);
        [Self { isa, bits: even }, Self { isa, bits: odd }]
    }
}
