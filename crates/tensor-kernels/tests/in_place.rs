//! Permutations in place, against an oracle that moves items one by one into other memory. An
//! allocator counts what they allocate, and fails on demand.

mod common;

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    ptr::null_mut,
};

use common::{offsets_of, values_of};
use proptest::prelude::*;
use tensor_kernels::{
    Element, Error, Exec, Layout, TensorViewMut, permute_bytes_inplace, permute_inplace,
};

/// Allocations from this size on are scratch; smaller ones are shapes and plans.
const LARGE_BYTES: usize = 4 << 10;

thread_local! {
    /// The bytes of large allocations of this thread, and whether they fail.
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static FAILING: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

// SAFETY: every method forwards to the system's allocator or, as allowed, returns null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        if layout.size() >= LARGE_BYTES {
            ALLOCATED.set(ALLOCATED.get() + layout.size());
            if FAILING.get() {
                return null_mut();
            }
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

/// Bytes that differ at every position of a few thousand items.
fn samples(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ ((at >> 8) * 131) ^ ((at >> 16) * 57)) as u8).collect()
}

/// The items in the order of `dims`.
fn permuted(bytes: &[u8], item: usize, shape: &[usize], dims: &[isize]) -> Vec<u8> {
    let layout = Layout::contiguous(shape).unwrap().permute(dims).unwrap();
    let mut permuted = Vec::with_capacity(bytes.len());
    for at in offsets_of(&layout) {
        permuted.extend_from_slice(&bytes[at * item..][..item]);
    }
    permuted
}

fn check(item: usize, shape: &[usize], dims: &[isize]) {
    let exec = Exec::current().unwrap();
    let before = samples(item * shape.iter().product::<usize>());
    let expected = permuted(&before, item, shape, dims);
    // An address that is aligned for no element.
    let mut memory = vec![0xEE; before.len() + 3];
    memory[1..][..before.len()].copy_from_slice(&before);
    let bytes = &mut memory[1..][..before.len()];
    let allocated = ALLOCATED.get();
    let layout = permute_bytes_inplace(exec, bytes, item, shape, dims).unwrap();
    let scratch = ALLOCATED.get() - allocated;
    let limit = (before.len() / 100).max(256 << 10).min(before.len());
    assert!(scratch <= limit, "{scratch} bytes of scratch, {item} bytes, {shape:?} {dims:?}");
    assert!(*bytes == expected, "{item} bytes, {shape:?} {dims:?}");
    assert!(layout.is_contiguous() && layout.ndim() == shape.len());
    assert_eq!([memory[0], memory[before.len() + 1]], [0xEE; 2], "bytes around the memory");
}

const ITEMS: [usize; 22] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 33, 64, 100, 5000];

#[test]
fn squares_of_every_item_size() {
    for item in ITEMS {
        for len in [1, 2, 3, 7, 16, 31, 64, 65, 100, 129, 200] {
            if len * len * item < 3 << 20 {
                check(item, &[len, len], &[1, 0]);
                check(item, &[2, len, len], &[0, 2, 1]);
            }
        }
    }
}

/// Rows that are almost a power of two apart share few sets of a cache, and are exchanged in
/// another way: several tiles, whole ones and narrower ones.
#[test]
fn squares_whose_rows_share_sets_of_the_cache() {
    for (item, len) in [(1, 512), (2, 512), (4, 256), (8, 256), (16, 128)] {
        for len in [len - 1, len, len + 1] {
            check(item, &[len, len], &[1, 0]);
        }
        check(item, &[len / 2 + 7, 64, len / 2 + 7], &[2, 1, 0]);
    }
}

/// Large enough that tiles are prefetched.
#[test]
fn a_square_of_many_bytes() {
    check(4, &[2100, 2100], &[1, 0]);
}

