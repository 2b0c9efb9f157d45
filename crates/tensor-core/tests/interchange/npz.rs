//! Archives of NumPy's arrays.

use std::{fs, io::Cursor};

use tensor_core::{
    AnyTensor, Bare, DType, Error,
    interchange::{
        InterchangeError, Mapped, WhyCopied,
        npz::{Compression, MappedNpz, NpzReader, NpzWriter},
    },
};

use crate::common::{all_dtypes, element, fixture, same, sample};

/// An archive of one array for each dtype that NumPy has.
fn archive(compression: Compression) -> Vec<u8> {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), compression);
    for dtype in all_dtypes().filter(|&dtype| dtype != DType::Bf16) {
        writer.write(dtype.name(), &sample(dtype)).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read_all(file: &[u8]) -> Result<Vec<(String, AnyTensor)>, InterchangeError> {
    NpzReader::new(Cursor::new(file))?.read_all()
}

#[test]
fn what_numpy_wrote_is_read_in_both_orders_and_byte_orders() {
    let arrays = AnyTensor::load_npz(fixture("numpy.npz")).unwrap();
    assert_eq!(arrays.len(), 14 * 2);
    for (name, array) in arrays {
        let expected = if name.contains("_fortran_") { [1, 2] } else { [3, 1] };
        assert_eq!(array.strides(), expected, "{name}");
        for number in 0..6 {
            let value = array.get(&[number / 3, number % 3]).unwrap();
            assert_eq!(value, element(array.dtype(), number), "{name}");
        }
    }
    let mut stored = NpzReader::open(fixture("stored.npz")).unwrap();
    assert_eq!(stored.names().collect::<Vec<_>>(), ["scalar", "empty"]);
    let scalar: AnyTensor = stored.read("scalar").unwrap();
    assert_eq!(scalar.item().unwrap(), 1.5.into());
    let empty: AnyTensor = stored.read("empty").unwrap();
    assert_eq!((empty.shape(), empty.dtype()), (&[0, 3][..], DType::I16));
}

#[test]
fn every_dtype_survives_both_compressions() {
    let mut sizes = Vec::new();
    for compression in [Compression::Stored, Compression::Deflated] {
        let file = archive(compression);
        let arrays = read_all(&file).unwrap();
        assert_eq!(arrays.len(), 14);
        for (name, array) in &arrays {
            assert_eq!(name, array.dtype().name());
            assert!(same(array, &sample(array.dtype())), "{name}");
        }
        sizes.push(file.len());
    }
    assert!(sizes[1] < sizes[0] * 3 / 4, "{sizes:?}");
}

#[test]
fn names_are_written_once_and_read_by_name() {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored);
    writer.write("größe/a", &sample(DType::I32)).unwrap();
    let refused = writer.write("größe/a", &sample(DType::I32)).unwrap_err();
    assert_eq!(refused.to_string(), "two tensors are named \"größe/a\"");
    let refused = writer.write("b", &sample(DType::Bf16)).unwrap_err();
    assert!(refused.to_string().starts_with("b: npy has no element type for bf16"), "{refused}");
    let mut reader = NpzReader::new(writer.finish().unwrap()).unwrap();
    assert_eq!(reader.names().collect::<Vec<_>>(), ["größe/a"]);
    assert!(same(&reader.read::<Bare>("größe/a").unwrap(), &sample(DType::I32)));
    let refused = reader.read::<Bare>("a").unwrap_err();
    assert!(matches!(refused, InterchangeError::NoSuchTensor { .. }), "{refused}");
}

#[test]
fn a_changed_byte_of_an_element_fails_the_checksum() {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Stored);
    writer.write("x", &AnyTensor::full([64], 0x55, DType::U8).unwrap()).unwrap();
    let mut file = writer.finish().unwrap().into_inner();
    let at = file.windows(64).position(|bytes| bytes == [0x55; 64]).unwrap();
    file[at + 10] = 0x54;
    let refused = read_all(&file).unwrap_err();
    assert!(refused.to_string().starts_with("x: "), "{refused}");
    assert!(refused.to_string().contains("checksum"), "{refused}");
}

/// The entry promises 2⁴⁰ bytes, in the array's header, in its own, and in the list of entries.
#[test]
fn an_entry_cannot_promise_more_than_it_can_hold() {
    let shape = 1u64 << 31;
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape},)}}");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    let promised = (array.len() as u64 + shape) as u32;
    let file = one_entry("x.npy", &array, promised);
    let refused = read_all(&file).unwrap_err();
    assert!(refused.to_string().contains("cannot unpack to"), "{refused}");
}

#[test]
fn an_entry_that_is_longer_than_it_says_is_refused() {
    let mut array = b"\x93NUMPY\x01\x00\x3a\x00".to_vec();
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
    array.extend(format!("{header:<57}\n").as_bytes());
    array.extend([1, 2]);
    let promised = array.len() as u32;
    array.push(3);
    let refused = read_all(&one_entry("x.npy", &array, promised)).unwrap_err();
    assert_eq!(refused.to_string(), format!("x: npz: more than the {promised} bytes promised"));
}

/// An archive of one stored entry, which says that it is larger or smaller than it is.
fn one_entry(name: &str, data: &[u8], promised: u32) -> Vec<u8> {
    let sizes = [data.len() as u32, promised].map(u32::to_le_bytes).concat();
    // Version, flags, method, time, date, checksum; sizes; length of the name, of further fields.
    let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 0, 0][..], &sizes].concat();
    let names = [(name.len() as u16).to_le_bytes(), [0, 0]].concat();
    let mut file = [b"PK\x03\x04", &common[..], &names, name.as_bytes(), data].concat();
    let start = file.len() as u32;
    let entry = [b"PK\x01\x02\x14\x00", &common[..], &names, &[0; 14], name.as_bytes()].concat();
    file.extend(&entry);
    file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend([entry.len() as u32, start].map(u32::to_le_bytes).concat());
    file.extend([0, 0]);
    file
}

