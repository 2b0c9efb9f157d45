//! Elementwise operations on many short rows, which are packed into long ones: what lies around
//! each row stays as it is, whatever the operands' rows do, in more than one block and with a last
//! one that is not full.

mod common;

use bytemuck::Pod;
use common::{Memory, Sample, Way, levels, strided};
use tensor_kernels::{
    Layout, elementwise_path, map_inplace, map_into, zip_inplace, zip_into, zip3_into,
};

/// Every level, and the first on threads.
fn ways() -> Vec<Way> {
    let levels = levels();
    let serial = levels.iter().map(|&simd| Way::serial(simd, false));
    serial.chain([Way::threaded(levels[0], true, 7)]).collect()
}

/// So many rows are more than a block of any operand, and none divides them.
fn rows(lanes: usize, width: usize) -> usize {
    (8 << 10) / (lanes * width) + 77
}

/// All that rows of an input may do: from row to row, and from lane to lane.
fn inputs(lanes: usize) -> [[isize; 2]; 9] {
    let lanes = lanes as isize;
    [
        [lanes, 1],
        [lanes + 2, 1],
        [-lanes - 1, 1],
        [1, 1],
        [0, 1],
        [0, 0],
        [2, 0],
        [-1, 0],
        [2 * lanes + 1, 2],
    ]
}

/// All that rows of a result may do.
fn results(lanes: usize) -> [[isize; 2]; 4] {
    let lanes = lanes as isize;
    [[lanes, 1], [lanes + 3, 1], [-lanes - 1, 1], [3 * lanes, 2]]
}

/// A number in which every byte of both shows.
fn mixed<T: Pod>(a: T, b: T) -> T {
    let mut sum = a;
    for (sum, b) in bytemuck::bytes_of_mut(&mut sum).iter_mut().zip(bytemuck::bytes_of(&b)) {
        *sum = sum.wrapping_mul(3) ^ b;
    }
    sum
}

/// Elements, where they lie, and what they are.
struct Given<T> {
    memory: Memory<T>,
    layout: Layout,
    values: Vec<T>,
}

