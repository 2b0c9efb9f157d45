//! NumPy's `.npz` files: zip archives of `.npy` files, stored or deflated.
//!
//! The sizes in an archive are untrusted, too. An entry that would unpack to more than its
//! compression can hold is refused before memory is allocated for it, and checksums are verified
//! where all bytes of an array are read.
//!
//! An entry that is stored lies in a map of the archive as it is. Its data is aligned if its
//! writer has aligned it: this one does, to 64 bytes; NumPy's `savez` puts it at any address.
//!
//! Every public function here has an example.

mod map;
mod read;
mod write;

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use zip::result::ZipError;

pub use self::{map::MappedNpz, read::NpzReader, write::NpzWriter};
use super::{InterchangeError, Mapped, Result};
use crate::{AnyTensorBase, ReadKernel};

/// Whether entries are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// No (NumPy: `savez`).
    #[default]
    Stored,
    /// With deflate (NumPy: `savez_compressed`).
    Deflated,
}

/// Not a `From`, which would make `zip` a part of the interface.
fn refused(error: ZipError) -> InterchangeError {
    match error {
        ZipError::Io(error) => error.into(),
        other => InterchangeError::malformed("npz", other.to_string()),
    }
}

impl<K> AnyTensorBase<K> {
    /// Reads all arrays of an `.npz` file (NumPy: `numpy.load`). [`NpzReader`] reads some of them.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType, interchange::npz::Compression};
    ///
    /// # let folder = std::env::temp_dir().join(format!("load_npz_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("layer.npz");
    /// let weights = AnyTensor::full([3, 4], 0.5, DType::F32)?;
    /// let bias = AnyTensor::zeros([4], DType::F64)?;
    /// let named = [("weights", &weights), ("bias", &bias)];
    /// AnyTensor::save_npz(&path, named, Compression::Stored)?;
    /// let layer = AnyTensor::load_npz(&path)?;
    /// assert_eq!((&layer[1].0[..], layer[1].1.dtype()), ("bias", DType::F64));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`NpzReader::open`] and [`NpzReader::read`], with the path.
    pub fn load_npz(path: impl AsRef<Path>) -> Result<Vec<(String, Self)>> {
        let path = path.as_ref();
        let all = NpzReader::open(path)?.read_all();
        all.map_err(|error| error.at(path.display()))
    }

    /// Maps an `.npz` file into memory and returns all its arrays. Those that are not compressed
    /// lie in the map, which they keep alive, and are read-only; pages are read from the file when
    /// they are used. Others are copied: [`Mapped::copied`] says why. [`MappedNpz`] has some of
    /// them.
    ///
    /// Files of [`save_npz`](Self::save_npz) are aligned; in those of NumPy's `savez` the address
    /// of an array depends on what precedes it, so elements wider than a byte are often copied.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType, interchange::npz::Compression};
    ///
    /// # let folder = std::env::temp_dir().join(format!("map_npz_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("layer.npz");
    /// let bias = AnyTensor::full([4], 0.5, DType::F64)?;
    /// AnyTensor::save_npz(&path, [("bias", &bias)], Compression::Stored)?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// let layer = unsafe { AnyTensor::map_npz(&path) }?;
    /// assert!(layer[0].1.copied.is_none() && layer[0].1.tensor.storage().is_read_only());
    /// # drop(layer);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Safety
    /// That of [`MappedNpz::open`].
    ///
    /// # Errors
    /// Those of [`load_npz`](Self::load_npz).
    pub unsafe fn map_npz(path: impl AsRef<Path>) -> Result<Vec<(String, Mapped<K>)>> {
        let path = path.as_ref();
        // SAFETY: this function's contract.
        let all = unsafe { MappedNpz::open(path) }?.tensors();
        all.map_err(|error| error.at(path.display()))
    }

    /// Writes arrays of any layout to an `.npz` file (NumPy: `numpy.savez`). A file that exists is
    /// replaced, also if an error follows.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, DType, interchange::npz::Compression};
    /// # let folder = std::env::temp_dir().join(format!("save_npz_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("layer.npz");
    /// let bias = AnyTensor::zeros([4], DType::F64)?;
    /// AnyTensor::save_npz(&path, [("bias", &bias)], Compression::Deflated)?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`NpzWriter::write`], with the path.
    pub fn save_npz<'a>(
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = (&'a str, &'a Self)>,
        compression: Compression,
    ) -> Result<()>
    where
        K: ReadKernel + 'a,
    {
        let path = path.as_ref();
        let save = || {
            let mut writer = NpzWriter::new(BufWriter::new(File::create(path)?), compression);
            for (name, tensor) in tensors {
                writer.write(name, tensor)?;
            }
            Ok(writer.finish()?.flush()?)
        };
        save().map_err(|error: InterchangeError| error.at(path.display()))
    }
}
