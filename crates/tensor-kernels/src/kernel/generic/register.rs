//! What the kernels require of a register.
//!
//! A register is one or more *lanes* of 128 bits. On x86 shuffles within a lane are cheap and
//! shuffles across lanes are expensive, and a NEON register is a single lane. So most kernels
//! shuffle no bytes across lanes: each lane is placed when it is loaded ([`Vector::load_lanes`]),
//! which costs a load and a blend on x86, not a shuffle, and a load on NEON. The same kernels then
//! fit registers of 128, 256 and 512 bits. What moves bytes across lanes is in
//! [`across_lanes`](super::across_lanes).

use super::{
    across_lanes::{FunnelShift, Pick, UnzipLanes},
    unroll::unrolled,
};
pub(in crate::kernel) use crate::memory::LANE_BYTES;
use crate::{
    kernel::{isa::Vectorize, unit::Unit},
    memory::{CACHE_LINE, Stores},
};

/// A SIMD register of [`Vector::LANES`] lanes, and with it the proof (M5) that the CPU has it.
///
/// Every method is `#[inline(always)]` and must run under [`Vectorize::vectorize`].
pub(in crate::kernel) trait Vector: Copy {
    /// The proof that the instructions exist.
    type Token: Copy;

    /// Lanes in a register.
    const LANES: usize;

    /// The registers that a tile may hold before it stores the first one: about half of those that
    /// the CPU has.
    const IN_A_TILE: usize = 1;

    /// The same lane in every position.
    fn splat(token: Self::Token, lane: [u8; LANE_BYTES]) -> Self;

    /// Reads a whole register.
    ///
    /// # Safety
    ///
    /// M1 for `src[..16 * LANES]`.
    unsafe fn load(token: Self::Token, src: *const u8) -> Self;

    /// Reads lane `p` from `src + p * step`, a step in bytes.
    ///
    /// # Safety
    ///
    /// M1 for the 16 bytes at each of these addresses.
    unsafe fn load_lanes(token: Self::Token, src: *const u8, step: isize) -> Self;

    /// Reads lane `p` from `src + offset(p)`, in bytes.
    ///
    /// # Safety
    ///
    /// M1 for the 16 bytes at each of these addresses.
    unsafe fn load_lanes_at(
        token: Self::Token,
        src: *const u8,
        offset: impl Fn(usize) -> isize,
    ) -> Self;

    /// Writes the whole register.
    ///
    /// # Safety
    ///
    /// M2 for `dst[..16 * LANES]`.
    unsafe fn store(self, dst: *mut u8);

    /// Writes the whole register past the cache, if the instruction set has [such
    /// stores](Registers::NON_TEMPORAL).
    ///
    /// # Safety
    ///
    /// M2 for `dst[..16 * LANES]`, and `dst` is a multiple of the register's bytes.
    unsafe fn stream(self, dst: *mut u8);

    /// Writes lane `p` to `dst + p * step`, a step in bytes, in ascending `p`.
    ///
    /// # Safety
    ///
    /// M2 for the 16 bytes at each of these addresses.
    #[inline(always)]
    unsafe fn store_lanes(self, dst: *mut u8, step: isize) {
        unrolled!(p in 0..Self::LANES, 4 => {
            // SAFETY: M2 holds for lane `p`.
            unsafe { self.store_lane(p, dst.wrapping_offset(p as isize * step)) }
        });
    }

    /// Writes lane `p` to `dst`.
    ///
    /// # Safety
    ///
    /// M2 for `dst[..16]`.
    unsafe fn store_lane(self, p: usize, dst: *mut u8);

    /// Per lane: interleaves the elements of both registers, `a0 b0 a1 b1 …`. Returns the first
    /// half of them, then the second.
    fn zip<L: Unit>(self, other: Self) -> [Self; 2];

    /// Per lane: byte `i` becomes byte `index[i]`, or 0 where `index[i]` is 128 or more.
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self;

    /// The bitwise or of both.
    fn or(self, other: Self) -> Self;

    /// Bytes of a register.
    const BYTES: usize = Self::LANES * LANE_BYTES;

