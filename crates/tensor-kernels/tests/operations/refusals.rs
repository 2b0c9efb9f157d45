//! Shapes and divisors that are refused, in PyTorch's words; nothing is written.

use tensor_kernels::{Error, Exec, Tensor, TensorExt, ops};

fn exec() -> Exec {
    *Exec::current().unwrap()
}

#[test]
fn shapes_that_do_not_broadcast() {
    let (a, b) = (Tensor::full(&[2, 3], 1).unwrap(), Tensor::full(&[4], 1).unwrap());
    let words =
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";
    let refusals = [
        a.add(&b).unwrap_err(),
        a.elem_lt(&b).unwrap_err(),
        a.mul_add(1, &b).unwrap_err(),
        a.add_inplace(&b).unwrap_err(),
        ops::add_into(&exec(), &a, &b, &a).unwrap_err(),
    ];
    for refused in refusals {
        assert!(refused.to_string().starts_with(words), "{refused}");
    }
}

#[test]
fn a_result_of_another_shape() {
    let (x, grid) = (Tensor::full(&[2], 1).unwrap(), Tensor::full(&[2, 2], 1).unwrap());
    let refused = x.add_inplace(&grid).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("output with shape [2] doesn't match the broadcast shape [2, 2]"),
        "{refused}"
    );
    assert!(matches!(ops::neg_into(&exec(), &x, &grid), Err(Error::OutputShape { .. })));
}

#[test]
fn strictly_shapes_are_equal() {
    let strict = exec().strict();
    let (a, b) = (Tensor::full(&[2, 3], 1).unwrap(), Tensor::full(&[3], 1).unwrap());
    let results = [
        ops::add(&strict, &a, &b).map(drop),
        ops::add_inplace(&strict, &a, &b),
        ops::mul_add(&strict, &a, &a, &b).map(drop),
        ops::where_cond(&strict, &b.elem_eq(1).unwrap(), &a, &a).map(drop),
    ];
    for result in results {
        assert!(matches!(result, Err(Error::ImplicitBroadcast { .. })), "{result:?}");
    }
    ops::add_inplace(&strict, &a, 1).unwrap();
    ops::add_inplace(&strict, &a, &b.expand(&[2, 3]).unwrap()).unwrap();
    assert_eq!(a, Tensor::full(&[2, 3], 3).unwrap());
}

#[test]
fn integers_divided_by_zero() {
    let a = Tensor::arange(0, 6, 1).unwrap().view(&[2, 3]).unwrap();
    let b = Tensor::from_vec(vec![1, 2, 0], &[3]).unwrap();
    let before = a.deep_clone().unwrap();
    let results = [
        a.rem(&b).map(drop),
        a.div_floor(&b).map(drop),
        a.div_trunc_inplace(&b),
        ops::rem_into(&exec(), &a, &b, &a),
    ];
    for result in results {
        let Err(Error::DivisionByZero { index, .. }) = &result else { panic!("{result:?}") };
        assert_eq!(index, &[2]);
        assert!(result.unwrap_err().to_string().starts_with("ZeroDivisionError"));
    }
    assert_eq!(a, before);
    assert!(matches!(a.rem(0), Err(Error::DivisionByZero { .. })));
    assert_eq!(a.rem(&b.maximum(1).unwrap()).unwrap().get(&[1, 1]).unwrap(), 0);
}
