//! Running an elementwise operation: bring each operand into lanes, compute, store.
//!
//! None of this depends on the operation, which is called through its [`Operation`]: a program with a thousand of them has this once.

use std::mem::MaybeUninit;

use super::{
    Ends,
    cursor::walk,
    pack::{self, Extent, Plane},
    share,
};
use crate::{
    Exec, SimdLevel,
    micro::{Lanes, Operation},
    plan::{Access, ElementwiseWork, SCRATCH},
};

/// Computes what `work` describes for the views that `ends` came from.
///
/// `work` must have been planned for the layouts of those views and the widths of their elements: that is what makes every offset it visits one of
/// theirs.
pub(crate) fn compute<const N: usize>(
    exec: &Exec,
    work: &ElementwiseWork<N>,
    operation: &dyn Operation<N>,
    ends: Ends<'_, N>,
) {
    let simd = exec.simd();
    share(exec, work, move |work| {
        let piece = Piece { simd, work, operation, ends };
        match (work.lanes.len, work.uses_scratch()) {
            (0, _) => {}
            (_, false) => piece.directly(),
            (_, true) => piece.by_blocks(),
        }
    });
}

/// Work on one thread.
#[derive(Clone, Copy)]
struct Piece<'a, const N: usize> {
    simd: SimdLevel,
    work: &'a ElementwiseWork<N>,
    operation: &'a dyn Operation<N>,
    ends: Ends<'a, N>,
}

/// Room for a block of one operand.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Scratch([MaybeUninit<u8>; SCRATCH]);

impl<const N: usize> Piece<'_, N> {
    /// Every operand lies in lanes as it is.
    fn directly(self) {
        let work = self.work;
        let (base, row_steps) = (self.start(), self.bytes(work.rows.strides));
        let (same, rows, len) = (self.same(), work.rows.len, work.lanes.len);
        walk(&work.outer, |at| {
            let lanes = Lanes { places: advance(base, self.bytes(at)), row_steps, same, rows, len };
            // SAFETY: the ends' invariants, for offsets that the plan visits: they are the layouts'. Elements of views are aligned.
            unsafe { self.operation.compute(self.simd, lanes) };
        });
    }

    /// Some operand has to be brought into lanes, block by block.
    fn by_blocks(self) {
        let work = self.work;
        let mut scratch = [const { Scratch([MaybeUninit::uninit(); SCRATCH]) }; N];
        let scratch: [*mut u8; N] = scratch.each_mut().map(|room| room.0.as_mut_ptr().cast());
        let (rows, lanes) = work.block();
        let (row_steps, lane_steps) =
            (self.bytes(work.rows.strides), self.bytes(work.lanes.strides));
        walk(&work.outer, |at| {
            let base = advance(self.start(), self.bytes(at));
            for j in (0..work.rows.len).step_by(rows) {
                for i in (0..work.lanes.len).step_by(lanes) {
                    let corner = advance(advance(base, times(row_steps, j)), times(lane_steps, i));
                    let extent = Extent {
                        rows: rows.min(work.rows.len - j),
                        lanes: lanes.min(work.lanes.len - i),
                    };
                    // SAFETY: the ends' invariants, for offsets that the plan visits; a block's elements fit into the scratch of each operand.
                    unsafe { self.block(corner, scratch, extent) };
                }
            }
        });
    }

    /// One block: inputs in, rows computed, result out.
    ///
    /// # Safety
    /// The elements of the block can be read, and operand 0's written; each `scratch` has room for them, in rows of `extent.lanes`.
    unsafe fn block(self, corner: [*mut u8; N], scratch: [*mut u8; N], extent: Extent) {
        let direct: [bool; N] =
            self.work.access.map(|access| matches!(access, Access::Lanes | Access::Same));
        for k in (1..N).filter(|&k| !direct[k]) {
            let solid = self.ends.0[k].solid;
            // SAFETY: the caller's.
            unsafe {
                pack::bring_in(self.simd, self.plane(k, extent), corner[k], scratch[k], solid);
            };
        }
        let widths = self.work.widths;
        let row_steps = std::array::from_fn(|k| {
            let stride = if direct[k] { self.work.rows.strides[k] } else { extent.lanes as isize };
            stride * widths[k] as isize
        });
        let places = std::array::from_fn(|k| if direct[k] { corner[k] } else { scratch[k] });
        let lanes =
            Lanes { places, row_steps, same: self.same(), rows: extent.rows, len: extent.lanes };
        // SAFETY: rows lie in the operands or in their scratch; both are aligned.
        unsafe { self.operation.compute(self.simd, lanes) };
        if !direct[0] {
            // SAFETY: the caller's; every row of the scratch has just been computed.
            unsafe { pack::bring_out(self.plane(0, extent), scratch[0], corner[0]) };
        }
    }

    /// Where operand `k`'s elements of a block lie.
    fn plane(&self, k: usize, extent: Extent) -> Plane {
        let (rows, lanes) = (self.work.rows.strides[k], self.work.lanes.strides[k]);
        Plane { width: self.work.widths[k], rows, lanes, extent }
    }

    fn start(&self) -> [*mut u8; N] {
        advance(self.ends.0.map(|place| place.base), self.bytes(self.work.starts))
    }

    /// Distances in elements of each operand, as bytes.
    fn bytes(&self, elements: [isize; N]) -> [isize; N] {
        std::array::from_fn(|k| elements[k] * self.work.widths[k] as isize)
    }

    fn same(&self) -> [bool; N] {
        self.work.access.map(|access| access == Access::Same)
    }
}

fn advance<const N: usize>(places: [*mut u8; N], by: [isize; N]) -> [*mut u8; N] {
    std::array::from_fn(|k| places[k].wrapping_offset(by[k]))
}

fn times<const N: usize>(steps: [isize; N], count: usize) -> [isize; N] {
    steps.map(|step| step * count as isize)
}
