//! NumPy's file format: an invalid file is an error, never a panic; an array that was read survives
//! a round trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_bench::input::npy;
use tensor_kernels::{AnyTensor, DType, Tensor};

fuzz_target!(|bytes: &[u8]| {
    match npy::read(bytes, bytes.len() as u64) {
        Ok(array) => round_trip(&array),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
});

/// The elements as bytes in C order, for the types whose elements convert to bytes.
fn elements(array: &AnyTensor) -> Option<Vec<u8>> {
    macro_rules! bytes {
        ($($variant:ident($type:ty)),*) => {
            match array.dtype() {
                $(DType::$variant => {
                    let tensor = Tensor::<$type>::try_from(array.clone()).expect("its own type");
                    let values = tensor.to_vec().expect("a tensor that is not being written");
                    Some(values.iter().flat_map(|value| value.to_ne_bytes()).collect())
                })*
                _ => None,
            }
        };
    }
    bytes!(
        U8(u8),
        U16(u16),
        U32(u32),
        U64(u64),
        I8(i8),
        I16(i16),
        I32(i32),
        I64(i64),
        F32(f32),
        F64(f64)
    )
}

fn round_trip(array: &AnyTensor) {
    let Some(bytes) = elements(array) else { return };
    let mut file = Vec::new();
    npy::write(&mut file, array.dtype(), array.layout().shape(), &bytes).expect("a vector grows");
    let again = npy::read(&file[..], file.len() as u64).expect("what this library wrote");
    assert_eq!(again.dtype(), array.dtype());
    assert_eq!(again.layout().shape(), array.layout().shape());
    assert_eq!(elements(&again), Some(bytes));
}
