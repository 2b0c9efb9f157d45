//! `record`: paths, times and instruction counts of this build on this machine, as one document for
//! `compare` and `history`.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use clap::ValueEnum;

use crate::{
    Failure, Result,
    measure::setting,
    output::{document, file::Target, progress::Progress},
    system::{machine::MachineInfo, memory, pool},
    track::{
        Entry, Record, Subject,
        build::{self, Build},
        counted,
        counting::{Counted, Counting, Valgrind},
        profile::Counts,
        record::{FORM, Run, SCHEMA},
        regret::Regret,
        table,
        timing::{self, Pass, Passes, Times},
    },
};

/// What to record, how, and where to write it.
#[derive(clap::Args)]
pub struct Args {
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Record the cases of this suite file instead of the built-in table
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// Record only cases whose group/id contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Take few samples: times are less exact, counts are the same
    #[arg(long)]
    quick: bool,
    /// The number of threads while times are taken
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Count instructions and cache misses under valgrind
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    counts: When,
    /// A name in place of the commit that this program was built from
    #[arg(long, value_name = "NAME")]
    commit: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    /// If valgrind is installed
    Auto,
    /// Fail without valgrind
    Always,
    /// Record times and paths only
    Never,
}

/// Measures, counts and writes. Every input error is reported before the first case runs.
///
/// # Errors
/// A malformed file of cases, too many threads, too little memory, an output that cannot be
/// written, a wrong result; no valgrind with `--counts always`.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let subjects = selected(args)?;
    pool::check(args.threads)?;
    for subject in &subjects {
        memory::preflight(subject.memory()).map_err(|f| f.at(format!("case {subject}")))?;
    }
    let valgrind = valgrind(args.counts)?;
    if args.commit.is_none()
        && let Some(note) = build::note_on_folder()
    {
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    let target = args.out.as_deref().map(Target::open).transpose()?;
    let passes = passes(args, &subjects)?;
    let counted = counted(args, &subjects, valgrind)?;
    let record = record(args, &subjects, &passes, counted)?;
    match target {
        Some(target) => {
            target.fill(|file| document::write(&record, file))?;
            // Standard output may be the file. A closed standard error is ignored.
            let _ = writeln!(io::stderr(), "{}", summary(args, &record));
            Ok(())
        }
        None => document::write(&record, out),
    }
}

fn selected(args: &Args) -> Result<Vec<Subject>> {
    let mut subjects = table::load(args.cases.as_deref())?;
    if let Some(filter) = &args.filter {
        subjects.retain(|subject| subject.to_string().contains(filter));
    }
    if subjects.is_empty() { Err(Failure::input("no case to record")) } else { Ok(subjects) }
}

/// A value, or why it is missing.
type Or<T> = Result<T, String>;

/// valgrind, if counts are wanted.
fn valgrind(counts: When) -> Result<Or<Valgrind>> {
    match counts {
        When::Never => Ok(Err("counts were not asked for".to_owned())),
        When::Auto | When::Always => unless_needed(counts, Valgrind::find()),
    }
}

fn counted(args: &Args, subjects: &[Subject], valgrind: Or<Valgrind>) -> Result<Or<Counted>> {
    match valgrind {
        Err(because) => Ok(Err(because)),
        Ok(found) => {
            unless_needed(args.counts, found.count(&program()?, subjects, args.cases.as_deref()))
        }
    }
}

/// If counts are optional, a failure becomes a note, in the record and on standard error.
fn unless_needed<T>(counts: When, result: Result<T>) -> Result<Or<T>> {
    match (counts, result) {
        (When::Always, Err(failure)) => Err(failure),
        (_, Ok(value)) => Ok(Ok(value)),
        (_, Err(failure)) => {
            let _ = writeln!(io::stderr(), "note: the record will have no counts: {failure}");
            Ok(Err(failure.to_string()))
        }
    }
}

