//! The allocator of this test program: it counts every byte that the threads of one measurement
//! allocate, and fails on demand.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    ptr::null_mut,
    sync::{
        Mutex,
        atomic::{AtomicIsize, Ordering::Relaxed},
    },
};

/// Smaller allocations never fail: they are shapes, plans and the state of threads, without which
/// the standard library aborts.
pub(super) const LARGE_BYTES: usize = 4 << 10;

/// What the threads of one measurement allocate.
pub(super) struct Account {
    /// The bytes that were allocated, whether or not they were freed, and those of them in large
    /// allocations.
    sum: AtomicIsize,
    large: AtomicIsize,
    /// The number of large allocations that succeed before one fails.
    before_failure: AtomicIsize,
}

impl Account {
    /// An account for the threads of one test. It is never freed, as threads may outlive the test;
    /// a list of all tells a sanitizer that it is not lost.
    pub(super) fn new() -> &'static Self {
        static ALL: Mutex<Vec<&Account>> = Mutex::new(Vec::new());
        let before_failure = AtomicIsize::new(isize::MAX);
        let [sum, large] = [0, 0].map(AtomicIsize::new);
        let account = Box::leak(Box::new(Self { sum, large, before_failure }));
        ALL.lock().expect("no thread panics here").push(account);
        account
    }

    /// Counts what this thread allocates from now on.
    pub(super) fn join(&'static self) {
        ACCOUNT.set(Some(self));
    }

    /// The result of `work`, and what all threads of the account allocate meanwhile.
    pub(super) fn measured<R>(&self, work: impl FnOnce() -> R) -> (R, Allocated) {
        let [bytes, large] = self.sums();
        let result = work();
        let after = self.sums();
        (result, Allocated { bytes: after[0] - bytes, large: after[1] - large })
    }

    fn sums(&self) -> [usize; 2] {
        [&self.sum, &self.large].map(|sum| sum.load(Relaxed) as usize)
    }

    /// The result of `work` in which large allocation number `at` fails, and whether there was one.
    pub(super) fn failing_at<R>(&self, at: isize, work: impl FnOnce() -> R) -> (R, bool) {
        self.before_failure.store(at, Relaxed);
        let result = work();
        (result, self.before_failure.swap(isize::MAX, Relaxed) < 0)
    }

    /// Counts an allocation; returns whether it may succeed.
    fn allows(&self, layout: AllocLayout) -> bool {
        self.sum.fetch_add(layout.size() as isize, Relaxed);
        if layout.size() < LARGE_BYTES {
            return true;
        }
        self.large.fetch_add(layout.size() as isize, Relaxed);
        self.before_failure.fetch_sub(1, Relaxed) != 0
    }
}

/// The bytes of all allocations of a measurement, and of the large ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Allocated {
    pub(super) bytes: usize,
    pub(super) large: usize,
}

thread_local! {
    /// The account of the test that this thread works for.
    static ACCOUNT: Cell<Option<&'static Account>> = const { Cell::new(None) };
}

struct Counting;

// SAFETY: every method forwards to the system's allocator or, as allowed, returns null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        if !ACCOUNT.get().is_none_or(|account| account.allows(layout)) {
            return null_mut();
        }
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
