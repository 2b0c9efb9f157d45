//! The tiles of a [`transpose`](super::transpose) of bytes.
//!
//! A tile of whole registers reads 64 rows of bytes. If the last of them overlapped the one before,
//! as those of wider elements do, 66 rows would take as long as 128. So the last rows are read by
//! narrower registers where these suffice. Transposes of 66 to 99 rows and columns take 0.8 to 0.95
//! of the time, those of 129 to 157 take 0.8 to 0.9, in the mean squares of 32 to 100 take 0.92 and
//! those of 100 to 400 take 0.95. Where all tiles are needed the time is the same (Zen 3, AVX2; in
//! turns, in the same memory).
//!
//! # Tried and dropped
//! The same for wider elements: 0.93 to 1.07 of the time for elements of 2 bytes, 0.95 to 1.05 for
//! those of 4 and 8.

use super::{
    destination_ahead::{Ahead, DestinationAhead, NothingAhead},
    finish::Epilogue,
    register::{Registers, Vector},
    strips::{end_of_strip, sweep},
};
use crate::{
    kernel::{transpose_block::TransposeBlock, unit::Unit},
    memory::Stores,
};

/// Covers the block with tiles, strip by strip: of whole registers, and of narrower ones where few
/// source rows are left.
///
/// # Safety
///
/// M1 to M3 for the block, and M4 if the stores are non-temporal. Its extents hold a register by a
/// lane.
#[inline(always)]
pub(super) unsafe fn cover<R: Registers, E: Epilogue>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    epilogue: E,
) {
    match DestinationAhead::of_block::<R::Full, u8>(block, stores) {
        // SAFETY: this function's contract.
        None => unsafe { by_strips::<R, E, _>(isa, block, stores, epilogue, NothingAhead) },
        // SAFETY: this function's contract.
        Some(ahead) => unsafe { by_strips::<R, E, _>(isa, block, stores, epilogue, ahead) },
    }
}

/// [`cover`] with what is prefetched of the destination.
///
/// # Safety
///
/// That of [`cover`].
#[inline(always)]
unsafe fn by_strips<R: Registers, E: Epilogue, A: Ahead>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    epilogue: E,
    ahead: A,
) {
    let of_register = const { R::Full::LANES * u8::PER_LANE };
    let mut left = 0;
    while left < block.nv {
        let columns = (left, end_of_strip::<u8>(block, left));
        let mut u = 0;
        while u + of_register <= block.nu {
            let (rows, ahead) = (block.rows_from::<u8>(u), ahead.at_column(u));
            // SAFETY: `u + of_register <= nu`, and the columns are some of the block's.
            unsafe {
                sweep::<R::Full, u8, E, A>(isa.into(), rows, columns, 1, stores, epilogue, ahead);
            }
            u += of_register;
        }
        if u < block.nu {
            debug_assert_ne!(stores, Stores::NonTemporal, "rows of whole lines");
            // SAFETY: the columns are some of the block's, which has a register's rows.
            unsafe { last_rows::<R, E>(isa, block, u, columns, epilogue) }
        }
        left = columns.1;
    }
}

/// The source rows from row `u` on, fewer than a whole register has elements, by the narrowest
/// registers that are enough. The last of them overlaps the rows before.
///
/// # Safety
///
/// M1 to M3 for the block, which has the rows of a register and the columns of a lane; the columns
/// are some of its own.
#[inline(always)]
unsafe fn last_rows<R: Registers, E: Epilogue>(
    isa: R,
    block: TransposeBlock,
    mut u: usize,
    columns: (usize, usize),
    epilogue: E,
) {
    let of_register = const { R::Full::LANES * u8::PER_LANE };
    let [of_half, of_lane] =
        const { [R::Half::LANES * u8::PER_LANE, R::Lane::LANES * u8::PER_LANE] };
    let (stores, ahead) = (Stores::Plain, NothingAhead);
    if block.nu - u > of_half + of_lane {
        let rows = block.rows_from::<u8>(block.nu - of_register);
        // SAFETY: these are the last rows of the block, as many as the tile has.
        return unsafe {
            sweep::<R::Full, u8, E, _>(isa.into(), rows, columns, 1, stores, epilogue, ahead);
        };
    }
    if block.nu - u > of_lane {
        u = u.min(block.nu - of_half);
        let rows = block.rows_from::<u8>(u);
        // SAFETY: `u + of_half <= nu`.
        unsafe { sweep::<R::Half, u8, E, _>(isa.into(), rows, columns, 1, stores, epilogue, ahead) }
        u += of_half;
    }
    if u < block.nu {
        let rows = block.rows_from::<u8>(block.nu - of_lane);
        // SAFETY: these are the last rows of the block, as many as the tile has.
        unsafe { sweep::<R::Lane, u8, E, _>(isa.into(), rows, columns, 1, stores, epilogue, ahead) }
    }
}