    /// Reads a lane from each of `LANES * N` rows, `step` bytes apart, and transposes: element `j`
    /// of row `i` becomes element `i` of register `j`. Only the first `N` registers are used; `N`
    /// is [`Unit::PER_LANE`].
    ///
    /// # Safety
    ///
    /// M1 for the 16 bytes at the start of each row.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load_columns<L: Unit>(
        token: Self::Token,
        src: *const u8,
        step: isize,
    ) -> [Self; LANE_BYTES] {
        let mut rows = [Self::splat(token, [0; LANE_BYTES]); LANE_BYTES];
        unrolled!(r in 0..L::PER_LANE, 16 => {
            let row = src.wrapping_offset(r as isize * step);
            // SAFETY: M1 holds: lane `p` is the start of row `p * N + r`, one of the `LANES * N`
            // rows.
            rows[r] = unsafe { Self::load_lanes(token, row, L::PER_LANE as isize * step) };
        });
        transpose_lanes::<Self, L>(rows)
    }

    /// [`load_columns`](Self::load_columns) of rows that lie at the second offset of each entry of
    /// a table, which has `LANES * N` entries.
    ///
    /// # Safety
    ///
    /// M1 for the 16 bytes at the start of each row.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load_columns_at<L: Unit>(
        token: Self::Token,
        src: *const u8,
        table: &[[isize; 2]],
    ) -> [Self; LANE_BYTES] {
        let table = &table[..Self::LANES * L::PER_LANE];
        let mut rows = [Self::splat(token, [0; LANE_BYTES]); LANE_BYTES];
        unrolled!(r in 0..L::PER_LANE, 16 => {
            let offset = |p: usize| table[p * L::PER_LANE + r][1];
            // SAFETY: M1 holds for the start of each row of the table.
            rows[r] = unsafe { Self::load_lanes_at(token, src, offset) };
        });
        transpose_lanes::<Self, L>(rows)
    }

    /// [`Vector::store`] or [`Vector::stream`].
    ///
    /// # Safety
    ///
    /// Those of the method chosen.
    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, stores: Stores) {
        match stores {
            // SAFETY: M2 holds for a register at `dst`, by this function's contract.
            Stores::Plain | Stores::Narrow => unsafe { self.store(dst) },
            // SAFETY: M2 holds for a register at `dst`, which is aligned to it, by this function's
            // contract.
            Stores::NonTemporal => unsafe { self.stream(dst) },
        }
    }
}

/// Arithmetic on registers of floats, which have the width of `L`: f32 or f64. Each result is that
/// of the same operation on elements.
#[cfg(feature = "elementwise")]
pub(in crate::kernel) trait Arithmetic: Vector {
    /// Ones.
    #[inline(always)]
    fn one<L: Unit>(token: Self::Token) -> Self {
        let lane = match L::WIDTH {
            4 => bytemuck::cast([1.0_f32; 4]),
            _ => bytemuck::cast([1.0_f64; 2]),
        };
        Self::splat(token, lane)
    }

    fn add<L: Unit>(self, other: Self) -> Self;

    fn sub<L: Unit>(self, other: Self) -> Self;

    fn mul<L: Unit>(self, other: Self) -> Self;

    fn div<L: Unit>(self, other: Self) -> Self;

    /// `self · factor + summand`, rounded once.
    fn mul_add<L: Unit>(self, factor: Self, summand: Self) -> Self;

    fn sqrt<L: Unit>(self) -> Self;

    /// 0 where an element is negative; else the element, also −0 and NaN.
    fn relu<L: Unit>(self) -> Self;

    fn neg<L: Unit>(self) -> Self;

    fn abs<L: Unit>(self) -> Self;
}

#[cfg(feature = "elementwise")]
pub(in crate::kernel) use Arithmetic as Computes;

/// Any register, where no operation is computed.
#[cfg(not(feature = "elementwise"))]
pub(in crate::kernel) trait Computes: Vector {}

#[cfg(not(feature = "elementwise"))]
impl<V: Vector> Computes for V {}

/// An instruction set with registers. [`Isa`](crate::kernel::Isa), with every kernel, is
/// implemented for each.
pub(in crate::kernel) trait Registers: Vectorize + Send + Sync {
    /// The widest register.
    type Full: FunnelShift<Token: From<Self>> + Pick + Computes;
    /// The widest register that is one to the CPU: `Full` or a half of it.
    type Native: UnzipLanes<Token: From<Self>> + Computes;
    /// The next narrower register, for blocks too small for the widest.
    type Half: Computes<Token: From<Self>>;
    /// A register of one lane, for blocks too small for either.
    type Lane: Computes<Token: From<Self>>;

