//! `peers`: the tables of other libraries, from what `suite --record` wrote.

use std::{io::Write, path::PathBuf};

use crate::{
    Failure, Result, input,
    render::{WIDTH, wrap},
    suite::{Record, render_peers},
};

/// What to print.
#[derive(clap::Args)]
pub struct Args {
    /// What `suite --peers --record` wrote
    record: PathBuf,
}

/// Prints the machine, the command and the tables.
///
/// # Errors
/// A file that is no record, a record without other libraries.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let place = args.record.display();
    let record = Record::read(&input::text(&args.record)?).map_err(|failure| failure.at(&place))?;
    let tables = render_peers(&record.rows);
    if tables.is_empty() {
        return Err(Failure::input(format!("{place}: no other library was measured")));
    }
    let [first, second] = record.machine.lines();
    for line in [first, second, format!("measured by {}", record.command)] {
        for line in wrap(&line, WIDTH) {
            writeln!(out, "{line}")?;
        }
    }
    writeln!(out, "\n{}", tables.trim_end())?;
    Ok(())
}
