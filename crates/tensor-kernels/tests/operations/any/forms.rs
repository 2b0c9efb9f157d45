//! Every operation of tensors of run-time dtypes gives what the typed one gives: to a new tensor,
//! into each kind of output, converted, and in place.

use tensor_kernels::{
    AnyOutput, AnyTensor, AnyTensorExt, CopyScope, DType, DTypeError, Error, Layout, PadMode,
    Result, Scalar, Tensor, TensorExt, TensorView, TensorViewMut, Tolerance, tensor,
};

use crate::named_operations::{DISTANCES, FLOATS, INTEGERS, OTHERS};

/// A transposed matrix.
fn matrix<T: Scalar>(values: [T; 6]) -> Tensor<T> {
    Tensor::from_slice(&values, [2, 3]).unwrap().t().unwrap()
}

/// The result is written into a tensor of its dtype, one of a wider one, a typed one, a view and a
/// vector; one of another shape is refused.
fn check_outputs<T>(expected: &Tensor<T>, write: impl Fn(AnyOutput<'_>) -> Result<()>)
where
    T: Scalar + tensor_kernels::BuiltIn + tensor_kernels::CastAny,
    AnyTensor: From<Tensor<T>>,
    for<'a> AnyOutput<'a>: From<&'a Tensor<T>> + From<&'a mut Vec<T>>,
    for<'a, 'b> AnyOutput<'a>: From<&'a mut TensorViewMut<'b, T>>,
{
    check_outputs_of(expected, 0, write);
}

/// `made` is the number of copies that make a new result, before it is converted.
fn check_outputs_of<T>(
    expected: &Tensor<T>,
    made: usize,
    write: impl Fn(AnyOutput<'_>) -> Result<()>,
) where
    T: Scalar + tensor_kernels::BuiltIn + tensor_kernels::CastAny,
    AnyTensor: From<Tensor<T>>,
    for<'a> AnyOutput<'a>: From<&'a Tensor<T>> + From<&'a mut Vec<T>>,
    for<'a, 'b> AnyOutput<'a>: From<&'a mut TensorViewMut<'b, T>>,
{
    let any = AnyTensor::from(expected.clone());
    let same = any.zeros_like().unwrap();
    write((&same).into()).unwrap();
    assert_eq!(same, any);
    let wider = AnyTensor::zeros(any.shape(), DType::C128).unwrap();
    let (stored, copies) = CopyScope::ThisThread.count(|| write((&wider).into()));
    stored.unwrap();
    assert_eq!((wider, copies.count()), (any.to_dtype(DType::C128).unwrap(), made + 1));
    let typed = expected.zeros_like().unwrap();
    write((&typed).into()).unwrap();
    assert_eq!(&typed, expected);
    let mut numbers = vec![T::ZERO; expected.numel()];
    write((&mut numbers).into()).unwrap();
    assert_eq!(numbers, expected.to_vec().unwrap());
    numbers.fill(T::ZERO);
    let layout = Layout::fortran(expected.shape()).unwrap();
    let mut view = TensorViewMut::new(&mut numbers, layout).unwrap();
    write((&mut view).into()).unwrap();
    assert_eq!(view.as_view(), *expected);
    let mut wide = vec![0.0f64; expected.numel()];
    if any.dtype() != DType::C64 {
        write((&mut wide).into()).unwrap();
        assert_eq!(wide, any.to_vec::<f64>().unwrap());
    }
    let refused = |out: AnyOutput<'_>| {
        let refused = write(out).unwrap_err();
        assert!(matches!(refused, Error::OutputShape { .. }), "{refused}");
    };
    refused((&AnyTensor::zeros([2, 4], any.dtype()).unwrap()).into());
    refused((&AnyTensor::zeros([2, 4], DType::C128).unwrap()).into());
    numbers.push(T::ZERO);
    refused((&mut numbers).into());
    wide.push(0.0);
    refused((&mut wide).into());
}

macro_rules! unary {
    ($($values:ident: $($name:ident $into:ident $($inplace:ident)?),*;)*) => {$($(
        #[test]
        fn $name() {
            let typed = matrix($values);
            let (x, expected) = (AnyTensor::from(typed.clone()), typed.$name().unwrap());
            assert_eq!(x.$name().unwrap(), AnyTensor::from(expected.clone()));
            check_outputs(&expected, |out| x.$into(out));
            $(
                x.$inplace().unwrap();
                assert_eq!(x, expected.into());
            )?
        }
    )*)*};
}

each_unary! { unary }

macro_rules! binary {
    ($($a:ident, $b:ident:
        $($name:ident $method:ident $into:ident $($inplace:ident)?),*;)*) => {$($(
        #[test]
        fn $name() {
            let (typed, b) = (matrix($a), matrix($b));
            let (x, expected) = (AnyTensor::from(typed.clone()), typed.$method(&b).unwrap());
            let result = AnyTensor::from(expected.clone());
            assert_eq!(x.$method(&b).unwrap(), result, "a typed operand");
            assert_eq!(x.$method(b.clone()).unwrap(), result, "a typed operand by value");
            assert_eq!(x.$method(AnyTensor::from(b.clone())).unwrap(), result, "by value");
            let guard = b.read().unwrap();
            assert_eq!(x.$method(&guard.as_view()).unwrap(), result, "a view");
            check_outputs(&expected, |out| x.$into(&b, out));
            $(
                x.$inplace(&guard.as_view()).unwrap();
                assert_eq!(x, result);
            )?
        }
    )*)*};
}

each_binary! { binary }

macro_rules! ternary {
    ($($name:ident $into:ident $inplace:ident;)*) => {$(
        #[test]
        fn $name() {
            let (typed, b, c) = (matrix(FLOATS), matrix(OTHERS), matrix(FLOATS));
            let (x, expected) = (AnyTensor::from(typed.clone()), typed.$name(&b, &c).unwrap());
            assert_eq!(x.$name(&b, &c).unwrap(), expected.clone().into());
            check_outputs(&expected, |out| x.$into(&b, &c, out));
            x.$inplace(&b, &c).unwrap();
            assert_eq!(x, expected.into());
        }
    )*};
}

each_ternary! { ternary }

macro_rules! reductions {
    ($($name:ident $into:ident $all:ident;)*) => {$(
        #[test]
        fn $name() {
            let typed = matrix(FLOATS);
            let (x, expected) = (AnyTensor::from(typed.clone()), typed.$name(0).unwrap());
            assert_eq!(x.$name(0).unwrap(), expected.clone().into());
            assert_eq!(x.$all().unwrap(), typed.$all().unwrap().into());
            check_outputs(&expected, |out| x.$into(0, out));
        }
    )*};
}

each_reduction! { reductions }

macro_rules! into_results {
    ($($name:ident $into:ident($($arg:expr),*);)*) => {$(
        #[test]
        fn $name() {
            // Contiguous: some of these operations copy other operands, which would be counted.
            let typed = matrix(FLOATS).contiguous().unwrap();
            let (x, expected) =
                (AnyTensor::from(typed.clone()), typed.$name($($arg),*).unwrap());
            check_outputs(&expected, |out| x.$into($($arg,)* out));
        }
    )*};
}

into_results! {
    roll roll_into([1], [1]);
    tril tril_into(0);
    triu triu_into(1);
    softmax softmax_into(1);
    log_softmax log_softmax_into(0);
    logsumexp logsumexp_into(1);
    var var_into(0, 1.0);
    std std_into(1, 0.0);
    norm norm_into(0, 2.0);
    cumsum cumsum_into(1);
    take take_into(&tensor![[1i64, 5], [0, 3]]);
    gather gather_into(0, &tensor![[1i64, 0], [2, 2]]);
    take_along_dim take_along_dim_into(&tensor![[1i64], [0], [1]], 1);
    index_select index_select_into(0, &tensor![2i64, 2, 0]);
    repeat_interleave_each repeat_interleave_each_into(&tensor![2i64, 0, 1], 0);
    masked_select masked_select_into(&tensor![[true, false], [false, false], [true, true]]);
}

#[test]
fn copies_that_are_asked_for_into_given_results() {
    let typed = matrix(FLOATS);
    let (x, index) = (AnyTensor::from(typed.clone()), tensor![[1i64, 0], [2, 2]]);
    let repeated = typed.repeat([2, 3]).unwrap();
    check_outputs_of(&repeated, 1, |out| x.repeat_into([2, 3], out));
    let interleaved = typed.repeat_interleave(2, 1).unwrap();
    check_outputs_of(&interleaved, 1, |out| x.repeat_interleave_into(2, 1, out));
    let scattered = typed.scatter(0, &index, 0.5).unwrap();
    check_outputs_of(&scattered, 1, |out| x.scatter_into(0, &index, 0.5, out));
}

#[test]
fn joins_pads_and_masks_into_given_results() {
    let typed = matrix(FLOATS);
    let x = AnyTensor::from(typed.clone());
    let mask = tensor![true, false];
    let expected = Tensor::cat(&[&typed, &typed], 0).unwrap();
    check_outputs(&expected, |out| AnyTensor::cat_into(&[&x, &x], 0, out));
    let expected = Tensor::stack(&[&typed, &typed], 1).unwrap();
    check_outputs(&expected, |out| AnyTensor::stack_into(&[&x, &x], 1, out));
    let padded = typed.pad([1, 0], PadMode::Constant(7.0)).unwrap();
    check_outputs(&padded, |out| x.pad_into([1, 0], PadMode::Constant(7.into()), out));
    let filled = typed.masked_fill(&mask, 7.0).unwrap();
    check_outputs(&filled, |out| x.masked_fill_into(&mask, 7, out));
    let close = typed.isclose(1.0, Tolerance::default()).unwrap();
    check_outputs(&close, |out| x.isclose_into(1.0, Tolerance::default(), out));
    let chosen = mask.where_cond(&typed, 1.0).unwrap();
    check_outputs(&chosen, |out| AnyTensor::from(mask.clone()).where_cond_into(&x, 1.0, out));
}

#[test]
fn a_result_of_a_higher_category_is_refused_before_anything_is_written() {
    let x = AnyTensor::from(tensor![1i64, 2]);
    let refused = |result: Result<()>| result.unwrap_err();
    let cast = |op| Error::from(DTypeError::ResultCast { op, from: DType::F32, to: DType::I64 });
    assert_eq!(refused(x.exp_inplace()), cast("exp"));
    assert_eq!(refused(x.div_inplace(2)), cast("div"));
    assert_eq!(refused(x.exp_into(&x)), cast("exp"));
    assert_eq!(refused(x.clamp_inplace(0.5, 1)), cast("clamp"));
    assert_eq!(refused(x.to_dtype(DType::F32).unwrap().sum_into(0, &x)), cast("sum"));
    assert_eq!(refused(x.to_dtype(DType::F32).unwrap().softmax_into(0, &x)), cast("softmax"));
    assert_eq!(refused(x.to_dtype(DType::F32).unwrap().cumsum_into(0, &x)), cast("cumsum"));
    assert_eq!(refused(x.to_dtype(DType::F32).unwrap().roll_into([1], [0], &x)), cast("roll"));
    let complex = AnyTensor::ones([2], DType::C64).unwrap();
    let expected = DTypeError::Unsupported { op: "abs_inplace", dtype: DType::C64 };
    assert_eq!(refused(complex.abs_inplace()), expected.into());
    assert_eq!(x.to_vec::<i64>().unwrap(), [1, 2]);
}

#[test]
fn a_single_result_does_not_fill_a_longer_slice() {
    let one = AnyTensor::ones([1], DType::U8).unwrap();
    let mut six = [0.0f64; 6];
    for refused in [one.neg_into(&mut six), one.copy_into(&mut six), one.add_into(1, &mut six)] {
        assert!(matches!(refused, Err(Error::OutputShape { .. })), "{refused:?}");
    }
    assert_eq!(six, [0.0; 6]);
}

#[test]
fn sums_of_unsigned_integers_are_stored_as_pytorch_stores_them() -> Result<()> {
    let x = AnyTensor::from(tensor![u64::MAX, 2]);
    let (own, wide) = (AnyTensor::zeros((), DType::U64)?, AnyTensor::zeros((), DType::I64)?);
    x.sum_into(0, &own)?;
    x.sum_into(0, &wide)?;
    assert_eq!((own.item()?, wide.item()?), (1u64.into(), 1i64.into()));
    let (own, wide) = (AnyTensor::zeros([2], DType::U64)?, AnyTensor::zeros([2], DType::I64)?);
    x.cumsum_into(0, &own)?;
    x.cumsum_into(0, &wide)?;
    assert_eq!(own, AnyTensor::from(tensor![u64::MAX, 1]));
    assert_eq!(wide, AnyTensor::from(tensor![-1i64, 1]));
    Ok(())
}

#[test]
fn bools_are_added_and_multiplied_logically_into_results() -> Result<()> {
    let (a, b) = (tensor![true, true, false], tensor![true, false, false]);
    let (x, out) = (AnyTensor::from(a), AnyTensor::zeros([3], DType::U8)?);
    x.add_into(&b, &out)?;
    assert_eq!(out.to_vec::<u8>()?, [1, 1, 0]);
    x.mul_inplace(&b)?;
    assert_eq!(x.to_vec::<bool>()?, [true, false, false]);
    x.sign_into(&out)?;
    assert_eq!(out.to_vec::<u8>()?, [1, 0, 0]);
    Ok(())
}

#[test]
fn operators_take_any_operand() -> Result<()> {
    let (x, y) = (AnyTensor::arange(0, 4, 1, DType::I16)?, tensor![0.5f32, 1.5, 2.5, 3.5]);
    let numbers = [1u8, 2, 3, 4];
    let view = TensorView::new(&numbers, Layout::contiguous([4])?)?;
    assert_eq!((&x + &y).to_vec::<f32>()?, [0.5, 2.5, 4.5, 6.5]);
    assert_eq!((&x * y.clone()).dtype(), DType::F32);
    assert_eq!((&x - &view).to_vec::<i16>()?, [-1, -1, -1, -1]);
    assert_eq!((&x + 1u8 + 2).to_vec::<i16>()?, [3, 4, 5, 6]);
    assert_eq!(x.try_sub(1)?, x.sub(1)?);
    let mut sum = x.deep_clone()?;
    sum += &view;
    assert_eq!(sum.to_vec::<i32>()?, [1, 3, 5, 7]);
    Ok(())
}

#[test]
fn masks_and_indices_are_typed_tensors_views_and_values() -> Result<()> {
    let x = AnyTensor::arange(0, 6, 1, DType::F16)?.view([2, 3])?;
    let mask = tensor![true, false, true];
    assert_eq!(x.masked_select(&mask)?.to_vec::<i32>()?, [0, 2, 3, 5]);
    assert_eq!(x.masked_fill(&mask.read()?.as_view(), 9)?.to_vec::<i32>()?, [9, 1, 9, 9, 4, 9]);
    assert_eq!(x.masked_fill(true, 9)?.sum_all()?.to::<i32>(), 54);
    assert!(matches!(x.masked_fill(1, 9), Err(Error::DTypeMismatch { .. })));
    assert_eq!(x.index_select(1, tensor![2i32])?.to_vec::<i32>()?, [2, 5]);
    assert_eq!(
        x.repeat_interleave_each(tensor![0i64, 2], Some(0))?.to_vec::<i32>()?,
        [3, 4, 5, 3, 4, 5]
    );
    assert_eq!(x.take_along_dim(tensor![[1i64], [0]], 1)?.to_vec::<i32>()?, [1, 3]);
    x.masked_fill_inplace(&mask, -1)?;
    x.scatter_inplace(1, tensor![[1i64], [1]], 7)?;
    assert_eq!(x.to_vec::<i32>()?, [-1, 7, -1, -1, 7, -1]);
    Ok(())
}

#[test]
fn what_is_new_of_a_shape_or_a_tensor() -> Result<()> {
    let x = AnyTensor::linspace(0, 1, 3, DType::F64)?;
    assert_eq!(x.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    assert_eq!(AnyTensor::eye(2, 2, DType::I8)?.to_vec::<i8>()?, [1, 0, 0, 1]);
    assert_eq!(x.ones_like()?.to_vec::<f64>()?, [1.0; 3]);
    assert_eq!(AnyTensor::zeros_padded([2, 3], -2, 8, DType::U8)?.strides(), [8, 1]);
    let refused = AnyTensor::arange(0, 1, 1, DType::Bool).unwrap_err();
    assert_eq!(refused, DTypeError::Unsupported { op: "arange", dtype: DType::Bool }.into());
    assert_eq!(x.full_like(2)?.into_vec::<f64>()?, [2.0; 3]);
    assert!(matches!(x.clone().into_vec::<f32>(), Err(Error::DTypeMismatch { .. })));
    assert_eq!(x.iter()?.len(), 3);
    assert_eq!((&x).into_iter().fold(0.0, |sum, value| sum + value.to::<f64>()), 1.5);
    assert!(x == x.clone() && x != x.to_dtype(DType::F32)?);
    let bits = x.view_dtype(DType::I64)?;
    assert!(bits.same_storage(&x) && bits.get(&[2])? == (1.0f64.to_bits() as i64).into());
    Ok(())
}

/// Handles of parts would be refused whenever their writes meet; parts are not.
#[test]
fn two_parts_are_written_from_two_threads_without_a_refusal() {
    let source = AnyTensor::from(tensor![[1i16, 2, 3], [4, 5, 6], [7, 8, 9]]);
    for dtype in [DType::F32, DType::I16, DType::F16] {
        let grid = AnyTensor::zeros([3, 3], dtype).unwrap();
        for dim in [0, 1] {
            for at in 0..=3 {
                let (first, rest) =
                    (source.narrow(dim, 0, at).unwrap(), source.narrow(dim, at, 3 - at).unwrap());
                grid.fill(0).unwrap();
                let written = grid.split_at_mut(dim, at, |left, right| {
                    std::thread::scope(|scope| {
                        let left = scope.spawn(|| first.copy_into(left));
                        let right = scope.spawn(|| rest.copy_into(right));
                        [left, right].map(|part| part.join().unwrap())
                    })
                });
                assert_eq!(written.unwrap(), [Ok(()), Ok(())], "{dtype} {dim} {at}");
                assert!(grid.equal(&source).unwrap(), "{dtype} {dim} {at}");
            }
        }
    }
}

#[test]
fn what_cannot_be_split_is_refused_before_anything_is_written() {
    let grid = AnyTensor::zeros([3, 2], DType::F64).unwrap();
    let refused = |any: &AnyTensor, dim: isize, at| {
        any.split_at_mut(dim, at, |_, _| unreachable!("a refused split")).unwrap_err()
    };
    assert!(matches!(refused(&grid, 2, 1), Error::DimOutOfRange { .. }));
    refused(&grid, 0, 4);
    let row = grid.narrow(0, 0, 1).unwrap();
    assert!(matches!(refused(&row.expand([3, 2]).unwrap(), 0, 1), Error::WriteOverlap { .. }));
    let meanwhile = grid.split_at_mut(0, 1, |first, _| row.copy_into(first)).unwrap();
    assert!(matches!(meanwhile, Err(Error::Borrowed { .. })), "{meanwhile:?}");
}
