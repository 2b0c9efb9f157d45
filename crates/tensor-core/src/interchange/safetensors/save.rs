//! Writing. All that can be refused is refused before the first byte is written.
//!
//! Every public function here has an example.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use ::safetensors::tensor::TensorInfo;
use serde_json::Value;

#[cfg(doc)]
use super::SafetensorsFile;
use super::{
    super::{InterchangeError, Result, stored},
    DTYPES, SWAP, malformed,
};
use crate::{AnyTensorBase, ReadKernel};

/// The key of the texts, in the header. No tensor can have this name.
const METADATA_KEY: &str = "__metadata__";

/// The header is filled up to a multiple of this, so that elements of 8 bytes are aligned.
const HEADER_ALIGNMENT: usize = 8;

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
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType, interchange::safetensors::{self, SaveOptions}};
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
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{AnyTensor, DType, interchange::safetensors::{self, SaveOptions}};
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
