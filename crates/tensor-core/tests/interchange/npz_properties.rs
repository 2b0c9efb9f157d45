//! Archives of any arrays: what is written is read, and an archive that is cut or changed is an
//! error or has the same arrays, never a panic.

use std::io::Cursor;

use proptest::prelude::*;
use tensor_core::{
    AnyTensor, DType, Layout,
    interchange::{
        InterchangeError,
        npz::{Compression, NpzReader, NpzWriter},
    },
};

use crate::common::{all_dtypes, element, same, views};

type Arrays = Vec<(String, AnyTensor)>;

fn write(arrays: &Arrays, compression: Compression) -> Vec<u8> {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), compression);
    for (name, array) in arrays {
        writer.write(name, array).expect("a new name, and a dtype that NumPy has");
    }
    writer.finish().expect("a vector grows").into_inner()
}

fn read(file: &[u8]) -> Result<Arrays, InterchangeError> {
    NpzReader::new(Cursor::new(file))?.read_all()
}

/// An array of a dtype, with its numbers, in an order of memory that views make.
fn array(dtype: DType, shape: &[usize], layout: Layout) -> AnyTensor {
    let flat = AnyTensor::zeros([shape.iter().product::<usize>()], dtype).expect("a few elements");
    for number in 0..flat.numel() {
        // All values of the narrowest dtype.
        flat.set(&[number], element(dtype, number % 128)).expect("within the shape");
    }
    flat.with_layout(layout).expect("a layout of these elements")
}

/// Arrays of the dtypes that NumPy has: 0-d ones, some without elements, in C order, Fortran's
/// order and others.
fn arrays() -> impl Strategy<Value = Arrays> {
    let dtypes: Vec<DType> = all_dtypes().filter(|&dtype| dtype != DType::Bf16).collect();
    let order = prop::sample::select(vec!["C", "Fortran", "view"]);
    let one = (prop::sample::select(dtypes), order, views()).prop_map(
        |(dtype, order, (shape, layout))| match order {
            "C" => array(dtype, &shape, Layout::contiguous(&shape).expect("a small shape")),
            "Fortran" => array(dtype, &shape, Layout::fortran(&shape).expect("a small shape")),
            _ => array(dtype, &shape, layout),
        },
    );
    prop::collection::vec((name(), one), 0..5).prop_map(|mut arrays| {
        arrays.sort_by(|(a, _), (b, _)| a.cmp(b));
        arrays.dedup_by(|(a, _), (b, _)| a == b);
        arrays
    })
}

/// Names that are unusual in archives, or in files.
fn name() -> impl Strategy<Value = String> {
    let odd = [
        "",
        " ",
        ".",
        "..",
        "/",
        "a/b",
        "/a",
        "../a",
        "a\\b",
        "C:a",
        "a.npy",
        ".npy",
        "arr_0",
        "größe",
        "列",
        "a\0b",
        "\n",
        "\u{202e}x",
        "NUL",
        "a\u{301}",
        "á",
        "🦀",
    ];
    prop_oneof![
        prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        "\\PC{0,12}",
        (1..300usize).prop_map(|len| "n".repeat(len)),
    ]
}

fn compressions() -> impl Strategy<Value = Compression> {
    prop::sample::select(vec![Compression::Stored, Compression::Deflated])
}

fn are_same(read: &Arrays, written: &Arrays) -> bool {
    read.len() == written.len()
        && read.iter().zip(written).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
}

/// Where the list of entries begins: the number before the last two bytes of an archive.
fn list_start(file: &[u8]) -> usize {
    let at = file.len() - 6;
    u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize
}

proptest! {
    #[test]
    fn what_is_written_is_read(arrays in arrays(), compression in compressions()) {
        let file = write(&arrays, compression);
        let again = read(&file).unwrap();
        prop_assert!(are_same(&again, &arrays), "{:?}", again);
        prop_assert!(again.iter().all(|(_, array)| array.is_contiguous()));
        let mut reader = NpzReader::new(Cursor::new(&file[..])).unwrap();
        for (name, array) in arrays.iter().rev() {
            let found: AnyTensor = reader.read(name).unwrap();
            prop_assert!(same(&found, array), "{:?}", name);
        }
    }

    #[test]
    fn an_archive_that_is_cut_is_an_error(
        arrays in arrays(), compression in compressions(), cut in any::<prop::sample::Index>(),
    ) {
        let file = write(&arrays, compression);
        let refused = read(&file[..cut.index(file.len())]).unwrap_err();
        prop_assert!(!refused.to_string().is_empty());
    }

    /// Some bytes matter to nobody: dates, versions, attributes. Those that do matter are found.
    #[test]
    fn a_changed_byte_of_the_list_is_an_error_or_changes_no_array(
        arrays in arrays(),
        compression in compressions(),
        at in any::<prop::sample::Index>(),
        change in 1..=255u8,
    ) {
        let mut file = write(&arrays, compression);
        let start = list_start(&file);
        let at = start + at.index(file.len() - start);
        file[at] ^= change;
        match read(&file) {
            Ok(again) => {
                // A name is only in the list, and its byte may have been changed to another one.
                let of_some = again.iter().all(|(_, array)| {
                    arrays.iter().any(|(_, written)| same(array, written))
                });
                prop_assert!(of_some, "byte {} of {}: {:?}", at, file.len(), again);
            }
            Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        }
    }

    /// A changed element is found by its checksum, stored or compressed.
    #[test]
    fn a_changed_byte_of_the_data_is_an_error_or_changes_no_array(
        arrays in arrays(),
        compression in compressions(),
        at in any::<prop::sample::Index>(),
        change in 1..=255u8,
    ) {
        let mut file = write(&arrays, compression);
        let start = list_start(&file);
        prop_assume!(start > 0);
        file[at.index(start)] ^= change;
        match read(&file) {
            Ok(again) => prop_assert!(are_same(&again, &arrays)),
            Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        }
    }
}

#[test]
fn the_list_of_entries_is_found() {
    let scalar = AnyTensor::full([0; 0], 5, DType::I16).unwrap();
    let file = write(&vec![("x".to_owned(), scalar)], Compression::Stored);
    assert_eq!(&file[list_start(&file)..][..4], b"PK\x01\x02");
}
