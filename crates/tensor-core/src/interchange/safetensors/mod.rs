//! Files of Hugging Face's safetensors: named tensors, and texts about them.
//!
//! The crate of that name parses and checks the header. Elements are little-endian and contiguous.
//! The format does not align them, though all known writers sort tensors by the width of their
//! elements, which does.
//!
//! Every public function here has an example.

mod save;

use std::{
    collections::BTreeMap,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};
use memmap2::Mmap;

use super::{InterchangeError, Mapped, Result, WhyCopied, file, stored};
use crate::{AnyTensorBase, DType, Layout};
pub use save::{SaveOptions, write};

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The elements' byte order is not that of this machine.
const SWAP: bool = cfg!(target_endian = "big");

fn malformed(why: impl Into<String>) -> InterchangeError {
    InterchangeError::malformed("safetensors", why)
}

/// A file whose tensors are loaded by name.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::interchange::safetensors::{SafetensorsFile, SaveOptions};
/// use tensor_kernels::{AnyTensor, DType};
///
/// # let folder = std::env::temp_dir().join(format!("SafetensorsFile_{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("model.safetensors");
/// let weights = AnyTensor::full([3, 4], 0.5, DType::F32)?;
/// let options = SaveOptions::new().metadata("format", "pt");
/// AnyTensor::save_safetensors(&path, [("weights", &weights)], &options)?;
///
/// // SAFETY: nobody changes the file while the program runs.
/// let model = unsafe { SafetensorsFile::map(&path) }?;
/// assert_eq!((&model.names()[0][..], &model.metadata()["format"][..]), ("weights", "pt"));
/// let weights: AnyTensor = model.tensor("weights")?;
/// drop(model);
/// assert_eq!((weights.dtype(), weights.shape()), (DType::F32, &[3, 4][..]));
/// assert!(weights.storage().is_read_only()); // it lies in the map, which it keeps alive
/// # drop(weights);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
pub struct SafetensorsFile {
    /// Of the file, for errors.
    path: Option<PathBuf>,
    source: Source,
    header: Metadata,
    names: Vec<String>,
    texts: BTreeMap<String, String>,
    /// Where the data starts.
    start: u64,
}

enum Source {
    Reader(Mutex<Box<dyn ReadSeek>>),
    Map(Arc<Mmap>),
}

trait ReadSeek: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadSeek for R {}

