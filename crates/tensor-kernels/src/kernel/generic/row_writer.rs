//! Writes rows from scratch to memory with non-temporal stores of whole cache lines.
//!
//! A line that non-temporal stores write in two parts costs many times as much as a whole line, and
//! rows of any length rarely end at the end of a line. So a row is staged in scratch at the same
//! offset within a line as in the destination. Its whole lines are written; the bytes after the
//! last whole line are moved to the front of scratch, where the next columns of the row complete
//! the line.

use pulp::NullaryFnOnce;

use super::{
    copy::copy_plain,
    register::{Registers, Vector},
};
use crate::{kernel::isa::StagedRows, memory::CACHE_LINE};

/// A flush, compiled as a function of its own.
///
/// Invariant: only [`flush`] makes it; the rows meet its contract.
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
            // SAFETY: the invariant: row `r` of `rows`.
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
        // SAFETY: M1 to M3 hold for the row's bytes before the first start of a line.
        unsafe { copy_plain(isa, src.wrapping_add(before), dst.wrapping_add(before), at - before) }
    }
    let lines = (end / CACHE_LINE * CACHE_LINE).max(at);
    while at < lines {
        // SAFETY: a whole line of the row in scratch, which begins at most a line before the row.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: M2 holds: a whole line of the row; its first part may belong to the columns
        // before.
        unsafe { line.stream(dst.wrapping_add(at)) }
        at += CACHE_LINE;
    }
    if rows.is_last {
        // SAFETY: M1 to M3 hold for the row's last bytes, `at..end`.
        unsafe { copy_plain(isa, src.wrapping_add(at), dst.wrapping_add(at), end - at) }
    } else {
        // SAFETY: in scratch the line after each row can be read.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: `tail_shift` leads to a line of the same row's scratch, or the line before it.
        unsafe { line.store(src.wrapping_add(at).wrapping_sub(rows.tail_shift)) }
    }
}
