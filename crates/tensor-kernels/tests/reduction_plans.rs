//! Reductions of short loops, whose input is copied first or reduced in two stages: exact sums are
//! right, and sums of floats are bitwise the same at every SIMD level and for any number of
//! threads, and whether gaps between elements are read or not.

#![cfg(feature = "reductions")]

mod common;

use std::ptr::NonNull;

use common::{RunConfig, levels, run_configs};
use tensor_kernels::{
    DType, Exec, Layout, Slice, TensorView, TensorViewMut, explain_reduction, ops,
};

/// More columns than the streams of a row combine at a time, and some more partial results.
const LONGEST_ROW: usize = 512 + 64 + 9;

/// Sizes, the order of the dimensions in memory, and the dimensions that are reduced. Some are
/// larger than what is copied at a time. The last are reduced in two stages: with a rest of a row,
/// with several loops in a row, with a loop that is cut into pieces, and with long halved loops; of
/// the last three the partial results are arranged before they are combined, those of several rows
/// at a time, of several reduced loops, and next to halves.
const CASES: &[(&[usize], &[isize], &[isize])] = &[
    (&[8, 53, 2, 4, 5], &[0, 1, 2, 3, 4], &[0, 2, 3]),
    (&[3, 7, 2, 11, 5], &[4, 2, 0, 3, 1], &[1, 4]),
    (&[6, 5, 4, 3, 2], &[1, 0, 2, 4, 3], &[0, 1, 2]),
    (&[2, 3, 4, 5, 6], &[3, 1, 4, 0, 2], &[2]),
    (&[9, 2, 9, 2, 9], &[0, 1, 2, 3, 4], &[1, 3]),
    (&[700, 3, 5, 9, 4], &[0, 1, 2, 3, 4], &[2, 4]),
    (&[5, 700, 3, 9, 4], &[0, 1, 2, 3, 4], &[0, 2, 4]),
    (&[61, 67, 3], &[0, 1, 2], &[0, 1]),
    (&[19, 2, 200, 2, 4], &[0, 1, 2, 3, 4], &[0, 2, 4]),
    (&[23, 42, 91], &[2, 1, 0], &[0, 2]),
    (&[40, 700, 3], &[0, 1, 2], &[0, 2]),
    (&[5, 23, 8, 7, 10], &[3, 1, 4, 2, 0], &[1, 3]),
    (&[50_000, 4], &[0, 1], &[0]),
    (&[5, 12, 13, 7, 20], &[4, 3, 2, 0, 1], &[1, 3]),
    (&[21, 9, 6, 4, 10, 3], &[0, 1, 2, 3, 4, 5], &[1, 3, 5]),
    (&[600, 150, 4], &[0, 1, 2], &[0, 2]),
];

/// The layouts of a case: dense in that order, every second element of the last dimension, and all
/// but the last index of each dimension.
fn layouts(shape: &[usize], order: &[isize]) -> [Layout; 3] {
    let dense = |shape: &[usize]| {
        let base: Vec<usize> = order.iter().map(|&d| shape[d as usize]).collect();
        let back = |d: isize| order.iter().position(|&at| at == d).unwrap() as isize;
        let back: Vec<isize> = (0..shape.len() as isize).map(back).collect();
        Layout::contiguous(&base).unwrap().permute(&back).unwrap()
    };
    let mut wide = shape.to_vec();
    *wide.last_mut().unwrap() *= 2;
    let steps = dense(&wide).slice(-1, Slice::ALL.step_by(2)).unwrap();
    let padded: Vec<usize> = shape.iter().map(|size| size + 1).collect();
    let narrowed = |all: Layout, d: usize| all.narrow(d, 0, shape[d]).unwrap();
    let window = (0..shape.len()).fold(dense(&padded), narrowed);
    [dense(shape), steps, window]
}

fn result_shape(shape: &[usize], over: &[isize]) -> Vec<usize> {
    let kept = (0..shape.len()).filter(|&d| !over.contains(&(d as isize)));
    kept.map(|d| shape[d]).collect()
}