impl SafetensorsFile {
    /// Opens a file. [`tensor`](Self::tensor) reads into memory of its own.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::interchange::safetensors::SafetensorsFile;
    ///
    /// let missing = SafetensorsFile::open("/missing/model.safetensors");
    /// assert!(missing.is_err_and(|error| error.to_string().starts_with("/missing/model")));
    /// ```
    ///
    /// # Errors
    /// A file that cannot be opened, is not regular, or whose header breaks the format's rules.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || Self::from_source(file::open(path)?.0);
        let opened = open().map_err(|error| error.at(path.display()))?;
        Ok(Self { path: Some(path.to_owned()), ..opened })
    }

    /// A file in memory, or in any other source. [`tensor`](Self::tensor) reads into memory of its
    /// own.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use std::io::Cursor;
    /// use tensor_kernels::interchange::safetensors::SafetensorsFile;
    ///
    /// let without_tensors = SafetensorsFile::from_source(Cursor::new(b"\x02\0\0\0\0\0\0\0{}"))?;
    /// assert!(without_tensors.names().is_empty());
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// A header that breaks the format's rules, an error of the source.
    pub fn from_source(mut source: impl Read + Seek + Send + 'static) -> Result<Self> {
        let len = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let (header, start) = read_header(&mut source, len)?;
        Ok(Self::new(Source::Reader(Mutex::new(Box::new(source))), header, start))
    }

    /// Maps a file into memory. Tensors lie in the map, are read-only, and keep it alive. Those
    /// that are not aligned for their type are copied, and those of a machine of the other byte
    /// order: [`why_copied`](Self::why_copied). See [`SafetensorsFile`] for an example.
    ///
    /// ```
    /// # use tensor_core::interchange::safetensors::SafetensorsFile;
    /// // SAFETY: there is no file.
    /// assert!(unsafe { SafetensorsFile::map("/missing/model.safetensors") }.is_err());
    /// ```
    ///
    /// # Safety
    /// Nobody changes the file while a tensor of it, or another one of its storage, lives: elements
    /// that change are undefined behaviour, and a file that is cut ends the process with SIGBUS.
    /// [`open`](Self::open) has no such condition.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || {
            // SAFETY: the caller guarantees that nobody changes the file while the map lives, which
            // its tensors keep alive.
            let map = unsafe { file::map(path) }?;
            let (header, start) = read_header(&mut &map[..], map.len() as u64)?;
            Ok(Self::new(Source::Map(map), header, start))
        };
        let opened = open().map_err(|error: InterchangeError| error.at(path.display()))?;
        Ok(Self { path: Some(path.to_owned()), ..opened })
    }

    fn new(source: Source, header: Metadata, start: u64) -> Self {
        let texts = header.metadata().iter().flatten();
        let texts = texts.map(|(key, text)| (key.clone(), text.clone())).collect();
        let names = header.offset_keys();
        Self { path: None, source, header, names, texts, start }
    }

    /// The names of the tensors, in the order of the file.
    ///
    /// ```no_run
    /// # use tensor_core::interchange::safetensors::SafetensorsFile;
    /// for name in SafetensorsFile::open("model.safetensors")?.names() {
    ///     println!("{name}");
    /// }
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The texts about the tensors, by their keys.
    ///
    /// ```no_run
    /// # use tensor_core::interchange::safetensors::SafetensorsFile;
    /// let model = SafetensorsFile::open("model.safetensors")?;
    /// assert_eq!(model.metadata().get("format").map(String::as_str), Some("pt"));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// Loads a tensor.
    ///
    /// ```no_run
    /// # use tensor_core::{AnyTensor, interchange::safetensors::SafetensorsFile};
    /// let model = SafetensorsFile::open("model.safetensors")?;
    /// let bias: AnyTensor = model.tensor("encoder.bias")?;
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// [`InterchangeError::NoSuchTensor`], [`InterchangeError::UnsupportedDType`] for floats of 4,
    /// 6 and 8 bits, no memory, an error of the file; with its path and the tensor's name.
    pub fn tensor<K>(&self, name: &str) -> Result<AnyTensorBase<K>> {
        Ok(self.mapped(name)?.tensor)
    }

    fn mapped<K>(&self, name: &str) -> Result<Mapped<K>> {
        let load = || {
            let (info, dtype) = self.info(name)?;
            self.load(info, dtype).map_err(|error| error.at(name))
        };
        load().map_err(|error| self.at(error))
    }

    fn at(&self, error: InterchangeError) -> InterchangeError {
        match &self.path {
            Some(path) => error.at(path.display()),
            None => error,
        }
    }

    fn load<K>(&self, info: &TensorInfo, dtype: DType) -> Result<Mapped<K>> {
        let layout = Layout::contiguous(&info.shape)?;
        let from = self.start + info.data_offsets.0 as u64;
        match &self.source {
            Source::Map(map) => {
                let bytes = from as usize..self.start as usize + info.data_offsets.1;
                stored::map(map, bytes, dtype, layout, SWAP)
            }
            Source::Reader(source) => {
                // A panic elsewhere leaves the source at another position, which is set here.
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                source.seek(SeekFrom::Start(from))?;
                let tensor = stored::read(&mut *source, dtype, layout, SWAP)?;
                Ok(Mapped { tensor, copied: Some(WhyCopied::NotMapped) })
            }
        }
    }

    /// Why [`tensor`](Self::tensor) copies the elements; `None` if it does not.
    ///
    /// ```no_run
    /// # use tensor_core::interchange::safetensors::SafetensorsFile;
    /// // SAFETY: nobody changes the file while the program runs.
    /// let model = unsafe { SafetensorsFile::map("model.safetensors") }?;
    /// assert!(model.why_copied("encoder.bias")?.is_none());
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`tensor`](Self::tensor) that are known before it is loaded.
    pub fn why_copied(&self, name: &str) -> Result<Option<WhyCopied>> {
        let (info, dtype) = self.info(name).map_err(|error| self.at(error))?;
        let Source::Map(map) = &self.source else { return Ok(Some(WhyCopied::NotMapped)) };
        let address = map.as_ptr().addr() + self.start as usize + info.data_offsets.0;
        Ok(match stored::alignment(dtype)? {
            _ if SWAP && dtype.size() > 1 => Some(WhyCopied::ByteOrder),
            align if address.is_multiple_of(align) => None,
            _ => Some(WhyCopied::Misaligned),
        })
    }

    fn info(&self, name: &str) -> Result<(&TensorInfo, DType)> {
        let missing = || InterchangeError::NoSuchTensor { name: name.to_owned() };
        let info = self.header.info(name).ok_or_else(missing)?;
        let known = DTYPES.iter().find(|(dtype, _)| *dtype == info.dtype);
        let unsupported = || {
            let (format, dtype) = ("safetensors", format!("{:?}", info.dtype));
            InterchangeError::UnsupportedDType { format, dtype }.at(name)
        };
        Ok((info, known.ok_or_else(unsupported)?.1))
    }
}

