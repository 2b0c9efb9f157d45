//! `count`: `record` starts it under valgrind for a few cases at a time. It runs the cases and
//! prints the SIMD level; callgrind counts.

use std::{io::Write, path::PathBuf};

use crate::{
    Result,
    measure::setting,
    track::{counted, table},
};

/// Which cases.
#[derive(clap::Args)]
pub struct Args {
    /// The names of the cases, as group/id
    #[arg(required = true)]
    names: Vec<String>,
    /// The suite file of the cases [default: the built-in table]
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
}

/// Runs every part of each case twice.
///
/// # Errors
/// A name that is not in the table.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let subjects = table::named(args.cases.as_deref(), &args.names)?;
    counted::perform(&subjects.iter().collect::<Vec<_>>())?;
    Ok(writeln!(out, "{}", setting::exec()?.simd())?)
}
