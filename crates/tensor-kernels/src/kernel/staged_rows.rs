//! Rows in scratch on their way to the destination.

/// Rows staged in scratch, ready to be written by [`Isa::flush`](super::Isa::flush). Steps are in
/// bytes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernel moves all bytes at once")
)]
pub(crate) struct StagedRows {
    /// The first column of the first row, in scratch.
    pub(crate) src: *mut u8,
    /// Bytes from one row to the next in scratch.
    pub(crate) src_step: isize,
    /// The destination of that column.
    pub(crate) dst: *mut u8,
    /// Bytes from one row to the next in the destination.
    pub(crate) dst_step: isize,
    /// The number of rows.
    pub(crate) count: usize,
    /// The bytes of each row.
    pub(crate) bytes: usize,
    /// True if rows start with these columns.
    pub(crate) is_first: bool,
    /// True if rows end with these columns.
    pub(crate) is_last: bool,
    /// How far to move the bytes after the last whole line towards the front of scratch: a multiple
    /// of a cache line.
    pub(crate) tail_shift: usize,
}

impl StagedRows {
    /// One row of `bytes` bytes, all of its columns.
    pub(crate) fn one(src: *mut u8, dst: *mut u8, bytes: usize) -> Self {
        let (src_step, dst_step, count, tail_shift) = (0, 0, 1, 0);
        Self {
            src,
            src_step,
            dst,
            dst_step,
            count,
            bytes,
            is_first: true,
            is_last: true,
            tail_shift,
        }
    }
}
