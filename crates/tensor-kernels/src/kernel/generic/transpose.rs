//! The transpose of a block: source rows become destination columns.
//!
//! # Method
//!
//! Let `N` be the elements in a 128-bit lane. A tile reads one lane of as many source rows as a
//! destination line has elements. The loads put the lanes of rows `r`, `r + N`, `r + 2 N` … side by
//! side in register `r`. What remains is an `N` by `N` transpose inside each lane: `log2 N` perfect
//! shuffles, after which every register is a whole destination line. A 512-bit tile of `f32` so
//! costs 2 shuffles per line, where the textbook 16×16 transpose costs 4. Reads of 16 bytes rarely
//! straddle two cache lines, however rows are aligned. One algorithm serves elements of 1 to 16
//! bytes.
//!
//! 1. *Tiles*, where both extents hold one. The last tile of a row or column overlaps the one
//!    before, so there is no remainder; see [`strips`] and [`byte_tiles`].
//! 2. *Fewer source rows than a register has elements*: [`few_rows`].
//! 3. *Source rows shorter than a lane*: [`gather`].
//! 4. *Destination rows shorter than a lane*: [`interleave`].
//! 5. Both shorter: a few elements, copied one by one.
//!
//! # Tried and dropped
//!
//! - The `u` loop inside, along the destination: 10–40 % slower from 64 KiB on for 1- and 2-byte
//!   elements. Their source lines are then fetched once per lane, and with strides that are powers
//!   of two they compete for one cache set.
//! - In a cache, prefetching the source 256 or 512 bytes ahead, or a whole strip of it row by row,
//!   or the destination lines of the next tiles: no gain or a loss (before Emerald Rapids was
//!   measured). It pays from memory, see [`source_ahead`](super::source_ahead), and where stores
//!   are split, see [`destination_ahead`](super::destination_ahead).
//! - The loop over small blocks inside the kernel: the compiler keeps a pointer for every address
//!   of every path, and advances all of them in each iteration.
//! - Destination lines in two halves, one per 256-bit tile: half the speed as soon as a block
//!   exceeds L1, and a tenth with non-temporal stores.

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

#[cfg(feature = "elementwise")]
use super::finish::Several;
use super::{
    byte_tiles, copy, few_rows,
    finish::{Epilogue, Keep},
    gather, interleave,
    register::{Registers, Vector},
    strips, tiles_apart,
};
#[cfg(feature = "elementwise")]
use crate::kernel::register_op::Finishing;
#[cfg(feature = "elementwise")]
use crate::tuning::FINISHED_ALONG_ROWS_REGISTERS;
use crate::{
    kernel::{
        portable,
        transpose_block::{Residency, TransposeBlock},
        unit::Unit,
    },
    memory::{CACHE_LINE, Stores},
    tuning::pays_by_lanes,
};

/// The transpose of a block. A function of its own, as it is too large to be inlined at every call
/// site.
///
/// Invariant: only [`transpose`] makes it; M1 to M3 hold for the block, M4 if the stores are
/// streamed.
struct Transpose<R, L> {
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    unit: PhantomData<L>,
}

/// The same with an operation.
///
/// Invariant: only [`finished`] makes it; that of [`Transpose`], and F1.
#[cfg(feature = "elementwise")]
struct TransposeFinished<'f, R, L, E> {
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    finishing: &'f Finishing,
    epilogue: E,
    unit: PhantomData<L>,
}

/// Transposes a block of elements.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn plain<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    // SAFETY: M1 to M3 hold for the block; M4 concerns non-temporal stores only.
    unsafe { transpose::<R, L>(isa, block, Stores::Plain) }
}

/// Transposes a block of elements. The whole lines of its destination are written with non-temporal
/// stores, if all its rows start at the same offset in a line.
///
/// # Safety
///
/// M1, M2, M3 for the block.
#[inline(always)]
pub(super) unsafe fn streamed<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    let [before, whole, after] = by_lines::<L>(block);
    // SAFETY: M1 to M3 hold for a part of the block: the first destination columns.
    unsafe { transpose::<R, L>(isa, before, Stores::Plain) }
    // SAFETY: M1 to M3 hold for a part of the block; `by_lines` has chosen whole lines, M4.
    unsafe { transpose::<R, L>(isa, whole, Stores::NonTemporal) }
    // SAFETY: M1 to M3 hold for a part of the block: the last destination columns.
    unsafe { transpose::<R, L>(isa, after, Stores::Plain) }
}

