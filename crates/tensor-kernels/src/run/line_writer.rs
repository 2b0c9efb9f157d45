//! Writes results past the caches that are computed a few kilobytes at a time.
//!
//! A non-temporal store pays if it fills a whole cache line. Results seldom end where a line does,
//! so what is left of the last line waits in a buffer for the results that follow in memory. Only
//! the first and the last line of a run of results are written through the cache.

use std::mem::MaybeUninit;

use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel},
    memory::{CACHE_LINE, Stores},
    tuning::STREAMED_RESULT_BYTES,
};

/// Adjacent results on their way to memory.
///
/// Invariant L1: the first `pending` bytes of the buffer are initialised, and can be written from
/// `next` on.
#[repr(align(64))]
pub(super) struct LineWriter {
    buffer: [MaybeUninit<u8>; STREAMED_RESULT_BYTES + CACHE_LINE],
    pending: usize,
    next: *mut u8,
    simd: SimdLevel,
}

impl LineWriter {
    pub(super) fn new(simd: SimdLevel) -> Self {
        let buffer = [MaybeUninit::uninit(); _];
        Self { buffer, pending: 0, next: std::ptr::null_mut(), simd }
    }

    /// The place in the buffer for the next results, which belong at `to`: at most
    /// [`STREAMED_RESULT_BYTES`]. It is aligned for elements if `to` is, and whole elements are
    /// taken. If `to` does not follow the results so far, what is pending is written first.
    #[inline]
    pub(super) fn room_for(&mut self, to: *mut u8) -> *mut u8 {
        if self.next.wrapping_add(self.pending) != to {
            self.finish();
            self.next = to;
        }
        // Less than a line is pending.
        self.start().wrapping_add(self.pending)
    }

    /// Takes results from the room, and writes the lines that they complete.
    ///
    /// # Safety
    /// The first `bytes` bytes of the room have been written, and can be written behind those that
    /// are pending.
    #[inline]
    pub(super) unsafe fn take(&mut self, bytes: usize) {
        self.pending += bytes;
        let left = (self.next.addr() + self.pending) % CACHE_LINE;
        let Some(lines @ 1..) = self.pending.checked_sub(left) else { return };
        let (from, to) = (self.start(), self.next);
        kernel::dispatch(self.simd, WriteLines { from, to, bytes: lines });
        (self.next, self.pending) = (to.wrapping_add(lines), left);
        // SAFETY: L1: `lines + left` bytes of the buffer are initialised.
        unsafe { from.copy_from(from.wrapping_add(lines), left) };
    }

    /// Writes what is pending.
    pub(super) fn finish(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if pending > 0 {
            // SAFETY: L1; the buffer overlaps no operand.
            unsafe { self.next.copy_from_nonoverlapping(self.start(), pending) };
        }
    }

    fn start(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr().cast()
    }
}

/// Writes results: whole lines past the cache.
///
/// Invariant: only [`LineWriter::take`] makes it; L1 for `bytes`.
struct WriteLines {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

impl Kernel for WriteLines {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        // SAFETY: the invariant; the buffer overlaps no operand.
        unsafe { isa.run(self.from, self.to, self.bytes, Stores::NonTemporal) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_length_arrive_where_they_belong() {
        for simd in SimdLevel::available() {
            for (start, gap) in [(0, 0), (3, 0), (64, 5), (61, 100)] {
                let mut out = vec![0xEE; 40_000];
                let (mut expected, mut at) = (out.clone(), start);
                let mut writer = LineWriter::new(simd);
                for (number, bytes) in
                    [1, 63, 700, 4096, 2, 64, 4096, 130, 1000].into_iter().enumerate()
                {
                    let value = number as u8 + 1;
                    expected[at..at + bytes].fill(value);
                    let room = writer.room_for(out[at..].as_mut_ptr());
                    // SAFETY: the room holds 4096 bytes.
                    unsafe { room.write_bytes(value, bytes) };
                    // SAFETY: as many bytes have been written, and `out` has them from `at` on.
                    unsafe { writer.take(bytes) };
                    at += bytes + gap;
                }
                writer.finish();
                assert_eq!(out, expected, "{simd} from {start}, {gap} apart");
            }
        }
    }
}
