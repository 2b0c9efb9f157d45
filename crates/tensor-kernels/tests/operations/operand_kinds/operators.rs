//! Operators of tensors, views and values in any mixture, and their named forms.

use std::ops::{Add as _, Neg as _, Sub as _};

use tensor_kernels::{
    Element, Error, Layout, Scalar, Tensor, TensorExt, TensorView, TensorViewMut, TensorViewMutExt,
    tensor as tensor_of,
};

use super::kinds::{SHAPE, tensor};

const A: [i32; 6] = [5, 3, 8, 1, 9, 2];

fn elements<T: Element>(x: &Tensor<T>) -> Vec<T> {
    x.to_vec().unwrap()
}

fn sum_of<T: Scalar>(sums: impl IntoIterator<Item = Tensor<T>>, expected: &[T]) {
    for sum in sums {
        assert_eq!(elements(&sum), expected);
    }
}

#[test]
fn every_pair_of_kinds() {
    let (tensor, mut numbers) = (tensor(A), A);
    let guard = tensor.read().unwrap();
    let view = guard.as_view();
    let v = || view.clone();
    let t = || tensor.clone();
    let layout = Layout::contiguous(SHAPE).unwrap();
    let mut m = TensorViewMut::new(&mut numbers, layout).unwrap();
    let twice = A.map(|a| 2 * a);
    sum_of([&tensor + &view, &tensor + v(), t() + &view, t() + v()], &twice);
    sum_of([&view + &tensor, &view + t(), v() + &tensor, v() + t()], &twice);
    sum_of([&view + &view, &view + v(), v() + &view, v() + v()], &twice);
    sum_of([&view + &m, &m + &view, &m + &tensor, &tensor + &m, &m + &m], &twice);
    sum_of([&view * 2, v() * 2, 2 * &view, 2 * v(), &m * 2, 2 * &m, m.reborrow() * 2], &twice);
    let minus = A.map(|a| -a);
    sum_of([-&view, -v(), -&m, -m.reborrow(), -&tensor], &minus);
    sum_of([!&view + 1, !&m + 1], &minus);
}

#[test]
fn every_operator_of_views() {
    let (a, b) = (tensor_of![12, 7], tensor_of![2, 3]);
    let (a, b) = (a.read().unwrap(), b.read().unwrap());
    let (a, b) = (&a.as_view(), &b.as_view());
    let results = [a + b, a - b, a * b, a % b, a & b, a | b, a ^ b, a << b, a >> b];
    let expected =
        [[14, 10], [10, 4], [24, 21], [0, 1], [0, 3], [14, 7], [14, 4], [48, 56], [3, 0]];
    for (result, expected) in results.iter().zip(expected) {
        assert_eq!(elements(result), expected);
    }
    assert_eq!(elements(&(a / b)), [6.0f32, 7.0 / 3.0]);
}

#[test]
fn assignments_to_mutable_views() {
    let mut numbers = A;
    let layout = Layout::contiguous(SHAPE).unwrap();
    let mut x = TensorViewMut::new(&mut numbers, layout).unwrap();
    let b = tensor(A);
    x += &b;
    x += &b.read().unwrap().as_view();
    x *= 2;
    x -= b;
    assert_eq!(numbers, A.map(|a| 5 * a));
}

#[test]
fn fault_operators_of_views_panic_at_their_line_and_methods_return() {
    let (a, b) = (tensor_of![1, 2], tensor_of![1, 2, 3]);
    let (a, b) = (a.read().unwrap(), b.read().unwrap());
    let (a, b) = (a.as_view(), b.as_view());
    assert!(matches!(a.try_add(&b), Err(Error::Broadcast { .. })));
    let result = std::panic::catch_unwind(|| &a + &b);
    assert!(result.is_err());
}

/// With the traits of `std::ops` in scope, `x.add(y)` is theirs.
#[test]
fn named_forms_that_std_does_not_shadow() {
    let x = tensor_of![6, 7];
    let std_sum: Tensor<i32> = x.clone().add(&x);
    let sum: Result<Tensor<i32>, Error> = x.try_add(&x);
    assert_eq!(elements(&std_sum), elements(&sum.unwrap()));
    let difference = x.clone().sub(1);
    assert_eq!(elements(&difference), elements(&x.try_sub(1).unwrap()));
    assert_eq!(elements(&x.clone().neg()), elements(&x.try_neg().unwrap()));
    assert_eq!(elements(&x.try_mul(2).unwrap()), [12, 14]);
    assert_eq!(elements(&x.try_rem(4).unwrap()), [2, 3]);
    assert_eq!(elements(&x.try_shl(1).unwrap()), [12, 14]);
    assert_eq!(elements(&x.try_shr(1).unwrap()), [3, 3]);
    assert_eq!(elements(&x.try_div(2).unwrap()), [3.0, 3.5]);
}

#[test]
fn a_mutable_view_behind_a_reference_is_written_more_than_once() {
    fn shift(x: &mut TensorViewMut<'_, f32>, by: &TensorView<'_, f32>) -> Result<(), Error> {
        x.add_inplace(by)?;
        x.mul_inplace(2.0)?;
        *x += by;
        Ok(())
    }
    let mut numbers = [1.0, 2.0];
    let by = tensor_of![1.0f32, 0.5];
    let mut x = TensorViewMut::new(&mut numbers, Layout::contiguous([2]).unwrap()).unwrap();
    shift(&mut x, &by.read().unwrap().as_view()).unwrap();
    assert_eq!(numbers, [5.0, 5.5]);
}

/// What `reshape` and `rearrange` return is used as what it holds.
#[test]
fn reshaped_tensors_and_views_have_the_operators_of_what_they_hold() {
    let x = tensor(A);
    let (flat, columns) = (x.reshape([6]).unwrap(), x.t().unwrap().reshape([6]).unwrap());
    let guard = x.read().unwrap();
    let (view, copy) = (guard.as_view(), guard.as_view().t().unwrap());
    let (view, copy) = (view.reshape([6]).unwrap(), copy.reshape([6]).unwrap());
    assert!(!flat.copied() && columns.copied() && !view.copied() && copy.copied());
    let twice = A.map(|a| 2 * a);
    sum_of([&flat + &flat, &flat + &view, &view + &flat, &flat * 2, &view * 2], &twice);
    sum_of([flat.clone() + &*flat, view.clone() + &view], &twice);
    sum_of([-&flat, -flat.clone(), -&view], &A.map(|a| -a));
    sum_of([!&flat - 1, !&view - 1], &A.map(|a| !a - 1));
    let sum: Vec<_> = elements(&columns).iter().map(|a| a + 1).collect();
    sum_of([&columns + 1, &copy + 1], &sum);
    assert_eq!(flat, *flat);
    assert_eq!(*flat, flat);
    assert_eq!(view, *flat);
    assert_eq!(*flat, view);
    assert!(flat != columns && view != copy && flat == flat.clone() && view == view.clone());
    assert_eq!((&flat).into_iter().collect::<Vec<_>>(), A);
    drop(guard);
    Tensor::full([6], 7).unwrap().neg_into(&flat).unwrap();
    assert_eq!(elements(&x), [-7; 6]);
}
