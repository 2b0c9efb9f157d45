//! Memory for blocks on their way, in the second-level cache.

use std::cell::Cell;

use crate::micro::LINE;

/// A cache line of scratch memory.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code, reason = "only its bytes are used, through pointers")] [u8; LINE]);

thread_local! {
    /// The scratch of this thread, kept from one operation to the next: half a second-level cache at most.
    static SCRATCH: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// This thread's scratch, while work uses it.
pub(super) struct Scratch(Vec<Line>);

impl Scratch {
    /// Scratch of at least `bytes`, or `None` if there is no memory for it.
    pub(super) fn take(bytes: usize) -> Option<Self> {
        let mut lines = SCRATCH.take();
        let missing = bytes.div_ceil(LINE).saturating_sub(lines.len());
        lines.try_reserve_exact(missing).ok()?;
        lines.resize(lines.len() + missing, Line([0; LINE]));
        Some(Self(lines))
    }

    pub(super) fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        SCRATCH.set(std::mem::take(&mut self.0));
    }
}
