//! NumPy's files: what NumPy wrote, what this library writes and reads again, and files that break
//! the rules.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use tensor_core::{
    AnyTensor, AnyValue, DType, Error, Layout, Tensor,
    interchange::{
        InterchangeError, Mapped, WhyCopied,
        npy::{self, Order},
    },
};

use crate::common::{all_dtypes, element, fixture, numbers, same, views};

fn written(tensor: &AnyTensor, order: Order) -> Vec<u8> {
    let mut file = Vec::new();
    npy::write(&mut file, tensor, order).unwrap();
    file
}

fn read(file: &[u8]) -> Result<AnyTensor, InterchangeError> {
    npy::read(file, file.len() as u64)
}

/// A file of version 1.
fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    versioned(1, &text, data)
}

fn versioned(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

proptest! {
    #[test]
    fn any_layout_survives_a_file((shape, layout) in views(), fortran in any::<bool>()) {
        let memory: AnyTensor = Tensor::from_vec(numbers(&shape), &shape[..]).unwrap().into();
        let view = memory.with_layout(layout).unwrap();
        let order = if fortran { Order::Fortran } else { Order::C };
        let file = written(&view, order);
        prop_assert_eq!(file.len() % 64, view.numel() * 4 % 64);
        let again = read(&file).unwrap();
        prop_assert!(same(&again, &view));
        let in_order = if fortran { again.layout().is_fortran() } else { again.is_contiguous() };
        prop_assert!(in_order);
    }

    #[test]
    fn bytes_that_are_no_file_are_an_error(
        start in 0..200usize, bytes in proptest::collection::vec(any::<u8>(), 0..40)
    ) {
        let mut file = file("'<f4'", "False", "(2, 2)", &[0; 16]);
        let from = start.min(file.len());
        let to = (from + bytes.len()).min(file.len());
        file.splice(from..to, bytes);
        if let Err(refused) = read(&file) {
            prop_assert!(!refused.to_string().is_empty());
        }
    }
}

#[test]
fn every_dtype_survives_a_file_but_bf16() {
    for dtype in all_dtypes() {
        let tensor = crate::common::sample(dtype);
        let mut file = Vec::new();
        let saved = npy::write(&mut file, &tensor, Order::C);
        if dtype == DType::Bf16 {
            let refused = saved.unwrap_err();
            assert!(matches!(refused, InterchangeError::Inexpressible { .. }));
            let text = "npy has no element type for bf16 [convert the tensor first, to another \
                        dtype]";
            assert_eq!((refused.to_string(), file.len()), (text.to_owned(), 0));
            continue;
        }
        let again = read(&file).unwrap();
        assert_eq!(again.dtype(), dtype);
        assert!(same(&again, &tensor), "{dtype}");
    }
}

#[test]
fn what_numpy_wrote_is_read_and_mapped() {
    let tensor = AnyTensor::load_npy(fixture("fortran.npy")).unwrap();
    assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], &[1, 2][..]));
    assert!(!tensor.storage().is_read_only());
    // SAFETY: nobody changes the files of the tests.
    let Mapped { tensor: mapped, copied } =
        unsafe { AnyTensor::map_npy(fixture("fortran.npy")) }.unwrap();
    assert_eq!((mapped.strides(), copied), (&[1, 2][..], None));
    assert!(same(&mapped, &tensor));
    for (number, index) in [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]].iter().enumerate() {
        assert_eq!(tensor.get(index).unwrap(), element(DType::F32, number));
    }
    assert!(matches!(mapped.set(&[0, 0], 1.0), Err(Error::ReadOnly)));
}

#[test]
fn structures_and_texts_are_refused_by_name() {
    let refused = AnyTensor::load_npy(fixture("structured.npy")).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("structured.npy: npy: header: structured dtypes are not"), "{text}");
    let refused = AnyTensor::load_npy(fixture("text.npy")).unwrap_err();
    assert!(matches!(refused.cause(), InterchangeError::UnsupportedDType { .. }));
    assert!(refused.to_string().ends_with("npy: dtype '<U2' is not supported"), "{refused}");
}