/// The sums, by the index of each element.
fn sums(layout: &Layout, values: &[i64], over: &[isize]) -> Vec<i64> {
    let shape = layout.shape();
    let mut sums = vec![0; result_shape(shape, over).iter().product()];
    for (at, offset) in common::offsets_of(layout).into_iter().enumerate() {
        let (mut rest, mut to, mut stride) = (at, 0, 1);
        for d in (0..shape.len()).rev() {
            if !over.contains(&(d as isize)) {
                to += rest % shape[d] * stride;
                stride *= shape[d];
            }
            rest /= shape[d];
        }
        sums[to] += values[offset];
    }
    sums
}

/// How a sum of floats over one dimension is done.
fn path(shape: &[usize], strides: &[isize], over: isize) -> &'static str {
    let input = Layout::new(shape, strides, 0).unwrap();
    explain_reduction(Exec::current().unwrap(), "sum", DType::F32, &input, over).unwrap().path()
}

#[test]
fn short_rows_are_reduced_where_they_lie_unless_they_have_steps() {
    for columns in [8, 16, 40] {
        let (shape, step) = ([60_000 / columns, columns], columns as isize);
        assert_eq!(path(&shape, &[step, 1], 1), "direct", "rows of {columns}");
        assert_eq!(path(&shape, &[2 * step, 2], 1), "copied", "every second of {columns}");
    }
}

#[test]
fn rows_with_gaps_that_are_kept_are_combined_before_they_reach_their_results() {
    for columns in [16, 40] {
        let step = columns + 7;
        let sum = path(&[20, 200, columns as usize], &[200 * step, step, 1], 0);
        assert_eq!(sum, "two_stages", "rows of {columns}");
    }
}

#[test]
fn sums_of_integers_are_exact() {
    for &(shape, order, over) in CASES {
        for layout in layouts(shape, order) {
            let values: Vec<i64> =
                (0..common::extent(&layout) as i64).map(|i| i * i % 97).collect();
            let a = TensorView::new(&values, layout.clone()).unwrap();
            let expected = sums(&layout, &values, over);
            for level in levels() {
                let exec = Exec::current().unwrap().with_simd(level).unwrap();
                let mut out = vec![0; expected.len()];
                let to = Layout::contiguous(result_shape(shape, over)).unwrap();
                let mut view = TensorViewMut::new(&mut out, to).unwrap();
                ops::sum_into(&exec, &a, over, &mut view).unwrap();
                assert_eq!(out, expected, "{level}, {layout:?} over {over:?}");
            }
        }
    }
}

#[test]
fn sums_of_floats_do_not_depend_on_level_threads_or_machine() {
    for &(shape, order, over) in CASES {
        for layout in layouts(shape, order) {
            let nth = |i: usize| 1.0 / (1 + i * i % 1009) as f32;
            let values: Vec<f32> = (0..common::extent(&layout)).map(nth).collect();
            let a = TensorView::new(&values, layout.clone()).unwrap();
            let sum_of = |exec: &Exec, a: &TensorView<'_, f32>| {
                let to = Layout::contiguous(result_shape(shape, over)).unwrap();
                let mut out = vec![0.0f32; to.numel()];
                let mut view = TensorViewMut::new(&mut out, to).unwrap();
                ops::sum_into(exec, a, over, &mut view).unwrap();
                out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let sum = |exec: &Exec| sum_of(exec, &a);
            let expected = sum(Exec::current().unwrap());
            // SAFETY: all offsets of the layout are in the vector, which outlives the view.
            let gaps_unreadable =
                unsafe { TensorView::from_raw_parts(NonNull::from(&values[..]).cast(), layout) };
            let layout = gaps_unreadable.layout();
            let skipped = sum_of(Exec::current().unwrap(), &gaps_unreadable);
            assert!(skipped == expected, "gaps not read, {layout:?} over {over:?}");
            for config in run_configs().iter().step_by(3) {
                let config: &RunConfig = config;
                assert!(config.run(sum) == expected, "{config}, {layout:?} over {over:?}");
            }
        }
    }
}

