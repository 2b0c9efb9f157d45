//! Arrays of other libraries, and files: taken over, lent and mapped without a copy. Whatever their
//! element type, all of them are an `AnyTensor`.
//!
//! ```sh
//! cargo run --release -p examples --bin interchange
//! ```
//!
//! ```text
//! for ndarray:
//! [[1, 4],
//!  [2, 5],
//!  [3, 6]]
//! refused: a tensor of shape [3, 2] strides [1, 3] is not contiguous [save a copy, \
//! .contiguous()?, or choose to write the elements in logical order: pack]
//! .npy         f32 [3, 2] strides [2, 1], plus bias, summed: 24.0
//! DLPack       f32 [3, 2] strides [1, 3], plus bias, summed: 24.0
//! bias         f64 [3, 1] strides [1, 1], plus bias, summed: 3.0
//! weights      f32 [3, 2] strides [2, 1], plus bias, summed: 24.0
//! ```

use std::{collections::BTreeMap, env, error::Error, fs, path::Path, process};

use ndarray::{Ix2, arr2};
use tensor_kernels::{
    AnyTensor, AnyTensorExt, DType, Tensor,
    interchange::{Mapped, safetensors::SaveOptions},
};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("interchange_{}", process::id()));
    fs::create_dir_all(&folder)?;
    let shown = show(&folder);
    fs::remove_dir_all(&folder)?;
    shown
}

fn show(folder: &Path) -> Result<(), Box<dyn Error>> {
    // An array of ndarray: its memory becomes that of a tensor.
    let array = arr2(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let memory = array.as_ptr();
    let tensor = Tensor::from_ndarray(array)?;
    assert_eq!(tensor.data_ptr(), memory);

    // Lent to ndarray, permuted, while the elements are borrowed for reading.
    let columns = tensor.t()?;
    let elements = columns.read()?;
    let lent = elements.as_view().to_ndarray::<Ix2>()?;
    println!("for ndarray:\n{lent}");
    assert_eq!(lent.as_ptr(), memory);
    drop(elements);

    let mut all = BTreeMap::new();
    // DLPack, as PyTorch and NumPy have it: a pointer to a struct, with strides.
    let pointer = columns.to_dlpack().into_raw();
    // SAFETY: nobody else takes the pointer, and nobody writes the elements meanwhile.
    let taken: AnyTensor = unsafe { AnyTensor::from_dlpack(pointer) }?;
    assert_eq!(taken.typed::<f32>().map(Tensor::data_ptr), Some(memory));
    all.insert("DLPack".to_owned(), taken.clone());

    // NumPy's file: written from any layout, mapped into memory. Elements are read when used.
    let path = folder.join("columns.npy");
    taken.save_npy(&path)?;
    // SAFETY: nobody changes the file while it is mapped.
    let Mapped { tensor, copied } = unsafe { AnyTensor::map_npy(&path) }?;
    assert!(copied.is_none() && tensor.storage().is_read_only());
    all.insert(".npy".to_owned(), tensor);

    // Named tensors in a safetensors file: contiguous, or packed on request.
    let path = folder.join("model.safetensors");
    let bias = AnyTensor::full([3, 1], 0.5, DType::F64)?;
    let named = [("weights", &taken), ("bias", &bias)];
    let refused = AnyTensor::save_safetensors(&path, named, &SaveOptions::new());
    println!("refused: {}", refused.expect_err("a transposed view").cause());
    AnyTensor::save_safetensors(&path, named, &SaveOptions::new().pack())?;
    // SAFETY: nobody changes the file while it is mapped.
    for (name, mapped) in unsafe { AnyTensor::map_safetensors(&path) }? {
        assert!(mapped.copied.is_none());
        all.insert(name, mapped.tensor);
    }

    // Operations take them all, whatever their types and wherever their memory is.
    for (name, tensor) in &all {
        let (dtype, shape, strides) = (tensor.dtype(), tensor.shape(), tensor.strides());
        let sum = tensor.add(&all["bias"])?.sum(..)?.item()?;
        println!("{name:<12} {dtype} {shape:?} strides {strides:?}, plus bias, summed: {sum}");
    }
    Ok(())
}
