//! Copies of many short runs: pixels of three bytes, vectors of twelve, a few floats.
//!
//! The cost per run must be close to zero, so the method is chosen once for all runs of two loops.
//! A run is copied as two words of one width, its first and its last, which may overlap. Narrow
//! runs that are transposed go through registers instead. No gap is written.
//!
//! The loops are functions of their own, compiled once for each instruction set. Inlined into the
//! kernels that copy runs, with as many widths, they took 1.2 to 1.4 times as long (Zen 5).

use pulp::NullaryFnOnce;

use super::{isa::Isa, narrow_runs::NarrowRuns, prefetch::prefetch, transpose_block::Residency};
use crate::{
    memory::{CACHE_LINE, Stores},
    nest::Loop,
    tuning::{COPIED_BY_LINES_BYTES, MAX_TRANSPOSED_RUN_BYTES, PREFETCHED_RUN_BYTES},
};

/// The longest run that is copied as two words.
pub(crate) const MAX_SHORT_RUN_BYTES: usize = 2 * CACHE_LINE;

const _: () = assert!(MAX_TRANSPOSED_RUN_BYTES <= MAX_SHORT_RUN_BYTES, "they are copied as such");

/// Calls a method for the bytes of words of which a run has one to two. The flag says whether there
/// may be two.
macro_rules! for_words_of {
    ($runs:ident.$copy:ident()) => {
        match $runs.bytes {
            0 | 1 => $runs.$copy::<1, false>(),
            2 => $runs.$copy::<2, false>(),
            3 => $runs.$copy::<2, true>(),
            4 => $runs.$copy::<4, false>(),
            5..8 => $runs.$copy::<4, true>(),
            8 => $runs.$copy::<8, false>(),
            9..16 => $runs.$copy::<8, true>(),
            16 => $runs.$copy::<16, false>(),
            17..=32 => $runs.$copy::<16, true>(),
            33..=64 => $runs.$copy::<32, true>(),
            _ => $runs.$copy::<64, true>(),
        }
    };
}

/// Copies adjacent bytes in each iteration of two loops, the inner one first, whose strides are the
/// destination's and the source's, in bytes. `residency` says where the operands lie. Reads
/// no gaps, except between [narrow runs](super::narrow_runs::transposed) that are transposed.
///
/// # Safety
///
/// M1, M2, M3 for these bytes.
#[inline(always)]
pub(crate) unsafe fn copy_runs<I: Isa>(
    isa: I,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    loops: [Loop<2>; 2],
    residency: Residency,
) {
    let runs = NestedRuns::<I, false> { isa, src, dst, bytes, loops };
    if runs.bytes <= MAX_SHORT_RUN_BYTES {
        return isa.vectorize(runs);
    }
    if are_by_lines(bytes, residency) {
        return isa.vectorize(ByLines { isa, runs });
    }
    runs.for_each(|src, dst| {
        // SAFETY: M1 to M3 hold for one run.
        unsafe { isa.run(src, dst, bytes, Stores::Plain) };
    });
}

/// Are runs of operands that lie there copied by whole lines of the destination?
#[inline(always)]
pub(crate) fn are_by_lines(bytes: usize, residency: Residency) -> bool {
    residency == Residency::Cached && COPIED_BY_LINES_BYTES.contains(&bytes)
}

/// Runs that are copied by whole lines of the destination. A function of its own: inlined beside
/// the copies of other runs, these take 1.2 times as long.
///
/// Invariant: only [`copy_runs`] and [`copy_indexed`] make it; M1, M2 and M3 for the bytes of all
/// runs, each of which is more than a line.
struct ByLines<I, R> {
    isa: I,
    runs: R,
}

impl<I: Isa, const FAR: bool> NullaryFnOnce for ByLines<I, NestedRuns<I, FAR>> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, runs } = self;
        // SAFETY: the invariant, for one run.
        runs.for_each(|src, dst| unsafe { isa.run_by_lines(src, dst, runs.bytes) });
    }
}

impl<I: Isa> NullaryFnOnce for ByLines<I, IndexedRuns<'_>> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, runs } = self;
        // SAFETY: the invariant, for one run.
        runs.for_each(|src, dst| unsafe { isa.run_by_lines(src, dst, runs.bytes) });
    }
}

/// [`copy_runs`] of at most [`MAX_SHORT_RUN_BYTES`] from memory. Each source row is prefetched: the
/// hardware does not keep track of as many as are read side by side.
///
/// # Safety
///
/// That of [`copy_runs`].
#[inline(always)]
pub(crate) unsafe fn copy_far_runs<I: Isa>(
    isa: I,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    loops: [Loop<2>; 2],
) {
    debug_assert!(bytes <= MAX_SHORT_RUN_BYTES);
    isa.vectorize(NestedRuns::<I, true> { isa, src, dst, bytes, loops });
}

/// The runs of two loops, the inner one first, with strides in bytes.
///
/// Invariant: only [`copy_runs`] and [`copy_far_runs`] make it; M1, M2 and M3 for the bytes of all
/// runs.
#[derive(Clone, Copy)]
struct NestedRuns<I, const FAR: bool> {
    isa: I,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    loops: [Loop<2>; 2],
}

