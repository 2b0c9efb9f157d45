//! `suite`: measures the cases of a file, or drawn ones, one by one; prints a line of JSON after
//! each, or tables at the end.

mod source;

use std::{io::Write, path::PathBuf};

use rayon::ThreadPool;
use tensor_kernels::{Exec, Machine};

use crate::{
    Failure, Result,
    measure::{
        engine::Budget,
        peers,
        setting::{self, Setting},
    },
    output::{
        document,
        file::{self, Target},
        progress::Progress,
        render::join,
    },
    population::{self, Family},
    report::html,
    suite::{self, Against, Case, Others, Record, Row},
    system::{machine::MachineInfo, memory, pool},
};
use source::{Cases, Source, is_given_once};

/// What to measure and how to print it.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: Source,
    /// Measure with each of these numbers of threads
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Print one line of JSON for each case and number of threads
    ///
    /// With --random and --sweep a last line sums them up.
    #[arg(long)]
    json: bool,
    /// Take few samples: fast, less exact
    #[arg(long)]
    quick: bool,
    /// Plan for the machine that `calibrate --machine` has measured
    #[arg(long)]
    calibrated: bool,
    /// Measure only cases whose group/id contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Fail if a case is slower than the naive loop
    #[arg(long)]
    check: bool,
    /// Compare all results with a reference; measure nothing
    #[arg(long, conflicts_with_all = ["json", "quick", "check", "record", "html"])]
    verify: bool,
    /// Race other libraries too, on one thread; needs a build with the feature `peers`
    #[arg(long)]
    peers: bool,
    /// Race the copy by bytes beside each copy, on one thread
    ///
    /// Its time is among the peers of a row, under the name "by bytes". Bools have none.
    #[arg(long, conflicts_with_all = ["peers", "calibrated"])]
    bytes: bool,
    /// Measure the bound of each copy and elementwise operation too, on one thread: the time of the
    /// loads and stores that its layouts need
    #[arg(long, conflicts_with = "verify")]
    bound: bool,
    /// Time every plan that is considered for a copy, too, and print how far the chosen one is from
    /// the fastest
    #[arg(long, conflicts_with = "verify")]
    candidates: bool,
    /// Also write machine, command and times to this file, as one JSON document for `results`
    ///
    /// This is not a document of the command `record`, which keeps paths, times and instruction
    /// counts of one build for `compare` and `history`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Also draw how fast which share of the cases is, as a page without scripts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Measures and prints. Every input error is reported before the first case runs.
///
/// # Errors
/// A malformed suite, too many threads, too little memory, a wrong result; with `--check`, a case
/// that is slower than the naive loop.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let Cases { cases, families } = args.source.cases(args.filter.as_deref())?;
    if args.source.save(&cases)? {
        return Ok(());
    }
    is_given_once("--threads", &args.threads)?;
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
    let files = [args.source.file(), args.record.as_deref(), args.html.as_deref()];
    file::are_different(&files)?;
    let record = args.record.as_deref().map(Target::open).transpose()?;
    let page = args.html.as_deref().map(Target::open).transpose()?;
    let (rows, printed) = measure(args, &cases, &families, out)?;
    let printed = printed.and_then(|()| match args.json {
        true if args.source.is_population() || args.candidates => summarise(&rows, out),
        true => Ok(()),
        false => print(args, &rows, out),
    });
    if let Some(target) = record {
        write(args, &rows, target)?;
    }
    if let Some(target) = page {
        let page = html::suite_page(&rows, &machine()?, &format!("tensor-bench {}", command(args)));
        target.fill(|file| Ok(file.write_all(page.as_bytes())?))?;
    }
    // A reader that closes the output does not keep the files from being written, or the check from
    // being made.
    if args.check {
        suite::check(&rows)?;
    }
    printed
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
        false if args.bytes && !args.threads.contains(&1) => {
            Err(Failure::input("--bytes races on one thread: --threads must have a 1"))
        }
        _ if args.bound && !args.threads.contains(&1) => {
            Err(Failure::input("the bound is measured on one thread: --threads must have a 1"))
        }
        _ => Ok(()),
    }
}

/// Peers run on one thread and are compared with our figures for one thread.
fn against(args: &Args, threads: usize) -> Against {
    let others = match threads {
        1 if args.peers => Others::Peers,
        1 if args.bytes => Others::Bytes,
        _ => Others::None,
    };
    Against { others, bound: args.bound && threads == 1 }
}

