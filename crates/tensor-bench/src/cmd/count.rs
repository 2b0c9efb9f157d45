//! `count`: what `record` starts under valgrind, for some cases at a time. It prints the SIMD level; callgrind does the counting.

use std::{io::Write, path::PathBuf};

use crate::{
    Result,
    measure::setting,
    track::{counted, table},
};

/// Which cases.
#[derive(clap::Args)]
pub struct Args {
    /// Their names, group and all
    #[arg(required = true)]
    names: Vec<String>,
    /// The file they are from, if they are not from the program's own table
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
}

/// Does every part of each case twice.
///
/// # Errors
/// A name that is not in the table.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let subjects = table::named(args.cases.as_deref(), &args.names)?;
    counted::perform(&subjects.iter().collect::<Vec<_>>())?;
    Ok(writeln!(out, "{}", setting::exec()?.simd())?)
}
