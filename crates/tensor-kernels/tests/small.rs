//! Elementwise operations on few elements, which run without a plan on a machine with caches of
//! usual size: every order of up to five dimensions, flipped, stepped and broadcast, at every SIMD
//! level, for every width that has kernels and for one that has none.

#![cfg(feature = "reductions")]

mod common;

use common::{levels, values_of};
use tensor_kernels::{
    Element, Exec, Layout, Machine, Slice, TensorView, TensorViewMut, map_into, ops, zip_into,
    zip3_into,
};

const SHAPES: &[&[usize]] = &[
    &[1],
    &[7],
    &[5, 7],
    &[4, 4],
    &[16, 16],
    &[32, 32],
    &[2, 77],
    &[40, 20],
    &[3, 4, 25],
    &[2, 3, 4, 25],
    &[3, 5, 7],
    &[59, 5, 2],
    &[2, 9, 3, 4],
    &[9, 3, 2, 26],
    &[3, 9, 2, 26],
    &[8, 2, 8, 2],
    &[2, 3, 2, 5, 3],
    &[30, 4, 50],
    &[3, 0, 2],
];

/// Every cyclic order of the dimensions, both ways, of dense elements, flipped ones and every
/// second one; a part of each dimension; each dimension repeated; one element. Each with the number
/// of elements of its memory.
fn views(shape: &[usize]) -> Vec<(Layout, usize)> {
    let dims = shape.len();
    let mut views = Vec::new();
    for shift in 0..dims {
        for reversed in [false, true] {
            let mut order: Vec<usize> = (0..dims).map(|d| (d + shift) % dims).collect();
            if reversed {
                order.reverse();
            }
            let base: Vec<usize> = order.iter().map(|&d| shape[d]).collect();
            let back = |d| order.iter().position(|&at| at == d).unwrap() as isize;
            let back: Vec<isize> = (0..dims).map(back).collect();
            let permuted = Layout::contiguous(&base).unwrap().permute(&back).unwrap();
            let elements: usize = shape.iter().product();
            views.push((permuted.flip([shift as isize]).unwrap(), elements));
            views.push((permuted, elements));
            let wide: Vec<usize> = base.iter().map(|size| 2 * size).collect();
            let wide = Layout::contiguous(&wide).unwrap().permute(&back).unwrap();
            let stepped = (0..dims as isize)
                .try_fold(wide, |layout, d| layout.slice(d, Slice::ALL.step_by(2)))
                .unwrap();
            views.push((stepped, elements << dims));
        }
        let mut one = shape.to_vec();
        one[shift] = 1;
        let repeated = Layout::contiguous(&one).unwrap().broadcast_to(shape).unwrap();
        views.push((repeated, one.iter().product()));
    }
    let wide: Vec<usize> = shape.iter().map(|size| size + 2).collect();
    let gaps = (0..dims)
        .try_fold(Layout::contiguous(&wide).unwrap(), |all, d| all.narrow(d, 1, shape[d]))
        .unwrap();
    views.push((gaps, wide.iter().product()));
    views.push((Layout::SCALAR.broadcast_to(shape).unwrap(), 1));
    views
}

fn samples<T>(elements: usize, nth: impl Fn(usize) -> T) -> Vec<T> {
    (0..elements).map(nth).collect()
}

/// A view with its memory, and its elements in logical order.
struct Input<T> {
    layout: Layout,
    memory: Vec<T>,
    values: Vec<T>,
}

impl<T: Element> Input<T> {
    fn new((layout, elements): (Layout, usize), nth: impl Fn(usize) -> T) -> Self {
        let memory = samples(elements, nth);
        let values = values_of(&memory, &layout);
        Self { layout, memory, values }
    }

    fn view(&self) -> TensorView<'_, T> {
        TensorView::new(&self.memory, self.layout.clone()).unwrap()
    }
}

