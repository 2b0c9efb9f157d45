//! The figures of recorded suites as one table in Markdown, for a README.

use super::summary::{ANY_LIBRARY, Class, Summary, summaries};
use crate::{
    output::render::{WIDTH, percent, wrap},
    suite::{NAIVE, Record, Row, SizeClass},
};

/// A line for each class of cases of each record, with the arguments that made the record.
pub fn markdown(records: &[Record]) -> String {
    let lines: String = records.iter().map(|record| lines(&record.rows)).collect();
    format!("{HEAD}{lines}\n{}", source(records))
}

const HEAD: &str = "\
| work | size | elements | cases | median | 5th percentile | worst | naive loop faster \
| other library faster |
|---|---|---|--:|--:|--:|--:|--:|--:|
";

fn lines(rows: &[Row]) -> String {
    let kind = rows.first().map_or("", work);
    let of = |summary: &Summary| -> String {
        let threads = match summary.threads {
            1 => String::new(),
            threads => format!(", {threads} threads"),
        };
        summary.classes.iter().map(|class| line(&format!("{kind}{threads}"), class)).collect()
    };
    summaries(rows).iter().map(of).collect()
}

/// The kind of work; a sweep has cases of no family.
fn work(row: &Row) -> &'static str {
    match (&row.family, &row.case) {
        (None, Some(_)) => "transposed squares",
        _ => row.kind(),
    }
}

fn line(work: &str, class: &Class) -> String {
    let (size, score) = (SizeClass::describe(&class.name), class.score);
    let [median, fifth, worst] = [score.median, score.fifth_percentile, score.worst].map(percent);
    let cases = class.cases;
    let [naive, library] = [NAIVE, ANY_LIBRARY].map(|name| count(class, name));
    format!(
        "| {work} | {size} | {} | {cases} | {median} | {fifth} | {worst} | {naive} | {library} |\n",
        class.elements
    )
}

fn count(class: &Class, name: &str) -> String {
    let found = class.slower_than.iter().find(|contender| contender.name == name);
    found.map_or_else(|| "–".to_owned(), |found| found.cases.to_string())
}

/// What the figures are, and where they are from.
fn source(records: &[Record]) -> String {
    let commands = records.iter().map(|record| format!("`{}`", record.command));
    let commands = commands.collect::<Vec<_>>().join(",\n");
    let [cpu, _] = records.first().map(|record| record.machine.lines()).unwrap_or_default();
    let text = format!(
        "Copies: percent of the copy bandwidth; other work: percent of the speed on contiguous \
         operands. Faster: the number of cases in which it took over 5 % less time, in two \
         measurements. Recorded on {cpu}, by"
    );
    format!("{}\n{commands}.\n", wrap(&text, WIDTH).join("\n"))
}
