//! Code for any element type, and for types that are known at run time only.
//!
//! ```sh
//! cargo run --release -p examples --bin generic
//! ```
//!
//! ```text
//! corners of numbers: [255, 9]
//! corners of pixels:  [[255, 0, 0], [9, 9, 9]]
//! tensor([[-1.,  1.],
//!         [-1.,  1.]])
//! tensor([[-1.,  1.],
//!         [-1.,  1.]], dtype=torch.float64)
//! u8 [3, 2]: 1 to 6, mean 3.5
//! f64 [2, 1]: -1.5 to 2.5, mean 0.5
//! bool [1, 2]: 0 to 1, mean 0.5
//! expected a tensor of dtype f32 but found f64
//! ```

use tensor_kernels::{
    AnyTensor, AnyTensorExt, Cast, DType, Element, Real, ReduceDims, Result, Tensor, TensorExt,
    tensor, with_tensor,
};

/// For any type that is plain data, also pixels or structs of one's own: what only moves elements.
fn corners<T: Element>(image: &Tensor<T>) -> Result<[T; 2]> {
    let last: Vec<usize> = image.shape().iter().map(|size| size - 1).collect();
    Ok([image.get(&vec![0; image.ndim()])?, image.get(&last)?])
}

/// For f16, bf16, f32 and f64: each row with mean 0 and variance 1.
fn standardised<T: Real>(rows: &Tensor<T>) -> Result<Tensor<T>> {
    let last = ReduceDims::from(-1).keepdim();
    rows.sub(&rows.mean(last.clone())?)?.div(&rows.std(last, 0.0)?)
}

/// For all types that convert to f32.
fn range<T: Cast<f32>>(tensor: &Tensor<T>) -> Result<(f32, f32)> {
    let floats = tensor.cast::<f32>()?;
    Ok((floats.min(..)?.item()?, floats.max(..)?.item()?))
}

/// A type known at run time, as of a file: tensors have the same methods, and `with_tensor!` calls
/// generic functions with the right type.
fn describe(any: &AnyTensor) -> Result<String> {
    let transposed = any.t()?;
    let (low, high) = with_tensor!(&transposed, tensor => range(tensor))?;
    let mean = transposed.to_dtype(DType::F32)?.mean(..)?.to_vec::<f32>()?[0];
    let shape = transposed.shape();
    Ok(format!("{} {shape:?}: {low} to {high}, mean {mean}", transposed.dtype()))
}

fn main() -> Result<()> {
    let pixels = tensor![[[255u8, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 9, 9]]];
    println!("corners of numbers: {:?}", corners(&pixels)?);
    let image = Tensor::from_vec(vec![[255u8, 0, 0], [0, 255, 0], [9, 9, 9]], [1, 3])?;
    println!("corners of pixels:  {:?}", corners(&image.t()?)?);

    println!("{}", standardised(&tensor![[1.0f32, 3.0], [-5.0, 5.0]])?);
    println!("{}", standardised(&tensor![[1.0f64, 3.0], [-5.0, 5.0]])?);

    let file: [AnyTensor; 3] = [
        tensor![[1u8, 2, 3], [4, 5, 6]].into(),
        tensor![[-1.5f64, 2.5]].into(),
        tensor![[true], [false]].into(),
    ];
    for any in &file {
        println!("{}", describe(any)?);
    }
    // The type that is expected, or an error that names both.
    let bytes = Tensor::<u8>::try_from(file[0].clone())?;
    assert_eq!(bytes.sum_all()?, 21);
    println!("{}", Tensor::<f32>::try_from(file[1].clone()).expect_err("it is f64"));
    Ok(())
}
