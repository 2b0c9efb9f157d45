//! Every candidate of transposes to 2 to 17 rows, on a machine that streams everything: the
//! channels of images as planes. The source ends with its last element, so that the address
//! sanitizer finds a read behind it, or starts with it, where pixels are mirrored. Rows of the
//! result start and end anywhere in a cache line.

mod common;

use common::{check_candidates, levels, values_of};
use tensor_kernels::{Element, Exec, Layout, Machine, TensorView, TensorViewMut, ops};

/// The lengths of rows, in cache lines and elements.
const ROWS: [(usize, usize); 4] = [(1, 3), (2, 1), (5, 0), (70, 5)];

/// Every level.
fn execs() -> Vec<Exec> {
    let exec = |level| {
        let mut exec = Exec::current().unwrap().with_simd(level).unwrap().serial();
        exec.machine = Machine { stream: 0, l1: 4 << 10, ..Machine::REFERENCE };
        exec
    };
    levels().into_iter().map(exec).collect()
}

/// `count` channels of some pixels as planes, of `count` channels or more, mirrored or not.
fn planes(pixels: usize, count: usize, gap: usize, is_mirrored: bool) -> Layout {
    let all = Layout::contiguous([pixels, count + gap]).unwrap();
    let taken = all.narrow(1, 0, count).unwrap();
    let taken = if is_mirrored { taken.flip([0]).unwrap() } else { taken };
    taken.t().unwrap()
}

fn check<T: Element + PartialEq>(nth: fn(usize) -> T) {
    let line = 64 / size_of::<T>();
    for (count, (lines, more)) in (2..=17).flat_map(|count| ROWS.map(|row| (count, row))) {
        let pixels = lines * line + more;
        for (gap, is_mirrored) in [(0, false), (1, false), (0, true), (3, true)] {
            let from = planes(pixels, count, gap, is_mirrored);
            let elements = (pixels - 1) * (count + gap) + count;
            let source: Vec<T> = (0..elements).map(nth).collect();
            for (exec, behind) in execs().iter().flat_map(|exec| [0, 3].map(|b| (exec, b))) {
                let to = Layout::new([count, pixels], [pixels, 1], behind).unwrap();
                check_candidates(exec, (&source, &from), &to, nth(1));
            }
        }
    }
}

macro_rules! widths {
    ($($name:ident: $nth:expr;)*) => {$(
        #[test]
        fn $name() {
            check($nth);
        }
    )*};
}

widths! {
    few_rows_of_bytes: |at| at as u8;
    few_rows_of_two_bytes: |at| at as u16;
    few_rows_of_four_bytes: |at| at as u32;
    few_rows_of_eight_bytes: |at| at as u64;
    few_rows_of_sixteen_bytes: |at| [at as u64, 7];
}

/// The planes of some pixels, negated, and less others: computed on the way to long rows.
macro_rules! computed {
    ($($name:ident: $type:ty;)*) => {$(
        #[test]
        fn $name() {
            let others: Vec<$type> = (0..17 * 1031).map(|at| (at % 91) as $type).collect();
            for (count, is_mirrored) in (2..=17).flat_map(|count| [(count, false), (count, true)]) {
                let pixels = 1031;
                let from = planes(pixels, count, 0, is_mirrored);
                let source: Vec<$type> = (0..count * pixels).map(|at| at as $type).collect();
                let values = values_of(&source, &from);
                let negated: Vec<$type> = values.iter().map(|x| -x).collect();
                let differences: Vec<$type> =
                    values.iter().zip(&others).map(|(x, y)| x - y).collect();
                let view = TensorView::new(&source, from.clone()).unwrap();
                let rows = Layout::contiguous([count, pixels]).unwrap();
                let other = TensorView::new(&others, rows).unwrap();
                for (exec, behind) in execs().iter().flat_map(|exec| [0, 3].map(|b| (exec, b))) {
                    let mut memory = vec![<$type>::NAN; count * pixels + 8];
                    let to = Layout::new([count, pixels], [pixels, 1], behind).unwrap();
                    let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
                    ops::neg_into(exec, &view, &mut into).unwrap();
                    let what = format!("{count} rows, mirrored: {is_mirrored}, {}", exec.simd());
                    assert!(values_of(&memory, &to) == negated, "{what}");
                    let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
                    ops::sub_into(exec, &view, &other, &mut into).unwrap();
                    assert!(values_of(&memory, &to) == differences, "{what}");
                }
            }
        }
    )*};
}

computed! {
    few_rows_of_floats_are_computed: f32;
    few_rows_of_doubles_are_computed: f64;
}
