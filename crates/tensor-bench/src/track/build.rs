//! The build: commit and compiler.

use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::changed_sources::CHANGED_SOURCES;

/// The commit that this program was built from, if known.
pub const COMMIT: Option<&str> = option_env!("TENSOR_BENCH_COMMIT");

/// Whether the sources differed from [`COMMIT`] when this program was built.
const CHANGED: bool = option_env!("TENSOR_BENCH_CHANGED").is_some();

/// A build, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit that the program was built from, or the name given with `--commit`.
    pub commit: Option<String>,
    /// Whether its sources had uncommitted changes.
    pub changed: bool,
    /// The compiler.
    pub rustc: String,
}

impl Build {
    /// This build, under the given name or that of the commit that it was built from.
    pub fn here(name: Option<&str>) -> Build {
        let rustc = env!("TENSOR_BENCH_RUSTC").to_owned();
        match name {
            Some(name) => Build { commit: Some(name.to_owned()), changed: false, rustc },
            None => Build { commit: COMMIT.map(str::to_owned), changed: CHANGED, rustc },
        }
    }

    /// The commit in short: twelve digits of a hash; other names in full, with control characters
    /// replaced.
    pub fn short(&self) -> String {
        let Some(commit) = &self.commit else { return "unknown commit".to_owned() };
        let hash = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
        let commit = if hash { &commit[..12] } else { commit };
        let commit: String =
            commit.chars().map(|c| if c.is_control() || c == '`' { '?' } else { c }).collect();
        format!("{commit}{}", if self.changed { " with changes" } else { "" })
    }
}

/// What the working folder has checked out, if that is this library.
#[derive(Clone, Debug)]
struct Checkout {
    commit: String,
    changed: bool,
}

/// A note if the working folder has other sources of this library checked out than those that this
/// program was built from: whoever records there may have forgotten to build.
pub fn note_on_folder() -> Option<String> {
    let built = COMMIT?;
    git(&["cat-file", "-e", &format!("{built}^{{commit}}")])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(CHANGED_SOURCES).is_some_and(|changes| !changes.is_empty());
    difference(&Build::here(None), &Checkout { commit, changed })
}

fn difference(built: &Build, here: &Checkout) -> Option<String> {
    let Checkout { commit, changed } = here.clone();
    let here = Build { commit: Some(commit), changed, rustc: String::new() };
    let same = (&here.commit, here.changed) == (&built.commit, built.changed);
    (!same).then(|| {
        format!(
            "this program was built from {}, and this folder has {}: the record is of the former",
            built.short(),
            here.short()
        )
    })
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_cut_and_names_are_not() {
        let build = |commit: &str, changed| {
            Build { commit: Some(commit.to_owned()), changed, rustc: String::new() }.short()
        };
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(build(hash, false), "0123456789ab");
        assert_eq!(build(hash, true), "0123456789ab with changes");
        assert_eq!(build("a name that is quite a bit longer", false).len(), 33);
        assert_eq!(build("a`b\u{1b}[m\n", false), "a?b?[m?");
        let none = Build { commit: None, changed: false, rustc: String::new() };
        assert_eq!(none.short(), "unknown commit");
    }

    #[test]
    fn a_commit_is_a_whole_hash() {
        let hash =
            |commit: &str| commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(COMMIT.is_none_or(hash), "{COMMIT:?}");
    }

    #[test]
    fn a_folder_with_other_sources_than_the_build_is_said() {
        let [old, new] = ["0", "1"].map(|digit| digit.repeat(40));
        let build = |changed| {
            let commit = Some(old.clone());
            Build { commit, changed, rustc: String::new() }
        };
        let here = |commit: &String, changed| Checkout { commit: commit.clone(), changed };
        assert_eq!(difference(&build(false), &here(&old, false)), None);
        assert_eq!(difference(&build(true), &here(&old, true)), None);
        let said = difference(&build(false), &here(&new, true)).unwrap();
        let expected = "this program was built from 000000000000, and this folder has \
                        111111111111 with changes: the record is of the former";
        assert_eq!(said, expected);
        assert!(difference(&build(false), &here(&old, true)).is_some());
        assert!(difference(&build(true), &here(&old, false)).is_some());
    }

    #[test]
    fn the_compiler_is_known() {
        assert!(Build::here(Some("x")).rustc.starts_with("rustc 1."));
    }
}
