//! Runs an operation in all its forms on operands with different layouts.

use std::fmt::Debug;

use tensor_kernels::{Element, Exec, Result, Slice, Tensor, TensorExt, TensorMutExt};

/// Elements that are compared bit for bit, where all NaNs are equal.
pub(crate) trait Same: Element + Debug {
    fn same(self, other: Self) -> bool;
}

macro_rules! same_by_value {
    ($($type:ty),*) => {$(
        impl Same for $type {
            fn same(self, other: Self) -> bool { self == other }
        }
    )*};
}

same_by_value!(bool, u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! same_by_bits {
    ($($type:ty),*) => {$(
        impl Same for $type {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

same_by_bits!(f32, f64);
#[cfg(feature = "half")]
same_by_bits!(half::f16, half::bf16);

/// Complex numbers are compared up to rounding.
#[cfg(feature = "complex")]
impl Same for num_complex::Complex<f64> {
    fn same(self, other: Self) -> bool {
        self == other
            || (self - other).norm() <= 1e-14 * other.norm()
            || (self.is_nan() && other.is_nan())
    }
}

pub(crate) type Into1<A, R> = fn(&Exec, &Tensor<A>, &Tensor<R>) -> Result<()>;
pub(crate) type Into2<A, R> = fn(&Exec, &Tensor<A>, &Tensor<A>, &Tensor<R>) -> Result<()>;
pub(crate) type Into3<A, R> =
    fn(&Exec, &Tensor<A>, &Tensor<A>, &Tensor<A>, &Tensor<R>) -> Result<()>;

/// The shape of operands: rows of several registers and a remainder.
const SHAPE: [usize; 2] = [9, 77];

/// The same elements in logical order with another layout: 0 contiguous, 1 transposed, 2 with
/// negative steps, 3 one row that is broadcast, 4 one column.
fn arranged<T: Element>(elements: &Tensor<T>, layout: usize) -> Tensor<T> {
    let filled = |tensor: &Tensor<T>| {
        tensor.copy_from(elements).unwrap();
        tensor.clone()
    };
    let any = elements.get(&[0, 0]).unwrap();
    match layout {
        0 => elements.clone(),
        1 => filled(&Tensor::full([SHAPE[1], SHAPE[0]], any).unwrap().t().unwrap()),
        2 => {
            let wide = Tensor::full([SHAPE[0], 2 * SHAPE[1]], any).unwrap();
            filled(&wide.slice(1, Slice::new(None, None, -2)).unwrap())
        }
        3 => elements.narrow(0, 0, 1).unwrap(),
        4 => elements.narrow(1, 3, 1).unwrap(),
        _ => unreachable!("there are five layouts"),
    }
}

/// The layouts of two operands, as numbered by [`arranged`].
const LAYOUTS: [(usize, usize); 6] = [(0, 0), (0, 1), (1, 2), (2, 3), (4, 0), (3, 4)];

pub(crate) fn execs() -> Vec<Exec> {
    let serial = |level| Exec::current().unwrap().with_simd(level).unwrap().serial();
    crate::common::levels().into_iter().map(serial).collect()
}

/// Three operands of the elements of a table, in all pairs.
pub(crate) fn operands<T: Element>(table: &[T]) -> [Tensor<T>; 3] {
    let (n, numel) = (table.len(), SHAPE[0] * SHAPE[1]);
    let of = |at: &dyn Fn(usize) -> usize| {
        Tensor::from_vec((0..numel).map(|i| table[at(i) % n]).collect(), SHAPE).unwrap()
    };
    [of(&|i| i), of(&|i| i / n + i), of(&|i| i / 5 + 3 * i)]
}

#[track_caller]
fn compare<R: Same>(what: &str, got: &Tensor<R>, expected: &[R]) {
    for (i, (got, expected)) in got.to_vec().unwrap().into_iter().zip(expected).enumerate() {
        assert!(got.same(*expected), "{what}, element {i}: {got:?}, not {expected:?}");
    }
}

/// A result in column-major order.
fn column_major<R: Same>(value: R, shape: &[usize]) -> Tensor<R> {
    let transposed: Vec<usize> = shape.iter().rev().copied().collect();
    Tensor::full(&transposed, value).unwrap().t().unwrap()
}

fn broadcast<T: Element>(x: &Tensor<T>, shape: &[usize]) -> Vec<T> {
    x.broadcast_to(shape).unwrap().to_vec().unwrap()
}

// The functions `check_…` are compiled once for each element type, not for each operation.

pub(crate) fn unary<A: Same, R: Same>(
    name: &str,
    table: &[A],
    run: Into1<A, R>,
    oracle: impl Fn(A) -> R,
) {
    check_unary(name, table, run, &oracle);
}

fn check_unary<A: Same, R: Same>(
    name: &str,
    table: &[A],
    run: Into1<A, R>,
    oracle: &dyn Fn(A) -> R,
) {
    let [a, ..] = operands(table);
    for layout in 0..5 {
        let a = arranged(&a, layout);
        let expected: Vec<R> = a.to_vec().unwrap().into_iter().map(oracle).collect();
        let out = column_major(expected[0], a.shape());
        for exec in execs() {
            run(&exec, &a, &out).unwrap();
            compare(&format!("{name}, layout {layout}, {}", exec.simd()), &out, &expected);
        }
    }
}

pub(crate) fn binary<A: Same, R: Same>(
    name: &str,
    table: &[A],
    run: Into2<A, R>,
    oracle: impl Fn(A, A) -> R,
) {
    binary_of(name, operands(table), run, oracle);
}

pub(crate) fn binary_of<A: Same, R: Same>(
    name: &str,
    operands: [Tensor<A>; 3],
    run: Into2<A, R>,
    oracle: impl Fn(A, A) -> R,
) {
    check_binary_of(name, operands, run, &oracle);
}

fn check_binary_of<A: Same, R: Same>(
    name: &str,
    [a, b, _]: [Tensor<A>; 3],
    run: Into2<A, R>,
    oracle: &dyn Fn(A, A) -> R,
) {
    for (layout, other) in LAYOUTS {
        let (a, b) = (arranged(&a, layout), arranged(&b, other));
        let shape = tensor_kernels::broadcast_shapes(&[a.shape(), b.shape()]).unwrap();
        let pairs = broadcast(&a, &shape).into_iter().zip(broadcast(&b, &shape));
        let expected: Vec<R> = pairs.map(|(a, b)| oracle(a, b)).collect();
        let out = column_major(expected[0], &shape);
        for exec in execs() {
            run(&exec, &a, &b, &out).unwrap();
            compare(
                &format!(
                    "{name}, layouts {layout} and {other}, \
                 {}",
                    exec.simd()
                ),
                &out,
                &expected,
            );
        }
    }
}

/// The result overwrites the first operand, and then the second.
pub(crate) fn in_place<T: Same>(
    name: &str,
    operands: [Tensor<T>; 3],
    run: Into2<T, T>,
    oracle: impl Fn(T, T) -> T,
) {
    check_in_place(name, operands, run, &oracle);
}

fn check_in_place<T: Same>(
    name: &str,
    [a, b, _]: [Tensor<T>; 3],
    run: Into2<T, T>,
    oracle: &dyn Fn(T, T) -> T,
) {
    for layout in 0..3 {
        let pairs = a.to_vec().unwrap().into_iter().zip(b.to_vec().unwrap());
        let expected: Vec<T> = pairs.map(|(a, b)| oracle(a, b)).collect();
        for exec in execs() {
            let what = format!("{name} in place, layout {layout}, {}", exec.simd());
            let x = arranged(&a.deep_clone().unwrap(), layout);
            run(&exec, &x, &b, &x).unwrap();
            compare(&what, &x, &expected);
            let y = arranged(&b.deep_clone().unwrap(), layout);
            run(&exec, &a, &y, &y).unwrap();
            compare(&what, &y, &expected);
        }
    }
}

pub(crate) fn ternary<A: Same, R: Same>(
    name: &str,
    table: &[A],
    run: Into3<A, R>,
    oracle: impl Fn(A, A, A) -> R,
) {
    check_ternary(name, table, run, &oracle);
}

fn check_ternary<A: Same, R: Same>(
    name: &str,
    table: &[A],
    run: Into3<A, R>,
    oracle: &dyn Fn(A, A, A) -> R,
) {
    let [a, b, c] = operands(table);
    for (layout, other, third) in [(0, 0, 0), (1, 0, 3), (2, 4, 1)] {
        let (a, b, c) = (arranged(&a, layout), arranged(&b, other), arranged(&c, third));
        let (x, y, z) = (broadcast(&a, &SHAPE), broadcast(&b, &SHAPE), broadcast(&c, &SHAPE));
        let expected: Vec<R> =
            x.iter().zip(&y).zip(&z).map(|((&a, &b), &c)| oracle(a, b, c)).collect();
        let out = column_major(expected[0], &SHAPE);
        for exec in execs() {
            run(&exec, &a, &b, &c, &out).unwrap();
            compare(
                &format!("{name}, layouts {layout}, {other}, {third}, {}", exec.simd()),
                &out,
                &expected,
            );
        }
    }
}
