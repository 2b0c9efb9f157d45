//! The memory of a new result is allocated once, not cleared, and not written before the result is.
//!
//! What is seen: every buffer of 64 KiB or more that a call allocates on the calling thread, and
//! whether it was to be cleared (`alloc_zeroed`). Fresh buffers are filled with a byte that is
//! looked for again when they are freed: where a closure panics at its first element, nothing may
//! have been written. What is not seen: a copy, which calls no closure, could write memory of
//! `alloc` twice. That shows in the counts of instructions (`benches/instructions.rs`).

#![cfg(feature = "reductions")]

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use tensor_kernels::{
    AnyTensor, AnyTensorExt, ByteView, DType, Element, Exec, Layout, Result, Tensor,
    copy_to_layout, map, set_memory_cache_limit, to_byte_vec, to_vec, zip,
};

/// The size from which an allocation holds elements.
const LARGE_BYTES: usize = 64 << 10;

/// What fresh buffers are filled with.
const FRESH: u8 = 0xA5;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Buffers {
    allocated: usize,
    zeroed: usize,
    /// Bytes of freed buffers that were not fresh any more.
    written: usize,
}

thread_local! {
    /// What this thread has allocated and freed.
    static BUFFERS: Cell<Buffers> = const { Cell::new(Buffers {
        allocated: 0,
        zeroed: 0,
        written: 0,
    }) };
    /// Whether fresh buffers are filled, and looked at when they are freed.
    static FILLING: Cell<bool> = const { Cell::new(false) };
}

fn count(layout: AllocLayout, change: impl FnOnce(&mut Buffers)) {
    if layout.size() >= LARGE_BYTES {
        let mut buffers = BUFFERS.get();
        change(&mut buffers);
        BUFFERS.set(buffers);
    }
}

fn is_filled(layout: AllocLayout) -> bool {
    layout.size() >= LARGE_BYTES && FILLING.get()
}

struct Filling;