    /// True if [`Vector::stream`] writes past the cache. Where it is a plain store, kernels are not
    /// compiled a second time for it, and a streamed copy of adjacent bytes is a plain one.
    const NON_TEMPORAL: bool;

    /// Makes non-temporal stores visible before any store that follows.
    fn fence(self);
}

/// Bytes of the widest register of every instruction set: a cache line.
pub(in crate::kernel) const REGISTER_BYTES: usize = CACHE_LINE;

/// Transposes the `N` by `N` elements in every lane of the first `N` registers, by `log2 N` rounds
/// of perfect shuffles.
///
/// Why it works: write the position of an element as the bits of its register's number, followed by
/// the bits of its index in the lane. Zipping register `i` with register `i + N / 2` into registers
/// `2 * i` and `2 * i + 1` rotates these bits by one. So `log2 N` rounds swap the two halves: row
/// and column.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
pub(super) fn transpose_lanes<V: Vector, L: Unit>(mut rows: [V; LANE_BYTES]) -> [V; LANE_BYTES] {
    unrolled!(_round in 0..L::PER_LANE.trailing_zeros(), 4 => {
        let mut zipped = rows;
        unrolled!(i in 0..L::PER_LANE / 2, 8 => {
            let pair = rows[i].zip::<L>(rows[i + L::PER_LANE / 2]);
            [zipped[2 * i], zipped[2 * i + 1]] = pair;
        });
        rows = zipped;
    });
    rows
}

/// Two registers that act as one of twice the width, so that every instruction set writes whole
/// cache lines at once. A line that is written in two halves at different times takes twice as
/// long, and forty times as long with non-temporal stores.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Pair<V>(V, V);

impl<V: Vector> Vector for Pair<V> {
    type Token = V::Token;

    const LANES: usize = 2 * V::LANES;

    #[inline(always)]
    fn splat(token: V::Token, lane: [u8; LANE_BYTES]) -> Self {
        Self(V::splat(token, lane), V::splat(token, lane))
    }

    #[inline(always)]
    unsafe fn load(token: V::Token, src: *const u8) -> Self {
        // SAFETY: M1 holds for `src[..16 * LANES]`: the first half.
        let low = unsafe { V::load(token, src) };
        // SAFETY: M1 holds for `src[..16 * LANES]`: the second half.
        let high = unsafe { V::load(token, src.wrapping_add(V::BYTES)) };
        Self(low, high)
    }

    #[inline(always)]
    unsafe fn load_lanes(token: V::Token, src: *const u8, step: isize) -> Self {
        let half = V::LANES as isize * step;
        // SAFETY: M1 holds for all lanes: the first half of them.
        let low = unsafe { V::load_lanes(token, src, step) };
        // SAFETY: M1 holds for all lanes: the second half of them.
        let high = unsafe { V::load_lanes(token, src.wrapping_offset(half), step) };
        Self(low, high)
    }

    #[inline(always)]
    unsafe fn load_lanes_at(
        token: V::Token,
        src: *const u8,
        offset: impl Fn(usize) -> isize,
    ) -> Self {
        // SAFETY: M1 holds for all lanes: the first half of them.
        let low = unsafe { V::load_lanes_at(token, src, &offset) };
        // SAFETY: M1 holds for all lanes: the second half of them.
        let high = unsafe { V::load_lanes_at(token, src, |p| offset(p + V::LANES)) };
        Self(low, high)
    }

    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load_columns_at<L: Unit>(
        token: V::Token,
        src: *const u8,
        table: &[[isize; 2]],
    ) -> [Self; LANE_BYTES] {
        let (low, high) = table.split_at(V::LANES * L::PER_LANE);
        // SAFETY: M1 holds for all rows: the first half of them.
        let low = unsafe { V::load_columns_at::<L>(token, src, low) };
        // SAFETY: M1 holds for all rows: the second half of them.
        let high = unsafe { V::load_columns_at::<L>(token, src, high) };
        let mut both = [Self(low[0], high[0]); LANE_BYTES];
        unrolled!(i in 0..L::PER_LANE, 16 => both[i] = Self(low[i], high[i]));
        both
    }

