//! Reading the arrays of an archive.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use zip::{ZipArchive, read::ZipFile, result::ZipError};

use super::{
    super::{InterchangeError, Result, file, npy},
    refused,
};
use crate::AnyTensorBase;

/// Deflate packs at most 1032 bytes into one.
const MAX_RATIO: u64 = 1032;

/// What precedes and follows deflated data of any size.
const MAX_EMPTY_BYTES: u64 = 1024;

/// Reads the arrays of an archive by name.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use std::io::Cursor;
/// use tensor_kernels::{AnyTensor, DType, interchange::npz::{Compression, NpzReader, NpzWriter}};
///
/// let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Deflated);
/// writer.write("bias", &AnyTensor::full([3], 0.5, DType::F32)?)?;
/// let file = writer.finish()?;
///
/// let mut reader = NpzReader::new(file)?;
/// assert_eq!(reader.names().collect::<Vec<_>>(), ["bias"]);
/// let bias: AnyTensor = reader.read("bias")?;
/// assert_eq!((bias.dtype(), bias.shape()), (DType::F32, &[3][..]));
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
pub struct NpzReader<R> {
    archive: ZipArchive<R>,
    pub(super) len: u64,
}

impl NpzReader<BufReader<File>> {
    /// Opens an archive; reads only its list of entries.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::interchange::npz::NpzReader;
    ///
    /// assert!(NpzReader::open("/missing/weights.npz").is_err());
    /// ```
    ///
    /// # Errors
    /// A file that cannot be opened, is not regular, or is no archive.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || Self::new(BufReader::new(file::open(path)?.0));
        open().map_err(|error| error.at(path.display()))
    }
}

impl<R: Read + Seek> NpzReader<R> {
    /// An archive in memory, or from any other source.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::io::Cursor;
    /// use tensor_kernels::interchange::npz::NpzReader;
    ///
    /// assert!(NpzReader::new(Cursor::new(b"no archive")).is_err());
    /// ```
    ///
    /// # Errors
    /// A source that is no archive; an error of the source.
    pub fn new(mut source: R) -> Result<Self> {
        let len = source.seek(SeekFrom::End(0))?;
        Ok(Self { archive: ZipArchive::new(source).map_err(refused)?, len })
    }

    /// The names of the arrays, in the order of the archive.
    ///
    /// ```
    /// # use std::io::Cursor;
    /// # use tensor_core::interchange::npz::{Compression, NpzReader, NpzWriter};
    /// let empty = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored).finish()?;
    /// assert_eq!(NpzReader::new(empty)?.names().count(), 0);
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.archive.len())
            .filter_map(|at| self.archive.name_for_index(at)?.strip_suffix(".npy"))
    }

    /// Reads one array.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// # use std::io::Cursor;
    /// # use tensor_core::interchange::npz::{Compression, NpzReader, NpzWriter};
    /// use tensor_kernels::{AnyTensor, interchange::InterchangeError};
    ///
    /// # let empty = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored).finish()?;
    /// let mut reader = NpzReader::new(empty)?;
    /// let refused = reader.read("w").map(|_: AnyTensor| ()).unwrap_err();
    /// assert!(matches!(refused, InterchangeError::NoSuchTensor { .. }));
    /// # Ok::<(), InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::NoSuchTensor`]; those of [`npy::read`]; an entry that is encrypted, is
    /// compressed otherwise than with deflate, or whose checksum is wrong.
    pub fn read<K>(&mut self, name: &str) -> Result<AnyTensorBase<K>> {
        let archive = self.len;
        self.with_entry(name, |entry| read_entry(entry, archive))
    }

    /// Calls `f` with the entry of an array.
    ///
    /// # Errors
    /// [`InterchangeError::NoSuchTensor`]; those of `f`, with the name.
    pub(super) fn with_entry<T>(
        &mut self,
        name: &str,
        f: impl FnOnce(ZipFile<'_, R>) -> Result<T>,
    ) -> Result<T> {
        let entry = match self.archive.by_name(&format!("{name}.npy")) {
            Err(ZipError::FileNotFound) => {
                return Err(InterchangeError::NoSuchTensor { name: name.to_owned() });
            }
            entry => entry.map_err(refused),
        };
        entry.and_then(f).map_err(|error| error.at(name))
    }

    /// Reads all arrays, in the order of the archive.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// # use std::io::Cursor;
    /// # use tensor_core::interchange::npz::{Compression, NpzReader, NpzWriter};
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored);
    /// writer.write("a", &AnyTensor::zeros([3], DType::U8)?)?;
    /// writer.write("b", &AnyTensor::zeros([2, 2], DType::F64)?)?;
    /// let all: Vec<(String, AnyTensor)> = NpzReader::new(writer.finish()?)?.read_all()?;
    /// assert_eq!((all.len(), &all[1].0[..], all[1].1.shape()), (2, "b", &[2, 2][..]));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](Self::read), of any array.
    pub fn read_all<K>(&mut self) -> Result<Vec<(String, AnyTensorBase<K>)>> {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        let read = |name: String| self.read(&name).map(|tensor| (name, tensor));
        names.into_iter().map(read).collect()
    }
}

fn read_entry<R: Read, K>(mut entry: ZipFile<'_, R>, archive: u64) -> Result<AnyTensorBase<K>> {
    check_sizes(&entry, archive)?;
    let size = entry.size();
    let tensor = npy::read(&mut entry, size)?;
    // The checksum is compared at the end of the entry.
    match entry.read(&mut [0])? {
        0 => Ok(tensor),
        _ => {
            Err(InterchangeError::malformed("npz", format!("more than the {size} bytes promised")))
        }
    }
}

/// The sizes of an entry, in an archive of `archive` bytes.
pub(super) fn check_sizes<R: Read>(entry: &ZipFile<'_, R>, archive: u64) -> Result<()> {
    let (size, packed) = (entry.size(), entry.compressed_size());
    if packed <= archive && size <= packed.saturating_mul(MAX_RATIO) + MAX_EMPTY_BYTES {
        return Ok(());
    }
    let why = format!("{packed} bytes, of {archive} of the archive, cannot unpack to {size}");
    Err(InterchangeError::malformed("npz", why))
}
