//! Source rows shorter than a lane: a strided gather, or pixels taken apart into planes.
//!
//! Rows that lie at most 4 elements apart are read whole, gaps included, as *windows* of as many
//! lanes as the distance has elements, and every result lane is joined from one shuffle of each
//! lane of its window. Rows further apart are read one lane each, over the row's end, and
//! transposed like a tile whose surplus columns are dropped.
//!
//! Both read past the end of a row, always in the direction in which rows advance, so only the last
//! rows could leave the source block (M1), and these are moved element by element. So are single
//! elements further apart than 4: reading a lane for each was no faster than the element alone
//! from the second-level cache, and gather instructions load no faster either, but many times
//! slower on CPUs that guard them.

use std::marker::PhantomData;

use super::{
    copy,
    register::{LANE_BYTES, Registers, Vector},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::TransposeBlock, unit::Unit},
    memory::Stores,
};

/// Transposes a block whose source rows are shorter than a lane.
///
/// # Safety
///
/// M1, M2, M3 for the block, M4 if the stores are streamed.
#[inline(always)]
pub(super) unsafe fn short_source_rows<R: Registers, L: Unit>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
) {
    match (block.src_step / L::WIDTH as isize, block.nv) {
        // SAFETY: one run of adjacent elements, the caller's contract.
        (1, 1) => unsafe { copy::copy(isa, block.src, block.dst, block.nu * L::WIDTH, stores) },
        // SAFETY: the rows are that far apart, the rest is the caller's contract.
        (2, ..=2) => unsafe { windows::<R, L, 2, false>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows are 3 elements apart.
        (3, ..=3) => unsafe { windows::<R, L, 3, false>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows are 4 elements apart.
        (4, ..=4) => unsafe { windows::<R, L, 4, false>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows descend by 1, one element each.
        (-1, 1) => unsafe { windows::<R, L, 1, true>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows descend by 2, one element each.
        (-2, 1) => unsafe { windows::<R, L, 2, true>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows descend by 3, one element each.
        (-3, 1) => unsafe { windows::<R, L, 3, true>(isa, block, stores) },
        // SAFETY: M1 to M3 for the block; its rows descend by 4, one element each.
        (-4, 1) => unsafe { windows::<R, L, 4, true>(isa, block, stores) },
        // SAFETY: one element a row, far apart, the rest is the caller's contract.
        (_, 1) => unsafe { portable::gather::<L>(block.src, block.src_step, block.dst, block.nu) },
        // SAFETY: M1 to M3 for the block; its rows may lie anywhere.
        _ if LanePerRow::<L>::IS_SHORT => unsafe {
            groups::<R, L, LanePerRow<L>>(isa, block, stores)
        },
        // SAFETY: M1 to M3 for the block: the same contract.
        _ => unsafe { portable::transpose::<L>(block) },
    }
}

/// By windows, or element by element where windows are not [`Window::FASTER`].
///
/// # Safety
///
/// That of [`short_source_rows`], and the block's rows are as far apart as the window's.
#[inline(always)]
unsafe fn windows<R: Registers, L: Unit, const STRIDE: usize, const DESCENDING: bool>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
) {
    if Window::<L, STRIDE, DESCENDING>::FASTER {
        // SAFETY: the caller's contract, word for word.
        unsafe { groups::<R, L, Window<L, STRIDE, DESCENDING>>(isa, block, stores) };
    } else {
        // SAFETY: M1 to M3 for the block, whose rows have one element: two of these are a lane.
        unsafe { portable::gather::<L>(block.src, block.src_step, block.dst, block.nu) };
    }
}

/// A way to transpose as many short rows as a register has elements.
trait RowGroup {
    /// How many of the last rows it must not be given, because it reads past their end.
    fn overread_rows(block: TransposeBlock) -> usize;

    /// Transposes the first `V::LANES * L::PER_LANE` rows of the block.
    ///
    /// # Safety
    ///
    /// That of [`short_source_rows`], and `reach` more rows follow.
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, stores: Stores);
}

/// Whole registers as far as they go, then single lanes, the last one overlapping, then elements.
///
/// # Safety
///
/// That of [`short_source_rows`], and the block's rows are as far apart as `K` says.
#[inline(always)]
unsafe fn groups<R: Registers, L: Unit, K: RowGroup>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
) {
    let rows = block.nu.saturating_sub(K::overread_rows(block));
    let tall = R::Full::LANES * L::PER_LANE;
    let mut u = 0;
    while u + tall <= rows {
        // SAFETY: rows `u..u + tall` are there and `reach` more follow.
        unsafe { K::transpose::<R::Full>(isa.into(), block.rows_from::<L>(u), stores) }
        u += tall;
    }
    while u < rows && L::PER_LANE <= rows {
        u = u.min(rows - L::PER_LANE);
        // SAFETY: a lane's worth of rows from `u` on is there and `reach` more follow.
        unsafe { K::transpose::<R::Lane>(isa.into(), block.rows_from::<L>(u), Stores::Plain) }
        u += L::PER_LANE;
    }
    // SAFETY: M1 to M3 for the rows that are left.
    unsafe { portable::transpose::<L>(block.rows_from::<L>(u)) }
}

/// Rows `APART` elements apart, read as windows of `APART` lanes; `BACK` if the rows descend,
/// which is for rows of one element.
struct Window<L, const STRIDE: usize, const DESCENDING: bool>(PhantomData<L>);

impl<L: Unit, const STRIDE: usize, const DESCENDING: bool> Window<L, STRIDE, DESCENDING> {
    /// Is a window faster than a load and a store for each of its elements? 16-byte elements took
    /// the same time either way, and 8-byte ones but for two cases, where windows take two thirds
    /// and nine tenths of the time (Zen 5, AVX-512, 16 KiB to 4 MiB). What is not faster is not
    /// compiled: windows were a fifth of this crate's code.
    const FASTER: bool = match L::WIDTH {
        16 => false,
        8 => matches!((STRIDE, DESCENDING), (1, true) | (2, false)),
        _ => true,
    };

    /// The most elements a row may have.
    const COLUMNS: usize = if DESCENDING { 1 } else { STRIDE };

    /// Elements from the start of a window to the first row in it.
    const FIRST: usize = if DESCENDING { L::PER_LANE * STRIDE - 1 } else { 0 };

    /// The shuffle of lane `k` of a window for column `c`, at `[c][k]`.
    const TABLE: [[[u8; LANE_BYTES]; STRIDE]; STRIDE] = {
        let step = if DESCENDING { -(STRIDE as isize) } else { STRIDE as isize };
        let mut table = [[[0; LANE_BYTES]; STRIDE]; STRIDE];
        let mut i = 0;
        while i < STRIDE * STRIDE {
            let (c, k) = (i / STRIDE, i % STRIDE);
            let first = if DESCENDING { Self::FIRST } else { c };
            table[c][k] = shuffles::gather_shuffle(L::WIDTH, first, step, k);
            i += 1;
        }
        table
    };
}

impl<L: Unit, const STRIDE: usize, const DESCENDING: bool> RowGroup
    for Window<L, STRIDE, DESCENDING>
{
    /// The gap behind the last row.
    #[inline(always)]
    fn overread_rows(block: TransposeBlock) -> usize {
        usize::from(block.nv < STRIDE)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, stores: Stores) {
        let start = block.src.wrapping_sub(Self::FIRST * L::WIDTH);
        let mut lanes = [V::splat(token, [0; LANE_BYTES]); STRIDE];
        unrolled!(k in 0..STRIDE, 4 => {
            // SAFETY: lane `k` of windows that end at most `reach` rows behind the last one, M1.
            lanes[k] = unsafe {
                V::load_lanes(token, start.wrapping_add(k * LANE_BYTES), L::PER_LANE as isize * block.src_step)
            };
        });
        unrolled!(c in 0..Self::COLUMNS, 4 => if c < block.nv {
            let mut column = lanes[0].shuffle(Self::TABLE[c][0]);
            unrolled!(k in 1..STRIDE, 4 => column = column.or(lanes[k].shuffle(Self::TABLE[c][k])));
            // SAFETY: destination row `c` holds a register, M2, M4.
            unsafe { column.put(block.dst_row(c), stores) }
        });
    }
}

/// Rows anywhere, read one lane each: forward from the row's start if rows ascend, backward from
/// its end if they descend.
struct LanePerRow<L>(PhantomData<L>);

impl<L: Unit> LanePerRow<L> {
    /// Can rows of several elements be shorter than a lane?
    const IS_SHORT: bool = L::PER_LANE > 2;
}

impl<L: Unit> RowGroup for LanePerRow<L> {
    /// Rows within a lane of the last row's end.
    #[inline(always)]
    fn overread_rows(block: TransposeBlock) -> usize {
        match block.src_step.unsigned_abs() {
            0 => block.nu,
            step => (LANE_BYTES - block.nv * L::WIDTH).div_ceil(step),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn transpose<V: Vector>(token: V::Token, block: TransposeBlock, stores: Stores) {
        let surplus = if block.src_step < 0 { L::PER_LANE - block.nv } else { 0 };
        let start = block.src.wrapping_sub(surplus * L::WIDTH);
        // SAFETY: a lane of each row, which ends at most `reach` rows behind it, M1.
        let columns = unsafe { V::load_columns::<L>(token, start, block.src_step) };
        unrolled!(i in 0..L::PER_LANE, 16 => if i >= surplus && i - surplus < block.nv {
            // SAFETY: a destination row holds a register, M2, M4.
            unsafe { columns[i].put(block.dst_row(i - surplus), stores) }
        });
    }
}
