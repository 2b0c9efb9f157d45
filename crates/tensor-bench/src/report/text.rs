//! The report as text: the machine, one table of layouts, one of times, and what to do.

use super::{Pass, Report, Row, advice::advice};
use crate::render::{Column, WIDTH, cut, join, percent, table, time, wrap};

/// The whole report.
pub fn render(report: &Report) -> String {
    let mut text = head(report);
    text.push_str("\nLayouts (strides in elements)\n\n");
    text.push_str(&layouts(&report.layouts));
    text.push_str("\nTimes, best of many\n\n");
    text.push_str(&times(&report.layouts));
    text.push('\n');
    for line in LEGEND {
        paragraph(&mut text, line);
    }
    text.push_str("\nWhat to do\n\n");
    for line in advice(&report.layouts) {
        paragraph(&mut text, &line);
    }
    text
}

const LEGEND: &[&str] = &[
    "copy: into memory that is there; roof: its share of the fastest plain copy of as many bytes in the same run; fresh: contiguous(), with \
     new memory each time.",
    "elementwise: 2x + 1 by the kernels; sum: plain loops in logical order. Each over the view, then over a contiguous copy; pays: after how \
     many passes contiguous() has paid for itself.",
];

fn head(report: &Report) -> String {
    let mut text = String::new();
    for line in report.machine.lines() {
        paragraph(&mut text, &line);
    }
    let quick = if report.quick { "; quick: small arrays, few samples" } else { "" };
    paragraph(&mut text, &format!("{} threads{quick}", report.threads));
    text
}

fn paragraph(text: &mut String, line: &str) {
    for line in wrap(line, WIDTH) {
        text.push_str(&line);
        text.push('\n');
    }
}

fn layouts(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [Right("#"), Left("layout"), Left("shape"), Left("strides"), Left("contiguous?")];
    let row = |(at, row): (usize, &Row)| {
        let answer = if row.contiguous { "yes" } else { "no" };
        vec![
            (at + 1).to_string(),
            cut(&row.name, 26),
            cut(&join(&row.shape, "x"), 12),
            cut(&join(&row.strides, " "), 19),
            cut(&format!("{answer}: {}", row.why), 33),
        ]
    };
    table(&columns, rows.iter().enumerate().map(row).collect())
}

fn times(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [
        Right("#"),
        Left("path"),
        Right("copy"),
        Right("roof"),
        Right("fresh"),
        Right("elementwise\nstrided"),
        Right("\ncontig."),
        Right("\npays"),
        Right("sum\nstrided"),
        Right("\ncontig."),
        Right("\npays"),
    ];
    let row = |(at, row): (usize, &Row)| {
        let mut cells = vec![
            (at + 1).to_string(),
            cut(&row.path, 14),
            time(row.copy_ns),
            percent(row.share_of_roof()),
            time(row.contiguous_ns),
        ];
        cells.extend(pass(&row.elementwise, row.contiguous));
        cells.extend(pass(&row.sum, row.contiguous));
        cells
    };
    table(&columns, rows.iter().enumerate().map(row).collect())
}

fn pass(pass: &Pass, contiguous: bool) -> [String; 3] {
    let pays = match pass.pays_after {
        _ if contiguous => "-".to_owned(),
        None => "never".to_owned(),
        Some(passes) => passes.to_string(),
    };
    [time(pass.strided_ns), time(pass.contiguous_ns), pays]
}
