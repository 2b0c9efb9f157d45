//! Transposes with destination rows shorter than a lane: channel planes that are interleaved into
//! pixels, or a strided scatter.
//!
//! - **2 to 4 planes, no gaps between destination rows.** They may descend, as in a mirrored image.
//!   Each lane of the result combines one shuffle of each plane.
//! - **More planes, no gaps.** They are transposed as [few rows](few_rows), whose lanes are stored
//!   in ascending order. The next row overwrites what is written past a row's end; the last rows
//!   are copied element by element.
//! - **Gaps between destination rows.** Nothing may be written there, so elements are copied one by
//!   one.

use std::marker::PhantomData;

use super::{
    copy, few_rows,
    register::{LANE_BYTES, Registers, Vector},
    shuffles,
    unroll::unrolled,
};
use crate::{
    kernel::{
        portable,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::Stores,
};

/// Transposes a block whose destination rows are shorter than a lane.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn short_destination_rows<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let row_bytes = (block.nu * L::WIDTH) as isize;
    if block.dst_step == -row_bytes {
        // SAFETY: M1 to M3 hold for the block, whose rows descend without gaps.
        return unsafe { descending::<R, L>(isa, block) };
    }
    match (block.dst_step == row_bytes, block.nu) {
        // SAFETY: M1 to M3 hold for the block, which is one run of adjacent elements.
        (true, 1) => unsafe {
            copy::copy(isa, block.src, block.dst, block.nv * L::WIDTH, Stores::Plain);
        },
        // SAFETY: M1 to M3 hold for the block; it has 2 source rows and no gaps.
        (true, 2) => unsafe { interleave::<R, L, 2, false>(isa, block) },
        // SAFETY: M1 to M3 for the block; it has 3 source rows and no gaps.
        (true, 3) => unsafe { interleave::<R, L, 3, false>(isa, block) },
        // SAFETY: M1 to M3 for the block; it has 4 source rows and no gaps.
        (true, 4) => unsafe { interleave::<R, L, 4, false>(isa, block) },
        // SAFETY: M1 to M3 hold for the block, which has no gaps.
        (true, _) if InterleaveTable::<L, 5, false>::IS_SHORT => unsafe {
            overwriting::<R, L>(isa, block);
        },
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        _ => unsafe { portable::transpose::<L>(block) },
    }
}

/// Transposes a block whose destination rows lie at falling addresses, without gaps: pixels that
/// are mirrored.
///
/// # Safety
///
/// That of [`short_destination_rows`].
#[inline(always)]
unsafe fn descending<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    match block.nu {
        // SAFETY: M1 to M3 hold for the block; it has 2 source rows and no gaps.
        2 => unsafe { interleave::<R, L, 2, true>(isa, block) },
        // SAFETY: M1 to M3 hold for the block; it has 3 source rows and no gaps.
        3 => unsafe { interleave::<R, L, 3, true>(isa, block) },
        // SAFETY: M1 to M3 hold for the block; it has 4 source rows and no gaps.
        4 => unsafe { interleave::<R, L, 4, true>(isa, block) },
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        _ => unsafe { portable::transpose::<L>(block) },
    }
}

/// Whole registers of pixels first, then lanes, the last of which overlaps, then elements.
///
/// # Safety
///
/// That of [`short_destination_rows`]; `nu` is `PLANES` and the destination has no gaps. Its rows
/// descend exactly if `DESCENDING`.
#[inline(always)]
unsafe fn interleave<R: Registers, L: Unit, const PLANES: usize, const DESCENDING: bool>(
    isa: R,
    block: TransposeBlock,
) {
    if !InterleaveTable::<L, PLANES, DESCENDING>::IS_SHORT {
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        return unsafe { portable::transpose::<L>(block) };
    }
    let columns_per_register = R::Full::LANES * L::PER_LANE;
    let mut v = 0;
    while v + columns_per_register <= block.nv {
        // SAFETY: columns `v..v + columns_per_register` exist.
        unsafe { pixels::<R::Full, L, PLANES, DESCENDING>(isa.into(), block.columns_from::<L>(v)) }
        v += columns_per_register;
    }
    while v < block.nv && L::PER_LANE <= block.nv {
        v = v.min(block.nv - L::PER_LANE);
        // SAFETY: `PER_LANE` columns from `v` on exist.
        unsafe { pixels::<R::Lane, L, PLANES, DESCENDING>(isa.into(), block.columns_from::<L>(v)) }
        v += L::PER_LANE;
    }
    // SAFETY: M1 to M3 hold for the remaining columns.
    unsafe { portable::transpose_few::<L>(block.columns_from::<L>(v)) }
}

