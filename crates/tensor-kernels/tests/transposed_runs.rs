//! Every candidate of transposes that keep short runs together, such as the channels of pixels: of
//! every element width, run length and SIMD level, streamed and through the caches, with gaps, in
//! descending order, within more loops, and into memory that starts anywhere in a cache line.

mod common;

use common::{levels, values_of};
use proptest::prelude::*;
use tensor_kernels::{CopyPlan, Element, Exec, Layout, Machine, TensorView, TensorViewMut};

/// The path of those that are streamed.
const STREAMED: &str = "transposed_runs";

/// The elements behind the result, which nobody may write.
const BEHIND: usize = 40;

/// Rows, columns, their repetitions and the units of a run; the gaps between runs in the source and
/// between rows of the result; the dimensions that the source descends along; and where the result
/// starts.
#[derive(Clone, Debug)]
struct Case {
    shape: [usize; 5],
    gaps: [usize; 2],
    flips: Vec<isize>,
    start: usize,
}

impl Case {
    /// The source: `images` of `rows` by `columns` runs, transposed; and the result.
    fn layouts(&self) -> (Layout, Layout) {
        let [images, rows, outer, columns, run] = self.shape;
        let [gap, row_gap] = self.gaps;
        let whole = Layout::contiguous([images, rows, outer, columns, run + gap]).unwrap();
        let runs = whole.narrow(4, gap / 2, run).unwrap().flip(&self.flips).unwrap();
        // The rows of the result are columns of the source; images follow each other in a row.
        let from = runs.permute([2, 3, 0, 1, 4]).unwrap();
        let row = images * rows * run + row_gap;
        let to: [usize; 5] = [columns * row, row, rows * run, run, 1];
        let to = Layout::new(from.shape(), to.map(|s| s as isize), self.start).unwrap();
        (from, to)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let shape = (1..4usize, 1..40usize, 1..4usize, 1..60usize, 2..14usize);
    let flips = prop::sample::subsequence(vec![0isize, 1, 2, 3], 0..3);
    (shape, (0..3usize, 0..9usize), flips, 0..70usize).prop_map(|(shape, gaps, flips, start)| {
        let (shape, gaps) = (shape.into(), gaps.into());
        Case { shape, gaps, flips, start }
    })
}

/// Every level, on machines that stream everything, with caches of several sizes.
fn execs() -> Vec<Exec> {
    let exec = |(level, (l1, l2))| {
        let mut exec = Exec::current().unwrap().with_simd(level).unwrap().serial();
        exec.machine = Machine { stream: 0, l1, l2, ..Machine::REFERENCE };
        exec
    };
    let caches = [(1 << 10, 4 << 10), (32 << 10, 1 << 20)];
    levels().into_iter().flat_map(|level| caches.map(|c| (level, c))).map(exec).collect()
}

/// Runs every candidate, and returns how many of them stream runs.
fn check<T: Element + PartialEq>(case: &Case, nth: fn(usize) -> T) -> usize {
    let (from, to) = case.layouts();
    let bounds = |layout: &Layout| layout.bounds().map_or(0, |(_, last)| last + 1);
    let source: Vec<T> = (0..bounds(&from)).map(nth).collect();
    let expected = values_of(&source, &from);
    let view = TensorView::new(&source, from.clone()).unwrap();
    let mut streamed = 0;
    for exec in execs() {
        let candidates = CopyPlan::candidates(&from, &to, size_of::<T>(), &exec.machine).unwrap();
        for plan in candidates.into_iter().map(|candidate| candidate.plan) {
            streamed += usize::from(plan.path() == STREAMED);
            let mut memory = vec![nth(0); bounds(&to) + BEHIND];
            let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
            plan.run(&exec, &view, &mut into).unwrap();
            assert!(values_of(&memory, &to) == expected, "{}, {plan}: {case:?}", exec.simd());
            let written = |elements: &[T]| elements.iter().filter(|x| **x != nth(0)).count();
            assert_eq!(written(&memory), written(&expected), "gaps: {plan}: {case:?}");
        }
    }
    streamed
}

macro_rules! widths {
    ($($name:ident: $nth:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(48))]
            $(#[test]
            fn $name(case in cases()) {
                check(&case, $nth);
            })*
        }

        #[test]
        fn pixels_of_all_widths_are_streamed() {
            let shape = [1, 300, 1, 50, 3];
            let case = Case { shape, gaps: [0, 0], flips: vec![], start: 0 };
            let streamed = [$(check(&case, $nth)),*];
            assert!(streamed.iter().all(|&count| count > 0), "{streamed:?}");
            // Pixels without their last channel, mirrored, in the middle of a line.
            let case = Case { gaps: [1, 5], flips: vec![1, 3], start: 7, ..case };
            let streamed = [$(check(&case, $nth)),*];
            assert!(streamed.iter().all(|&count| count > 0), "{streamed:?}");
        }
    };
}

widths! {
    width_1: |i| (i * 7 + i / 256) as u8;
    width_2: |i| (i * 3) as u16;
    width_4: |i| i as f32;
    width_8: |i| i as f64;
    width_16: |i| (i as u128) << 64 | 5;
}
