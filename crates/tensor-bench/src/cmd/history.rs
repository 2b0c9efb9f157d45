//! `history`: follows every case through a folder of records.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    Failure, Result,
    input::file,
    output::{
        document,
        render::{WIDTH, fold, wrap},
    },
    track::{
        Record,
        history::{Figure, Line, StoredRecord, follow, sparkline},
    },
};

/// The width of names and of sparklines, in columns.
const NAME_WIDTH: usize = 32;
const SPARKLINE_WIDTH: usize = 40;

/// Which folder, and which figure.
#[derive(clap::Args)]
pub struct Args {
    /// The folder; its files that end in .json are read
    folder: PathBuf,
    /// The figure to follow [default: instructions if counted, otherwise time]
    #[arg(long, value_name = "FIGURE", value_enum)]
    of: Option<Figure>,
    /// Only cases whose group/id contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Reads the records and prints a line for each case.
///
/// # Errors
/// A folder that cannot be read or holds no record.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let (records, notes) = records(&args.folder)?;
    let figure = args.of.unwrap_or_else(|| Figure::best_of(&records));
    let mut lines = follow(&records, figure);
    if let Some(filter) = &args.filter {
        lines.retain(|line| line.case.contains(filter));
    }
    if lines.is_empty() {
        return Err(Failure::input("no case to follow"));
    }
    match args.json {
        true => json(&records, &notes, figure, &lines, out),
        false => text(&records, &notes, figure, &lines, out),
    }
}

/// All records of a folder, the oldest first, and a note for every other file.
fn records(folder: &Path) -> Result<(Vec<StoredRecord>, Vec<String>)> {
    let unreadable = |error| Failure::input(format!("cannot read {}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = paths.map_err(unreadable)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let (mut records, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match file::text(&path).and_then(|text| Record::read(&text)) {
            Ok(record) => records.push(StoredRecord { file, record }),
            Err(failure) => notes.push(format!("{file} is skipped: {failure}")),
        }
    }
    if records.is_empty() {
        let why = notes.first().map(|note| format!(": {note}")).unwrap_or_default();
        return Err(Failure::input(format!("no record in {}{why}", folder.display())));
    }
    records.sort_by_key(|stored| stored.record.time);
    Ok((records, notes))
}

fn json(
    records: &[StoredRecord],
    notes: &[String],
    figure: Figure,
    lines: &[Line],
    out: &mut dyn Write,
) -> Result<()> {
    let record = |stored: &StoredRecord| {
        let Record { time, build, .. } = &stored.record;
        let (commit, changed) = (&build.commit, build.changed);
        json!({ "file": stored.file, "time": time, "commit": commit, "changed": changed })
    };
    let records: Vec<_> = records.iter().map(record).collect();
    let value = json!({ "figure": figure, "records": records, "cases": lines, "notes": notes });
    document::write(&value, out)
}

fn text(
    records: &[StoredRecord],
    notes: &[String],
    figure: Figure,
    lines: &[Line],
    out: &mut dyn Write,
) -> Result<()> {
    let s = if records.len() == 1 { "" } else { "s" };
    writeln!(out, "{} over {} record{s}", figure.words(), records.len())?;
    for note in notes {
        writeln!(out, "{}", wrap(&format!("note: {note}"), WIDTH).join("\n  "))?;
    }
    writeln!(out)?;
    for line in lines {
        writeln!(out, "{}", drawn(line))?;
        for step in &line.steps {
            let said: Vec<String> = step.changes.iter().map(ToString::to_string).collect();
            let yet = if step.confirmed { "" } else { " (not confirmed yet)" };
            let said = format!("{} ({}): {}{yet}", step.commit, step.file, said.join("; "));
            writeln!(out, "    {}", wrap(&said, WIDTH - 8).join("\n        "))?;
        }
    }
    Ok(())
}

/// The name, the sparkline, the first and the last value.
fn drawn(line: &Line) -> String {
    let known: Vec<f64> = line.values.iter().flatten().copied().collect();
    let ends = match known.as_slice() {
        [] => String::new(),
        [one] => format!("{one:.0}"),
        [first, .., last] => format!("{first:.0} -> {last:.0}"),
    };
    let course = sparkline(&line.values, SPARKLINE_WIDTH);
    let folded = fold(&line.case, NAME_WIDTH);
    let (before, last) = folded.rsplit_once('\n').map_or(("", &*folded), |(a, b)| (a, b));
    let before = before.lines().map(|line| format!("{line}\n")).collect::<String>();
    format!("{before}{last:<NAME_WIDTH$}  {course}  {ends}")
}
