//! The report as text: the machine, one table of layouts, one for each kind of work with its price, cost over size, and what to do.

use super::{Pass, Point, Report, Row, advice::advice, curve::by_cache};
use crate::output::render::{Column, WIDTH, bytes, cut, join, table, time, wrap};

/// The whole report.
pub fn render(report: &Report) -> String {
    let rows = &report.layouts;
    let mut text = head(report);
    section(&mut text, "Layouts (strides in elements)", &layouts(rows));
    section(&mut text, "Copy to contiguous memory: best times", &copies(rows));
    section(&mut text, "Elementwise, 2x + 1", &passes(rows, |row| &row.elementwise));
    section(&mut text, "Sum of all elements", &passes(rows, |row| &row.sum));
    if !report.curve.is_empty() {
        let title =
            "Elementwise, an element of a transposed matrix, by where matrix and result fit";
        section(&mut text, title, &levels(report));
    }
    text.push('\n');
    for line in LEGEND {
        paragraph(&mut text, line);
    }
    section(&mut text, "What to do", "");
    for line in advice(rows) {
        paragraph(&mut text, &line);
    }
    text
}

const LEGEND: &[&str] = &[
    "by hand: a loop as one writes it, on one thread, sums on all; strided: by this library, over the view; contig.: the same work over contiguous memory, for \
     a copy the fastest plain copy of as many bytes in the same run (the plain_copy).",
    "efficiency: the part of the contiguous speed that is left over the view, by hand and by this library; 1 means no efficiency, for a copy it is the share \
     of the plain_copy.",
    "allocating: contiguous(), with new memory each time; copy 1st: contiguous(), then the pass; pays: after how many passes contiguous() has paid for \
     itself.",
];

fn section(text: &mut String, title: &str, body: &str) {
    text.push_str(&format!("\n{title}\n\n{body}"));
}

fn head(report: &Report) -> String {
    let mut text = String::new();
    for line in report.machine.lines() {
        paragraph(&mut text, &line);
    }
    let quick = if report.quick { "; quick: small arrays, few samples" } else { "" };
    let s = if report.threads == 1 { "" } else { "s" };
    paragraph(&mut text, &format!("{} thread{s}{quick}", report.threads));
    text
}

fn paragraph(text: &mut String, line: &str) {
    for line in wrap(line, WIDTH) {
        text.push_str(&line);
        text.push('\n');
    }
}

/// What every table begins with.
fn named(at: usize, row: &Row) -> [String; 2] {
    [(at + 1).to_string(), cut(&row.name, 26)]
}

fn rows_of<const N: usize>(rows: &[Row], cells: impl Fn(&Row) -> [String; N]) -> Vec<Vec<String>> {
    let line = |(at, row)| named(at, row).into_iter().chain(cells(row)).collect();
    rows.iter().enumerate().map(line).collect()
}

fn layouts(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [Right("#"), Left("layout"), Left("shape"), Left("strides"), Left("contiguous?")];
    let cells = |row: &Row| {
        let answer = if row.contiguous { "yes" } else { "no" };
        [
            cut(&join(&row.shape, "x"), 12),
            cut(&join(&row.strides, " "), 19),
            cut(&format!("{answer}: {}", row.why), 33),
        ]
    };
    table(&columns, rows_of(rows, cells))
}

fn copies(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [
        Right("#"),
        Left("layout"),
        Left("path"),
        Right("by hand"),
        Right("strided"),
        Right("contig."),
        Right("efficiency\nby hand"),
        Right("\nstrided"),
        Right("allocating"),
    ];
    let cells = |row: &Row| {
        [
            cut(&row.path, 12),
            time(row.naive_copy_ns),
            time(row.copy_ns),
            time(row.plain_copy_ns),
            ratio(row.plain_copy_ns / row.naive_copy_ns),
            ratio(row.bandwidth_share()),
            time(row.contiguous_ns),
        ]
    };
    table(&columns, rows_of(rows, cells))
}

fn passes(rows: &[Row], pass: impl Fn(&Row) -> &Pass) -> String {
    use Column::{Left, Right};
    let columns = [
        Right("#"),
        Left("layout"),
        Right("by hand"),
        Right("strided"),
        Right("contig."),
        Right("efficiency\nby hand"),
        Right("\nstrided"),
        Right("copy 1st"),
        Right("pays"),
    ];
    let cells = |row: &Row| {
        let pass = pass(row);
        [
            time(pass.naive_ns),
            time(pass.strided_ns),
            time(pass.contiguous_ns),
            ratio(pass.naive_efficiency()),
            ratio(pass.efficiency()),
            time(pass.copy_then_compute_ns),
            pays(pass, row.contiguous),
        ]
    };
    table(&columns, rows_of(rows, cells))
}

fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// After how many passes a copy has paid for itself, in words.
pub(super) fn pays(pass: &Pass, contiguous: bool) -> String {
    match pass.break_even {
        _ if contiguous => "-".to_owned(),
        None => "never".to_owned(),
        Some(passes) => passes.to_string(),
    }
}

fn levels(report: &Report) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("in"),
        Right("side"),
        Right("bytes"),
        Right("by hand"),
        Right("strided"),
        Right("contig."),
        Right("efficiency\nby hand"),
        Right("\nstrided"),
    ];
    let line = |(level, point): (String, &Point)| {
        vec![
            level,
            point.side.to_string(),
            bytes(point.bytes.into()),
            time(point.naive_ns),
            time(point.strided_ns),
            time(point.contiguous_ns),
            ratio(point.contiguous_ns / point.naive_ns),
            ratio(point.contiguous_ns / point.strided_ns),
        ]
    };
    let levels = by_cache(&report.curve, &report.machine.caches);
    table(&columns, levels.into_iter().map(line).collect())
}
