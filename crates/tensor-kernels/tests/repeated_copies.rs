//! Copies of few elements, repeated until a thread has listed all that it keeps for them: of any
//! layout, from other memory and another offset each time, at every level, beside the offsets of
//! the source, visited one by one.

mod common;

use common::{Memory, Sample, extent, levels, strided};
use proptest::prelude::*;
use tensor_kernels::{CopyPlan, Element, Exec, Layout, Machine, copy_into};

/// More often than the lists of a thread wait for.
const TIMES: usize = 12;

/// Sizes with, for each dimension, its place in the order of memory, the step between its indices,
/// and whether it is reversed or repeated.
fn layouts() -> impl Strategy<Value = Layout> {
    let dim = (1usize..14, any::<u8>(), 1isize..4, 0u8..8);
    prop::collection::vec(dim, 1..6).prop_filter_map("many elements", |dims| {
        let shape: Vec<usize> = dims.iter().map(|&(size, ..)| size).collect();
        let mut order: Vec<usize> = (0..dims.len()).collect();
        order.sort_by_key(|&d| dims[d].1);
        let (mut strides, mut stride) = (vec![0; dims.len()], 1isize);
        for d in order {
            let (size, _, step, kind) = dims[d];
            strides[d] = match kind {
                0 => 0,
                1 => -stride * step,
                _ => stride * if kind == 2 { step } else { 1 },
            };
            stride = stride.max(strides[d].abs() * size as isize);
        }
        (shape.iter().product::<usize>() <= 3000).then(|| strided(&shape, &strides, 0))
    })
}

fn check<T: Sample + Element>(from: &Layout) {
    let to = Layout::contiguous(from.shape()).unwrap();
    for level in levels() {
        let exec = Exec::current().unwrap().with_simd(level).unwrap().serial();
        let exec = exec.with_machine(Machine::REFERENCE);
        // A plan for wide registers may be run on a level that has none.
        let plan = CopyPlan::new(from, &to, size_of::<T>(), &Machine::REFERENCE).unwrap();
        for time in 0..TIMES {
            let moved = strided(from.shape(), from.strides(), time);
            let source = Memory::<T>::samples(extent(&moved), 3 + time);
            let mut result = Memory::<T>::for_layout(&to, 5 + time);
            let expected = result.with(&to, &source.values(&moved));
            let mut planned = result.clone();
            copy_into(&exec, source.view(&moved), &mut result.view_mut(&to)).unwrap();
            result.assert_is(&expected, || format!("{level}, time {time}: {moved:?}"));
            if moved.offset() == from.offset() {
                plan.run(&exec, source.view(&moved), &mut planned.view_mut(&to)).unwrap();
                planned.assert_is(&expected, || format!("{level}, by a plan: {moved:?}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_time_the_elements_are_those_of_the_source(layout in layouts()) {
        check::<u8>(&layout);
        check::<u16>(&layout);
        check::<f32>(&layout);
        check::<u64>(&layout);
        check::<u128>(&layout);
    }
}

/// Batches of small transposes, short runs in five orders, and mirrored rows, whose registers come
/// from one to eight windows.
#[test]
fn copies_that_are_picked() {
    for (shape, strides) in [
        (&[18, 5, 6][..], &[30, 1, 5][..]),
        (&[4, 9, 5], &[45, 1, 9]),
        (&[11, 10, 4], &[40, 1, 10]),
        (&[3, 39, 6, 2], &[6, 0, 1, 18]),
        (&[44, 16, 2], &[16, 1, 0]),
        (&[11, 2, 8, 2, 4], &[128, 1, 16, 2, 4]),
        (&[4, 5, 7, 8], &[280, 56, -8, -1]),
        (&[6, 12, 4], &[168, 1, 48]),
    ] {
        let layout = strided(shape, strides, 0);
        check::<u16>(&layout);
        check::<f32>(&layout);
        check::<u64>(&layout);
    }
}
