//! Running an elementwise operation: bring each operand into lanes, compute, store.
//!
//! None of this depends on the operation, which is called through its [`Operation`]: a program with a thousand of them has this once.

use std::mem::MaybeUninit;

use super::{
    Ends, bounce,
    pack::{self, Extent, Plane},
    walk::walk,
    workspace::Scratch,
};
use crate::{
    exec::{Exec, SimdLevel},
    kernel::{Lanes, Operation},
    memory::CACHE_LINE,
    partition::share,
    plan::{Access, ElementwiseWork, LanesBlock, SCRATCH},
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
    // What does not stay in a cache leaves it in halves of lines: 512-bit stores took 14.5 ms where 256-bit ones take 12.1, at 64 MiB.
    let halves = work.large && !work.stream;
    let simd = if halves { exec.simd().at_most_256_bits() } else { exec.simd() };
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

/// Room for so many bytes of blocks.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Bytes<const B: usize>(
    #[allow(dead_code, reason = "only its bytes are used, through pointers")] [MaybeUninit<u8>; B],
);

/// Short rows are joined in so much room. To make sure of the stack for all that others need takes as long as two hundred additions.
const SMALL: usize = SCRATCH / 2;

impl<const N: usize> Piece<'_, N> {
    /// Every operand lies in lanes as it is.
    fn directly(self) {
        let work = self.work;
        let (base, row_steps) = (self.start(), self.bytes(work.rows.strides));
        let (same, rows, len) = (self.same(), work.rows.len, work.lanes.len);
        walk(&work.outer, |at| {
            let lanes = Lanes { places: advance(base, self.bytes(at)), row_steps, same, rows, len };
            // SAFETY: the ends' invariants, for offsets that the plan visits: they are the layouts'. Elements of views are aligned.
            unsafe { bounce::compute(self.operation, self.simd, work.widths, lanes) };
        });
    }

    /// Some operand goes through scratch, block by block.
    fn by_blocks(self) {
        let room = Room::of(self.work);
        if room.bytes <= SMALL {
            return self.in_room::<SMALL, 1>(room);
        }
        if room.bytes <= N * SCRATCH {
            return self.in_room::<SCRATCH, N>(room);
        }
        match Scratch::take(room.bytes) {
            // SAFETY: so much room.
            Some(mut scratch) => unsafe { self.all_blocks(room, scratch.start()) },
            None => Piece { work: &self.work.in_small_blocks(), ..self }.by_blocks(),
        }
    }

    /// By blocks in a room on the stack, which is this function's alone.
    #[inline(never)]
    fn in_room<const B: usize, const TIMES: usize>(self, room: Room<N>) {
        debug_assert!(room.bytes <= B * TIMES);
        let mut few = [const { Bytes([MaybeUninit::uninit(); B]) }; TIMES];
        // SAFETY: so much room.
        unsafe { self.all_blocks(room, few.as_mut_ptr().cast()) };
    }

    /// # Safety
    /// `scratch` is aligned to a line and has the room.
    unsafe fn all_blocks(self, room: Room<N>, scratch: *mut u8) {
        let work = self.work;
        let (row_steps, lane_steps) =
            (self.bytes(work.rows.strides), self.bytes(work.lanes.strides));
        let LanesBlock { rows, lanes } = work.block;
        let mut held = [std::ptr::null_mut(); N];
        walk(&work.outer, |at| {
            let base = advance(self.start(), self.bytes(at));
            let head = self.head(base[0]);
            for j in starts(work.rows.len, rows) {
                let (mut i, mut next) = (0, head);
                while i < work.lanes.len {
                    let corner = advance(advance(base, times(row_steps, j)), times(lane_steps, i));
                    next = next.min(work.lanes.len);
                    let extent = Extent { rows: rows.min(work.rows.len - j), lanes: next - i };
                    // SAFETY: the ends' invariants, for offsets that the plan visits; a block's elements fit into the scratch of each operand.
                    unsafe { self.block(corner, room, scratch, extent, &mut held) };
                    (i, next) = (next, next + lanes);
                }
            }
        });
        if work.stream {
            pack::fence(self.simd);
        }
    }

    /// The lanes of the first block: those before the first whole line of a result that is streamed, else as many as usual.
    fn head(self, result: *mut u8) -> usize {
        let LanesBlock { lanes, .. } = self.work.block;
        if !self.work.stream {
            return lanes;
        }
        match result.addr().wrapping_neg() % CACHE_LINE / self.work.widths[0].max(1) {
            0 => lanes,
            before => before,
        }
    }

    /// One block: inputs in, rows computed, result out. Rows that repeat are not brought in while they are `held` in scratch: the first block has the
    /// most of them.
    ///
    /// # Safety
    /// The elements of the block can be read, and operand 0's written; `scratch` has the room.
    unsafe fn block(
        self,
        corner: [*mut u8; N],
        room: Room<N>,
        scratch: *mut u8,
        extent: Extent,
        held: &mut [*mut u8; N],
    ) {
        let direct = self.direct();
        let place = |k: usize| scratch.wrapping_add(room.starts[k]);
        for k in (1..N).filter(|&k| !direct[k]) {
            let before = std::mem::replace(&mut held[k], corner[k]);
            if self.work.access[k] == Access::Repeated && before == corner[k] {
                continue;
            }
            let (plane, solid) = (self.plane(k, extent), self.ends.0[k].solid);
            // SAFETY: the caller's.
            unsafe {
                pack::bring_in(self.simd, plane, corner[k], (place(k), room.pitches[k]), solid);
            };
        }
        let row_steps: [isize; N] = std::array::from_fn(|k| match direct[k] {
            true => self.work.rows.strides[k] * self.work.widths[k] as isize,
            false => (room.pitches[k] * self.work.widths[k]) as isize,
        });
        let places = std::array::from_fn(|k| if direct[k] { corner[k] } else { place(k) });
        let (same, len, at_once) = (self.same(), extent.lanes, self.work.rows_at_once());
        for j in starts(extent.rows, at_once) {
            let rows = at_once.min(extent.rows - j);
            let mut places = advance(places, times(row_steps, j));
            if !direct[0] {
                places[0] = place(0);
            }
            let lanes = Lanes { places, row_steps, same, rows, len };
            // SAFETY: rows lie in the operands or in their scratch; both are aligned.
            unsafe { bounce::compute(self.operation, self.simd, self.work.widths, lanes) };
            if !direct[0] {
                let step = self.work.rows.strides[0] * self.work.widths[0] as isize;
                let to = corner[0].wrapping_offset(step * j as isize);
                let plane = self.plane(0, Extent { rows, lanes: len });
                let from = (place(0).cast_const(), room.pitches[0]);
                // SAFETY: the caller's; every row of the scratch has just been computed.
                unsafe { pack::bring_out(self.simd, plane, from, to, self.work.stream) };
            }
        }
    }

    /// Which operands are computed where they are?
    fn direct(self) -> [bool; N] {
        std::array::from_fn(|k| self.work.access[k].is_direct() && !(k == 0 && self.work.stream))
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

/// Where the blocks of operands lie in scratch, and how far their rows are apart, in elements.
#[derive(Clone, Copy)]
struct Room<const N: usize> {
    starts: [usize; N],
    pitches: [usize; N],
    bytes: usize,
}

impl<const N: usize> Room<N> {
    fn of(work: &ElementwiseWork<N>) -> Self {
        let mut room = Self { starts: [0; N], pitches: [0; N], bytes: 0 };
        let through = |k: usize| !work.access[k].is_direct() || (k == 0 && work.stream);
        for k in (0..N).filter(|&k| through(k)) {
            let (LanesBlock { rows, lanes }, width) = (work.block, work.widths[k].max(1));
            let rows = if k == 0 { rows.min(work.rows_at_once()) } else { rows };
            // A line more than the row where that is half a page, so that rows do not fall on the same cache sets.
            let spare = if (lanes * width).is_multiple_of(512) { CACHE_LINE / width } else { 0 };
            room.starts[k] = room.bytes;
            room.pitches[k] = lanes + spare;
            room.bytes += (rows * room.pitches[k] * width).next_multiple_of(CACHE_LINE);
        }
        room
    }
}

/// Where parts of so many start. A range that steps divides first, for as long as a hundred additions take.
fn starts(len: usize, step: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        next += step;
        (start < len).then_some(start)
    })
}

fn advance<const N: usize>(places: [*mut u8; N], by: [isize; N]) -> [*mut u8; N] {
    std::array::from_fn(|k| places[k].wrapping_offset(by[k]))
}

fn times<const N: usize>(steps: [isize; N], count: usize) -> [isize; N] {
    steps.map(|step| step * count as isize)
}