/// A file in a folder of its own, which is removed with it.
fn on_disk(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn mapped(content: &[u8]) -> Result<Mapped<tensor_core::Bare>, InterchangeError> {
    let (_folder, path) = on_disk(content);
    // SAFETY: the file is removed, not changed, while the tensor lives.
    unsafe { AnyTensor::map_npy(path) }
}

#[test]
fn the_other_byte_order_and_misaligned_data_are_copied_and_said_to_be() {
    let (other, same_order) = if cfg!(target_endian = "little") { (">", "<") } else { ("<", ">") };
    let swapped = mapped(&file(&format!("'{other}u2'"), "False", "(2,)", &[1, 2, 3, 4])).unwrap();
    assert_eq!(swapped.copied, Some(WhyCopied::ByteOrder));
    let first = u16::from_ne_bytes([2, 1]);
    assert_eq!(swapped.tensor.get(&[0]).unwrap(), AnyValue::from(first));
    assert!(!swapped.tensor.storage().is_read_only());

    // The header is not padded, so where the data starts depends on its length.
    for padding in 0..8 {
        let header = format!(
            "{{'descr':'{same_order}u8','fortran_order':False,'shape':(1,)}}{}",
            " ".repeat(padding)
        );
        let file = versioned(1, &header, &7u64.to_ne_bytes());
        let is_aligned = (file.len() - 8).is_multiple_of(8);
        let mapped = mapped(&file).unwrap();
        let expected = if is_aligned { None } else { Some(WhyCopied::Misaligned) };
        assert_eq!(mapped.copied, expected, "{padding}");
        assert_eq!(mapped.tensor.storage().is_read_only(), is_aligned);
        assert_eq!(mapped.tensor.get(&[0]).unwrap(), AnyValue::Int(7));
    }
}

#[test]
fn parts_of_complex_numbers_are_swapped_each() {
    let parts = [1.5f32.to_be_bytes(), (-2.0f32).to_be_bytes()].concat();
    let number = read(&file("'>c8'", "False", "(1,)", &parts)).unwrap();
    assert_eq!(number.get(&[0]).unwrap(), AnyValue::Complex(1.5, -2.0));
}

#[test]
fn a_bool_is_zero_or_one_also_in_a_map() {
    let good = mapped(&file("'|b1'", "False", "(2,)", &[1, 0])).unwrap();
    assert_eq!(good.tensor.typed::<bool>().unwrap().to_vec().unwrap(), [true, false]);
    assert!(good.copied.is_none());
    let broken = file("'|b1'", "False", "(2,)", &[1, 2]);
    for refused in [read(&broken).unwrap_err(), mapped(&broken).unwrap_err()] {
        assert!(matches!(refused.cause(), InterchangeError::NotBool { element: 1, byte: 2 }));
        assert!(refused.to_string().ends_with("element 1 is 2, which is no bool"), "{refused}");
    }
    let many = vec![1; 40_000];
    let mut far = file("'|b1'", "False", "(40000,)", &many);
    assert!(read(&far).is_ok());
    let at = far.len() - 1;
    far[at] = 9;
    assert_eq!(read(&far).unwrap_err().to_string(), "element 39999 is 9, which is no bool");
}

#[test]
fn every_version_and_every_spelling_is_read() {
    for version in [1, 2, 3] {
        let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }   \n";
        let tensor = read(&versioned(version, header, &[0; 24])).unwrap();
        assert_eq!((tensor.dtype(), tensor.strides()), (DType::F32, &[1, 2][..]));
    }
    for (shape, data) in [("()", 1), ("(0, 5)", 0), ("(3L,)", 3), ("( 1 ,2, 3 )", 6)] {
        let tensor = read(&file("\"|u1\"", "False", shape, &vec![0; data])).unwrap();
        assert_eq!(tensor.numel(), data, "{shape}");
    }
}

#[test]
fn hostile_headers_are_refused_with_the_reason() {
    let cases = [
        (file("'<f4'", "False", "(1152921504606846976,)", &[0; 8]), "truncated"),
        (file("'<f4'", "False", "(4294967296, 4294967296)", &[0; 8]), "too large"),
        (file("'<f4'", "False", "(0, 4294967296, 4294967296)", &[0; 8]), "too large"),
        (file("'<f4'", "False", "(99999999999999999999,)", &[0; 8]), "does not fit 64 bits"),
        (file("'<f4'", "False", "(-1,)", &[0; 8]), "not a size"),
        (file("'<f4'", "False", "(2, 2)", &[0; 8]), "truncated"),
        (file("'|u1'", "False", "(2, 2)", &[0; 8]), "4 bytes too many"),
        (file("'<U3'", "False", "(2,)", &[0; 8]), "dtype '<U3' is not supported"),
        (file("'|O'", "False", "(2,)", &[0; 8]), "dtype '|O' is not supported"),
        (file("'<<f4'", "False", "(2,)", &[0; 8]), "dtype '<<f4' is not supported"),
        (file("''", "False", "(2,)", &[0; 8]), "dtype '' is not supported"),
        (file("[('a', '<f4')]", "False", "(2,)", &[0; 8]), "structured"),
        (file("'<f4'", "Maybe", "(2,)", &[0; 8]), "expected True or False"),
        (file("'<f4'", "False", "2", &[0; 8]), "expected `(`"),
        (versioned(1, &"{".repeat(9000), &[]), "expected a key"),
        (versioned(1, &"(".repeat(9000), &[]), "expected `{`"),
        (versioned(2, &" ".repeat(10_001), &[]), "longer than the 10000 allowed"),
        (versioned(1, "{'descr': '<f4'}", &[]), "'fortran_order' is missing"),
        (versioned(1, "{'descr': '<f4', 'descr': '<f4'}", &[]), "twice"),
        (versioned(1, "{'colour': 1}", &[]), "\"colour\" is none of the keys"),
        (versioned(1, "{'descr", &[]), "expected a key"),
        (versioned(1, "{'descr': '<f4',} x", &[]), "expected the end"),
        (versioned(1, "", &[]), "expected `{`"),
        (versioned(4, "{}", &[]), "version 4.0 is not known"),
        (b"not an array at all".to_vec(), "the magic word is missing"),
        (Vec::new(), "the magic word is missing"),
    ];
    for (file, reason) in cases {
        for refused in [read(&file).unwrap_err(), mapped(&file).unwrap_err()] {
            assert!(refused.to_string().contains(reason), "{reason}: {refused}");
        }
    }
}

