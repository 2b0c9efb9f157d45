//! Arguments that no caller should pass: an error that says what is wrong, never a panic.

use tensor_kernels::{
    Error, Exec, MovementError, PadMode, Result, Tensor, TensorExt, TensorMutExt, Tolerance, ops,
    tensor,
};

const HUGE: isize = isize::MAX;

fn x() -> Tensor<i64> {
    Tensor::arange(0, 6, 1).unwrap().view([2, 3]).unwrap()
}

/// The text of the refusal.
fn refused<T>(result: Result<T>) -> String {
    result.err().expect("a refusal").to_string()
}

#[test]
fn indices_out_of_range_are_named_with_their_position() {
    let index: Tensor<i64> = tensor![0, 1, 3, -9];
    let text = refused(x().index_select(1, &index));
    assert_eq!(
        text,
        "index out of range in self: 3 of dimension 1 (3) [index_select: at position 2 of the \
         indices]"
    );
    assert!(refused(x().index_select(0, tensor![-1i64])).contains("index out of range in self"));
    assert!(
        refused(x().take(tensor![-7i64]))
            .starts_with("out of range: tried to access index -7 on a tensor of 6 elements.")
    );
    for index in [i64::MIN, i64::MAX, -1, 3] {
        let index = Tensor::full([1, 1], index).unwrap();
        assert!(refused(x().gather(1, &index)).contains("out of bounds for dimension 1"));
        assert!(refused(x().scatter(1, &index, 0)).contains("out of bounds for dimension 1"));
    }
    assert!(refused(x().take_along_dim(tensor![[-4i64]], 1)).contains("index -4 is out of"));
}

