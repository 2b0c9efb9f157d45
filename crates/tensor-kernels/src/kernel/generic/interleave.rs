//! Destination rows shorter than a lane: planes put together into pixels, or a strided scatter.
//!
//! Where the rows leave no gaps, a few planes are interleaved by shuffles, every result lane
//! joined from one shuffle of each plane. More than 4 planes are transposed like a tile whose rows
//! are stored whole, one after the other: what is written past a row's end is overwritten by the
//! next rows, and the last ones are moved element by element. Where there are gaps, which nobody
//! may write, it is always element by element.

use std::marker::PhantomData;

use super::{
    copy,
    register::{LANE_BYTES, Registers, Vector, transpose_lanes},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{portable, transpose_block::TransposeBlock, unit::Unit},
    memory::Stores,
};

/// Transposes a block whose destination rows are shorter than a lane.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn short_destination_rows<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let dense = block.dst_step == (block.nu * L::WIDTH) as isize;
    match (dense, block.nu) {
        // SAFETY: one run of adjacent elements, the caller's contract.
        (true, 1) => unsafe {
            copy::copy(isa, block.src, block.dst, block.nv * L::WIDTH, Stores::Plain);
        },
        // SAFETY: so many planes and no gaps, the rest is the caller's contract.
        (true, 2) => unsafe { interleave::<R, L, 2>(isa, block) },
        // SAFETY: M1 to M3 for the block; it has 3 source rows and no gaps.
        (true, 3) => unsafe { interleave::<R, L, 3>(isa, block) },
        // SAFETY: M1 to M3 for the block; it has 4 source rows and no gaps.
        (true, 4) => unsafe { interleave::<R, L, 4>(isa, block) },
        // SAFETY: no gaps, the rest is the caller's contract.
        (true, _) if InterleaveTable::<L, 5>::IS_SHORT => unsafe {
            overwriting::<R, L>(isa, block)
        },
        // SAFETY: M1 to M3 for the block: the same contract.
        _ => unsafe { portable::transpose::<L>(block) },
    }
}

/// Whole registers of pixels as far as they go, then lanes, the last one overlapping, then
/// elements.
///
/// # Safety
///
/// That of [`short_destination_rows`], `nu` is `PLANES` and the destination has no gaps.
#[inline(always)]
unsafe fn interleave<R: Registers, L: Unit, const PLANES: usize>(isa: R, block: TransposeBlock) {
    if !InterleaveTable::<L, PLANES>::IS_SHORT {
        // SAFETY: M1 to M3 for the block: the same contract.
        return unsafe { portable::transpose::<L>(block) };
    }
    let wide = R::Full::LANES * L::PER_LANE;
    let mut v = 0;
    while v + wide <= block.nv {
        // SAFETY: columns `v..v + wide` are there.
        unsafe { pixels::<R::Full, L, PLANES>(isa.into(), block.columns_from::<L>(v)) }
        v += wide;
    }
    while v < block.nv && L::PER_LANE <= block.nv {
        v = v.min(block.nv - L::PER_LANE);
        // SAFETY: a lane's worth of columns from `v` on is there.
        unsafe { pixels::<R::Lane, L, PLANES>(isa.into(), block.columns_from::<L>(v)) }
        v += L::PER_LANE;
    }
    // SAFETY: M1 to M3 for the columns that are left.
    unsafe { portable::transpose::<L>(block.columns_from::<L>(v)) }
}

/// The first `V::LANES * L::PER_LANE` pixels of a block.
///
/// # Safety
///
/// That of [`interleave`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn pixels<V: Vector, L: Unit, const PLANES: usize>(token: V::Token, block: TransposeBlock) {
    let mut planes = [V::splat(token, [0; LANE_BYTES]); PLANES];
    unrolled!(c in 0..PLANES, 4 => {
        // SAFETY: source row `c` holds a register, M1.
        planes[c] = unsafe { V::load(token, block.rows_from::<L>(c).src) };
    });
    unrolled!(k in 0..PLANES, 4 => {
        let mut lane = planes[0].shuffle(InterleaveTable::<L, PLANES>::TABLE[k][0]);
        unrolled!(c in 1..PLANES, 4 => {
            lane = lane.or(planes[c].shuffle(InterleaveTable::<L, PLANES>::TABLE[k][c]));
        });
        let dst = block.dst.wrapping_add(k * LANE_BYTES);
        // SAFETY: lane `k` of every group of pixels, which lie side by side, M2.
        unsafe { lane.store_lanes(dst, (PLANES * LANE_BYTES) as isize) }
    });
}

/// The tables of [`pixels`].
struct InterleaveTable<L, const PLANES: usize>(PhantomData<L>);

impl<L: Unit, const PLANES: usize> InterleaveTable<L, PLANES> {
    /// Is a destination row of so many planes shorter than a lane?
    const IS_SHORT: bool = PLANES * L::WIDTH < LANE_BYTES;

    /// The shuffle of plane `c` for lane `k`, at `[k][c]`.
    const TABLE: [[[u8; LANE_BYTES]; PLANES]; PLANES] = {
        let mut table = [[[0; LANE_BYTES]; PLANES]; PLANES];
        let mut i = 0;
        while i < PLANES * PLANES {
            let (k, c) = (i / PLANES, i % PLANES);
            table[k][c] = shuffles::interleave_shuffle(L::WIDTH, PLANES, c, k);
            i += 1;
        }
        table
    };
}

/// Rows of a lane, of which the next row overwrites what exceeds `nu` elements.
///
/// # Safety
///
/// That of [`short_destination_rows`], and the destination has no gaps.
#[inline(always)]
unsafe fn overwriting<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let row = block.nu * L::WIDTH;
    let columns = block.nv.saturating_sub((LANE_BYTES - row).div_ceil(row));
    let mut v = 0;
    while v < columns && L::PER_LANE <= columns {
        v = v.min(columns - L::PER_LANE);
        // SAFETY: columns from `v` on are there and a lane from each row's start is inside.
        unsafe { lane_rows::<R::Lane, L>(isa.into(), block.columns_from::<L>(v)) }
        v += L::PER_LANE;
    }
    // SAFETY: M1 to M3 for the columns that are left.
    unsafe { portable::transpose::<L>(block.columns_from::<L>(v)) }
}

/// A lane's worth of destination rows, in ascending order, a lane each.
///
/// # Safety
///
/// That of [`overwriting`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn lane_rows<V: Vector, L: Unit>(token: V::Token, block: TransposeBlock) {
    let mut rows = [V::splat(token, [0; LANE_BYTES]); LANE_BYTES];
    unrolled!(r in 0..L::PER_LANE, 16 => {
        let row = block.rows_from::<L>(r.min(block.nu - 1));
        // SAFETY: every source row holds a lane, M1; the surplus ones repeat the last.
        rows[r] = unsafe { V::load(token, row.src) };
    });
    let columns = transpose_lanes::<V, L>(rows);
    unrolled!(i in 0..L::PER_LANE, 16 => {
        // SAFETY: inside the destination, M2, in ascending order.
        unsafe { columns[i].store(block.dst_row(i)) }
    });
}
