//! Transposes with source rows shorter than a lane: a strided gather, or pixels that are separated
//! into channel planes.
//!
//! - **Windows.** Rows at most 4 elements apart are read whole, gaps included; of descending rows
//!   only those of one element, and those without gaps, as in a mirrored image. A window is as many
//!   lanes as the row stride has elements. Each lane of the result combines one shuffle of each
//!   lane of its window.
//! - **A lane per row.** Rows further apart are read one lane each, past the row's end, and
//!   transposed like a tile; the surplus columns are dropped.
//!
//! Both read past the end of a row, in the direction in which rows advance. Only the last rows
//! could reach beyond the source block (M1), so these are copied element by element. Single
//! elements with gaps are [picked](super::pick) out of whole registers where there is an
//! instruction for that. Elsewhere those more than 4 apart are copied one by one: from the
//! second-level cache, reading a lane for each was not faster. Gather instructions are not faster
//! either, and many times slower on CPUs that mitigate speculative gathers.

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

use super::{
    copy, pick,
    register::{LANE_BYTES, Registers, Vector},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::TransposeBlock, unit::Unit},
    memory::Stores,
    nest::Loop,
};

/// Transposes a block whose source rows are shorter than a lane.
///
/// # Safety
///
/// M1, M2, M3 for the block, and M4 if the stores are non-temporal.
#[inline(always)]
pub(super) unsafe fn short_source_rows<R: Registers, L: Unit, const NON_TEMPORAL: bool>(
    isa: R,
    block: TransposeBlock,
) {
    let stores = if NON_TEMPORAL { Stores::NonTemporal } else { Stores::Plain };
    match (block.src_step / L::WIDTH as isize, block.nv) {
        // SAFETY: M1 to M3 hold for the block, which is one run of adjacent elements; M4 if
        // streamed.
        (1, 1) => unsafe { copy::copy(isa, block.src, block.dst, block.nu * L::WIDTH, stores) },
        // SAFETY: M1 to M3 hold for the block; its rows are 2 elements apart.
        (2, ..=2) => unsafe { windows::<R, L, 2, false, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows are 3 elements apart.
        (3, ..=3) => unsafe { windows::<R, L, 3, false, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows are 4 elements apart.
        (4, ..=4) => unsafe { windows::<R, L, 4, false, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows descend by 1, one element each.
        (-1, 1) => unsafe { windows::<R, L, 1, true, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows descend by 2, of one element or all of them.
        (-2, 1 | 2) => unsafe { windows::<R, L, 2, true, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows descend by 3, of one element or all of them.
        (-3, 1 | 3) => unsafe { windows::<R, L, 3, true, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 for the block; its rows descend by 4, of one element or all of them.
        (-4, 1 | 4) => unsafe { windows::<R, L, 4, true, NON_TEMPORAL>(isa, block) },
        // SAFETY: M1 to M3 hold for the block; its rows have one element each.
        (_, 1) => unsafe { portable::gather::<L>(block.src, block.src_step, block.dst, block.nu) },
        // SAFETY: M1 to M3 hold for the block; rows may lie anywhere.
        _ if LanePerRow::<L>::IS_SHORT => unsafe {
            groups::<R, L, LanePerRow<L>>(isa, block, stores);
        },
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        _ => unsafe { portable::transpose::<L>(block) },
    }
}

/// Transposes the rows of one register of a block whose source rows are shorter than a lane, and
/// have several elements.
///
/// # Safety
///
/// M1 for the block, and for the rows of one more register behind it; the contract of `sink` for a
/// register of each destination row.
#[inline(always)]
pub(super) unsafe fn register_of_short_rows<V: Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    sink: impl Sink<V>,
) {
    match (block.src_step / L::WIDTH as isize, block.nv) {
        // SAFETY: this function's contract; rows are 2 elements apart.
        (2, ..=2) => unsafe { Window::<L, 2, false>::transpose(token, block, sink) },
        // SAFETY: this function's contract; rows are 3 elements apart.
        (3, ..=3) => unsafe { Window::<L, 3, false>::transpose(token, block, sink) },
        // SAFETY: this function's contract; rows are 4 elements apart.
        (4, ..=4) => unsafe { Window::<L, 4, false>::transpose(token, block, sink) },
        // SAFETY: this function's contract; rows may lie anywhere.
        _ => unsafe { LanePerRow::<L>::transpose(token, block, sink) },
    }
}

/// Gathers in each iteration of a loop.
///
/// Invariant: only [`rows`] makes it; M1 to M3 hold for the elements of all rows, and `first` has
/// source rows of one element.
struct GatherRows<R, L> {
    isa: R,
    /// The first row.
    first: TransposeBlock,
    /// The rows, with strides in bytes.
    rows: Loop<2>,
    unit: PhantomData<L>,
}

/// Gathers rows of elements that lie the same step apart, the first of which is `first`. The method
/// is chosen once for all rows; `rows` has the strides between them in elements.
///
/// # Safety
///
/// M1, M2, M3 for the elements of all rows, and `first` has source rows of one element.
#[inline(always)]
pub(super) unsafe fn rows<R: Registers, L: Unit>(isa: R, first: TransposeBlock, rows: Loop<2>) {
    let strides = rows.strides.map(|stride| stride * L::WIDTH as isize);
    let unit = PhantomData::<L>;
    isa.vectorize(GatherRows { isa, first, rows: Loop { strides, ..rows }, unit });
}

impl<R: Registers, L: Unit> NullaryFnOnce for GatherRows<R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.first.src_step / L::WIDTH as isize {
            2 => self.by_windows::<2, false>(),
            3 => self.by_windows::<3, false>(),
            4 => self.by_windows::<4, false>(),
            5 => self.by_picks::<5, false>(),
            6 => self.by_picks::<6, false>(),
            7 => self.by_picks::<7, false>(),
            8 => self.by_picks::<8, false>(),
            -1 => self.by_windows::<1, true>(),
            -2 => self.by_windows::<2, true>(),
            -3 => self.by_windows::<3, true>(),
            -4 => self.by_windows::<4, true>(),
            -5 => self.by_picks::<5, true>(),
            -6 => self.by_picks::<6, true>(),
            -7 => self.by_picks::<7, true>(),
            -8 => self.by_picks::<8, true>(),
            _ => self.one_by_one(),
        }
    }
}

impl<R: Registers, L: Unit> GatherRows<R, L> {
    #[inline(always)]
    fn by_windows<const STRIDE: usize, const DESCENDING: bool>(self) {
        if STRIDE > 1 && pick::picks::<R, L>(STRIDE) {
            return self.by_picks::<STRIDE, DESCENDING>();
        }
        if !Window::<L, STRIDE, DESCENDING>::FASTER {
            return self.one_by_one();
        }
        for row in 0..self.rows.len {
            // SAFETY: the invariant: M1 to M3 hold for a row, whose step is that of the window.
            unsafe {
                groups::<R, L, Window<L, STRIDE, DESCENDING>>(
                    self.isa,
                    self.row(row),
                    Stores::Plain,
                );
            };
        }
    }

    /// What does not fill a register is copied element by element.
    #[inline(always)]
    fn by_picks<const STEP: usize, const DESCENDING: bool>(self) {
        if !pick::picks::<R, L>(STEP) {
            return self.one_by_one();
        }
        for row in 0..self.rows.len {
            let row = self.row(row);
            // SAFETY: the invariant: M1 to M3 hold for a row, whose step is `STEP`.
            let picked = unsafe { pick::picked::<R, L, STEP, DESCENDING>(self.isa, row) };
            let rest = row.rows_from::<L>(picked);
            // SAFETY: the invariant: M1 to M3 hold for the rest of a row.
            unsafe { portable::gather::<L>(rest.src, rest.src_step, rest.dst, rest.nu) };
        }
    }

    #[inline(always)]
    fn one_by_one(self) {
        for row in 0..self.rows.len {
            let row = self.row(row);
            // SAFETY: the invariant: M1 to M3 hold for a row.
            unsafe { portable::gather::<L>(row.src, row.src_step, row.dst, row.nu) };
        }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> TransposeBlock {
        let [to, from] = self.rows.strides.map(|stride| stride * row as isize);
        TransposeBlock {
            dst: self.first.dst.wrapping_offset(to),
            src: self.first.src.wrapping_offset(from),
            ..self.first
        }
    }
}

/// By windows, or element by element where that is as fast ([`Window::FASTER`]). Non-temporal
/// stores need whole registers: these are read a lane per row instead.
///
/// # Safety
///
/// That of [`short_source_rows`], and the block's row stride is that of the window.
#[inline(always)]
unsafe fn windows<
    R: Registers,
    L: Unit,
    const STRIDE: usize,
    const DESCENDING: bool,
    const NON_TEMPORAL: bool,
>(
    isa: R,
    block: TransposeBlock,
) {
    let stores = if NON_TEMPORAL { Stores::NonTemporal } else { Stores::Plain };
    if Window::<L, STRIDE, DESCENDING>::FASTER {
        // SAFETY: this function's contract is that of `groups` for this window.
        unsafe { groups::<R, L, Window<L, STRIDE, DESCENDING>>(isa, block, stores) };
    } else if NON_TEMPORAL {
        // SAFETY: this function's contract is that of `groups`; rows may lie anywhere.
        unsafe { groups::<R, L, LanePerRow<L>>(isa, block, stores) };
    } else {
        // SAFETY: M1 to M3 hold for the block. Its rows have one element: two such elements fill a
        // lane.
        unsafe { portable::gather::<L>(block.src, block.src_step, block.dst, block.nu) };
    }
}

/// A method that transposes as many short rows at a time as a register has elements.
trait RowGroup {
    /// The number of rows at the end of a block that the method cannot handle, because it would
    /// read beyond the source block.
    fn overread_rows(block: TransposeBlock) -> usize;

    /// Transposes the first `V::LANES * L::PER_LANE` rows of the block.
    ///
    /// # Safety
    ///
    /// M1 for the rows of the block, of which `overread_rows` more follow; those of `sink` for a
    /// register of each destination row.
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, sink: impl Sink<V>);
}

/// Where the registers of destination rows go.
pub(super) trait Sink<V>: Copy {
    /// # Safety
    ///
    /// M2 and M3 for a register at the start of destination row `row` of the block.
    unsafe fn put(self, register: V, block: TransposeBlock, row: usize);
}

impl<V: Vector> Sink<V> for Stores {
    /// M4, too, if these stores are non-temporal.
    #[inline(always)]
    unsafe fn put(self, register: V, block: TransposeBlock, row: usize) {
        // SAFETY: this function's contract.
        unsafe { register.put(block.dst_row(row), self) }
    }
}

/// Whole registers of rows first, then single lanes, the last of which overlaps, then elements.
///
/// # Safety
///
/// That of [`short_source_rows`], and the block's row stride is one that `K` handles.
#[inline(always)]
unsafe fn groups<R: Registers, L: Unit, K: RowGroup>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
) {
    let rows = block.nu.saturating_sub(K::overread_rows(block));
    let tile_rows = R::Full::LANES * L::PER_LANE;
    let mut u = 0;
    while u + tile_rows <= rows {
        // SAFETY: rows `u..u + tile_rows` exist, and `overread_rows` more follow.
        unsafe { K::transpose::<R::Full>(isa.into(), block.rows_from::<L>(u), stores) }
        u += tile_rows;
    }
    while u < rows && L::PER_LANE <= rows {
        u = u.min(rows - L::PER_LANE);
        // SAFETY: `PER_LANE` rows from `u` on exist, and `overread_rows` more follow.
        unsafe { K::transpose::<R::Lane>(isa.into(), block.rows_from::<L>(u), Stores::Plain) }
        u += L::PER_LANE;
    }
    // SAFETY: M1 to M3 hold for the remaining rows.
    unsafe { portable::transpose_few::<L>(block.rows_from::<L>(u)) }
}

/// Rows `STRIDE` elements apart, read as windows of `STRIDE` lanes. Ascending rows have up to
/// `STRIDE` elements; descending ones have `STRIDE`, or one.
struct Window<L, const STRIDE: usize, const DESCENDING: bool>(PhantomData<L>);

impl<L: Unit, const STRIDE: usize, const DESCENDING: bool> Window<L, STRIDE, DESCENDING> {
    /// Is a window faster than a load and a store per element, where the stores are plain? Not for
    /// 16-byte elements. For 8-byte elements in reversed runs and every second: every third of 75
    /// takes 0.38 ns an element by windows, 0.27 ns one by one (Zen 5, AVX-512). What is not
    /// faster is not compiled.
    const FASTER: bool = match L::WIDTH {
        16 => false,
        8 => matches!((STRIDE, DESCENDING), (1, true) | (2, false)),
        _ => true,
    };

    /// Elements from the start of a window to the first row in it.
    const FIRST: usize = if DESCENDING { (L::PER_LANE - 1) * STRIDE } else { 0 };

    /// At `[c][k]`: the shuffle of lane `k` of a window for column `c`.
    const TABLE: [[[u8; LANE_BYTES]; STRIDE]; STRIDE] = {
        let step = if DESCENDING { -(STRIDE as isize) } else { STRIDE as isize };
        let mut table = [[[0; LANE_BYTES]; STRIDE]; STRIDE];
        let mut i = 0;
        while i < STRIDE * STRIDE {
            let (c, k) = (i / STRIDE, i % STRIDE);
            table[c][k] = shuffles::gather_shuffle(L::WIDTH, Self::FIRST + c, step, k);
            i += 1;
        }
        table
    };

    /// The gap between the start of a window's row and that of the block's row, in elements. A
    /// descending row of one element is the last of its window's row: what lies behind it may
    /// not be readable.
    #[inline(always)]
    fn gap(block: TransposeBlock) -> usize {
        if DESCENDING { STRIDE - block.nv } else { 0 }
    }
}

impl<L: Unit, const STRIDE: usize, const DESCENDING: bool> RowGroup
    for Window<L, STRIDE, DESCENDING>
{
    /// The window of the last row includes the gap beside it.
    #[inline(always)]
    fn overread_rows(block: TransposeBlock) -> usize {
        usize::from(block.nv < STRIDE)
    }

    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, sink: impl Sink<V>) {
        let gap = Self::gap(block);
        let start = block.src.wrapping_sub((gap + Self::FIRST) * L::WIDTH);
        let mut lanes = [V::splat(token, [0; LANE_BYTES]); STRIDE];
        unrolled!(k in 0..STRIDE, 4 => {
            // SAFETY: M1 holds: the window ends at most `overread_rows` rows after the last one.
            lanes[k] = unsafe {
                V::load_lanes(
                    token,
                    start.wrapping_add(k * LANE_BYTES),
                    L::PER_LANE as isize * block.src_step,
                )
            };
        });
        unrolled!(c in 0..STRIDE, 4 => if c >= gap && c - gap < block.nv {
            let mut column = lanes[0].shuffle(Self::TABLE[c][0]);
            unrolled!(k in 1..STRIDE, 4 => column = column.or(lanes[k].shuffle(Self::TABLE[c][k])));
            // SAFETY: each destination row has room for a register, by this function's contract.
            unsafe { sink.put(column, block, c - gap) }
        });
    }
}

/// Rows at any stride, read one lane each: forwards from the row's start if rows ascend, backwards
/// from its end if they descend.
struct LanePerRow<L>(PhantomData<L>);

impl<L: Unit> LanePerRow<L> {
    /// Can rows of several elements be shorter than a lane?
    const IS_SHORT: bool = L::PER_LANE > 2;
}

impl<L: Unit> RowGroup for LanePerRow<L> {
    /// The rows that begin less than a lane before the end of the last row.
    #[inline(always)]
    fn overread_rows(block: TransposeBlock) -> usize {
        match block.src_step.unsigned_abs() {
            0 => block.nu,
            step => (LANE_BYTES - block.nv * L::WIDTH).div_ceil(step),
        }
    }

    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, sink: impl Sink<V>) {
        let surplus = if block.src_step < 0 { L::PER_LANE - block.nv } else { 0 };
        let start = block.src.wrapping_sub(surplus * L::WIDTH);
        // SAFETY: M1 holds: each lane ends at most `overread_rows` rows after its own row.
        let columns = unsafe { V::load_columns::<L>(token, start, block.src_step) };
        unrolled!(i in 0..L::PER_LANE, 16 => if i >= surplus && i - surplus < block.nv {
            // SAFETY: each destination row has room for a register, by this function's contract.
            unsafe { sink.put(columns[i], block, i - surplus) }
        });
    }
}
