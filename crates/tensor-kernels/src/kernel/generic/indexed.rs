//! The transpose of a block whose rows lie at offsets of a table.
//!
//! The tiles are those of `transpose`. Rows are looked up, so a block may consist of any number of
//! loops. There are fewer cases: tiles of whole registers, or of single lanes in blocks of fewer
//! columns; source or destination rows of less than a lane; element by element.

use pulp::NullaryFnOnce;

#[cfg(feature = "elementwise")]
use super::finish::Several;
use super::{
    destination_ahead::{Ahead, DestinationAhead, rows_at_once},
    finish::{Epilogue, Keep},
    register::{Computes, LANE_BYTES, Registers, Vector},
    source::Listed,
    unroll::unrolled,
};
#[cfg(feature = "elementwise")]
use crate::kernel::register_op::Finishing;
use crate::kernel::{indexed_block::IndexedBlock, portable, unit::Unit};

/// The transpose of a block. A function of its own, as it is too large to be inlined at every call
/// site.
///
/// Invariant: only [`transpose`] makes it; M1 to M3 hold for the block, whose destination is
/// adjacent along the columns and whose source is adjacent along the rows.
struct Transpose<'t, R, L> {
    isa: R,
    block: IndexedBlock<'t, L>,
}

/// Transposes a block of elements.
///
/// # Safety
///
/// M1, M2, M3 for the block. The destination is adjacent along the columns. `rows[v][1]` is the
/// offset of `v` adjacent elements.
#[inline(always)]
pub(super) unsafe fn transpose<R: Registers, L: Unit>(isa: R, block: IndexedBlock<'_, L>) {
    isa.vectorize(Transpose { isa, block });
}

impl<R: Registers, L: Unit> NullaryFnOnce for Transpose<'_, R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block } = self;
        match (block.columns.len() >= L::PER_LANE, block.rows.len() >= L::PER_LANE) {
            // SAFETY: the invariant; the extents hold a lane by a lane.
            (true, true) => unsafe { tiles(isa, block) },
            // SAFETY: the invariant; the destination rows hold a lane.
            (true, false) if const { L::PER_LANE >= 8 } => unsafe { short_source_rows(isa, block) },
            // SAFETY: the invariant; the source rows hold a lane.
            (false, true) if const { L::PER_LANE >= 8 } => unsafe {
                short_destination_rows(isa, block);
            },
            // SAFETY: the invariant: M1 to M3 hold for the block.
            _ => unsafe { portable::transpose_indexed(block) },
        }
    }
}

/// [`Transpose`] with an operation.
///
/// Invariant: only [`finished`] makes it; that of [`Transpose`], and F1.
#[cfg(feature = "elementwise")]
struct TransposeFinished<'t, R, L, E> {
    isa: R,
    block: IndexedBlock<'t, L>,
    finishing: &'t Finishing,
    epilogue: E,
}

/// Transposes a block of floats, and writes the results of an operation.
///
/// # Safety
///
/// That of [`transpose`], and F1.
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn finished<R: Registers, L: Unit>(
    isa: R,
    block: IndexedBlock<'_, L>,
    finishing: &Finishing,
) {
    if finishing.transposes_others() {
        isa.vectorize(TransposeFinished { isa, block, finishing, epilogue: Several(finishing) });
    } else {
        isa.vectorize(TransposeFinished { isa, block, finishing, epilogue: finishing });
    }
}

#[cfg(feature = "elementwise")]
impl<R: Registers, L: Unit, E: Epilogue> NullaryFnOnce for TransposeFinished<'_, R, L, E> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block, finishing, epilogue } = self;
        if block.columns.len() < L::PER_LANE || block.rows.len() < L::PER_LANE {
            // SAFETY: the invariant.
            unsafe { portable::transpose_indexed_finished(block, finishing) }
        } else if block.columns.len() >= R::Full::LANES * L::PER_LANE {
            // SAFETY: the invariant; the extents hold a register by a lane.
            unsafe { cover::<R::Full, L, _>(isa.into(), block, epilogue) }
        } else {
            // SAFETY: the invariant; the extents hold a lane by a lane.
            unsafe { cover::<R::Lane, L, _>(isa.into(), block, epilogue) }
        }
    }
}

/// The fewest rows or columns for which it is worth transposing whole lanes.
const FEWEST_OF_A_LANE: usize = 4;

/// Covers the block with tiles, of the widest register that fits.
///
/// # Safety
///
/// M1 to M3 for the block; the extents hold a lane by a lane.
#[inline(always)]
unsafe fn tiles<R: Registers, L: Unit>(isa: R, block: IndexedBlock<'_, L>) {
    if block.columns.len() >= R::Full::LANES * L::PER_LANE {
        // SAFETY: the extents hold a register by a lane.
        unsafe { cover::<R::Full, L, _>(isa.into(), block, Keep) }
    } else {
        // SAFETY: the extents hold a lane by a lane.
        unsafe { cover::<R::Lane, L, _>(isa.into(), block, Keep) }
    }
}

