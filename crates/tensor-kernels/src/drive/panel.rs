//! Transposes through a panel: see [`crate::plan`]'s `panel` for why.

use std::cell::Cell;

use crate::{
    micro::{Isa, Lane, Stores},
    plan::{Block, Panel},
};

/// A cache line of scratch memory.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code, reason = "only its bytes are used, through pointers")] [u8; LINE]);

const LINE: usize = 64;

thread_local! {
    /// The panel of this thread, kept from copy to copy: half a second-level cache at most.
    static PANEL: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// This thread's panel, while a copy uses it.
struct Scratch(Vec<Line>);

impl Scratch {
    /// A panel of at least `bytes`, or `None` if there is no memory for it.
    fn take(bytes: usize) -> Option<Self> {
        let mut lines = PANEL.take();
        let missing = bytes.div_ceil(LINE).saturating_sub(lines.len());
        lines.try_reserve_exact(missing).ok()?;
        lines.resize(lines.len() + missing, Line([0; LINE]));
        Some(Self(lines))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        PANEL.set(std::mem::take(&mut self.0));
    }
}

/// The transpose that `panel` describes.
///
/// # Safety
/// M1, M2 and M3 for its elements.
#[inline(always)]
pub(super) unsafe fn transpose<I: Isa, L: Lane>(
    isa: I,
    src: *const L,
    dst: *mut L,
    panel: &Panel,
    stores: Stores,
) {
    let (columns, rows) = panel.block.extents();
    // A line more than the row, so that rows do not fall on the same cache sets; none where the rows are one run.
    let pitch = if panel.one_run() {
        columns
    } else {
        columns.next_multiple_of(LINE / L::WIDTH) + LINE / L::WIDTH
    };
    let mut scratch = Scratch::take(rows * pitch * L::WIDTH);
    for_blocks(panel, |at, block| {
        let corner = Corner {
            src: src.wrapping_offset(panel.source(at)),
            dst: dst.wrapping_offset(panel.target(at)),
        };
        match &mut scratch {
            // SAFETY: the block's elements are among the caller's; the scratch has room for every block.
            Some(Scratch(lines)) => unsafe {
                through(isa, panel, block, corner, lines.as_mut_ptr().cast(), pitch, stores);
            },
            // SAFETY: as above.
            None => unsafe { directly(isa, panel, block, corner) },
        }
    });
}

/// Where a block starts.
#[derive(Clone, Copy)]
struct Corner<L> {
    src: *const L,
    dst: *mut L,
}

/// Visits the blocks: where each starts, and its extents.
#[inline(always)]
fn for_blocks(panel: &Panel, mut visit: impl FnMut(Block, Block)) {
    let Panel { u, v, u2, v2, block } = *panel;
    for j2 in (0..v2.len).step_by(block.v2) {
        for j in (0..v.len).step_by(block.v) {
            for i2 in (0..u2.len).step_by(block.u2) {
                for i in (0..u.len).step_by(block.u) {
                    let extent = Block {
                        u: block.u.min(u.len - i),
                        u2: block.u2.min(u2.len - i2),
                        v: block.v.min(v.len - j),
                        v2: block.v2.min(v2.len - j2),
                    };
                    visit(Block { u: i, u2: i2, v: j, v2: j2 }, extent);
                }
            }
        }
    }
}

impl Panel {
    /// The source's offset of an index.
    #[inline(always)]
    fn source(&self, at: Block) -> isize {
        at.u as isize * self.u.stride
            + at.v as isize
            + at.u2 as isize * self.u2.strides[1]
            + at.v2 as isize * self.v2.strides[1]
    }

    /// The destination's offset of an index.
    #[inline(always)]
    fn target(&self, at: Block) -> isize {
        at.u as isize
            + at.v as isize * self.v.stride
            + at.u2 as isize * self.u2.strides[0]
            + at.v2 as isize * self.v2.strides[0]
    }

    /// Do a block's rows lie one behind the other in the destination?
    #[inline(always)]
    fn one_run(&self) -> bool {
        self.v.stride == self.u.len as isize
            && self.block.u == self.u.len
            && self.block.u2 == 1
            && self.block.v2 == 1
    }
}

/// Into the panel by tiles, out of it by rows.
///
/// # Safety
/// M1, M2 and M3 for the block's elements; `scratch` has room for its rows at distance `pitch`.
#[inline(always)]
unsafe fn through<I: Isa, L: Lane>(
    isa: I,
    panel: &Panel,
    block: Block,
    corner: Corner<L>,
    scratch: *mut L,
    pitch: usize,
    stores: Stores,
) {
    for j2 in 0..block.v2 {
        for i2 in 0..block.u2 {
            let at = Block { u: 0, u2: i2, v: 0, v2: j2 };
            let src = corner.src.wrapping_offset(panel.source(at));
            let place = scratch.wrapping_add(j2 * block.v * pitch + i2 * block.u);
            // SAFETY: the caller's.
            unsafe { isa.transpose(src, panel.u.stride, place, pitch as isize, block.u, block.v) };
        }
    }
    if panel.one_run() {
        // SAFETY: the caller's; all of the scratch's block is written.
        return unsafe { isa.run(scratch.cast_const(), corner.dst, block.u * block.v, stores) };
    }
    for j2 in 0..block.v2 {
        for j in 0..block.v {
            let dst = corner.dst.wrapping_offset(panel.target(Block { u: 0, u2: 0, v: j, v2: j2 }));
            let row = scratch.wrapping_add((j2 * block.v + j) * pitch).cast_const();
            // SAFETY: the caller's; a row's columns are adjacent in the destination, as `u2` goes on where `u` ends.
            unsafe { isa.run(row, dst, block.u * block.u2, stores) };
        }
    }
}

/// Without a panel.
///
/// # Safety
/// M1, M2 and M3 for the block's elements.
#[inline(always)]
unsafe fn directly<I: Isa, L: Lane>(isa: I, panel: &Panel, block: Block, corner: Corner<L>) {
    for j2 in 0..block.v2 {
        for i2 in 0..block.u2 {
            let at = Block { u: 0, u2: i2, v: 0, v2: j2 };
            let (src, dst) = (
                corner.src.wrapping_offset(panel.source(at)),
                corner.dst.wrapping_offset(panel.target(at)),
            );
            // SAFETY: the caller's.
            unsafe { isa.transpose(src, panel.u.stride, dst, panel.v.stride, block.u, block.v) };
        }
    }
}
