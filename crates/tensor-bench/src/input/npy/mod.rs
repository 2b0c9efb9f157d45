//! Reading and writing of NumPy's `.npy` files: built-in element types, C or Fortran order, both
//! byte orders.
//!
//! Fortran order is read as a layout, no element moves. Only C order is written. A header is
//! untrusted input: it is checked against the length of the file before anything is allocated. No
//! crate is used: those that read this format multiply the sizes of the header unchecked, and parse
//! it with a parser for Python literals whose time doubles with each nested brace.

mod header;
mod save;

use std::{
    io::{BufReader, Read},
    path::Path,
};

use half::f16;
use num_complex::Complex;
use tensor_kernels::{AnyTensor, DType, Layout, Scalar, Tensor};

use crate::{Failure, Result, input::file, system::memory};
use header::Header;
pub use save::write;

/// Reads a file.
///
/// # Errors
/// [`Failure::Input`] with the name of the file.
pub fn read_file(path: &Path) -> Result<AnyTensor> {
    let (file, len) = file::open(path)?;
    read(BufReader::new(file), len).map_err(|failure| failure.at(path.display()))
}

/// Reads an array from a source that holds `len` bytes.
///
/// # Errors
/// [`Failure::Input`] for a header that is malformed or does not fit `len`, [`Failure::Work`] for
/// an array larger than memory.
pub fn read(mut source: impl Read, len: u64) -> Result<AnyTensor> {
    let header = Header::read(&mut source, len)?;
    memory::preflight(2 * u128::from(len))?;
    let layout = if header.fortran {
        Layout::fortran(&header.shape)?
    } else {
        Layout::contiguous(&header.shape)?
    };
    let raw = Raw { bytes: data(&mut source, len - header.len)?, swap: header.swap };
    tensor(header.dtype, raw, layout)
}

/// The data of a file, whose length has been checked.
fn data(source: &mut impl Read, len: u64) -> Result<Vec<u8>> {
    let too_large = || Failure::work(format!("no memory for {len} bytes of data"));
    let len = usize::try_from(len).map_err(|_| too_large())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| too_large())?;
    let read = source.take(len as u64).read_to_end(&mut bytes).map_err(Failure::input)?;
    if read == len {
        Ok(bytes)
    } else {
        Err(Failure::input("the file became shorter while it was read"))
    }
}

fn tensor(dtype: DType, raw: Raw, layout: Layout) -> Result<AnyTensor> {
    macro_rules! typed {
        ($($variant:ident($type:ty, $part:literal)),*) => {
            match dtype {
                DType::Bool => Tensor::from_vec_with_layout(raw.bools()?, layout)?.into(),
                $(DType::$variant => {
                    Tensor::from_vec_with_layout(raw.elements::<$type>($part)?, layout)?.into()
                })*
                other => {
                    return Err(Failure::input(format!("dtype {other} is not supported in .npy")));
                }
            }
        };
    }
    Ok(typed!(
        U8(u8, 1), U16(u16, 2), U32(u32, 4), U64(u64, 8),
        I8(i8, 1), I16(i16, 2), I32(i32, 4), I64(i64, 8),
        F16(f16, 2), F32(f32, 4), F64(f64, 8), C64(Complex<f32>, 4), C128(Complex<f64>, 8)
    ))
}

struct Raw {
    bytes: Vec<u8>,
    swap: bool,
}

impl Raw {
    /// The elements, from bytes in which each part (a complex number has two) is `part` bytes wide.
    fn elements<T: Scalar + bytemuck::AnyBitPattern>(mut self, part: usize) -> Result<Vec<T>> {
        if self.swap {
            self.bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
        let element = |bytes: &[u8]| bytemuck::pod_read_unaligned(bytes);
        collect(self.bytes.chunks_exact(size_of::<T>()).map(element))
    }

    fn bools(self) -> Result<Vec<bool>> {
        match self.bytes.iter().position(|&byte| byte > 1) {
            Some(at) => {
                Err(Failure::input(format!("element {at} is {}, which is no bool", self.bytes[at])))
            }
            None => collect(self.bytes.iter().map(|&byte| byte == 1)),
        }
    }
}

fn collect<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let count = elements.len();
    all.try_reserve_exact(count)
        .map_err(|_| Failure::work(format!("no memory for {count} elements")))?;
    all.extend(elements);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::layouts::PHOTOGRAPH;

    fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn values<T>(bytes: &[u8]) -> Vec<T>
    where
        T: Scalar,
        Tensor<T>: TryFrom<AnyTensor, Error = tensor_kernels::Error>,
    {
        Tensor::<T>::try_from(read(bytes, bytes.len() as u64).unwrap()).unwrap().to_vec().unwrap()
    }

    #[test]
    fn fortran_order_becomes_a_layout() {
        let bytes = file("|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
        let any = read(&bytes[..], bytes.len() as u64).unwrap();
        assert_eq!((any.layout().shape(), any.layout().strides()), (&[2, 3][..], &[1, 2][..]));
        assert_eq!(values::<u8>(&bytes), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_other_byte_order_is_swapped_part_by_part() {
        assert_eq!(values::<u16>(&file(">u2", "False", "(2,)", &[1, 2, 3, 4])), [0x0102, 0x0304]);
        let parts = [1.5f32.to_be_bytes(), (-2.0f32).to_be_bytes()].concat();
        assert_eq!(
            values::<Complex<f32>>(&file(">c8", "False", "(1,)", &parts)),
            [Complex::new(1.5, -2.0)]
        );
    }

    #[test]
    fn a_bool_is_zero_or_one() {
        assert_eq!(values::<bool>(&file("|b1", "False", "(2,)", &[1, 0])), [true, false]);
        let bytes = file("|b1", "False", "(2,)", &[1, 2]);
        assert_eq!(
            read(&bytes[..], bytes.len() as u64).unwrap_err().to_string(),
            "element 1 is 2, which is no bool"
        );
    }

    #[test]
    fn the_photograph_is_readable() {
        let any = read(PHOTOGRAPH, PHOTOGRAPH.len() as u64).unwrap();
        assert_eq!((any.dtype(), any.layout().shape()), (DType::U8, &[512, 512, 3][..]));
    }

    #[test]
    fn what_is_not_a_file_is_refused() {
        assert_eq!(read_file(Path::new("/missing/a.npy")).unwrap_err().exit_code(), 2);
        assert_eq!(read_file(Path::new("/")).unwrap_err().exit_code(), 2);
    }
}
