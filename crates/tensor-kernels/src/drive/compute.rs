//! Running an elementwise operation: bring each operand into lanes, compute, store.

use std::mem::MaybeUninit;

use super::{Ends, cursor::walk, share};
use crate::{
    Exec,
    micro::{self, Compute, Isa, Kernel, Lane, Scalar, Stores},
    plan::{Access, ElementwiseWork, SCRATCH},
};

/// Computes what `work` describes for the views that `ends` came from.
///
/// `work` must have been planned for the layouts of those views: that is what makes every offset it visits one of theirs.
pub(crate) fn compute<const N: usize, O: Compute<N>>(
    exec: &Exec,
    work: &ElementwiseWork<N>,
    operation: &O,
    ends: Ends<'_, N>,
) {
    debug_assert_eq!(work.widths, O::WIDTHS);
    let simd = exec.simd;
    share(exec, work, move |work| {
        if work.lanes.len == 0 {
            return;
        }
        if work.uses_scratch() {
            micro::dispatch(simd, Blocks { work, operation, ends });
        } else {
            micro::dispatch(simd, Rows { work, operation, ends });
        }
    });
}

/// The places of all operands, and how to move on. Places are bytes; strides are counted in elements of each operand.
fn starts<const N: usize>(work: &ElementwiseWork<N>, ends: Ends<'_, N>) -> [*mut u8; N] {
    advance(ends.0.map(|place| place.base), work.starts, &work.widths)
}

#[inline(always)]
fn advance<const N: usize>(
    places: [*mut u8; N],
    by: [isize; N],
    widths: &[usize; N],
) -> [*mut u8; N] {
    std::array::from_fn(|k| places[k].wrapping_offset(by[k] * widths[k] as isize))
}

fn scaled<const N: usize>(strides: [isize; N], times: usize) -> [isize; N] {
    strides.map(|stride| stride * times as isize)
}

/// Every operand lies in lanes as it is.
struct Rows<'a, const N: usize, O> {
    work: &'a ElementwiseWork<N>,
    operation: &'a O,
    ends: Ends<'a, N>,
}

impl<const N: usize, O: Compute<N>> Kernel for Rows<'_, N, O> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Rows { work, operation, ends } = self;
        let base = starts(work, ends);
        let same = work.access.map(|access| access == Access::Same);
        walk(&work.outer, |at| {
            let mut row = advance(base, at, &O::WIDTHS);
            for _ in 0..work.rows.len {
                // SAFETY: the ends' invariants, for offsets that the plan visits: they are the layouts'. Elements of views are aligned.
                unsafe { operation.row(row, same, work.lanes.len) };
                row = advance(row, work.rows.strides, &O::WIDTHS);
            }
        });
    }
}

/// Some operand has to be brought into lanes, block by block.
struct Blocks<'a, const N: usize, O> {
    work: &'a ElementwiseWork<N>,
    operation: &'a O,
    ends: Ends<'a, N>,
}

/// Room for a block of one operand.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Scratch([MaybeUninit<u8>; SCRATCH]);

impl<const N: usize, O: Compute<N>> Kernel for Blocks<'_, N, O> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Blocks { work, operation, ends } = self;
        let base = starts(work, ends);
        let mut scratch = [const { Scratch([MaybeUninit::uninit(); SCRATCH]) }; N];
        let scratch: [*mut u8; N] = scratch.each_mut().map(|room| room.0.as_mut_ptr().cast());
        let solid = ends.0.map(|place| place.solid);
        let (rows, lanes) = work.block();
        walk(&work.outer, |at| {
            let base = advance(base, at, &O::WIDTHS);
            for j in (0..work.rows.len).step_by(rows) {
                for i in (0..work.lanes.len).step_by(lanes) {
                    let corner = advance(base, scaled(work.rows.strides, j), &O::WIDTHS);
                    let corner = advance(corner, scaled(work.lanes.strides, i), &O::WIDTHS);
                    let extent = Extent {
                        rows: rows.min(work.rows.len - j),
                        lanes: lanes.min(work.lanes.len - i),
                    };
                    // SAFETY: the ends' invariants, for offsets that the plan visits; a block's elements fit into the scratch of each operand.
                    unsafe { block(isa, work, operation, corner, scratch, solid, extent) };
                }
            }
        });
    }
}

#[derive(Clone, Copy)]
struct Extent {
    rows: usize,
    lanes: usize,
}