impl<T: Sample> Given<T> {
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

/// Each input beside a dense one and beside two others, to each result.
fn two_inputs<T: Sample>() {
    for lanes in [3, 4] {
        let shape = [rows(lanes, size_of::<T>()), lanes];
        let inputs = inputs(lanes).map(|strides| Given::<T>::new(&shape, &strides, 1));
        for (k, a) in inputs.iter().enumerate() {
            for b in [0, (k + 1) % inputs.len(), (k + 4) % inputs.len()].map(|b| &inputs[b]) {
                for to in results(lanes) {
                    check_two(a, b, &strided(&shape, &to, 2));
                }
            }
        }
    }
}

fn check_two<T: Sample>(a: &Given<T>, b: &Given<T>, to: &Layout) {
    let blank = Memory::<T>::room_for(to, 1);
    let expected = blank.with(to, &a.mixed_with(b));
    for way in ways() {
        let mut result = blank.clone();
        let (a_view, b_view) = (a.memory.view(&a.layout), b.memory.view(&b.layout));
        let mut out = result.view_mut(to);
        way.run(|exec| zip_into(exec, &a_view, &b_view, &mut out, mixed)).unwrap();
        result.assert_is(&expected, || format!("{:?} {:?} to {to:?}, {way}", a.layout, b.layout));
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
fn width_12_which_no_kernel_knows() {
    two_inputs::<[u8; 12]>();
}

/// Lengths around those of registers and of what a kernel fills at a time, up to the longest short
/// row and one more.
#[test]
fn every_length_of_a_short_row() {
    for lanes in 1..=65 {
        let shape = [rows(lanes, 1), lanes];
        for [a, b] in [[1, 4], [2, 6], [4, 7], [6, 0]] {
            let [a, b] = [a, b].map(|k: usize| Given::<u8>::new(&shape, &inputs(lanes)[k], 0));
            check_two(&a, &b, &strided(&shape, &results(lanes)[lanes % 3], 0));
        }
    }
}

#[test]
fn in_place() {
    let shape = [rows(3, 4), 3];
    for to in results(3) {
        let x = Given::<f32>::new(&shape, &to, 1);
        let alone = |x: f32| mixed(x, x);
        let expected: Vec<f32> = x.values.iter().copied().map(alone).collect();
        let expected = x.memory.with(&x.layout, &expected);
        for way in ways() {
            let mut result = x.memory.clone();
            let mut view = result.view_mut(&x.layout);
            way.run(|exec| map_inplace(exec, &mut view, alone)).unwrap();
            result.assert_is(&expected, || format!("{to:?}, {way}"));
        }
        for strides in inputs(3) {
            let b = Given::<f32>::new(&shape, &strides, 0);
            let expected = x.memory.with(&x.layout, &x.mixed_with(&b));
            for way in ways() {
                let mut result = x.memory.clone();
                let (mut view, b) = (result.view_mut(&x.layout), b.memory.view(&b.layout));
                way.run(|exec| zip_inplace(exec, &mut view, &b, mixed)).unwrap();
                result.assert_is(&expected, || format!("{to:?} with {strides:?}, {way}"));
            }
        }
    }
}

/// Elements of one width become elements of another.
fn cast<A: Sample, R: Sample>(f: impl Fn(A) -> R + Sync + Copy + Send) {
    let shape = [rows(4, size_of::<A>().min(size_of::<R>())), 4];
    for from in inputs(4) {
        let a = Given::<A>::new(&shape, &from, 1);
        let expected: Vec<R> = a.values.iter().copied().map(f).collect();
        for to in results(4) {
            let to = strided(&shape, &to, 0);
            let blank = Memory::<R>::room_for(&to, 2);
            let expected = blank.with(&to, &expected);
            for way in ways() {
                let mut result = blank.clone();
                let (a, mut out) = (a.memory.view(&a.layout), result.view_mut(&to));
                way.run(|exec| map_into(exec, &a, &mut out, f)).unwrap();
                result.assert_is(&expected, || format!("{from:?} to {to:?}, {way}"));
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
        let a = Given::<u8>::new(&shape, &a_strides, 0);
        let b = Given::<u32>::new(&shape, &inputs(3)[(k + 4) % 9], 1);
        let c = Given::<u16>::new(&shape, &inputs(3)[(k + 6) % 9], 2);
        let all = a.values.iter().zip(&b.values).zip(&c.values);
        let values: Vec<u32> = all.map(|((&a, &b), &c)| f(a, b, c)).collect();
        for to in results(3) {
            let to = strided(&shape, &to, 1);
            let blank = Memory::<u32>::room_for(&to, 0);
            let expected = blank.with(&to, &values);
            for way in ways() {
                let mut result = blank.clone();
                let (a, b) = (a.memory.view(&a.layout), b.memory.view(&b.layout));
                let (c, mut out) = (c.memory.view(&c.layout), result.view_mut(&to));
                way.run(|exec| zip3_into(exec, &a, &b, &c, &mut out, f)).unwrap();
                result.assert_is(&expected, || format!("{a_strides:?} to {to:?}, {way}"));
            }
        }
    }
}

/// A row that repeats within a part of the result and not in the next, or in all of them; beside
/// rows whose elements lie in planes.
#[test]
fn rows_that_repeat_for_a_while() {
    let shape = [5, 900, 3];
    let [dense, planes] = [[2700, 3, 1], [2700, 1, 900]];
    let repeated = [[3, 0, 1], [-4, 0, 1], [0, 0, 1], [900, 1, 0], [1, 0, 0]];
    for strides in repeated {
        for other in [dense, planes] {
            let [a, b] = [other, strides].map(|strides| Given::<f32>::new(&shape, &strides, 1));
            for to in [dense, [3600, 4, 1]] {
                check_two(&a, &b, &strided(&shape, &to, 0));
            }
        }
    }
}

#[test]
fn short_rows_are_packed_and_others_are_not() {
    let path = |shape: [usize; 2], b: [isize; 2], width: usize| {
        let dense = Layout::contiguous(&shape).unwrap();
        elementwise_path([&dense, &dense, &strided(&shape, &b, 0)], [width; 3]).unwrap()
    };
    for (what, shape, b, width, expected) in [
        ("out of wider rows", [1000, 3], [4, 1], 4, "packed_lanes"),
        ("one row for all", [1000, 3], [0, 1], 4, "packed_lanes"),
        ("one element for each row", [1000, 3], [1, 0], 4, "packed_lanes"),
        ("the longest short rows", [1000, 16], [0, 1], 4, "packed_lanes"),
        ("the same elements, but narrow", [1000, 17], [0, 1], 2, "packed_lanes"),
        ("longer rows", [1000, 17], [0, 1], 4, "rows_of_lanes"),
        ("few rows", [63, 3], [0, 1], 4, "rows_of_lanes"),
        ("elements that no kernel knows", [1000, 3], [0, 1], 12, "rows_of_lanes"),
        ("one element for all", [1000, 3], [0, 0], 4, "lanes"),
        ("transposed", [1000, 3], [1, 1000], 4, "tiled_lanes"),
    ] {
        assert_eq!(path(shape, b, width), expected, "{what}");
    }
    let (dense, wide) = (strided(&[1000, 8], &[8, 1], 0), strided(&[1000, 8], &[16, 1], 0));
    let of = |layouts: [&Layout; 3]| elementwise_path(layouts, [4; 3]).unwrap();
    assert_eq!(of([&dense, &wide, &wide]), "packed_lanes", "64 bytes a row through scratch");
    assert_eq!(of([&wide, &wide, &wide]), "rows_of_lanes", "96 bytes");
}
