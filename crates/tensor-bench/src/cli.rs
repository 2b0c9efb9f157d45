//! The command line: what can be asked for, who answers, and the exit code.
//!
//! 0: done. 1: the work failed. 2: the question cannot be answered as it was put. Standard output carries results only, and usage errors write
//! nothing to it; a reader who closes it has read enough.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use crate::{Failure, Result, cmd};

/// What contiguity costs and what it buys, measured on this machine.
///
/// Without a command: the report.
#[derive(Parser)]
#[command(name = "tensor-bench", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    report: cmd::report::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Measure layouts people meet: what a pass over each costs, and when contiguous() pays
    Report(cmd::report::Args),
    /// Keep a view as it is, or copy it once? Measured now, or predicted from what this machine has shown
    Advise(cmd::advise::Args),
    /// Take the rates of this machine that `advise --predict` works from
    Calibrate(cmd::calibrate::Args),
    /// Measure the cases of a suite file
    Suite(cmd::suite::Args),
    /// Print what `suite --record` has kept: how near to the roof, how far from other libraries
    Results(cmd::results::Args),
    /// Keep what this build does on this machine: paths, times, instructions, cache lines
    Record(cmd::record::Args),
    /// Hold one record against another; exit code 1 if something has become worse
    Compare(cmd::compare::Args),
    /// Follow every case through a folder of records
    History(cmd::history::Args),
    /// Time every case once, for `record`
    #[command(hide = true)]
    Pass(cmd::pass::Args),
    /// Do the work of some cases, for valgrind to count
    #[command(hide = true)]
    Count(cmd::count::Args),
    /// Write a view of an .npy array as an .npy file in C order
    Convert(cmd::convert::Args),
    /// Follow a chain of calls step by step: strides, contiguity, storage
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

/// Answers one command line.
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

/// Help goes to standard output, complaints to standard error.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(unwritten) if error.exit_code() == 0 => finish(Err(Failure::Output(unwritten))),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

fn finish(result: Result<()>) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    if !failure.is_closed_pipe() {
        // Where standard error is closed there is nobody left to tell; the exit code remains.
        let _ = writeln!(io::stderr(), "error: {failure}");
    }
    ExitCode::from(failure.exit_code())
}
