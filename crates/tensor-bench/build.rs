//! Tells the crate which compiler builds it: a record of instruction counts is a record of that compiler, too.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.unwrap_or_else(|| "rustc of unknown version".to_owned());
    println!("cargo::rustc-env=TENSOR_BENCH_RUSTC={}", version.trim());
}