/// Between the rows lie values that would change every sum and maximum. The last of nineteen rows
/// do not share their trees with others.
#[test]
fn rows_of_every_length_are_reduced_without_what_lies_between_them() {
    const ROWS: usize = 19;
    for columns in 1..=LONGEST_ROW {
        let layout = Layout::contiguous([ROWS, columns + 2]).unwrap();
        let layout = layout.narrow(1, 1, columns).unwrap();
        let mut values = vec![1 << 20; ROWS * (columns + 2)];
        let offsets = common::offsets_of(&layout);
        for (at, &offset) in offsets.iter().enumerate() {
            values[offset] = (at * at % 97) as i32 - 48;
        }
        let floats: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let rows = offsets.chunks_exact(columns).map(|row| row.iter().map(|&at| values[at]));
        let (integers, floats) = (
            TensorView::new(&values, layout.clone()).unwrap(),
            TensorView::new(&floats, layout.clone()).unwrap(),
        );
        for level in levels() {
            let exec = Exec::current().unwrap().with_simd(level).unwrap();
            let sums = ops::sum(&exec, &integers, 1).unwrap().to_vec().unwrap();
            let expected: Vec<i64> = rows.clone().map(|row| row.map(i64::from).sum()).collect();
            assert_eq!(sums, expected, "sums of {columns} columns, {level}");
            let maxima = ops::max(&exec, &floats, 1).unwrap().to_vec().unwrap();
            let expected: Vec<f32> =
                rows.clone().map(|row| row.max().unwrap_or_default() as f32).collect();
            assert_eq!(maxima, expected, "maxima of {columns} columns, {level}");
        }
    }
}

/// Columns that are kept, of every length of chunks and their ends, with rows of one tree, of
/// several, and with some left over. Between the rows lie values that would change every result,
/// and each block has accumulators of its own.
#[test]
fn kept_columns_of_every_length_are_reduced_block_by_block() {
    for columns in (1..=70).chain([127, 129]) {
        for (blocks, rows) in [(1, 1), (5, 3), (2, 8), (3, 19), (9, 16)] {
            let layout = Layout::contiguous([blocks, rows, columns + 2]).unwrap();
            let layout = layout.narrow(2, 1, columns).unwrap();
            let mut values = vec![1 << 20; common::extent(&layout) + 1];
            for (at, offset) in common::offsets_of(&layout).into_iter().enumerate() {
                values[offset] = (at * at % 97) as i32 - 48;
            }
            check_kept_columns(&layout, &values);
        }
    }
}

fn check_kept_columns(layout: &Layout, values: &[i32]) {
    let [blocks, rows, columns] = layout.shape() else { panic!("three dimensions") };
    let at = |block: usize, row: usize, column: usize| {
        i64::from(values[layout.offset_of(&[block, row, column]).unwrap()])
    };
    let of = |reduce: &dyn Fn(&[i64]) -> i64| -> Vec<i64> {
        let places = (0..*blocks).flat_map(|block| (0..*columns).map(move |c| (block, c)));
        let column = |(block, c)| (0..*rows).map(|row| at(block, row, c)).collect::<Vec<_>>();
        places.map(|place| reduce(&column(place))).collect()
    };
    let sums = of(&|column| column.iter().sum());
    let maxima = of(&|column| *column.iter().max().unwrap());
    let first = of(&|column| {
        let largest = column.iter().max().unwrap();
        column.iter().position(|x| x == largest).unwrap() as i64
    });
    let floats: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    let integers = TensorView::new(values, layout.clone()).unwrap();
    let floats = TensorView::new(&floats, layout.clone()).unwrap();
    for level in levels() {
        let exec = Exec::current().unwrap().with_simd(level).unwrap();
        let found = ops::sum(&exec, &integers, 1).unwrap().to_vec().unwrap();
        assert_eq!(found, sums, "{level}, sums of {layout:?}");
        let found = ops::max(&exec, &floats, 1).unwrap().to_vec().unwrap();
        let found: Vec<i64> = found.into_iter().map(|x| x as i64).collect();
        assert_eq!(found, maxima, "{level}, maxima of {layout:?}");
        let found = ops::argmax(&exec, &integers, 1).unwrap().to_vec().unwrap();
        assert_eq!(found, first, "{level}, indices of {layout:?}");
    }
}

