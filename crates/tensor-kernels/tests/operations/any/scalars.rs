//! Values as operands and as elements: what PyTorch 2.15 gives and refuses.

use tensor_kernels::{
    AnyTensor, AnyTensorExt, AnyValue, DType, DTypeError, Error, PadMode, Result, Tensor, tensor,
};

fn u8s() -> AnyTensor {
    let x: Tensor<u8> = tensor![44, 2, 200];
    x.into()
}

#[track_caller]
fn overflows<T: std::fmt::Debug>(result: &Result<T>) {
    let refused = match result {
        Err(Error::DType(refused)) => matches!(**refused, DTypeError::ValueOverflow { .. }),
        _ => false,
    };
    assert!(refused, "{result:?}");
}

#[test]
fn elements_that_do_not_fit_are_refused() -> Result<()> {
    let (x, mask): (_, Tensor<bool>) = (u8s(), tensor![true, false, false]);
    let first: Tensor<i64> = tensor![0];
    for value in [300, -256] {
        overflows(&AnyTensor::full([2], value, DType::U8));
        overflows(&x.full_like(value));
        overflows(&x.fill(value));
        overflows(&x.set(&[0], value));
        overflows(&x.masked_fill(&mask, value));
        overflows(&x.masked_fill_into(&mask, value, &x));
        overflows(&x.masked_fill_inplace(&mask, value));
        overflows(&x.pad([1, 1], PadMode::Constant(value.into())));
        overflows(&x.scatter(0, &first, value));
        overflows(&AnyTensor::from(mask.clone()).where_cond(&x, value));
    }
    assert_eq!(x.to_vec::<u8>()?, [44, 2, 200], "nothing was written");
    assert_eq!(x.masked_fill(&mask, -1)?.to_vec::<u8>()?, [255, 2, 200]);
    let sum = x.add(300)?;
    assert_eq!(sum.to_vec::<u8>()?, [88, 46, 244], "operands wrap around");

    let full = |value: AnyValue, dtype| AnyTensor::full([1], value, dtype);
    for (value, dtype) in [
        (AnyValue::Float(1e300), DType::F32),
        (AnyValue::Float(3.5e38), DType::Bf16),
        (AnyValue::Float(f64::INFINITY), DType::I32),
        (AnyValue::Float(f64::NAN), DType::I32),
        (AnyValue::Float(-0.9), DType::U8),
        (AnyValue::Float(2f64.powi(63)), DType::I64),
        (AnyValue::Int(1 << 40), DType::I32),
        (AnyValue::Complex(0.0, 1.0), DType::F32),
    ] {
        overflows(&full(value, dtype));
    }
    assert_eq!(full(AnyValue::Float(255.9), DType::U8)?.item()?, AnyValue::Int(255));
    assert_eq!(full(AnyValue::Float(-2.7), DType::I32)?.item()?, AnyValue::Int(-2));
    assert_eq!(full(AnyValue::Int(3), DType::Bool)?.item()?, AnyValue::Bool(true));
    let infinite = AnyValue::Float(f64::INFINITY);
    assert_eq!(full(infinite, DType::F32)?.item()?, infinite);
    let text = full(AnyValue::Int(300), DType::U8).unwrap_err().to_string();
    assert!(text.starts_with("value cannot be converted to type uint8_t without overflow"));
    Ok(())
}

#[test]
fn bounds_beyond_the_integers_are_their_ends() -> Result<()> {
    let x = u8s();
    assert_eq!(x.clamp(0, 300)?.to_vec::<u8>()?, [44, 2, 200]);
    assert_eq!(x.clamp(-5, 50)?.to_vec::<u8>()?, [44, 2, 50]);
    let bytes = AnyTensor::from(Tensor::from_vec(vec![-100i8, 7], [2])?);
    assert_eq!(bytes.clamp(-1000, 1000)?.to_vec::<i8>()?, [-100, 7]);
    let text = x.clamp(300, 400).unwrap_err().to_string();
    assert_eq!(text, "Clamp min value 300 is outside the representable range of Byte");
    let text = x.clamp(-5, -3).unwrap_err().to_string();
    assert_eq!(text, "Clamp max value -3 is outside the representable range of Byte");
    overflows(&AnyTensor::ones([1], DType::F32)?.clamp(-1e300, 1e300));
    x.clamp_into(-5, 50, &x)?;
    assert_eq!(x.to_vec::<u8>()?, [44, 2, 50]);
    Ok(())
}

#[test]
fn exponents_of_integers_fit_them() -> Result<()> {
    let x = u8s();
    overflows(&x.pow(300));
    let text = AnyTensor::ones([1], DType::I32)?.pow(-1).unwrap_err().to_string();
    assert!(text.starts_with("Integers to negative integer powers are not allowed."), "{text}");
    assert_eq!(x.pow(2)?.to_vec::<u8>()?, [144, 4, 64]);
    let exponents: Tensor<i32> = tensor![-1, 0];
    let powers = AnyTensor::full([2], 2, DType::I32)?.pow(&exponents)?;
    assert_eq!(powers.to_vec::<i32>()?, [0, 1], "a tensor may have negative exponents");
    Ok(())
}

#[cfg(feature = "half")]
#[test]
fn factors_of_halves_are_not_rounded_to_halves() -> Result<()> {
    let halves = |values: Vec<f64>| -> Result<AnyTensor> {
        AnyTensor::from(Tensor::from_vec(values.clone(), [values.len()])?).to_dtype(DType::F16)
    };
    let values = |x: &AnyTensor| x.iter().unwrap().map(AnyValue::to::<f64>).collect::<Vec<_>>();
    let single = |value: f64| AnyTensor::full((), value, DType::F64);
    let x = halves(vec![1000.0, 0.001, 6e4])?;
    let quotients = [3334.0, 0.00333404541015625, f64::INFINITY];
    for third in [x.div(0.3)?, x.div(&single(0.3)?)?] {
        assert_eq!((third.dtype(), values(&third)), (DType::F16, quotients.to_vec()));
    }
    let million = [f64::INFINITY, 1000.5, f64::INFINITY];
    for product in [x.mul(1e6)?, x.mul(&single(1e6)?)?, single(1e6)?.mul(&x)?] {
        assert_eq!((product.dtype(), values(&product)), (DType::F16, million.to_vec()));
    }
    assert_eq!(values(&x.mul(1e-8)?)[2], 0.0005998611450195312);
    assert_eq!(values(&x.div(1e6)?)[2], 0.05999755859375);
    let wide = AnyTensor::zeros([3], DType::F32)?;
    x.mul_into(1e-8, &wide)?;
    assert_eq!(wide.get(&[2])?, AnyValue::Float(0.0005998611450195312), "rounded to a half first");
    x.mul_inplace(1e-8)?;
    assert_eq!(values(&x)[2], 0.0005998611450195312);
    // The number is a half here: it is the one that is divided.
    assert_eq!(values(&single(0.3)?.div(&halves(vec![1.0, 0.1])?)?), [0.300048828125, 3.001953125]);
    Ok(())
}
