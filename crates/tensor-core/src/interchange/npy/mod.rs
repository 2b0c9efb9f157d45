//! NumPy's `.npy` files: every built-in element type but bf16, for which NumPy has no name; C and
//! Fortran order; both byte orders.
//!
//! A header is untrusted input: it is checked against the length of the file before anything is
//! allocated. Crates that read this format were tried: they multiply the sizes of the header
//! unchecked, and parse it with a parser for Python literals whose time doubles with each nested
//! brace.
//!
//! Every public function here has an example.

mod cursor;
mod header;

use std::{
    fs::File,
    io::{BufReader, BufWriter, Read, Write},
    ops::Range,
    path::Path,
    sync::Arc,
};

use memmap2::Mmap;

use super::{InterchangeError, Mapped, Result, file, stored};
use crate::{AnyTensorBase, DType, ReadKernel};
use header::Header;

/// The order of the elements in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// The last dimension varies fastest (NumPy: `order='C'`).
    #[default]
    C,
    /// The first dimension varies fastest (NumPy: `order='F'`).
    Fortran,
}

/// Reads an array from a source that holds `len` bytes. Fortran order becomes strides; no element
/// moves.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{AnyTensor, Tensor, interchange::npy::{self, Order}};
///
/// let tensor: AnyTensor = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], [2, 3])?.into();
/// let mut file = Vec::new();
/// npy::write(&mut file, &tensor, Order::Fortran)?;
/// let again: AnyTensor = npy::read(&file[..], file.len() as u64)?;
/// assert_eq!((again.shape(), again.strides()), (&[2, 3][..], &[1, 2][..]));
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
///
/// # Errors
/// A header that is malformed, does not fit `len`, or names a dtype that this crate does not have;
/// no memory; an error of the source.
pub fn read<K>(mut source: impl Read, len: u64) -> Result<AnyTensorBase<K>> {
    let header = Header::read(&mut source, len)?;
    stored::read(&mut source, header.dtype, header.layout, header.swap)
}

/// The array in a part of a memory map, which is within the map.
///
/// # Errors
/// Those of [`read`].
pub(super) fn map<K>(map: &Arc<Mmap>, range: Range<usize>) -> Result<Mapped<K>> {
    let bytes = &map[range.clone()];
    let Header { dtype, swap, layout, len } = Header::read(&mut &bytes[..], bytes.len() as u64)?;
    stored::map(map, range.start + len as usize..range.end, dtype, layout, swap)
}

/// Writes an array of any layout, with at most some megabytes of further memory.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{AnyTensor, Tensor, interchange::npy::{self, Order}};
///
/// let tensor: AnyTensor = Tensor::from_vec(vec![1u8, 2, 3, 4], [2, 2])?.into();
/// let mut file = Vec::new();
/// npy::write(&mut file, &tensor.t()?, Order::C)?;
/// assert_eq!(file[128..], [1, 3, 2, 4]);
/// # Ok::<(), tensor_core::interchange::InterchangeError>(())
/// ```
///
/// # Errors
/// [`InterchangeError::Inexpressible`] for bf16, a storage that is being written, no memory, an
/// error of the sink.
pub fn write<K: ReadKernel>(
    mut out: impl Write,
    tensor: &AnyTensorBase<K>,
    order: Order,
) -> Result<()> {
    out.write_all(&header::text(tensor.dtype(), tensor.shape(), order)?)?;
    let in_order = match order {
        Order::C => tensor.clone(),
        Order::Fortran => {
            let reversed: Vec<isize> = (0..tensor.ndim() as isize).rev().collect();
            tensor.permute(&reversed[..])?
        }
    };
    stored::write(&mut out, &in_order, false)
}

/// Does NumPy have a name for the dtype?
pub(super) fn check_expressible(dtype: DType) -> Result<()> {
    header::descr(dtype).map(drop)
}

impl<K> AnyTensorBase<K> {
    /// Reads an `.npy` file (NumPy: `numpy.load`).
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("load_npy_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("weights.npy");
    /// AnyTensor::full([2, 3], 0.5, DType::F64)?.t()?.save_npy(&path)?;
    /// let weights = AnyTensor::load_npy(&path)?;
    /// assert_eq!((weights.dtype(), weights.shape()), (DType::F64, &[3, 2][..]));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`read`], with the path; a file that cannot be opened or is not regular.
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let read = || {
            let (file, len) = file::open(path)?;
            read(BufReader::new(file), len)
        };
        read().map_err(|error| error.at(path.display()))
    }

    /// Maps an `.npy` file into memory (NumPy: `numpy.load(…, mmap_mode='r')`). The tensor is
    /// read-only and keeps the map alive; pages are read from the file when they are used.
    ///
    /// If the byte order is not this machine's, or the data is not aligned for its type, which is
    /// so for files that no known program writes, the elements are copied:
    /// [`Mapped::copied`] says so.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{AnyTensor, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("map_npy_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("weights.npy");
    /// AnyTensor::full([1000, 1000], 0.5, DType::F32)?.save_npy(&path)?;
    /// // SAFETY: nobody changes the file while the program runs.
    /// let mapped = unsafe { AnyTensor::map_npy(&path) }?;
    /// assert!(mapped.copied.is_none() && mapped.tensor.storage().is_read_only());
    /// assert_eq!(mapped.tensor.get(&[999, 999])?, 0.5f32.into());
    /// # drop(mapped);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Safety
    /// Nobody changes the file while the tensor, or another one of its storage, lives: elements
    /// that change are undefined behaviour, and a file that is cut ends the process with SIGBUS.
    /// [`load_npy`](Self::load_npy) has no such condition.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy).
    pub unsafe fn map_npy(path: impl AsRef<Path>) -> Result<Mapped<K>> {
        let path = path.as_ref();
        let read = || {
            // SAFETY: the caller guarantees that nobody changes the file while the map lives, which
            // the tensors of the map keep alive.
            let file = unsafe { file::map(path) }?;
            map(&file, 0..file.len())
        };
        read().map_err(|error: InterchangeError| error.at(path.display()))
    }

    /// Writes an `.npy` file in C order (NumPy: `numpy.save`). Any layout is written, in logical
    /// order. A file that exists is replaced, also if an error follows.
    ///
    /// ```
    /// # use tensor_core::{AnyTensor, DType};
    /// # let folder = std::env::temp_dir().join(format!("save_npy_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("eye.npy");
    /// let tensor = AnyTensor::zeros([4, 4], DType::I64)?;
    /// tensor.save_npy(&path)?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tensor_core::interchange::InterchangeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`write()`], with the path.
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()>
    where
        K: ReadKernel,
    {
        let path = path.as_ref();
        let save = || {
            // Before the file is replaced.
            check_expressible(self.dtype())?;
            let mut out = BufWriter::new(File::create(path)?);
            write(&mut out, self, Order::C)?;
            Ok(out.flush()?)
        };
        save().map_err(|error: InterchangeError| error.at(path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys_to_the_byte() {
        let header = header::text(DType::F32, &[3, 4], Order::C).unwrap();
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(&header[10..], format!("{text:<117}\n").as_bytes());
    }

    #[test]
    fn shapes_are_written_as_tuples() {
        let text = |shape: &[usize]| {
            let header = header::text(DType::U8, shape, Order::Fortran).unwrap();
            String::from_utf8_lossy(&header).into_owned()
        };
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'fortran_order': True, 'shape': (7,), }"));
        assert!(text(&[7, 8]).contains("'shape': (7, 8), }"));
    }
}
