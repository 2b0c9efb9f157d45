//! `results`: the files of `suite --record` as tables, with a line for each group or each case; of
//! random cases and sweeps, their distribution.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    Failure, Result,
    input::file,
    output::render::{WIDTH, wrap},
    population,
    suite::{self, Record, Row},
};

/// What to print.
#[derive(clap::Args)]
pub struct Args {
    /// Files that `suite --record` wrote, all on one machine
    #[arg(required = true)]
    records: Vec<PathBuf>,
    /// Print every case and every other library
    #[arg(long)]
    cases: bool,
    /// Print one table in Markdown: median, 5th percentile and worst of each group
    #[arg(long, conflicts_with = "cases")]
    markdown: bool,
}

/// Prints the machine, the commands and the tables.
///
/// # Errors
/// A file that is not a record, records of several machines.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let records = args.records.iter().map(|path| read(path)).collect::<Result<Vec<Record>>>()?;
    one_machine(args, &records)?;
    if args.markdown {
        return Ok(write!(out, "{}", population::markdown(&records))?);
    }
    let commands: Vec<_> = records.iter().map(|record| record.command.as_str()).collect();
    let [cpu, memory] = records[0].machine.lines();
    for line in [cpu, memory, format!("measured by {}", commands.join("; "))] {
        writeln!(out, "{}", wrap(&line, WIDTH).join("\n"))?;
    }
    let (drawn, named): (Vec<_>, Vec<_>) = records.into_iter().partition(Record::is_population);
    let named: Vec<Row> = named.into_iter().flat_map(|record| record.rows).collect();
    if !named.is_empty() {
        writeln!(out, "\n{}", tables(args, &named).trim_end())?;
    }
    for record in &drawn {
        writeln!(out, "\n{}\n\n{}", record.command, distribution(&record.rows).trim_end())?;
    }
    Ok(())
}

fn tables(args: &Args, rows: &[Row]) -> String {
    match args.cases {
        true => format!("{}\n{}", suite::render(rows), suite::render_peers(rows)),
        false => suite::summary(rows),
    }
    .trim_end()
    .to_owned()
        + &regret(rows)
}

fn distribution(rows: &[Row]) -> String {
    let summaries = population::summaries(rows);
    let texts = summaries.iter().map(|summary| population::render(summary, rows) + "\n");
    texts.collect::<String>() + population::LEGEND + &regret(rows)
}

/// Below the other tables, if the plans of copies were timed.
fn regret(rows: &[Row]) -> String {
    match suite::render_regret(rows) {
        text if text.is_empty() => text,
        text => format!("\n\n{text}"),
    }
}

fn read(path: &Path) -> Result<Record> {
    Record::read(&file::text(path)?).map_err(|failure| failure.at(path.display()))
}

/// Figures of two machines are never in one table.
fn one_machine(args: &Args, records: &[Record]) -> Result<()> {
    let other =
        records.iter().position(|record| !record.machine.is_described_like(&records[0].machine));
    match other {
        None => Ok(()),
        Some(at) => Err(Failure::input(format!(
            "{}: measured on another machine than {}",
            args.records[at].display(),
            args.records[0].display()
        ))),
    }
}
