//! Operations that are computed in the registers that transpose an operand, beside the same
//! operations on one element after the other.
//!
//! Shapes, orders and machines are such that plans of all kinds occur: one matrix, batches, several
//! loops on each side, with plain and non-temporal stores, at every offset in a cache line. The
//! other operands lie as the result does, have gaps, are single values, or lie otherwise, too.

use tensor_kernels::{
    Element, Exec, Layout, Machine, Result, Slice, TensorView, TensorViewMut, ops,
};

use super::common::run_configs;

/// Shapes of arrays, and the order in which their dimensions are read.
const ORDERS: [(&[usize], &[usize]); 22] = [
    (&[0, 40], &[1, 0]),
    (&[5, 6], &[1, 0]),
    (&[4, 8, 4], &[2, 1, 0]),
    (&[14, 9], &[1, 0]),
    (&[37, 41], &[1, 0]),
    (&[64, 64], &[1, 0]),
    (&[130, 129], &[1, 0]),
    (&[4, 300], &[1, 0]),
    (&[300, 5], &[1, 0]),
    (&[3, 40, 33], &[0, 2, 1]),
    (&[17, 6, 19], &[2, 1, 0]),
    (&[5, 7, 4, 9], &[3, 2, 1, 0]),
    (&[3, 2, 5, 6, 7], &[4, 1, 0, 3, 2]),
    (&[2, 48, 80], &[2, 0, 1]),
    (&[31, 8, 8], &[1, 2, 0]),
    (&[16, 16, 4], &[2, 1, 0]),
    // Streamed: rows of several loops, few long rows, many short ones, runs of adjacent elements.
    (&[33, 5, 20], &[2, 1, 0]),
    (&[9, 40, 17], &[2, 0, 1]),
    (&[600, 5], &[1, 0]),
    (&[6, 700], &[1, 0]),
    (&[40, 33, 3], &[1, 0, 2]),
    (&[50, 20, 12], &[1, 0, 2]),
];

/// Caches so small that few elements are planned as many are.
const TINY: Machine = Machine { l1: 1 << 9, l2: 1 << 11, stream: 1 << 12, ..Machine::REFERENCE };

/// Floats as the test needs them.
trait Float: Element + PartialEq + std::fmt::Debug {
    /// The value at an index: small ones, zeros of both signs, infinities and NaN.
    fn at(index: usize) -> Self;
    fn is_same(self, other: Self) -> bool;
}

