//! Forms of operations: operators, assignment operators, values on either side, views.

use tensor_kernels::{
    Exec, Layout, Tensor, TensorExt, TensorMutExt, TensorView, TensorViewMut, ops,
};

fn row(values: &[f32]) -> Tensor<f32> {
    Tensor::from_slice(values, [values.len()]).unwrap()
}

fn elements<T: tensor_kernels::Element>(x: &Tensor<T>) -> Vec<T> {
    x.to_vec().unwrap()
}

#[test]
fn operators_on_tensors_borrowed_and_owned() {
    let (a, b) = (row(&[1.0, 2.0]), row(&[4.0, 8.0]));
    let (a2, b2) = (|| a.clone(), || b.clone());
    for sum in [&a + &b, a2() + &b, &a + b2(), a2() + b2()] {
        assert_eq!(elements(&sum), [5.0, 10.0]);
    }
    assert_eq!(elements(&(&b * &a - &b / &a)), [0.0, 12.0]);
    assert_eq!(elements(&(-(&a % 1.5))), [-1.0, -0.5]);
}

#[test]
fn values_on_either_side() {
    let x = row(&[1.0, 4.0]);
    assert_eq!(elements(&(&x + 1.0)), [2.0, 5.0]);
    assert_eq!(elements(&(8.0 - &x)), [7.0, 4.0]);
    assert_eq!(elements(&(2.0 / x.clone() * 3.0)), [6.0, 1.5]);
    let n = Tensor::from_vec(vec![6, 7], [2]).unwrap();
    assert_eq!(elements(&(1 << (&n - 5))), [2, 4]);
    assert_eq!(elements(&(&n & 6)), [6, 6]);
    assert_eq!(elements(&(100 % &n)), [4, 2]);
    assert_eq!(elements(&(!&n ^ -1)), [6, 7]);
    assert_eq!(
        elements(&(true ^ &Tensor::from_vec(vec![true, false], [2]).unwrap())),
        [false, true]
    );
    assert_eq!(elements(&x.pow(0.5).unwrap()), [1.0, 2.0]);
    assert_eq!(elements(&x.clamp(2.0, row(&[3.0, 3.5])).unwrap()), [2.0, 3.5]);
}

#[test]
fn assignments_change_the_storage() {
    let grid = Tensor::<i32>::zeros([2, 3]).unwrap();
    let mut column = grid.select(1, 1).unwrap();
    column += 5;
    column *= &Tensor::from_vec(vec![2, 3], [2]).unwrap();
    column -= column.clone();
    column += Tensor::from_vec(vec![7, 9], [2]).unwrap();
    column %= 5;
    column |= 8;
    column ^= 1;
    column <<= 2;
    column >>= 1;
    column &= !1;
    assert_eq!(elements(&grid), [0, (((2 | 8) ^ 1) << 1) & !1, 0, 0, (((4 | 8) ^ 1) << 1) & !1, 0]);
    let mut x = row(&[9.0, 3.0]);
    x /= 3.0;
    assert_eq!(elements(&x), [3.0, 1.0]);
}

#[test]
fn views_with_tensors() {
    let x = row(&[1.0, 2.0, 3.0]);
    let (numbers, mut results) = ([10.0, 20.0, 30.0], [1.0; 3]);
    let layout = || Layout::contiguous([3]).unwrap();
    let view = TensorView::new(&numbers, layout()).unwrap();
    assert_eq!(elements(&(&x + &view)), [11.0, 22.0, 33.0]);
    assert_eq!(elements(&(&view / &x)), [10.0; 3]);
    let mut y = x.deep_clone().unwrap();
    y += &view;
    assert_eq!(elements(&y), [11.0, 22.0, 33.0]);
    let mut out = TensorViewMut::new(&mut results, layout()).unwrap();
    out += &x;
    out *= &x + 1.0;
    let exec = Exec::current().unwrap();
    ops::sub_inplace(exec, &mut out, 1.0).unwrap();
    ops::maximum_inplace(exec, &mut out, &view).unwrap();
    assert_eq!(results, [10.0, 20.0, 30.0]);
}

#[test]
fn quotients_of_integers_are_floats() {
    let (a, b) =
        (Tensor::from_vec(vec![1, -7], [2]).unwrap(), Tensor::from_vec(vec![2, 0], [2]).unwrap());
    let quotient: Tensor<f32> = &a / &b;
    assert_eq!(elements(&quotient), [0.5, f32::NEG_INFINITY]);
    assert_eq!(elements(&a.div_floor(2).unwrap()), [0, -4]);
    assert_eq!(elements(&a.div_trunc(2).unwrap()), [0, -3]);
    assert_eq!(elements(&a.exp().unwrap())[0], 1f32.exp());
}

#[test]
fn where_cond_selects() {
    let x = row(&[1.0, -2.0, f32::NAN]);
    let positive = x.elem_gt(0.0).unwrap();
    assert_eq!(elements(&positive), [true, false, false]);
    assert_eq!(elements(&positive.where_cond(&x, 0.0).unwrap()), [1.0, 0.0, 0.0]);
    assert_eq!(elements(&x.is_nan().unwrap().where_cond(5u8, 6u8).unwrap()), [6, 6, 5]);
}

#[test]
fn results_are_laid_out_as_pytorch_does() {
    let transposed = Tensor::<f32>::zeros([3, 4]).unwrap().t().unwrap();
    assert_eq!(transposed.add(1.0).unwrap().strides(), [1, 4]);
    assert_eq!(transposed.elem_lt(&transposed).unwrap().strides(), [1, 4]);
    assert_eq!((1.0 - &transposed).strides(), [1, 4]);
}

#[test]
fn fault_empty_operands_are_not_computed() {
    let none = Tensor::<i32>::zeros([0, 3]).unwrap();
    assert_eq!(none.rem(0).unwrap().shape(), [0, 3]);
    assert_eq!((&none + &Tensor::full([1, 3], 1).unwrap()).shape(), [0, 3]);
    none.add_inplace(Tensor::full([3], 1).unwrap()).unwrap();
}

#[test]
fn operations_on_values_only() {
    let exec = Exec::current().unwrap();
    let out = Tensor::<i32>::zeros([2, 2]).unwrap();
    ops::add_into(exec, 2, 3, &out).unwrap();
    assert_eq!(elements(&out), [5; 4]);
    assert!(ops::mul(exec, 2, 3).unwrap().shape().is_empty());
}
