//! The percent of copy bandwidth that copies to contiguous memory reach, by path.

use super::{
    super::Row,
    bars::{Bar, END, Group, Mark, START, bars},
    figure::{Cell, Figure, FigureWidth, Table, drawing},
    scale::{Scale, ScaleKind},
};
use crate::output::render;

/// Longer bars are cut off. A copy that reads less than it writes can exceed copy bandwidth,
/// because a plain copy reads as much as it writes.
const MAX_SHARE: f64 = 2.0;

/// The picture, with the layouts of one path together.
pub(super) fn figure(rows: &[Row]) -> Figure {
    let title = "Copies: percent of copy bandwidth, by path";
    let rows = by_path(rows);
    let groups: Vec<Group> = rows.iter().map(|row| group(row)).collect();
    let most = rows.iter().map(|row| row.bandwidth_share()).fold(1.0, f64::max);
    let high = (most * 5.0).ceil().min(MAX_SHARE * 5.0) * 20.0;
    let scale = Scale { kind: ScaleKind::Linear, low: 0.0, high, from: START, to: END };
    let (body, height) = bars(&groups, &scale, Mark::Bar, " %", 100.0);
    Figure {
        id: "share".into(),
        title: title.to_owned(),
        note: "Copy bandwidth is the speed of the fastest plain copy of the same bytes in the \
              same run. The path is the strategy of the copy plan. The naive loop runs on one \
              thread."
            .to_owned(),
        width: FigureWidth::Column,
        picture: drawing("share", title, height, &body),
        table: Table {
            columns: vec![
                "path: layout",
                "naive loop",
                "this library",
                "plain copy",
                "% of copy bandwidth",
            ],
            rows: rows.iter().map(|row| cells(row)).collect(),
        },
    }
}

/// Rows of one path together, paths in the order of their first row.
fn by_path(rows: &[Row]) -> Vec<&Row> {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| rows.iter().position(|first| first.path == row.path));
    sorted
}

fn group(row: &Row) -> Group {
    let bar = |class, label, share: f64, ns| {
        let text = format!("{}, {}", render::percent(share), render::time(ns));
        Bar { class, label, value: Some(share * 100.0), text }
    };
    let naive = row.plain_copy_ns / row.naive_copy_ns;
    let bars = vec![
        bar("naive", "naive loop", naive, row.naive_copy_ns),
        bar("strided", "this library", row.bandwidth_share(), row.copy_ns),
    ];
    Group { name: name(row), bars }
}

fn name(row: &Row) -> String {
    format!("{}: {}", row.path, row.name)
}

fn cells(row: &Row) -> Vec<Cell> {
    vec![
        Cell::Text(name(row)),
        Cell::Time(row.naive_copy_ns),
        Cell::Time(row.copy_ns),
        Cell::Time(row.plain_copy_ns),
        Cell::Share(row.bandwidth_share()),
    ]
}
