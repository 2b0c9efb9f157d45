//! The header: a magic string, a version, a length, and a Python dictionary of three keys.
//!
//! ```text
//! \x93NUMPY 1 0 <u16 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//! ```

use std::io::Read;

use tensor_kernels::DType;

use crate::{
    Failure, Result,
    input::parse::{Cursor, ParseError},
};

/// A longer header is refused, as NumPy refuses it.
const MAX_HEADER_BYTES: usize = 10_000;

/// A header, checked against the length of its file.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: DType,
    /// Whether the byte order differs from that of this machine.
    pub(super) swap: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    /// The bytes before the data.
    pub(super) len: u64,
}

impl Header {
    /// Reads the header of a source of `len` bytes and leaves the source at the data.
    pub(super) fn read(source: &mut impl Read, len: u64) -> Result<Header> {
        let [major, minor] = version(source)?;
        let size = match (major, minor) {
            (1, 0) => usize::from(u16::from_le_bytes(bytes(source)?)),
            (2 | 3, 0) => u32::from_le_bytes(bytes(source)?) as usize,
            _ => return Err(Failure::input(format!(".npy version {major}.{minor} is not known"))),
        };
        let before = if major == 1 { 10 } else { 12 };
        let text = header_text(source, size, major)?;
        let fields =
            dictionary(&text).map_err(|error| Failure::input(format!("header: {error}")))?;
        let header = Header { len: before + size as u64, ..fields };
        header.check_length(len)?;
        Ok(header)
    }

    /// The file must have exactly the elements of the shape.
    fn check_length(&self, len: u64) -> Result<()> {
        let there = len.saturating_sub(self.len);
        let wrong = match self.data_bytes() {
            None => format!("shape {:?} is too large for any file", self.shape),
            Some(promised) if promised > there => {
                format!(
                    "truncated: shape {:?} of {} needs {promised} bytes, {there} follow",
                    self.shape, self.dtype
                )
            }
            Some(promised) if promised < there => {
                format!(
                    "{} bytes too many after the {promised} of shape {:?}",
                    there - promised,
                    self.shape
                )
            }
            Some(_) => return Ok(()),
        };
        Err(Failure::input(wrong))
    }

    /// The bytes of the data. As in NumPy, the product of all sizes other than 0 must not overflow,
    /// even if one size is 0.
    fn data_bytes(&self) -> Option<u64> {
        let sizes = self.shape.iter().map(|&size| size as u64).filter(|&size| size != 0);
        let bytes = sizes.chain([self.dtype.size() as u64]).try_fold(1u64, u64::checked_mul)?;
        Some(if self.shape.contains(&0) { 0 } else { bytes })
    }
}

fn bytes<const N: usize>(source: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    source
        .read_exact(&mut bytes)
        .map_err(|_| Failure::input("truncated: the file ends in its header"))?;
    Ok(bytes)
}

fn version(source: &mut impl Read) -> Result<[u8; 2]> {
    let not_npy = |_| Failure::input("not an .npy file: the magic word is missing");
    match bytes::<6>(source).map_err(not_npy)? {
        [0x93, b'N', b'U', b'M', b'P', b'Y'] => bytes(source),
        _ => Err(Failure::input("not an .npy file: the magic word is missing")),
    }
}

/// The dictionary as text: Latin-1 up to version 2, UTF-8 since.
fn header_text(source: &mut impl Read, size: usize, major: u8) -> Result<String> {
    if size > MAX_HEADER_BYTES {
        return Err(Failure::input(format!(
            "a header of {size} bytes is longer than the {MAX_HEADER_BYTES} allowed"
        )));
    }
    let mut text = vec![0; size];
    source
        .read_exact(&mut text)
        .map_err(|_| Failure::input("truncated: the file ends in its header"))?;
    match major {
        3 => String::from_utf8(text).map_err(|_| Failure::input("the header is not UTF-8")),
        _ => Ok(text.into_iter().map(char::from).collect()),
    }
}

#[derive(Default)]
struct Fields {
    descr: Option<(DType, bool)>,
    fortran: Option<bool>,
    shape: Option<Vec<usize>>,
}

fn dictionary(text: &str) -> Result<Header, ParseError> {
    let mut cursor = Cursor::new(text);
    let mut fields = Fields::default();
    cursor.expect("{")?;
    cursor.list("}", |cursor| fields.read(cursor))?;
    if !cursor.at_end() {
        return Err(cursor.here("expected the end of the header"));
    }
    let missing = |key: &str| cursor.here(format!("the key '{key}' is missing"));
    let (dtype, swap) = fields.descr.ok_or_else(|| missing("descr"))?;
    let fortran = fields.fortran.ok_or_else(|| missing("fortran_order"))?;
    let shape = fields.shape.ok_or_else(|| missing("shape"))?;
    Ok(Header { dtype, swap, fortran, shape, len: 0 })
}

impl Fields {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        let from = cursor.position();
        let key = cursor.quoted().ok_or_else(|| cursor.here("expected a key in quotes"))?;
        let span = from..from + key.len() + 2;
        cursor.expect(":")?;
        let repeated = match key {
            "descr" => self.descr.replace(descr(cursor)?).is_some(),
            "fortran_order" => self.fortran.replace(boolean(cursor)?).is_some(),
            "shape" => self.shape.replace(shape(cursor)?).is_some(),
            _ => {
                return Err(
                    cursor.error(span, "expected one of the keys descr, fortran_order, shape")
                );
            }
        };
        if repeated { Err(cursor.error(span, "this key appears twice")) } else { Ok(()) }
    }
}

