//! Arrays of other libraries and of files: without a copy where the format allows it, an error
//! where it does not.
//!
//! | feature | what | without a copy |
//! |---|---|---|
//! | `ndarray` | `ArrayView`, `ArrayViewMut` and `Array` of the crate ndarray | views both ways; `Array` from and to a tensor made from a vector |
//! | `npy` | NumPy's `.npy` files | memory-mapped files |
//! | `npz` | NumPy's `.npz` files | – |
//! | `safetensors` | files of Hugging Face's safetensors | memory-mapped files |
//! | `dlpack` | DLPack 1.x: PyTorch, NumPy, JAX, … in the same process | import and export |
//!
//! None is on by default. [`AnyTensor`](crate::AnyTensor) is what files are read to and written
//! from, so a program needs no `match` on dtypes.

mod error;

#[cfg(feature = "ndarray")]
mod ndarray;

pub use error::{InterchangeError, Result};
