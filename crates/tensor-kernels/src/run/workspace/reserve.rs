//! Scratch that is available even without memory.

use super::{GUARD_BYTES, Scratch, in_frame};

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
