//! A pass over each layout in every way there is, as multiples of the contiguous pass.

use super::{
    super::{Pass, Row},
    bars::{Bar, END, Group, Mark, START, bars},
    figure::{Cell, Figure, FigureWidth, Table, drawing},
    scale::{Kind, Scale},
};
use crate::output::render;

/// Longer bars are cut: what matters is below.
const MAX_SLOWDOWN: f64 = 8.0;

/// The elementwise pass.
pub(super) fn elementwise(rows: &[Row]) -> Figure {
    let note = "How many times as long as over contiguous memory a pass takes: 2x + 1 by a loop written by hand on one thread, by this library over \
                the view, by this library over a contiguous copy, and with the time of making that copy before it.";
    figure("elementwise", "Elementwise: strided, contiguous, copied first", note, rows, |row| {
        &row.elementwise
    })
}

/// The sum.
pub(super) fn sum(rows: &[Row]) -> Figure {
    let note = "The same for a pass that only reads, the sum of all elements. The loops by hand are those of all threads, each over its part.";
    figure("sum", "Sum: strided, contiguous, copied first", note, rows, |row| &row.sum)
}

fn figure(
    id: &'static str,
    title: &str,
    note: &str,
    rows: &[Row],
    pass: impl Fn(&Row) -> &Pass,
) -> Figure {
    let groups: Vec<Group> =
        rows.iter().map(|row| Group { name: row.name.clone(), bars: bars_of(pass(row)) }).collect();
    let longest =
        groups.iter().flat_map(|g| &g.bars).filter_map(|bar| bar.value).fold(2.0, f64::max);
    let high = longest.ceil().min(MAX_SLOWDOWN);
    let scale = Scale { kind: Kind::Linear, low: 0.0, high, from: START, to: END };
    let (body, height) = bars(&groups, &scale, Mark::Bar, "×", 1.0);
    Figure {
        id,
        title: title.to_owned(),
        note: note.to_owned(),
        width: FigureWidth::Column,
        picture: drawing(id, title, height, &body),
        table: Table {
            columns: vec!["layout", "by hand", "strided", "contiguous", "copied first"],
            rows: rows.iter().map(|row| cells(row, pass(row))).collect(),
        },
    }
}

fn cells(row: &Row, pass: &Pass) -> Vec<Cell> {
    std::iter::once(Cell::text(&row.name)).chain(Cell::times(pass)).collect()
}

fn bars_of(pass: &Pass) -> Vec<Bar> {
    let bar = |class, label, ns: f64| {
        let times = ns / pass.contiguous_ns;
        Bar {
            class, label, value: Some(times), text: format!("{times:.1}×, {}", render::time(ns))
        }
    };
    vec![
        bar("naive", "by hand", pass.naive_ns),
        bar("strided", "strided", pass.strided_ns),
        bar("contiguous", "contiguous", pass.contiguous_ns),
        bar("copied", "copied first", pass.copy_then_compute_ns),
    ]
}
