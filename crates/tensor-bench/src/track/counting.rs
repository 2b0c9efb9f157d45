//! Counting under valgrind, in which this program starts itself with a few subjects at a time.
//!
//! What would make counts differ is fixed: the environment is empty except for the variables named
//! here, the cache sizes are given, and glibc copies with loops instead of `rep movsb`, which
//! copies any number of bytes and is counted as one instruction for each.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Subject, counted::MARK, profile::Counts, table};
use crate::{Failure, Result, output::progress::Progress, system::pool};

/// The command of this program that runs under valgrind.
pub const COMMAND: &str = "count";

/// The simulated caches as options of callgrind: size, associativity, bytes of a line.
pub const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];

/// Settings of glibc: copies use neither `rep movsb` nor non-temporal stores, every thread has its
/// own heap, and the threshold for mapped allocations does not depend on earlier frees.
pub const TUNABLES: &str = "glibc.cpu.x86_rep_movsb_threshold=0x40000000:\
     glibc.cpu.x86_rep_stosb_threshold=0x40000000:\
     glibc.cpu.x86_non_temporal_threshold=0x40000000:glibc.malloc.arena_max=64:\
     glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072";

/// Subjects per start of valgrind.
const SUBJECTS_PER_RUN: usize = 12;

/// How the counts of a record were made, or why they are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// There are counts.
    By {
        /// The version of valgrind.
        valgrind: String,
        /// The SIMD level under valgrind.
        simd: String,
        /// The simulated caches.
        caches: String,
    },
    /// There are no counts.
    Missing {
        /// The reason.
        because: String,
    },
}

/// An installed valgrind.
#[derive(Clone, Debug)]
pub struct Valgrind {
    version: String,
}

/// The counts of all subjects.
pub struct Counted {
    /// One for each subject.
    pub counts: Vec<Counts>,
    /// How they were made.
    pub by: Counting,
}

impl Valgrind {
    /// Finds valgrind.
    ///
    /// # Errors
    /// [`Failure::Work`] that says how to install it.
    pub fn find() -> Result<Valgrind> {
        let none = "valgrind is not installed (Debian, Ubuntu: apt-get install valgrind; \
                    Fedora: dnf install valgrind)";
        let output = Command::new("valgrind").arg("--version").output();
        match output {
            Err(_) => Err(Failure::work(none)),
            Ok(output) if !output.status.success() => Err(Failure::work(format!(
                "valgrind does not start: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ))),
            Ok(output) => {
                Ok(Valgrind { version: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
            }
        }
    }

    /// Counts all subjects of the built-in table or of `file` by starting `program`, which is this
    /// program, on all cores: counts do not depend on the load.
    ///
    /// # Errors
    /// The first failure, with the name of the subject.
    pub fn count(
        &self,
        program: &Path,
        subjects: &[Subject],
        file: Option<&Path>,
    ) -> Result<Counted> {
        let folder = tempfile::tempdir()
            .map_err(|error| Failure::work(format!("no folder for profiles: {error}")))?;
        let progress = Progress::new(subjects.len());
        let some = |(at, some): (usize, &[Subject])| {
            progress.begin(format!("counting {}", some[0]));
            let counts =
                run_under_valgrind(program, some, file, &folder.path().join(at.to_string()));
            some.iter().for_each(|_| progress.end());
            counts
        };
        let all = || subjects.par_chunks(SUBJECTS_PER_RUN).enumerate().map(some).collect();
        let found: Result<Vec<_>> = pool::build(pool::cores())?.install(all);
        Ok(self.all(found?))
    }

    fn all(&self, found: Vec<(Vec<Counts>, String)>) -> Counted {
        let (counts, levels): (Vec<Vec<Counts>>, Vec<String>) = found.into_iter().unzip();
        let counts = counts.into_iter().flatten().collect();
        let by = Counting::By {
            valgrind: self.version.clone(),
            simd: levels.into_iter().next().unwrap_or_default(),
            caches: CACHES.join(" "),
        };
        Counted { counts, by }
    }
}

/// Runs this program under callgrind. Returns the counts of each subject, and the SIMD level.
fn run_under_valgrind(
    program: &Path,
    subjects: &[Subject],
    file: Option<&Path>,
    profile: &Path,
) -> Result<(Vec<Counts>, String)> {
    let output = command(program, subjects, file, profile)
        .output()
        .map_err(|error| Failure::work(format!("valgrind does not start: {error}")))?;
    check(&output)?;
    let counts = subjects.iter().enumerate().map(|(at, subject)| {
        counts(profile, at).map_err(|failure| failure.at(format!("counting {subject}")))
    });
    let level = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok((counts.collect::<Result<_>>()?, level))
}

/// Reads the profile of the thread of a subject: threads are numbered from 1, which is the main
/// thread.
fn counts(profile: &Path, at: usize) -> Result<Counts> {
    let file = format!("{}-{:02}", profile.display(), at + 2);
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::work(format!("callgrind wrote no profile: {error}")))?;
    Counts::read(&text)
}

fn command(program: &Path, subjects: &[Subject], file: Option<&Path>, profile: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--cache-sim=yes"]).args(CACHES);
    command.args(["--compress-strings=no", "--compress-pos=no", "--dump-line=no"]);
    command.arg("--separate-threads=yes").arg(format!("--toggle-collect=*{MARK}*"));
    command.arg(format!("--callgrind-out-file={}", literal(profile)));
    command.arg(program).arg(COMMAND).args(table::argument(file));
    command.arg("--").args(subjects.iter().map(ToString::to_string));
    pin(&mut command);
    command.stdin(Stdio::null());
    command
}

/// A path with percent signs escaped: valgrind expands `%p` and the like.
fn literal(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

/// Fixes the environment. `TENSOR_SIMD` is kept, unless it names a level that valgrind lacks.
fn pin(command: &mut Command) {
    let path = env::var_os("PATH");
    let level = env::var_os("TENSOR_SIMD").filter(|level| level != "v4");
    command.env_clear().env("GLIBC_TUNABLES", TUNABLES);
    command.envs(path.map(|path| ("PATH", path)));
    command.envs(level.map(|level| ("TENSOR_SIMD", level)));
}

fn check(output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unrecognised instruction") || said.contains("SIGILL") {
        return Err(Failure::work(
            "valgrind does not know an instruction of this program: \
             build it without -C target-cpu=native",
        ));
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(Failure::work(format!("{}: {last}", output.status)))
}