/// The first `V::LANES * L::PER_LANE` pixels of a block.
///
/// # Safety
///
/// That of [`interleave`], and the block has that many columns.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn pixels<V: Vector, L: Unit, const PLANES: usize, const DESCENDING: bool>(
    token: V::Token,
    block: TransposeBlock,
) {
    let mut planes = [V::splat(token, [0; LANE_BYTES]); PLANES];
    unrolled!(c in 0..PLANES, 4 => {
        // SAFETY: M1 holds: source row `c` has the elements of a register.
        planes[c] = unsafe { V::load(token, block.rows_from::<L>(c).src) };
    });
    unrolled!(k in 0..PLANES, 4 => {
        let mut lane = planes[0].shuffle(InterleaveTable::<L, PLANES, DESCENDING>::TABLE[k][0]);
        unrolled!(c in 1..PLANES, 4 => {
            let plane = planes[c].shuffle(InterleaveTable::<L, PLANES, DESCENDING>::TABLE[k][c]);
            lane = lane.or(plane);
        });
        // The pixels of a lane are a group; of descending ones the last has the lowest address.
        let first = if DESCENDING { block.dst_row(L::PER_LANE - 1) } else { block.dst };
        let dst = first.wrapping_add(k * LANE_BYTES);
        // SAFETY: M2 holds: lane `k` of every group of pixels; groups follow each other without
        // gaps.
        unsafe { lane.store_lanes(dst, L::PER_LANE as isize * block.dst_step) }
    });
}

/// The shuffle tables of [`pixels`].
struct InterleaveTable<L, const PLANES: usize, const DESCENDING: bool>(PhantomData<L>);

impl<L: Unit, const PLANES: usize, const DESCENDING: bool> InterleaveTable<L, PLANES, DESCENDING> {
    /// Is a pixel of `PLANES` elements shorter than a lane?
    const IS_SHORT: bool = PLANES * L::WIDTH < LANE_BYTES;

    /// At `[k][c]`: the shuffle of plane `c` for lane `k` of the result.
    const TABLE: [[[u8; LANE_BYTES]; PLANES]; PLANES] = {
        let mut table = [[[0; LANE_BYTES]; PLANES]; PLANES];
        let mut i = 0;
        while i < PLANES * PLANES {
            let (k, c) = (i / PLANES, i % PLANES);
            table[k][c] = shuffles::interleave_shuffle(L::WIDTH, PLANES, c, k, DESCENDING);
            i += 1;
        }
        table
    };
}

/// Writes each destination row as a whole lane. The next row overwrites the part past the first
/// `nu` elements.
///
/// # Safety
///
/// That of [`short_destination_rows`], and the destination has no gaps.
#[inline(always)]
unsafe fn overwriting<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let row = block.nu * L::WIDTH;
    let columns = block.nv.saturating_sub((LANE_BYTES - row).div_ceil(row));
    let v = match block.residency == Residency::Memory {
        // A lane of each row at a time, see `few_rows`.
        true => 0,
        // SAFETY: a lane from the start of each of these columns' rows on lies inside the block.
        false => unsafe { overwrite_all::<R::Native, L>(isa.into(), block, columns) },
    };
    let rest = block.columns_from::<L>(v);
    // SAFETY: as above.
    let v = unsafe { overwrite_all::<R::Lane, L>(isa.into(), rest, columns - v) };
    // SAFETY: M1 to M3 hold for the remaining columns.
    unsafe { portable::transpose_few::<L>(rest.columns_from::<L>(v)) }
}

/// Writes the destination rows of the first `columns` columns a register of columns at a time, and
/// returns how many it has written.
///
/// # Safety
///
/// That of [`overwriting`]. A lane from the start of each row lies inside the block.
#[inline(always)]
unsafe fn overwrite_all<V: Vector, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    columns: usize,
) -> usize {
    let step = const { V::LANES * L::PER_LANE };
    let mut v = 0;
    while v < columns && step <= columns {
        v = v.min(columns - step);
        // SAFETY: columns from `v` on exist, and their rows have room for a lane.
        unsafe { few_rows::overwrite::<V, L>(token, block.columns_from::<L>(v)) }
        v += step;
    }
    v
}
