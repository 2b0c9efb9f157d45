//! Tensors of candle and of `tensor_kernels`: by safetensors in both directions, and over each
//! other's elements, for every dtype that both have.

use std::{collections::HashMap, fs, path::Path};

use candle_core::{CpuStorage, DType, Device, Storage, Tensor, WithDType, safetensors};
use tensor_kernels::{
    AnyTensor, BuiltIn, Exec, Layout, TensorView,
    interchange::safetensors::{SafetensorsFile, SaveOptions},
    to_vec,
};

#[path = "../src/contiguous.rs"]
mod contiguous;

/// An element type of both libraries, and the elements that candle stores of it.
trait Both: WithDType + BuiltIn + PartialEq {
    fn stored(storage: &CpuStorage) -> &[Self];
}

macro_rules! both {
    ($($type:ty: $variant:ident,)*) => {$(
        impl Both for $type {
            fn stored(storage: &CpuStorage) -> &[Self] {
                match storage {
                    CpuStorage::$variant(elements) => elements,
                    other => panic!("{other:?} has no elements {}", stringify!($type)),
                }
            }
        }
    )*};
}

both! {
    u8: U8, u32: U32, i16: I16, i32: I32, i64: I64,
    half::bf16: BF16, half::f16: F16, f32: F32, f64: F64,
}

/// Calls a generic function for each of these types.
macro_rules! for_each_type {
    ($function:ident) => {
        $function::<u8>();
        $function::<u32>();
        $function::<i16>();
        $function::<i32>();
        $function::<i64>();
        $function::<half::bf16>();
        $function::<half::f16>();
        $function::<f32>();
        $function::<f64>();
    };
}

/// Different numbers, exact in every type.
fn numbers<T: Both>(count: usize) -> Vec<T> {
    (0..count).map(|at| T::from_f64((at % 120) as f64)).collect()
}

fn by_candle<T: Both>() -> Tensor {
    Tensor::from_vec(numbers::<T>(60), (3, 4, 5), &Device::Cpu).unwrap()
}

fn in_folder<R>(f: impl FnOnce(&Path) -> R) -> R {
    let folder = tempfile::tempdir().unwrap();
    f(&folder.path().join("tensors.safetensors"))
}

/// The elements of a tensor of ours, in row-major order.
fn elements<T: Both>(tensor: &AnyTensor) -> Vec<T> {
    tensor.typed::<T>().expect("the dtype that was saved").to_vec().unwrap()
}

#[test]
fn what_candle_saves_is_loaded() {
    fn loaded<T: Both>() {
        let tensors = HashMap::from([("whole", by_candle::<T>()), ("one", by_candle::<T>())]);
        let file = in_folder(|path| {
            safetensors::save(&tensors, path).unwrap();
            let all = AnyTensor::load_safetensors(path).unwrap();
            assert_eq!(all.len(), 2);
            fs::read(path).unwrap()
        });
        let ours = SafetensorsFile::from_source(std::io::Cursor::new(file)).unwrap();
        let whole: AnyTensor = ours.tensor("whole").unwrap();
        assert_eq!(whole.shape(), [3, 4, 5]);
        assert_eq!(elements::<T>(&whole), numbers::<T>(60));
    }
    for_each_type!(loaded);
}

#[test]
fn what_is_saved_candle_loads() {
    fn saved<T: Both>() {
        let whole = tensor_kernels::Tensor::from_vec(numbers::<T>(60), [3, 4, 5]).unwrap();
        let whole: AnyTensor = T::into_any(whole);
        let turned = whole.permute([2, 0, 1]).unwrap().flip([1]).unwrap();
        let named = [("whole", &whole), ("turned", &turned)];
        let (from_file, from_bytes) = in_folder(|path| {
            AnyTensor::save_safetensors(path, named, &SaveOptions::new().pack()).unwrap();
            let bytes = fs::read(path).unwrap();
            let from_bytes = safetensors::load_buffer(&bytes, &Device::Cpu).unwrap();
            (safetensors::load(path, &Device::Cpu).unwrap(), from_bytes)
        });
        for theirs in [from_file, from_bytes] {
            let expected = by_candle::<T>();
            assert_eq!(theirs["whole"].dtype(), <T as WithDType>::DTYPE);
            assert_eq!(flat::<T>(&theirs["whole"]), numbers::<T>(60));
            assert_eq!(theirs["turned"].dims(), [5, 3, 4]);
            let expected = expected.permute((2, 0, 1)).unwrap().contiguous().unwrap();
            let expected = expected.flip(&[1]).unwrap();
            assert_eq!(flat::<T>(&theirs["turned"]), flat::<T>(&expected));
        }
    }
    for_each_type!(saved);
}

/// The elements of a tensor of candle's, in row-major order, by candle.
fn flat<T: Both>(tensor: &Tensor) -> Vec<T> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn views_of_candle_are_views_over_its_elements() {
    fn viewed<T: Both>() {
        let view = by_candle::<T>().narrow(1, 1, 2).unwrap().permute((2, 0, 1)).unwrap();
        let (storage, layout) = view.storage_and_layout();
        let Storage::Cpu(storage) = &*storage else { panic!("a tensor of the CPU") };
        let strides: Vec<isize> = layout.stride().iter().map(|&s| s as isize).collect();
        let ours = Layout::new(layout.dims(), &strides, layout.start_offset()).unwrap();
        let ours = TensorView::new(T::stored(storage), ours).unwrap();
        assert_eq!(to_vec(Exec::current().unwrap(), &ours).unwrap(), flat::<T>(&view));
        let contiguous = contiguous::contiguous(&view).unwrap();
        assert_eq!(flat::<T>(&contiguous), flat::<T>(&view));
    }
    for_each_type!(viewed);
}

#[test]
fn vectors_go_there_and_back() {
    fn round_trip<T: Both>() {
        let theirs = by_candle::<T>();
        let given = theirs.flatten_all().unwrap().to_vec1::<T>().unwrap();
        let memory = given.as_ptr();
        let ours = tensor_kernels::Tensor::from_vec(given, theirs.dims()).unwrap();
        let back = ours.into_vec().unwrap();
        assert_eq!(back.as_ptr(), memory, "no copy");
        let back = Tensor::from_vec(back, (3, 4, 5), &Device::Cpu).unwrap();
        assert_eq!(flat::<T>(&back), flat::<T>(&theirs));
    }
    for_each_type!(round_trip);
}

#[test]
fn dtypes_that_only_candle_has_are_refused_by_name() {
    let eight_bits = by_candle::<f32>().to_dtype(DType::F8E4M3).unwrap();
    let refused = in_folder(|path| {
        safetensors::save(&HashMap::from([("x", eight_bits)]), path).unwrap();
        AnyTensor::load_safetensors(path).map(drop).unwrap_err()
    });
    assert!(refused.to_string().contains("F8_E4M3 is not supported"), "{refused}");
}
