//! The allocator of this test program: it fails on demand, and counts what it has given.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    ptr,
    sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed},
};

/// Smaller allocations never fail.
pub(super) const LARGE_BYTES: usize = 4 << 10;

/// The large allocations of the threads of one test.
pub(super) struct Account {
    /// The number of allocations that succeed before one fails.
    pub(super) before_failure: AtomicIsize,
    /// Whether all later allocations fail too.
    pub(super) is_lasting: AtomicBool,
    /// The bytes that are allocated.
    pub(super) live: AtomicIsize,
}

impl Account {
    pub(super) const fn new() -> Self {
        let before_failure = AtomicIsize::new(isize::MAX);
        Self { before_failure, is_lasting: AtomicBool::new(false), live: AtomicIsize::new(0) }
    }

    fn fails(&self) -> bool {
        let before = self.before_failure.fetch_sub(1, Relaxed);
        before == 0 || (before < 0 && self.is_lasting.load(Relaxed))
    }

    pub(super) fn has_failed(&self) -> bool {
        self.before_failure.load(Relaxed) < 0
    }
}

thread_local! {
    /// The account of the test that this thread works for.
    pub(super) static ACCOUNT: Cell<Option<&'static Account>> = const { Cell::new(None) };
}

fn account(layout: AllocLayout) -> Option<&'static Account> {
    ACCOUNT.get().filter(|_| layout.size() >= LARGE_BYTES)
}

fn fails(layout: AllocLayout) -> bool {
    account(layout).is_some_and(Account::fails)
}

fn counted(start: *mut u8, layout: AllocLayout) -> *mut u8 {
    if let Some(account) = account(layout).filter(|_| !start.is_null()) {
        account.live.fetch_add(layout.size() as isize, Relaxed);
    }
    start
}

struct Failing;

// SAFETY: every method forwards to the system's allocator or, as allowed, returns null.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        if fails(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's obligations are those of the system's method.
        counted(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: AllocLayout) -> *mut u8 {
        if fails(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's obligations are those of the system's method.
        counted(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        if let Some(account) = account(layout) {
            account.live.fetch_sub(layout.size() as isize, Relaxed);
        }
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;
