//! Instruction counts under callgrind, with limits: a regression is exit code 3.
//!
//! The cases are those of the table that fit into a cache. Each runs the command that `tensor-bench
//! record` counts with, so both count the same. `scripts/callgrind.sh` installs what is needed and
//! explains baselines. Without a named baseline a run is compared with the last one and replaces
//! it, so a regression is reported only once.

#![allow(missing_docs, unreachable_pub, reason = "what iai-callgrind's macros expand to")]

use std::process::{Command as Process, ExitCode, Stdio};

use iai_callgrind::{
    Bench, BinaryBenchmark, BinaryBenchmarkConfig, BinaryBenchmarkGroup, Callgrind, Command,
    EntryPoint, EventKind, binary_benchmark_group,
};
use tensor_bench::{
    Failure, Result,
    track::{
        Subject,
        counted::MARK,
        counting::{CACHES, COMMAND, TUNABLES, Valgrind},
        table,
    },
};

/// The program that does the work.
const PROGRAM: &str = env!("CARGO_BIN_EXE_tensor-bench");

/// Library and runner must be of exactly this version.
const VERSION: &str = "0.16.1";

fn main() -> ExitCode {
    if let Err(missing) = tools() {
        eprintln!(
            "instructions are NOT counted: {missing}\n\
             (scripts/callgrind.sh installs what is missing)"
        );
        return ExitCode::SUCCESS;
    }
    if let Err(failure) = anything_is_counted() {
        eprintln!("error: {failure}");
        return ExitCode::FAILURE;
    }
    count();
    ExitCode::SUCCESS
}

/// The macro defines a `main`, which exits if a limit is exceeded.
#[allow(clippy::disallowed_methods, reason = "what iai-callgrind's macros expand to")]
fn count() {
    iai_callgrind::main!(binary_benchmark_groups = run, plan);
    main();
}

/// Checks for valgrind and for the runner of our version.
fn tools() -> Result<()> {
    Valgrind::find()?;
    let runner = option_env!("IAI_CALLGRIND_RUNNER").unwrap_or("iai-callgrind-runner");
    let output = Process::new(runner).arg("--version").stdin(Stdio::null()).output();
    let none = |_| Failure::work(format!("{runner} is not installed"));
    let version = String::from_utf8_lossy(&output.map_err(none)?.stdout).trim().to_owned();
    match version.split_whitespace().last() {
        Some(VERSION) => Ok(()),
        _ => Err(Failure::work(format!("{runner} says '{version}', but {VERSION} is needed"))),
    }
}

/// Checks that counts are not zero, as they are for a program without symbols.
fn anything_is_counted() -> Result<()> {
    let subjects = small();
    Valgrind::find()?.count(PROGRAM.as_ref(), &subjects[..1], None).map(drop)
}

fn small() -> Vec<Subject> {
    let mut subjects = table::subjects().expect("the table of cases is right");
    subjects.retain(|subject| !subject.to_string().starts_with("memory/"));
    subjects
}

binary_benchmark_group!(
    name = run;
    config = config("run");
    benchmarks = |group: &mut BinaryBenchmarkGroup| add(group, "run", &small())
);

binary_benchmark_group!(
    name = plan;
    config = config("plan");
    benchmarks = |group: &mut BinaryBenchmarkGroup| {
        let mut planned = small();
        planned.retain(|subject| subject.to_string().starts_with("small/"));
        add(group, "plan", &planned);
    }
);

/// Counts only inside the mark of one part. Environment, caches and allocator settings are those of
/// `tensor-bench record`.
fn config(part: &str) -> BinaryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(CACHES);
    callgrind
        .entry_point(EntryPoint::Custom(format!("*{MARK}{part}*")))
        .soft_limits([(EventKind::Ir, 1.0), (EventKind::EstimatedCycles, 5.0)]);
    let mut config = BinaryBenchmarkConfig::default();
    config.env("GLIBC_TUNABLES", TUNABLES).tool(callgrind);
    config
}

fn add(group: &mut BinaryBenchmarkGroup, part: &str, subjects: &[Subject]) {
    let mut benchmark = BinaryBenchmark::new(part);
    for subject in subjects {
        let name = subject.to_string();
        let command = Command::new(PROGRAM).args([COMMAND, "--", &name]).build();
        benchmark.bench(Bench::new(name.replace('/', "_")).command(command));
    }
    group.binary_benchmark(benchmark);
}