/// Transposes a block of floats and writes the results of an operation: by [`plain`] stores, or as
/// [`streamed`] does.
///
/// # Safety
///
/// M1, M2, M3 and F1 for the block.
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn finished<R: Registers, L: Unit>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    finishing: &Finishing,
) {
    let nothing = block.part::<L>((0, 0), (0, 0));
    let parts = match stores {
        Stores::NonTemporal => by_lines::<L>(block),
        Stores::Plain | Stores::Narrow => [block, nothing, nothing],
    };
    for (block, stores) in parts.into_iter().zip([Stores::Plain, stores, Stores::Plain]) {
        if block.nu == 0 || block.nv == 0 {
            continue;
        }
        let unit = PhantomData::<L>;
        if finishing.transposes_others() {
            let epilogue = Several(finishing);
            isa.vectorize(TransposeFinished { isa, block, stores, finishing, epilogue, unit });
        } else {
            let epilogue = finishing;
            isa.vectorize(TransposeFinished { isa, block, stores, finishing, epilogue, unit });
        }
    }
}

#[cfg(feature = "elementwise")]
impl<R: Registers, L: Unit, E: Epilogue> NullaryFnOnce for TransposeFinished<'_, R, L, E> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block, stores, finishing, epilogue, .. } = self;
        if block.nu < L::PER_LANE || block.nv < L::PER_LANE {
            // SAFETY: the invariant.
            unsafe { portable::transpose_finished::<L>(block, finishing) }
            return;
        }
        let is_narrow = block.nu < R::Full::LANES * L::PER_LANE;
        let register = const { R::Native::LANES * L::PER_LANE };
        if is_narrow && has_lanes::<R, L>() && block.nv >= FINISHED_ALONG_ROWS_REGISTERS * register
        {
            // SAFETY: the invariant; the extents hold a lane by a register.
            unsafe { few_rows::transpose::<R::Native, L, E>(isa.into(), block, epilogue) }
        } else {
            // SAFETY: the invariant; the extents hold a lane by a lane. Blocks of whole lines,
            // which may be streamed, have the destination rows of a register.
            unsafe { tiles::<R, L, E>(isa, block, stores, epilogue) }
        }
    }
}

/// The destination columns before, in and after whole lines. The last two parts are empty unless
/// all rows start at the same offset in a line and no element straddles two lines.
fn by_lines<L: Unit>(block: TransposeBlock) -> [TransposeBlock; 3] {
    let (head, per_line) = (copy::to_line(block.dst), CACHE_LINE / L::WIDTH);
    let alike = block.dst_step % CACHE_LINE as isize == 0 && head.is_multiple_of(L::WIDTH);
    let head = if alike { block.nu.min(head / L::WIDTH) } else { block.nu };
    let whole = (block.nu - head) / per_line * per_line;
    [(0, head), (head, whole), (head + whole, block.nu - head - whole)]
        .map(|rows| block.part::<L>(rows, (0, block.nv)))
}

/// # Safety
///
/// M1, M2, M3 for the block, and M4 if the stores are non-temporal.
#[inline(always)]
unsafe fn transpose<R: Registers, L: Unit>(isa: R, block: TransposeBlock, stores: Stores) {
    if block.nu > 0 && block.nv > 0 {
        isa.vectorize(Transpose { isa, block, stores, unit: PhantomData::<L> });
    }
}

impl<R: Registers, L: Unit> NullaryFnOnce for Transpose<R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.stores {
            // SAFETY: the invariant: M1 to M4 for the block.
            Stores::NonTemporal if R::NON_TEMPORAL => unsafe {
                whole_lines::<R, L>(self.isa, self.block);
            },
            // SAFETY: the invariant: M1 to M3; M4 concerns non-temporal stores only.
            _ => unsafe { any_block::<R, L>(self.isa, self.block) },
        }
    }
}

/// Transposes a block whose destination rows are whole cache lines. A line holds any register, so
/// fewer cases are compiled.
///
/// # Safety
///
/// M1 to M4 for the block.
#[inline(always)]
unsafe fn whole_lines<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    debug_assert!(block.nu * L::WIDTH >= CACHE_LINE, "whole lines");
    if const { L::PER_LANE == 1 } || block.nv >= L::PER_LANE {
        // SAFETY: M1 to M4 hold for the block, whose extents hold a register and a lane.
        unsafe { wide_tiles::<R, L, _>(isa, block, Stores::NonTemporal, Keep) }
    } else {
        // SAFETY: M1 to M4 hold for the block, whose source rows are shorter than a lane.
        unsafe { gather::short_source_rows::<R, L, true>(isa, block) }
    }
}