fn boolean(cursor: &mut Cursor<'_>) -> Result<bool, ParseError> {
    match (cursor.eat("True"), cursor.eat("False")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(cursor.here("expected True or False")),
    }
}

fn shape(cursor: &mut Cursor<'_>) -> Result<Vec<usize>, ParseError> {
    cursor.expect("(")?;
    cursor.list(")", |cursor| {
        let size = cursor.integer()?.ok_or_else(|| cursor.here("expected a size"))?;
        cursor.eat("L");
        usize::try_from(size).map_err(|_| cursor.here(format!("{size} is not a size")))
    })
}

fn descr(cursor: &mut Cursor<'_>) -> Result<(DType, bool), ParseError> {
    if cursor.rest().starts_with('[') {
        return Err(cursor.here("structured dtypes are not supported"));
    }
    let from = cursor.position();
    let name = cursor.quoted().ok_or_else(|| cursor.here("expected a dtype in quotes"))?;
    let big = name.starts_with('>');
    let kind = name.trim_start_matches(['<', '>', '|', '=']);
    match NAMES.iter().find(|(known, _)| *known == kind && name.len() <= kind.len() + 1) {
        Some(&(_, dtype)) => {
            Ok((dtype, big != cfg!(target_endian = "big") && name.starts_with(['<', '>'])))
        }
        None => {
            Err(cursor
                .error(from..from + name.len() + 2, format!("dtype '{name}' is not supported")))
        }
    }
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

/// The name of a type in a header this machine writes: `<f4`, `|u1`.
pub(super) fn descr_of(dtype: DType) -> Option<String> {
    let (name, _) = NAMES.iter().find(|(_, known)| *known == dtype)?;
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "big") => '>',
        _ => '<',
    };
    Some(format!("{order}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, dictionary: &str, data: usize) -> Vec<u8> {
        let mut bytes = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
        match version {
            1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
            _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
        }
        bytes.extend(dictionary.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Header> {
        Header::read(&mut &bytes[..], bytes.len() as u64)
    }

    #[test]
    fn every_version_is_read() {
        for version in [1, 2, 3] {
            let text = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }   \n";
            let header = read(&file(version, text, 24)).unwrap();
            assert_eq!((header.dtype, header.swap, header.fortran), (DType::F32, false, true));
            assert_eq!(header.shape, [2, 3]);
        }
    }

    #[test]
    fn every_dtype_is_read_in_both_byte_orders() {
        for (name, dtype) in NAMES {
            for (order, swap) in [("<", false), (">", true), ("|", false)] {
                let text =
                    format!("{{'shape':(1,),'fortran_order':False,'descr':\"{order}{name}\"}}");
                let header = read(&file(1, &text, dtype.size())).unwrap();
                assert_eq!((header.dtype, header.swap), (*dtype, swap), "{text}");
            }
        }
    }

    #[test]
    fn shapes_are_tuples() {
        for (shape, data) in [("()", 1), ("(0, 5)", 0), ("(3L,)", 3), ("(1, 2, 3)", 6)] {
            let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}}}");
            assert!(read(&file(1, &text, data)).is_ok(), "{shape}");
        }
    }

    #[test]
    fn hostile_headers_are_refused_with_the_reason() {
        let dict = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")
        };
        let cases = [
            (dict("'<f4'", "(1152921504606846976,)"), "truncated"),
            (dict("'<f4'", "(4294967296, 4294967296)"), "too large"),
            (dict("'<f4'", "(0, 4294967296, 4294967296)"), "too large"),
            (dict("'<f4'", "(99999999999999999999,)"), "does not fit"),
            (dict("'<f4'", "(-1,)"), "not a size"),
            (dict("'<f4'", "(2, 2)"), "truncated"),
            (dict("'|u1'", "(2, 2)"), "4 bytes too many"),
            (dict("'<U3'", "(2,)"), "dtype '<U3' is not supported"),
            (dict("'|O'", "(2,)"), "dtype '|O' is not supported"),
            (dict("'<<f4'", "(2,)"), "dtype '<<f4' is not supported"),
            (dict("[('a', '<f4')]", "(2,)"), "structured"),
            ("{{{{{{{{{{{{{{{{".to_owned(), "expected a key"),
            ("((((((((((((((((".to_owned(), "expected `{`"),
            ("{'descr': '<f4'}".to_owned(), "'fortran_order' is missing"),
            ("{'descr': '<f4', 'descr': '<f4'}".to_owned(), "twice"),
            ("{'colour': 1}".to_owned(), "expected one of the keys"),
            ("{'descr".to_owned(), "expected a key"),
            (dict("'<f4'", "(2,)") + "x", "expected the end"),
            (String::new(), "expected `{`"),
        ];
        for (text, reason) in cases {
            let error = read(&file(1, &text, 8)).unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
            assert_eq!(error.exit_code(), 2, "{text}");
        }
    }

    #[test]
    fn files_that_are_cut_or_of_another_kind_are_refused() {
        let good = file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", 4);
        for len in 0..good.len() {
            assert_eq!(read(&good[..len]).unwrap_err().exit_code(), 2, "{len} bytes");
        }
        let mut future = good.clone();
        future[6] = 4;
        assert!(read(&future).unwrap_err().to_string().contains("version 4.0"));
        let long = file(2, &" ".repeat(MAX_HEADER_BYTES + 1), 0);
        assert!(read(&long).unwrap_err().to_string().contains("longer"));
    }
}
