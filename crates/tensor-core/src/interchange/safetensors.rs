//! Files of Hugging Face's safetensors: named tensors, and texts about them.
//!
//! The crate of that name parses and checks the header. Elements are little-endian and contiguous.
//! The format does not align them, though all known writers sort tensors by the width of their
//! elements, which does.
//!
//! Every public function here has an example.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};
use memmap2::Mmap;
use serde_json::Value;

use super::{InterchangeError, Result, WhyCopied, file, stored};
use crate::{AnyTensorBase, DType, Layout, ReadKernel};

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The key of the texts, in the header. No tensor can have this name.
const METADATA_KEY: &str = "__metadata__";

/// The header is filled up to a multiple of this, so that elements of 8 bytes are aligned.
const HEADER_ALIGNMENT: usize = 8;

/// The elements' byte order is not that of this machine.
const SWAP: bool = cfg!(target_endian = "big");

fn malformed(why: impl Into<String>) -> InterchangeError {
    InterchangeError::malformed("safetensors", why)
}

/// A file whose tensors are loaded by name.
///
/// ```
/// use tensor_core::{AnyTensor, DType, interchange::safetensors::{SafetensorsFile, SaveOptions}};
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
    /// use tensor_core::interchange::safetensors::SafetensorsFile;
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
    /// use std::io::Cursor;
    /// use tensor_core::interchange::safetensors::SafetensorsFile;
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

    fn load<K>(&self, info: &TensorInfo, dtype: DType) -> Result<AnyTensorBase<K>> {
        let layout = Layout::contiguous(&info.shape)?;
        let from = self.start + info.data_offsets.0 as u64;
        match &self.source {
            Source::Map(map) => {
                let bytes = from as usize..self.start as usize + info.data_offsets.1;
                Ok(stored::map(map, bytes, dtype, layout, SWAP)?.tensor)
            }
            Source::Reader(source) => {
                // A panic elsewhere leaves the source at another position, which is set here.
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                source.seek(SeekFrom::Start(from))?;
                stored::read(&mut *source, dtype, layout, SWAP)
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

/// How [`write()`] treats tensors that are not contiguous, and what it says about them.
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    pack: bool,
    metadata: BTreeMap<String, String>,
}

impl SaveOptions {
    /// Refuses tensors that are not contiguous; no texts.
    ///
    /// ```
    /// use tensor_core::{AnyTensor, DType, interchange::safetensors::{self, SaveOptions}};
    ///
    /// let columns = AnyTensor::zeros([2, 3], DType::F32)?.t()?;
    /// let refused = safetensors::write(Vec::new(), [("w", &columns)], &SaveOptions::new());
    /// assert!(refused.is_err_and(|error| error.to_string().starts_with("w: a tensor of shape")));
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the elements of any layout in logical order.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, DType, interchange::safetensors::{self, SaveOptions}};
    /// let columns = AnyTensor::zeros([2, 3], DType::F32)?.t()?;
    /// safetensors::write(Vec::new(), [("w", &columns)], &SaveOptions::new().pack())?;
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    #[must_use]
    pub fn pack(self) -> Self {
        Self { pack: true, ..self }
    }

    /// Adds a text. PyTorch's tools expect `"format"`: `"pt"`. See [`SafetensorsFile`].
    ///
    /// ```
    /// # use tensor_core::interchange::safetensors::SaveOptions;
    /// let options = SaveOptions::new().metadata("format", "pt").metadata("epoch", "7");
    /// ```
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), text.into());
        self
    }
}

/// Writes named tensors: the widest elements first, so that all are aligned, then by name.
///
/// ```
/// use tensor_core::{AnyTensor, DType, interchange::safetensors::{self, SaveOptions}};
///
/// let bias = AnyTensor::zeros([4], DType::F32)?;
/// let mut file = Vec::new();
/// safetensors::write(&mut file, [("bias", &bias)], &SaveOptions::new())?;
/// assert_eq!(file.len() % 8, 0);
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
///
/// # Errors
/// [`InterchangeError::NotContiguous`] without [`SaveOptions::pack`] and
/// [`InterchangeError::Inexpressible`] for complex numbers of 128 bits, with the tensor's name, and
/// [`InterchangeError::DuplicateName`]: before anything is written. A storage that is being
/// written, an error of the sink.
pub fn write<'a, K: ReadKernel + 'a>(
    out: impl Write,
    tensors: impl IntoIterator<Item = (&'a str, &'a AnyTensorBase<K>)>,
    options: &SaveOptions,
) -> Result<()> {
    Plan::new(tensors, options)?.write(out)
}