#[test]
fn a_file_that_is_cut_is_refused_wherever_it_ends() {
    let good = file("'|u1'", "False", "(4,)", &[1, 2, 3, 4]);
    assert!(read(&good).is_ok());
    for len in 0..good.len() {
        let refused = read(&good[..len]).unwrap_err();
        assert!(matches!(refused, InterchangeError::Malformed { .. }), "{len}: {refused}");
    }
    // The source ends before the length that was promised.
    let refused = npy::read::<tensor_core::Bare>(&good[..good.len() - 1], good.len() as u64);
    assert!(refused.unwrap_err().to_string().starts_with("truncated"));
}

/// More elements than memory, but only in the header: nothing is allocated.
#[test]
fn a_shape_is_believed_only_if_the_file_is_as_long() {
    let file = file("'|u1'", "False", "(4611686018427387904,)", &[]);
    assert!(read(&file).unwrap_err().to_string().contains("truncated"));
    let long = npy::read::<tensor_core::Bare>(&file[..], file.len() as u64 + (1 << 62));
    assert!(matches!(long.unwrap_err(), InterchangeError::Tensor(Error::OutOfMemory { .. })));
}

#[test]
fn long_and_short_runs_are_written_block_by_block() {
    let tensor: AnyTensor = Tensor::arange(0i32, 3 << 20, 1).unwrap().into();
    let square = tensor.view([1536, 2048]).unwrap();
    for view in [square.t().unwrap(), square.narrow(1, 1, 2000).unwrap(), square.flip([0]).unwrap()]
    {
        assert!(same(&read(&written(&view, Order::C)).unwrap(), &view));
    }
    let long = tensor.view([1, 3 << 20]).unwrap().slice(1, tensor_core::Slice::new(None, None, 2));
    let long = long.unwrap();
    assert!(same(&read(&written(&long, Order::Fortran)).unwrap(), &long));
}

#[test]
fn other_than_regular_files_are_refused() {
    for path in ["/missing/a.npy", "/", "/dev/null"] {
        let refused = AnyTensor::load_npy(path).unwrap_err();
        assert!(matches!(refused.cause(), InterchangeError::Io(_)), "{refused}");
        assert!(refused.to_string().starts_with(path), "{refused}");
        // SAFETY: there is no such file.
        assert!(unsafe { AnyTensor::map_npy(path) }.is_err());
    }
}

#[test]
fn a_refused_dtype_leaves_the_old_file() {
    let (_folder, path) = on_disk(b"old");
    assert!(AnyTensor::zeros([2], DType::Bf16).unwrap().save_npy(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_tensor_that_is_being_written_is_not_saved() {
    let tensor = Tensor::from_vec(vec![1, 2], [2]).unwrap();
    let any: AnyTensor = tensor.clone().into();
    let _guard = tensor.write().unwrap();
    let refused = npy::write(Vec::new(), &any, Order::C).unwrap_err();
    assert!(matches!(refused, InterchangeError::Tensor(Error::Borrowed { .. })), "{refused}");
}

#[test]
fn mapped_memory_outlives_the_handle_that_made_it() {
    let any = mapped(&file("'|u1'", "False", "(2, 2)", &[1, 2, 3, 4])).unwrap().tensor;
    let part = any.select(0, 1).unwrap();
    drop(any);
    assert_eq!(part.typed::<u8>().unwrap().to_vec().unwrap(), [3, 4]);
    assert!(part.with_layout(Layout::contiguous([5]).unwrap()).is_err());
}
