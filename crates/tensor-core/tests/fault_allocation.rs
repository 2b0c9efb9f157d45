//! A failed allocation is an error with its size, whichever allocation fails; inputs are unchanged
//! and nothing leaks. A test program of its own, because its allocator fails on demand.
//!
//! Only allocations of at least 1 KiB fail: those that grow with the number of elements or views.
//! Smaller ones, like a reference count or the shape in an error, are made by the standard library,
//! which aborts when they fail.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    ptr,
};

use tensor_core::{
    Error, Layout, Result, Tensor, TensorView, Uninit, cached_memory, set_memory_cache_limit,
};

const LARGE_BYTES: usize = 1 << 10;
const MIB: usize = 1 << 20;

thread_local! {
    /// Large allocations that succeed before one fails, if one is to fail.
    static BEFORE_FAILURE: Cell<Option<usize>> = const { Cell::new(None) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

/// Counts an allocation of this thread; returns whether it has to fail.
fn fails(layout: AllocLayout) -> bool {
    let before = BEFORE_FAILURE.get();
    if layout.size() < LARGE_BYTES || before.is_none() {
        return false;
    }
    BEFORE_FAILURE.set(before.and_then(|before| before.checked_sub(1)));
    before == Some(0)
}

fn counted(start: *mut u8, layout: AllocLayout) -> *mut u8 {
    if !start.is_null() {
        LIVE.set(LIVE.get() + layout.size() as isize);
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
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `work` with allocation number `at` failing; also returns whether it was reached.
fn failing_at<R>(at: usize, work: impl FnOnce() -> R) -> (R, bool) {
    BEFORE_FAILURE.set(Some(at));
    let result = work();
    let has_failed = BEFORE_FAILURE.take().is_none();
    (result, has_failed)
}

/// Lets each large allocation of `work` fail in turn; `allocations` is their number.
#[track_caller]
fn fails_cleanly(allocations: usize, work: impl Fn() -> Result<()>) {
    for at in 0..allocations {
        let live = LIVE.get();
        let (result, has_failed) = failing_at(at, &work);
        assert!(has_failed, "there is no allocation {at}");
        match result {
            Err(Error::OutOfMemory { bytes }) => assert!(bytes >= LARGE_BYTES, "{bytes}"),
            other => panic!("allocation {at}: {other:?}"),
        }
        assert_eq!(LIVE.get(), live, "allocation {at}: bytes are left allocated");
    }
    assert_eq!(failing_at(allocations, &work), (Ok(()), false), "more allocations");
}

#[test]
fn fault_each_allocation_of_a_new_tensor_that_fails_is_an_error() {
    let values = vec![7u64; 1000];
    fails_cleanly(1, || Tensor::<u64>::zeros([1000]).map(drop));
    fails_cleanly(1, || Tensor::full([10, 100], 7u64).map(drop));
    fails_cleanly(1, || Tensor::from_slice(&values, [1000]).map(drop));
    fails_cleanly(1, || Tensor::from_fn(&[1000], |index| index[0]).map(drop));
    fails_cleanly(1, || Tensor::arange(0u64, 1000, 1).map(drop));
    fails_cleanly(1, || Uninit::<u64>::new(Layout::fortran([10, 100])?).map(drop));
    fails_cleanly(0, || Tensor::<u64>::zeros([0, 1000]).map(drop));
    assert_eq!(values, [7; 1000]);
}

#[test]
fn fault_each_allocation_of_a_list_that_fails_is_an_error() {
    let tensor = Tensor::arange(0u16, 2000, 1).unwrap();
    let column = tensor.view([1000, 2]).unwrap().select(1, 1).unwrap();
    fails_cleanly(1, || tensor.to_vec().map(drop));
    fails_cleanly(1, || column.to_vec().map(drop));
    fails_cleanly(1, || column.read()?.as_view().try_to_vec().map(drop));
    fails_cleanly(1, || column.layout().unbind(0).map(drop));
    fails_cleanly(2, || column.unbind(0).map(drop));
    fails_cleanly(2, || column.split(3, 0).map(drop));
    fails_cleanly(2, || column.chunk(300, 0).map(drop));

    let numbers = [0u8; 1000];
    let view = TensorView::new(&numbers, Layout::contiguous([1000]).unwrap()).unwrap();
    fails_cleanly(2, || view.unbind(0).map(drop));
    assert_eq!(tensor.to_vec(), Ok((0..2000).collect()));
}

fn uninit(mib: usize) -> Result<Uninit<u8>> {
    Uninit::new(Layout::contiguous([mib * MIB])?)
}

/// The only test here with buffers that are large enough to be kept, as the cache is global.
#[test]
fn fault_kept_memory_is_freed_before_an_allocation_fails() {
    set_memory_cache_limit(0);
    fails_cleanly(1, || Tensor::<u8>::zeros([9 * MIB]).map(drop));
    fails_cleanly(1, || uninit(9).map(drop));
    if !cfg!(target_os = "linux") {
        return;
    }
    set_memory_cache_limit(100 * MIB);
    drop(uninit(40).unwrap());
    assert!(cached_memory() >= 40 * MIB);
    let (tensor, has_failed) = failing_at(0, || Tensor::<u8>::zeros([9 * MIB]));
    assert!(has_failed && tensor.is_ok(), "the second attempt succeeds");
    assert_eq!(cached_memory(), 0, "what was kept is given back first");
    drop(tensor);
    set_memory_cache_limit(0);
}
