//! Packs a block of an operand into rows of adjacent elements in scratch, and unpacks the result.

use super::workspace::ScratchRows;
use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel, Residency, Unit, prefetch_bytes, short_fills, short_runs},
    memory::Stores,
    nest::Loop,
    plan::Extent,
    tuning::{MAX_COLUMN_GAP, PACKED_AHEAD_BYTES, PACKED_AT_ONCE},
};

/// The strides of a block, in elements of `width` bytes, and its extent.
#[derive(Clone, Copy)]
pub(super) struct StridedBlock {
    pub(super) width: usize,
    pub(super) row_stride: isize,
    pub(super) column_stride: isize,
    pub(super) extent: Extent,
    /// Is the block read from memory, not from a cache?
    pub(super) is_far: bool,
}

impl StridedBlock {
    /// The bytes of a row in scratch.
    fn row_bytes(&self) -> usize {
        self.extent.columns * self.width
    }

    /// The same block as it lies in scratch: adjacent columns, rows `pitch` elements apart.
    fn packed(self, pitch: usize) -> Self {
        Self { row_stride: pitch as isize, column_stride: 1, ..self }
    }
}

/// Dispatches a kernel for the element widths that have one; evaluates `else` for others.
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
        $crate::kernel::dispatch($simd, $kernel)
    }};
}

/// Copies a block of an input into its scratch.
///
/// # Safety
/// M1 for the block's elements at `from`; gaps between them are included only if `gaps_readable`.
pub(super) unsafe fn pack(
    simd: SimdLevel,
    block: StridedBlock,
    from: *const u8,
    gaps_readable: bool,
    mut scratch: ScratchRows<'_>,
) {
    let StridedBlock { width, row_stride, column_stride, extent, .. } = block;
    let (to, pitch) =
        (scratch.start(extent.rows, block.row_bytes()), scratch.pitch() / width.max(1));
    // The portable kernels read no gaps between elements.
    let able = if gaps_readable { simd } else { SimdLevel::Scalar };
    let rows = [pitch as isize, row_stride];
    match (column_stride, row_stride) {
        (1, 0) if pitch == extent.columns => {
            kernel::dispatch(simd, Repeat { bytes: block.row_bytes(), from, to, extent });
        }
        (1, _) => {
            kernel::dispatch(simd, Runs { width, from, to, rows, extent });
        }
        (0, _) => of_width!(
            simd, width,
            L => Fills::<L> { rows, from: from.cast(), to: to.cast(), extent },
            // SAFETY: M1 holds for the block's elements. The scratch holds the rows (`start` has
            // checked it), and nobody else uses it.
            else unsafe { by_bytes(block, from, block.packed(pitch), to) }
        ),
        _ => of_width!(
            able, width,
            L => Pack::<L> { block, from: from.cast(), to: to.cast(), pitch },
            // SAFETY: M1 holds for the block's elements. The scratch holds the rows (`start` has
            // checked it), and nobody else uses it.
            else unsafe { by_bytes(block, from, block.packed(pitch), to) }
        ),
    }
}

/// Copies rows of the result from scratch to the operand.
///
/// # Safety
/// Every element of the rows in scratch has been written. M2 for the block's elements at `to`; if
/// `stream` is set the elements of a row are adjacent there.
pub(super) unsafe fn unpack(
    simd: SimdLevel,
    block: StridedBlock,
    mut scratch: ScratchRows<'_>,
    to: *mut u8,
    stream: bool,
) {
    let StridedBlock { width, row_stride, column_stride, extent, .. } = block;
    let from = scratch.start(extent.rows, block.row_bytes()).cast_const();
    let pitch = scratch.pitch() / width.max(1);
    match (column_stride, stream) {
        (_, true) => kernel::dispatch(simd, StreamOut { block, from, pitch, to }),
        (1, false) => {
            let rows = [row_stride, pitch as isize];
            kernel::dispatch(simd, Runs { width, from, to, rows, extent });
        }
        (_, false) => of_width!(
            simd, width,
            L => Unpack::<L> { block, from: from.cast(), to: to.cast(), pitch },
            // SAFETY: the scratch holds the rows (`start` has checked it); M2 holds for the block's
            // elements.
            else unsafe { by_bytes(block.packed(pitch), from, block, to) }
        ),
    }
}

/// [`pack`] for element widths that have kernels.
///
/// Invariant: only [`pack`] makes it. M1 for the block's elements at `from`; `to` holds the block's
/// rows, a pitch apart.
struct Pack<L> {
    block: StridedBlock,
    from: *const L,
    to: *mut L,
    pitch: usize,
}

impl<L: Unit> Kernel for Pack<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { block, from, to, pitch } = self;
        let StridedBlock { row_stride, column_stride, extent: Extent { rows, columns }, .. } =
            block;
        if row_stride == 1 {
            if self.follows_memory() {
                return self.few_columns_at_a_time(isa);
            }
            let (from, to) = ((from, column_stride), (to, pitch as isize));
            // SAFETY: the invariant: the block's elements, into rows of scratch a pitch apart.
            return unsafe { isa.transpose(from, to, (columns, rows), Residency::FirstLevel) };
        }
        let rows = Loop { len: rows, strides: [pitch as isize, row_stride] };
        // SAFETY: the invariant: the block's elements, into rows of scratch a pitch apart.
        unsafe { isa.gather_rows(from, column_stride, to, columns, rows) };
    }
}

impl<L: Unit> Pack<L> {
    /// Are columns read from memory, one soon after the other?
    fn follows_memory(&self) -> bool {
        let StridedBlock { column_stride, extent, is_far, .. } = self.block;
        is_far && column_stride.unsigned_abs() <= extent.rows.saturating_mul(MAX_COLUMN_GAP)
    }

