//! Writes rows from scratch to memory with non-temporal stores of whole cache lines.
//!
//! A line that non-temporal stores write in two parts costs many times as much as a whole line, and
//! rows of any length rarely end at the end of a line. So a row is staged in scratch at the same
//! offset within a line as in the destination. Its whole lines are written; the bytes after the
//! last whole line are moved to the front of scratch, where the next columns of the row complete
//! the line. An operation is computed on what is written, not on what is moved.

#[cfg(feature = "elementwise")]
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pulp::NullaryFnOnce;

#[cfg(feature = "elementwise")]
use super::finish::adjacent;
use super::{
    copy::copy_plain,
    register::{Computes, Registers, Vector},
};
#[cfg(feature = "elementwise")]
use crate::kernel::{register_op::Finishing, unit::Unit};
use crate::{kernel::staged_rows::StagedRows, memory::CACHE_LINE};

/// What is done with the elements of rows when they are written.
trait OnTheWay: Copy {
    /// Are elements changed?
    const CHANGES: bool;

    /// What is written at `dst` for a line of elements.
    ///
    /// # Safety
    ///
    /// F1 for the elements of the line.
    unsafe fn line<V: Computes>(self, token: V::Token, line: V, dst: *mut u8) -> V;
}

/// Nothing.
#[derive(Clone, Copy)]
struct Copied;

impl OnTheWay for Copied {
    const CHANGES: bool = false;

    #[inline(always)]
    unsafe fn line<V: Computes>(self, _token: V::Token, line: V, _dst: *mut u8) -> V {
        line
    }
}

/// An operation on floats as wide as `L`.
#[cfg(feature = "elementwise")]
struct Computed<'f, L>(&'f Finishing, PhantomData<L>);

#[cfg(feature = "elementwise")]
impl<L> Clone for Computed<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(feature = "elementwise")]
impl<L> Copy for Computed<'_, L> {}

#[cfg(feature = "elementwise")]
impl<L: Unit> OnTheWay for Computed<'_, L> {
    const CHANGES: bool = true;

    #[inline(always)]
    unsafe fn line<V: Computes>(self, token: V::Token, line: V, dst: *mut u8) -> V {
        // SAFETY: this function's contract.
        unsafe { adjacent::<V, L>(self.0, token, line, dst) }
    }
}

/// A flush, compiled as a function of its own.
///
/// Invariant: only [`flush`] and [`flush_finished`] make it; the rows meet their contract.
struct Flush<R, W> {
    isa: R,
    rows: StagedRows,
    on_the_way: W,
}

/// See [`Isa::flush`](crate::kernel::Isa::flush).
///
/// # Safety
///
/// That of [`Isa::flush`](crate::kernel::Isa::flush).
#[inline(always)]
pub(super) unsafe fn flush<R: Registers>(isa: R, rows: StagedRows) {
    isa.vectorize(Flush { isa, rows, on_the_way: Copied });
}

/// See [`Finishes::flush_finished`](crate::kernel::finishes::Finishes::flush_finished).
///
/// # Safety
///
/// That of [`Finishes::flush_finished`](crate::kernel::finishes::Finishes::flush_finished).
#[cfg(feature = "elementwise")]
#[inline(always)]
pub(super) unsafe fn flush_finished<R: Registers, L: Unit>(
    isa: R,
    rows: StagedRows,
    finishing: &Finishing,
) {
    let on_the_way = Computed(finishing, PhantomData::<L>);
    isa.vectorize(Flush { isa, rows, on_the_way });
}

impl<R: Registers, W: OnTheWay> NullaryFnOnce for Flush<R, W> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, rows, on_the_way } = self;
        for r in 0..rows.count as isize {
            let src = rows.src.wrapping_offset(r * rows.src_step);
            let dst = rows.dst.wrapping_offset(r * rows.dst_step);
            // SAFETY: the invariant: row `r` of `rows`.
            unsafe { flush_row(isa, rows, (src, dst), on_the_way) }
        }
    }
}

/// # Safety
///
/// That of [`flush`], for one row.
#[inline(always)]
unsafe fn flush_row<R: Registers, W: OnTheWay>(
    isa: R,
    rows: StagedRows,
    (src, dst): (*mut u8, *mut u8),
    on_the_way: W,
) {
    let before = src.addr() % CACHE_LINE;
    let end = before + rows.bytes;
    debug_assert!(!rows.is_first || rows.is_last || end >= CACHE_LINE, "a part of a line");
    let (src, dst) = (src.wrapping_sub(before), dst.wrapping_sub(before));
    let mut at = 0;
    if rows.is_first && before > 0 {
        at = CACHE_LINE.min(end);
        // SAFETY: the row's bytes before the first start of a line.
        unsafe { write_part(isa, (src, dst), (before, at), on_the_way) }
    }
    let lines = (end / CACHE_LINE * CACHE_LINE).max(at);
    while at < lines {
        // SAFETY: a whole line of the row in scratch, which begins at most a line before the row.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: F1 holds for the row, and for the columns before.
        let line = unsafe { on_the_way.line(isa.into(), line, dst.wrapping_add(at)) };
        // SAFETY: M2 holds: a whole line of the row; its first part may belong to the columns
        // before.
        unsafe { line.stream(dst.wrapping_add(at)) }
        at += CACHE_LINE;
    }
    if rows.is_last {
        let line = (src.wrapping_add(at), dst.wrapping_add(at));
        // SAFETY: the row's last bytes, `at..end`.
        unsafe { write_part(isa, line, (0, end - at), on_the_way) }
    } else {
        // SAFETY: in scratch the line after each row can be read.
        let line = unsafe { R::Full::load(isa.into(), src.wrapping_add(at)) };
        // SAFETY: `tail_shift` leads to a line of the same row's scratch, or the line before it.
        unsafe { line.store(src.wrapping_add(at).wrapping_sub(rows.tail_shift)) }
    }
}

/// A line of results.
#[repr(align(64))]
struct Line([MaybeUninit<u8>; CACHE_LINE]);

/// Writes the bytes from `from` to `to` of a line of scratch to a line of the destination. An
/// operation is computed on the whole line; scratch keeps its elements.
///
/// # Safety
///
/// M1 to M3 for these bytes. The line of scratch can be read; F1 for all of it.
#[inline(always)]
unsafe fn write_part<R: Registers, W: OnTheWay>(
    isa: R,
    (src, dst): (*mut u8, *mut u8),
    (from, to): (usize, usize),
    on_the_way: W,
) {
    let mut results = Line([MaybeUninit::uninit(); CACHE_LINE]);
    let mut src = src.cast_const();
    if W::CHANGES && from < to {
        // SAFETY: this function's contract.
        let line = unsafe { R::Full::load(isa.into(), src) };
        // SAFETY: this function's contract.
        let line = unsafe { on_the_way.line(isa.into(), line, dst) };
        let place = results.0.as_mut_ptr().cast::<u8>();
        // SAFETY: a line of results.
        unsafe { line.store(place) }
        src = place;
    }
    // SAFETY: M1 to M3 hold for these bytes.
    unsafe { copy_plain(isa, src.wrapping_add(from), dst.wrapping_add(from), to - from) }
}
