//! The seeds of those fuzz targets whose cases need none of the fuzzer's crates, replayed.
//! `TENSOR_FUZZ_CASES` asks for as many random inputs beside them.

#[path = "../../../fuzz/src/cases/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use them from another crate")]
mod cases;

use std::{env, fs, path::Path};

/// Runs each seed of a target, and random inputs.
fn replay(target: &str, run: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for seed in fs::read_dir(&seeds).expect("the seeds of the target") {
        run(&fs::read(seed.expect("a file").path()).expect("a file"));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", seeds.display());
    let asked = env::var("TENSOR_FUZZ_CASES").ok();
    for case in 0..asked.map_or(500, |cases| cases.parse().expect("a number of cases")) {
        run(&random(case));
    }
}

/// Up to 64 bytes that follow from a number.
fn random(case: u64) -> Vec<u8> {
    let mut state = case.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let len = usize::from(next()) % 64;
    (0..len).map(|_| next()).collect()
}

#[test]
fn bytes() {
    replay("bytes", cases::bytes::run);
}

#[cfg(feature = "in-place")]
#[test]
fn in_place() {
    replay("in_place", cases::in_place::run);
}

#[cfg(feature = "dlpack")]
#[test]
fn dlpack() {
    replay("dlpack", cases::dlpack::run);
}
