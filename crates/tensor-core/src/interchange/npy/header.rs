//! The header: a magic string, a version, a length, and a Python dictionary of three keys.
//!
//! ```text
//! \x93NUMPY 1 0 <u16 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//! ```

use std::io::{self, Read};

use super::{
    super::{InterchangeError, Result},
    Order,
    cursor::Cursor,
};
use crate::{DType, Layout};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// A longer header is refused, as NumPy refuses it.
const MAX_HEADER_BYTES: usize = 10_000;

/// The data of a written file starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// A header, checked against the length of its file.
pub(super) struct Header {
    pub(super) dtype: DType,
    /// Whether the byte order differs from that of this machine.
    pub(super) swap: bool,
    /// C or Fortran order, dense from offset 0.
    pub(super) layout: Layout,
    /// The bytes before the data.
    pub(super) len: u64,
}

fn malformed(why: impl Into<String>) -> InterchangeError {
    InterchangeError::malformed("npy", why)
}

impl Header {
    /// Reads the header of a source of `len` bytes and leaves the source at the data.
    pub(super) fn read(source: &mut dyn Read, len: u64) -> Result<Self> {
        let [major, minor] = version(source)?;
        let (before, size) = match (major, minor) {
            (1, 0) => (10, usize::from(u16::from_le_bytes(bytes(source)?))),
            (2 | 3, 0) => (12, u32::from_le_bytes(bytes(source)?) as usize),
            _ => return Err(malformed(format!("version {major}.{minor} is not known"))),
        };
        let fields = Fields::parse(&header_text(source, size, major)?)?;
        let len_of_header = before + size as u64;
        fields.check_length(len.saturating_sub(len_of_header))?;
        let Fields { dtype, swap, fortran, shape } = fields;
        let layout = if fortran { Layout::fortran(&shape) } else { Layout::contiguous(&shape) }?;
        Ok(Self { dtype, swap, layout, len: len_of_header })
    }
}

/// The end of the source inside the header is its fault, not that of the operating system.
fn cut(error: io::Error) -> InterchangeError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => malformed("truncated: the file ends in its header"),
        _ => error.into(),
    }
}

fn bytes<const N: usize>(source: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes).map_err(cut)?;
    Ok(bytes)
}

fn version(source: &mut dyn Read) -> Result<[u8; 2]> {
    let not_npy = || malformed("not an .npy file: the magic word is missing");
    let mut magic = [0; MAGIC.len()];
    match source.read_exact(&mut magic) {
        Ok(()) if magic == *MAGIC => bytes(source),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error.into()),
        _ => Err(not_npy()),
    }
}

/// The dictionary as text: Latin-1 up to version 2, UTF-8 since.
fn header_text(source: &mut dyn Read, size: usize, major: u8) -> Result<String> {
    if size > MAX_HEADER_BYTES {
        return Err(malformed(format!(
            "a header of {size} bytes is longer than the {MAX_HEADER_BYTES} allowed"
        )));
    }
    let mut text = vec![0; size];
    source.read_exact(&mut text).map_err(cut)?;
    match major {
        3 => String::from_utf8(text).map_err(|_| malformed("the header is not UTF-8")),
        _ => Ok(text.into_iter().map(char::from).collect()),
    }
}

/// What the dictionary says.
struct Fields {
    dtype: DType,
    swap: bool,
    fortran: bool,
    shape: Vec<usize>,
}

impl Fields {
    fn parse(text: &str) -> Result<Self> {
        let mut cursor = Cursor::new(text);
        let (mut descr, mut order, mut sizes) = (None, None, None);
        cursor.expect("{")?;
        cursor.list("}", |cursor| {
            let repeated = match key(cursor)? {
                "descr" => descr.replace(dtype(cursor)?).is_some(),
                "fortran_order" => order.replace(boolean(cursor)?).is_some(),
                "shape" => sizes.replace(shape(cursor)?).is_some(),
                other => {
                    let why = format!("{other:?} is none of the keys descr, fortran_order, shape");
                    return Err(cursor.error(&why));
                }
            };
            if repeated { Err(cursor.error("a key appears twice")) } else { Ok(()) }
        })?;
        if !cursor.rest().is_empty() {
            return Err(cursor.error("expected the end of the header"));
        }
        let missing = |key: &str| cursor.error(&format!("the key '{key}' is missing"));
        let (dtype, swap) = descr.ok_or_else(|| missing("descr"))?;
        let fortran = order.ok_or_else(|| missing("fortran_order"))?;
        let shape = sizes.ok_or_else(|| missing("shape"))?;
        Ok(Self { dtype, swap, fortran, shape })
    }