/// Sizes whose scratch is below that of the whole: primes, few rows, few columns, powers of two.
#[test]
fn rectangles_that_do_not_fit_into_scratch() {
    for (item, m, n) in [
        (1, 701, 709),
        (1, 3, 200_003),
        (1, 200_003, 3),
        (1, 1024, 768),
        (2, 509, 521),
        (3, 401, 397),
        (4, 331, 337),
        (4, 4, 70_001),
        (4, 70_001, 2),
        (4, 512, 256),
        (8, 211, 199),
        (12, 149, 151),
        (16, 127, 131),
        (16, 2, 30_000),
        (24, 101, 113),
        (100, 61, 59),
        (5000, 7, 9),
        (70_000, 2, 3),
        (70_000, 3, 2),
        (1, 2, 300_000),
        (5, 300, 310),
    ] {
        assert!(item * m * n > 256 << 10, "more than the scratch there may be");
        check(item, &[m, n], &[1, 0]);
    }
}

#[test]
fn more_dimensions() {
    for (item, shape, dims) in [
        (4, &[40, 50, 60][..], &[2, 1, 0][..]),
        (4, &[50, 40, 50], &[2, 1, 0]),
        (2, &[8, 64, 33, 31], &[0, 2, 3, 1]),
        (2, &[8, 33, 31, 64], &[0, 3, 1, 2]),
        (1, &[30, 31, 32, 33], &[3, 2, 1, 0]),
        (8, &[5, 70, 6, 71], &[2, 3, 0, 1]),
        (4, &[5, 6, 7, 8, 9, 10], &[5, 4, 3, 2, 1, 0]),
        (4, &[5, 6, 7, 8, 9, 10], &[1, 0, 3, 2, 5, 4]),
        (1, &[3, 4, 5, 6, 7, 8, 9, 2], &[7, 6, 5, 4, 3, 2, 1, 0]),
        (1, &[3, 4, 5, 6, 7, 8, 9, 2], &[2, 0, 4, 1, 6, 3, 7, 5]),
        (4, &[1, 300, 1, 290, 1], &[4, 3, 2, 1, 0]),
        (4, &[30, 20, 10, 20], &[0, 3, 2, 1]),
        // Rows that are whole pages apart.
        (4, &[80, 64, 80], &[2, 1, 0]),
        (2, &[72, 256, 72], &[2, 1, 0]),
        (1, &[96, 128, 96], &[2, 1, 0]),
        // Parts that change places are longer than the scratch.
        (64, &[5, 10, 9, 4, 11, 11], &[2, 3, 1, 5, 4, 0]),
        (100_000, &[2, 3, 5], &[1, 0, 2]),
    ] {
        check(item, shape, dims);
    }
}

/// `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES");
    asked.map_or(100, |cases| cases.parse().expect("a number of cases"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_permutation(
        item in prop::sample::select(&ITEMS[..20]),
        (shape, dims) in (1..7usize).prop_flat_map(|ndim| {
            let dims: Vec<isize> = (0..ndim as isize).collect();
            (prop::collection::vec(1..12usize, ndim), Just(dims).prop_shuffle())
        }),
    ) {
        check(item, &shape, &dims);
    }

    #[test]
    fn any_matrix(
        item in prop::sample::select(&ITEMS[..18]), m in 1..900usize, n in 1..900usize,
    ) {
        check(item, &[m, n], &[1, 0]);
    }
}

#[test]
fn a_view_has_the_permuted_shape_and_the_elements_of_its_type() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(nth: impl Fn(u16) -> T) {
        let exec = Exec::current().unwrap();
        let mut elements: Vec<T> = (0..2 * 9 * 11 + 5).map(&nth).collect();
        let layout = Layout::new([2, 9, 11], [99, 11, 1], 5).unwrap();
        let expected = values_of(&elements, &layout.permute([2, 0, 1]).unwrap());
        let view = TensorViewMut::new(&mut elements, layout).unwrap();
        let mut result = permute_inplace(exec, view, [-1, 0, 1]).unwrap();
        assert_eq!(result.shape(), [11, 2, 9]);
        assert_eq!(result.as_slice_mut().unwrap(), expected);
        assert_eq!(elements[..5], [0, 1, 2, 3, 4].map(nth));
    }
    check(|n| n % 2 == 0);
    check(|n| n);
    check(f32::from);
    check(|n| [u8::try_from(n % 251).unwrap(); 3]);
    check(u128::from);
}

