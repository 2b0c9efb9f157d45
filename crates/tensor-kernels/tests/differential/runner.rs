//! Runs the cases of a kind, and reports the first failure.
//!
//! Cases run in a child process, because a write out of bounds can abort it. The child records the
//! number of the current case, so the parent can shrink it in further children and report it.

use std::{
    env,
    fs::File,
    io::{Seek, SeekFrom, Write},
    panic::{self, AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::{Command, Output},
    time::Instant,
};

use super::{
    generator::{Case, Choices, Outcome, check, line},
    shrink::shrunk,
};

const CASES: &str = "TENSOR_DIFFERENTIAL_CASES";
const SEED: &str = "TENSOR_DIFFERENTIAL_SEED";
const CASE: &str = "TENSOR_DIFFERENTIAL_CASE";
const IN_PROCESS: &str = "TENSOR_DIFFERENTIAL_IN_PROCESS";
/// Set in child processes: the file to which they write the number of the current case.
const PROGRESS: &str = "TENSOR_DIFFERENTIAL_PROGRESS";

/// The largest number of runs for shrinking, in this process and in child processes.
const MAX_SHRINK_RUNS: usize = 4000;
const MAX_SHRINK_CHILDREN: usize = 300;

/// Runs `cases` cases of a kind, or only the one that the environment names if it is of this kind.
pub(crate) fn run(kind: &str, cases: u64) {
    if let Ok(line) = env::var(CASE) {
        if let Some(choices) = listed(kind, &line) {
            run_one(kind, &choices);
        }
    } else if env::var_os(PROGRESS).is_some() || env::var_os(IN_PROCESS).is_some() {
        run_all(kind, cases);
    } else {
        run_children(kind);
    }
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|value| value.parse().expect("a number"))
}

/// The choices of a line `kind:1.a.0`, if it is of this kind.
fn listed(kind: &str, line: &str) -> Option<Vec<u32>> {
    let numbers = line.strip_prefix(kind)?.strip_prefix(':')?;
    let read = |number| u32::from_str_radix(number, 16).expect("numbers to base 16");
    Some(numbers.split('.').filter(|number| !number.is_empty()).map(read).collect())
}

/// The seed of a case.
fn seed(kind: &str, number: u64) -> u64 {
    let of_run = self::number(SEED).unwrap_or(0);
    let of_kind = kind.bytes().fold(of_run, |seed, byte| seed.wrapping_mul(257) + u64::from(byte));
    of_kind.wrapping_mul(0xD129_0D3B_9F71_2E55).wrapping_add(number << 20)
}

/// A case's outcome; a panic is a failure.
fn outcome(kind: &str, case: &mut Case<'_>) -> Outcome {
    let caught = catch_unwind(AssertUnwindSafe(|| check(kind, case)));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without a message")))
    })
}

fn run_one(kind: &str, choices: &[u32]) {
    println!("{kind}");
    if let Err(why) = outcome(kind, &mut Case::printed(Choices::listed(choices))) {
        panic!("failed: {why}");
    }
}

fn run_all(kind: &str, cases: u64) {
    let cases = number(CASES).unwrap_or(cases);
    let mut progress = env::var_os(PROGRESS).map(|path| File::create(path).expect("a file"));
    let start = Instant::now();
    for number in 0..cases {
        if let Some(file) = &mut progress {
            note_progress(file, number).expect("progress is written");
        }
        let mut case = Case::new(Choices::seeded(seed(kind, number)));
        if outcome(kind, &mut case).is_err() {
            let choices = case.choices.made().to_vec();
            let after = format!("case {number} of {kind}, after {:.1?}", start.elapsed());
            let silent = panic::take_hook();
            panic::set_hook(Box::new(|_| {}));
            let choices = shrunk(choices, MAX_SHRINK_RUNS, |choices| fails(kind, choices));
            panic::set_hook(silent);
            let why = fails_with(kind, &choices).unwrap_or_default();
            panic!("{after}\n{}", report(kind, &choices, &why));
        }
    }
    let per_minute = cases as f64 / start.elapsed().as_secs_f64() * 60.0;
    println!("{kind}: {cases} cases in {:.1?}, {per_minute:.0} a minute", start.elapsed());
}

fn note_progress(file: &mut File, number: u64) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{number}")
}

fn fails(kind: &str, choices: &[u32]) -> bool {
    fails_with(kind, choices).is_some()
}

fn fails_with(kind: &str, choices: &[u32]) -> Option<String> {
    outcome(kind, &mut Case::new(Choices::listed(choices))).err()
}

/// The report of a failure: the case in words, the reason, and how to repeat it.
fn report(kind: &str, choices: &[u32], why: &str) -> String {
    let mut case = Case::described(Choices::listed(choices));
    // The description ends at the failure, which is known already.
    let _ = outcome(kind, &mut case);
    format!("{}  failed: {why}\n  repeat it by:\n{}", case.description(), repeat(kind, choices))
}

fn repeat(kind: &str, choices: &[u32]) -> String {
    let case = line(kind, choices);
    format!("{CASE}={case} cargo test -p tensor-kernels --test differential {kind}")
}

/// Runs all cases in a child process. If it aborts, shrinks the case in further children.
fn run_children(kind: &str) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = path.join(format!("differential-{kind}-{}", std::process::id()));
    let Output { status, stdout, stderr } =
        child(kind).env(PROGRESS, &path).output().expect("a child");
    print!("{}", String::from_utf8_lossy(&stdout));
    let reached = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    if status.success() {
        return;
    }
    eprint!("{}", String::from_utf8_lossy(&stderr));
    // A failed test exits with 101. Any other code is an abort.
    if status.code() == Some(101) {
        panic!("a case failed, see above");
    }
    let number = reached.trim().parse().expect("the child wrote how far it came");
    panic!(
        "case {number} of {kind} ended the process: {status}\n{}",
        shrunk_in_children(kind, number)
    );
}

fn child(kind: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("the path of this binary"));
    command.args(["--exact", kind, "--nocapture", "--test-threads=1"]).env("RUST_BACKTRACE", "0");
    command
}

fn shrunk_in_children(kind: &str, number: u64) -> String {
    let passes = |choices: &[u32]| {
        let output = child(kind).env(CASE, line(kind, choices)).output().expect("a child");
        output.status.success()
    };
    // Enough numbers for any case; those that it does not draw are ignored.
    let choices = Choices::numbers(seed(kind, number), 200);
    if passes(&choices) {
        return format!(
            "by itself it passes; earlier ones did the damage ({CASES}={})",
            number + 1
        );
    }
    let choices = shrunk(choices, MAX_SHRINK_CHILDREN, |choices| !passes(choices));
    let output = child(kind).env(CASE, line(kind, &choices)).output().expect("a child");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    format!("{printed}\n  repeat it by:\n{}", repeat(kind, &choices))
}
