//! The build: commit and compiler.

use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The commit that this program was built from, if known.
pub const COMMIT: Option<&str> = option_env!("TENSOR_BENCH_COMMIT");

/// A build, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit that git has checked out, or the name given with `--commit`.
    pub commit: Option<String>,
    /// Whether there were uncommitted changes.
    pub changed: bool,
    /// The compiler.
    pub rustc: String,
}

impl Build {
    /// This build, with the given name or the commit that git has checked out here.
    pub fn here(name: Option<&str>) -> Build {
        let rustc = env!("TENSOR_BENCH_RUSTC").to_owned();
        match name {
            Some(name) => Build { commit: Some(name.to_owned()), changed: false, rustc },
            None => Build {
                commit: git(&["rev-parse", "HEAD"]),
                changed: git(&["status", "--porcelain", "--untracked-files=no"])
                    .is_some_and(|changes| !changes.is_empty()),
                rustc,
            },
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
    fn the_compiler_is_known() {
        assert!(Build::here(Some("x")).rustc.starts_with("rustc 1."));
    }
}