    /// Transposes a few columns at a time, and prefetches what lies some way behind them.
    #[inline(always)]
    fn few_columns_at_a_time<I: Isa>(self, isa: I) {
        let Self { block: StridedBlock { column_stride, extent, .. }, from, to, pitch } = self;
        let step = column_stride.unsigned_abs() * L::WIDTH;
        let columns_ahead = PACKED_AHEAD_BYTES / step.max(1);
        for at in (0..extent.columns).step_by(PACKED_AT_ONCE) {
            let columns = PACKED_AT_ONCE.min(extent.columns - at);
            let column = |at: usize| from.wrapping_offset(column_stride * at as isize);
            let ahead = column(at + columns_ahead).min(column(at + columns_ahead + columns));
            prefetch_bytes(ahead.cast(), columns * step);
            let (from, to) = ((column(at), column_stride), (to.wrapping_add(at), pitch as isize));
            // SAFETY: the invariant of `Pack`, for some columns of the block.
            unsafe { isa.transpose(from, to, (columns, extent.rows), Residency::FirstLevel) };
        }
    }
}

/// [`pack`] of one row that all rows repeat: the rows written so far are copied, doubling their
/// number.
///
/// Invariant: only [`pack`] makes it. M1 for `bytes` at `from`; `to` holds the block's rows without
/// gaps.
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
        // SAFETY: the invariant: the first row of scratch.
        unsafe { isa.run(from, to, bytes, Stores::Plain) };
        while done < all {
            let more = done.min(all - done);
            // SAFETY: `done` bytes have been written, and the rows have `done + more <= all` bytes.
            unsafe { isa.run(to.cast_const(), to.wrapping_add(done), more, Stores::Plain) };
            done += more;
        }
    }
}

/// Rows of adjacent elements, copied into scratch or out of it. `rows` are the row strides of the
/// destination and of the source.
///
/// Invariant: only [`pack`] and [`unpack`] make it. M1 and M2 for the rows; one side is scratch
/// that holds them.
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
        // SAFETY: the invariant: rows of `columns * width` bytes on both sides; scratch overlaps no
        // operand.
        unsafe {
            short_runs::copy_runs(
                isa,
                from,
                to,
                extent.columns * width,
                [Loop { len: extent.rows, strides }, Loop::ONCE],
                Residency::FirstLevel,
            );
        };
    }
}

/// [`pack`] of one scalar per row. `rows` are the row strides of the scratch and of the source.
///
/// Invariant: only [`pack`] makes it. M1 for one element a row at `from`; `to` holds the block's
/// rows, a pitch apart.
struct Fills<L> {
    rows: [isize; 2],
    from: *const L,
    to: *mut L,
    extent: Extent,
}

impl<L: Unit> Kernel for Fills<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Self { rows, from, to, extent } = self;
        // SAFETY: the invariant: one element for each row of scratch.
        unsafe {
            short_fills::fill_runs(
                from,
                to,
                extent.columns,
                Loop { len: extent.rows, strides: rows },
            );
        };
    }
}

/// [`unpack`] to elements that are not adjacent, for widths that have kernels.
///
/// Invariant: only [`unpack`] makes it. `from` holds the block's rows, initialised and a pitch
/// apart; M2 for its elements at `to`.
struct Unpack<L> {
    block: StridedBlock,
    from: *const L,
    to: *mut L,
    pitch: usize,
}

impl<L: Unit> Kernel for Unpack<L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { block, from, to, pitch } = self;
        let StridedBlock { row_stride, column_stride, extent, .. } = block;
        for j in 0..extent.rows {
            let (from, to) =
                (from.wrapping_add(pitch * j), to.wrapping_offset(row_stride * j as isize));
            // SAFETY: the invariant: row `j` of scratch, to row `j` of the block.
            unsafe { isa.scatter_run(from, to, column_stride, extent.columns) };
        }
    }
}

/// [`unpack`] with non-temporal stores.
///
/// Invariant: that of [`Unpack`], and the elements of a row are adjacent at `to`.
struct StreamOut {
    block: StridedBlock,
    from: *const u8,
    pitch: usize,
    to: *mut u8,
}

impl Kernel for StreamOut {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { block: StridedBlock { width, row_stride, extent, .. }, from, pitch, to } = self;
        for j in 0..extent.rows {
            let from = from.wrapping_add(j * pitch * width);
            let to = to.wrapping_offset(j as isize * row_stride * width as isize);
            // SAFETY: the invariant: row `j` of scratch, to the adjacent elements of row `j`.
            unsafe { isa.run(from, to, extent.columns * width, Stores::NonTemporal) };
        }
    }
}

/// Copies element by element, for any width.
///
/// # Safety
/// The elements can be read at `from` and written at `to`, by the strides of the two blocks; they
/// do not overlap.
unsafe fn by_bytes(read: StridedBlock, from: *const u8, write: StridedBlock, to: *mut u8) {
    let offset = |block: StridedBlock, j: usize, i: usize| {
        (block.row_stride * j as isize + block.column_stride * i as isize) * block.width as isize
    };
    for j in 0..read.extent.rows {
        for i in 0..read.extent.columns {
            let (from, to) =
                (from.wrapping_offset(offset(read, j, i)), to.wrapping_offset(offset(write, j, i)));
            // SAFETY: element (j, i) of both blocks; one of them is scratch, which overlaps no
            // operand.
            unsafe { std::ptr::copy_nonoverlapping(from, to, read.width) };
        }
    }
}
