//! Bringing a block of an operand into scratch, row by row adjacent, and out of it.

use crate::{
    SimdLevel,
    micro::{self, Isa, Kernel, Lane, Stores},
};

/// The rows and elements a row of a block.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) lanes: usize,
}

/// Where the elements of a block lie: strides in elements of `width` bytes.
#[derive(Clone, Copy)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) rows: isize,
    pub(super) lanes: isize,
    pub(super) extent: Extent,
}

/// Copies a block of an input into its scratch, whose rows are a pitch of elements apart.
///
/// # Safety
/// M1 for the block's elements at `from`, apart from the gaps if it is not `solid`; room for them at `to`.
pub(super) unsafe fn bring_in(
    simd: SimdLevel,
    plane: Plane,
    from: *const u8,
    (to, pitch): (*mut u8, usize),
    solid: bool,
) {
    // Only the portable kernels never read the gaps between elements.
    let simd = if solid { simd } else { SimdLevel::Scalar };
    match plane.width {
        1 => {
            micro::dispatch(simd, BringIn::<u8> { plane, from: from.cast(), to: to.cast(), pitch });
        }
        2 => {
            micro::dispatch(
                simd,
                BringIn::<u16> { plane, from: from.cast(), to: to.cast(), pitch },
            );
        }
        4 => {
            micro::dispatch(
                simd,
                BringIn::<u32> { plane, from: from.cast(), to: to.cast(), pitch },
            );
        }
        8 => {
            micro::dispatch(
                simd,
                BringIn::<u64> { plane, from: from.cast(), to: to.cast(), pitch },
            );
        }
        16 => micro::dispatch(
            simd,
            BringIn::<u128> { plane, from: from.cast(), to: to.cast(), pitch },
        ),
        // SAFETY: the caller's.
        _ => unsafe { by_bytes(plane, from, packed(plane, pitch), to) },
    }
}

/// Copies rows of the result from its scratch to where they belong.
///
/// # Safety
/// The block's elements can be read at `from`, rows a pitch apart, and written at `to`. If they are to be streamed they are adjacent there.
pub(super) unsafe fn bring_out(
    simd: SimdLevel,
    plane: Plane,
    (from, pitch): (*const u8, usize),
    to: *mut u8,
    stream: bool,
) {
    if stream {
        return micro::dispatch(simd, StreamOut { plane, from, pitch, to });
    }
    // SAFETY: the caller's.
    unsafe { by_bytes(packed(plane, pitch), from, plane, to) };
}

/// Makes what was streamed visible before any store that follows.
pub(super) fn fence(simd: SimdLevel) {
    micro::dispatch(simd, Fence);
}

struct Fence;

impl Kernel for Fence {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        isa.fence();
    }
}

/// [`bring_in`] of elements that kernels know.
///
/// Invariant: made by [`bring_in`] only, whose caller vouches for the memory.
struct BringIn<L> {
    plane: Plane,
    from: *const L,
    to: *mut L,
    pitch: usize,
}

impl<L: Lane> Kernel for BringIn<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { plane, from, to, pitch } = self;
        let Plane { rows: along_rows, lanes: along_lanes, extent: Extent { rows, lanes }, .. } =
            plane;
        if along_rows == 1 {
            // SAFETY: the invariant.
            return unsafe { isa.transpose(from, along_lanes, to, pitch as isize, lanes, rows) };
        }
        for j in 0..rows {
            let (from, to) =
                (from.wrapping_offset(along_rows * j as isize), to.wrapping_add(pitch * j));
            // SAFETY: the invariant.
            unsafe { isa.gather_run(from, along_lanes, to, lanes, Stores::Plain) };
        }
    }
}

/// [`bring_out`] past the caches.
///
/// Invariant: made by [`bring_out`] only, whose caller vouches for the memory.
struct StreamOut {
    plane: Plane,
    from: *const u8,
    pitch: usize,
    to: *mut u8,
}

impl Kernel for StreamOut {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { plane: Plane { width, rows: step, extent, .. }, from, pitch, to } = self;
        for j in 0..extent.rows {
            let from = from.wrapping_add(j * pitch * width);
            let to = to.wrapping_offset(j as isize * step * width as isize);
            // SAFETY: the invariant.
            unsafe { isa.run(from, to, extent.lanes * width, Stores::Stream) };
        }
    }
}

/// The same block, row by row adjacent.
fn packed(plane: Plane, pitch: usize) -> Plane {
    Plane { rows: pitch as isize, lanes: 1, ..plane }
}

/// Element by element, whatever the width.
///
/// # Safety
/// The elements can be read at `from` and written at `to`, as the two planes say.
unsafe fn by_bytes(read: Plane, from: *const u8, write: Plane, to: *mut u8) {
    let place = |plane: Plane, j: usize, i: usize| {
        (plane.rows * j as isize + plane.lanes * i as isize) * plane.width as isize
    };
    for j in 0..read.extent.rows {
        for i in 0..read.extent.lanes {
            let (from, to) =
                (from.wrapping_offset(place(read, j, i)), to.wrapping_offset(place(write, j, i)));
            // SAFETY: one of the caller's elements; the scratch is no part of an operand.
            unsafe { std::ptr::copy_nonoverlapping(from, to, read.width) };
        }
    }
}
