//! The slowdown of each method for a pass, against the contiguous pass.

use super::{
    super::{Pass, Row},
    bars::{Bar, END, Group, Mark, START, bars},
    figure::{Cell, Figure, FigureWidth, Table, drawing},
    scale::{Scale, ScaleKind},
};
use crate::output::render;

/// Longer bars are cut off.
const MAX_SLOWDOWN: f64 = 8.0;

/// The elementwise pass.
pub(super) fn elementwise(rows: &[Row]) -> Figure {
    let note = "The slowdown against a pass of 2x + 1 over contiguous memory: a naive loop on \
        one thread, this library over the view, this library over a contiguous copy, and \
        contiguous() followed by the pass over the copy.";
    figure("elementwise", "Elementwise, 2x + 1: slowdown by method", note, rows, |row| {
        &row.elementwise
    })
}

/// The sum.
pub(super) fn sum(rows: &[Row]) -> Figure {
    let note = "The same for a pass that only reads, the sum of all elements. The naive loop \
        runs on all threads, each with its part of the view.";
    figure("sum", "Sum of all elements: slowdown by method", note, rows, |row| &row.sum)
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
    let scale = Scale { kind: ScaleKind::Linear, low: 0.0, high, from: START, to: END };
    let (body, height) = bars(&groups, &scale, Mark::Bar, "×", 1.0);
    Figure {
        id: id.into(),
        title: title.to_owned(),
        note: note.to_owned(),
        width: FigureWidth::Column,
        picture: drawing(id, title, height, &body),
        table: Table {
            columns: vec![
                "layout",
                "naive loop",
                "this library",
                "contiguous",
                "copy, then compute",
            ],
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
        bar("naive", "naive loop", pass.naive_ns),
        bar("strided", "this library", pass.strided_ns),
        bar("contiguous", "contiguous", pass.contiguous_ns),
        bar("copied", "copy, then compute", pass.copy_then_compute_ns),
    ]
}
