//! The kernels of an instruction set for units of a width that is known at run time.
//!
//! What walks over blocks and calls kernels need not be compiled once per width: it only needs to
//! choose among them. This was a sixth of the time of compiling the copies.

use pulp::NullaryFnOnce;

#[cfg(feature = "in-place")]
use super::tile_exchange::TileExchange;
use super::{isa::Isa, staged_rows::StagedRows, transpose_block::Residency};
use crate::{
    memory::{LANE_BYTES, Stores},
    nest::Loop,
};

/// Evaluates an expression for the [`Unit`](super::Unit) of a width.
macro_rules! of_width {
    ($isa:ident, $width:expr, $unit:ident => $kernel:expr) => {
        match $width {
            4 => of_width!(@ $unit = u32, $kernel),
            8 => of_width!(@ $unit = u64, $kernel),
            width => {
                if const { $isa::ONLY_FLOATS } {
                    unreachable!("no float has {width} bytes")
                }
                match width {
                    1 => of_width!(@ $unit = u8, $kernel),
                    2 => of_width!(@ $unit = u16, $kernel),
                    _ => of_width!(@ $unit = u128, $kernel),
                }
            }
        }
    };
    (@ $unit:ident = $type:ty, $kernel:expr) => {{
        type $unit = $type;
        $kernel
    }};
}

/// The kernels of an instruction set for units of 1, 2, 4, 8 or 16 bytes. Addresses are those of
/// bytes; strides and lengths count units, unless a parameter says bytes.
#[derive(Clone, Copy)]
pub(crate) struct Units<I> {
    pub(crate) isa: I,
    pub(crate) width: usize,
}

/// An address, and the units from one row to the next.
pub(crate) type Rows<P> = (P, isize);

impl<I: Isa> Units<I> {
    /// Units in a lane of a register.
    #[inline(always)]
    pub(crate) fn per_lane(self) -> usize {
        LANE_BYTES / self.width
    }

    /// The bytes of some units.
    #[inline(always)]
    pub(crate) fn bytes(self, units: isize) -> isize {
        units * self.width as isize
    }

    /// [`Isa::run`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::run`].
    #[inline(always)]
    pub(crate) unsafe fn run(self, src: *const u8, dst: *mut u8, len: usize, stores: Stores) {
        // SAFETY: this function's contract; the units are as many bytes.
        unsafe { self.isa.run(src, dst, len * self.width, stores) }
    }

    /// Copies rows of adjacent units.
    ///
    /// # Safety
    ///
    /// M1, M2 and M3 for the units of all rows.
    #[inline(always)]
    pub(crate) unsafe fn copy_rows(
        self,
        src: Rows<*const u8>,
        dst: Rows<*mut u8>,
        (rows, columns): (usize, usize),
    ) {
        let Self { isa, width } = self;
        let (src, dst) = ((src.0, self.bytes(src.1)), (dst.0, self.bytes(dst.1)));
        isa.vectorize(CopyRows { isa, src, dst, rows, bytes: columns * width });
    }

