//! candle's `contiguous` as an operation of one's own, which copies by `tensor_kernels`.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape, Tensor};
use tensor_kernels::{Element, Exec, TensorView, to_vec};

/// `tensor.apply_op1_no_bwd(&Contiguous)`: the elements in row-major order.
pub struct Contiguous;

/// As `tensor.contiguous()`: a tensor that is contiguous already is returned as it is.
pub fn contiguous(tensor: &Tensor) -> Result<Tensor> {
    if tensor.is_contiguous() { Ok(tensor.clone()) } else { tensor.apply_op1_no_bwd(&Contiguous) }
}

impl CustomOp1 for Contiguous {
    fn name(&self) -> &'static str {
        "strided-contiguous"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let copied = match storage {
            CpuStorage::U8(elements) => CpuStorage::U8(copied(elements, layout)?),
            CpuStorage::U32(elements) => CpuStorage::U32(copied(elements, layout)?),
            CpuStorage::I16(elements) => CpuStorage::I16(copied(elements, layout)?),
            CpuStorage::I32(elements) => CpuStorage::I32(copied(elements, layout)?),
            CpuStorage::I64(elements) => CpuStorage::I64(copied(elements, layout)?),
            CpuStorage::BF16(elements) => CpuStorage::BF16(copied(elements, layout)?),
            CpuStorage::F16(elements) => CpuStorage::F16(copied(elements, layout)?),
            CpuStorage::F32(elements) => CpuStorage::F32(copied(elements, layout)?),
            CpuStorage::F64(elements) => CpuStorage::F64(copied(elements, layout)?),
            _ => return Err(Error::Msg("strided-contiguous: no floats of 8 bits or less".into())),
        };
        Ok((copied, layout.shape().clone()))
    }
}

/// The elements that candle's layout takes from a storage, in row-major order.
fn copied<T: Element>(storage: &[T], layout: &Layout) -> Result<Vec<T>> {
    let to_vec = || {
        let strides: Vec<isize> = layout.stride().iter().map(|&stride| stride as isize).collect();
        let layout = tensor_kernels::Layout::new(layout.dims(), &strides, layout.start_offset())?;
        to_vec(&Exec::current()?.serial(), &TensorView::new(storage, layout)?)
    };
    to_vec().map_err(Error::wrap)
}
