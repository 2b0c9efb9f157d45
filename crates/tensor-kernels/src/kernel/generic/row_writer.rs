//! Rows on their way from scratch to memory, past the cache, in whole lines.
//!
//! A line that is written in two parts by streamed stores costs many times its share, and rows of
//! any length rarely end where lines do. So a row is gathered in scratch at the same place within a
//! line as it has in the destination, whole lines leave, and what is left of the last one stays,
//! moved to the front, until the columns that follow have joined it.

use pulp::NullaryFnOnce;

use super::{
    copy::copy_plain,
    register::{Registers, Vector},
};
use crate::{kernel::isa::StagedRows, memory::CACHE_LINE};

/// Compiled as a function of its own.
///
/// Invariant: made by [`flush`] only, whose caller vouches for the memory.
struct Flush<R> {
    isa: R,
    rows: StagedRows,
}

/// See [`Isa::flush`](crate::kernel::Isa::flush).
///
/// # Safety
///
/// That of [`Isa::flush`](crate::kernel::Isa::flush).
#[inline(always)]
pub(super) unsafe fn flush<R: Registers>(isa: R, rows: StagedRows) {
    isa.vectorize(Flush { isa, rows });
}

impl<R: Registers> NullaryFnOnce for Flush<R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, rows } = self;
        for r in 0..rows.count as isize {
            let src = rows.src.wrapping_offset(r * rows.src_step);
            let dst = rows.dst.wrapping_offset(r * rows.dst_step);
            // SAFETY: the invariant, for row `r`.
            unsafe { flush_row(isa, rows, src, dst) }
        }
    }
}

/// # Safety
///
/// That of [`flush`], for one row.
#[inline(always)]
unsafe fn flush_row<R: Registers>(isa: R, rows: StagedRows, src: *mut u8, dst: *mut u8) {
    let before = src.addr() % CACHE_LINE;
    let end = before + rows.bytes;
    let (src, dst) = (src.wrapping_sub(before), dst.wrapping_sub(before));
    let mut at = 0;
    if rows.is_first && before > 0 {
        at = CACHE_LINE.min(end);
        // SAFETY: the row's bytes before the first border of a line.
        unsafe { copy_plain(isa, src.wrapping_add(before), dst.wrapping_add(before), at - before) }
    }
    let lines = (end / CACHE_LINE * CACHE_LINE).max(at);
    while at < lines {
        // SAFETY: a line of scratch.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: a whole line of the row, or one whose other part was left by the columns before.
        unsafe { line.stream(dst.wrapping_add(at)) }
        at += CACHE_LINE;
    }
    if rows.is_last {
        // SAFETY: the row's last bytes.
        unsafe { copy_plain(isa, src.wrapping_add(at), dst.wrapping_add(at), end - at) }
    } else {
        // SAFETY: scratch reaches a line farther than its rows.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: the same row's scratch.
        unsafe { line.store(src.wrapping_add(at).wrapping_sub(rows.tail_shift)) }
    }
}