#[test]
fn equal_dimensions_need_no_scratch() {
    let exec = Exec::current().unwrap();
    for (item, shape, dims) in [
        (4, &[300, 300][..], &[1, 0][..]),
        (1, &[1000, 1000], &[1, 0]),
        (16, &[3, 150, 150], &[0, 2, 1]),
        (4, &[900, 15, 15], &[0, 2, 1]),
        (4, &[90, 7, 90], &[2, 1, 0]),
        (4, &[40, 40, 50], &[1, 0, 2]),
        (9000, &[12, 12], &[1, 0]),
    ] {
        let mut bytes = samples(item * shape.iter().product::<usize>());
        let allocated = ALLOCATED.get();
        permute_bytes_inplace(exec, &mut bytes, item, shape, dims).unwrap();
        assert_eq!(ALLOCATED.get(), allocated, "{item} bytes, {shape:?} {dims:?}");
    }
}

#[test]
fn fault_without_memory_nothing_moves() {
    let exec = Exec::current().unwrap();
    for (item, shape, dims) in [
        (4, &[701, 709][..], &[1, 0][..]),
        (4, &[80, 90, 100], &[2, 1, 0]),
        (1, &[3, 200_003], &[1, 0]),
        (4, &[60, 70], &[1, 0]),
    ] {
        let before = samples(item * shape.iter().product::<usize>());
        let mut bytes = before.clone();
        FAILING.set(true);
        let result = permute_bytes_inplace(exec, &mut bytes, item, shape, dims);
        FAILING.set(false);
        assert!(matches!(result, Err(Error::OutOfMemory { .. })), "{shape:?}");
        assert!(bytes == before, "{shape:?}");
        permute_bytes_inplace(exec, &mut bytes, item, shape, dims).unwrap();
        assert!(bytes == permuted(&before, item, shape, dims), "{shape:?}");
    }
}

#[test]
fn fault_no_elements_or_one() {
    for shape in [&[0, 3][..], &[3, 0], &[1, 1], &[0, 0], &[1, 0]] {
        check(4, shape, &[1, 0]);
    }
    check(4, &[], &[]);
    check(4, &[7], &[0]);
}

#[test]
fn fault_what_is_refused() {
    let exec = Exec::current().unwrap();
    let mut numbers = [1u32, 2, 3, 4, 5, 6];
    let mut refused = |layout: Layout, dims: &[isize]| {
        let view = TensorViewMut::new(&mut numbers, layout).unwrap();
        let error = permute_inplace(exec, view, dims).unwrap_err();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6], "{error}");
        error
    };
    let whole = Layout::contiguous([2, 3]).unwrap();
    let transposed = refused(whole.t().unwrap(), &[1, 0]);
    assert!(matches!(transposed, Error::NotDense { .. }), "{transposed}");
    let narrow = refused(whole.narrow(1, 0, 2).unwrap(), &[1, 0]);
    assert!(matches!(narrow, Error::NotDense { .. }), "{narrow}");
    assert!(matches!(refused(whole.clone(), &[0]), Error::PermuteLength { .. }));
    assert!(matches!(refused(whole.clone(), &[0, 0]), Error::PermuteTwice { .. }));
    assert!(matches!(refused(whole, &[0, 2]), Error::DimOutOfRange { .. }));
    let mut bytes = [7u8; 12];
    for (size, shape) in [(1, [2, 3]), (4, [2, 3]), (0, [2, 3]), (2, [3, 3])] {
        let error = permute_bytes_inplace(exec, &mut bytes, size, shape, [1, 0]).unwrap_err();
        assert!(matches!(error, Error::ElementCount { .. }), "{error}");
    }
    let far = isize::MAX;
    let error = permute_bytes_inplace(exec, &mut bytes, 4, [far, 1], [1, 0]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}
