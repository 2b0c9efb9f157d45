//! AVX-512: a register of four 128-bit lanes. The narrower ones are those of AVX2.

use std::arch::x86_64::{__m512i, _mm512_stream_si512};

use pulp::x86::V4;
use pulp::{NullaryFnOnce, cast};

use super::{
    STREAMS_AS_PLAIN,
    avx2::{Avx2, X128, X256, load_lane, store_lane},
};
use crate::kernel::{
    generic::{
        across_lanes::{FunnelShift, Pick, UnzipLanes},
        register::{LANE_BYTES, REGISTER_BYTES, Registers, Vector},
    },
    isa::{Kernel, Vectorize},
    unit::Unit,
};

/// The proof (M5) that the CPU has AVX-512 F, BW, CD, DQ and VL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(V4);

impl Avx512 {
    /// The proof, if the CPU has them.
    pub(in crate::kernel) fn new() -> Option<Self> {
        V4::try_new().map(Self)
    }

    #[cfg(feature = "elementwise")]
    #[inline(always)]
    pub(super) fn token(self) -> V4 {
        self.0
    }
}

impl From<Avx512> for Avx2 {
    #[inline(always)]
    fn from(wide: Avx512) -> Self {
        Self::of(*wide.0)
    }
}

impl Vectorize for Avx512 {
    #[inline(always)]
    fn run_kernel<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(
            enable = "sse,sse2,fxsr,sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt"
        )]
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        fn compiled<K: Kernel>(isa: Avx512, kernel: K) -> K::Output {
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

impl Registers for Avx512 {
    type Full = X512;
    type Native = X512;
    type Half = X256;
    type Lane = X128;

    const NON_TEMPORAL: bool = true;

    #[inline(always)]
    fn fence(self) {
        self.0.sse._mm_sfence();
    }
}

/// Four lanes.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct X512 {
    pub(super) isa: Avx512,
    pub(super) bits: __m512i,
}

impl Vector for X512 {
    type Token = Avx512;

    const LANES: usize = 4;

    const IN_A_TILE: usize = 16;

    #[inline(always)]
    fn splat(isa: Avx512, lane: [u8; LANE_BYTES]) -> Self {
        Self { isa, bits: isa.0.avx512f._mm512_broadcast_i32x4(cast(lane)) }
    }

    #[inline(always)]
    unsafe fn load(isa: Avx512, src: *const u8) -> Self {
        // SAFETY: readable by M1; any bits are a register's, and the read asks for no alignment.
        let bits = unsafe { src.cast::<__m512i>().read_unaligned() };
        Self { isa, bits }
    }

    #[inline(always)]
    unsafe fn load_lanes(isa: Avx512, src: *const u8, step: isize) -> Self {
        let f = isa.0.avx512f;
        // SAFETY: M1 holds for the 16 bytes of lane 0.
        let bits = f._mm512_castsi128_si512(unsafe { load_lane(src) });
        // SAFETY: M1 holds for the 16 bytes of lane 1.
        let bits = f._mm512_inserti32x4::<1>(bits, unsafe { load_lane(src.wrapping_offset(step)) });
        // SAFETY: M1 holds for the 16 bytes of lane 2.
        let bits =
            f._mm512_inserti32x4::<2>(bits, unsafe { load_lane(src.wrapping_offset(2 * step)) });
        // SAFETY: M1 holds for the 16 bytes of lane 3.
        let bits =
            f._mm512_inserti32x4::<3>(bits, unsafe { load_lane(src.wrapping_offset(3 * step)) });
        Self { isa, bits }
    }

