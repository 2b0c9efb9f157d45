//! Allocations are freed once, errors and panics leak nothing, and views allocate nothing: checked
//! with a counting allocator.
//!
//! The allocator gives buffers of alignment 1 odd addresses, which the system's never does, so that
//! code that relies on their alignment fails.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use tensor_core::{ALIGNMENT, Error, Layout, Overlap, Slice, Tensor, TensorView, Uninit, s};

struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// The layout to request from the system: one more byte, so that the address can be odd.
fn enlarged(layout: AllocLayout) -> AllocLayout {
    match layout.align() {
        1 => AllocLayout::from_size_align(layout.size() + 1, 2).unwrap_or(layout),
        _ => layout,
    }
}

fn count(bytes: isize) {
    LIVE.set(LIVE.get() + bytes);
    CALLS.set(CALLS.get() + 1);
}

// SAFETY: memory comes from the system, for a layout that contains the requested one and starts at
// most `shift` bytes before it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        // SAFETY: the caller guarantees a size above 0; the enlarged layout is not smaller.
        let start = unsafe { System.alloc(enlarged(layout)) };
        if start.is_null() {
            return start;
        }
        count(layout.size() as isize);
        start.wrapping_add(enlarged(layout).size() - layout.size())
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        count(-(layout.size() as isize));
        let start = start.wrapping_sub(enlarged(layout).size() - layout.size());
        // SAFETY: `alloc` got this pointer from the system for this layout.
        unsafe { System.dealloc(start, enlarged(layout)) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work` and checks that it leaves nothing allocated.
#[track_caller]
fn leaks_nothing(work: impl FnOnce()) {
    let before = LIVE.get();
    work();
    assert_eq!(LIVE.get() - before, 0, "bytes are left allocated");
}

/// The number of allocations and deallocations of `work`.
fn calls<R>(work: impl FnOnce() -> R) -> usize {
    let before = CALLS.get();
    let result = work();
    let calls = CALLS.get() - before;
    drop(result);
    calls
}

#[test]
fn fault_a_vector_is_taken_over_and_freed_once() {
    for (len, capacity) in [(0, 0), (0, 7), (6, 6), (6, 100)] {
        leaks_nothing(|| {
            let mut values: Vec<u32> = Vec::with_capacity(capacity);
            values.extend(0..len as u32);
            let address = values.as_ptr();
            let tensor = Tensor::from_vec(values, [len]).unwrap();
            assert!(len == 0 || tensor.data_ptr() == address, "not copied");
            let view = tensor.flip([0]).unwrap();
            drop(tensor);
            assert_eq!(view.to_vec().unwrap(), (0..len as u32).rev().collect::<Vec<_>>());
        });
    }
}

#[test]
fn the_last_tensor_frees_the_storage() {
    leaks_nothing(|| {
        let tensor = Tensor::<f64>::zeros([10, 10]).unwrap();
        let views = tensor.unbind(0).unwrap();
        assert_eq!(tensor.storage().ref_count(), 11);
        let live = LIVE.get();
        drop(tensor);
        assert_eq!(LIVE.get(), live, "its views still hold it");
        drop(views);
        assert!(LIVE.get() <= live - 800);
    });
}

#[test]
fn fault_refused_operations_leak_nothing() {
    leaks_nothing(|| {
        assert!(Tensor::from_vec(vec![1u8; 7], [2, 3]).is_err());
        assert!(
            Tensor::from_vec_with_layout(vec![1u8; 7], Layout::contiguous([8]).unwrap()).is_err()
        );
        assert!(Tensor::<f64>::zeros([1_usize << 50]).is_err());
        assert!(Tensor::full([1_usize << 50], 1.0).is_err());
        assert!(Uninit::<u8>::new(Layout::new([2], [2], 0).unwrap()).is_err());
        drop(Uninit::<u8>::new(Layout::contiguous([9]).unwrap()));
    });
}

#[test]
fn fault_a_closure_that_panics_leaks_nothing() {
    leaks_nothing(|| {
        // Not `panic!`: the test harness captures its message, which would count as a leak.
        let panicking = |index: &[usize]| match index {
            [2] => resume_unwind(Box::new("on purpose")),
            _ => 1u64,
        };
        let caught = catch_unwind(AssertUnwindSafe(|| Tensor::from_fn(&[1000], panicking)));
        assert!(caught.is_err_and(|payload| payload.is::<&str>()));
    });
}

#[test]
fn views_of_rank_up_to_eight_allocate_nothing() {
    let tensor = Tensor::arange(0i64, 24, 1).unwrap().view([2, 1, 3, 1, 2, 1, 2]).unwrap();
    let buffer = [0u8; 24];
    let borrowed = TensorView::new(&buffer, tensor.layout().clone()).unwrap();
    let count = calls(|| {
        let view = tensor.transpose(0, 2).unwrap().flip([0, -1]).unwrap().unsqueeze(0).unwrap();
        let view = view.index(s![0, 1.., ...]).unwrap().slice(0, Slice::ALL.step_by(2)).unwrap();
        let view = view.expand([-1, 5, -1, 1, 2, 1, 2]).unwrap().diagonal(0, 2, 6).unwrap();
        assert!(!view.is_contiguous() && view.layout().self_overlap() != Overlap::No);
        let flat = tensor.view([-1]).unwrap().view([4, 6]).unwrap();
        flat.set(&[0, 0], 7).unwrap();
        (view, flat, borrowed.permute([6, 5, 4, 3, 2, 1, 0]).unwrap())
    });
    assert_eq!(count, 0);
}

#[test]
fn new_memory_is_aligned_to_a_cache_line() {
    for len in [1, 3, 64, 1000] {
        let addresses = [
            Tensor::<u8>::zeros([len]).unwrap().data_ptr().addr(),
            Tensor::full([len], 1u8).unwrap().data_ptr().addr(),
            Tensor::from_slice(&vec![1u8; len], [len]).unwrap().data_ptr().addr(),
        ];
        assert!(addresses.iter().all(|address| address.is_multiple_of(ALIGNMENT)), "{addresses:?}");
    }
}

#[test]
fn fault_misaligned_adopted_bytes_are_not_viewed_as_wider_elements() {
    let bytes = Tensor::from_vec(vec![0u8; 8], [8]).unwrap();
    let address = bytes.data_ptr().addr();
    assert_eq!(address % 2, 1, "the allocator of this test gives odd addresses");
    assert_eq!(bytes.view_dtype::<f32>().err(), Some(Error::Misaligned { address, align: 4 }));
    let none = bytes.narrow(0, 0, 0).unwrap();
    assert!(matches!(none.view_dtype::<f32>(), Err(Error::Misaligned { .. })), "not even none");
    assert!(bytes.view_dtype::<i8>().is_ok());
    assert!(bytes.view_dtype::<[u8; 4]>().is_ok());
}
