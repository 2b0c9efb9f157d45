//! Permutations in place: see `cases::in_place`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_fuzz::cases::in_place;

fuzz_target!(|input: &[u8]| in_place::run(input));