    #[inline(always)]
    unsafe fn load_lanes_at(isa: Avx512, src: *const u8, offset: impl Fn(usize) -> isize) -> Self {
        let f = isa.0.avx512f;
        let at = |p: usize| src.wrapping_offset(offset(p));
        // SAFETY: M1 holds for the 16 bytes of lane 0.
        let bits = f._mm512_castsi128_si512(unsafe { load_lane(at(0)) });
        // SAFETY: M1 holds for the 16 bytes of lane 1.
        let bits = f._mm512_inserti32x4::<1>(bits, unsafe { load_lane(at(1)) });
        // SAFETY: M1 holds for the 16 bytes of lane 2.
        let bits = f._mm512_inserti32x4::<2>(bits, unsafe { load_lane(at(2)) });
        // SAFETY: M1 holds for the 16 bytes of lane 3.
        let bits = f._mm512_inserti32x4::<3>(bits, unsafe { load_lane(at(3)) });
        Self { isa, bits }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: writable by M2, and the write asks for no alignment.
        unsafe { dst.cast::<__m512i>().write_unaligned(self.bits) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        if STREAMS_AS_PLAIN {
            // SAFETY: M2 holds for the register at `dst`.
            return unsafe { self.store(dst) };
        }
        // SAFETY: the CPU has AVX-512 F by M5; M2 holds for the register at `dst`, a multiple of
        // 64.
        unsafe { _mm512_stream_si512(dst.cast(), self.bits) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, p: usize, dst: *mut u8) {
        let f = self.isa.0.avx512f;
        let lane = match p {
            0 => f._mm512_castsi512_si128(self.bits),
            1 => f._mm512_extracti32x4_epi32::<1>(self.bits),
            2 => f._mm512_extracti32x4_epi32::<2>(self.bits),
            _ => f._mm512_extracti32x4_epi32::<3>(self.bits),
        };
        // SAFETY: M2 holds for the 16 bytes at `dst`.
        unsafe { store_lane(lane, dst) }
    }

    #[inline(always)]
    fn zip<L: Unit>(self, other: Self) -> [Self; 2] {
        let (isa, f, bw) = (self.isa, self.isa.0.avx512f, self.isa.0.avx512bw);
        let (a, b) = (self.bits, other.bits);
        let halves = match L::WIDTH {
            1 => [bw._mm512_unpacklo_epi8(a, b), bw._mm512_unpackhi_epi8(a, b)],
            2 => [bw._mm512_unpacklo_epi16(a, b), bw._mm512_unpackhi_epi16(a, b)],
            4 => [f._mm512_unpacklo_epi32(a, b), f._mm512_unpackhi_epi32(a, b)],
            8 => [f._mm512_unpacklo_epi64(a, b), f._mm512_unpackhi_epi64(a, b)],
            _ => [a, b],
        };
        [Self { isa, bits: halves[0] }, Self { isa, bits: halves[1] }]
    }

    #[inline(always)]
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self {
        let isa = self.isa;
        let index = Self::splat(isa, index).bits;
        Self { isa, bits: isa.0.avx512bw._mm512_shuffle_epi8(self.bits, index) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.avx512f._mm512_or_si512(self.bits, other.bits) }
    }
}

impl Pick for X512 {
    const PICKS: bool = true;

    #[inline(always)]
    fn pick<L: Unit>(isa: Avx512, [a, b]: [Self; 2], index: [u8; REGISTER_BYTES]) -> Self {
        let (f, bw, index) = (isa.0.avx512f, isa.0.avx512bw, cast(index));
        let bits = match L::WIDTH {
            2 => bw._mm512_permutex2var_epi16(a.bits, index, b.bits),
            4 => f._mm512_permutex2var_epi32(a.bits, index, b.bits),
            8 => f._mm512_permutex2var_epi64(a.bits, index, b.bits),
            width => unreachable!("elements of {width} bytes are not picked"),
        };
        Self { isa, bits }
    }

    #[inline(always)]
    fn shuffle_within_lanes(self, index: [u8; REGISTER_BYTES]) -> Self {
        let isa = self.isa;
        Self { isa, bits: isa.0.avx512bw._mm512_shuffle_epi8(self.bits, cast(index)) }
    }
}

impl FunnelShift for X512 {
    #[inline(always)]
    fn funnel_shift<L: Unit>(self, next: Self, back: usize) -> Self {
        let skipped = REGISTER_BYTES - back;
        match L::WIDTH {
            // A row of the result always takes the same branch, so it is predicted well.
            1 if !skipped.is_multiple_of(4) => self.skip_bytes(next, skipped),
            2 => self.skip_halves(next, skipped / 2),
            _ => self.skip_words(next, skipped / 4),
        }
    }
}

/// Two registers without their first units: as many of the rest as one register has.
impl X512 {
    /// Nothing in AVX-512 BW moves bytes across lanes: each word is made of two neighbours. Indices
    /// are read from a table, which makes transposes of bytes a tenth faster than computing them
    /// (Zen 4), but those of wide units, which need one index, a tenth slower.
    #[inline(always)]
    fn skip_bytes(self, next: Self, bytes: usize) -> Self {
        static NUMBERS: [i32; 48] = {
            let mut numbers = [0; 48];
            let mut i = 0;
            while i < numbers.len() {
                numbers[i] = i as i32;
                i += 1;
            }
            numbers
        };
        let (isa, f, bits) = (self.isa, self.isa.0.avx512f, 8 * (bytes % 4) as i32);
        let [low, high] = [bytes / 4, bytes / 4 + 1].map(|words| {
            // An index of 32 wraps: such a word is shifted out.
            let index: [i32; 16] = std::array::from_fn(|i| NUMBERS[words % 32 + i]);
            f._mm512_permutex2var_epi32(self.bits, cast(index), next.bits)
        });
        let low = f._mm512_srlv_epi32(low, f._mm512_set1_epi32(bits));
        // By 32 bits all are shifted out.
        let high = f._mm512_sllv_epi32(high, f._mm512_set1_epi32(32 - bits));
        Self { isa, bits: f._mm512_or_si512(low, high) }
    }

    #[inline(always)]
    fn skip_halves(self, next: Self, halves: usize) -> Self {
        let (isa, f, bw) = (self.isa, self.isa.0.avx512f, self.isa.0.avx512bw);
        let numbers: [i16; 32] = std::array::from_fn(|i| i as i16);
        let first = f._mm512_set1_epi32((halves | halves << 16) as i32);
        let index = bw._mm512_add_epi16(cast(numbers), first);
        Self { isa, bits: bw._mm512_permutex2var_epi16(self.bits, index, next.bits) }
    }

    #[inline(always)]
    fn skip_words(self, next: Self, words: usize) -> Self {
        let (isa, f) = (self.isa, self.isa.0.avx512f);
        let numbers: __m512i = cast([0_i32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let index = f._mm512_add_epi32(numbers, f._mm512_set1_epi32(words as i32));
        Self { isa, bits: f._mm512_permutex2var_epi32(self.bits, index, next.bits) }
    }
}

impl UnzipLanes for X512 {
    #[inline(always)]
    fn unzip_lanes(self, other: Self) -> [Self; 2] {
        let (isa, f, a, b) = (self.isa, self.isa.0.avx512f, self.bits, other.bits);
        let even = f._mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
        let odd = f._mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
        [Self { isa, bits: even }, Self { isa, bits: odd }]
    }
}
