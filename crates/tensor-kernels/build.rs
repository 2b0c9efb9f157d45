//! Tells the crate how it is compiled: without optimisation, with it, or optimised for a program
//! that is not. See "Debug builds" in the documentation of the crate.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(tensor_optimized, tensor_compiled)");
    let optimized = env::var("OPT_LEVEL").is_ok_and(|level| level != "0");
    if optimized {
        println!("cargo::rustc-cfg=tensor_optimized");
    }
    // `PROFILE` is that of the whole build, `OPT_LEVEL` that of this crate.
    let debug_build = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    if optimized && debug_build {
        println!("cargo::rustc-cfg=tensor_compiled");
    }
}