impl<I: Isa, const FAR: bool> NullaryFnOnce for NestedRuns<I, FAR> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, src, dst, bytes, loops } = self;
        let residency = if FAR { Residency::Memory } else { Residency::FirstLevel };
        if let Some(runs) = NarrowRuns::new(src, dst, bytes, loops, residency) {
            // SAFETY: the invariant, for the same runs.
            if unsafe { isa.transpose_narrow_runs(runs) } {
                return;
            }
        }
        for_words_of!(self.copy());
    }
}

impl<I: Isa, const FAR: bool> NestedRuns<I, FAR> {
    /// How far ahead the source is prefetched: along the loop of its rows.
    #[inline(always)]
    fn ahead(&self) -> isize {
        let [inner, outer] = self.loops.map(|l| l.strides[1]);
        let row = if inner.unsigned_abs() < outer.unsigned_abs() { inner } else { outer };
        PREFETCHED_RUN_BYTES as isize * row.signum()
    }

    /// Calls `visit` with the addresses of each run.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(*const u8, *mut u8)) {
        let [inner, outer] = self.loops;
        let (mut src, mut dst) = (self.src, self.dst);
        for _ in 0..outer.len {
            let (mut from, mut to) = (src, dst);
            for _ in 0..inner.len {
                visit(from, to);
                from = from.wrapping_offset(inner.strides[1]);
                to = to.wrapping_offset(inner.strides[0]);
            }
            src = src.wrapping_offset(outer.strides[1]);
            dst = dst.wrapping_offset(outer.strides[0]);
        }
    }

    /// Copies all runs, of one to two words. As two, even if they are the same: of a loop with one
    /// load and one store the compiler makes hardware gathers and scatters, which take twice as
    /// long.
    #[inline(always)]
    fn copy<const WORD: usize, const TWO: bool>(self) {
        let ahead = self.ahead();
        self.for_each(|src, dst| {
            if FAR {
                prefetch(src.wrapping_offset(ahead));
            }
            // SAFETY: the invariant, for one run.
            unsafe { copy_run::<WORD, true>(src, dst, self.bytes) };
        });
    }
}

/// Copies the first word of a run and, if there are `TWO`, its last.
///
/// # Safety
///
/// M1, M2 and M3 for the run, which is one to two words long, and one if not `TWO`.
// A word of 32 or 64 bytes as a value, an array, would go through the stack.
#[inline(always)]
unsafe fn copy_run<const WORD: usize, const TWO: bool>(from: *const u8, to: *mut u8, bytes: usize) {
    if TWO {
        let last = bytes - WORD;
        // SAFETY: the last word is readable by M1 and writable by M2, and they do not overlap (M3).
        unsafe { from.wrapping_add(last).copy_to_nonoverlapping(to.wrapping_add(last), WORD) };
    }
    // SAFETY: the same holds for the first word.
    unsafe { from.copy_to_nonoverlapping(to, WORD) };
}

/// Pairs of offsets in destination and source, in bytes.
type Offsets<'a> = &'a [[isize; 2]];

/// Copies adjacent bytes at each pair of offsets of two tables, the first one inside. Does not read
/// the gaps.
///
/// # Safety
///
/// M1, M2, M3 for these bytes.
#[inline(always)]
pub(crate) unsafe fn copy_indexed<I: Isa>(
    isa: I,
    src: *const u8,
    dst: *mut u8,
    (inner, outer): (Offsets<'_>, Offsets<'_>),
    bytes: usize,
    residency: Residency,
) {
    let runs = IndexedRuns { src, dst, bytes, inner, outer };
    if runs.bytes <= MAX_SHORT_RUN_BYTES {
        return isa.vectorize(runs);
    }
    if are_by_lines(bytes, residency) {
        return isa.vectorize(ByLines { isa, runs });
    }
    runs.for_each(|src, dst| {
        // SAFETY: M1 to M3 hold for one run.
        unsafe { isa.run(src, dst, bytes, Stores::Plain) };
    });
}

/// Runs at offsets of tables.
///
/// Invariant: only [`copy_indexed`] makes it; M1, M2 and M3 for the bytes of all runs.
#[derive(Clone, Copy)]
struct IndexedRuns<'a> {
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    inner: Offsets<'a>,
    outer: Offsets<'a>,
}

impl NullaryFnOnce for IndexedRuns<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for_words_of!(self.copy());
    }
}

impl IndexedRuns<'_> {
    /// Calls `visit` with the addresses of each run.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(*const u8, *mut u8)) {
        for &[to, from] in self.outer {
            let (src, dst) = (self.src.wrapping_offset(from), self.dst.wrapping_offset(to));
            for &[to, from] in self.inner {
                visit(src.wrapping_offset(from), dst.wrapping_offset(to));
            }
        }
    }

    /// Copies all runs, of one to two words, and of one if not `TWO`.
    #[inline(always)]
    fn copy<const WORD: usize, const TWO: bool>(self) {
        // SAFETY: the invariant, for one run.
        self.for_each(|src, dst| unsafe { copy_run::<WORD, TWO>(src, dst, self.bytes) });
    }
}