/// At every SIMD level, on a machine of usual caches and on one on which every result is larger
/// than the caches.
fn execs() -> Vec<Exec> {
    let mut execs = Vec::new();
    for stream in [Machine::REFERENCE.stream, 0] {
        for level in levels() {
            let mut exec = Exec::current().unwrap().with_simd(level).unwrap().serial();
            exec.machine = Machine { stream, ..Machine::REFERENCE };
            execs.push(exec);
        }
    }
    execs
}

/// Copies of every view, and three views at a time, to a dense result.
fn check<T: Element + PartialEq + std::fmt::Debug>(nth: fn(usize) -> T) {
    for shape in SHAPES {
        let input = |(at, view)| Input::new(view, |i| nth(i + 3 * at));
        let inputs: Vec<Input<T>> = views(shape).into_iter().enumerate().map(input).collect();
        let to = Layout::contiguous(*shape).unwrap();
        let blank = vec![nth(1); to.numel()];
        let mut out = blank.clone();
        for exec in execs() {
            for at in 0..inputs.len() {
                let three = [0, 1, 2].map(|next| &inputs[(at + next) % inputs.len()]);
                let [a, b, c] = three.map(Input::view);
                for pick in 0..4 {
                    out.copy_from_slice(&blank);
                    let mut view = TensorViewMut::new(&mut out, to.clone()).unwrap();
                    match pick {
                        0 => zip3_into(&exec, &a, &b, &c, &mut view, |a, _, _| a),
                        1 => zip3_into(&exec, &a, &b, &c, &mut view, |_, b, _| b),
                        2 => zip3_into(&exec, &a, &b, &c, &mut view, |_, _, c| c),
                        _ => map_into(&exec, &a, &mut view, |a| a),
                    }
                    .unwrap();
                    let what =
                        || format!("{exec:?}, {shape:?}, operand {pick} of {:?}", a.layout());
                    assert!(out == three[pick % 3].values, "{}", what());
                }
            }
        }
    }
}

/// Two inputs of the same strides, next to one of the same strides, of a single element, or of
/// other strides; and a result of another width.
fn check_same_strides<T: Element + PartialEq + std::fmt::Debug>(nth: fn(usize) -> T) {
    for shape in SHAPES {
        let views = views(shape);
        let inputs = |from: usize| -> Vec<Input<T>> {
            let input = |view: &(Layout, usize)| Input::new(view.clone(), |i| nth(i * 3 + from));
            views.iter().map(input).collect()
        };
        let (first, second, other) = (inputs(2), inputs(3), inputs(7));
        let one = (Layout::SCALAR.broadcast_to(*shape).unwrap(), 1);
        let one = Input::new(one, |i| nth(i + 7));
        let execs = execs();
        for (at, (a, b)) in first.iter().zip(&second).enumerate() {
            for c in [&other[at], &one, &other[(at + 1) % other.len()]] {
                execs.iter().for_each(|exec| check_three(exec, shape, [a, b, c]));
            }
        }
    }
}

fn check_three<T>(exec: &Exec, shape: &[usize], inputs: [&Input<T>; 3])
where
    T: Element + PartialEq + std::fmt::Debug,
{
    let [a, b, c] = inputs.map(Input::view);
    let values = inputs.map(|input| &input.values[..]);
    let to = Layout::contiguous(shape).unwrap();
    let mut out = values[1].to_vec();
    for (pick, expected) in values.into_iter().enumerate() {
        let mut view = TensorViewMut::new(&mut out, to.clone()).unwrap();
        let chosen = move |a, b, c| [a, b, c][pick];
        zip3_into(exec, &a, &b, &c, &mut view, chosen).unwrap();
        assert!(out == expected, "{exec:?}, operand {pick} of {:?}", a.layout());
    }
    let mut equal = vec![false; out.len()];
    let mut view = TensorViewMut::new(&mut equal, to).unwrap();
    zip3_into(exec, &a, &b, &c, &mut view, |a, b, c| a == b || b == c).unwrap();
    let [a, b, c] = values;
    let expected = (0..equal.len()).map(|at| a[at] == b[at] || b[at] == c[at]);
    assert!(equal.iter().copied().eq(expected), "{exec:?}, {:?}", inputs[0].layout);
}