/// Transposes a block of any extents but 0.
///
/// # Safety
///
/// M1 to M3 for the block.
#[inline(always)]
unsafe fn any_block<R: Registers, L: Unit>(isa: R, block: TransposeBlock) {
    if const { L::PER_LANE == 1 } {
        // SAFETY: M1 to M3 hold for the block; an element is a lane, and no extent is 0.
        return unsafe { tiles::<R, L, _>(isa, block, Stores::Plain, Keep) };
    }
    match (block.nu >= L::PER_LANE, block.nv >= L::PER_LANE) {
        // SAFETY: M1 to M3 hold for the block; both extents are at least a lane.
        (true, true) => unsafe { tiles::<R, L, _>(isa, block, Stores::Plain, Keep) },
        // SAFETY: M1 to M3 for the block, whose source rows are shorter than a lane.
        (true, false) => unsafe { gather::short_source_rows::<R, L, false>(isa, block) },
        // SAFETY: M1 to M3 for the block, whose destination rows are shorter than a lane.
        (false, true) => unsafe { interleave::short_destination_rows::<R, L>(isa, block) },
        // SAFETY: M1 to M3 hold for the block, by this function's contract.
        (false, false) => unsafe { portable::transpose_few::<L>(block) },
    }
}

/// Covers the block with tiles, of the widest register that fits. Only blocks whose destination
/// rows are whole lines may be streamed.
///
/// # Safety
///
/// That of [`transpose`]; both extents are at least a lane.
#[inline(always)]
unsafe fn tiles<R: Registers, L: Unit, E: Epilogue>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    epilogue: E,
) {
    if reads_along_rows::<R, L>(block) {
        // SAFETY: the extents hold a lane by a register.
        unsafe { few_rows::transpose::<R::Native, L, E>(isa.into(), block, epilogue) }
    } else if block.nu >= R::Full::LANES * L::PER_LANE {
        // SAFETY: the extents hold a register by a lane.
        unsafe { wide_tiles::<R, L, E>(isa, block, stores, epilogue) }
    } else if block.nu >= R::Half::LANES * L::PER_LANE {
        // SAFETY: the extents hold a half register by a lane.
        unsafe { strips::cover::<R::Half, L, E>(isa.into(), block, 1, Stores::Plain, epilogue) }
    } else {
        // SAFETY: the extents hold a lane by a lane.
        unsafe { strips::cover::<R::Lane, L, E>(isa.into(), block, 1, Stores::Plain, epilogue) }
    }
}

/// Is a block read a register of each source row at a time? Its destination rows are then written
/// lane by lane, which takes longer, and pays if tiles would cover many more columns than it has;
/// not if the source is in memory, see [`few_rows`].
#[inline(always)]
fn reads_along_rows<R: Registers, L: Unit>(block: TransposeBlock) -> bool {
    let register = const { R::Native::LANES * L::PER_LANE };
    block.residency != Residency::Memory
        && may_read_along_rows::<R, L>(block)
        && pays_by_lanes((block.nu, L::PER_LANE), (block.nv, register))
}

/// Do source rows hold a register, of several lanes of several elements?
#[inline(always)]
fn may_read_along_rows<R: Registers, L: Unit>(block: TransposeBlock) -> bool {
    has_lanes::<R, L>() && block.nv >= R::Native::LANES * L::PER_LANE
}

/// Has a register several lanes of several elements?
#[inline(always)]
const fn has_lanes<R: Registers, L: Unit>() -> bool {
    R::Native::LANES > 1 && L::PER_LANE > 1
}

/// Covers the block with tiles of whole registers.
///
/// # Safety
///
/// That of [`transpose`]; the extents are at least a register by a lane.
#[inline(always)]
unsafe fn wide_tiles<R: Registers, L: Unit, E: Epilogue>(
    isa: R,
    block: TransposeBlock,
    stores: Stores,
    epilogue: E,
) {
    let together = strips::lanes_per_tile(L::WIDTH);
    if tiles_apart::suits::<R, L>(block, stores) {
        // SAFETY: this function's contract; the extents hold a register.
        unsafe { tiles_apart::cover::<R::Full, L, E>(isa.into(), block, epilogue) }
    } else if const { L::WIDTH == 1 } {
        // SAFETY: units are bytes, and the extents hold a register by a lane.
        unsafe { byte_tiles::cover::<R, E>(isa, block, stores, epilogue) }
    } else if block.nv >= together * L::PER_LANE {
        // SAFETY: the extents hold a register by `together` lanes.
        unsafe { strips::cover::<R::Full, L, E>(isa.into(), block, together, stores, epilogue) }
    } else {
        // SAFETY: the extents hold a register by a lane.
        unsafe { strips::cover::<R::Full, L, E>(isa.into(), block, 1, stores, epilogue) }
    }
}
