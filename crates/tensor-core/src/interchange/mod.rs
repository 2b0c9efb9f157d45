//! Arrays of other libraries and of files: without a copy where the format allows it, an error
//! where it does not.
//!
//! | feature | what | without a copy |
//! |---|---|---|
//! | `ndarray` | views and arrays of the crate ndarray | views; arrays, which own vectors |
//! | `npy` | NumPy's `.npy` files | memory-mapped files |
//! | `npz` | NumPy's `.npz` files | memory-mapped entries that are not compressed |
//! | `safetensors` | files of Hugging Face's safetensors | memory-mapped files |
//! | `dlpack` | DLPack 1.x: PyTorch, NumPy, JAX, … in the same process | import and export |
//!
//! None is on by default. [`AnyTensor`](crate::AnyTensor) is what files are read to and written
//! from, so a program needs no `match` on dtypes.

mod error;
#[cfg(any(feature = "npy", feature = "safetensors"))]
mod file;
#[cfg(any(feature = "npy", feature = "safetensors"))]
mod stored;

#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "safetensors")]
pub mod safetensors;

pub use error::{InterchangeError, Result};

/// A tensor from a memory-mapped file.
#[cfg(any(feature = "npy", feature = "safetensors"))]
#[derive(Debug)]
pub struct Mapped<K> {
    /// The tensor; read-only if it was not copied.
    pub tensor: crate::AnyTensorBase<K>,
    /// Why the elements had to be copied; `None` if they lie in the map.
    pub copied: Option<WhyCopied>,
}

/// Why elements of a memory-mapped file had to be copied.
#[cfg(any(feature = "npy", feature = "safetensors"))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WhyCopied {
    /// Their address is no multiple of their alignment.
    Misaligned,
    /// They have the byte order of other machines.
    ByteOrder,
    /// The file was opened for reading, not mapped.
    NotMapped,
    /// They are compressed.
    Compressed,
}

/// Every byte must be a bool. `before`: the elements before these.
#[cfg(any(feature = "npy", feature = "safetensors", feature = "dlpack"))]
fn check_bools(bytes: &[u8], before: usize) -> Result<()> {
    // Without an early exit, so that the compiler makes vector instructions of it.
    if bytes.iter().fold(0, |all, &byte| all | byte) <= 1 {
        return Ok(());
    }
    match bytes.iter().enumerate().find(|&(_, &byte)| byte > 1) {
        Some((at, &byte)) => Err(InterchangeError::NotBool { element: before + at, byte }),
        None => Ok(()),
    }
}