/// Operations that are no closures: these are taken for such that compute much.
#[test]
fn rows_are_computed_where_they_lie() {
    for shape in SHAPES {
        let input = |(at, view)| Input::new(view, |i| (i + 3 * at) as f32);
        let rows = |(layout, _): &(Layout, usize)| {
            let row = layout.strides().last().copied();
            layout.ndim() > 1 && matches!(row, Some(0 | 1))
        };
        let inputs: Vec<_> = views(shape).into_iter().filter(rows).enumerate().map(input).collect();
        let to = Layout::contiguous(*shape).unwrap();
        for exec in execs() {
            for (a, b) in inputs.iter().flat_map(|a| inputs.iter().map(move |b| (a, b))) {
                let what = || format!("{exec:?}, {:?}, {:?}", a.layout, b.layout);
                let pairs = a.values.iter().zip(&b.values);
                let mut out = vec![0.5; to.numel()];
                let mut view = TensorViewMut::new(&mut out, to.clone()).unwrap();
                ops::sub_into(&exec, a.view(), b.view(), &mut view).unwrap();
                assert!(view.iter().zip(pairs.clone()).all(|(x, (a, b))| x == a - b), "{}", what());
                ops::add_inplace(&exec, &mut view, b.view()).unwrap();
                assert!(view.iter().zip(&a.values).all(|(x, a)| x == *a), "{}", what());
                ops::neg_into(&exec, b.view(), &mut view).unwrap();
                assert!(view.iter().zip(&b.values).all(|(x, b)| x == -b), "{}", what());
            }
        }
    }
}

macro_rules! widths {
    ($($name:ident: $nth:expr;)*) => {$(
        #[test]
        fn $name() {
            check($nth);
            check_same_strides($nth);
        }
    )*};
}

widths! {
    width_1: |i| i as u8;
    width_2: |i| i as u16;
    width_3: |i| [i as u8, 1, (i >> 3) as u8];
    width_4: |i| i as f32;
    width_8: |i| i as f64;
    width_16: |i| [i as u64, !i as u64];
}

/// A result of any dense order, of one operand in row-major order and one in any.
#[test]
fn results_in_other_orders() {
    let exec = Exec::current().unwrap().serial();
    for shape in SHAPES {
        let rows = Layout::contiguous(*shape).unwrap();
        let numbers = samples(rows.numel(), |i| i as f32);
        let a = TensorView::new(&numbers, rows.clone()).unwrap();
        let views = views(shape);
        for (at, (result, elements)) in views.iter().enumerate() {
            if !result.is_dense_signed() {
                continue;
            }
            let (other, others) = &views[(at + 3) % views.len()];
            let others = samples(*others, |i| (3 * i) as f32);
            let b = TensorView::new(&others, other.clone()).unwrap();
            let (left, right) = (values_of(&numbers, &rows), values_of(&others, other));
            let expected: Vec<f32> = left.iter().zip(right).map(|(a, b)| a - b).collect();
            let mut memory = vec![0.0f32; *elements];
            let mut out = TensorViewMut::new(&mut memory, result.clone()).unwrap();
            zip_into(&exec, &a, &b, &mut out, |a, b| a - b).unwrap();
            let found = values_of(&memory, result);
            assert_eq!(found, expected, "{result:?}, {other:?}");
        }
    }
}

