//! Elementwise operations on many short rows, which are packed into long ones. The memory around
//! each row must not change, for any strides of the operands, with several blocks of which the last
//! one is partial.

#![cfg(feature = "reductions")]

mod common;

use bytemuck::Pod;
use common::{Memory, RunConfig, Sample, levels, strided};
use tensor_kernels::{
    Layout, elementwise_path, map_inplace, map_into, zip_inplace, zip_into, zip3_into,
};

/// Every level, and the first one on threads.
fn run_configs() -> Vec<RunConfig> {
    let levels = levels();
    let serial = levels.iter().map(|&simd| RunConfig::serial(simd, false));
    serial.chain([RunConfig::threaded(levels[0], true, 7)]).collect()
}

/// A number of rows that exceeds a block of any operand and is no multiple of it.
fn rows(columns: usize, width: usize) -> usize {
    (8 << 10) / (columns * width) + 77
}

/// Strides of inputs, from row to row and from column to column.
fn inputs(columns: usize) -> [[isize; 2]; 9] {
    let columns = columns as isize;
    [
        [columns, 1],
        [columns + 2, 1],
        [-columns - 1, 1],
        [1, 1],
        [0, 1],
        [0, 0],
        [2, 0],
        [-1, 0],
        [2 * columns + 1, 2],
    ]
}

/// Strides of results.
fn results(columns: usize) -> [[isize; 2]; 4] {
    let columns = columns as isize;
    [[columns, 1], [columns + 3, 1], [-columns - 1, 1], [3 * columns, 2]]
}

/// A value that depends on every byte of both.
fn mixed<T: Pod>(a: T, b: T) -> T {
    let mut sum = a;
    for (sum, b) in bytemuck::bytes_of_mut(&mut sum).iter_mut().zip(bytemuck::bytes_of(&b)) {
        *sum = sum.wrapping_mul(3) ^ b;
    }
    sum
}

/// An operand: its memory, its layout, and its values in logical order.
struct TestOperand<T> {
    memory: Memory<T>,
    layout: Layout,
    values: Vec<T>,
}

impl<T: Sample> TestOperand<T> {
    fn new(shape: &[usize], strides: &[isize], lead: usize) -> Self {
        let layout = strided(shape, strides, lead);
        let memory = Memory::<T>::samples(common::extent(&layout), lead);
        let values = memory.values(&layout);
        Self { memory, layout, values }
    }

    fn mixed_with(&self, other: &Self) -> Vec<T> {
        self.values.iter().zip(&other.values).map(|(&a, &b)| mixed(a, b)).collect()
    }
}

/// Each input with a dense one and with two others, for each result.
fn two_inputs<T: Sample>() {
    for columns in [3, 4] {
        let shape = [rows(columns, size_of::<T>()), columns];
        let inputs = inputs(columns).map(|strides| TestOperand::<T>::new(&shape, &strides, 1));
        for (k, a) in inputs.iter().enumerate() {
            for b in [0, (k + 1) % inputs.len(), (k + 4) % inputs.len()].map(|b| &inputs[b]) {
                for to in results(columns) {
                    check_two(a, b, &strided(&shape, &to, 2));
                }
            }
        }
    }
}

fn check_two<T: Sample>(a: &TestOperand<T>, b: &TestOperand<T>, to: &Layout) {
    let blank = Memory::<T>::for_layout(to, 1);
    let expected = blank.with(to, &a.mixed_with(b));
    for config in run_configs() {
        let mut result = blank.clone();
        let (a_view, b_view) = (a.memory.view(&a.layout), b.memory.view(&b.layout));
        let mut out = result.view_mut(to);
        config.run(|exec| zip_into(exec, &a_view, &b_view, &mut out, mixed)).unwrap();
        result
            .assert_is(&expected, || format!("{:?} {:?} to {to:?}, {config}", a.layout, b.layout));
    }
}

#[test]
fn width_1() {
    two_inputs::<u8>();
}

#[test]
fn width_2() {
    two_inputs::<u16>();
}

#[test]
fn width_4() {
    two_inputs::<f32>();
}

#[test]
fn width_8() {
    two_inputs::<u64>();
}

#[test]
fn width_16() {
    two_inputs::<u128>();
}

#[test]
fn width_12_without_a_kernel() {
    two_inputs::<[u8; 12]>();
}

/// All lengths up to the longest short row and one more.
#[test]
fn every_length_of_a_short_row() {
    for columns in 1..=65 {
        let shape = [rows(columns, 1), columns];
        for [a, b] in [[1, 4], [2, 6], [4, 7], [6, 0]] {
            let [a, b] =
                [a, b].map(|k: usize| TestOperand::<u8>::new(&shape, &inputs(columns)[k], 0));
            check_two(&a, &b, &strided(&shape, &results(columns)[columns % 3], 0));
        }
    }
}

#[test]
fn in_place() {
    let shape = [rows(3, 4), 3];
    for to in results(3) {
        let x = TestOperand::<f32>::new(&shape, &to, 1);
        let alone = |x: f32| mixed(x, x);
        let expected: Vec<f32> = x.values.iter().copied().map(alone).collect();
        let expected = x.memory.with(&x.layout, &expected);
        for config in run_configs() {
            let mut result = x.memory.clone();
            let mut view = result.view_mut(&x.layout);
            config.run(|exec| map_inplace(exec, &mut view, alone)).unwrap();
            result.assert_is(&expected, || format!("{to:?}, {config}"));
        }
        for strides in inputs(3) {
            let b = TestOperand::<f32>::new(&shape, &strides, 0);
            let expected = x.memory.with(&x.layout, &x.mixed_with(&b));
            for config in run_configs() {
                let mut result = x.memory.clone();
                let (mut view, b) = (result.view_mut(&x.layout), b.memory.view(&b.layout));
                config.run(|exec| zip_inplace(exec, &mut view, &b, mixed)).unwrap();
                result.assert_is(&expected, || format!("{to:?} with {strides:?}, {config}"));
            }
        }
    }
}

