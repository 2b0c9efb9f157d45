//! Writing: a header, and the elements in C order.

use std::io::Write;

use tensor_kernels::DType;

use super::header::descr_of;
use crate::{Failure, Result};

/// The data of a file starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// Writes an array whose elements are given as bytes in C order.
///
/// # Errors
/// [`Failure::Work`] for an element type that NumPy has no name for, [`Failure::Output`] from the
/// writer.
pub fn write(out: &mut dyn Write, dtype: DType, shape: &[usize], data: &[u8]) -> Result<()> {
    let descr =
        descr_of(dtype).ok_or_else(|| Failure::work(format!(".npy has no name for {dtype}")))?;
    out.write_all(&header(&descr, shape))?;
    out.write_all(data)?;
    Ok(())
}

/// Version 1 where its 16-bit length suffices, else version 2.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let before = if dictionary.len() + ALIGNMENT < usize::from(u16::MAX) { 10 } else { 12 };
    let total = (before + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = total - before;
    let mut bytes = b"\x93NUMPY".to_vec();
    match before {
        10 => bytes.extend([1, 0].into_iter().chain((length as u16).to_le_bytes())),
        _ => bytes.extend([2, 0].into_iter().chain((length as u32).to_le_bytes())),
    }
    bytes.extend(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys_to_the_byte() {
        let header = header("<f4", &[3, 4]);
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(&header[10..], format!("{text:<117}\n").as_bytes());
    }

    #[test]
    fn shapes_are_written_as_tuples() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&header("|u1", shape)).into_owned();
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'shape': (7,), }"));
        assert!(text(&[7, 8]).contains("'shape': (7, 8), }"));
    }
}
