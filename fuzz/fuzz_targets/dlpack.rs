//! Tensors of DLPack: see `cases::dlpack`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_fuzz::cases::dlpack;

fuzz_target!(|input: &[u8]| dlpack::run(input));
