//! Transposes that keep runs of 2 to 8 bytes together: images whose pixels are three bytes.
//!
//! Run by run a run takes two loads, two stores and their addresses. Here a lane of each source row
//! is read, whose runs are spread by a shuffle, so that each lies in a word of 2, 4 or 8 bytes. The
//! words are transposed in registers as elements are, moved together again by a second shuffle,
//! and stored lane by lane in ascending order: a lane overwrites what the one before has past its
//! runs. The last lane of a destination row is stored without that.
//!
//! 224 by 224 runs of 3 bytes take 5.9 µs, and 20.6 µs one by one (Zen 5).

use super::{
    register::{LANE_BYTES, Registers, Vector, transpose_lanes},
    unroll::unrolled,
};
use crate::{
    kernel::{
        narrow_runs::NarrowRuns,
        prefetch::prefetch,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    tuning::PREFETCHED_RUN_BYTES,
};

/// An index with which a shuffle writes 0.
const ZERO: u8 = 0x80;

/// Transposes all runs.
///
/// # Safety
///
/// M1, M2, M3 for the runs.
#[inline(always)]
pub(super) unsafe fn transpose<R: Registers>(isa: R, runs: NarrowRuns) {
    match runs.bytes {
        // SAFETY: M1 to M3 hold for the runs, which fit the word.
        ..=2 => unsafe { by_words::<R, u16>(isa, runs) },
        // SAFETY: M1 to M3 hold for the runs, which fit the word.
        3 | 4 => unsafe { by_words::<R, u32>(isa, runs) },
        // SAFETY: M1 to M3 hold for the runs, which fit the word.
        _ => unsafe { by_words::<R, u64>(isa, runs) },
    }
}

/// The shuffles around a transpose.
#[derive(Clone, Copy)]
struct Shuffles {
    /// Moves the runs of a lane of a source row to words.
    spread: [u8; LANE_BYTES],
    /// Moves the words of a lane together, as runs.
    gather: [u8; LANE_BYTES],
}

/// # Safety
///
/// M1, M2, M3 for the runs, which fit into words `L`.
#[inline(always)]
unsafe fn by_words<R: Registers, L: Unit>(isa: R, runs: NarrowRuns) {
    let NarrowRuns { block, bytes, step } = runs;
    let nv = block.nv;
    let (descending, step) = (step < 0, step.unsigned_abs());
    let whole_row = (nv - 1) * step + bytes;
    // The lowest address of a source row.
    let lowest = if descending { block.src.wrapping_sub(whole_row - bytes) } else { block.src };
    let at_start = shuffles::<L>(runs, 0);
    let mut v = 0;
    while v < nv {
        // The last runs overlap those before.
        v = v.min(nv - L::PER_LANE);
        let first = if descending { nv - v - L::PER_LANE } else { v } * step;
        // The last lane of a row ends with it.
        let start = first.min(whole_row - LANE_BYTES);
        let shuffles = match first - start {
            0 => at_start,
            behind => shuffles::<L>(runs, behind),
        };
        let (src, dst) = (lowest.wrapping_add(start), block.dst_row(v));
        let block = TransposeBlock { src, dst, nv: L::PER_LANE, ..block };
        let columns = NarrowRuns { block, ..runs };
        if block.nu >= const { R::Full::LANES * L::PER_LANE } {
            // SAFETY: M1 holds for the lane at `start` of each source row, M2 for these columns'
            // destination rows, which hold a tile.
            unsafe { tiles::<R::Full, L>(isa.into(), columns, shuffles) };
        } else {
            // SAFETY: as above; a destination row holds the runs of a lane.
            unsafe { tiles::<R::Lane, L>(isa.into(), columns, shuffles) };
        }
        v += L::PER_LANE;
    }
}

/// The shuffles of runs that lie `behind` bytes after the start of a lane.
#[inline(always)]
fn shuffles<L: Unit>(NarrowRuns { bytes, step, .. }: NarrowRuns, behind: usize) -> Shuffles {
    let mut shuffles = Shuffles { spread: [ZERO; LANE_BYTES], gather: [ZERO; LANE_BYTES] };
    for i in 0..L::PER_LANE {
        let run = if step < 0 { L::PER_LANE - 1 - i } else { i };
        for byte in 0..bytes {
            let from = behind + run * step.unsigned_abs() + byte;
            shuffles.spread[i * L::WIDTH + byte] = from as u8;
            shuffles.gather[i * bytes + byte] = (i * L::WIDTH + byte) as u8;
        }
    }
    shuffles
}

/// The tiles of `PER_LANE` destination rows; the last one overlaps the one before.
///
/// # Safety
///
/// M1 for a lane at the start of each source row, M2 for the runs of the destination rows, which
/// hold a tile of `V::LANES * PER_LANE`; M3.
#[inline(always)]
unsafe fn tiles<V: Vector, L: Unit>(token: V::Token, runs: NarrowRuns, shuffles: Shuffles) {
    let (tile, block) = (const { V::LANES * L::PER_LANE }, runs.block);
    let ahead = PREFETCHED_RUN_BYTES as isize * runs.step.signum();
    let mut u = 0;
    while u < block.nu {
        u = u.min(block.nu - tile);
        let src = block.src.wrapping_offset(u as isize * block.src_step);
        if block.residency == Residency::Memory {
            for i in 0..tile as isize {
                prefetch(src.wrapping_offset(i * block.src_step + ahead));
            }
        }
        // SAFETY: source rows `u..u + tile` exist, and as many runs of the destination rows.
        unsafe { one_tile::<V, L>(token, src, u, runs, shuffles) };
        u += tile;
    }
}

/// # Safety
///
/// That of [`tiles`]; `src` is source row `u`, and a tile of rows from there on exists.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn one_tile<V: Vector, L: Unit>(
    token: V::Token,
    src: *const u8,
    u: usize,
    NarrowRuns { block, bytes, .. }: NarrowRuns,
    Shuffles { spread, gather }: Shuffles,
) {
    let mut rows = [V::splat(token, [0; LANE_BYTES]); LANE_BYTES];
    unrolled!(r in 0..L::PER_LANE, 8 => {
        let row = src.wrapping_offset(r as isize * block.src_step);
        // SAFETY: M1 holds: lane `p` is that of row `p * N + r` of the tile.
        let lanes = unsafe { V::load_lanes(token, row, L::PER_LANE as isize * block.src_step) };
        rows[r] = lanes.shuffle(spread);
    });
    let columns = transpose_lanes::<V, L>(rows);
    // The bytes of a lane that are runs, and where the last lane starts in a destination row.
    let filled = L::PER_LANE * bytes;
    let last = u * bytes + (V::LANES - 1) * filled;
    let fits = last + LANE_BYTES <= block.nu * bytes;
    unrolled!(i in 0..L::PER_LANE, 8 => {
        let row = block.dst_row(i);
        let dst = row.wrapping_add(u * bytes);
        let lanes = columns[i].shuffle(gather);
        unrolled!(p in 0..V::LANES - 1, 4 => {
            // SAFETY: M2 holds for the lane, which ends before the runs of the next one do.
            unsafe { lanes.store_lane(p, dst.wrapping_add(p * filled)) }
        });
        if fits {
            // SAFETY: the row goes on for as long as the lane.
            unsafe { lanes.store_lane(V::LANES - 1, row.wrapping_add(last)) }
        } else {
            let mut lane = [0; LANE_BYTES];
            // SAFETY: there is room for a lane.
            unsafe { lanes.store_lane(V::LANES - 1, lane.as_mut_ptr()) }
            // SAFETY: M2 holds for the runs of the last lane.
            unsafe { copy_end(&lane, filled, row.wrapping_add(last)) }
        }
    });
}

/// Copies the first `filled` bytes of a lane, at least half of them.
///
/// # Safety
///
/// M2 for as many bytes at `dst`.
#[inline(always)]
unsafe fn copy_end(lane: &[u8; LANE_BYTES], filled: usize, dst: *mut u8) {
    const HALF: usize = LANE_BYTES / 2;
    let from = lane.as_ptr();
    // SAFETY: the first half of the lane, which is written by M2.
    unsafe { from.copy_to_nonoverlapping(dst, HALF) };
    let rest = filled - HALF;
    // SAFETY: the last 8 of `filled` bytes, 8 to 16, which are written by M2.
    unsafe { from.wrapping_add(rest).copy_to_nonoverlapping(dst.wrapping_add(rest), HALF) };
}