/// Operands that lie alike, in any order, and a result of any width.
#[test]
fn results_of_any_width_of_operands_that_lie_alike() {
    fn check<R: Element + PartialEq + std::fmt::Debug>(value: fn(f32, f32) -> R) {
        let exec = Exec::current().unwrap().serial();
        for shape in SHAPES {
            for (layout, elements) in views(shape) {
                let [x, y] = [3.0, 5.0].map(|by| samples(elements, |i| by * i as f32));
                let [a, b] = [&x, &y].map(|x| TensorView::new(x, layout.clone()).unwrap());
                let (left, right) = (values_of(&x, &layout), values_of(&y, &layout));
                let expected: Vec<R> =
                    left.iter().zip(&right).map(|(a, b)| value(*a, *b)).collect();
                let mut found = vec![value(-1.0, -1.0); layout.numel()];
                let rows = Layout::contiguous(*shape).unwrap();
                let mut out = TensorViewMut::new(&mut found, rows).unwrap();
                zip_into(&exec, &a, &b, &mut out, value).unwrap();
                assert_eq!(found, expected, "{layout:?}");
            }
        }
    }
    check(|a, b| (a - b) as u8);
    check(|a, b| [(a - b) as u8; 3]);
    check(|a, b| a - b);
    check(|a, b| f64::from(a - b));
    check(|a, b| [a, b, a - b]);
    check(|a, b| [f64::from(a), f64::from(b)]);
    check(|a, b| [f64::from(a), f64::from(b), 1.0]);
    check(|a, b| [f64::from(a), f64::from(b), 1.0, 2.0]);
    check(|a, b| [a - b; 16]);
}

/// Operations and conversions that are computed one by one, on operands that lie alike or not.
#[test]
fn cheap_operations_and_conversions() {
    for (exec, shape) in execs().iter().flat_map(|exec| SHAPES.iter().map(move |s| (exec, *s))) {
        let views = views(shape);
        for (at, (layout, elements)) in views.iter().enumerate() {
            let x = samples(*elements, |i| i as f32 - 8.5);
            let a = TensorView::new(&x, layout.clone()).unwrap();
            let left = values_of(&x, layout);
            let converted = ops::cast::<_, f64>(exec, &a).unwrap().to_vec().unwrap();
            assert!(converted.iter().zip(&left).all(|(y, x)| *y == f64::from(*x)), "{layout:?}");
            let truncated = ops::cast::<_, i32>(exec, &a).unwrap().to_vec().unwrap();
            assert!(truncated.iter().zip(&left).all(|(y, x)| *y == *x as i32), "{layout:?}");
            for (other, elements) in [&views[at], &views[(at + 3) % views.len()]] {
                let y = samples(*elements, |i| 3.0 * i as f32);
                let b = TensorView::new(&y, other.clone()).unwrap();
                let right = values_of(&y, other);
                let found = ops::sub(exec, &a, &b).unwrap().to_vec().unwrap();
                let mut expected = left.iter().zip(&right).map(|(x, y)| x - y);
                assert!(found.iter().all(|x| Some(*x) == expected.next()), "{layout:?}, {other:?}");
                let found = ops::mul_add(exec, &a, &b, &a).unwrap().to_vec().unwrap();
                let mut expected = left.iter().zip(&right).map(|(x, y)| x.mul_add(*y, *x));
                assert!(found.iter().all(|x| Some(*x) == expected.next()), "{layout:?}, {other:?}");
            }
        }
    }
}

/// The result itself may be an operand, and may have any dense order.
#[test]
fn results_in_other_orders_and_in_place() {
    let exec = Exec::current().unwrap().serial();
    for shape in SHAPES {
        for (layout, elements) in views(shape) {
            if !layout.is_dense_signed() {
                continue;
            }
            let mut memory = samples(elements, |i| i as f32);
            let expected: Vec<f32> = values_of(&memory, &layout).iter().map(|x| x + 1.0).collect();
            let mut view = TensorViewMut::new(&mut memory, layout.clone()).unwrap();
            tensor_kernels::map_inplace(&exec, &mut view, |x| x + 1.0).unwrap();
            let after = values_of(&memory, &layout);
            assert_eq!(after, expected, "{layout:?}");
        }
    }
}
