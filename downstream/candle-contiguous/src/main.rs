//! `contiguous` of permuted tensors: candle's own, and a `CustomOp1` that copies by
//! `tensor_kernels`. Both return new tensors.

mod contiguous;

use candle_core::{DType, Device, Result, Tensor};
use contiguous::contiguous;
use tensor_kernels::{Exec, SimdLevel};
use timing::{best_of, ms, noise, print_table, row, speedup, timed};

fn tensor(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let elements = noise(shape.iter().product());
    let tensor = Tensor::from_vec(elements, shape, &Device::Cpu)?;
    // From -1..1 to what a byte can hold.
    if dtype == DType::U8 {
        tensor.affine(127.0, 128.0)?.to_dtype(dtype)
    } else {
        tensor.to_dtype(dtype)
    }
}

/// All elements, whatever their type, in row-major order.
fn elements(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.flatten_all()?.to_dtype(DType::F32)?.to_vec1()
}

/// The row of one view.
fn case(name: &str, view: &Tensor) -> Result<Vec<String>> {
    assert!(!view.is_contiguous(), "{name}");
    let (ours, theirs) = (contiguous(view)?, view.contiguous()?);
    assert!(ours.is_contiguous() && ours.shape() == theirs.shape(), "{name}");
    assert_eq!(elements(&ours)?, elements(&theirs)?, "{name}");
    drop((ours, theirs));
    let [before, after] =
        best_of([&mut || timed(|| view.contiguous()), &mut || timed(|| contiguous(view))]);
    Ok(row([name, &ms(before), &ms(after), &speedup(before, after)]))
}

fn simd() -> Result<SimdLevel> {
    Exec::current().map(Exec::simd).map_err(candle_core::Error::wrap)
}

fn main() -> Result<()> {
    println!("{}\n", timing::machine(simd()?));
    let heads = tensor(&[8, 1024, 16, 64], DType::F32)?;
    let halves = heads.to_dtype(DType::F16)?;
    let images = tensor(&[32, 64, 112, 112], DType::F32)?;
    let channels_last = tensor(&[32, 112, 112, 64], DType::F32)?;
    let pixels = tensor(&[64, 224, 224, 3], DType::U8)?;
    let weight = tensor(&[4096, 4096], DType::F32)?;
    print_table(&[
        row(["view", "candle", "ours", "speedup"]),
        case("heads f32, B,S,H,D to B,H,S,D", &heads.transpose(1, 2)?)?,
        case("heads f16, B,S,H,D to B,H,S,D", &halves.transpose(1, 2)?)?,
        case("keys f32, B,S,H,D to B,H,D,S", &heads.permute((0, 2, 3, 1))?)?,
        case("32 × 64 × 112² f32, NCHW to NHWC", &images.permute((0, 2, 3, 1))?)?,
        case("32 × 64 × 112² f32, NHWC to NCHW", &channels_last.permute((0, 3, 1, 2))?)?,
        case("64 × 3 × 224² u8, NHWC to NCHW", &pixels.permute((0, 3, 1, 2))?)?,
        case("weight 4096² f32, transposed", &weight.t()?)?,
        case("weight 4096² bf16, transposed", &weight.to_dtype(DType::BF16)?.t()?)?,
    ]);
    println!("\nheads: 8 × 1024 × 16 × 64");
    Ok(())
}
