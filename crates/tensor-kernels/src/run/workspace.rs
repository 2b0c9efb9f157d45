//! Scratch memory. It belongs to the thread, is bounded, may fail to be allocated, and can be
//! requested while other work on the same thread holds some.
//!
//! Small scratch for work that does not wait for other work is on the stack. All other scratch
//! comes from buffers that the thread keeps between operations. A thread that waits for the other
//! half of its work may be given more work, which needs scratch of its own; a dozen nested stack
//! frames of 100 KiB would overflow a stack of 1 MiB. If no memory is available, work is cut until
//! [`RESERVE_BYTES`] on the stack suffice.
//!
//! Scratch knows its length; [`Scratch::rows`] checks that the rows requested lie within it. In
//! debug builds scratch is filled with [`POISON_PATTERN`], lies between two guard lines, and the
//! guards are checked when it is returned.

#[cfg(feature = "elementwise")]
mod blocks;
mod reserve;

use std::{cell::Cell, marker::PhantomData, mem::MaybeUninit};

use smallvec::SmallVec;

use crate::{
    memory::CACHE_LINE,
    tuning::{MAX_FRAME_BYTES, MAX_KEPT_BUFFER_BYTES, MAX_KEPT_BUFFERS, PAGE_BYTES},
};
pub(super) use reserve::{RESERVE_BYTES, with_reserve};

/// The content of scratch in debug builds before it is written.
const POISON_PATTERN: u8 = 0xA7;

/// The content of the lines before and after scratch in debug builds.
const GUARD_PATTERN: u8 = 0x5C;

/// The bytes of both guard lines.
const GUARD_BYTES: usize = 2 * CACHE_LINE;

/// Whether a thread may be given other work while it holds scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// No: the work runs to its end.
    Leaf,
    /// Yes: the work waits for other work.
    #[cfg(feature = "elementwise")]
    AcrossJoin,
}

