//! NumPy's file format: an invalid file is an error, never a panic; an array that was read survives
//! a round trip in both orders.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_kernels::{
    AnyTensor,
    interchange::{
        Result,
        npy::{self, Order},
    },
};

fuzz_target!(|bytes: &[u8]| {
    match read(bytes) {
        Ok(array) => round_trip(&array),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
});

fn read(bytes: &[u8]) -> Result<AnyTensor> {
    npy::read(bytes, bytes.len() as u64)
}

fn write(array: &AnyTensor, order: Order) -> Vec<u8> {
    let mut file = Vec::new();
    npy::write(&mut file, array, order).expect("a vector grows");
    file
}

fn round_trip(array: &AnyTensor) {
    let c_order = write(array, Order::C);
    let fortran = read(&write(array, Order::Fortran)).expect("what this library wrote");
    assert_eq!((fortran.dtype(), fortran.shape()), (array.dtype(), array.shape()));
    // Files are compared, because a NaN is not equal to itself.
    assert_eq!(write(&fortran, Order::C), c_order);
    assert_eq!(write(&read(&c_order).expect("what this library wrote"), Order::C), c_order);
}
