//! Files of safetensors: an invalid one is an error, never a panic; tensors that were read survive
//! a round trip.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tensor_kernels::{
    AnyTensor,
    interchange::safetensors::{self, SafetensorsFile, SaveOptions},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = SafetensorsFile::from_source(Cursor::new(bytes.to_vec())) else { return };
    let tensors: Vec<(&str, AnyTensor)> =
        file.names().iter().filter_map(|name| Some((&name[..], file.tensor(name).ok()?))).collect();
    let first = write(&tensors);
    let file = SafetensorsFile::from_source(Cursor::new(first.clone())).expect("a file of ours");
    let again: Vec<(&str, AnyTensor)> =
        tensors.iter().map(|(name, _)| (*name, file.tensor(name).expect("of our file"))).collect();
    assert_eq!(write(&again), first);
});

fn write(tensors: &[(&str, AnyTensor)]) -> Vec<u8> {
    let mut file = Vec::new();
    let named = tensors.iter().map(|(name, tensor)| (*name, tensor));
    safetensors::write(&mut file, named, &SaveOptions::new()).expect("contiguous tensors");
    file
}
