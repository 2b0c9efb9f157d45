//! Scratch for blocks of elementwise operations and reductions: cut into areas, and available even
//! without memory.

use std::marker::PhantomData;

use super::{GUARD_BYTES, Scratch, ScratchRows, in_frame};
use crate::plan::Area;

/// Scratch on the stack that is available even without memory: enough for the smallest tasks of all
/// work.
pub(in crate::run) const RESERVE_BYTES: usize = 24 << 10;

/// Calls `f` with scratch on the stack, for work that does not wait for other work.
///
/// # Panics
/// If `bytes` is more than [`RESERVE_BYTES`].
#[inline(never)]
pub(in crate::run) fn with_reserve<R>(bytes: usize, f: impl FnOnce(Scratch<'_>) -> R) -> R {
    assert!(bytes <= RESERVE_BYTES, "work was cut to fit the reserve, but needs {bytes} bytes");
    in_frame::<{ RESERVE_BYTES + GUARD_BYTES }, R>(bytes, f)
}

impl<'a> Scratch<'a> {
    /// The first `bytes`, and the rest.
    ///
    /// # Panics
    /// If there are fewer bytes.
    pub(in crate::run) fn split_at(self, bytes: usize) -> (Scratch<'a>, Scratch<'a>) {
        assert!(bytes <= self.len, "{bytes} bytes of {}", self.len);
        let rest = self.start.wrapping_add(bytes);
        (Self { len: bytes, ..self }, Self { start: rest, len: self.len - bytes, ..self })
    }

    /// The same memory for a shorter time.
    pub(in crate::run) fn reborrow(&mut self) -> Scratch<'_> {
        Scratch { life: PhantomData, ..*self }
    }

    /// The rows of an operand's area.
    ///
    /// # Panics
    /// If the area is not within the scratch.
    #[inline]
    pub(in crate::run) fn area(&mut self, area: Area) -> ScratchRows<'_> {
        self.rows(area.start, (area.rows, area.row_bytes), area.pitch)
    }
}

impl ScratchRows<'_> {
    /// Bytes from one row to the next.
    #[inline]
    pub(in crate::run) fn pitch(&self) -> usize {
        self.pitch
    }
}