/// The passes of each subject.
fn passes(args: &Args, subjects: &[Subject]) -> Result<Vec<Vec<Pass>>> {
    let count = Passes::choose(args.quick).count;
    let progress = Progress::new(count);
    let mut taken: Vec<Vec<Pass>> = vec![Vec::new(); subjects.len()];
    for at in 0..count {
        progress.begin(format!("pass {} of {count}", at + 1));
        for (pass, taken) in pass(args, subjects, at)?.into_iter().zip(&mut taken) {
            taken.push(pass);
        }
        progress.end();
    }
    Ok(taken)
}

fn times(passes: &[Vec<Pass>]) -> Result<Vec<Times>> {
    let times = passes.iter().map(|passes| Times::of(passes));
    times.collect::<Option<_>>().ok_or_else(|| Failure::work("a pass left cases out"))
}

fn regret(subjects: &[Subject], passes: &[Vec<Pass>]) -> Option<Regret> {
    let passes = passes.iter().map(Vec::as_slice);
    Regret::of(subjects.iter().map(ToString::to_string).zip(passes))
}

/// Starts this program for one pass. Only the first pass checks the results.
fn pass(args: &Args, subjects: &[Subject], at: usize) -> Result<Vec<Pass>> {
    let mut command = Command::new(program()?);
    command.args([timing::COMMAND, "--threads", &args.threads.to_string()]);
    command.args(args.quick.then_some("--quick")).args((at > 0).then_some("--trusted"));
    command.args(table::argument(args.cases.as_deref()));
    command.arg("--").args(subjects.iter().map(ToString::to_string)).stdin(Stdio::null());
    let started = |error| Failure::work(format!("this program does not start: {error}"));
    let Output { status, stdout, stderr } = command.output().map_err(started)?;
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        let said = said.trim().trim_start_matches("error: ");
        let said = if said.is_empty() { status.to_string() } else { said.to_owned() };
        return Err(Failure::work(said));
    }
    serde_json::from_slice(&stdout).map_err(|error| Failure::work(format!("a pass: {error}")))
}

fn program() -> Result<PathBuf> {
    env::current_exe().map_err(|error| Failure::work(format!("this program is not found: {error}")))
}

fn record(
    args: &Args,
    subjects: &[Subject],
    passes: &[Vec<Pass>],
    counted: Or<Counted>,
) -> Result<Record> {
    let (counts, counting) = match counted {
        Ok(Counted { counts, by }) => (counts.into_iter().map(Some).collect(), by),
        Err(because) => (vec![None; subjects.len()], Counting::Missing { because }),
    };
    let cases = subjects.iter().zip(times(passes)?).zip(counts);
    let cases = cases.map(|((subject, times), counts)| entry(subject, times, counts));
    Ok(Record {
        form: FORM.to_owned(),
        schema: SCHEMA,
        time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        build: Build::here(args.commit.as_deref()),
        machine: MachineInfo::read(&setting::exec()?.simd()),
        run: how(args),
        counting,
        regret: regret(subjects, passes),
        cases: cases.collect::<Result<_>>()?,
    })
}

fn how(args: &Args) -> Run {
    Run {
        threads: args.threads,
        quick: args.quick,
        passes: Passes::choose(args.quick).count,
        simd: env::var("TENSOR_SIMD").ok(),
    }
}

fn entry(subject: &Subject, times: Times, counts: Option<Counts>) -> Result<Entry> {
    let exec = counted::exec()?;
    Ok(Entry {
        name: subject.to_string(),
        op: subject.op().to_owned(),
        dtype: subject.dtype().map(str::to_owned),
        bytes: subject.bytes(),
        path: subject.path(&exec)?.to_owned(),
        plan: subject.plan(&exec)?,
        times,
        counts,
    })
}

fn summary(args: &Args, record: &Record) -> String {
    let counts = match &record.counting {
        Counting::By { valgrind, simd, .. } => format!("counts by {valgrind} at level {simd}"),
        Counting::Missing { because } => format!("no counts: {because}"),
    };
    let regret = record.regret.as_ref().map_or_else(String::new, |regret| {
        let Regret { cases, p95, .. } = regret;
        format!("; 95th percentile of the regret of {cases} random copies: {p95:.2}")
    });
    let file = args.out.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let cases = record.cases.len();
    format!(
        "{file}: {cases} cases of {}, {} passes; {counts}{regret}",
        record.build.short(),
        record.run.passes
    )
}
