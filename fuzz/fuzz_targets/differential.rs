//! The cases of the differential test, drawn from the fuzzer's bytes: any operation on operands of
//! any layout writes the results of a loop over single elements, and nothing else.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/tensor-kernels/tests/differential/generator/mod.rs"]
#[allow(dead_code, reason = "the test uses more of it")]
mod generator;

use generator::{Case, Choices, KINDS, line};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let (kind, check) = KINDS[usize::from(*kind) % KINDS.len()];
    if let Err(why) = check(&mut Case::new(Choices::bytes(bytes))) {
        let mut case = Case::described(Choices::bytes(bytes));
        // The description ends at the failure, which is known already.
        let _ = check(&mut case);
        let repeat = line(kind, case.choices.made());
        panic!("{}  failed: {why}\n  repeat it: {repeat}", case.description());
    }
});
