//! Memory for blocks on their way, in the second-level cache, and for what a reduction holds while its halves are under way.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::memory::CACHE_LINE;

/// A cache line of scratch memory.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(
    #[allow(dead_code, reason = "only its bytes are used, through pointers")] [u8; CACHE_LINE],
);

/// A thread that waits for a half takes up other work meanwhile, which needs scratch of its own: of so many the memory is kept.
const KEPT: usize = 4;

type Kept = SmallVec<[Vec<Line>; KEPT]>;

thread_local! {
    /// The scratch of this thread that is not in use, kept from one operation to the next: half a second-level cache each at most.
    static SCRATCH: Cell<Kept> = const { Cell::new(SmallVec::new_const()) };
}

/// This thread's scratch, while work uses it.
pub(super) struct Scratch(Vec<Line>);

impl Scratch {
    /// Scratch of at least `bytes`, or `None` if there is no memory for it.
    pub(super) fn take(bytes: usize) -> Option<Self> {
        let len = bytes.div_ceil(CACHE_LINE);
        let kept = with_kept(|kept| {
            let enough = kept.iter().rposition(|lines| lines.len() >= len);
            let at = enough.or(kept.len().checked_sub(1))?;
            Some(kept.swap_remove(at))
        })?;
        let mut scratch = Self(kept.unwrap_or_default());
        let missing = len.saturating_sub(scratch.0.len());
        scratch.0.try_reserve_exact(missing).ok()?;
        scratch.0.resize(scratch.0.len() + missing, Line([0; CACHE_LINE]));
        Some(scratch)
    }

    pub(super) fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.0);
        with_kept(|kept| {
            if kept.len() < KEPT {
                kept.push(lines);
            }
        });
    }
}

/// What `f` gives, or `None` at the end of the thread, which keeps nothing any more.
fn with_kept<R>(f: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    let on = |cell: &Cell<Kept>| {
        let mut kept = cell.take();
        let result = f(&mut kept);
        cell.set(kept);
        result
    };
    SCRATCH.try_with(on).ok()
}
