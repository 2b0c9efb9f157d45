//! `compare`: finds what changed between two records.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    Failure, Result,
    input::file,
    output::document,
    track::{
        Record,
        compare::{
            Accepted, Comparison, FailOn, Limits, Question, bencher, github_action_benchmark, json,
            markdown, table,
        },
    },
};
use clap::ValueEnum;

/// Which records, with which limits, and how to print the result.
#[derive(clap::Args)]
pub struct Args {
    /// The record of the base build
    base: PathBuf,
    /// The record of the new build
    new: PathBuf,
    /// A second pair of records of the same builds: a time counts only if it changed in both pairs
    #[arg(long, num_args = 2, value_names = ["BASE", "NEW"])]
    again: Option<Vec<PathBuf>>,
    /// The output format; the last two have the figures of the new record only
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// What is gating, that is, gives exit code 1, besides missing cases [default: counts]
    ///
    /// If counts are asked for, missing counts are gating too.
    #[arg(long, value_name = "WHAT", value_enum)]
    fail_on: Option<FailOn>,
    /// The limit for instructions, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = share)]
    instructions: f64,
    /// The limit for cache misses, in percent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = share)]
    misses: f64,
    /// The limit for time beyond the noise of both records, in percent
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = share)]
    time: f64,
    /// Accepted changes: lines of a case (* matches anything), a kind of change, a reason
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
}

/// The output formats of a comparison.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Markdown,
    Json,
    Bencher,
    GithubActionBenchmark,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage, 0 or more".to_owned()),
    }
}

/// Compares and prints.
///
/// # Errors
/// A file that is not a record, records without a common case, output that cannot be written;
/// [`Work`](crate::Failure::Work), after everything has been printed, if there is a regression,
/// also if the reader closed the pipe.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let (base, new) = (read(&args.base)?, read(&args.new)?);
    let accepted = accepted(args.allow.as_deref())?;
    let limits = Limits { instructions: args.instructions, misses: args.misses, time: args.time };
    let (base, new) = (&base, &new);
    let fail_on = args.fail_on.unwrap_or(FailOn::Counts);
    let counts_needed = matches!(args.fail_on, Some(FailOn::Counts | FailOn::All));
    let again = args.again.iter().flatten().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let again = again.first().zip(again.get(1));
    let accepted = &accepted;
    let question = Question { base, new, again, limits, fail_on, counts_needed, accepted };
    let comparison = question.answer()?;
    match print(args.format, &comparison, new, out).and_then(|()| Ok(out.flush()?)) {
        Err(unwritten) if !unwritten.is_closed_pipe() => {
            // Exit code 1 is for regressions only.
            Err(Failure::input(unwritten))
        }
        Err(_) | Ok(()) => comparison.check(),
    }
}

fn read(path: &Path) -> Result<Record> {
    Record::read(&file::text(path)?).map_err(|failure| failure.at(path.display()))
}

fn accepted(file: Option<&Path>) -> Result<Accepted> {
    let Some(path) = file else { return Ok(Accepted::default()) };
    Accepted::read(&file::text(path)?).map_err(|failure| failure.at(path.display()))
}

fn print(format: Format, comparison: &Comparison, new: &Record, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Table => out.write_all(table(comparison).as_bytes())?,
        Format::Markdown => out.write_all(markdown(comparison).as_bytes())?,
        Format::Json => document::write(&json(comparison), out)?,
        Format::Bencher => document::write(&bencher(new), out)?,
        Format::GithubActionBenchmark => document::write(&github_action_benchmark(new), out)?,
    }
    Ok(())
}
