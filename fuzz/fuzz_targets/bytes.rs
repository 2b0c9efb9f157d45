//! Copies by bytes: see `cases::bytes`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_fuzz::cases::bytes;

fuzz_target!(|input: &[u8]| bytes::run(input));
