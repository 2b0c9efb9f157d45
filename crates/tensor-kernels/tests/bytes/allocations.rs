//! The memory of a result is allocated once, not zeroed, and has no spare capacity; a copy into
//! memory of the caller allocates nothing.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
};

use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Exec, Layout, copy_bytes, to_byte_vec, to_vec,
};

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static ZEROED: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every method forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + 1);
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: AllocLayout) -> *mut u8 {
        ZEROED.set(ZEROED.get() + 1);
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and zeroed allocations of `work` on this thread, in its second run: the first
/// detects the machine.
fn allocations<R>(mut work: impl FnMut() -> R) -> [usize; 2] {
    work();
    let counts = || [ALLOCATED.get(), ZEROED.get()];
    let before = counts();
    let result = work();
    let after = counts();
    drop(result);
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn a_vector_is_allocated_once_and_becomes_a_boxed_slice() {
    let exec = Exec::current().unwrap().serial();
    for (size, shape) in [(1, [13, 17]), (4, [64, 48]), (12, [40, 30]), (5, [3, 3])] {
        let bytes = vec![7u8; size * shape[0] * shape[1]];
        let view =
            ByteView::new(&bytes, size, Layout::contiguous(shape).unwrap().t().unwrap()).unwrap();
        let boxed = || to_byte_vec(&exec, &view).unwrap().into_boxed_slice();
        assert_eq!(allocations(boxed), [1, 0], "{size} bytes");
        let copied = to_byte_vec(&exec, &view).unwrap();
        assert_eq!(copied.capacity(), copied.len());
    }
    let floats = vec![1.0f32; 3000];
    let layout = Layout::contiguous([50, 60]).unwrap().t().unwrap();
    let view = tensor_kernels::TensorView::new(&floats, layout).unwrap();
    assert_eq!(allocations(|| to_vec(&exec, &view).unwrap().into_boxed_slice()), [1, 0]);
}

#[test]
fn a_copy_into_given_memory_allocates_nothing() {
    let exec = Exec::current().unwrap().serial();
    for size in [1, 2, 3, 4, 5, 8, 12, 16, 24, 40] {
        for shape in [[4, 4], [16, 16], [70, 90]] {
            let (from, to) = (Layout::contiguous(shape).unwrap(), [shape[1], shape[0]]);
            let bytes = vec![7u8; size * from.numel()];
            let mut result = vec![0; bytes.len()];
            let view = ByteView::new(&bytes, size, from.t().unwrap()).unwrap();
            let to = Layout::contiguous(to).unwrap();
            let mut target = ByteViewMut::new(&mut result, size, to).unwrap();
            let plan = CopyPlan::for_bytes(&view, &target, &exec.machine).unwrap();
            let copied = allocations(|| copy_bytes(&exec, &view, &mut target).unwrap());
            assert_eq!(copied, [0, 0], "{size} bytes, {shape:?}");
            let planned = allocations(|| plan.run_bytes(&exec, &view, &mut target).unwrap());
            assert_eq!(planned, [0, 0], "planned, {size} bytes, {shape:?}");
        }
    }
}