/// The sums and maxima of the innermost dimension, or of the two innermost, of `layout`.
fn check_rows(layout: &Layout, values: &[i32], over: &[isize]) {
    let reduced: usize = over.iter().map(|&d| layout.shape()[d as usize]).product();
    let rows: Vec<Vec<i32>> = common::offsets_of(layout)
        .chunks_exact(reduced)
        .map(|row| row.iter().map(|&at| values[at]).collect())
        .collect();
    let sums: Vec<i64> = rows.iter().map(|row| row.iter().map(|&x| i64::from(x)).sum()).collect();
    let maxima: Vec<f64> = rows.iter().map(|row| f64::from(*row.iter().max().unwrap())).collect();
    let floats: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    let integers = TensorView::new(values, layout.clone()).unwrap();
    let floats = TensorView::new(&floats, layout.clone()).unwrap();
    for level in levels() {
        let exec = Exec::current().unwrap().with_simd(level).unwrap();
        let found = ops::sum(&exec, &integers, over).unwrap().to_vec().unwrap();
        assert_eq!(found, sums, "{level}, sums of {layout:?} over {over:?}");
        let found = ops::max(&exec, &floats, over).unwrap().to_vec().unwrap();
        assert_eq!(found, maxima, "{level}, maxima of {layout:?} over {over:?}");
    }
}

/// The trees of sixteen rows are computed together, wherever a block ends. The last few rows have
/// trees of their own.
#[test]
fn rows_of_several_blocks_share_their_trees() {
    for columns in [5, 31, 32, 33, 47, 63, 64, 65, 100, 300, 511, 512, 601] {
        for (blocks, rows) in [(3, 7), (9, 2), (4, 5), (2, 17), (37, 1)] {
            let layout = Layout::contiguous([blocks, rows + 1, columns + 2]).unwrap();
            let layout = layout.narrow(2, 1, columns).unwrap().narrow(1, 0, rows).unwrap();
            let mut values = vec![1 << 20; blocks * (rows + 1) * (columns + 2)];
            for (at, offset) in common::offsets_of(&layout).into_iter().enumerate() {
                values[offset] = (at * at % 97) as i32 - 48;
            }
            check_rows(&layout, &values, &[2]);
            check_rows(&layout, &values, &[1, 2]);
        }
    }
}

/// Large inputs are prefetched, also behind their end: rows that are read where they lie, and short
/// ones that are transposed first, forwards and backwards.
#[test]
fn rows_of_large_inputs_are_reduced() {
    const ELEMENTS: usize = (9 << 20) / 4;
    let values: Vec<i32> = (0..ELEMENTS).map(|i| (i * i % 97) as i32 - 48).collect();
    for columns in [3, 10, 100, 700, 5000] {
        let rows = Layout::contiguous([ELEMENTS / columns, columns]).unwrap();
        check_rows(&rows, &values, &[1]);
        if columns == 10 {
            check_rows(&rows.flip([0]).unwrap(), &values, &[1]);
        }
    }
}

/// Expanded inputs, of which each element is read once, are added as often as they say: by every
/// kind of plan, at every level.
#[test]
fn what_is_repeated_counts_as_often_as_it_is() {
    let cases = CASES.iter().map(|&(shape, _, over)| (shape.to_vec(), over.to_vec()));
    let few = [(vec![3, 4], vec![1]), (vec![1], vec![0]), (vec![7], vec![])];
    for (shape, over) in cases.chain(few) {
        for times in [1, 2, 5, 48] {
            let once = Layout::contiguous(&shape).unwrap();
            let values: Vec<i64> = (0..once.numel() as i64).map(|i| i * i % 97 - 40).collect();
            let expected: Vec<i64> =
                sums(&once, &values, &over).iter().map(|sum| sum * times as i64).collect();
            let mut sizes = shape.clone();
            sizes.insert(0, times);
            let expanded = once.unsqueeze(0).unwrap().expand(&sizes[..]).unwrap();
            let over: Vec<isize> = [0].into_iter().chain(over.iter().map(|&dim| dim + 1)).collect();
            let a = TensorView::new(&values, expanded.clone()).unwrap();
            let floats: Vec<f64> = values.iter().map(|&value| value as f64).collect();
            let floats = TensorView::new(&floats, expanded.clone()).unwrap();
            for level in levels() {
                let exec = Exec::current().unwrap().with_simd(level).unwrap();
                let found = ops::sum(&exec, &a, &over[..]).unwrap().to_vec().unwrap();
                assert_eq!(found, expected, "{level}, {expanded:?} over {over:?}");
                let found = ops::sum(&exec, &floats, &over[..]).unwrap().to_vec().unwrap();
                let found: Vec<i64> = found.into_iter().map(|sum| sum as i64).collect();
                assert_eq!(found, expected, "{level}, floats, {expanded:?} over {over:?}");
            }
        }
    }
}
