//! `suite`: the cases of a file, measured one by one; lines of JSON as they are done, or tables at the end.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    Failure, Result,
    engine::Budget,
    input, memory, pool,
    progress::Progress,
    setting::{self, Setting},
    suite::{self, Case, Row, render},
};

/// What to measure and how to print it.
#[derive(clap::Args)]
pub struct Args {
    /// The suite: a JSON list of cases
    file: PathBuf,
    /// Measure with each of these numbers of threads
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Print one line of JSON for each case and number of threads
    #[arg(long)]
    json: bool,
    /// Few samples: figures for a first look
    #[arg(long)]
    quick: bool,
    /// Measure only cases whose group/id contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// Measures and prints. Everything that can be refused is refused before the first case runs.
///
/// # Errors
/// A malformed suite, too many threads, too little memory, a wrong result.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let cases = selected(args)?;
    for &threads in &args.threads {
        pool::check(threads)?;
    }
    for case in &cases {
        memory::preflight(case.memory()).map_err(|failure| failure.at(format!("case {case}")))?;
    }
    let rows = measure(args, &cases, out)?;
    if !args.json {
        out.write_all(render(&rows).as_bytes())?;
    }
    Ok(())
}

fn selected(args: &Args) -> Result<Vec<Case>> {
    let place = args.file.display();
    let (file, _) = input::open(&args.file)?;
    let text = io::read_to_string(file)
        .map_err(|error| Failure::input(format!("cannot read {place}: {error}")))?;
    let mut cases = suite::read(&text).map_err(|failure| failure.at(&place))?;
    if let Some(filter) = &args.filter {
        cases.retain(|case| case.to_string().contains(filter));
    }
    match cases.as_slice() {
        [] => Err(Failure::input(format!("{place}: no case to measure"))),
        _ => Ok(cases),
    }
}

fn measure(args: &Args, cases: &[Case], out: &mut dyn Write) -> Result<Vec<Row>> {
    let progress = Progress::new(cases.len() * args.threads.len());
    let exec = setting::exec()?;
    let mut rows = Vec::new();
    for &threads in &args.threads {
        let pool = pool::build(threads)?;
        let setting = Setting { exec, budget: Budget::choose(args.quick), threads };
        for case in cases {
            progress.begin(case);
            let row = pool.install(|| suite::measure(&setting, case));
            let row = row.map_err(|failure| failure.at(format!("case {case}")))?;
            if args.json {
                progress.pause(|| line(&row, out))?;
            }
            rows.push(row);
            progress.end();
        }
    }
    Ok(rows)
}

/// One line, out at once: whoever reads the pipe sees it, whatever happens later.
fn line(row: &Row, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer(&mut *out, row).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