/// Covers the block with tiles. The last tile of a row or column overlaps the one before.
///
/// # Safety
///
/// M1 to M3 for the block; the extents hold a register of `V` by a lane.
#[inline(always)]
unsafe fn cover<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: IndexedBlock<'_, L>,
    epilogue: E,
) {
    let tile_columns = V::LANES * L::PER_LANE;
    let last_u = block.columns.len() - tile_columns;
    let ahead = DestinationAhead::of_indexed::<V, L>(&block);
    let part = if ahead.is_some() { const { rows_at_once::<L>() } } else { block.rows.len() };
    let end_of_part = |from: usize| block.rows.len().min(from + part);
    let mut u = 0;
    loop {
        let columns = &block.columns[u..u + tile_columns];
        let dst = block.dst.cast::<u8>().wrapping_offset(columns[0][0]);
        let mut from = 0;
        while from < block.rows.len() {
            let to = end_of_part(from);
            if let Some(ahead) = ahead {
                ahead.at_column(u).prefetch_indexed(dst, &block.rows[to..end_of_part(to)]);
            }
            let last_v = to - L::PER_LANE;
            let mut v = from.min(last_v);
            loop {
                // SAFETY: `u <= last_u` and `v + PER_LANE <= to`: the tile lies in the block.
                unsafe { tile::<V, L, E>(token, &block, columns, v, epilogue) }
                if v >= last_v {
                    break;
                }
                v = (v + L::PER_LANE).min(last_v);
            }
            from = to;
        }
        if u >= last_u {
            break;
        }
        u = (u + tile_columns).min(last_u);
    }
}

/// One tile, of these columns and the rows from `v` on.
///
/// # Safety
///
/// That of [`cover`]; the tile lies in the block.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn tile<V: Computes, L: Unit, E: Epilogue>(
    token: V::Token,
    block: &IndexedBlock<'_, L>,
    columns: &[[isize; 2]],
    v: usize,
    epilogue: E,
) {
    let src = block.src.wrapping_add(v).cast::<u8>();
    let dst = block.dst.cast::<u8>().wrapping_offset(columns[0][0]);
    let rows = &block.rows[v..v + L::PER_LANE];
    let at = |i: usize| dst.wrapping_offset(rows[i][0]);
    let source = (Listed(columns), src);
    // SAFETY: M1 holds for a lane of each of these source rows, F1 for the block.
    let lines = unsafe { epilogue.load::<V, L>(token, source, at, None) };
    unrolled!(i in 0..L::PER_LANE, 16 => {
        // SAFETY: M2 holds for a register in each of these destination rows.
        unsafe { lines[i].store(at(i)) }
    });
}

/// Source rows of less than a lane. A whole lane is read of each, except where that would reach
/// beyond the last element.
///
/// # Safety
///
/// M1 to M3 for the block; the destination rows hold a lane.
#[inline(always)]
unsafe fn short_source_rows<R: Registers, L: Unit>(isa: R, block: IndexedBlock<'_, L>) {
    if block.rows.len() < FEWEST_OF_A_LANE {
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        unsafe { portable::transpose_indexed(block) }
    } else if block.columns.len() >= R::Full::LANES * L::PER_LANE {
        // SAFETY: the destination rows hold a register.
        unsafe { cover_short::<R::Full, L>(isa.into(), block) }
    } else {
        // SAFETY: the destination rows hold a lane.
        unsafe { cover_short::<R::Lane, L>(isa.into(), block) }
    }
}

