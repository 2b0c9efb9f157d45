//! How often elements are copied: counted by the buffers that a call allocates.

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
};

use tensor_kernels::{
    Exec, Reduction, ReshapedView, Tensor, TensorExt, rearrange, set_memory_cache_limit,
};

struct Counting;

thread_local! {
    /// The sizes of the large allocations of this thread: their number, and their sum.
    static LARGE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The size from which an allocation is considered a buffer of elements.
const LARGE_BYTES: usize = 16 << 10;

fn count(bytes: usize) {
    if bytes >= LARGE_BYTES {
        let (buffers, sum) = LARGE.get();
        LARGE.set((buffers + 1, sum + bytes));
    }
}

// SAFETY: every method forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: AllocLayout) -> *mut u8 {
        count(layout.size());
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

/// The number of buffers that `work` allocates, and their bytes, in its second run: the first one
/// makes workspaces that are kept.
fn buffers<R>(work: impl Fn() -> R) -> (usize, usize) {
    set_memory_cache_limit(0);
    work();
    let before = LARGE.get();
    let result = work();
    let after = LARGE.get();
    drop(result);
    (after.0 - before.0, after.1 - before.1)
}

/// 512 KiB.
fn batch() -> Tensor<f32> {
    Tensor::arange(0.0, 131_072.0, 1.0).unwrap().view([4, 64, 32, 16]).unwrap()
}

/// The bytes of this many elements of a batch, with the padding to a cache line.
fn one_buffer(elements: usize, (buffers, bytes): (usize, usize)) -> bool {
    buffers == 1 && (4 * elements..4 * elements + 256).contains(&bytes)
}

#[test]
fn views_allocate_no_elements() {
    let x = batch();
    let counts = [
        buffers(|| x.rearrange("b h w c -> b c h w", &[]).unwrap()),
        buffers(|| x.rearrange("b (h a) w c -> a (b 1) () c h w", &[("a", 4)]).unwrap()),
        buffers(|| x.rearrange("b h w c -> (b h) (w c)", &[]).unwrap()),
        buffers(|| x.rearrange("... -> (...)", &[]).unwrap()),
        buffers(|| x.repeat_axes("b h w c -> r b h w c", &[("r", 9)]).unwrap()),
        buffers(|| x.repeat_axes("... -> ... 3", &[]).unwrap()),
    ];
    assert_eq!(counts, [(0, 0); 6]);
}

#[test]
fn what_is_no_view_is_copied_once() {
    let x = batch();
    let transposed = x.permute([3, 1, 0, 2]).unwrap();
    let shifted = x.narrow(2, 1, 30).unwrap();
    let (all, some) = (131_072, 122_880);
    for (elements, count) in [
        (all, buffers(|| x.rearrange("b h w c -> b (c h w)", &[]).unwrap())),
        (all, buffers(|| x.rearrange("b (h a) (w z) c -> b h w (c a z)", &[("a", 2), ("z", 4)]))),
        (all, buffers(|| transposed.rearrange("c h b w -> (c h) (b w)", &[]).unwrap())),
        (all, buffers(|| transposed.rearrange("... -> (...)", &[]).unwrap())),
        (some, buffers(|| shifted.rearrange("b h w c -> (w h) b c", &[]).unwrap())),
        (some, buffers(|| shifted.rearrange("b h (w a) c -> (a b) w (c h)", &[("a", 3)]))),
        (2 * all, buffers(|| x.repeat_axes("b h w c -> b (h 2) w c", &[]).unwrap())),
        (6 * all, buffers(|| transposed.repeat_axes("c h b w -> (c 2) (b h) (3 w)", &[]).unwrap())),
    ] {
        assert!(one_buffer(elements, count), "{elements} elements: {count:?}");
    }
}

#[test]
fn borrowed_views_are_copied_once_or_not_at_all() {
    let x = batch();
    let guard = x.read().unwrap();
    let (exec, view) = (Exec::current().unwrap(), guard.as_view());
    let planes = || rearrange(exec, &view, "b h w c -> b c h w", &[]).unwrap();
    assert_eq!(buffers(planes), (0, 0));
    assert!(matches!(planes(), ReshapedView::View(_)));
    let flat = || rearrange(exec, &view, "b h w c -> b (c h w)", &[]).unwrap();
    assert!(one_buffer(131_072, buffers(flat)));
    assert!(matches!(flat(), ReshapedView::Copy(_)));
}

/// In the order of the pattern, although the kept axes are merged in another order than that of
/// memory.
#[test]
fn a_reduction_allocates_its_result_alone() {
    let x = batch();
    let pooled = buffers(|| x.reduce("b (h 2) w c -> (w c) (h b)", Reduction::Sum, &[]).unwrap());
    assert!(one_buffer(65_536, pooled), "{pooled:?}");
    let pooled = buffers(|| x.reduce("b h (w 2) c -> c (b h w)", Reduction::Max, &[]).unwrap());
    assert!(one_buffer(65_536, pooled), "{pooled:?}");
}
