//! Shapes and divisors that are refused, with PyTorch's messages; nothing is written.

use std::sync::atomic::{AtomicBool, Ordering};

use tensor_kernels::{
    Element, Error, Exec, Machine, Ordered, Par, Result, Tensor, TensorExt, TensorMutExt,
    Tolerance, ops,
};

fn exec() -> Exec {
    *Exec::current().unwrap()
}

#[test]
fn fault_shapes_that_do_not_broadcast() {
    let (a, b) = (Tensor::full([2, 3], 1).unwrap(), Tensor::full([4], 1).unwrap());
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
fn fault_a_result_of_another_shape() {
    let (x, grid) = (Tensor::full([2], 1).unwrap(), Tensor::full([2, 2], 1).unwrap());
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
fn fault_without_implicit_broadcasting_shapes_must_be_equal() {
    let strict = exec().strict();
    let (a, b) = (Tensor::full([2, 3], 1).unwrap(), Tensor::full([3], 1).unwrap());
    let results = [
        ops::add(&strict, &a, &b).map(drop),
        ops::add_inplace(&strict, &a, &b),
        ops::mul_add(&strict, &a, &a, &b).map(drop),
        ops::where_cond(&strict, b.elem_eq(1).unwrap(), &a, &a).map(drop),
    ];
    for result in results {
        assert!(matches!(result, Err(Error::ImplicitBroadcast { .. })), "{result:?}");
    }
    // Few elements and many are compared in different ways.
    for rows in [2, 1000] {
        let many = Tensor::full([rows, 1000], 1.0f32).unwrap();
        let row = Tensor::full([1000], 1.0f32).unwrap();
        let result = ops::allclose(&strict, &many, &row, Tolerance::default());
        assert!(matches!(result, Err(Error::ImplicitBroadcast { .. })), "{result:?}");
        assert!(ops::allclose(&strict, &many, &many, Tolerance::default()).unwrap());
    }
    ops::add_inplace(&strict, &a, 1).unwrap();
    ops::add_inplace(&strict, &a, b.expand([2, 3]).unwrap()).unwrap();
    assert_eq!(a, Tensor::full([2, 3], 3).unwrap());
}

#[test]
fn fault_integers_divided_by_zero() {
    let a = Tensor::arange(0, 6, 1).unwrap().view([2, 3]).unwrap();
    let b = Tensor::from_vec(vec![1, 2, 0], [3]).unwrap();
    let before = a.deep_clone().unwrap();
    let results = [
        a.rem(&b).map(drop),
        a.div_floor(&b).map(drop),
        a.div_trunc_inplace(&b),
        ops::rem_into(&exec(), &a, &b, &a),
    ];
    for result in results {
        let Err(Error::DivisionByZero { op, index }) = &result else { panic!("{result:?}") };
        assert_eq!(index, &[2]);
        let text = format!("{op} of integers by zero: the divisor at index [2] is 0");
        assert_eq!(result.unwrap_err().to_string(), text);
    }
    assert_eq!(a, before);
    assert!(matches!(a.rem(0), Err(Error::DivisionByZero { .. })));
    assert_eq!(a.rem(b.maximum(1).unwrap()).unwrap().get(&[1, 1]).unwrap(), 0);
}

/// The index of the refused divisor.
#[track_caller]
fn refused_at<R>(result: Result<R>) -> Vec<usize> {
    match result {
        Err(Error::DivisionByZero { index, .. }) => index,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// A configuration that splits work as finely as possible.
fn finely_split() -> Exec {
    let mut exec = exec();
    exec.par = Par::Auto;
    exec.machine = Machine { l1: 4 << 10, grain: 64, ..Machine::REFERENCE };
    exec
}

/// The kernel searches zeros in memory order; the error names the first one in logical order.
fn first_zero<T: Element + Ordered>(one: T, zero: T) {
    let grid = |shape: &[usize]| Tensor::full(shape, one).unwrap();
    for execs in [exec(), finely_split()] {
        for (rows, columns) in [(1, 1), (3, 50), (70, 90)] {
            let dividends = grid(&[rows, columns]);
            let lying = [
                grid(&[rows, columns]),
                grid(&[columns, rows]).t().unwrap(),
                grid(&[columns, 2 * rows]).narrow(1, rows as isize, rows).unwrap().t().unwrap(),
            ];
            for divisors in lying {
                ops::rem(&execs, &dividends, &divisors).unwrap();
                let [last, first] = [[rows - 1, 0], [rows / 3, columns - 1]];
                divisors.set(&last, zero).unwrap();
                assert_eq!(refused_at(ops::div_floor(&execs, &dividends, &divisors)), last);
                divisors.set(&first, zero).unwrap();
                assert_eq!(refused_at(ops::div_trunc(&execs, &dividends, &divisors)), first);
                assert_eq!(refused_at(ops::rem_inplace(&execs, &dividends, &divisors)), first);
                // The divisors are the output too, and must not change.
                let own = ops::rem_into(&execs, &dividends, &divisors, &divisors);
                assert_eq!(refused_at(own), first);
                assert!(!divisors.get(&first).unwrap().is_nonzero());
            }
        }
    }
}

#[test]
fn fault_the_first_divisor_of_zero_is_named() {
    first_zero(3u8, 0);
    first_zero(-3i16, 0);
    first_zero(u32::MAX, 0);
    first_zero(i64::MIN, 0);
}

#[test]
fn fault_zero_divisors_without_dividends_are_accepted() {
    let (none, zeros) = (Tensor::full([0, 3], 1).unwrap(), Tensor::full([3], 0).unwrap());
    assert_eq!(none.rem(&zeros).unwrap().shape(), [0, 3]);
    assert_eq!(none.div_floor(0).unwrap().shape(), [0, 3]);
    none.div_trunc_inplace(&zeros).unwrap();
}

/// Divisors are checked and used under one borrow, so a 0 that another thread writes is either
/// detected or written after the division.
#[test]
fn fault_a_zero_that_another_thread_writes_is_refused() {
    const TIMES: usize = 100_000;
    let (a, b) = (Tensor::full([2], 7).unwrap(), Tensor::full([2], 1).unwrap());
    let (exec, done) = (exec().serial(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Fails while the other thread reads.
                let _ = b.set(&[1], 0);
                let _ = b.set(&[1], 1);
            }
        });
        let dividing = || {
            for _ in 0..TIMES {
                let results = [
                    ops::rem(&exec, &a, &b).map(drop),
                    ops::div_trunc_inplace(&exec, &a, &b),
                    ops::div_floor_into(&exec, &a, &b, &a),
                ];
                for result in results {
                    let expected = matches!(
                        result,
                        Ok(()) | Err(Error::DivisionByZero { .. } | Error::Borrowed { .. })
                    );
                    assert!(expected, "{result:?}");
                }
            }
        };
        let divided = std::panic::catch_unwind(std::panic::AssertUnwindSafe(dividing));
        done.store(true, Ordering::Relaxed);
        divided.unwrap();
    });
}
