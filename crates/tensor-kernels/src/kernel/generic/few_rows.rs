//! Transposes of fewer source rows than a register has elements: channel planes that become pixels,
//! heads of attention, narrow matrices.
//!
//! The tiles of [`transpose`](super::transpose) put lanes of different source rows side by side. Of
//! few rows most of a wide register would stay empty. Here a register reads adjacent elements of
//! one row. The lanes of `N` such registers are transposed, `N` the elements of a lane; each lane
//! is then a part of a destination row, and is stored by itself.
//!
//! - **At least `N` source rows.** They are taken `N` at a time; the last ones overlap.
//! - **Fewer, without gaps between destination rows.** Lanes are stored in ascending order: the
//!   next one overwrites what a lane has past the end of its row. Up to 8 rows of bytes take half
//!   of the shuffles, and a lane has two destination rows.
//!
//! Tiles of half registers write two lanes at once, and are used where they hold no more rows than
//! lanes would: 8 rows of floats take 2.2 µs by lanes and 1.7 µs by halves. 2 rows of doubles take
//! 3.5 µs where tiles of a lane by a lane took 7.6 µs, 5 rows of bytes 1.1 µs instead of 2.3 µs, 11
//! rows of floats 2.6 µs instead of 2.9 µs (40,000 elements, Zen 5).
//!
//! A source in memory is read by tiles: a lane of each row at a time gives the hardware time to
//! fetch the next line. 5 rows of 1.5 million floats take 2.3 ms so, and 3.9 ms by whole registers.

use super::{
    finish::Epilogue,
    register::{Computes, LANE_BYTES, Vector},
    source::{AlongRows, Source},
    unroll::unrolled,
};
use crate::kernel::{transpose_block::TransposeBlock, unit::Unit};

/// Transposes a block of any number of source rows from a lane on.
///
/// # Safety
///
/// M1, M2, M3 for the block, which has at least `PER_LANE` rows and `V::LANES * PER_LANE` columns;
/// F1 if the epilogue is an operation.
#[inline(always)]
pub(super) unsafe fn transpose<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    epilogue: E,
) {
    let [last_row, last_column] =
        [block.nu - L::PER_LANE, block.nv - const { V::LANES * L::PER_LANE }];
    let mut v = 0;
    loop {
        let columns = block.columns_from::<L>(v);
        let mut u = 0;
        loop {
            // SAFETY: `u <= last_row` and `v <= last_column`.
            unsafe { lanes_of_rows::<V, L, E>(token, columns.rows_from::<L>(u), epilogue) }
            if u >= last_row {
                break;
            }
            u = (u + L::PER_LANE).min(last_row);
        }
        if v >= last_column {
            break;
        }
        v = (v + V::LANES * L::PER_LANE).min(last_column);
    }
}

/// `PER_LANE` source rows, a register of each.
///
/// # Safety
///
/// That of [`transpose`].
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn lanes_of_rows<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: TransposeBlock,
    epilogue: E,
) {
    let step = L::PER_LANE as isize * block.dst_step;
    let source = AlongRows { step: block.src_step, rows: L::PER_LANE };
    let at = |i| block.dst_row(i);
    // SAFETY: M1 holds: there are `PER_LANE` rows of a register or more. F1 holds for the block.
    let columns = unsafe { epilogue.load::<V, L>(token, (source, block.src), at, Some(step)) };
    unrolled!(i in 0..L::PER_LANE, 16 => {
        // SAFETY: M2 holds: lane `p` of register `i` is a part of destination row
        // `p * PER_LANE + i`, which has room for a lane.
        unsafe { columns[i].store_lanes(at(i), step) }
    });
}

/// Transposes fewer source rows than a lane has elements. A lane from the start of each destination
/// row on is written, in ascending order.
///
/// # Safety
///
/// M1, M3 for the block, which has `V::LANES * PER_LANE` columns or more. The destination has no
/// gaps; M2 holds for a lane from the start of each of its rows that is written.
#[inline(always)]
pub(super) unsafe fn overwrite<V: Vector, L: Unit>(token: V::Token, block: TransposeBlock) {
    if const { L::WIDTH == 1 } && block.nu <= LANE_BYTES / 2 {
        // SAFETY: this function's contract; there are at most 8 rows of bytes.
        unsafe { pairs_of_rows::<V>(token, block) }
    } else {
        // SAFETY: this function's contract.
        unsafe { single_rows::<V, L>(token, block) }
    }
}

/// A destination row in each lane.
///
/// # Safety
///
/// That of [`overwrite`].
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn single_rows<V: Vector, L: Unit>(token: V::Token, block: TransposeBlock) {
    let source = AlongRows { step: block.src_step, rows: block.nu };
    // SAFETY: M1 holds for the rows of the block.
    let columns = unsafe { source.load::<V, L>(token, block.src) };
    unrolled!(p in 0..V::LANES, 4 => unrolled!(i in 0..L::PER_LANE, 16 => {
        // SAFETY: M2 holds for a lane from the start of a row; rows are written in ascending order.
        unsafe { columns[i].store_lane(p, block.dst_row(p * L::PER_LANE + i)) }
    }));
}

/// Two destination rows of bytes in each lane.
///
/// # Safety
///
/// That of [`overwrite`]; `nu` is at most 8.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn pairs_of_rows<V: Vector>(token: V::Token, block: TransposeBlock) {
    let together = adjacent_rows(block.nu);
    let source = AlongRows { step: block.src_step, rows: block.nu };
    // SAFETY: M1 holds for the rows of the block.
    let mut rows = unsafe { source.rows::<V, u8>(token, block.src) };
    // Three rounds of `transpose_lanes` for 8 registers: the number of a register becomes the last
    // three bits of an element's place in the lane.
    unrolled!(_round in 0..3, 4 => {
        let mut zipped = rows;
        unrolled!(i in 0..4, 4 => {
            [zipped[2 * i], zipped[2 * i + 1]] = rows[i].zip::<u8>(rows[i + 4]);
        });
        rows = zipped;
    });
    unrolled!(i in 0..8, 8 => rows[i] = rows[i].shuffle(together));
    unrolled!(p in 0..V::LANES, 4 => unrolled!(i in 0..8, 8 => {
        // SAFETY: M2 holds for a lane from the start of a row; rows are written in ascending order.
        unsafe { rows[i].store_lane(p, block.dst_row(p * LANE_BYTES + 2 * i)) }
    }));
}

/// The shuffle that moves the first `len` bytes of each half of a lane side by side.
#[inline(always)]
fn adjacent_rows(len: usize) -> [u8; LANE_BYTES] {
    std::array::from_fn(|k| match k {
        _ if k < len => k as u8,
        _ if k < 2 * len => (LANE_BYTES / 2 + k - len) as u8,
        _ => 128,
    })
}
