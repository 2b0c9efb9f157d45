//! Sets the compiler and the commit as environment variables of the build. Instruction counts
//! depend on the compiler, and the rates of a calibration on the kernels of the commit.

#[path = "src/track/changed_sources.rs"]
mod changed_sources;

use std::{env, path::Path, process::Command};

use changed_sources::CHANGED_SOURCES;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Set by cargo-fuzz.
    println!("cargo::rustc-check-cfg=cfg(fuzzing)");
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = output_of(&compiler, &["--version"])
        .unwrap_or_else(|| "rustc of unknown version".to_owned());
    println!("cargo::rustc-env=TENSOR_BENCH_RUSTC={version}");
    commit();
}

/// Sets the commit and whether the sources differ from it, if this file is tracked. A repository
/// around an untracked copy of the crate has unrelated commits.
fn commit() {
    if output_of("git", &["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    // git appends to this file whenever another commit is checked out.
    if let Some(log) = output_of("git", &["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    for sources in ["src", "../tensor-core/src", "../tensor-kernels/src"] {
        if Path::new(sources).exists() {
            println!("cargo::rerun-if-changed={sources}");
        }
    }
    if let Some(commit) = output_of("git", &["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=TENSOR_BENCH_COMMIT={commit}");
    }
    if output_of("git", CHANGED_SOURCES).is_some_and(|changes| !changes.is_empty()) {
        println!("cargo::rustc-env=TENSOR_BENCH_CHANGED=true");
    }
}

/// The output of a program, if it succeeds.
fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
