//! Writing arrays to an archive.

use std::io::{Seek, Write};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{
    super::{InterchangeError, Result, npy, npy::Order},
    Compression, refused,
};
use crate::{AnyTensorBase, ReadKernel};

/// From this size on an entry needs the 64-bit fields of zip.
const LARGE_ENTRY_BYTES: usize = 2 << 30;

/// Stored arrays start at multiples of this, so that they can be used where they are mapped. The
/// header of an array has a multiple of it, too.
const ALIGNMENT: u16 = 64;

/// Writes arrays to an archive.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
    compression: Compression,
    names: std::collections::BTreeSet<String>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive that is written to `out`; see [`NpzReader`](super::NpzReader) for an example.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// # use std::io::Cursor;
    /// use tensor_kernels::interchange::npz::{Compression, NpzWriter};
    ///
    /// let empty = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored).finish()?;
    /// assert_eq!(empty.into_inner().len(), 22);
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn new(out: W, compression: Compression) -> Self {
        Self { zip: ZipWriter::new(out), compression, names: Default::default() }
    }

    /// Writes an array of any layout, in C order.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// # use std::io::Cursor;
    /// # use tensor_core::interchange::{InterchangeError, npz::{Compression, NpzWriter}};
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored);
    /// let tensor = AnyTensor::zeros([3], DType::F32)?;
    /// writer.write("a", &tensor)?;
    /// let refused = writer.write("a", &tensor).unwrap_err();
    /// assert!(matches!(refused, InterchangeError::DuplicateName { .. }));
    /// # Ok::<(), InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::DuplicateName`]; those of [`npy::write`].
    pub fn write<K: ReadKernel>(&mut self, name: &str, tensor: &AnyTensorBase<K>) -> Result<()> {
        npy::check_expressible(tensor.dtype()).map_err(|error| error.at(name))?;
        if !self.names.insert(name.to_owned()) {
            return Err(InterchangeError::DuplicateName { name: name.to_owned() });
        }
        let (method, alignment) = match self.compression {
            Compression::Stored => (CompressionMethod::Stored, ALIGNMENT),
            Compression::Deflated => (CompressionMethod::Deflated, 1),
        };
        let is_large = tensor.layout().dense_bytes(tensor.itemsize())? >= LARGE_ENTRY_BYTES;
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .with_alignment(alignment)
            .large_file(is_large);
        self.zip.start_file(format!("{name}.npy"), options).map_err(refused)?;
        npy::write(&mut self.zip, tensor, Order::C).map_err(|error| error.at(name))
    }

    /// Writes the list of entries, without which the archive cannot be read.
    ///
    /// ```
    /// # use std::io::Cursor;
    /// # use tensor_core::interchange::npz::{Compression, NpzWriter};
    /// let writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Deflated);
    /// let file: Vec<u8> = writer.finish()?.into_inner();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// An error of the sink.
    pub fn finish(self) -> Result<W> {
        self.zip.finish().map_err(refused)
    }
}
