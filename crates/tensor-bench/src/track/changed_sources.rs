//! How git lists sources that differ from the commit: for `build.rs`, and for the folder in which
//! the program runs.

/// The arguments of git.
pub(crate) const CHANGED_SOURCES: &[&str] = &[
    "status",
    "--porcelain",
    "--untracked-files=no",
    "--",
    ":(top,glob)crates/*/src/**",
    ":(top)Cargo.toml",
    ":(top)Cargo.lock",
];
