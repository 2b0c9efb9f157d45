//! Every candidate of copies that copy the results of a repeated dimension once, and repeat them:
//! of every element width and SIMD level, with the repeated dimension at any place among some in
//! any order, on one thread and on several, and into memory that starts anywhere in a cache line.

mod common;

use common::{Memory, Sample, extent, levels, on_threads, ordered, strided};
use proptest::prelude::*;
use tensor_kernels::{CopyPlan, Element, Exec, Layout, Machine, TensorView, copy_into, ops};

/// The path of those that repeat.
const REPEATED: &str = "repeated_blocks";

/// A source with one or two repeated dimensions, to which a contiguous result is copied.
fn layouts() -> impl Strategy<Value = Layout> {
    let dim = (1usize..12, any::<u8>(), 0u8..6);
    let dims = prop::collection::vec(dim, 2..5);
    (dims, 2usize..9, prop::collection::vec(0usize..5, 1..3)).prop_map(|(dims, times, repeated)| {
        let (mut shape, mut strides) = ordered(&dims);
        for at in repeated {
            let at = at % (shape.len() + 1);
            shape.insert(at, times);
            strides.insert(at, 0);
        }
        strided(&shape, &strides, 3)
    })
}

/// Machines that keep all in the caches, and that stream all.
fn machines() -> [Machine; 2] {
    let small = Machine { l1: 1 << 10, l2: 4 << 10, stream: 0, ..Machine::REFERENCE };
    [Machine::REFERENCE, Machine { grain: 256, ..small }]
}

/// Runs every candidate, and returns how many of them repeat.
fn check<T: Sample + Element>(from: &Layout, start: usize) -> usize {
    let dense = Layout::contiguous(from.shape()).unwrap();
    let to = Layout::new(dense.shape(), dense.strides(), start).unwrap();
    let source = Memory::<T>::samples(extent(from), 3);
    let mut result = Memory::<T>::for_layout(&to, 5);
    let expected = result.with(&to, &source.values(from));
    let mut repeated = 0;
    for (level, machine) in levels().into_iter().flat_map(|level| machines().map(|m| (level, m))) {
        let exec = Exec::current().unwrap().with_simd(level).unwrap().with_machine(machine);
        for exec in [exec.serial(), exec] {
            let candidates = CopyPlan::candidates(from, &to, size_of::<T>(), &machine).unwrap();
            for plan in candidates.into_iter().map(|candidate| candidate.plan) {
                repeated += usize::from(plan.path() == REPEATED);
                result = Memory::for_layout(&to, 5);
                on_threads(3, || {
                    plan.run(&exec, source.view(from), &mut result.view_mut(&to)).unwrap();
                });
                result.assert_is(&expected, || format!("{level}, {plan}: {from:?}"));
            }
            result = Memory::for_layout(&to, 5);
            copy_into(&exec, source.view(from), &mut result.view_mut(&to)).unwrap();
            result.assert_is(&expected, || format!("{level}: {from:?}"));
        }
    }
    repeated
}

macro_rules! widths {
    ($($name:ident: $type:ty;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(32))]
            $(#[test]
            fn $name(from in layouts(), start in 0usize..70) {
                check::<$type>(&from, start);
            })*
        }

        #[test]
        fn batches_of_one_transpose_are_repeated_at_all_widths() {
            // The batch outermost, in the middle, and twice.
            for (shape, strides) in [
                (&[7, 19, 70][..], &[0, 1, 19][..]),
                (&[5, 6, 70], &[1, 0, 5]),
                (&[3, 5, 6, 70, 2], &[0, 1, 0, 10, 5]),
            ] {
                let from = strided(shape, strides, 0);
                $(assert!(check::<$type>(&from, 1) > 0, "{from:?}, {}", stringify!($type));)*
            }
        }
    };
}

widths! {
    width_1: u8;
    width_2: u16;
    width_4: f32;
    width_8: f64;
    width_16: u128;
}

#[test]
fn plans_say_how_often_blocks_are_repeated() {
    let from = strided(&[44, 9, 19], &[0, 1, 9], 0);
    let to = Layout::contiguous(from.shape()).unwrap();
    let plan = CopyPlan::new(&from, &to, 4, &Machine::REFERENCE).unwrap();
    assert_eq!(plan.path(), REPEATED);
    let text = plan.to_string();
    assert!(text.ends_with(", then blocks of 171 units 44 times"), "{text}");
}

#[test]
fn rows_and_short_blocks_and_gaps_are_not_repeated() {
    let is_repeated = |shape: &[usize], strides: &[isize], row: isize| {
        let from = strided(shape, strides, 0);
        let mut to = Layout::contiguous(shape).unwrap();
        if row > 0 {
            let gaps = [shape[1] as isize * row, row, 1];
            to = Layout::new(shape, gaps, 0).unwrap();
        }
        let candidates = CopyPlan::candidates(&from, &to, 4, &Machine::REFERENCE).unwrap();
        candidates.iter().any(|candidate| candidate.plan.path() == REPEATED)
    };
    assert!(is_repeated(&[9, 40, 50], &[0, 1, 40], 0));
    assert!(!is_repeated(&[9, 40, 50], &[0, 1, 40], 51), "gaps in the result");
    assert!(!is_repeated(&[30, 40, 50], &[50, 0, 1], 0), "adjacent rows");
    assert!(!is_repeated(&[300, 5, 3], &[3, 0, 900], 0), "blocks of 12 bytes");
}

/// Transposes compute in registers: what is repeated is computed once.
#[test]
fn results_of_operations_are_repeated() {
    let shapes: [(&[usize], &[isize]); 3] = [
        (&[7, 64, 90], &[0, 1, 64]),
        (&[64, 5, 90], &[1, 0, 64]),
        (&[3, 64, 5, 90], &[0, 1, 0, 64]),
    ];
    for (from, level) in
        shapes.iter().flat_map(|shape| levels().into_iter().map(move |l| (shape, l)))
    {
        let from = strided(from.0, from.1, 0);
        let to = Layout::contiguous(from.shape()).unwrap();
        let elements: Vec<f32> = (0..extent(&from)).map(|i| i as f32 - 2000.0).collect();
        let view = TensorView::new(&elements, from.clone()).unwrap();
        let other: Vec<f32> = (0..to.numel()).map(|i| (i % 1000) as f32).collect();
        let other_view = TensorView::new(&other, to.clone()).unwrap();
        let values = common::values_of(&elements, &from);
        let doubled: Vec<f32> = values.iter().map(|x| x + x).collect();
        let negated: Vec<f32> = values.iter().map(|x| -x).collect();
        let sums: Vec<f32> = values.iter().zip(&other).map(|(x, y)| x + y).collect();
        for machine in machines() {
            let exec = Exec::current().unwrap().with_simd(level).unwrap().with_machine(machine);
            for exec in [exec.serial(), exec] {
                let mut results = [(); 3].map(|()| vec![0.0; to.numel()]);
                on_threads(3, || {
                    let [a, b, c] = &mut results;
                    ops::neg_into(&exec, &view, &mut a[..]).unwrap();
                    ops::add_into(&exec, &view, &view, &mut b[..]).unwrap();
                    ops::add_into(&exec, &view, &other_view, &mut c[..]).unwrap();
                });
                assert!(results == [&negated[..], &doubled, &sums], "{level}: {from:?}");
            }
        }
    }
}
