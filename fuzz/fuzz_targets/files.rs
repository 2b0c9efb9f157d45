//! Whatever a user may hand to the program: arrays of NumPy, suites, records, chains of calls, lists of accepted changes. Nonsense is an error, never a
//! panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_bench::{
    chain::Chain,
    npy, suite,
    track::{Record, compare::Accepted, table},
};

fuzz_target!(|bytes: &[u8]| {
    let _ = npy::read(bytes, bytes.len() as u64);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = suite::Record::read(text);
    let _ = Record::read(text);
    let _ = table::own(text);
    let _ = Accepted::read(text);
    if let Ok(chain) = Chain::parse(text) {
        let _ = chain.view_ops();
    }
});