    /// After the header follow exactly the elements of the shape.
    fn check_length(&self, follow: u64) -> Result<()> {
        let Self { dtype, shape, .. } = self;
        let Some(needed) = self.data_bytes() else {
            return Err(malformed(format!("shape {shape:?} is too large for any file")));
        };
        match needed {
            _ if needed > follow => Err(malformed(format!(
                "truncated: shape {shape:?} of {dtype} needs {needed} bytes, {follow} follow"
            ))),
            _ if needed < follow => Err(malformed(format!(
                "{} bytes too many after the {needed} of shape {shape:?}",
                follow - needed
            ))),
            _ => Ok(()),
        }
    }

    /// The bytes of the data. As in NumPy, the product of all sizes other than 0 must not overflow,
    /// even if one size is 0.
    fn data_bytes(&self) -> Option<u64> {
        let sizes = self.shape.iter().map(|&size| size as u64).filter(|&size| size != 0);
        let bytes = sizes.chain([self.dtype.size() as u64]).try_fold(1u64, u64::checked_mul)?;
        Some(if self.shape.contains(&0) { 0 } else { bytes })
    }
}

/// A key, with the colon after it.
fn key<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    let key = cursor.quoted("a key")?;
    cursor.expect(":")?;
    Ok(key)
}

fn boolean(cursor: &mut Cursor<'_>) -> Result<bool> {
    match (cursor.eat("True"), cursor.eat("False")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(cursor.error("expected True or False")),
    }
}

fn shape(cursor: &mut Cursor<'_>) -> Result<Vec<usize>> {
    let mut shape = Vec::new();
    cursor.expect("(")?;
    cursor.list(")", |cursor| {
        shape.push(cursor.size()?);
        // Written by Python 2.
        cursor.eat("L");
        Ok(())
    })?;
    Ok(shape)
}

/// The dtype, and whether its byte order is not that of this machine.
fn dtype(cursor: &mut Cursor<'_>) -> Result<(DType, bool)> {
    if cursor.rest().starts_with('[') {
        return Err(cursor.error("structured dtypes are not supported"));
    }
    let name = cursor.quoted("a dtype")?;
    let kind = name.trim_start_matches(['<', '>', '|', '=']);
    let known = NAMES.iter().find(|(known, _)| *known == kind && name.len() <= kind.len() + 1);
    let Some(&(_, dtype)) = known else {
        let dtype = format!("'{name}'");
        return Err(InterchangeError::UnsupportedDType { format: "npy", dtype });
    };
    let swap = match name.as_bytes()[0] {
        b'<' => cfg!(target_endian = "big"),
        b'>' => cfg!(target_endian = "little"),
        _ => false,
    };
    Ok((dtype, swap))
}

/// NumPy's names of the element types. It has none for bf16.
const NAMES: &[(&str, DType)] = &[
    ("b1", DType::Bool),
    ("u1", DType::U8),
    ("u2", DType::U16),
    ("u4", DType::U32),
    ("u8", DType::U64),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("c8", DType::C64),
    ("c16", DType::C128),
];

/// The name of a type in a header that this machine writes: `<f4`, `|u1`.
pub(super) fn descr(dtype: DType) -> Result<String> {
    let Some((name, _)) = NAMES.iter().find(|(_, known)| *known == dtype) else {
        return Err(InterchangeError::Inexpressible { format: "npy", dtype });
    };
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "big") => '>',
        _ => '<',
    };
    Ok(format!("{order}{name}"))
}

/// A header as NumPy writes it: version 1 where its 16-bit length suffices, else version 2.
pub(super) fn text(dtype: DType, shape: &[usize], order: Order) -> Result<Vec<u8>> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let fortran = if order == Order::Fortran { "True" } else { "False" };
    let descr = descr(dtype)?;
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({sizes}), }}");
    let before = if dictionary.len() + ALIGNMENT < usize::from(u16::MAX) { 10 } else { 12 };
    let total = (before + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = total - before;
    let mut bytes = MAGIC.to_vec();
    match before {
        10 => bytes.extend([1, 0].into_iter().chain((length as u16).to_le_bytes())),
        _ => bytes.extend([2, 0].into_iter().chain((length as u32).to_le_bytes())),
    }
    bytes.extend(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}