    /// [`Isa::gather_run`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::gather_run`].
    #[inline(always)]
    pub(crate) unsafe fn gather_run(
        self,
        (src, step): Rows<*const u8>,
        dst: *mut u8,
        len: usize,
        stores: Stores,
    ) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.gather_run::<L>(src.cast(), step, dst.cast(), len, stores) }
        });
    }

    /// [`Isa::gather_rows`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::gather_rows`].
    #[inline(always)]
    pub(crate) unsafe fn gather_rows(
        self,
        (src, step): Rows<*const u8>,
        dst: *mut u8,
        len: usize,
        rows: Loop<2>,
    ) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.gather_rows::<L>(src.cast(), step, dst.cast(), len, rows) }
        });
    }

    /// [`Isa::scatter_run`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::scatter_run`].
    #[inline(always)]
    pub(crate) unsafe fn scatter_run(self, src: *const u8, (dst, step): Rows<*mut u8>, len: usize) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.scatter_run::<L>(src.cast(), dst.cast(), step, len) }
        });
    }

    /// [`Isa::transpose`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose`].
    #[inline(always)]
    pub(crate) unsafe fn transpose(
        self,
        src: Rows<*const u8>,
        dst: Rows<*mut u8>,
        extents: (usize, usize),
        residency: Residency,
    ) {
        of_width!(I, self.width, L => {
            let (src, dst) = ((src.0.cast(), src.1), (dst.0.cast(), dst.1));
            // SAFETY: this function's contract.
            unsafe { self.isa.transpose::<L>(src, dst, extents, residency) }
        });
    }

    /// [`Isa::exchange_tiles`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::exchange_tiles`].
    #[cfg(feature = "in-place")]
    #[inline(always)]
    pub(crate) unsafe fn exchange_tiles(self, tiles: [*mut u8; 2], step: isize, how: TileExchange) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.exchange_tiles::<L>(tiles, self.bytes(step), how) }
        });
    }

    /// [`Isa::transpose_stream`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_stream`].
    #[inline(always)]
    pub(crate) unsafe fn transpose_stream(
        self,
        src: Rows<*const u8>,
        dst: Rows<*mut u8>,
        extents: (usize, usize),
    ) {
        of_width!(I, self.width, L => {
            let (src, dst) = ((src.0.cast(), src.1), (dst.0.cast(), dst.1));
            // SAFETY: this function's contract.
            unsafe { self.isa.transpose_stream::<L>(src, dst, extents) }
        });
    }

    /// [`Isa::transpose_stitched`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_stitched`].
    #[inline(always)]
    pub(crate) unsafe fn transpose_stitched(
        self,
        src: Rows<*const u8>,
        dst: Rows<*mut u8>,
        extents: (usize, usize),
        pending: *mut u8,
        first: bool,
    ) {
        of_width!(I, self.width, L => {
            let (src, dst) = ((src.0.cast(), src.1), (dst.0.cast(), dst.1));
            // SAFETY: this function's contract.
            unsafe { self.isa.transpose_stitched::<L>(src, dst, extents, pending, first) }
        });
    }

    /// [`Isa::transpose_indexed_lines`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_indexed_lines`].
    #[inline(always)]
    pub(crate) unsafe fn transpose_indexed_lines(
        self,
        src: *const u8,
        dst: *mut u8,
        tables: (&[[isize; 2]], &[[isize; 2]]),
        pending: *mut u8,
    ) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe {
                self.isa.transpose_indexed_lines::<L>(src.cast(), dst.cast(), tables, pending);
            }
        });
    }

    /// [`Isa::flush`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::flush`].
    #[inline(always)]
    pub(crate) unsafe fn flush(self, rows: StagedRows) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.flush::<L>(rows) }
        });
    }

    /// [`Isa::finish_rows`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::finish_rows`].
    #[inline(always)]
    pub(crate) unsafe fn finish_rows(self, rows: StagedRows) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.finish_rows::<L>(rows) }
        });
    }

    /// [`Isa::transpose_indexed`].
    ///
    /// # Safety
    ///
    /// That of [`Isa::transpose_indexed`].
    #[inline(always)]
    pub(crate) unsafe fn transpose_indexed(
        self,
        src: *const u8,
        dst: *mut u8,
        tables: (&[[isize; 2]], &[[isize; 2]]),
        residency: Residency,
    ) {
        of_width!(I, self.width, L => {
            // SAFETY: this function's contract.
            unsafe { self.isa.transpose_indexed::<L>(src.cast(), dst.cast(), tables, residency) }
        });
    }
}

/// Rows of adjacent bytes to copy; steps in bytes. A function of its own, as each of its calls
/// copies many.
///
/// Invariant: only [`Units::copy_rows`] makes it; M1, M2 and M3 for the rows.
struct CopyRows<I> {
    isa: I,
    src: Rows<*const u8>,
    dst: Rows<*mut u8>,
    rows: usize,
    bytes: usize,
}

impl<I: Isa> NullaryFnOnce for CopyRows<I> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, src, dst, rows, bytes } = self;
        for row in 0..rows as isize {
            let from = src.0.wrapping_offset(row * src.1);
            let to = dst.0.wrapping_offset(row * dst.1);
            // SAFETY: the invariant, for a row.
            unsafe { isa.run(from, to, bytes, Stores::Plain) };
        }
    }
}
