//! The report as text: the machine, a table of layouts, one of copies, one for each kind of pass,
//! one of time over size, and advice.

use super::{Pass, Point, Report, Row, advice::advice, curve::by_cache};
use crate::output::render::{
    Column, LONGEST_NAME, WIDTH, bytes, cut, fitted_table, fold, join, percent, table, time, wrap,
};

/// The whole report.
pub fn render(report: &Report) -> String {
    let rows = &report.layouts;
    let mut text = head(report);
    section(&mut text, "Layouts (strides in elements)", &layouts(rows));
    section(&mut text, COPIES, &copies(rows));
    let title = |work: &str| format!("{work}; efficiency in percent of the contiguous speed");
    section(&mut text, &title("Elementwise, 2x + 1"), &passes(rows, |row| &row.elementwise));
    section(&mut text, &title("Sum of all elements"), &passes(rows, |row| &row.sum));
    if rows.iter().any(|row| !row.slow_strides.is_empty()) {
        section(&mut text, SLOW_STRIDES, &slow_strides(rows));
    }
    if !report.curve.is_empty() {
        section(&mut text, CURVE, &levels(report));
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

const COPIES: &str =
    "Copy to contiguous memory; copy bandwidth: the fastest plain copy of the same bytes";

const CURVE: &str =
    "Elementwise, time per element of a transposed matrix, by the cache that holds all arrays";

const SLOW_STRIDES: &str = "Slow strides, each timed as it is and without what is slow";

const LEGEND: &[&str] = &[
    "naive loop: nested loops over the view without tiles or SIMD intrinsics, on one thread \
     (sums: on all threads); this library: over the view; contiguous: this library over a \
     contiguous copy.",
    "allocating: contiguous(), which allocates its result; all other results are preallocated \
     (out=). copy, then compute: contiguous(), then one pass over the copy.",
    "break-even: the number of passes from which contiguous() and passes over the copy take no \
     longer than passes over the view.",
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

/// A table whose first column is the layout.
fn by_layout<const N: usize>(
    rows: &[Row],
    columns: [Column<'_>; N],
    cells: impl Fn(&Row) -> [String; N],
) -> String {
    let columns: Vec<_> = [Column::Left("layout")].into_iter().chain(columns).collect();
    let line = |row: &Row| [cut(&row.name, LONGEST_NAME)].into_iter().chain(cells(row)).collect();
    fitted_table(&columns, rows.iter().map(line).collect())
}

fn layouts(rows: &[Row]) -> String {
    use Column::Left;
    let columns = [Left("shape"), Left("strides"), Left("contiguous?")];
    by_layout(rows, columns, |row| {
        let answer = if row.contiguous { "yes" } else { "no" };
        [
            fold(&join(&row.shape, "x"), 14),
            fold(&join(&row.strides, " "), 23),
            fold(&format!("{answer}: {}", row.why), 33),
        ]
    })
}

fn copies(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("path"),
        Right("naive\nloop"),
        Right("this\nlibrary"),
        Right("plain\ncopy"),
        Right("% of\nnaive\nloop"),
        Right("bandwidth\nthis\nlibrary"),
        Right("allocating"),
    ];
    by_layout(rows, columns, |row| {
        [
            row.path.clone(),
            time(row.naive_copy_ns),
            time(row.copy_ns),
            time(row.plain_copy_ns),
            percent(row.plain_copy_ns / row.naive_copy_ns),
            percent(row.bandwidth_share()),
            time(row.allocating_copy_ns),
        ]
    })
}

fn passes(rows: &[Row], pass: impl Fn(&Row) -> &Pass) -> String {
    use Column::Right;
    let columns = [
        Right("naive\nloop"),
        Right("this\nlibrary"),
        Right("contiguous"),
        Right("efficiency\nnaive\nloop"),
        Right("this\nlibrary"),
        Right("copy,\nthen\ncompute"),
        Right("break-even\n(passes)"),
    ];
    by_layout(rows, columns, |row| {
        let pass = pass(row);
        [
            time(pass.naive_ns),
            time(pass.strided_ns),
            time(pass.contiguous_ns),
            percent(pass.naive_efficiency()),
            percent(pass.efficiency()),
            time(pass.copy_then_compute_ns),
            break_even(pass, row.contiguous),
        ]
    })
}

/// One entry for each walk that is slow, of each layout.
fn slow_strides(rows: &[Row]) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("layout"),
        Left("slow stride"),
        Right("dim"),
        Left("timed, one thread"),
        Right("as it is"),
        Right("without"),
        Right("padded\nstride"),
    ];
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let lines = rows.iter().flat_map(|row| {
        row.slow_strides.iter().map(move |slow| {
            vec![
                cut(&row.name, LONGEST_NAME),
                slow.lints.join("\n"),
                slow.dim.to_string(),
                fold(&or_dash(slow.walk.clone()), 24),
                or_dash(slow.ns.map(time)),
                or_dash(slow.avoided_ns.map(time)),
                or_dash(slow.padded_stride.map(|stride| stride.to_string())),
            ]
        })
    });
    fitted_table(&columns, lines.collect())
}

/// The break-even in passes, or why there is none.
fn break_even(pass: &Pass, contiguous: bool) -> String {
    match pass.break_even {
        _ if contiguous => "-".to_owned(),
        None => "never".to_owned(),
        Some(passes) => passes.to_string(),
    }
}

fn levels(report: &Report) -> String {
    use Column::{Left, Right};
    let columns = [
        Left("cache"),
        Right("side"),
        Right("bytes"),
        Right("naive\nloop"),
        Right("this\nlibrary"),
        Right("contiguous"),
        Right("efficiency\nnaive\nloop"),
        Right("this\nlibrary"),
    ];
    let line = |(level, point): (String, &Point)| {
        vec![
            level,
            point.side.to_string(),
            bytes(point.bytes.into()),
            time(point.naive_ns),
            time(point.strided_ns),
            time(point.contiguous_ns),
            percent(point.contiguous_ns / point.naive_ns),
            percent(point.contiguous_ns / point.strided_ns),
        ]
    };
    let levels = by_cache(&report.curve, &report.machine.caches);
    table(&columns, levels.into_iter().map(line).collect())
}
