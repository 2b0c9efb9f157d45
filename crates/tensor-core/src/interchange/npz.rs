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

use std::{
    fs::File,
    io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
    sync::Arc,
};

use memmap2::Mmap;
use zip::{
    CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, result::ZipError,
    write::SimpleFileOptions,
};

use super::{
    InterchangeError, Mapped, Result, WhyCopied, file,
    npy::{self, Order},
};
use crate::{AnyTensorBase, ReadKernel};

/// Deflate packs at most 1032 bytes into one.
const MAX_RATIO: u64 = 1032;

/// What precedes and follows deflated data of any size.
const MAX_EMPTY_BYTES: u64 = 1024;

/// From this size on an entry needs the 64-bit fields of zip.
const LARGE_ENTRY_BYTES: usize = 2 << 30;

/// Stored arrays start at multiples of this, so that they can be used where they are mapped. The
/// header of an array has a multiple of it, too.
const ALIGNMENT: u16 = 64;

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
    len: u64,
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

/// An archive that is mapped into memory. Arrays that are not compressed are used where they lie.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::interchange::{Mapped, npz::{Compression, MappedNpz}};
/// use tensor_kernels::{AnyTensor, DType};
///
/// # let folder = std::env::temp_dir().join(format!("MappedNpz_{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("layer.npz");
/// let weights = AnyTensor::full([1000, 1000], 0.5, DType::F32)?;
/// AnyTensor::save_npz(&path, [("weights", &weights)], Compression::Stored)?;
/// // SAFETY: nobody changes the file while the program runs.
/// let mut archive = unsafe { MappedNpz::open(&path) }?;
/// let Mapped { tensor, copied } = archive.tensor("weights")?;
/// drop(archive);
/// let weights: AnyTensor = tensor;
/// assert!(copied.is_none() && weights.storage().is_read_only());
/// # drop(weights);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
pub struct MappedNpz {
    reader: NpzReader<Cursor<MapBytes>>,
    map: Arc<Mmap>,
}

/// The bytes of a map.
struct MapBytes(Arc<Mmap>);

impl AsRef<[u8]> for MapBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl MappedNpz {
    /// Maps an archive; reads only its list of entries. See [`MappedNpz`] for an example.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::interchange::npz::MappedNpz;
    ///
    /// // SAFETY: there is no file.
    /// assert!(unsafe { MappedNpz::open("/missing/weights.npz") }.is_err());
    /// ```
    ///
    /// # Safety
    /// Nobody changes the file while the archive or a tensor in the map, or another one of its
    /// storage, lives: elements that change are undefined behaviour, and a file that is cut ends
    /// the process with SIGBUS. [`NpzReader::open`] has no such condition.
    ///
    /// # Errors
    /// Those of [`NpzReader::open`].
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || {
            // SAFETY: this function's contract; the tensors keep the map alive.
            let map = unsafe { file::map(path) }?;
            let reader = NpzReader::new(Cursor::new(MapBytes(Arc::clone(&map))))?;
            Ok(Self { reader, map })
        };
        open().map_err(|error: InterchangeError| error.at(path.display()))
    }

    /// The names of the arrays, in the order of the archive.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, interchange::npz::{Compression, MappedNpz}};
    /// # let folder = std::env::temp_dir().join(format!("npz_names_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("empty.npz");
    /// AnyTensor::save_npz(&path, [], Compression::Stored)?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// assert_eq!(unsafe { MappedNpz::open(&path) }?.names().count(), 0);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.reader.names()
    }

    /// An array in the map, read-only; the tensor keeps the map alive.
    ///
    /// It is copied, and [`Mapped::copied`] says why, if it is compressed, if its data is not
    /// aligned for its type, and if its byte order is that of other machines. Its checksum is
    /// compared only if it is compressed: that reads all of it.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::interchange::{Mapped, WhyCopied, npz::{Compression, MappedNpz}};
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("npz_tensor_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("layer.npz");
    /// let bias = AnyTensor::full([4], 0.5, DType::F64)?;
    /// AnyTensor::save_npz(&path, [("bias", &bias)], Compression::Deflated)?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// let mut layer = unsafe { MappedNpz::open(&path) }?;
    /// let Mapped { tensor, copied } = layer.tensor("bias")?;
    /// let bias: AnyTensor = tensor;
    /// assert_eq!((bias.shape(), copied), (&[4][..], Some(WhyCopied::Compressed)));
    /// # drop(layer);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`NpzReader::read`].
    pub fn tensor<K>(&mut self, name: &str) -> Result<Mapped<K>> {
        let archive = self.reader.len;
        let range = self.reader.with_entry(name, |entry| stored_range(&entry, archive))?;
        match range {
            Some(range) => npy::map(&self.map, range).map_err(|error| error.at(name)),
            None => {
                let tensor = self.reader.read(name)?;
                Ok(Mapped { tensor, copied: Some(WhyCopied::Compressed) })
            }
        }
    }

    /// All arrays, in the order of the archive, each as [`tensor`](Self::tensor) gives it.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, Bare, interchange::npz::{Compression, MappedNpz}};
    /// # let folder = std::env::temp_dir().join(format!("npz_tensors_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("empty.npz");
    /// AnyTensor::save_npz(&path, [], Compression::Stored)?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// assert!(unsafe { MappedNpz::open(&path) }?.tensors::<Bare>()?.is_empty());
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`tensor`](Self::tensor), of any array.
    pub fn tensors<K>(&mut self) -> Result<Vec<(String, Mapped<K>)>> {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        let mapped = |name: String| self.tensor(&name).map(|tensor| (name, tensor));
        names.into_iter().map(mapped).collect()
    }
}

/// Where the data of an entry lies in the archive, if it is not compressed.
///
/// # Errors
/// Sizes that contradict each other or the archive.
fn stored_range<R: Read>(entry: &ZipFile<'_, R>, archive: u64) -> Result<Option<Range<usize>>> {
    if entry.compression() != CompressionMethod::Stored {
        return Ok(None);
    }
    check_sizes(entry, archive)?;
    let (size, start) = (entry.size(), entry.data_start());
    let end = start.and_then(|start| start.checked_add(size)).filter(|&end| end <= archive);
    match (start, end) {
        (Some(start), Some(end)) if entry.compressed_size() == size => {
            Ok(Some(start as usize..end as usize))
        }
        _ => {
            let packed = entry.compressed_size();
            let why = format!(
                "{size} bytes, stored as {packed} from byte {start:?} on, of {archive} of the \
                 archive"
            );
            Err(InterchangeError::malformed("npz", why))
        }
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
    fn with_entry<T>(
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
fn check_sizes<R: Read>(entry: &ZipFile<'_, R>, archive: u64) -> Result<()> {
    let (size, packed) = (entry.size(), entry.compressed_size());
    if packed <= archive && size <= packed.saturating_mul(MAX_RATIO) + MAX_EMPTY_BYTES {
        return Ok(());
    }
    let why = format!("{packed} bytes, of {archive} of the archive, cannot unpack to {size}");
    Err(InterchangeError::malformed("npz", why))
}

/// Writes arrays to an archive.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
    compression: Compression,
    names: std::collections::BTreeSet<String>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive that is written to `out`; see [`NpzReader`] for an example.
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