/// An operation from one element width to another.
fn cast<A: Sample, R: Sample>(f: impl Fn(A) -> R + Sync + Copy + Send) {
    let shape = [rows(4, size_of::<A>().min(size_of::<R>())), 4];
    for from in inputs(4) {
        let a = TestOperand::<A>::new(&shape, &from, 1);
        let expected: Vec<R> = a.values.iter().copied().map(f).collect();
        for to in results(4) {
            let to = strided(&shape, &to, 0);
            let blank = Memory::<R>::for_layout(&to, 2);
            let expected = blank.with(&to, &expected);
            for config in run_configs() {
                let mut result = blank.clone();
                let (a, mut out) = (a.memory.view(&a.layout), result.view_mut(&to));
                config.run(|exec| map_into(exec, &a, &mut out, f)).unwrap();
                result.assert_is(&expected, || format!("{from:?} to {to:?}, {config}"));
            }
        }
    }
}

#[test]
fn to_wider_and_narrower_elements() {
    cast(|a: u8| u64::from(a) << 17 | 3);
    cast(|a: u64| a as u8);
    cast(|a: u16| u128::from(a) << 99);
    cast(|a: [u8; 3]| u32::from_le_bytes([a[0], a[1], a[2], 9]));
}

#[test]
fn three_inputs() {
    let shape = [rows(3, 1), 3];
    let f = |a: u8, b: u32, c: u16| u32::from(a).wrapping_mul(b) ^ u32::from(c) << 9;
    for (k, a_strides) in inputs(3).into_iter().enumerate() {
        let a = TestOperand::<u8>::new(&shape, &a_strides, 0);
        let b = TestOperand::<u32>::new(&shape, &inputs(3)[(k + 4) % 9], 1);
        let c = TestOperand::<u16>::new(&shape, &inputs(3)[(k + 6) % 9], 2);
        let all = a.values.iter().zip(&b.values).zip(&c.values);
        let values: Vec<u32> = all.map(|((&a, &b), &c)| f(a, b, c)).collect();
        for to in results(3) {
            let to = strided(&shape, &to, 1);
            let blank = Memory::<u32>::for_layout(&to, 0);
            let expected = blank.with(&to, &values);
            for config in run_configs() {
                let mut result = blank.clone();
                let (a, b) = (a.memory.view(&a.layout), b.memory.view(&b.layout));
                let (c, mut out) = (c.memory.view(&c.layout), result.view_mut(&to));
                config.run(|exec| zip3_into(exec, &a, &b, &c, &mut out, f)).unwrap();
                result.assert_is(&expected, || format!("{a_strides:?} to {to:?}, {config}"));
            }
        }
    }
}

/// A row that is repeated within each index of the outer dimension, or for all of them; combined
/// with rows whose elements lie in separate planes.
#[test]
fn rows_that_repeat_within_an_outer_index() {
    let shape = [5, 900, 3];
    let [dense, planes] = [[2700, 3, 1], [2700, 1, 900]];
    let repeated = [[3, 0, 1], [-4, 0, 1], [0, 0, 1], [900, 1, 0], [1, 0, 0]];
    for strides in repeated {
        for other in [dense, planes] {
            let [a, b] =
                [other, strides].map(|strides| TestOperand::<f32>::new(&shape, &strides, 1));
            for to in [dense, [3600, 4, 1]] {
                check_two(&a, &b, &strided(&shape, &to, 0));
            }
        }
    }
}

#[test]
fn short_rows_are_packed_and_others_are_not() {
    let path = |shape: [usize; 2], b: [isize; 2], width: usize| {
        let dense = Layout::contiguous(shape).unwrap();
        elementwise_path([&dense, &dense, &strided(&shape, &b, 0)], [width; 3]).unwrap()
    };
    for (what, shape, b, width, expected) in [
        ("out of wider rows", [1000, 3], [4, 1], 4, "packed_rows"),
        ("one row for all", [1000, 3], [0, 1], 4, "packed_rows"),
        ("one element for each row", [1000, 3], [1, 0], 4, "packed_rows"),
        ("the longest short rows", [1000, 16], [0, 1], 4, "packed_rows"),
        ("the same elements, but narrow", [1000, 17], [0, 1], 2, "packed_rows"),
        ("longer rows", [1000, 17], [0, 1], 4, "rows"),
        ("few rows", [63, 3], [0, 1], 4, "tiled"),
        ("elements that no kernel knows", [1000, 3], [0, 1], 12, "tiled"),
        ("one element for all", [1000, 3], [0, 0], 4, "contiguous"),
        ("transposed", [1000, 3], [1, 1000], 4, "transposed"),
    ] {
        assert_eq!(path(shape, b, width), expected, "{what}");
    }
    let (dense, wide) = (strided(&[1000, 8], &[8, 1], 0), strided(&[1000, 8], &[16, 1], 0));
    let of = |layouts: [&Layout; 3]| elementwise_path(layouts, [4; 3]).unwrap();
    assert_eq!(of([&dense, &wide, &wide]), "packed_rows", "64 bytes a row through scratch");
    assert_eq!(of([&wide, &wide, &wide]), "rows", "96 bytes");
}
