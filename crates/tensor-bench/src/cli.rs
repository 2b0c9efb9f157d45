//! The command line: commands, their dispatch, and the exit code.
//!
//! Exit code 0: done. 1: the work failed. 2: the input is wrong. Only results go to standard
//! output; a usage error writes nothing to it. A reader who closes standard output early is not an
//! error.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use crate::{Failure, Result, cmd};

/// Measure what non-contiguous tensor layouts cost on this machine, and when a copy is worth it
///
/// Without a command: `report`.
#[derive(Parser)]
#[command(
    name = "tensor-bench",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  tensor-bench --quick"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    report: cmd::report::Args,
}

#[derive(Subcommand)]
enum Command {
    /// See what common layouts, or a view of your own array, cost on this machine
    #[command(
        long_about = "Use `report` to see what common layouts, or a view of your own array, cost \
                      on this machine.",
        after_help = "Example:\n  tensor-bench report --npy image.npy --permute 2,0,1 \
                      --html page.html"
    )]
    Report(cmd::report::Args),
    /// Decide whether to copy a view once with contiguous() or to use it as it is
    #[command(
        long_about = "Use `advise` to decide whether to copy a view once with contiguous() or to \
                      use it as it is.",
        after_help = "Example:\n  tensor-bench advise --shape 4096,4096 --transpose 0,1 \
                      --op add --uses 10"
    )]
    Advise(cmd::advise::Args),
    /// Measure this machine: the rates that `advise --predict` works from, or what plans depend on
    #[command(
        long_about = "Use `calibrate` once per machine and build, to measure the rates that \
                      `advise --predict` works from; or, with --machine, what plans depend on.",
        after_help = "Example:\n  tensor-bench calibrate --threads 1"
    )]
    Calibrate(cmd::calibrate::Args),
    /// Race the layouts of a suite file, or random ones, against the naive loop and other libraries
    #[command(
        long_about = "Use `suite` to race layouts of your own choice, or random ones, against the \
                      naive loop and other libraries.",
        after_help = "Example:\n  tensor-bench suite benches/suite/copy.json --threads 1,2 \
                      --record copy.json"
    )]
    Suite(cmd::suite::Args),
    /// Print the figures of `suite --record` as tables
    #[command(
        long_about = "Use `results` to print, as tables, what `suite --record` has measured \
                      before.",
        after_help = "Example:\n  tensor-bench results copy.json elementwise.json"
    )]
    Results(cmd::results::Args),
    /// Record paths, times and instruction counts of this build, for `compare`
    #[command(
        long_about = "Use `record` before and after a change, to have two records for \
                      `compare`.\n\n\
                      A record has paths, times, instruction counts and cache misses of one \
                      build, and how far its plans of random copies are from the fastest ones.",
        after_help = "Example:\n  tensor-bench record --out new.json"
    )]
    Record(cmd::record::Args),
    /// Find regressions between two records; exit code 1 if there is one
    #[command(
        long_about = "Use `compare` to find regressions between two records; exit code 1 if there \
                      is one.",
        after_help = "Example:\n  tensor-bench compare base.json new.json --fail-on all"
    )]
    Compare(cmd::compare::Args),
    /// Find the record, in a folder of many, at which a case became slower or faster
    #[command(
        long_about = "Use `history` to find the record, in a folder of many, at which a case \
                      became slower or faster.",
        after_help = "Example:\n  tensor-bench history records --of time"
    )]
    History(cmd::history::Args),
    /// Time every case once, for `record`
    #[command(hide = true)]
    Pass(cmd::pass::Args),
    /// Run some cases, for valgrind to count
    #[command(hide = true)]
    Count(cmd::count::Args),
    /// Write a view of an .npy array as an .npy file in C order
    #[command(
        long_about = "Use `convert` to write a view of an .npy array as an .npy file in C order.",
        after_help = "Example:\n  tensor-bench convert in.npy out.npy --transpose 0,1"
    )]
    Convert(cmd::convert::Args),
    /// Learn what each call does to strides, why one copies, and what to write instead
    #[command(
        long_about = "Use `explain` to learn what each call of a chain does to shape, strides and \
                      storage, why one copies or is refused, what to write instead, and which \
                      strides are slow on this machine.",
        after_help = "Example:\n  tensor-bench explain \
                      'arange(24).reshape(2, 3, 4)[:, 1].reshape(8)' --html steps.html"
    )]
    Explain(cmd::explain::Args),
}

impl Cli {
    fn run(&self, out: &mut dyn Write) -> Result<()> {
        match &self.command {
            None => cmd::report::run(&self.report, out),
            Some(Command::Report(args)) => cmd::report::run(args, out),
            Some(Command::Advise(args)) => cmd::advise::run(args, out),
            Some(Command::Calibrate(args)) => cmd::calibrate::run(args, out),
            Some(Command::Suite(args)) => cmd::suite::run(args, out),
            Some(Command::Results(args)) => cmd::results::run(args, out),
            Some(Command::Record(args)) => cmd::record::run(args, out),
            Some(Command::Compare(args)) => cmd::compare::run(args, out),
            Some(Command::History(args)) => cmd::history::run(args, out),
            Some(Command::Pass(args)) => cmd::pass::run(args, out),
            Some(Command::Count(args)) => cmd::count::run(args, out),
            Some(Command::Convert(args)) => cmd::convert::run(args, out),
            Some(Command::Explain(args)) => cmd::explain::run(args, out),
        }
    }
}

/// Runs one command line.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let result = cli.run(&mut out);
    let flushed = out.flush().map_err(Failure::from);
    finish(result.and(flushed))
}

/// Help goes to standard output, usage errors to standard error.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(unwritten) if error.exit_code() == 0 => finish(Err(Failure::Output(unwritten))),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

fn finish(result: Result<()>) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    if !failure.is_closed_pipe() {
        // If standard error is closed, the exit code is all that can be reported.
        let _ = writeln!(io::stderr(), "error: {failure}");
    }
    ExitCode::from(failure.exit_code())
}
