//! Reductions, and the operations along rows.

use tensor_kernels::{
    Error, Exec, Layout, Reduction, Tensor, TensorExt, TensorViewMut, Tolerance, ops, reduce,
};

use super::kinds::tensor;

const FLOATS: [f32; 6] = [0.5, 1.5, 2.25, 3.5, 4.0, 5.75];

fn exec() -> &'static Exec {
    Exec::current().unwrap()
}

macro_rules! reductions {
    ($($name:ident $into:ident $all:ident;)*) => {$(
        #[test]
        fn $name() {
            let expected = each_operand!(FLOATS, |x| ops::$name(exec(), x, 0));
            assert_eq!(each_operand!(FLOATS, |x| x.$name(0)), expected);
            let x = tensor(FLOATS);
            each_output!(expected.clone(), |out| ops::$into(exec(), &x, 0, out));
            each_output!(expected, |out| x.$into(0, out));
            let guard = x.read().unwrap();
            assert_eq!(guard.as_view().$all().unwrap(), x.$all().unwrap());
        }
    )*};
}

each_reduction! { reductions }

macro_rules! along_rows {
    ($($name:ident $into:ident($($arg:expr),*);)*) => {$(
        #[test]
        fn $name() {
            let expected = each_operand!(FLOATS, |x| ops::$name(exec(), x, $($arg),*));
            assert_eq!(each_operand!(FLOATS, |x| x.$name($($arg),*)), expected);
            let x = tensor(FLOATS);
            each_output!(expected.clone(), |out| ops::$into(exec(), &x, $($arg,)* out));
            each_output!(expected.clone(), |out| x.$into($($arg,)* out));
            let guard = x.read().unwrap();
            each_output!(expected, |out| guard.as_view().$into($($arg,)* out));
        }
    )*};
}

along_rows! {
    softmax softmax_into(1);
    log_softmax log_softmax_into(0);
    logsumexp logsumexp_into(1);
    var var_into(0, 1.0);
    std std_into(1, 0.0);
    norm norm_into(0, 2.0);
    cumsum cumsum_into(1);
}

#[test]
fn closeness() {
    let y = tensor(FLOATS);
    let tolerance = Tolerance::default();
    let close = each_operand!(FLOATS, |x| x.isclose(&y, tolerance));
    assert_eq!(each_operand!(FLOATS, |x| ops::isclose(exec(), x, &y, tolerance)), close);
    assert_eq!(close.1, [true; 6]);
    let guard = y.read().unwrap();
    assert!(guard.as_view().allclose(&y, tolerance).unwrap());
    assert!(y.allclose(guard.as_view(), tolerance).unwrap());
}

#[test]
fn patterns() {
    let pooled = each_operand!(FLOATS, |x| x.reduce("a b -> b", Reduction::Sum, &[]));
    assert_eq!(pooled.1, [4.0, 5.5, 8.0]);
    let sums = each_operand!(FLOATS, |x| x.reduce_with("a b -> b", &[], |x, over| x.sum(over)));
    assert_eq!(sums, pooled);
    let x = tensor(FLOATS);
    let guard = x.read().unwrap();
    let sums = reduce(exec(), &guard.as_view(), "a b -> b", Reduction::Sum, &[]).unwrap();
    assert_eq!(sums.to_vec().unwrap(), pooled.1);
}