/// What is to be written: all that can be refused has been.
struct Plan<'a, K> {
    header: Vec<u8>,
    tensors: Vec<(&'a str, &'a AnyTensorBase<K>)>,
}

impl<'a, K: ReadKernel> Plan<'a, K> {
    fn new(
        tensors: impl IntoIterator<Item = (&'a str, &'a AnyTensorBase<K>)>,
        options: &SaveOptions,
    ) -> Result<Self> {
        let mut tensors: Vec<_> = tensors.into_iter().collect();
        tensors.sort_by_key(|&(name, tensor)| (std::cmp::Reverse(tensor.itemsize()), name));
        let mut entries = BTreeMap::new();
        if !options.metadata.is_empty() {
            entries.insert(METADATA_KEY, json(serde_json::to_value(&options.metadata))?);
        }
        let mut end = 0;
        for &(name, tensor) in &tensors {
            let info = info(tensor, end, options).map_err(|error| error.at(name))?;
            end = info.data_offsets.1;
            if name == METADATA_KEY
                || entries.insert(name, json(serde_json::to_value(&info))?).is_some()
            {
                return Err(InterchangeError::DuplicateName { name: name.to_owned() });
            }
        }
        let mut header =
            serde_json::to_vec(&entries).map_err(|error| malformed(error.to_string()))?;
        header.resize(header.len().next_multiple_of(HEADER_ALIGNMENT), b' ');
        Ok(Self { header, tensors })
    }

    fn write(self, mut out: impl Write) -> Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        for (name, tensor) in self.tensors {
            stored::write(&mut out, tensor, SWAP).map_err(|error| error.at(name))?;
        }
        Ok(())
    }
}

fn json(value: Result<Value, serde_json::Error>) -> Result<Value> {
    value.map_err(|error| malformed(error.to_string()))
}

fn info<K>(tensor: &AnyTensorBase<K>, from: usize, options: &SaveOptions) -> Result<TensorInfo> {
    let dtype = tensor.dtype();
    let shape = tensor.shape().to_vec();
    if !options.pack && !tensor.is_contiguous() {
        let strides = tensor.strides().to_vec();
        return Err(InterchangeError::NotContiguous { shape, strides });
    }
    let known = DTYPES.iter().find(|(_, known)| *known == dtype);
    let inexpressible = || InterchangeError::Inexpressible { format: "safetensors", dtype };
    let &(dtype, _) = known.ok_or_else(inexpressible)?;
    let bytes = tensor.layout().dense_bytes(tensor.itemsize())?;
    let end = from.checked_add(bytes).ok_or_else(|| malformed("more bytes than can be counted"))?;
    Ok(TensorInfo { dtype, shape, data_offsets: (from, end) })
}

impl<K> AnyTensorBase<K> {
    /// Reads all tensors of a safetensors file, in the order of the file. [`SafetensorsFile`] loads
    /// some of them, and maps the file.
    ///
    /// ```
    /// use tensor_core::{AnyTensor, DType, interchange::safetensors::SaveOptions};
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

    /// Writes a safetensors file, as [`write()`] does. A file that exists is replaced; it is left
    /// as it is if a tensor is refused.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, DType, interchange::safetensors::SaveOptions};
    /// # let folder = std::env::temp_dir().join(format!("save_st_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("model.safetensors");
    /// let bias = AnyTensor::zeros([4], DType::F32)?;
    /// AnyTensor::save_safetensors(&path, [("bias", &bias)], &SaveOptions::new().pack())?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`write()`], with the path.
    pub fn save_safetensors<'a>(
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = (&'a str, &'a Self)>,
        options: &SaveOptions,
    ) -> Result<()>
    where
        K: ReadKernel + 'a,
    {
        let path = path.as_ref();
        let save = || {
            let plan = Plan::new(tensors, options)?;
            let mut out = BufWriter::new(File::create(path)?);
            plan.write(&mut out)?;
            Ok(out.flush()?)
        };
        save().map_err(|error: InterchangeError| error.at(path.display()))
    }
}
