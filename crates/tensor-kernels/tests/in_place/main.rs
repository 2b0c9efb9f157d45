//! Permutations in place, against an oracle that moves items one by one into other memory. An
//! allocator counts what they allocate, and fails on demand.

#![cfg(feature = "in-place")]

mod allocator;
#[path = "../common/mod.rs"]
mod common;
mod memory;
mod refusals;
mod runs;

use allocator::Account;
use common::{offsets_of, values_of};
use proptest::prelude::*;
use tensor_kernels::{
    Element, Exec, Layout, TensorViewMut, permute_bytes_inplace, permute_inplace,
};

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

/// From the start of a cache line on, and from an address that is aligned for no element.
fn check(item: usize, shape: &[usize], dims: &[isize]) {
    let before = samples(item * shape.iter().product::<usize>());
    let expected = permuted(&before, item, shape, dims);
    for skew in [0, 1] {
        check_at(skew, &before, &expected, (item, shape, dims));
    }
}

fn check_at(
    skew: usize,
    before: &[u8],
    expected: &[u8],
    (item, shape, dims): (usize, &[usize], &[isize]),
) {
    let exec = Exec::current().unwrap();
    let mut memory = vec![0xEE; before.len() + 2 * 64 + 3];
    let start = memory.as_ptr().align_offset(64) + 64 + skew;
    let around = start - 1..start + before.len() + 1;
    memory[start..][..before.len()].copy_from_slice(before);
    let bytes = &mut memory[start..][..before.len()];
    let account = Account::new();
    account.join();
    let (layout, allocated) =
        account.measured(|| permute_bytes_inplace(exec, bytes, item, shape, dims).unwrap());
    memory::check(allocated, before.len(), &|| format!("{item} bytes, {shape:?} {dims:?}"));
    assert!(*bytes == *expected, "{item} bytes, {shape:?} {dims:?}");
    assert!(layout.is_contiguous() && layout.ndim() == shape.len());
    assert_eq!(memory[around.start], 0xEE, "the byte before the memory");
    assert_eq!(memory[around.end - 1], 0xEE, "the byte behind the memory");
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
fn fault_no_elements_or_one() {
    for shape in [&[0, 3][..], &[3, 0], &[1, 1], &[0, 0], &[1, 0]] {
        check(4, shape, &[1, 0]);
    }
    check(4, &[], &[]);
    check(4, &[7], &[0]);
}