/// # Safety
///
/// M1 to M3 for the block; the destination rows hold a register of `V`.
#[inline(always)]
unsafe fn cover_short<V: Vector, L: Unit>(token: V::Token, block: IndexedBlock<'_, L>) {
    const { assert!(V::LANES * L::PER_LANE <= MAX_TILE_ROWS, "a lane for each row of a tile") };
    let tile_columns = V::LANES * L::PER_LANE;
    let row_bytes = block.rows.len() * L::WIDTH;
    let highest = block.columns.iter().fold(isize::MIN, |highest, at| highest.max(at[1]));
    // A lane at this offset or a lower one ends with the last element or before.
    let last_lane = highest + row_bytes as isize - LANE_BYTES as isize;
    let src = block.src.cast::<u8>();
    let mut rows = [[0_u8; LANE_BYTES]; MAX_TILE_ROWS];
    let mut u = 0;
    loop {
        let columns = &block.columns[u..u + tile_columns];
        let lines = if columns.iter().all(|at| at[1] <= last_lane) {
            // SAFETY: M1 holds for the gaps: no lane ends after the last element of the block.
            unsafe { V::load_columns_at::<L>(token, src, columns) }
        } else {
            for (row, at) in rows.iter_mut().zip(columns) {
                // SAFETY: M1 holds for the elements of a source row; a row of the array is longer.
                unsafe { copy_row::<L>(src.wrapping_offset(at[1]), row, block.rows.len()) };
            }
            let step = LANE_BYTES as isize;
            // SAFETY: the array has a lane for each row of a tile.
            unsafe { V::load_columns::<L>(token, rows.as_ptr().cast(), step) }
        };
        let dst = block.dst.cast::<u8>().wrapping_offset(columns[0][0]);
        unrolled!(i in 0..L::PER_LANE, 16 => if let Some(row) = block.rows.get(i) {
            // SAFETY: M2 holds for a register in each destination row.
            unsafe { lines[i].store(dst.wrapping_offset(row[0])) }
        });
        let last = block.columns.len() - tile_columns;
        if u >= last {
            return;
        }
        u = (u + tile_columns).min(last);
    }
}

/// Copies the `len` elements of a source row, fewer than a lane. A call of `memcpy` takes longer.
///
/// # Safety
///
/// M1 for the elements.
#[inline(always)]
unsafe fn copy_row<L: Unit>(src: *const u8, row: &mut [u8; LANE_BYTES], len: usize) {
    for (v, bytes) in row.chunks_exact_mut(L::WIDTH).take(len).enumerate() {
        // SAFETY: readable by M1.
        let element = unsafe { src.cast::<L>().wrapping_add(v).read_unaligned() };
        bytes.copy_from_slice(bytemuck::bytes_of(&element));
    }
}

/// The most source rows of a tile: 64 bytes of one-byte elements.
const MAX_TILE_ROWS: usize = 64;

/// Destination rows of less than a lane. Lanes are transposed as in a tile, and the elements of
/// each row are written as two words.
///
/// # Safety
///
/// M1 to M3 for the block; the source rows hold a lane.
#[inline(always)]
unsafe fn short_destination_rows<R: Registers, L: Unit>(isa: R, block: IndexedBlock<'_, L>) {
    if block.columns.len() < FEWEST_OF_A_LANE {
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        return unsafe { portable::transpose_indexed(block) };
    }
    match block.columns.len() * L::WIDTH {
        // SAFETY: a row is one to two words of four bytes: it has at least four elements.
        ..8 => unsafe { write_ends::<R, L, u32>(isa, block) },
        // SAFETY: a row is one to two words of eight bytes: it is shorter than a lane.
        _ => unsafe { write_ends::<R, L, u64>(isa, block) },
    }
}

/// # Safety
///
/// That of [`short_destination_rows`]; a destination row has at least four elements, and is one to
/// two words of `W`.
#[inline(always)]
unsafe fn write_ends<R: Registers, L: Unit, W: Unit>(isa: R, block: IndexedBlock<'_, L>) {
    let dst = block.dst.cast::<u8>().wrapping_offset(block.columns[0][0]);
    let last_word = block.columns.len() * L::WIDTH - W::WIDTH;
    let mut columns = [[0; 2]; LANE_BYTES];
    for (p, column) in columns[..L::PER_LANE].iter_mut().enumerate() {
        *column = block.columns[p.min(block.columns.len() - 1)];
    }
    let last = block.rows.len() - L::PER_LANE;
    let mut v = 0;
    loop {
        let src = block.src.wrapping_add(v).cast::<u8>();
        // SAFETY: M1 holds for a lane of each source row.
        let lanes = unsafe { R::Lane::load_columns_at::<L>(isa.into(), src, &columns) };
        let rows = &block.rows[v..v + L::PER_LANE];
        let mut words = [[0_u8; LANE_BYTES]; LANE_BYTES];
        unrolled!(i in 0..L::PER_LANE, 16 => {
            // SAFETY: the array is a lane.
            unsafe { lanes[i].store(words[i].as_mut_ptr()) }
        });
        for (words, row) in words.iter().zip(rows) {
            let to = dst.wrapping_offset(row[0]);
            for at in [0, last_word] {
                // SAFETY: the word lies in the array: a row is shorter than a lane.
                let word = unsafe { words.as_ptr().wrapping_add(at).cast::<W>().read_unaligned() };
                // SAFETY: M2 holds for the elements of the destination row.
                unsafe { to.wrapping_add(at).cast::<W>().write_unaligned(word) };
            }
        }
        if v >= last {
            return;
        }
        v = (v + L::PER_LANE).min(last);
    }
}
