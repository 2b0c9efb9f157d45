//! Suites of benchmark cases: invalid text is an error, never a panic; the layout of every accepted
//! operand lies in its base array.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_bench::{suite, track::table};

fuzz_target!(|text: &str| {
    if let Err(refused) = table::parse(text) {
        assert!(!refused.to_string().is_empty());
    }
    match suite::read(text) {
        Ok(cases) => {
            for operand in cases.iter().flat_map(|case| &case.operands) {
                let base = operand.base.iter().product();
                let width = operand.dtype.size();
                operand.layout.check_within(base, width).expect("a view of its base array");
            }
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
});