/// Stops at the first wrong result.
fn verify(args: &Args, cases: &[Case], out: &mut dyn Write) -> Result<()> {
    for_each(args, cases, &mut |pool, setting, case, _| {
        pool.install(|| suite::verify(setting, case, against(args, setting.threads)))
    })?;
    let threads = join(&args.threads, ", ");
    Ok(writeln!(out, "All results are right: {} cases, threads: {threads}.", cases.len())?)
}

/// The rows, and whether they could be printed.
fn measure(
    args: &Args,
    cases: &[Case],
    families: &[Family],
    out: &mut dyn Write,
) -> Result<(Vec<Row>, Result<()>)> {
    let (mut rows, mut printed) = (Vec::new(), Ok(()));
    for_each(args, cases, &mut |pool, setting, case, progress| {
        let row = pool.install(|| suite::judged(setting, case, against(args, setting.threads)))?;
        let row = match args.candidates {
            true => pool.install(|| suite::with_candidates(setting, case, row))?,
            false => row,
        };
        let row = match args.source.is_population() {
            true => with_case(row, case, families.get(rows.len() % cases.len()))?,
            false => row,
        };
        if args.json && printed.is_ok() {
            printed = progress.pause(|| line(&row, out));
        }
        rows.push(row);
        Ok(())
    })?;
    Ok((rows, printed))
}

/// The row of a drawn case says what the case was.
fn with_case(row: Row, case: &Case, family: Option<&Family>) -> Result<Row> {
    let family = family.map(|family| family.name().to_owned());
    Ok(Row { family, case: Some(suite::document(case)?), ..row })
}

/// Calls `act` for every case and number of threads.
fn for_each(
    args: &Args,
    cases: &[Case],
    act: &mut dyn FnMut(&ThreadPool, &Setting, &Case, &Progress) -> Result<()>,
) -> Result<()> {
    let progress = Progress::new(cases.len() * args.threads.len());
    let exec = exec(args)?;
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

fn exec(args: &Args) -> Result<Exec> {
    let exec = setting::exec()?;
    match args.calibrated {
        true => Ok(exec.with_machine(Machine::calibrated().map_err(Failure::input)?)),
        false => Ok(exec),
    }
}

/// Prints and flushes a line, so that the reader of a pipe has it even if a later case fails.
fn line(row: &Row, out: &mut dyn Write) -> Result<()> {
    document::line(row, out)?;
    Ok(out.flush()?)
}

fn print(args: &Args, rows: &[Row], out: &mut dyn Write) -> Result<()> {
    if args.source.is_population() {
        return print_population(rows, out);
    }
    let peers = suite::render_peers(rows);
    for text in [suite::render(rows), peers, suite::render_regret(rows), suite::verdict(rows)] {
        if !text.is_empty() {
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

fn print_population(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    for summary in population::summaries(rows) {
        writeln!(out, "{}", population::render(&summary, rows))?;
    }
    write!(out, "{}", population::LEGEND)?;
    match suite::render_regret(rows) {
        text if text.is_empty() => Ok(()),
        text => Ok(write!(out, "\n{text}")?),
    }
}

/// The last line of `--json`: the figures of all cases together.
fn summarise(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    let mut summary = serde_json::json!({ "summary": population::summaries(rows) });
    let regrets = suite::regrets(rows);
    if !regrets.is_empty() {
        summary["regret"] = serde_json::json!(regrets);
    }
    document::line(&summary, out)
}

fn write(args: &Args, rows: &[Row], target: Target) -> Result<()> {
    let record = Record {
        schema: suite::SCHEMA,
        machine: machine()?,
        command: command(args),
        rows: rows.to_vec(),
    };
    // Drawn cases are kept with their layouts: a number on each line would be a long file.
    match record.is_population() {
        true => target.fill(|file| document::line(&record, file)),
        false => target.fill(|file| document::write(&record, file)),
    }
}

fn machine() -> Result<MachineInfo> {
    Ok(MachineInfo::read(&setting::exec()?.simd()))
}

/// The arguments that the figures depend on.
fn command(args: &Args) -> String {
    let mut words = vec![format!("suite {} --threads {}", args.source, join(&args.threads, ","))];
    words.extend(args.filter.iter().map(|filter| format!("--filter {filter}")));
    let flags = [
        (args.quick, "--quick"),
        (args.peers, "--peers"),
        (args.bound, "--bound"),
        (args.candidates, "--candidates"),
        (args.calibrated, "--calibrated"),
        (args.bytes, "--bytes"),
    ];
    words.extend(flags.iter().filter(|(given, _)| *given).map(|(_, flag)| (*flag).to_owned()));
    words.join(" ")
}
