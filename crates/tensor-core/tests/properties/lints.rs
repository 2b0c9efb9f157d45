//! Lints, compared with the lines, sets and pages in which the offsets of a layout lie.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tensor_core::{Layout, Lint, LintKind};

const LINE: usize = 64;
const PAGE: usize = 4096;

/// Layouts of up to three dimensions with strides around powers of two.
fn layouts() -> impl Strategy<Value = (Layout, usize)> {
    let stride = (0u32..14, -1isize..2, any::<bool>()).prop_map(|(bit, more, up)| {
        let stride = (1isize << bit) + more;
        if up { stride } else { -stride }
    });
    let size = prop_oneof![Just(1usize), 2usize..9, 60usize..70, 1020usize..1030];
    let dims = prop::collection::vec((size, stride), 0..3);
    let width = prop::sample::select(vec![1usize, 2, 4, 8, 12, 16, 4096]);
    (dims, 0usize..20, width).prop_map(|(dims, lowest, width)| {
        let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let below = shape.iter().zip(&strides).map(|(&n, &s)| (n - 1) * s.min(0).unsigned_abs());
        (Layout::new(&shape, &strides, lowest + below.sum::<usize>()).unwrap(), width)
    })
}

/// Row-major layouts of up to three dimensions, of sizes around powers of two.
fn row_major() -> impl Strategy<Value = (Layout, usize)> {
    let size = prop_oneof![1usize..20, 60usize..70, Just(128), 250usize..260, Just(1024)];
    let width = prop_oneof![Just(1usize), Just(2), Just(4), Just(8), Just(12), Just(16)];
    (prop::collection::vec(size, 1..4), width).prop_map(|(mut shape, width)| {
        while shape.iter().product::<usize>() > 1 << 15 {
            shape.pop();
        }
        (Layout::contiguous(&shape).unwrap(), width)
    })
}

/// The bytes of the elements along one dimension, from an offset on.
fn bytes_along(layout: &Layout, dim: usize, width: usize) -> Vec<usize> {
    let (stride, size) = (layout.strides()[dim].unsigned_abs(), layout.shape()[dim]);
    (0..size).map(|i| i * stride * width).collect()
}

/// Is what the lint says true of the offsets?
fn holds(layout: &Layout, width: usize, lint: &Lint) -> bool {
    let along = bytes_along(layout, lint.dim(), width);
    match lint.kind() {
        LintKind::PowerOfTwoStride => {
            let sets: BTreeSet<usize> = along.iter().map(|byte| byte / LINE % 64).collect();
            lint.stride_bytes().is_power_of_two() && sets.len() <= 8 && along.len() > 8 * sets.len()
        }
        LintKind::PageAliasing => along.iter().all(|byte| byte % PAGE == 0),
        LintKind::PageStride => {
            let pages: BTreeSet<usize> = along.iter().map(|byte| byte / PAGE).collect();
            pages.len() == along.len() && pages.len() > 64
        }
        LintKind::FalseSharing => shares_lines(layout, width, lint.dim()),
        LintKind::ShortRows => lint.row_bytes() < LINE && !layout.is_dense_signed(),
        _ => false,
    }
}

/// Do two neighbouring indices of a dimension have elements in one cache line?
fn shares_lines(layout: &Layout, width: usize, dim: usize) -> bool {
    let lines = |index: usize| -> BTreeSet<usize> {
        let row = layout.select(dim as isize, index as isize).unwrap();
        row.offsets().flat_map(|o| o * width / LINE..=(o * width + width - 1) / LINE).collect()
    };
    let mut last = lines(0);
    (1..layout.shape()[dim].min(65)).any(|index| {
        let next = lines(index);
        let shares = !last.is_disjoint(&next);
        last = next;
        shares
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_a_lint_says_is_true((layout, width) in layouts()) {
        for lint in layout.lints(width) {
            prop_assert!(holds(&layout, width, &lint), "{:?} of {}: {}", layout, width, lint);
            let stride = layout.strides()[lint.dim()].unsigned_abs();
            prop_assert_eq!(lint.stride_bytes(), stride * width);
        }
    }

    #[test]
    fn rows_of_threads_that_share_lines_are_found((layout, width) in row_major()) {
        let found = layout.lints(width).iter().any(|lint| lint.kind() == LintKind::FalseSharing);
        let Some(rows) = layout.shape().iter().position(|&size| size > 1) else { return Ok(()) };
        let stride = layout.strides()[rows].unsigned_abs() * width;
        let counts = stride < 512 && layout.shape()[rows] <= 1024 && stride > width;
        prop_assert_eq!(found, counts && shares_lines(&layout, width, rows), "{:?}", layout);
    }

    #[test]
    fn padding_removes_what_it_is_proposed_for((layout, width) in layouts()) {
        for lint in layout.lints(width) {
            let Some(padded) = lint.padded() else { continue };
            let is_same = |other: &Lint| (other.kind(), other.dim()) == (lint.kind(), lint.dim());
            prop_assert!(!padded.lints(width).iter().any(is_same), "{:?}: {}", layout, lint);
            prop_assert_eq!(padded.shape(), layout.shape());
            prop_assert_eq!(padded.bounds().map(|(lowest, _)| lowest), Some(0));
            let stride = layout.strides()[lint.dim()].unsigned_abs();
            let most = stride + 2 * LINE;
            prop_assert!((stride..=most).contains(&lint.padded_stride().unwrap()), "{}", lint);
        }
    }

    #[test]
    fn padded_rows_have_no_lint_of_their_stride((layout, width) in row_major()) {
        for lint in layout.lints(width) {
            let stride = lint.padded_stride().expect("padding helps what is row-major");
            let padded = Layout::padded(layout.shape(), lint.dim() as isize, stride).unwrap();
            // The strides of dimensions of size 1 may differ.
            prop_assert!(lint.padded().unwrap().offsets().eq(padded.offsets()), "{}", lint);
            prop_assert!(padded.offsets().collect::<BTreeSet<_>>().len() == layout.numel());
        }
    }
}