#[test]
fn scatter_that_is_refused_writes_nothing() {
    let x = x();
    let index: Tensor<i64> = tensor![[0, 1, 9]];
    assert!(x.scatter_inplace(1, &index, 77).is_err());
    assert_eq!(x.to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn shapes_that_do_not_fit() {
    let x = x();
    let is = |result: Result<Tensor<i64>>, expected: fn(&MovementError) -> bool| match result {
        Err(Error::Movement(why)) => assert!(expected(&why), "{why}"),
        other => panic!("{other:?}"),
    };
    let index: Tensor<i64> = tensor![[[0]]];
    is(x.gather(0, &index), |why| matches!(why, MovementError::IndexRank { .. }));
    is(x.index_select(0, &index), |why| matches!(why, MovementError::NotAVector { .. }));
    let wide = Tensor::full([1, 4], 0i64).unwrap();
    is(x.gather(0, &wide), |why| matches!(why, MovementError::GatherSizes { differs: 1, .. }));
    is(x.scatter(0, &wide, 1), |why| matches!(why, MovementError::ScatterSizes { .. }));
    is(Tensor::cat(&[&x, &x.t().unwrap()], 0), |why| {
        matches!(why, MovementError::CatSizes { differs: 1, position: 1, .. })
    });
    is(Tensor::cat(&[], 0), |why| *why == MovementError::CatNothing);
    is(Tensor::stack(&[], 0), |why| *why == MovementError::StackNothing);
    is(x.select(0, 0).unwrap().tril(0), |why| matches!(why, MovementError::NoMatrix { .. }));
    is(x.roll([1], [0, 1]), |why| matches!(why, MovementError::RollLength { .. }));
    is(x.pad([1], PadMode::Reflect), |why| matches!(why, MovementError::PadLength { .. }));
    is(x.repeat_interleave_each(tensor![1i64, 2, 3], 0), |why| {
        matches!(why, MovementError::RepeatsLength { given: 3, dim: 0, size: 2 })
    });
    assert!(matches!(x.item(), Err(Error::Movement(why)) if matches!(
        *why,
        MovementError::NotOneElement { numel: 6, .. }
    )));
}

#[test]
fn dimensions_out_of_range() {
    let (x, f) = (x(), Tensor::full([2, 3], 1.0f32).unwrap());
    let index = Tensor::full([1, 1], 0i64).unwrap();
    for dim in [2, -3, HUGE, isize::MIN] {
        let results = [
            Tensor::cat(&[&x, &x], dim).err(),
            x.roll([1], [dim]).err(),
            x.repeat_interleave(2, dim).err(),
            x.index_select(dim, tensor![0i64]).err(),
            x.gather(dim, &index).err(),
            x.take_along_dim(&index, dim).err(),
            x.scatter(dim, &index, 0).err(),
            x.cumsum(dim).err(),
            f.softmax(dim).err(),
            f.logsumexp(dim).err(),
            f.var(dim, 1.0).err(),
            f.norm(dim, 2.0).err(),
            x.any(dim).err(),
        ];
        for (number, refusal) in results.into_iter().enumerate() {
            let is_range = matches!(refusal, Some(Error::DimOutOfRange { .. }));
            assert!(is_range, "{number}: {refusal:?}");
        }
    }
    assert!(matches!(Tensor::stack(&[&x], 3), Err(Error::DimOutOfRange { range: 3, .. })));
    assert!(matches!(f.var([0, 0], 1.0), Err(Error::ReduceTwice { .. })));
}

#[test]
fn sizes_near_the_limit() {
    let x = x();
    let numbers = [HUGE, isize::MIN, -HUGE, HUGE / 2];
    for before in numbers {
        for after in numbers {
            for mode in
                [PadMode::Constant(0), PadMode::Reflect, PadMode::Replicate, PadMode::Circular]
            {
                assert!(x.pad([before, after], mode).is_err(), "{before} {after}");
            }
        }
    }
    assert!(x.repeat_interleave(usize::MAX, 0).is_err());
    assert!(x.repeat_interleave(HUGE as usize, None).is_err());
    assert!(x.repeat_interleave_each(tensor![i64::MAX, i64::MAX], 0).is_err());
    assert!(x.repeat_interleave_each(tensor![i64::MAX], 1).is_err());
    // Shifts of any size are taken modulo the dimension.
    for shift in [HUGE, isize::MIN] {
        let least = shift.rem_euclid(3);
        assert_eq!(x.roll([shift], [1]).unwrap(), x.roll([least], [1]).unwrap());
        assert_eq!(x.roll([shift; 5], [1; 5]).unwrap().shape(), [2, 3]);
    }
    for diagonal in [HUGE, isize::MIN] {
        let all = diagonal == HUGE;
        assert_eq!(x.tril(diagonal).unwrap().any_all().unwrap(), all);
        assert_eq!(x.triu(diagonal).unwrap().any_all().unwrap(), !all);
    }
    // A huge tensor without memory of its own.
    let huge = Tensor::full([1], 1i64).unwrap().expand([HUGE / 8]).unwrap();
    assert!(Tensor::cat(&[&huge, &huge], 0).is_err());
    assert!(
        Tensor::stack(&[&huge, &huge, &huge, &huge, &huge, &huge, &huge, &huge, &huge], 0).is_err()
    );
    assert!(huge.roll([1], [0]).is_err() && huge.cumsum(0).is_err());
    assert!(huge.pad([HUGE, HUGE], PadMode::Replicate).is_err());
    assert_eq!(huge.take(tensor![5i64, -1]).unwrap().to_vec().unwrap(), [1, 1]);
    assert_eq!(huge.index_select(0, tensor![0i64]).unwrap().numel(), 1);
    assert!(Tensor::<i64>::eye(usize::MAX, 2).is_err());
    assert!(Tensor::<f32>::ones([usize::MAX]).is_err());
    assert!(Tensor::linspace(0.0, 1.0, usize::MAX).is_err());
}

#[test]
fn empty_tensors_have_empty_or_neutral_results() {
    let none: Tensor<i64> = Tensor::zeros([0, 3]).unwrap();
    let no_index: Tensor<i64> = tensor![];
    assert_eq!(Tensor::cat(&[&none, &none], 0).unwrap().shape(), [0, 3]);
    assert_eq!(Tensor::stack(&[&none, &none], 2).unwrap().shape(), [0, 3, 2]);
    assert_eq!(none.roll([1], ()).unwrap().shape(), [0, 3]);
    assert_eq!(none.tril(0).unwrap().shape(), [0, 3]);
    assert_eq!(none.cumsum(0).unwrap().shape(), [0, 3]);
    assert_eq!(none.pad([0, 0, 1, 0], PadMode::Constant(4)).unwrap().shape(), [1, 3]);
    assert_eq!(none.index_select(0, &no_index).unwrap().shape(), [0, 3]);
    assert_eq!(none.take(&no_index).unwrap().shape(), [0]);
    let f: Tensor<f32> = none.cast().unwrap();
    assert_eq!(f.softmax(0).unwrap().shape(), [0, 3]);
    assert!(f.var(0, 1.0).unwrap().is_nan().unwrap().all_all().unwrap());
    assert_eq!(f.norm(0, 2.0).unwrap().to_vec().unwrap(), [0.0; 3]);
    assert!(matches!(f.norm(0, f64::INFINITY), Err(Error::ReduceEmpty { .. })));
    assert_eq!(f.logsumexp(0).unwrap().to_vec().unwrap(), [f32::NEG_INFINITY; 3]);
}

#[test]
fn sixty_four_dimensions() {
    let mut shape = [1usize; 64];
    (shape[5], shape[40], shape[63]) = (2, 3, 2);
    let x = Tensor::arange(0i64, 12, 1).unwrap().broadcast_to([12]).unwrap();
    let sizes: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
    let x = x.view(&sizes).unwrap();
    assert_eq!(Tensor::cat(&[&x, &x], 40).unwrap().shape()[40], 6);
    assert_eq!(Tensor::stack(&[&x, &x], -1).unwrap().ndim(), 65);
    let dims: Vec<isize> = (0..64).collect();
    let rolled = x.roll([1; 64], &dims).unwrap();
    assert_eq!(rolled.to_vec().unwrap()[..4], [11, 10, 7, 6]);
    let padding = [1isize; 128];
    assert!(x.pad(padding, PadMode::Replicate).is_err(), "3^61 elements");
    assert_eq!(x.pad([1, 1], PadMode::Circular).unwrap().shape()[63], 4);
    let index = Tensor::full(shape, 0i64).unwrap();
    assert_eq!(x.gather(63, &index).unwrap().shape(), shape);
    assert_eq!(x.scatter(40, &index, 5).unwrap().shape(), shape);
    let f: Tensor<f64> = x.cast().unwrap();
    assert_eq!(f.softmax(40).unwrap().shape(), shape);
    assert_eq!(f.var(.., 1.0).unwrap().item().unwrap(), 13.0);
    assert_eq!(x.cumsum(63).unwrap().shape(), shape);
}

#[test]
fn tolerances_that_are_negative_or_not_a_number() {
    let exec = Exec::current().unwrap();
    for value in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        let text = refused(ops::isclose(
            exec,
            1.0,
            1.0,
            Tolerance { rtol: value, ..Tolerance::default() },
        ));
        assert!(text.starts_with("rtol must be greater than or equal to zero, but got"), "{text}");
    }
}

#[test]
fn a_tensor_that_is_being_written_is_refused() {
    let x = x();
    let index: Tensor<i64> = tensor![0];
    let guard = x.write().unwrap();
    assert!(matches!(Tensor::cat(&[&x], 0), Err(Error::Borrowed { .. })));
    assert!(matches!(x.take(&index), Err(Error::Borrowed { .. })));
    assert!(matches!(x.cumsum(0), Err(Error::Borrowed { .. })));
    drop(guard);
    let expanded = x.narrow(0, 0, 1).unwrap().expand([2, 3]).unwrap();
    let exec = Exec::current().unwrap();
    let refusal = ops::roll_into(exec, x.deep_clone().unwrap(), [1], [0], &expanded);
    assert!(matches!(refusal, Err(Error::WriteOverlap { .. })));
}
