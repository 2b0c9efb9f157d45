//! However often work is cut, its parts do what the whole does, each element once.

#[cfg(feature = "elementwise")]
mod elementwise;

use std::collections::BTreeMap;

use tensor_core::Layout;

use super::{Axis, CUT_ALIGNMENT_ELEMENTS, Divisible, Split};
use crate::{
    exec::Machine,
    nest::Loop,
    plan::{Group, Inner, Streamed, Work},
};

/// Each offset that is written, and the offsets that are read for it: what a plan does, apart from
/// the order.
type Moves<const N: usize> = BTreeMap<isize, [isize; N]>;

/// The offsets of each operand in every iteration.
fn walk<const N: usize>(start: [isize; N], loops: &[Loop<N>]) -> Vec<[isize; N]> {
    let Some((first, rest)) = loops.split_first() else { return vec![start] };
    let iteration = |i: usize| std::array::from_fn(|k| start[k] + i as isize * first.strides[k]);
    (0..first.len).flat_map(|i| walk(iteration(i), rest)).collect()
}

/// The innermost step of a copy as plain loops.
fn loops(inner: Inner) -> Vec<Loop<2>> {
    let one = |len, strides| vec![Loop { len, strides }];
    match inner {
        Inner::Nothing => one(0, [0, 0]),
        Inner::Run { len } => one(len, [1, 1]),
        Inner::Fill { len } => one(len, [1, 0]),
        Inner::Gather { len, step } => one(len, [1, step]),
        Inner::Scatter { len, step } => one(len, [step, 1]),
        Inner::Tile { u, v, .. } => vec![
            Loop { len: v.len, strides: [v.stride, 1] },
            Loop { len: u.len, strides: [1, u.stride] },
        ],
        Inner::Streamed(plan) => {
            let Streamed { u, v, u2, v2, runs, .. } = plan;
            let run = runs.len as isize;
            vec![
                Loop { len: v2.len, strides: [v2.stride, v.len as isize * runs.step] },
                Loop { len: u2.len, strides: [u.len as isize * run, u2.stride] },
                Loop { len: v.len, strides: [v.stride, runs.step] },
                Loop { len: u.len, strides: [run, u.stride] },
                Loop { len: runs.len, strides: [1, 1] },
            ]
        }
        Inner::Grouped(_) | Inner::Shuffled(_) | Inner::PackedSource { .. } => {
            one(inner.len(), [1, 1])
        }
        Inner::Blocked2d { outer, inner, run, .. } => {
            vec![outer, inner, Loop { len: run, strides: [1, 1] }]
        }
    }
}

/// The offsets that some work visits, in bytes for copies, else in elements.
trait Visits<const N: usize>: Divisible {
    fn visits(&self) -> Vec<[isize; N]>;

    fn moves(&self) -> Moves<N> {
        let visits = self.visits();
        let count = visits.len();
        let moves: Moves<N> = visits.into_iter().map(|places| (places[0], places)).collect();
        assert_eq!(moves.len(), count, "each offset is written once");
        moves
    }
}

impl Visits<2> for Work {
    fn visits(&self) -> Vec<[isize; 2]> {
        let unit = self.unit as isize;
        let mut all = self.outer.to_vec();
        all.extend(loops(self.inner));
        for l in &mut all {
            l.strides = l.strides.map(|stride| stride * unit);
        }
        walk(self.starts, &all)
    }
}

/// Halves the work until it cannot be cut, checks each cut, and returns the parts.
fn leaf_parts<const N: usize, W: Visits<N> + Clone>(whole: &W) -> Vec<W> {
    let Some([first, second]) = Split::of(whole).map(|split| split.apply(whole)) else {
        return vec![whole.clone()];
    };
    let (mut all, rest) = (first.moves(), second.moves());
    assert!(!all.is_empty() && !rest.is_empty(), "a half without work");
    assert_eq!(first.bytes() + second.bytes(), whole.bytes());
    let sum = all.len() + rest.len();
    all.extend(rest);
    assert_eq!(all.len(), sum, "halves that write the same offset");
    assert_eq!(all, whole.moves(), "halves that are not the whole");
    [leaf_parts(&first), leaf_parts(&second)].concat()
}

/// Shapes, with the strides of a source and of a destination: lengths around the alignment of cuts,
/// and every kind of stride.
const PAIRS: &[(&[usize], &[isize], &[isize])] = &[
    (&[], &[], &[]),
    (&[0, 3], &[3, 1], &[3, 1]),
    (&[1], &[1], &[1]),
    (&[63], &[1], &[1]),
    (&[64], &[1], &[1]),
    (&[65], &[1], &[1]),
    (&[129], &[1], &[1]),
    (&[1000], &[1], &[1]),
    (&[1000], &[0], &[1]),
    (&[1000], &[-1], &[1]),
    // Groups of loops: a transpose, a long one, and runs.
    (&[11, 7, 5, 3], &[1, 11, 77, 385], &[105, 15, 3, 1]),
    (&[3, 800, 5], &[1, 3, 2400], &[4000, 5, 1]),
    (&[300, 3, 2, 3], &[3, 900, 2700, -1], &[18, 6, 3, 1]),
    (&[333], &[3], &[1]),
    (&[333], &[1], &[2]),
    (&[333], &[2], &[3]),
    (&[5, 70], &[99, 1], &[70, 1]),
    (&[5, 7, 4], &[4, 20, 1], &[28, 4, 1]),
    (&[13, 70], &[1, 0], &[70, 1]),
    (&[65, 65], &[1, 65], &[65, 1]),
    (&[65, 66], &[1, 65], &[66, 1]),
    (&[66, 65], &[-1, 66], &[65, 1]),
    (&[130, 3], &[1, 130], &[3, 1]),
    (&[3, 130], &[1, 3], &[130, 1]),
    (&[3, 5, 6, 7], &[210, 1, 35, 5], &[210, 42, 7, 1]),
    (&[65, 33], &[2, 130], &[66, 2]),
    (&[9, 10, 11], &[1, 9, 90], &[110, 11, 1]),
    (&[9, 10, 11, 12], &[1, 9, 90, 990], &[1320, 132, 12, 1]),
    (&[70, 90], &[1, 70], &[90, 1]),
    // Transposes of runs, one of them with more loops.
    (&[20, 100, 3], &[4, 80, 1], &[300, 3, 1]),
    (&[3, 5, 2, 60, 3], &[15, 3, 2700, 45, 1], &[1800, 360, 180, 3, 1]),
    (&[600, 3], &[1, 600], &[3, 1]),
    (&[600, 3], &[-5, 1], &[3, 1]),
    (&[600, 3], &[0, 1], &[4, 1]),
    (&[600, 7], &[2, 0], &[9, 1]),
    (&[3, 600], &[1, 3], &[600, 1]),
];