#[test]
fn an_archive_that_is_cut_or_of_another_kind_is_refused() {
    let file = archive(Compression::Deflated);
    for len in (0..file.len()).step_by(7) {
        assert!(read_all(&file[..len]).is_err(), "{len}");
    }
    assert!(read_all(b"no archive").is_err());
    assert!(AnyTensor::load_npz(fixture("fortran.npy")).is_err());
}

/// Maps the arrays of an archive in a file of its own, which is removed while they are mapped.
fn map_all(file: &[u8]) -> Result<Vec<(String, Mapped<Bare>)>, InterchangeError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    fs::write(&path, file).unwrap();
    // SAFETY: nobody else knows the file.
    unsafe { AnyTensor::map_npz(path) }
}

#[test]
fn stored_arrays_lie_in_the_map_and_outlive_the_archive() {
    let arrays = map_all(&archive(Compression::Stored)).unwrap();
    assert_eq!(arrays.len(), 14);
    for (name, Mapped { tensor, copied }) in &arrays {
        assert_eq!(*copied, None, "{name}");
        assert!(same(tensor, &sample(tensor.dtype())), "{name}");
        assert!(matches!(tensor.set(&[0, 0], 1), Err(Error::ReadOnly)), "{name}");
    }
}

#[test]
fn compressed_arrays_are_copied_and_say_so() {
    let arrays = map_all(&archive(Compression::Deflated)).unwrap();
    assert_eq!(arrays.len(), 14);
    for (name, Mapped { tensor, copied }) in &arrays {
        assert_eq!(*copied, Some(WhyCopied::Compressed), "{name}");
        assert!(same(tensor, &sample(tensor.dtype())), "{name}");
    }
}

/// NumPy puts the elements of this file at bytes 188 and 383.
#[test]
fn what_numpy_stored_is_mapped_or_copied_if_it_is_not_aligned() {
    // SAFETY: nobody changes the files of the tests.
    let mut stored = unsafe { MappedNpz::open(fixture("stored.npz")) }.unwrap();
    assert_eq!(stored.names().collect::<Vec<_>>(), ["scalar", "empty"]);
    let scalar: Mapped<Bare> = stored.tensor("scalar").unwrap();
    assert_eq!(scalar.tensor.item().unwrap(), 1.5.into());
    assert_eq!(scalar.copied, (align_of::<f64>() > 4).then_some(WhyCopied::Misaligned));
    let empty: Mapped<Bare> = stored.tensor("empty").unwrap();
    assert_eq!((empty.tensor.shape(), empty.tensor.dtype()), (&[0, 3][..], DType::I16));
    let refused = stored.tensor::<Bare>("no such").unwrap_err();
    assert!(matches!(refused, InterchangeError::NoSuchTensor { .. }), "{refused}");
    // SAFETY: as above.
    let compressed = unsafe { AnyTensor::map_npz(fixture("numpy.npz")) }.unwrap();
    let read = AnyTensor::load_npz(fixture("numpy.npz")).unwrap();
    for ((name, mapped), (_, tensor)) in compressed.iter().zip(&read) {
        assert_eq!(mapped.copied, Some(WhyCopied::Compressed), "{name}");
        assert!(same(&mapped.tensor, tensor), "{name}");
    }
}

/// An `.npy` file of two elements.
fn array_of_two(descr: &str, data: &[u8]) -> Vec<u8> {
    let mut array = b"\x93NUMPY\x01\x00\x3a\x00".to_vec();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}");
    array.extend(format!("{header:<57}\n").as_bytes());
    array.extend(data);
    array
}

#[test]
fn other_byte_orders_are_copied_and_other_bytes_than_bools_refused() {
    let map = |descr: &str, data: &[u8]| {
        let array = array_of_two(descr, data);
        Ok::<_, InterchangeError>(
            map_all(&one_entry("x.npy", &array, array.len() as u32))?.remove(0).1,
        )
    };
    let swapped = map(">u2", &[1, 2, 3, 4]).unwrap();
    assert_eq!(swapped.copied, Some(WhyCopied::ByteOrder));
    assert_eq!(swapped.tensor.get(&[1]).unwrap(), 0x304.into());
    let bytes = map("|u1", &[7, 8]).unwrap();
    assert_eq!((bytes.copied, bytes.tensor.get(&[1]).unwrap()), (None, 8.into()));
    let refused = map("|b1", &[1, 2]).unwrap_err();
    assert!(refused.to_string().ends_with("x: element 1 is 2, which is no bool"), "{refused}");
}

#[test]
fn an_archive_that_contradicts_itself_is_not_mapped() {
    let array = array_of_two("|u1", &[1, 2]);
    for promised in [array.len() as u32 - 1, array.len() as u32 + 1, 500, u32::MAX] {
        let refused = map_all(&one_entry("x.npy", &array, promised)).unwrap_err();
        assert!(matches!(refused.cause(), InterchangeError::Malformed { .. }), "{refused}");
    }
    let file = archive(Compression::Stored);
    for len in (0..file.len()).step_by(7) {
        assert!(map_all(&file[..len]).is_err(), "{len}");
    }
    let none = tempfile::tempdir().unwrap();
    // SAFETY: there is no file.
    assert!(unsafe { AnyTensor::map_npz(none.path().join("none.npz")) }.is_err());
    // SAFETY: nobody changes the files of the tests.
    assert!(unsafe { AnyTensor::map_npz(fixture("fortran.npy")) }.is_err());
}
