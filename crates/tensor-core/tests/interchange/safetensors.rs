//! Files of safetensors: what its Python library wrote, what its crate reads and writes, and files
//! that break the rules.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use safetensors::{
    SafeTensors,
    tensor::{Dtype, TensorView, serialize},
};
use tensor_core::{
    AnyTensor, Bare, DType, Error, Tensor,
    interchange::{
        InterchangeError, Mapped, WhyCopied,
        safetensors::{self as ours, SafetensorsFile, SaveOptions},
    },
};

use crate::common::{all_dtypes, element, fixture, numbers, same, sample, views};

fn written(tensors: &[(&str, &AnyTensor)], options: &SaveOptions) -> Vec<u8> {
    let mut file = Vec::new();
    ours::write(&mut file, tensors.iter().copied(), options).unwrap();
    file
}

/// A file in a folder of its own, which is removed with it.
fn on_disk(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    fs::write(&path, content).unwrap();
    (folder, path)
}

/// The file, opened and mapped.
fn both(content: &[u8]) -> Result<[SafetensorsFile; 2], InterchangeError> {
    let (_folder, path) = on_disk(content);
    // SAFETY: the file is removed, not changed, while the map lives.
    Ok([SafetensorsFile::open(&path)?, unsafe { SafetensorsFile::map(&path) }?])
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

proptest! {
    #[test]
    fn packed_tensors_of_any_layout_are_what_the_crate_reads((shape, layout) in views()) {
        let memory: AnyTensor = Tensor::from_vec(numbers(&shape), &shape[..]).unwrap().into();
        let view = memory.with_layout(layout).unwrap();
        let plain = ours::write(Vec::new(), [("x", &view)], &SaveOptions::new());
        prop_assert_eq!(plain.is_ok(), view.is_contiguous());
        let file = written(&[("x", &view)], &SaveOptions::new().pack());
        let theirs = SafeTensors::deserialize(&file).unwrap();
        let theirs = theirs.tensor("x").unwrap();
        prop_assert_eq!((theirs.dtype(), theirs.shape()), (Dtype::I32, view.shape()));
        let elements = view.typed::<i32>().unwrap().to_vec().unwrap();
        let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        prop_assert_eq!(theirs.data(), bytes);
    }

    #[test]
    fn what_the_crate_writes_is_read(lens in proptest::collection::vec(0..20usize, 1..6)) {
        let data: Vec<Vec<u8>> = lens.iter().map(|&len| (0..len as u8).collect()).collect();
        let tensors = data.iter().enumerate().map(|(i, bytes)| {
            (format!("t{i}"), TensorView::new(Dtype::U8, vec![bytes.len()], bytes).unwrap())
        });
        let file = serialize(tensors, None).unwrap();
        for opened in both(&file).unwrap() {
            prop_assert_eq!(opened.names().len(), data.len());
            for (i, bytes) in data.iter().enumerate() {
                let tensor: AnyTensor = opened.tensor(&format!("t{i}")).unwrap();
                prop_assert_eq!(&tensor.typed::<u8>().unwrap().to_vec().unwrap(), bytes);
            }
        }
    }

    #[test]
    fn bytes_that_are_no_file_are_an_error(
        start in 0..80usize, bytes in proptest::collection::vec(any::<u8>(), 0..20)
    ) {
        let header = r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let mut file = file(header, &[0; 8]);
        let from = start.min(file.len());
        let to = (from + bytes.len()).min(file.len());
        file.splice(from..to, bytes);
        for opened in both(&file).into_iter().flatten() {
            for name in opened.names() {
                let _ = opened.tensor::<Bare>(name);
            }
        }
    }
}

#[test]
fn what_pytorch_wrote_is_read_and_mapped() {
    let path = fixture("torch.safetensors");
    // SAFETY: nobody changes the files of the tests.
    let mapped = unsafe { SafetensorsFile::map(&path) }.unwrap();
    let opened = SafetensorsFile::open(&path).unwrap();
    assert_eq!(mapped.metadata()["author"], "Größe");
    assert_eq!(mapped.names().len(), 14);
    for name in mapped.names() {
        let tensor: AnyTensor = mapped.tensor(name).unwrap();
        assert_eq!(mapped.why_copied(name).unwrap(), None);
        assert!(tensor.storage().is_read_only(), "{name}");
        assert_eq!(tensor.dtype().torch_name(), format!("torch.{name}"));
        for number in 0..6 {
            let value = tensor.get(&[number / 3, number % 3]).unwrap();
            assert_eq!(value, element(tensor.dtype(), number), "{name}");
        }
        let read: AnyTensor = opened.tensor(name).unwrap();
        assert_eq!(opened.why_copied(name).unwrap(), Some(WhyCopied::NotMapped));
        assert!(same(&read, &tensor) && !read.storage().is_read_only(), "{name}");
    }
}

#[test]
fn floats_of_8_bits_are_refused_by_name_and_others_are_read() {
    let path = fixture("float8.safetensors");
    let opened = SafetensorsFile::open(&path).unwrap();
    let refused = opened.tensor::<Bare>("scale").unwrap_err();
    assert!(matches!(refused.cause(), InterchangeError::UnsupportedDType { .. }));
    let text = "scale: safetensors: dtype F8_E4M3 is not supported";
    assert!(refused.to_string().ends_with(text), "{refused}");
    let bias: AnyTensor = opened.tensor("bias").unwrap();
    assert_eq!(bias.typed::<i64>().unwrap().to_vec().unwrap(), [0, 1, 2]);
    assert!(AnyTensor::load_safetensors(&path).unwrap_err().to_string().ends_with(text));
}

#[test]
fn every_dtype_survives_a_file_but_complex_128() {
    let samples: Vec<_> = all_dtypes().map(|dtype| (dtype.name(), sample(dtype))).collect();
    let named = |wanted: bool| {
        let chosen = samples.iter().filter(move |(name, _)| (*name != "c128") == wanted);
        chosen.map(|(name, tensor)| (*name, tensor)).collect::<Vec<_>>()
    };
    let file = written(&named(true), &SaveOptions::new().metadata("b", "ü").metadata("a", "\""));
    assert_eq!(
        file,
        written(&named(true), &SaveOptions::new().metadata("a", "\"").metadata("b", "ü"))
    );
    for opened in both(&file).unwrap() {
        assert_eq!((&opened.metadata()["a"][..], opened.names().len()), ("\"", 14));
        for (name, tensor) in named(true) {
            assert!(same(&opened.tensor(name).unwrap(), tensor), "{name}");
            assert_ne!(opened.why_copied(name).unwrap(), Some(WhyCopied::Misaligned), "{name}");
        }
    }
    assert!(SafeTensors::deserialize(&file).is_ok());
    let refused = ours::write(Vec::new(), named(false), &SaveOptions::new()).unwrap_err();
    assert!(refused.to_string().starts_with("c128: safetensors has no element type for c128"));
}

#[test]
fn what_is_not_contiguous_is_refused_before_anything_is_written() {
    let (_folder, path) = on_disk(b"old");
    let (good, columns) = (sample(DType::F32), sample(DType::F32).t().unwrap());
    let named = [("encoder.bias", &good), ("encoder.weight", &columns)];
    let refused = AnyTensor::save_safetensors(&path, named, &SaveOptions::new()).unwrap_err();
    assert!(matches!(refused.cause(), InterchangeError::NotContiguous { .. }));
    assert!(
        refused.to_string().ends_with(
            "encoder.weight: a tensor of shape [3, 2] strides [1, 3] is not contiguous [save a \
             copy, .contiguous()?, or choose to write the elements in logical order: pack]"
        ),
        "{refused}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    AnyTensor::save_safetensors(&path, named, &SaveOptions::new().pack()).unwrap();
    let all = AnyTensor::load_safetensors(&path).unwrap();
    assert!(same(&all[1].1, &columns) && all[1].1.is_contiguous());
}

#[test]
fn names_are_unique_and_not_that_of_the_texts() {
    let x = sample(DType::U8);
    for names in [["a", "a"], ["a", "__metadata__"]] {
        let options = SaveOptions::new();
        let refused = ours::write(Vec::new(), names.map(|name| (name, &x)), &options).unwrap_err();
        assert!(matches!(refused, InterchangeError::DuplicateName { .. }), "{refused}");
    }
    let [opened, _] = both(&written(&[("größe", &x)], &SaveOptions::new())).unwrap();
    assert!(opened.tensor::<Bare>("größe").is_ok());
    let refused = opened.tensor::<Bare>("grösse").unwrap_err();
    assert!(matches!(refused.cause(), InterchangeError::NoSuchTensor { .. }), "{refused}");
}

#[test]
fn unaligned_tensors_are_copied_and_said_to_be() {
    let entry = |dtype: &str, from: usize, to: usize| {
        format!(r#"{{"dtype":"{dtype}","shape":[1],"data_offsets":[{from},{to}]}}"#)
    };
    for padding in 0..8 {
        let (a, b) = (entry("U8", 0, 1), entry("F32", 1, 5));
        let header = format!(r#"{{"a":{a},"b":{b}}}{}"#, " ".repeat(padding));
        let content = file(&header, &[&[7][..], &1.5f32.to_le_bytes()].concat());
        let [_, mapped] = both(&content).unwrap();
        let is_aligned = (content.len() - 4).is_multiple_of(4);
        let expected = if is_aligned { None } else { Some(WhyCopied::Misaligned) };
        assert_eq!(mapped.why_copied("b").unwrap(), expected);
        assert_eq!(mapped.why_copied("a").unwrap(), None);
        let b: AnyTensor = mapped.tensor("b").unwrap();
        assert_eq!(b.storage().is_read_only(), is_aligned);
        assert_eq!(b.get(&[0]).unwrap(), 1.5.into());
        assert_eq!(b.set(&[0], 2.0).is_err(), is_aligned);
        let all = map_all(&content).unwrap();
        assert_eq!((all[0].1.copied, all[1].1.copied), (None, expected));
    }
}

#[test]
fn mapped_tensors_are_read_only_and_keep_the_map() {
    let [_, mapped] = both(&written(&[("x", &sample(DType::I64))], &SaveOptions::new())).unwrap();
    let x: AnyTensor = mapped.tensor("x").unwrap();
    drop(mapped);
    assert!(matches!(x.set(&[0, 0], 1), Err(Error::ReadOnly)));
    assert!(same(&x, &sample(DType::I64)));
}

/// Maps all tensors of a file of its own, which is removed while they are mapped.
fn map_all(content: &[u8]) -> Result<Vec<(String, Mapped<Bare>)>, InterchangeError> {
    let (_folder, path) = on_disk(content);
    // SAFETY: nobody else knows the file.
    unsafe { AnyTensor::map_safetensors(path) }
}

#[test]
fn all_tensors_are_mapped_in_the_order_of_the_file() {
    let dtypes: Vec<_> = all_dtypes().filter(|dtype| *dtype != DType::C128).collect();
    let samples: Vec<_> = dtypes.iter().map(|&dtype| (dtype.name(), sample(dtype))).collect();
    let named: Vec<_> = samples.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let content = written(&named, &SaveOptions::new());
    let [opened, _] = both(&content).unwrap();
    let all = map_all(&content).unwrap();
    assert_eq!(
        all.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        Vec::from_iter(opened.names())
    );
    for (name, Mapped { tensor, copied }) in &all {
        assert_eq!((tensor.dtype().name(), *copied), (&name[..], None));
        assert!(same(tensor, &sample(tensor.dtype())), "{name}");
        assert!(matches!(tensor.set(&[0, 0], 1), Err(Error::ReadOnly)), "{name}");
    }
}

#[test]
fn all_tensors_are_mapped_or_the_file_is_refused_with_its_path() {
    let missing = tempfile::tempdir().unwrap().path().join("missing.safetensors");
    // SAFETY: there is no file.
    let refused = unsafe { AnyTensor::map_safetensors(&missing) }.map(drop).unwrap_err();
    assert!(refused.to_string().starts_with(&missing.display().to_string()), "{refused}");
    // SAFETY: nobody changes the files of the tests.
    let refused = unsafe { AnyTensor::map_safetensors(fixture("float8.safetensors")) }.unwrap_err();
    let text = "float8.safetensors: scale: safetensors: dtype F8_E4M3 is not supported";
    assert!(refused.to_string().ends_with(text), "{refused}");
    assert!(map_all(&[]).is_err());
}

#[test]
fn hostile_headers_are_refused_with_the_reason() {
    let x = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let cases = [
        (Vec::new(), "less than 8 bytes"),
        (vec![1, 0, 0, 0], "less than 8 bytes"),
        (u64::MAX.to_le_bytes().to_vec(), "a header of 18446744073709551615 bytes"),
        ([&99_999_999u64.to_le_bytes()[..], b"{}"].concat(), "where 2 follow"),
        (file("{", &[]), "header: EOF"),
        (file("[]", &[]), "header: "),
        (file("\u{0}", &[]), "header: "),
        (file(&"[".repeat(10_000), &[]), "header: "),
        (file(&format!(r#"{{"x":{}"#, r#"{"a":"#.repeat(10_000)), &[]), "header: "),
        (file("{}", &[1]), "describes 0 bytes of data, 1 follow"),
        (file(&x("F32", "[2]", "[0,8]"), &[0; 7]), "describes 8 bytes of data, 7 follow"),
        (file(&x("F32", "[2]", "[8,0]"), &[0; 8]), "header: "),
        (file(&x("F32", "[2]", "[4,12]"), &[0; 12]), "header: "),
        (file(&x("F32", "[3]", "[0,8]"), &[0; 8]), "header: "),
        (file(&x("F32", "[-1]", "[0,8]"), &[0; 8]), "header: "),
        (file(&x("F99", "[2]", "[0,8]"), &[0; 8]), "F99"),
        (file(&x("U8", "[4294967296,4294967296]", "[0,8]"), &[0; 8]), "overflow"),
    ];
    for (content, reason) in cases {
        let refused = both(&content).map(drop).unwrap_err();
        assert!(refused.to_string().contains(reason), "{reason}: {refused}");
    }
    let huge = file(&x("U8", "[0,4294967296,4294967295]", "[0,0]"), &[]);
    for opened in both(&huge).unwrap() {
        let refused = opened.tensor::<Bare>("x").unwrap_err();
        assert!(matches!(refused.cause(), InterchangeError::Tensor(_)), "{refused}");
    }
}

#[test]
fn a_bool_is_zero_or_one() {
    let header = r#"{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}"#;
    for opened in both(&file(header, &[1, 2])).unwrap() {
        let refused = opened.tensor::<Bare>("x").unwrap_err();
        assert!(refused.to_string().ends_with("x: element 1 is 2, which is no bool"), "{refused}");
    }
}
