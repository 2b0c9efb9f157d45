//! Rows of every length up to two of the widest registers and one more, at any address: the
//! remainder after the last whole register is computed, and nothing after it is written.
//!
//! `conformance` tests copies of such rows for every element width.

use tensor_kernels::{
    Accumulate, Compare, Element, Equality, Exec, Layout, Number, TensorView, TensorViewMut, ops,
    zip_into,
};

use crate::common::{levels, strided};

/// Numbers whose sums are exact in any order.
trait Small: Number + Compare + Equality + Accumulate + std::fmt::Debug {
    fn nth(n: usize) -> Self;
    fn add_wrapping(self, other: Self) -> Self;
    fn wide(self) -> f64;
}

macro_rules! small {
    ($($type:ty: |$a:ident, $b:ident| $sum:expr;)*) => {$(
        impl Small for $type {
            fn nth(n: usize) -> Self { (n * 37 % 101) as $type }
            fn add_wrapping(self, other: Self) -> Self { let ($a, $b) = (self, other); $sum }
            fn wide(self) -> f64 { self as f64 }
        }
    )*};
}

small! {
    u8: |a, b| a.wrapping_add(b);
    i16: |a, b| a.wrapping_add(b);
    u32: |a, b| a.wrapping_add(b);
    f32: |a, b| a + b;
    f64: |a, b| a + b;
    i64: |a, b| a.wrapping_add(b);
}

/// The number of elements `T` in the widest register.
const fn register_len<T>() -> usize {
    64 / size_of::<T>()
}

fn execs() -> Vec<Exec> {
    let serial = |level| Exec::current().unwrap().with_simd(level).unwrap().serial();
    levels().into_iter().map(serial).collect()
}

/// Runs `check` for every length and for every offset of operands and result within a register.
fn every_length<T: Small>(check: impl Fn(&Exec, usize, [usize; 3])) {
    let register_len = register_len::<T>();
    for exec in execs() {
        for len in 0..=2 * register_len + 1 {
            check(&exec, len, [len % register_len, len * 3 % register_len, len * 5 % register_len]);
        }
        for start in 0..register_len {
            check(
                &exec,
                register_len + 1,
                [start, (start + 1) % register_len, register_len - 1 - start],
            );
        }
    }
}

fn numbers<T: Small>(count: usize) -> Vec<T> {
    (0..count).map(T::nth).collect()
}

/// Two rows of `len` elements with a gap between them, for each of the starts.
fn layouts(len: usize, starts: [usize; 3]) -> [Layout; 3] {
    starts.map(|start| strided(&[2, len], &[len as isize + 3, 1], start))
}

fn sums<T: Small>(exec: &Exec, len: usize, starts: [usize; 3]) {
    let [a_at, b_at, to] = layouts(len, starts);
    let elements = numbers::<T>(2 * len + 3 + register_len::<T>());
    let a = TensorView::new(&elements, a_at).unwrap();
    let b = TensorView::new(&elements, b_at).unwrap();
    let blank: Vec<T> = elements.iter().rev().copied().collect();
    let mut expected = blank.clone();
    let offsets = crate::common::offsets_of(&to);
    for ((offset, a), b) in offsets.into_iter().zip(a.iter()).zip(b.iter()) {
        expected[offset] = a.add_wrapping(b);
    }
    let what = || format!("{len} from {starts:?}, {}", exec.simd());
    let mut result = blank.clone();
    let mut out = TensorViewMut::new(&mut result, to.clone()).unwrap();
    ops::add_into(exec, &a, &b, &mut out).unwrap();
    assert_eq!(result, expected, "add, {}", what());
    let mut result = blank;
    let mut out = TensorViewMut::new(&mut result, to).unwrap();
    zip_into(exec, &a, &b, &mut out, T::add_wrapping).unwrap();
    assert_eq!(result, expected, "a closure, {}", what());
}

#[test]
fn fault_every_length_of_a_row_is_computed_and_nothing_beyond() {
    every_length::<u8>(sums::<u8>);
    every_length::<i16>(sums::<i16>);
    every_length::<f32>(sums::<f32>);
    every_length::<f64>(sums::<f64>);
}

