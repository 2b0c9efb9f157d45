//! An allocator that counts, to show what copies nothing.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

struct Counting;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, called as this one is called.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many bytes `work` asks for on this thread.
pub(crate) fn bytes_allocated_by<R>(work: impl FnOnce() -> R) -> usize {
    let before = BYTES.get();
    let result = work();
    let bytes = BYTES.get() - before;
    drop(result);
    bytes
}