/// One block: inputs in, rows computed, result out.
///
/// # Safety
/// The elements of the block can be read, and operand 0's written; each `scratch` has room for them, in rows of `extent.lanes`.
#[inline(always)]
unsafe fn block<const N: usize, I: Isa, O: Compute<N>>(
    isa: I,
    work: &ElementwiseWork<N>,
    operation: &O,
    corner: [*mut u8; N],
    scratch: [*mut u8; N],
    solid: [bool; N],
    extent: Extent,
) {
    for k in 1..N {
        let layout = Block { rows: work.rows.strides[k], lanes: work.lanes.strides[k], extent };
        match (work.access[k], solid[k]) {
            (Access::Lanes | Access::Same, _) => {}
            // SAFETY: the caller's.
            (access, true) => unsafe {
                bring_in(isa, access, O::WIDTHS[k], corner[k], scratch[k], layout);
            },
            // Only the portable kernels never read the gaps between elements.
            // SAFETY: the caller's.
            (access, false) => unsafe {
                bring_in(Scalar, access, O::WIDTHS[k], corner[k], scratch[k], layout);
            },
        }
    }
    let same = work.access.map(|access| access == Access::Same);
    let direct = |k: usize| matches!(work.access[k], Access::Lanes | Access::Same);
    for j in 0..extent.rows {
        let row = std::array::from_fn(|k| {
            let (place, stride) = if direct(k) {
                (corner[k], work.rows.strides[k])
            } else {
                (scratch[k], extent.lanes as isize)
            };
            place.wrapping_offset(stride * (j * O::WIDTHS[k]) as isize)
        });
        // SAFETY: rows lie in the operands or in their scratch; both are aligned.
        unsafe { operation.row(row, same, extent.lanes) };
    }
    if !direct(0) {
        let layout = Block { rows: work.rows.strides[0], lanes: work.lanes.strides[0], extent };
        // SAFETY: the caller's; every row of the scratch has just been computed.
        unsafe { bring_out(O::WIDTHS[0], scratch[0], corner[0], layout) };
    }
}

/// Where the elements of a block lie: strides in elements.
#[derive(Clone, Copy)]
struct Block {
    rows: isize,
    lanes: isize,
    extent: Extent,
}

/// Copies a block of an input into its scratch, row by row adjacent.
///
/// # Safety
/// M1 for the block's elements of `width` bytes at `from`; room for them at `to`.
#[inline(always)]
unsafe fn bring_in<I: Isa>(
    isa: I,
    access: Access,
    width: usize,
    from: *mut u8,
    to: *mut u8,
    block: Block,
) {
    match width {
        // SAFETY: the caller's.
        1 => unsafe { in_units::<I, u8>(isa, access, from.cast(), to.cast(), block) },
        // SAFETY: the caller's.
        2 => unsafe { in_units::<I, u16>(isa, access, from.cast(), to.cast(), block) },
        // SAFETY: the caller's.
        4 => unsafe { in_units::<I, u32>(isa, access, from.cast(), to.cast(), block) },
        // SAFETY: the caller's.
        8 => unsafe { in_units::<I, u64>(isa, access, from.cast(), to.cast(), block) },
        // SAFETY: the caller's.
        16 => unsafe { in_units::<I, u128>(isa, access, from.cast(), to.cast(), block) },
        // SAFETY: the caller's.
        _ => unsafe { by_bytes(width, Loops2 { from: block, to: packed(block) }, from, to) },
    }
}

/// # Safety
/// As [`bring_in`].
#[inline(always)]
unsafe fn in_units<I: Isa, L: Lane>(
    isa: I,
    access: Access,
    from: *const L,
    to: *mut L,
    block: Block,
) {
    let Extent { rows, lanes } = block.extent;
    if access == Access::Tile {
        // SAFETY: the caller's.
        return unsafe { isa.transpose(from, block.lanes, to, lanes as isize, lanes, rows) };
    }
    for j in 0..rows {
        let (from, to) =
            (from.wrapping_offset(block.rows * j as isize), to.wrapping_add(lanes * j));
        // SAFETY: the caller's.
        unsafe { isa.gather_run(from, block.lanes, to, lanes, Stores::Plain) };
    }
}

/// Copies the scratch of the result to where it belongs.
///
/// # Safety
/// The block's elements of `width` bytes can be read at `from`, row by row adjacent, and written at `to`.
#[inline(always)]
unsafe fn bring_out(width: usize, from: *mut u8, to: *mut u8, block: Block) {
    // SAFETY: the caller's.
    unsafe { by_bytes(width, Loops2 { from: packed(block), to: block }, from, to) };
}

fn packed(block: Block) -> Block {
    Block { rows: block.extent.lanes as isize, lanes: 1, ..block }
}

#[derive(Clone, Copy)]
struct Loops2 {
    from: Block,
    to: Block,
}

/// Element by element, whatever the width.
///
/// # Safety
/// The elements can be read at `from` and written at `to`.
#[inline(always)]
unsafe fn by_bytes(
    width: usize,
    Loops2 { from: read, to: write }: Loops2,
    from: *mut u8,
    to: *mut u8,
) {
    let place = |block: Block, j: usize, i: usize| {
        (block.rows * j as isize + block.lanes * i as isize) * width as isize
    };
    for j in 0..read.extent.rows {
        for i in 0..read.extent.lanes {
            let (from, to) =
                (from.wrapping_offset(place(read, j, i)), to.wrapping_offset(place(write, j, i)));
            // SAFETY: one of the caller's elements; the scratch is no part of an operand.
            unsafe { std::ptr::copy_nonoverlapping(from, to, width) };
        }
    }
}
