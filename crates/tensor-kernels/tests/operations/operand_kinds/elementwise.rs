//! The named elementwise operations, and any function.

use tensor_kernels::{
    Error, Exec, Layout, Simd, Tensor, TensorExt, TensorMutExt, TensorViewMut, TensorViewMutExt,
    map, map_inplace, map_into, ops, zip, zip_inplace, zip_into, zip3, zip3_inplace, zip3_into,
};

use super::kinds::tensor;
use crate::named_operations::{DISTANCES, FLOATS, INTEGERS, OTHERS};

fn exec() -> &'static Exec {
    Exec::current().unwrap()
}

macro_rules! unary {
    ($($values:ident: $($name:ident $into:ident $($inplace:ident)?),*;)*) => {$($(
        #[test]
        fn $name() {
            let expected = each_operand!($values, |x| ops::$name(exec(), x));
            assert_eq!(each_operand!($values, |x| x.$name()), expected);
            let x = tensor($values);
            let view = x.read().unwrap();
            let view = view.as_view();
            each_output!(expected.clone(), |out| ops::$into(exec(), &view, out));
            each_output!(expected.clone(), |out| x.$into(out));
            each_output!(expected.clone(), |out| view.$into(out));
            $(each_in_place!(
                $values, expected, |x| ops::$inplace(exec(), x), |x| x.$inplace()
            );)?
        }
    )*)*};
}

each_unary! { unary }

macro_rules! binary {
    ($($a:ident, $b:ident:
        $($name:ident $method:ident $into:ident $($inplace:ident)?),*;)*) => {$($(
        #[test]
        fn $name() {
            let b = tensor($b);
            let expected = each_operand!($a, |a| ops::$name(exec(), a, &b));
            assert_eq!(each_operand!($a, |a| a.$method(&b)), expected);
            let a = tensor($a);
            assert_eq!(each_operand!($b, |b| ops::$name(exec(), &a, b)), expected);
            assert_eq!(each_operand!($b, |b| a.$method(b)), expected);
            let (a, b) = (a.read().unwrap(), b.read().unwrap());
            let (a, b) = (a.as_view(), b.as_view());
            each_output!(expected.clone(), |out| ops::$into(exec(), &a, &b, out));
            each_output!(expected.clone(), |out| a.$into(&b, out));
            $(each_in_place!(
                $a, expected, |x| ops::$inplace(exec(), x, &b), |x| x.$inplace(&b)
            );)?
        }
    )*)*};
}

each_binary! { binary }

macro_rules! ternary {
    ($($name:ident $into:ident $inplace:ident;)*) => {$(
        #[test]
        fn $name() {
            let (b, c) = (tensor(OTHERS), tensor(FLOATS));
            let expected = each_operand!(FLOATS, |a| ops::$name(exec(), a, &b, &c));
            assert_eq!(each_operand!(FLOATS, |a| a.$name(&b, &c)), expected);
            let a = tensor(FLOATS);
            assert_eq!(each_operand!(OTHERS, |b| a.$name(b, &c)), expected);
            assert_eq!(each_operand!(FLOATS, |c| a.$name(&b, c)), expected);
            each_output!(expected.clone(), |out| ops::$into(exec(), &a, &b, &c, out));
            each_output!(expected.clone(), |out| a.$into(&b, &c, out));
            each_in_place!(
                FLOATS, expected, |x| ops::$inplace(exec(), x, &b, &c), |x| x.$inplace(&b, &c)
            );
        }
    )*};
}

each_ternary! { ternary }

#[test]
fn where_cond() {
    let condition = [true, false, true, true, false, false];
    let (a, b) = (tensor(FLOATS), tensor(OTHERS));
    let expected = each_operand!(condition, |c| ops::where_cond(exec(), c, &a, &b));
    assert_eq!(each_operand!(condition, |c| c.where_cond(&a, &b)), expected);
    let c = tensor(condition);
    assert_eq!(each_operand!(FLOATS, |a| c.where_cond(a, &b)), expected);
    each_output!(expected.clone(), |out| ops::where_cond_into(exec(), &c, &a, &b, out));
    each_output!(expected, |out| c.where_cond_into(&a, &b, out));
}

#[test]
fn casts() {
    let expected = each_operand!(FLOATS, |x| ops::cast::<f32, i64>(exec(), x));
    assert_eq!(each_operand!(FLOATS, |x| x.cast::<i64>()), expected);
    let x = tensor(FLOATS);
    each_output!(expected.clone(), |out| ops::cast_into(exec(), &x, out));
    each_output!(expected, |out| x.cast_into(out));
}

#[test]
fn functions_of_one_element() {
    let double = |x: f32| x * 2.0;
    let expected = each_operand!(FLOATS, |x| map::<_, _, Simd>(exec(), x, double));
    assert_eq!(each_operand!(FLOATS, |x| x.map(double)), expected);
    let x = tensor(FLOATS);
    each_output!(expected.clone(), |out| map_into(exec(), &x, out, double));
    each_output!(expected.clone(), |out| x.map_into(out, double));
    each_in_place!(FLOATS, expected, |x| map_inplace(exec(), x, double), |x| x.map_inplace(double));
}

#[test]
fn functions_of_two_elements() {
    let f = |x: f32, n: i32| x + n as f32;
    let n = tensor(INTEGERS);
    let expected = each_operand!(FLOATS, |x| x.zip_map(&n, f));
    let x = tensor(FLOATS);
    assert_eq!(each_operand!(INTEGERS, |n| x.zip_map(n, f)), expected);
    let zipped = each_operand!(INTEGERS, |n| zip::<_, _, _, Simd>(exec(), &x, n, f));
    assert_eq!(zipped, expected);
    each_output!(expected.clone(), |out| zip_into(exec(), &x, &n, out, f));
    each_output!(expected.clone(), |out| x.zip_into(&n, out, f));
    each_in_place!(FLOATS, expected, |x| zip_inplace(exec(), x, &n, f), |x| x.zip_inplace(&n, f));
}

#[test]
fn functions_of_three_elements() {
    let f = |x: f32, n: i32, y: f32| x + n as f32 * y;
    let (n, y) = (tensor(INTEGERS), tensor(OTHERS));
    let expected = each_operand!(FLOATS, |x| x.zip3_map(&n, &y, f));
    let x = tensor(FLOATS);
    assert_eq!(each_operand!(INTEGERS, |n| x.zip3_map(n, &y, f)), expected);
    assert_eq!(each_operand!(OTHERS, |y| x.zip3_map(&n, y, f)), expected);
    let zipped = each_operand!(INTEGERS, |n| zip3::<_, _, _, _, Simd>(exec(), &x, n, &y, f));
    assert_eq!(zipped, expected);
    each_output!(expected.clone(), |out| zip3_into(exec(), &x, &n, &y, out, f));
    each_output!(expected.clone(), |out| x.zip3_into(&n, &y, out, f));
    each_in_place!(FLOATS, expected, |x| zip3_inplace(exec(), x, &n, &y, f), |x| x
        .zip3_inplace(&n, &y, f));
}
