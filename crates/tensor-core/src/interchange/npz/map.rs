//! Archives that are mapped into memory.

use std::{
    io::{Cursor, Read},
    ops::Range,
    path::Path,
    sync::Arc,
};

use memmap2::Mmap;
use zip::{CompressionMethod, read::ZipFile};

use super::{
    super::{InterchangeError, Mapped, Result, WhyCopied, file, npy},
    read::{NpzReader, check_sizes},
};

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
