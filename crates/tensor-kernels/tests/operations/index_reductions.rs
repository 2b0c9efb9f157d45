//! argmin and argmax beside a search through the elements of each result in row-major order.
//!
//! The kernels read elements in the order of memory, several rows as one where they can, and skip
//! what cannot win. So orders of dimensions, flips, few distinct keys and long rows of one key
//! matter: each decides where the smallest index of the best key lies in memory.

use tensor_kernels::{Compare, Exec, Layout, Machine, TensorView, ops};

use super::common::run_configs;

/// Sizes in memory, from the outermost dimension on.
const SHAPES: [&[usize]; 16] = [
    &[700],
    &[9000],
    &[300, 5],
    &[5, 300],
    &[12, 130],
    &[3, 1200],
    &[40, 64],
    &[130, 17],
    &[300, 70],
    &[20, 7, 9],
    &[6, 4, 100],
    &[2, 300, 3],
    &[3, 150, 20],
    &[40, 2, 33],
    &[4, 3, 5, 30],
    &[3, 20, 2, 8],
];

const TINY: Machine = Machine { l1: 1 << 9, l2: 1 << 11, grain: 1 << 9, ..Machine::REFERENCE };

fn is_nan<T: Compare>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Every order of the dimensions.
fn orders(dims: usize) -> Vec<Vec<usize>> {
    if dims == 0 {
        return vec![Vec::new()];
    }
    let with_last = |order: Vec<usize>| {
        (0..dims).map(move |at| {
            let mut order = order.clone();
            order.insert(at, dims - 1);
            order
        })
    };
    orders(dims - 1).into_iter().flat_map(with_last).collect()
}

/// The index of the first element that no other precedes, for each result.
fn searched<T: Compare>(
    elements: &[T],
    shape: &[usize],
    is_reduced: &[bool],
    precedes: fn(T, T) -> bool,
) -> Vec<i64> {
    let results = shape.iter().zip(is_reduced).filter(|(_, reduced)| !**reduced);
    let mut best: Vec<Option<(T, i64)>> = vec![None; results.map(|(size, _)| size).product()];
    let mut seen = vec![0i64; best.len()];
    for (at, &element) in elements.iter().enumerate() {
        let (mut rest, mut result, mut step) = (at, 0, 1);
        for (&size, reduced) in shape.iter().zip(is_reduced).rev() {
            if !reduced {
                result += rest % size * step;
                step *= size;
            }
            rest /= size;
        }
        if best[result].is_none_or(|(before, _)| precedes(element, before)) {
            best[result] = Some((element, seen[result]));
        }
        seen[result] += 1;
    }
    best.into_iter().map(|best| best.expect("an element").1).collect()
}

fn check<T: Compare>(exec: &Exec, memory: &[T], layout: &Layout, dims: &[usize]) {
    let view = TensorView::new(memory, layout.clone()).unwrap();
    let elements: Vec<T> = view.iter().collect();
    let is_reduced: Vec<bool> = (0..layout.ndim()).map(|d| dims.contains(&d)).collect();
    let over: Vec<isize> = dims.iter().map(|&d| d as isize).collect();
    let less = |a: T, b: T| a < b || is_nan(a) && !is_nan(b);
    let greater = |a: T, b: T| a > b || is_nan(a) && !is_nan(b);
    let found = ops::argmin(exec, &view, &over[..]).unwrap().to_vec().unwrap();
    let expected = searched(&elements, layout.shape(), &is_reduced, less);
    assert_eq!(found, expected, "argmin of {layout:?} over {dims:?}");
    let found = ops::argmax(exec, &view, &over[..]).unwrap().to_vec().unwrap();
    let expected = searched(&elements, layout.shape(), &is_reduced, greater);
    assert_eq!(found, expected, "argmax of {layout:?} over {dims:?}");
}

/// Values made of pseudorandom numbers below `2^24`, or of one number.
fn check_all<T: Compare>(value: fn(usize) -> T) {
    let configs = run_configs();
    let mut turn = 0usize;
    for shape in SHAPES {
        let numel: usize = shape.iter().product();
        let mixed = |n: usize| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let random: Vec<T> = (0..numel).map(|n| value(mixed(n + 7))).collect();
        let constant = vec![value(5); numel];
        for order in orders(shape.len()) {
            for subset in 1..1usize << shape.len() {
                turn += 1;
                let dims: Vec<usize> =
                    (0..shape.len()).filter(|d| (subset >> d) & 1 == 1).collect();
                let flips: Vec<isize> =
                    (0..shape.len() as isize).filter(|d| ((turn / 2) >> d) & 1 == 1).collect();
                let layout = Layout::contiguous(shape).unwrap();
                let layout = layout.permute(&order[..]).unwrap().flip(&flips[..]).unwrap();
                configs[turn % configs.len()].run(|exec| {
                    check(exec, &random, &layout, &dims);
                    check(exec, &constant, &layout, &dims);
                    check(&exec.with_machine(TINY), &random, &layout, &dims);
                });
            }
        }
    }
}

#[test]
fn indices_of_few_distinct_bytes() {
    check_all::<u8>(|n| (n % 3) as u8);
}

#[test]
fn indices_of_bools() {
    check_all::<bool>(|n| n.is_multiple_of(100));
}

#[test]
fn indices_of_bytes() {
    check_all::<u8>(|n| n as u8);
}

#[test]
fn indices_of_i16() {
    check_all::<i16>(|n| n as i16);
}

/// NaN, zeros of both signs, infinities, and few others.
fn special(n: usize) -> f32 {
    match n % 40 {
        0 => 0.0,
        1 => -0.0,
        2 if n.is_multiple_of(7) => f32::NAN,
        3 if n.is_multiple_of(5) => f32::INFINITY,
        4 if n.is_multiple_of(5) => f32::NEG_INFINITY,
        few if n.is_multiple_of(2) => few as f32,
        _ => n as f32 / 64.0,
    }
}

#[test]
fn indices_of_f32() {
    check_all::<f32>(special);
}

#[test]
fn indices_of_f64() {
    check_all::<f64>(|n| special(n).into());
}

#[cfg(feature = "half")]
#[test]
fn indices_of_halves() {
    check_all::<half::f16>(|n| half::f16::from_f32(special(n)));
}

/// All values of a float are the first or the last of the order.
#[test]
fn indices_of_one_extreme_value() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for len in [1, 7, 63, 64, 200, 3000] {
            let x = tensor_kernels::Tensor::full([len], value).unwrap();
            assert_eq!(ops::argmax_all(Exec::current().unwrap(), &x), Ok(0), "{value} {len}");
            assert_eq!(ops::argmin_all(Exec::current().unwrap(), &x), Ok(0), "{value} {len}");
        }
    }
}
