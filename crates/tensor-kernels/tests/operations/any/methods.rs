//! Methods and operators of tensors of run-time dtypes.

use tensor_kernels::{
    AnyTensor, AnyTensorExt, AnyValue, CopyScope, DType, DTypeError, Error, MemoryFormat, PadMode,
    RearrangePattern, Reduction, Result, Tensor, Tolerance, tensor,
};

fn bytes() -> AnyTensor {
    tensor![[1u8, 2, 3], [4, 5, 6]].into()
}

#[test]
fn views_share_the_storage_and_need_no_dtype() -> Result<()> {
    let x = bytes();
    let views = [
        x.t()?,
        x.permute([1, 0])?,
        x.select(0, 1)?,
        x.narrow(1, 1, 2)?,
        x.flip([-1])?,
        x.unsqueeze(0)?,
        x.view([3, 2])?,
        x.unsqueeze(2)?.expand([2, 3, 4])?,
        x.flatten(0, 1)?,
        x.diagonal(0, 0, 1)?,
    ];
    assert!(views.iter().all(|view| view.same_storage(&x) && view.dtype() == DType::U8));
    assert_eq!(x.unbind(1)?.len(), 3);
    assert_eq!(x.flip([1])?.to_vec::<i32>()?, [3, 2, 1, 6, 5, 4]);
    assert_eq!(x.t()?.get(&[2, 0])?, AnyValue::Int(3));
    assert!(x.t()?.why_not_contiguous().is_some());
    Ok(())
}

#[test]
fn copies_keep_the_dtype() -> Result<()> {
    let x = bytes();
    let transposed = x.t()?;
    let copy = transposed.contiguous()?;
    assert!(copy.is_contiguous() && !copy.same_storage(&x));
    assert!(x.contiguous()?.same_storage(&x));
    assert_eq!(transposed.reshape([6])?.to_vec::<u8>()?, [1, 4, 2, 5, 3, 6]);
    assert!(x.reshape([6])?.same_storage(&x));
    assert_eq!(transposed.flattened(0, -1)?.shape(), [6]);
    let copied = [
        x.reshape([6])?.copied(),
        transposed.reshape([6])?.copied(),
        x.flattened(0, 1)?.copied(),
        transposed.flattened(0, 1)?.copied(),
    ];
    assert_eq!(copied, [false, true, false, true]);
    assert!(!x.deep_clone()?.same_storage(&x));
    assert_eq!(x.repeat([1, 2])?.shape(), [2, 6]);
    let image = AnyTensor::zeros([1, 2, 3, 4], DType::I16)?;
    assert!(image.to_contiguous(MemoryFormat::ChannelsLast)?.layout().is_channels_last());
    Ok(())
}

#[test]
fn patterns_of_einops_need_no_dtype() -> Result<()> {
    let x = bytes();
    let turned = x.rearrange("h w -> w h", &[])?;
    assert!(turned.same_storage(&x) && turned.strides() == [1, 3]);
    let pattern = RearrangePattern::new("h w -> (w h)")?;
    assert_eq!(x.rearrange(&pattern, &[])?.to_vec::<u8>()?, [1, 4, 2, 5, 3, 6]);
    assert_eq!(x.repeat_axes("h w -> h (w n)", &[("n", 2)])?.shape(), [2, 6]);
    let copied = [
        x.rearrange("h w -> w h", &[])?.copied(),
        x.rearrange(&pattern, &[])?.copied(),
        x.repeat_axes("h w -> h w 2", &[])?.copied(),
        x.repeat_axes("h w -> h (w 2)", &[])?.copied(),
    ];
    assert_eq!(copied, [false, true, false, true]);
    let flat = x.rearrange(&pattern, &[])?;
    assert_eq!(x.t()?.reshape([6])?.add(&flat)?.add(flat.clone())?.dtype(), DType::U8);
    assert_eq!(format!("{flat:?}").split(' ').next(), Some("AnyReshaped"));
    assert_eq!(AnyTensor::from(flat.clone()), flat.into_tensor());
    let refused = x.reduce("h w -> h", Reduction::Max, &[]).unwrap_err();
    let expected = DTypeError::Unsupported { op: "reduce", dtype: DType::U8 };
    assert_eq!(refused, expected.into());
    let largest = x.to_dtype(DType::F64)?.reduce("h w -> h", Reduction::Max, &[])?;
    assert_eq!((largest.dtype(), largest.to_vec::<f64>()?), (DType::F64, vec![3.0, 6.0]));
    assert!(matches!(x.rearrange("h w -> h", &[]), Err(Error::Pattern(_))));
    Ok(())
}