macro_rules! float {
    ($($float:ident)*) => {$(
        impl Float for $float {
            fn at(index: usize) -> Self {
                match index % 97 {
                    13 => -0.0,
                    29 => $float::NAN,
                    31 => $float::INFINITY,
                    47 => 0.0,
                    other => (other as $float - 48.0) / 7.0,
                }
            }

            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )*};
}

float! { f32 f64 }

/// The layouts of an operand that is read in another order: as it is, with gaps, mirrored.
fn transposed(shape: &[usize], order: &[usize]) -> Vec<Layout> {
    let dense = Layout::contiguous(shape).unwrap().permute(order).unwrap();
    let mut wider = shape.to_vec();
    *wider.last_mut().unwrap() += 3;
    let last = wider.len() - 1;
    let window = Layout::contiguous(&wider).unwrap();
    let end = wider[last] as isize - 1;
    let window = window.slice(last, Slice::new(Some(2), Some(end), 1)).unwrap();
    let window = window.permute(order).unwrap();
    let mirrored = dense.flip([0]).unwrap();
    vec![dense, window, mirrored]
}

/// The layouts of another operand of a shape: dense, with gaps, one value, in reverse order.
fn others(shape: &[usize]) -> [Layout; 3] {
    let dense = Layout::contiguous(shape).unwrap();
    let one = Layout::contiguous(vec![1; shape.len()]).unwrap().expand(shape).unwrap();
    let reversed: Vec<usize> = (0..shape.len()).rev().collect();
    let sizes: Vec<usize> = reversed.iter().map(|&dim| shape[dim]).collect();
    let otherwise = Layout::contiguous(&sizes).unwrap().permute(&reversed).unwrap();
    [dense, one, otherwise]
}

/// Elements for a layout, from some index of the values on.
fn elements<F: Float>(layout: &Layout, from: usize) -> Vec<F> {
    let spanned: usize = layout.shape().iter().product::<usize>() * 2 + 4096;
    (0..spanned).map(|index| F::at(index * 7 + from)).collect()
}

/// The elements of a view in logical order, one by one.
fn listed<F: Float>(view: &TensorView<'_, F>) -> Vec<F> {
    view.iter().collect()
}

/// Computes an operation on up to three inputs.
type Run<F> = fn(&Exec, [&TensorView<'_, F>; 3], &mut TensorViewMut<'_, F>) -> Result<()>;

/// An operation on views of up to three inputs, and the same on elements.
struct Case<F> {
    name: &'static str,
    inputs: usize,
    run: Run<F>,
    expected: fn([F; 3]) -> F,
}

macro_rules! cases {
    ($float:ident) => {{
        macro_rules! case {
            ($name:ident, |$a:pat_param| $value:expr) => {
                Case::<$float> {
                    name: stringify!($name),
                    inputs: 1,
                    run: |exec, [a, ..], out| ops::$name(exec, a, out),
                    expected: |[$a, ..]| $value,
                }
            };
            ($name:ident, |$a:ident, $b:ident| $value:expr) => {
                Case::<$float> {
                    name: stringify!($name),
                    inputs: 2,
                    run: |exec, [a, b, _], out| ops::$name(exec, a, b, out),
                    expected: |[$a, $b, _]| $value,
                }
            };
        }
        [
            case!(neg_into, |a| -a),
            case!(abs_into, |a| a.abs()),
            case!(sqrt_into, |a| a.sqrt()),
            case!(relu_into, |a| if a < 0.0 { 0.0 } else { a }),
            case!(square_into, |a| a * a),
            case!(recip_into, |a| 1.0 / a),
            case!(add_into, |a, b| a + b),
            case!(sub_into, |a, b| a - b),
            case!(mul_into, |a, b| a * b),
            case!(div_into, |a, b| a / b),
            Case::<$float> {
                name: "mul_add_into",
                inputs: 3,
                run: |exec, [a, b, c], out| ops::mul_add_into(exec, a, b, c, out),
                expected: |[a, b, c]| a.mul_add(b, c),
            },
        ]
    }};
}

/// Compares a case for one choice of layouts, written from several offsets of a cache line on.
fn check<F: Float>(exec: &Exec, case: &Case<F>, layouts: [&Layout; 3], shift: usize) {
    check_into(exec, case, layouts, &Layout::contiguous(layouts[0].shape()).unwrap(), shift);
}

/// The same with a result without gaps in any order.
fn check_into<F: Float>(
    exec: &Exec,
    case: &Case<F>,
    layouts: [&Layout; 3],
    result: &Layout,
    shift: usize,
) {
    let inputs = [0, 1, 2].map(|k| elements::<F>(layouts[k], 31 * k));
    let views = [0, 1, 2].map(|k| TensorView::new(&inputs[k], layouts[k].clone()).unwrap());
    let lists = views.each_ref().map(listed);
    let shape = layouts[0].shape();
    let numel: usize = shape.iter().product();
    let mut memory = vec![F::at(0); numel + shift + 5];
    let before = memory.clone();
    {
        let out = &mut memory[shift..];
        let mut out = TensorViewMut::new(out, result.clone()).unwrap();
        (case.run)(exec, views.each_ref(), &mut out).unwrap();
    }
    let results = listed(&TensorView::new(&memory[shift..], result.clone()).unwrap());
    for (index, &found) in results.iter().enumerate() {
        let expected = (case.expected)([0, 1, 2].map(|k| lists[k][index]));
        let what = || format!("{} of {layouts:?} at {index}, offset {shift}", case.name);
        assert!(found.is_same(expected), "{}: {found:?}, not {expected:?}", what());
    }
    let outside = (0..shift).chain(shift + numel..memory.len());
    for at in outside {
        assert!(memory[at].is_same(before[at]), "{} wrote outside at {at}", case.name);
    }
}

/// Checks every case with each of its inputs in turn as the one that is `moved`, the `others` lying
/// otherwise, on a machine of each configuration and on a tiny one.
fn check_each_moved<F: Float>(
    turn: &mut usize,
    cases: &[Case<F>],
    (moved, others): (&Layout, &[Layout; 3]),
    result: &Layout,
) {
    let configs = run_configs();
    for case in cases {
        for transposed in 0..case.inputs {
            *turn += 1;
            let turn = *turn;
            let other = |k: usize| &others[(turn + k) % others.len()];
            let mut layouts = [other(0), other(1), other(2)];
            layouts[transposed] = moved;
            configs[turn % configs.len()].run(|exec| {
                check_into(exec, case, layouts, result, turn % 17);
                check_into(&exec.with_machine(TINY), case, layouts, result, turn / 3 % 17);
            });
        }
    }
}

fn check_all<F: Float>(cases: &[Case<F>]) {
    let mut turn = 0;
    for (shape, order) in ORDERS {
        for moved in transposed(shape, order) {
            let result = Layout::contiguous(moved.shape()).unwrap();
            check_each_moved(&mut turn, cases, (&moved, &others(moved.shape())), &result);
        }
    }
}

#[test]
fn transposed_operands_of_f32() {
    check_all::<f32>(&cases!(f32));
}

#[test]
fn transposed_operands_of_f64() {
    check_all::<f64>(&cases!(f64));
}

/// Several operands that lie alike are transposed together.
fn check_alike<F: Float>(cases: &[Case<F>]) {
    let configs = run_configs();
    let mut turn = 0;
    for (shape, order) in ORDERS {
        for moved in transposed(shape, order) {
            let others = others(moved.shape());
            for case in cases.iter().filter(|case| case.inputs > 1) {
                for other in 0..=case.inputs {
                    turn += 1;
                    // All inputs, or all but one.
                    let mut layouts = [&moved; 3];
                    if let Some(layout) = layouts[..case.inputs].get_mut(other) {
                        *layout = &others[turn % others.len()];
                    }
                    configs[turn % configs.len()].run(|exec| {
                        check(exec, case, layouts, turn % 17);
                        check(&exec.with_machine(TINY), case, layouts, turn / 3 % 17);
                    });
                }
            }
        }
    }
}

#[test]
fn operands_of_f32_that_are_transposed_alike() {
    check_alike::<f32>(&cases!(f32));
}

#[test]
fn operands_of_f64_that_are_transposed_alike() {
    check_alike::<f64>(&cases!(f64));
}

/// Short dimensions that descend in all operands are adjacent elements in each: these are moved
/// together, but they are not one number.
fn check_descending<F: Float>(cases: &[Case<F>]) {
    let shapes: [&[usize]; 6] =
        [&[4, 4, 2], &[64, 64, 2], &[64, 64, 4], &[33, 40, 2], &[5, 31, 30, 2], &[40, 33, 3]];
    let mut turn = 0;
    for shape in shapes {
        let last = shape.len() as isize - 1;
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.swap(0, 1);
        let moved = Layout::contiguous(shape).unwrap().permute(&order).unwrap();
        let result = Layout::contiguous(moved.shape()).unwrap();
        for flips in [[true, true], [true, false], [false, true], [false, false]] {
            let flipped = |layout: &Layout, flips: bool| match flips {
                true => layout.flip([last]).unwrap(),
                false => layout.clone(),
            };
            let (moved, result) = (flipped(&moved, flips[0]), flipped(&result, flips[1]));
            let others = others(moved.shape()).map(|other| flipped(&other, flips[1]));
            check_each_moved(&mut turn, cases, (&moved, &others), &result);
        }
    }
}

#[test]
fn dimensions_of_f32_that_descend_in_operand_and_result() {
    check_descending::<f32>(&cases!(f32));
}

#[test]
fn dimensions_of_f64_that_descend_in_operand_and_result() {
    check_descending::<f64>(&cases!(f64));
}

/// Tiles overlap: what was computed in place must not be computed again.
#[test]
fn a_result_that_is_an_operand_is_computed_once() {
    for (shape, order) in ORDERS {
        for moved in transposed(shape, order) {
            for config in run_configs() {
                let numel: usize = moved.shape().iter().product();
                let memory = elements::<f32>(&moved, 3);
                let summand = TensorView::new(&memory, moved.clone()).unwrap();
                let before: Vec<f32> = (0..numel).map(f32::at).collect();
                let mut result = before.clone();
                let layout = Layout::contiguous(moved.shape()).unwrap();
                let mut out = TensorViewMut::new(&mut result, layout).unwrap();
                config.run(|exec| ops::add_inplace(exec, &mut out, &summand)).unwrap();
                for ((found, a), b) in result.into_iter().zip(before).zip(listed(&summand)) {
                    assert!(found.is_same(a + b), "{moved:?}, {config}: {found}, not {}", a + b);
                }
            }
        }
    }
}