fn layout(shape: &[usize], strides: &[isize]) -> Layout {
    let reach = |(&n, &s): (&usize, &isize)| (n.max(1) - 1) as isize * s.min(0);
    let below: isize = shape.iter().zip(strides).map(reach).sum();
    Layout::new(shape, strides, below.unsigned_abs() + 2).unwrap()
}

/// A machine with small caches: on it transposes are streamed.
const SMALL_CACHES: Machine = Machine { l1: 1 << 10, l2: 8 << 10, stream: 1, ..Machine::REFERENCE };

#[test]
fn parts_of_a_streamed_copy_are_the_copy() {
    for &(shape, from, to) in PAIRS {
        let (from, to) = (layout(shape, from), layout(shape, to));
        for width in [1, 4, 12] {
            leaf_parts(&Work::new(&from, &to, width, &SMALL_CACHES));
        }
    }
}

/// Are all loops single iterations, but for one block of the groups, which are the last loops?
fn is_one_block<const N: usize>(loops: &[Loop<N>], groups: &[Group]) -> bool {
    let mut around = loops;
    groups.iter().all(|group| {
        let (rest, loops) = around.split_at(around.len() - group.loops);
        around = rest;
        loops.first().is_none_or(|cut| cut.len <= group.block)
    }) && around.iter().all(|l| l.len == 1)
}

#[test]
fn parts_of_a_copy_are_the_copy() {
    for &(shape, from, to) in PAIRS {
        let (from, to) = (layout(shape, from), layout(shape, to));
        for width in [1, 4, 12] {
            let whole = Work::new(&from, &to, width, &Machine::REFERENCE);
            for part in leaf_parts(&whole) {
                let mut loops = loops(part.inner);
                // The short runs of a blocked copy stay whole.
                loops.truncate(if matches!(part.inner, Inner::Blocked2d { .. }) { 2 } else { 4 });
                let lens = loops.into_iter().map(|l| l.len);
                assert!(
                    lens.max() <= Some(CUT_ALIGNMENT_ELEMENTS),
                    "{whole} leaves a large part: {part}"
                );
                let groups = match part.inner {
                    Inner::Grouped(groups) => vec![groups.u, groups.v],
                    Inner::Shuffled(plan) => vec![plan.block],
                    _ => vec![],
                };
                assert!(is_one_block(&part.outer, &groups), "{whole} leaves {part}");
            }
        }
    }
}

#[test]
fn a_plan_visits_the_elements_of_its_layouts() {
    for &(shape, from, to) in PAIRS {
        let (from, to) = (layout(shape, from), layout(shape, to));
        for machine in [Machine::REFERENCE, SMALL_CACHES] {
            let work = Work::new(&from, &to, 2, &machine);
            let bytes = |layout: &Layout| layout.offsets().flat_map(|at| [2 * at, 2 * at + 1]);
            let expected: BTreeMap<_, _> = bytes(&to).zip(bytes(&from)).collect();
            let each_byte = |[to, from]: [isize; 2]| {
                (0..work.unit).map(move |i| (to as usize + i, from as usize + i))
            };
            let visited: BTreeMap<_, _> = work.visits().into_iter().flat_map(each_byte).collect();
            assert_eq!(visited, expected, "{work}");
        }
    }
}

#[test]
fn cuts_fall_on_multiples_and_cache_lines() {
    for (what, axis, expected) in [
        ("anywhere", Axis::anywhere(7), Some(3)),
        ("one iteration", Axis::anywhere(1), None),
        ("behind the middle", Axis::at_multiples(100, 64), Some(64)),
        ("no multiple inside", Axis::at_multiples(64, 64), None),
        ("floats from a line on", Axis::adjacent(1000, 0, 4), Some(512)),
        ("floats from the middle of a line on", Axis::adjacent(1000, 40, 4), Some(518)),
        ("in front of the middle if there is none behind", Axis::adjacent(90, 24, 1), Some(40)),
        ("before the start of the storage", Axis::adjacent(1000, -8, 8), Some(513)),
        ("bytes", Axis::adjacent(200, 1, 1), Some(127)),
        ("nothing", Axis::adjacent(0, 5, 1), None),
    ] {
        assert_eq!(axis.middle(), expected, "{what}");
    }
}