#[test]
fn conversion_to_the_same_dtype_shares() -> Result<()> {
    let x = bytes();
    assert!(x.to_dtype(DType::U8)?.same_storage(&x));
    let floats = x.to_dtype(DType::F32)?;
    assert_eq!(
        floats.typed::<f32>().map(Tensor::to_vec).transpose()?,
        Some(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(x.to_typed::<f64>()?.get(&[1, 2])?, 6.0);
    Ok(())
}

#[test]
fn operators_promote() -> Result<()> {
    let (x, signed) = (bytes(), AnyTensor::full([3], -1, DType::I8)?);
    let sum = &x + &signed;
    assert_eq!((sum.dtype(), sum.to_vec::<i16>()?), (DType::I16, vec![0, 1, 2, 3, 4, 5]));
    assert_eq!((2.0 - &x).dtype(), DType::F32);
    assert_eq!((&x / &x).to_vec::<f64>()?, [1.0; 6]);
    assert_eq!((&x % 4).to_vec::<u8>()?, [1, 2, 3, 0, 1, 2]);
    assert_eq!(((&x << 1) | 1).to_vec::<u8>()?, [3, 5, 7, 9, 11, 13]);
    assert_eq!((!&x).get(&[0, 0])?, AnyValue::Int(254));
    assert_eq!((-&signed).to_vec::<i8>()?, [1; 3]);
    let typed = tensor![0.5f64, 0.5, 0.5];
    assert_eq!(x.mul(&typed)?.dtype(), DType::F64);
    Ok(())
}

#[test]
fn assignments_keep_the_dtype() -> Result<()> {
    let mut x = bytes();
    let view = x.t()?;
    x += 250;
    assert_eq!(view.get(&[2, 1])?, AnyValue::Int(0));
    x += &AnyTensor::full([3], 2, DType::I64)?;
    assert_eq!(x.get(&[1, 2])?, AnyValue::Int(2));
    let refused = x.add_inplace(2.5).unwrap_err();
    let (from, to) = (DType::F32, DType::U8);
    assert_eq!(refused, DTypeError::ResultCast { op: "add", from, to }.into());
    assert!(
        refused
            .to_string()
            .starts_with("result type Float can't be cast to the desired output type Byte")
    );
    let mut flags = AnyTensor::from(tensor![true, false]);
    flags += true;
    assert_eq!(flags.to_vec::<bool>()?, [true, true]);
    Ok(())
}

#[test]
fn a_refusal_names_operation_and_dtype() {
    let refused = |result: Result<AnyTensor>| result.unwrap_err().to_string();
    let (x, flags) = (bytes(), AnyTensor::from(tensor![true, false]));
    let long = x.to_dtype(DType::I64).expect("a conversion");
    assert_eq!(
        refused(long.mean(0)),
        "mean(): could not infer output dtype. Input dtype must be either a floating point or \
         complex dtype. Got: Long [mean of i64]"
    );
    assert!(refused(flags.neg()).starts_with("Negation, the `-` operator, on a bool tensor"));
    assert!(refused(flags.sub(&long)).starts_with("Subtraction, the `-` operator, with a bool"));
    assert_eq!(refused(x.gelu()), "\"gelu\" not implemented for 'Byte' [gelu of u8]");
    assert_eq!(
        refused(x.bitwise_and(1.5)),
        "\"bitwise_and\" not implemented for 'Float' [bitwise_and of f32]"
    );
    assert_eq!(refused(x.where_cond(1, 2)), "expected a tensor of dtype bool but found u8");
}

#[test]
fn a_conversion_of_an_operand_is_in_the_ledger() -> Result<()> {
    let (x, wide) = (bytes(), AnyTensor::zeros([2, 3], DType::I64)?);
    let (sum, copies) = CopyScope::ThisThread.count(|| x.add(&wide));
    assert_eq!((sum?.dtype(), copies.count(), copies.bytes()), (DType::I64, 1, 48));
    let text = copies.to_string();
    assert!(text.contains("the operand is converted from u8 to i64"), "{text}");
    assert!(text.contains("methods.rs"), "{text}");
    let (_, copies) = CopyScope::ThisThread.count(|| x.add(1));
    assert_eq!(copies.count(), 0);
    Ok(())
}

#[test]
fn reductions_to_values() -> Result<()> {
    let x = bytes();
    assert_eq!(x.sum_all()?, AnyValue::Int(21));
    assert_eq!((x.sum(1)?.dtype(), x.sum(1)?.to_vec::<i64>()?), (DType::I64, vec![6, 15]));
    assert_eq!((x.max_all()?, x.argmax(1)?.to_vec::<i64>()?), (AnyValue::Int(6), vec![2, 2]));
    assert_eq!(x.to_dtype(DType::F32)?.mean_all()?, AnyValue::Float(3.5));
    let large = AnyTensor::full([2], u64::MAX, DType::U64)?;
    assert_eq!((large.sum_all()?, large.get(&[0])?), (AnyValue::Int(-2), u64::MAX.into()));
    Ok(())
}

#[test]
fn movement_of_any_dtype() -> Result<()> {
    let x = bytes();
    let index = AnyTensor::from(tensor![2i32, 0]);
    assert_eq!(x.index_select(1, &index)?.to_vec::<u8>()?, [3, 1, 6, 4]);
    assert_eq!(x.take(&index)?.to_vec::<u8>()?, [3, 1]);
    let rows = AnyTensor::from(tensor![[0i64, 1, 0]]);
    assert_eq!(x.gather(0, &rows)?.to_vec::<u8>()?, [1, 5, 3]);
    assert_eq!(x.scatter(0, &rows, 9)?.to_vec::<u8>()?, [9, 2, 9, 4, 9, 6]);
    assert_eq!(x.pad([1, 0], PadMode::Constant(7.into()))?.select(1, 0)?.to_vec::<u8>()?, [7, 7]);
    assert_eq!(x.roll([1], [1])?.select(0, 0)?.to_vec::<u8>()?, [3, 1, 2]);
    assert_eq!(x.repeat_interleave(2, Some(0))?.shape(), [4, 3]);
    let mask = x.elem_gt(3)?;
    assert_eq!(x.masked_select(&mask)?.to_vec::<u8>()?, [4, 5, 6]);
    assert_eq!(x.masked_fill(&mask, 0)?.sum_all()?, AnyValue::Int(6));
    assert_eq!(x.triu(0)?.to_vec::<u8>()?, [1, 2, 3, 0, 5, 6]);
    assert!(matches!(
        x.take(&x),
        Err(Error::DTypeMismatch { expected: DType::I64, found: DType::U8 })
    ));
    Ok(())
}

#[test]
fn comparisons_promote() -> Result<()> {
    let x = bytes();
    let floats = x.to_dtype(DType::F64)?;
    assert!(x.equal(&floats)? && !x.equal(&floats.t()?)?);
    assert!(!x.equal(&(&floats + 0.5))?);
    assert!(x.allclose(&(&floats + 1e-9), Tolerance::default())?);
    assert!(!x.allclose(&(&floats + 0.1), Tolerance::default())?);
    assert_eq!(x.clamp(2, 4.5)?.to_vec::<f32>()?, [2.0, 2.0, 3.0, 4.0, 4.5, 4.5]);
    x.fill(3.7)?;
    assert_eq!(x.get(&[0, 0])?, AnyValue::Int(3));
    Ok(())
}