    /// One half after the other: both at once would need more registers than there are.
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn load_columns<L: Unit>(
        token: V::Token,
        src: *const u8,
        step: isize,
    ) -> [Self; LANE_BYTES] {
        let half = (V::LANES * L::PER_LANE) as isize * step;
        // SAFETY: M1 holds for all rows: the first half of them.
        let low = unsafe { V::load_columns::<L>(token, src, step) };
        // SAFETY: M1 holds for all rows: the second half of them.
        let high = unsafe { V::load_columns::<L>(token, src.wrapping_offset(half), step) };
        let mut both = [Self(low[0], high[0]); LANE_BYTES];
        unrolled!(i in 0..L::PER_LANE, 16 => both[i] = Self(low[i], high[i]));
        both
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: M2 holds for `dst[..16 * LANES]`: the first half.
        unsafe { self.0.store(dst) }
        // SAFETY: M2 holds for `dst[..16 * LANES]`: the second half.
        unsafe { self.1.store(dst.wrapping_add(V::BYTES)) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: M2 holds for the first half; `dst` is a multiple of both halves' bytes.
        unsafe { self.0.stream(dst) }
        // SAFETY: M2 holds for the second half; `dst` is a multiple of both halves' bytes.
        unsafe { self.1.stream(dst.wrapping_add(V::BYTES)) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, p: usize, dst: *mut u8) {
        if p < V::LANES {
            // SAFETY: M2 holds for a lane at `dst`.
            unsafe { self.0.store_lane(p, dst) }
        } else {
            // SAFETY: M2 holds for a lane at `dst`.
            unsafe { self.1.store_lane(p - V::LANES, dst) }
        }
    }

    #[inline(always)]
    fn zip<L: Unit>(self, other: Self) -> [Self; 2] {
        let [low, low_rest] = self.0.zip::<L>(other.0);
        let [high, high_rest] = self.1.zip::<L>(other.1);
        [Self(low, high), Self(low_rest, high_rest)]
    }

    #[inline(always)]
    fn shuffle(self, index: [u8; LANE_BYTES]) -> Self {
        Self(self.0.shuffle(index), self.1.shuffle(index))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1))
    }
}

impl<V: FunnelShift> FunnelShift for Pair<V> {
    #[inline(always)]
    fn funnel_shift<L: Unit>(self, next: Self, back: usize) -> Self {
        let (a, b, c, back) = if back < V::BYTES {
            (self.1, next.0, next.1, back)
        } else {
            (self.0, self.1, next.0, back - V::BYTES)
        };
        Self(a.funnel_shift::<L>(b, back), b.funnel_shift::<L>(c, back))
    }
}

impl<V: Vector> Pick for Pair<V> {}

#[cfg(feature = "elementwise")]
impl<V: Arithmetic> Arithmetic for Pair<V> {
    #[inline(always)]
    fn add<L: Unit>(self, other: Self) -> Self {
        Self(self.0.add::<L>(other.0), self.1.add::<L>(other.1))
    }

    #[inline(always)]
    fn sub<L: Unit>(self, other: Self) -> Self {
        Self(self.0.sub::<L>(other.0), self.1.sub::<L>(other.1))
    }

    #[inline(always)]
    fn mul<L: Unit>(self, other: Self) -> Self {
        Self(self.0.mul::<L>(other.0), self.1.mul::<L>(other.1))
    }

    #[inline(always)]
    fn div<L: Unit>(self, other: Self) -> Self {
        Self(self.0.div::<L>(other.0), self.1.div::<L>(other.1))
    }

    #[inline(always)]
    fn mul_add<L: Unit>(self, factor: Self, summand: Self) -> Self {
        let low = self.0.mul_add::<L>(factor.0, summand.0);
        Self(low, self.1.mul_add::<L>(factor.1, summand.1))
    }

    #[inline(always)]
    fn sqrt<L: Unit>(self) -> Self {
        Self(self.0.sqrt::<L>(), self.1.sqrt::<L>())
    }

    #[inline(always)]
    fn relu<L: Unit>(self) -> Self {
        Self(self.0.relu::<L>(), self.1.relu::<L>())
    }

    #[inline(always)]
    fn neg<L: Unit>(self) -> Self {
        Self(self.0.neg::<L>(), self.1.neg::<L>())
    }

    #[inline(always)]
    fn abs<L: Unit>(self) -> Self {
        Self(self.0.abs::<L>(), self.1.abs::<L>())
    }
}