/// The header of a source of `len` bytes, and where the data starts. It is checked that the tensors
/// are next to each other, from there to the end.
fn read_header(source: &mut dyn Read, len: u64) -> Result<(Metadata, u64)> {
    let mut size = [0; 8];
    source.read_exact(&mut size).map_err(|_| malformed("a file of less than 8 bytes"))?;
    let size = u64::from_le_bytes(size);
    let follow = len.saturating_sub(8);
    if size > MAX_HEADER_BYTES.min(follow) {
        let why = format!("a header of {size} bytes, where {follow} follow [at most 100 MB]");
        return Err(malformed(why));
    }
    let mut text = vec![0; size as usize];
    source.read_exact(&mut text)?;
    let header: Metadata =
        serde_json::from_slice(&text).map_err(|error| malformed(format!("header: {error}")))?;
    let (needed, given) = (header.data_len() as u64, follow - size);
    if needed != given {
        let why = format!("the header describes {needed} bytes of data, {given} follow");
        return Err(malformed(why));
    }
    Ok((header, 8 + size))
}

const DTYPES: &[(Dtype, DType)] = &[
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::U8),
    (Dtype::U16, DType::U16),
    (Dtype::U32, DType::U32),
    (Dtype::U64, DType::U64),
    (Dtype::I8, DType::I8),
    (Dtype::I16, DType::I16),
    (Dtype::I32, DType::I32),
    (Dtype::I64, DType::I64),
    (Dtype::F16, DType::F16),
    (Dtype::BF16, DType::Bf16),
    (Dtype::F32, DType::F32),
    (Dtype::F64, DType::F64),
    (Dtype::C64, DType::C64),
];

impl<K> AnyTensorBase<K> {
    /// Reads all tensors of a safetensors file, in the order of the file. [`SafetensorsFile`] loads
    /// some of them.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType, interchange::safetensors::SaveOptions};
    ///
    /// # let folder = std::env::temp_dir().join(format!("load_st_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("model.safetensors");
    /// let bias = AnyTensor::zeros([4], DType::F32)?;
    /// AnyTensor::save_safetensors(&path, [("bias", &bias)], &SaveOptions::new())?;
    /// let tensors = AnyTensor::load_safetensors(&path)?;
    /// assert_eq!((&tensors[0].0[..], tensors[0].1.shape()), ("bias", &[4][..]));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`SafetensorsFile::open`] and [`SafetensorsFile::tensor`].
    pub fn load_safetensors(path: impl AsRef<Path>) -> Result<Vec<(String, Self)>> {
        let file = SafetensorsFile::open(path)?;
        file.names.iter().map(|name| Ok((name.clone(), file.tensor(name)?))).collect()
    }

    /// Maps a safetensors file into memory: all its tensors, in the order of the file. They are
    /// read-only, lie in the map and keep it alive; their elements are read when they are used.
    /// Others are copied: [`Mapped::copied`] says why. [`SafetensorsFile::map`] has some of them.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType, interchange::safetensors::SaveOptions};
    ///
    /// # let folder = std::env::temp_dir().join(format!("map_st_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("model.safetensors");
    /// let bias = AnyTensor::full([4], 0.5, DType::F32)?;
    /// AnyTensor::save_safetensors(&path, [("bias", &bias)], &SaveOptions::new())?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// let model = unsafe { AnyTensor::map_safetensors(&path) }?;
    /// assert!(model[0].1.copied.is_none() && model[0].1.tensor.storage().is_read_only());
    /// # drop(model);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Safety
    /// That of [`SafetensorsFile::map`].
    ///
    /// # Errors
    /// Those of [`load_safetensors`](Self::load_safetensors).
    pub unsafe fn map_safetensors(path: impl AsRef<Path>) -> Result<Vec<(String, Mapped<K>)>> {
        // SAFETY: this function's contract.
        let file = unsafe { SafetensorsFile::map(path) }?;
        file.names.iter().map(|name| Ok((name.clone(), file.mapped(name)?))).collect()
    }
}