// SAFETY: every method forwards to the system's allocator; memory is only touched while it is this
// allocator's.
unsafe impl GlobalAlloc for Filling {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        count(layout, |buffers| buffers.allocated += 1);
        // SAFETY: the caller's obligations are those of the system's method.
        let start = unsafe { System.alloc(layout) };
        if is_filled(layout) && !start.is_null() {
            // SAFETY: the memory was just allocated, with this size.
            unsafe { start.write_bytes(FRESH, layout.size()) };
        }
        start
    }

    unsafe fn alloc_zeroed(&self, layout: AllocLayout) -> *mut u8 {
        count(layout, |buffers| buffers.zeroed += 1);
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        if is_filled(layout) {
            // SAFETY: all bytes were initialised by `alloc`, and the owner has given them back.
            let bytes = unsafe { std::slice::from_raw_parts(start, layout.size()) };
            let written = bytes.iter().filter(|&&byte| byte != FRESH).count();
            count(layout, |buffers| buffers.written += written);
        }
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Filling = Filling;

const ONE: Buffers = Buffers { allocated: 1, zeroed: 0, written: 0 };

/// What `work` allocates in its second run: the first makes workspaces that are kept.
fn buffers<R>(work: impl Fn() -> R) -> Buffers {
    set_memory_cache_limit(0);
    work();
    let before = BUFFERS.get();
    let result = work();
    let after = BUFFERS.get();
    drop(result);
    Buffers {
        allocated: after.allocated - before.allocated,
        zeroed: after.zeroed - before.zeroed,
        written: 0,
    }
}

/// Tensors of 80 KB to 8 MB: below and above the size from which stores bypass the caches, and
/// buffers are placed on huge pages.
const SHAPES: [[usize; 3]; 3] = [[10, 80, 100], [32, 64, 128], [100, 80, 128]];

#[test]
fn copies_of_every_dtype() {
    for dtype in DType::ALL.iter().copied() {
        for &shape in &SHAPES[..2] {
            let x = AnyTensor::ones(shape, dtype).unwrap();
            let turned = x.transpose(0, 2).unwrap();
            let parts = [&turned, &turned];
            for (what, found) in [
                ("contiguous", buffers(|| turned.contiguous().unwrap())),
                ("reshape", buffers(|| turned.reshape([-1]).unwrap())),
                ("deep_clone", buffers(|| x.deep_clone().unwrap())),
                ("cat", buffers(|| AnyTensor::cat(&parts, 1).unwrap())),
                ("stack", buffers(|| AnyTensor::stack(&parts, 0).unwrap())),
            ] {
                assert_eq!(found, ONE, "{what} of {shape:?}, {dtype}");
            }
        }
    }
}

/// Vectors, boxed slices, and tensors of a given layout.
fn vectors<T: Element + bytemuck::Pod>(value: T) {
    let exec = Exec::current().unwrap();
    for shape in SHAPES {
        let x = Tensor::full(shape, value).unwrap().transpose(0, 2).unwrap();
        let guard = x.read().unwrap();
        let view = guard.as_view();
        let memory = vec![value; x.numel()];
        let bytes = bytemuck::cast_slice(&memory);
        let layout = Layout::contiguous(x.shape()).unwrap();
        let items = ByteView::new(bytes, size_of::<T>(), x.layout().clone()).unwrap();
        for (what, found) in [
            ("to_vec", buffers(|| to_vec(exec, &view).unwrap())),
            ("boxed", buffers(|| to_vec(exec, &view).unwrap().into_boxed_slice())),
            ("of a tensor", buffers(|| x.to_vec().unwrap())),
            ("to_byte_vec", buffers(|| to_byte_vec(exec, &items).unwrap().into_boxed_slice())),
            (
                "copy_to_layout",
                buffers(|| copy_to_layout::<T, ()>(exec, &view, layout.clone()).unwrap()),
            ),
        ] {
            assert_eq!(found, ONE, "{what} of {shape:?}, {} bytes each", size_of::<T>());
        }
    }
}

#[test]
fn vectors_of_every_width() {
    vectors(1u8);
    vectors(1u16);
    vectors([1u8; 3]);
    vectors(1.0f32);
    vectors(1.0f64);
    vectors([1u32; 3]);
    vectors(1u128);
    vectors([1u64; 3]);
}

#[test]
fn elementwise_results() {
    for dtype in [DType::U8, DType::I16, DType::I32, DType::F32, DType::F64] {
        for &shape in &SHAPES[..2] {
            let x = AnyTensor::ones(shape, dtype).unwrap();
            let turned = AnyTensor::ones([shape[2], shape[1], shape[0]], dtype).unwrap();
            let turned = turned.transpose(0, 2).unwrap();
            let row = AnyTensor::ones([shape[2]], dtype).unwrap();
            for (what, found) in [
                ("add", buffers(|| x.add(&x).unwrap())),
                ("add in other orders", buffers(|| x.add(&turned).unwrap())),
                ("add a row", buffers(|| x.add(&row).unwrap())),
                ("neg of another order", buffers(|| turned.neg().unwrap())),
                ("to_dtype", buffers(|| turned.to_dtype(DType::U64).unwrap())),
            ] {
                assert_eq!(found, ONE, "{what} of {shape:?}, {dtype}");
            }
        }
    }
}

/// Runs `work`, which panics at its first element, with filled buffers; returns what it allocated.
fn at_first_element<R>(work: impl Fn() -> Result<R>) -> Buffers {
    set_memory_cache_limit(0);
    BUFFERS.set(Buffers::default());
    FILLING.set(true);
    let caught = catch_unwind(AssertUnwindSafe(&work));
    FILLING.set(false);
    assert!(caught.is_err(), "an element is computed");
    BUFFERS.get()
}

fn stop<T>() -> T {
    resume_unwind(Box::new(()))
}

#[test]
fn nothing_is_written_before_the_first_element_is_computed() {
    let exec = Exec::current().unwrap().serial();
    for shape in SHAPES {
        let x = Tensor::full(shape, 1.0f32).unwrap();
        let guard = x.read().unwrap();
        let rows = guard.as_view();
        let turned = rows.transpose(0, 2).unwrap();
        let backwards = rows.flip([2]).unwrap();
        for view in [&rows, &turned, &backwards] {
            for (what, found) in [
                (
                    "map",
                    at_first_element(|| map::<_, f32, ()>(&exec, view, |_: f32| stop::<f32>())),
                ),
                (
                    "map to u64",
                    at_first_element(|| map::<_, u64, ()>(&exec, view, |_: f32| stop())),
                ),
                (
                    "zip",
                    at_first_element(|| {
                        zip::<_, _, u16, ()>(&exec, view, view, |_: f32, _: f32| stop())
                    }),
                ),
                ("from_fn", at_first_element(|| Tensor::<u32>::from_fn(&shape, |_| stop()))),
            ] {
                assert_eq!(found, ONE, "{what} of {:?}", view.layout());
            }
        }
    }
}

/// What is written in full is found.
#[test]
fn the_allocator_sees_what_is_written() {
    let written = at_first_element(|| {
        let mut buffer = Vec::<u8>::with_capacity(2 * LARGE_BYTES);
        buffer.resize(LARGE_BYTES, 0);
        let first: u8 = stop();
        buffer.push(first);
        Ok(())
    });
    assert_eq!(written, Buffers { written: LARGE_BYTES, ..ONE });
}