/// The result is an input: an element at the end of a row must not be computed twice.
fn added_in_place<T: Small>(exec: &Exec, len: usize, [start, other, _]: [usize; 3]) {
    let [rows, added] =
        [start, other].map(|start| strided(&[3, len], &[len as isize + 3, 1], start));
    let mut elements = numbers::<T>(3 * (len + 3) + register_len::<T>());
    let more: Vec<T> = elements.iter().rev().copied().collect();
    let mut expected = elements.clone();
    let offsets = [&rows, &added].map(crate::common::offsets_of);
    for (&to, &from) in offsets[0].iter().zip(&offsets[1]) {
        expected[to] = elements[to].add_wrapping(more[from]);
    }
    let mut out = TensorViewMut::new(&mut elements, rows).unwrap();
    ops::add_inplace(exec, &mut out, TensorView::new(&more, added).unwrap()).unwrap();
    assert_eq!(elements, expected, "{len} from {start} and {other}, {}", exec.simd());
}

#[test]
fn fault_every_length_of_a_row_is_computed_in_place() {
    every_length::<u8>(added_in_place::<u8>);
    every_length::<i16>(added_in_place::<i16>);
    every_length::<f32>(added_in_place::<f32>);
    every_length::<f64>(added_in_place::<f64>);
}

/// Conversions to wider and narrower elements, of which a register holds fewer or more.
#[test]
fn fault_every_length_of_a_row_is_converted() {
    every_length::<u8>(|exec, len, [start, other, _]| {
        let bytes = numbers::<u8>(start + len);
        let from = TensorView::new(&bytes, strided(&[len], &[1], start)).unwrap();
        let mut wide = vec![-1.0f32; other + len + 2];
        let mut out = TensorViewMut::new(&mut wide, strided(&[len], &[1], other)).unwrap();
        ops::cast_into(exec, &from, &mut out).unwrap();
        assert!(wide[other..].iter().zip(&bytes[start..]).all(|(&w, &b)| w == f32::from(b)));
        assert!(wide[..other].iter().chain(&wide[other + len..]).all(|&x| x == -1.0));
        let mut back = vec![200u8; start + len + 2];
        let from = TensorView::new(&wide, strided(&[len], &[1], other)).unwrap();
        let mut out = TensorViewMut::new(&mut back, strided(&[len], &[1], start)).unwrap();
        ops::cast_into(exec, &from, &mut out).unwrap();
        assert_eq!(back[start..start + len], bytes[start..]);
        assert!(back[..start].iter().chain(&back[start + len..]).all(|&x| x == 200));
    });
}

/// The index of the largest element, the first one of equals.
fn first_greatest<T: Small>(row: &[T]) -> i64 {
    let greatest = row.iter().map(|x| x.wide()).fold(f64::NEG_INFINITY, f64::max);
    row.iter().position(|x| x.wide() == greatest).unwrap() as i64
}

/// Reductions of rows with the largest element at each index in turn, in the remainder too.
fn reductions<T: Small>(exec: &Exec, len: usize, [start, at, _]: [usize; 3])
where
    T::Sum: Wide,
{
    let mut row = numbers::<T>(start + len);
    if let Some(last) = len.checked_sub(1) {
        row[start + last - at.min(last)] = T::nth(30).add_wrapping(T::nth(30));
    }
    let view = TensorView::new(&row, strided(&[len], &[1], start)).unwrap();
    let what = || format!("{len} from {start}, {}", exec.simd());
    let sum: f64 = row[start..].iter().map(|x| x.wide()).sum();
    assert_eq!(ops::sum_all(exec, &view).unwrap().wide_sum(), sum, "{}", what());
    if len > 0 {
        let greatest = first_greatest(&row[start..]);
        assert_eq!(ops::argmax_all(exec, &view).unwrap(), greatest, "{}", what());
        let most = ops::max_all(exec, &view).unwrap();
        assert_eq!(most.wide(), row[start + greatest as usize].wide(), "{}", what());
    }
}

/// The type of a sum, which is wider than that of the elements.
trait Wide: Element {
    fn wide_sum(self) -> f64;
}

impl Wide for i64 {
    fn wide_sum(self) -> f64 {
        self as f64
    }
}

impl Wide for f32 {
    fn wide_sum(self) -> f64 {
        self.into()
    }
}

impl Wide for f64 {
    fn wide_sum(self) -> f64 {
        self
    }
}

#[test]
fn fault_every_length_of_a_row_is_reduced() {
    every_length::<u8>(reductions::<u8>);
    every_length::<i16>(reductions::<i16>);
    every_length::<u32>(reductions::<u32>);
    every_length::<f32>(reductions::<f32>);
    every_length::<f64>(reductions::<f64>);
    every_length::<i64>(reductions::<i64>);
}
