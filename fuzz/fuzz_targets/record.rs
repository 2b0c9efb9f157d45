//! The files that commands write and read back, and the list of accepted changes: invalid text is
//! an error, never a panic; a document survives a round trip through JSON.

#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use tensor_bench::{
    Result,
    advise::Calibration,
    suite,
    track::{Record, compare::Accepted, profile::Counts},
};

fuzz_target!(|text: &str| {
    round_trip(text, Record::read);
    round_trip(text, suite::Record::read);
    round_trip(text, Calibration::read);
    let refusals = [Accepted::read(text).err(), Counts::read(text).err()];
    for refused in refusals.into_iter().flatten() {
        assert!(!refused.to_string().is_empty());
    }
});

fn round_trip<T: Serialize + PartialEq + Debug>(text: &str, read: fn(&str) -> Result<T>) {
    match read(text) {
        Ok(document) => {
            let text = serde_json::to_string(&document).expect("a document is JSON");
            assert_eq!(read(&text).expect("what this program wrote"), document);
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}
