//! Bringing a block of an operand into scratch, row by row adjacent, and out of it.

use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel, Unit, short_runs},
    memory::Stores,
    nest::Loop,
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

/// A kernel for the elements of a plane, if they have a width that kernels know.
macro_rules! of_width {
    ($simd:expr, $width:expr, $lane:ident => $kernel:expr, else $other:expr) => {
        match $width {
            1 => of_width!(@ $simd, $lane = u8, $kernel),
            2 => of_width!(@ $simd, $lane = u16, $kernel),
            4 => of_width!(@ $simd, $lane = u32, $kernel),
            8 => of_width!(@ $simd, $lane = u64, $kernel),
            16 => of_width!(@ $simd, $lane = u128, $kernel),
            _ => $other,
        }
    };
    (@ $simd:expr, $lane:ident = $type:ty, $kernel:expr) => {{
        type $lane = $type;
        kernel::dispatch($simd, $kernel)
    }};
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
    let Plane { width, rows, lanes, extent } = plane;
    // Only the portable kernels never read the gaps between elements.
    let able = if solid { simd } else { SimdLevel::Scalar };
    match (lanes, rows) {
        (1, 0) if pitch == extent.lanes => {
            kernel::dispatch(simd, Repeat { bytes: extent.lanes * width, from, to, extent });
        }
        (1, _) => {
            kernel::dispatch(simd, Runs { width, from, to, rows: [pitch as isize, rows], extent });
        }
        (0, _) => of_width!(
            simd, width,
            L => Fills::<L> { rows: [pitch as isize, rows], from: from.cast(), to: to.cast(), extent },
            // SAFETY: the caller's.
            else unsafe { by_bytes(plane, from, packed(plane, pitch), to) }
        ),
        _ => of_width!(
            able, width,
            L => BringIn::<L> { plane, from: from.cast(), to: to.cast(), pitch },
            // SAFETY: the caller's.
            else unsafe { by_bytes(plane, from, packed(plane, pitch), to) }
        ),
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
    let Plane { width, rows, lanes, extent } = plane;
    match (lanes, stream) {
        (_, true) => kernel::dispatch(simd, StreamOut { plane, from, pitch, to }),
        (1, false) => {
            kernel::dispatch(simd, Runs { width, from, to, rows: [rows, pitch as isize], extent });
        }
        (_, false) => of_width!(
            simd, width,
            L => BringOut::<L> { plane, from: from.cast(), to: to.cast(), pitch },
            // SAFETY: the caller's.
            else unsafe { by_bytes(packed(plane, pitch), from, plane, to) }
        ),
    }
}

/// Makes what was streamed visible before any store that follows.
pub(super) fn fence(simd: SimdLevel) {
    kernel::dispatch(simd, Fence);
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

impl<L: Unit> Kernel for BringIn<L> {
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

/// [`bring_in`] of one row that is all rows: those that are there are doubled, again and again.
///
/// Invariant: made by [`bring_in`] only, whose caller vouches for the memory.
struct Repeat {
    bytes: usize,
    from: *const u8,
    to: *mut u8,
    extent: Extent,
}

impl Kernel for Repeat {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { bytes, from, to, extent } = self;
        let (all, mut done) = (bytes * extent.rows, bytes);
        // SAFETY: the invariant.
        unsafe { isa.run(from, to, bytes, Stores::Plain) };
        while done < all {
            let more = done.min(all - done);
            // SAFETY: so many bytes have been written, and there is room for as many.
            unsafe { isa.run(to.cast_const(), to.wrapping_add(done), more, Stores::Plain) };
            done += more;
        }
    }
}

/// Rows of adjacent elements into scratch, or out of it: how far they are apart, where they go and where they come from.
///
/// Invariant: made by [`bring_in`] and [`bring_out`] only, whose callers vouch for the memory.
struct Runs {
    width: usize,
    from: *const u8,
    to: *mut u8,
    rows: [isize; 2],
    extent: Extent,
}

impl Kernel for Runs {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { width, from, to, rows, extent } = self;
        let strides = rows.map(|row| row * width as isize);
        // SAFETY: the invariant.
        unsafe {
            short_runs::runs(
                isa,
                from,
                to,
                extent.lanes * width,
                Loop { len: extent.rows, strides },
            )
        };
    }
}

/// [`bring_in`] of one element for each row: how far rows and elements are apart.
///
/// Invariant: made by [`bring_in`] only, whose caller vouches for the memory.
struct Fills<L> {
    rows: [isize; 2],
    from: *const L,
    to: *mut L,
    extent: Extent,
}

impl<L: Unit> Kernel for Fills<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { rows, from, to, extent } = self;
        // SAFETY: the invariant.
        unsafe {
            short_runs::fills(from, to, extent.lanes, Loop { len: extent.rows, strides: rows })
        };
    }
}

/// [`bring_out`] of elements that kernels know, to places that are not adjacent.
///
/// Invariant: made by [`bring_out`] only, whose caller vouches for the memory.
struct BringOut<L> {
    plane: Plane,
    from: *const L,
    to: *mut L,
    pitch: usize,
}

impl<L: Unit> Kernel for BringOut<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { plane: Plane { rows, lanes, extent, .. }, from, to, pitch } = self;
        for j in 0..extent.rows {
            let (from, to) = (from.wrapping_add(pitch * j), to.wrapping_offset(rows * j as isize));
            // SAFETY: the invariant.
            unsafe { isa.scatter_run(from, to, lanes, extent.lanes) };
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