/// Calls `f` with scratch of `bytes`; returns `None` if no memory is available for it.
pub(super) fn with_scratch<R>(
    bytes: usize,
    hold: Hold,
    f: impl FnOnce(Scratch<'_>) -> R,
) -> Option<R> {
    if bytes <= MAX_FRAME_BYTES && hold == Hold::Leaf {
        return Some(in_frame::<{ MAX_FRAME_BYTES + GUARD_BYTES }, R>(bytes, f));
    }
    let mut kept = KeptBuffer::take(bytes.checked_add(GUARD_BYTES)?)?;
    Some(guarded(kept.bytes(), bytes, f))
}

#[repr(align(64))]
struct Frame<const B: usize>([MaybeUninit<u8>; B]);

#[inline(never)]
fn in_frame<const B: usize, R>(bytes: usize, f: impl FnOnce(Scratch<'_>) -> R) -> R {
    let mut frame = Frame([const { MaybeUninit::uninit() }; B]);
    guarded(&mut frame.0, bytes, f)
}

/// Calls `f` with `bytes` of the memory, which starts at a cache line; checks guards in debug
/// builds.
fn guarded<R>(memory: &mut [MaybeUninit<u8>], bytes: usize, f: impl FnOnce(Scratch<'_>) -> R) -> R {
    if !cfg!(debug_assertions) {
        return f(Scratch::new(&mut memory[..bytes]));
    }
    let end = CACHE_LINE + bytes;
    memory[..CACHE_LINE].fill(MaybeUninit::new(GUARD_PATTERN));
    memory[CACHE_LINE..end].fill(MaybeUninit::new(POISON_PATTERN));
    memory[end..end + CACHE_LINE].fill(MaybeUninit::new(GUARD_PATTERN));
    let result = f(Scratch::new(&mut memory[CACHE_LINE..end]));
    for guard in [&memory[..CACHE_LINE], &memory[end..end + CACHE_LINE]] {
        // SAFETY: both guards were filled above, and kernels write only initialised bytes.
        let intact = guard.iter().all(|byte| unsafe { byte.assume_init() } == GUARD_PATTERN);
        assert!(intact, "a kernel wrote outside of {bytes} bytes of scratch");
    }
    result
}

/// Scratch memory that nobody else uses during `'a`. The scratch that `with_scratch` and
/// `with_reserve` pass on starts at a cache line.
///
/// A pointer and a length, not a slice: kernels hold pointers into several parts at a time, which a
/// new slice of the whole would invalidate.
pub(super) struct Scratch<'a> {
    start: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

// SAFETY: one owner at a time uses the bytes, as with a mutable slice of them.
unsafe impl Send for Scratch<'_> {}

impl<'a> Scratch<'a> {
    fn new(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { start: bytes.as_mut_ptr().cast(), len: bytes.len(), life: PhantomData }
    }

    /// The first `bytes`, and the rest.
    ///
    /// # Panics
    /// If there are fewer bytes.
    #[cfg(any(feature = "elementwise", feature = "in-place"))]
    pub(super) fn split_at(self, bytes: usize) -> (Scratch<'a>, Scratch<'a>) {
        assert!(bytes <= self.len, "{bytes} bytes of {}", self.len);
        let rest = self.start.wrapping_add(bytes);
        (Self { len: bytes, ..self }, Self { start: rest, len: self.len - bytes, ..self })
    }

    /// A pointer to the first byte, for a kernel that touches `bytes` bytes.
    ///
    /// # Panics
    /// If there are fewer bytes.
    #[inline]
    pub(super) fn start(&mut self, bytes: usize) -> *mut u8 {
        assert!(bytes <= self.len, "{bytes} bytes of {}", self.len);
        self.start
    }

    /// The bytes before the first start of a page.
    #[inline]
    pub(super) fn bytes_to_page(&self) -> usize {
        self.start.addr().wrapping_neg() % PAGE_BYTES
    }

    /// A pointer to `bytes` bytes within one page, if the scratch has room for that: to its start,
    /// or to the next page. Else as [`Self::start`].
    ///
    /// # Panics
    /// If there are fewer bytes.
    #[inline]
    pub(super) fn start_in_page(&mut self, bytes: usize) -> *mut u8 {
        let left = PAGE_BYTES - self.start.addr() % PAGE_BYTES;
        let skipped = if bytes <= left || left + bytes > self.len { 0 } else { left };
        self.start(skipped + bytes).wrapping_add(skipped)
    }

    /// `rows` rows of `row_bytes` bytes, `pitch` bytes apart; the first starts at byte `start`.
    ///
    /// # Panics
    /// If they are not within the scratch, or overlap.
    #[inline]
    pub(super) fn rows(
        &mut self,
        start: usize,
        (rows, row_bytes): (usize, usize),
        pitch: usize,
    ) -> ScratchRows<'_> {
        assert!(row_bytes <= pitch || rows <= 1, "rows of {row_bytes} bytes, {pitch} apart");
        let end = start + rows.saturating_sub(1) * pitch + row_bytes;
        assert!(end <= self.len, "rows end at byte {end} of {}", self.len);
        let first = self.start.wrapping_add(start);
        ScratchRows {
            first,
            rows,
            row_bytes,
            #[cfg(feature = "elementwise")]
            pitch,
            life: PhantomData,
        }
    }
}

/// Rows in scratch memory, `pitch` bytes apart.
///
/// Invariant S1: `rows` rows of `row_bytes` bytes lie within the scratch that they were taken from,
/// and do not overlap.
pub(super) struct ScratchRows<'a> {
    first: *mut u8,
    rows: usize,
    row_bytes: usize,
    #[cfg(feature = "elementwise")]
    pitch: usize,
    life: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

impl ScratchRows<'_> {
    /// The first row, for a kernel that touches `rows` rows of `row_bytes` bytes.
    ///
    /// # Panics
    /// If there are fewer rows, or shorter ones.
    #[inline]
    pub(super) fn start(&mut self, rows: usize, row_bytes: usize) -> *mut u8 {
        let fits = rows <= self.rows && row_bytes <= self.row_bytes;
        assert!(fits, "{rows} rows of {row_bytes} bytes, in {} of {}", self.rows, self.row_bytes);
        self.first
    }
}

/// A cache line of memory, not necessarily initialised.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct CacheLine(#[allow(dead_code, reason = "only its bytes are used")] [u8; CACHE_LINE]);

type CacheLines = Vec<MaybeUninit<CacheLine>>;

thread_local! {
    /// The buffers of this thread that are not in use.
    static UNUSED: Cell<SmallVec<[CacheLines; MAX_KEPT_BUFFERS]>> =
        const { Cell::new(SmallVec::new_const()) };
}

/// A buffer taken from those that the thread keeps; it is returned when it is dropped.
struct KeptBuffer(CacheLines);

impl KeptBuffer {
    /// A buffer of at least `bytes`, or `None` if no memory is available.
    fn take(bytes: usize) -> Option<Self> {
        let len = bytes.div_ceil(CACHE_LINE);
        let found = with_unused(|unused| {
            let enough = unused.iter().rposition(|lines| lines.len() >= len);
            let at = enough.or(unused.len().checked_sub(1))?;
            Some(unused.swap_remove(at))
        });
        let mut lines = found.flatten().unwrap_or_default();
        let missing = len.saturating_sub(lines.len());
        lines.try_reserve_exact(missing).ok()?;
        lines.resize_with(lines.len() + missing, MaybeUninit::uninit);
        Some(Self(lines))
    }

    fn bytes(&mut self) -> &mut [MaybeUninit<u8>] {
        let len = self.0.len() * CACHE_LINE;
        // SAFETY: the bytes of the lines, which may be uninitialised; they are borrowed with the
        // lines.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

impl Drop for KeptBuffer {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.0);
        with_unused(|unused| {
            if unused.len() < MAX_KEPT_BUFFERS && lines.len() <= MAX_KEPT_BUFFER_BYTES / CACHE_LINE
            {
                unused.push(lines);
            }
        });
    }
}

/// The result of `f`, or `None` while the thread ends and keeps nothing any more.
fn with_unused<R>(f: impl FnOnce(&mut SmallVec<[CacheLines; MAX_KEPT_BUFFERS]>) -> R) -> Option<R> {
    let on = |cell: &Cell<_>| {
        let mut unused = cell.take();
        let result = f(&mut unused);
        cell.set(unused);
        result
    };
    UNUSED.try_with(on).ok()
}

#[cfg(all(test, feature = "elementwise"))]
mod tests {
    use super::*;

    #[test]
    fn scratch_starts_at_a_cache_line_and_has_the_bytes() {
        for bytes in [0, 1, 100, MAX_FRAME_BYTES, MAX_FRAME_BYTES + 1, 1 << 20] {
            for hold in [Hold::Leaf, Hold::AcrossJoin] {
                with_scratch(bytes, hold, |mut scratch| {
                    assert_eq!(scratch.start(bytes).addr() % CACHE_LINE, 0);
                })
                .unwrap();
            }
        }
        with_reserve(RESERVE_BYTES, |mut scratch| _ = scratch.start(RESERVE_BYTES));
    }

    #[test]
    fn bytes_lie_in_a_page_where_the_scratch_has_room() {
        for bytes in [64, 192, 2048, 4032, PAGE_BYTES] {
            for skipped in (0..PAGE_BYTES).step_by(CACHE_LINE) {
                let all = skipped + 2 * bytes;
                let start = with_scratch(all, Hold::AcrossJoin, |mut scratch| {
                    let start = scratch.start(skipped).wrapping_add(skipped);
                    let mut rest = Scratch { start, len: 2 * bytes, life: PhantomData };
                    rest.start_in_page(bytes).addr()
                });
                let start = start.unwrap();
                assert!(start % PAGE_BYTES + bytes <= PAGE_BYTES, "{bytes} bytes at {start}");
            }
        }
        let all = with_scratch(100, Hold::Leaf, |mut scratch| {
            scratch.start_in_page(100).addr() - scratch.start(100).addr()
        });
        assert_eq!(all, Some(0), "no room");
    }

    #[test]
    fn nested_work_gets_scratch_of_its_own() {
        let both = with_scratch(1 << 16, Hold::AcrossJoin, |mut outer| {
            with_scratch(1 << 16, Hold::AcrossJoin, |mut inner| {
                inner.start(1 << 16).addr().abs_diff(outer.start(1 << 16).addr())
            })
        });
        assert!(both.flatten().unwrap() >= 1 << 16);
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        assert!(with_scratch(isize::MAX as usize, Hold::Leaf, |_| ()).is_none());
        assert!(with_scratch(usize::MAX, Hold::Leaf, |_| ()).is_none());
    }

    #[test]
    #[should_panic(expected = "reserve")]
    fn more_than_the_reserve_is_no_request() {
        with_reserve(RESERVE_BYTES + 1, |_| ());
    }

    #[test]
    #[should_panic(expected = "rows end at byte 704 of 640")]
    fn rows_beyond_the_scratch_cannot_be_had() {
        with_scratch(640, Hold::Leaf, |mut scratch| {
            scratch.rows(0, (10, 64), 64);
            scratch.rows(64, (10, 64), 64);
        });
    }

    #[test]
    #[should_panic(expected = "rows of 65 bytes")]
    fn rows_that_overlap_cannot_be_had() {
        with_scratch(640, Hold::Leaf, |mut scratch| _ = scratch.rows(0, (2, 65), 64));
    }

    #[test]
    #[should_panic(expected = "3 rows of 64 bytes")]
    fn a_kernel_gets_no_more_rows_than_there_are() {
        with_scratch(640, Hold::Leaf, |mut scratch| {
            scratch.rows(0, (2, 64), 64).start(3, 64);
        });
    }

    #[test]
    #[should_panic(expected = "101 bytes of 100")]
    fn a_kernel_gets_no_more_bytes_than_there_are() {
        with_scratch(100, Hold::Leaf, |mut scratch| _ = scratch.start(101));
    }

    #[cfg(all(debug_assertions, not(miri)))]
    #[test]
    #[should_panic(expected = "outside of 100 bytes")]
    fn writes_behind_scratch_are_noticed() {
        with_scratch(100, Hold::Leaf, |mut scratch| {
            let end = scratch.start(100).wrapping_add(100);
            // SAFETY: the address is in the guard line, which is part of the frame; the test checks
            // that.
            unsafe { end.write(0) };
        });
    }
}
