//! `suite`: measures the cases of a file one by one; prints a line of JSON after each, or tables at
//! the end.

use std::{io::Write, path::PathBuf};

use rayon::ThreadPool;

use crate::{
    Failure, Result,
    input::file,
    measure::{
        engine::Budget,
        peers,
        setting::{self, Setting},
    },
    output::{document, file::Target, progress::Progress, render::join},
    suite::{self, Against, Case, Record, Row},
    system::{machine::MachineInfo, memory, pool},
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
    /// Take few samples: fast, less exact
    #[arg(long)]
    quick: bool,
    /// Measure only cases whose group/id contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Fail if a case is slower than the naive loop
    #[arg(long)]
    check: bool,
    /// Compare all results with a reference; measure nothing
    #[arg(long, conflicts_with_all = ["json", "quick", "check", "record"])]
    verify: bool,
    /// Race other libraries too, on one thread; needs a build with the feature `peers`
    #[arg(long)]
    peers: bool,
    /// Also write machine, command and times to this file, as one JSON document for `results`
    ///
    /// This is not a document of the command `record`, which keeps paths, times and instruction
    /// counts of one build for `compare` and `history`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Measures and prints. Every input error is reported before the first case runs.
///
/// # Errors
/// A malformed suite, too many threads, too little memory, a wrong result; with `--check`, a case
/// that is slower than the naive loop.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let cases = selected(args)?;
    for &threads in &args.threads {
        pool::check(threads)?;
    }
    check_peers(args)?;
    for case in &cases {
        let needed = case.memory(against(args, 1));
        memory::preflight(needed).map_err(|failure| failure.at(format!("case {case}")))?;
    }
    if args.verify {
        return verify(args, &cases, out);
    }
    let record = args.record.as_deref().map(Target::open).transpose()?;
    let rows = measure(args, &cases, out)?;
    if let Some(target) = record {
        write(args, &rows, target)?;
    }
    if !args.json {
        print(&rows, out)?;
    }
    if args.check { suite::check(&rows) } else { Ok(()) }
}

fn selected(args: &Args) -> Result<Vec<Case>> {
    let place = args.file.display();
    let text = file::text(&args.file)?;
    let mut cases = suite::read(&text).map_err(|failure| failure.at(&place))?;
    if let Some(filter) = &args.filter {
        cases.retain(|case| case.to_string().contains(filter));
    }
    match cases.as_slice() {
        [] => Err(Failure::input(format!("{place}: no case to measure"))),
        _ => Ok(cases),
    }
}

fn check_peers(args: &Args) -> Result<()> {
    match args.peers {
        true if !peers::BUILT => Err(Failure::input(
            "this program was built without other libraries; with them: \
             cargo run --release -p tensor-bench --features peers -- suite FILE --peers",
        )),
        true if !args.threads.contains(&1) => {
            Err(Failure::input("other libraries run on one thread: --threads must have a 1"))
        }
        _ => Ok(()),
    }
}

/// Peers run on one thread and are compared with our figures for one thread.
fn against(args: &Args, threads: usize) -> Against {
    if args.peers && threads == 1 { Against::Peers } else { Against::Naive }
}

/// Stops at the first wrong result.
fn verify(args: &Args, cases: &[Case], out: &mut dyn Write) -> Result<()> {
    for_each(args, cases, &mut |pool, setting, case, _| {
        pool.install(|| suite::verify(setting, case, against(args, setting.threads)))
    })?;
    let threads = join(&args.threads, ", ");
    Ok(writeln!(out, "All results are right: {} cases, threads: {threads}.", cases.len())?)
}

fn measure(args: &Args, cases: &[Case], out: &mut dyn Write) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for_each(args, cases, &mut |pool, setting, case, progress| {
        let row = pool.install(|| judged(setting, case, against(args, setting.threads)))?;
        if args.json {
            progress.pause(|| line(&row, out))?;
        }
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

/// Calls `act` for every case and number of threads.
fn for_each(
    args: &Args,
    cases: &[Case],
    act: &mut dyn FnMut(&ThreadPool, &Setting, &Case, &Progress) -> Result<()>,
) -> Result<()> {
    let progress = Progress::new(cases.len() * args.threads.len());
    let exec = setting::exec()?;
    for &threads in &args.threads {
        let setting = Setting { exec, budget: Budget::choose(args.quick), threads };
        let pool = pool::build(threads)?;
        for case in cases {
            progress.begin(case);
            act(&pool, &setting, case, &progress)
                .map_err(|failure| failure.at(format!("case {case}")))?;
            progress.end();
        }
    }
    Ok(())
}

/// Measures a case; one that is slower than the naive loop is measured again with more samples, and
/// the second figures count.
fn judged(setting: &Setting, case: &Case, against: Against) -> Result<Row> {
    let row = suite::measure(setting, case, against)?;
    if !row.slower_than_naive {
        return Ok(row);
    }
    suite::measure(&Setting { budget: setting.budget.larger(), ..*setting }, case, against)
}

/// Prints and flushes a line, so that the reader of a pipe has it even if a later case fails.
fn line(row: &Row, out: &mut dyn Write) -> Result<()> {
    document::line(row, out)?;
    Ok(out.flush()?)
}

fn print(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    let peers = suite::render_peers(rows);
    for text in [suite::render(rows), peers, suite::verdict(rows)] {
        if !text.is_empty() {
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

fn write(args: &Args, rows: &[Row], target: Target) -> Result<()> {
    let record = Record {
        schema: suite::SCHEMA,
        machine: MachineInfo::read(&setting::exec()?.simd()),
        command: command(args),
        rows: rows.to_vec(),
    };
    target.fill(|file| document::write(&record, file))
}

/// The arguments that the figures depend on.
fn command(args: &Args) -> String {
    let mut words =
        vec![format!("suite {} --threads {}", args.file.display(), join(&args.threads, ","))];
    words.extend(args.filter.iter().map(|filter| format!("--filter {filter}")));
    let flags = [(args.quick, "--quick"), (args.peers, "--peers")];
    words.extend(flags.iter().filter(|(given, _)| *given).map(|(_, flag)| (*flag).to_owned()));
    words.join(" ")
}
