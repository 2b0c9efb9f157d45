//! A figure: picture, title, note, and the table of its numbers.

use std::borrow::Cow;

use maud::{Markup, html};

use super::super::Pass;
use crate::output::render;

/// The width of a picture, in its own units.
pub(crate) const WIDTH: f64 = 380.0;

/// A picture with its title and its numbers.
pub(super) struct Figure {
    /// Unique on the page.
    pub(super) id: Cow<'static, str>,
    pub(super) title: String,
    /// How to read it.
    pub(super) note: String,
    pub(super) width: FigureWidth,
    /// One drawing or more, from [`drawing`].
    pub(super) picture: Markup,
    pub(super) table: Table,
}

/// The width of a figure on a wide screen.
#[derive(Clone, Copy)]
pub(super) enum FigureWidth {
    /// One column.
    Column,
    /// The whole width, with one drawing …
    Row,
    /// … or with many side by side.
    Many,
}

impl FigureWidth {
    fn class(self) -> Option<&'static str> {
        match self {
            FigureWidth::Column => None,
            FigureWidth::Row => Some("row"),
            FigureWidth::Many => Some("row many"),
        }
    }
}

/// The numbers of a figure.
pub(super) struct Table {
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell: a formatted number with its exact value, or a text.
pub(super) enum Cell {
    Text(String),
    Time(f64),
    Share(f64),
    Bytes(u64),
    Count(u64),
    Nothing,
}

impl Cell {
    pub(super) fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    /// The times of a pass: naive loop, this library, contiguous, copy then compute.
    pub(super) fn times(pass: &Pass) -> [Cell; 4] {
        [
            Cell::Time(pass.naive_ns),
            Cell::Time(pass.strided_ns),
            Cell::Time(pass.contiguous_ns),
            Cell::Time(pass.copy_then_compute_ns),
        ]
    }

    /// Exact values are written as in `--json`.
    fn markup(&self) -> Markup {
        let number = |value: String, text: String| html! { data value=(value) { (text) } };
        match *self {
            Cell::Text(ref text) => html! { (text) },
            Cell::Time(ns) => number(format!("{ns:?}"), render::time(ns)),
            Cell::Share(share) => number(format!("{share:?}"), render::percent(share)),
            Cell::Bytes(bytes) => number(bytes.to_string(), render::bytes(bytes.into())),
            Cell::Count(count) => number(count.to_string(), count.to_string()),
            Cell::Nothing => html! { "–" },
        }
    }
}

impl Figure {
    pub(super) fn markup(&self) -> Markup {
        html! {
            figure id=(self.id) class=[self.width.class()] {
                figcaption { h2 { (self.title) } p { (self.note) } }
                div.picture { (self.picture) }
                details { summary { "Numbers" } (self.table.markup(&self.title)) }
            }
        }
    }
}

impl Table {
    fn markup(&self, title: &str) -> Markup {
        html! {
            table {
                caption { (title) }
                thead { tr { @for column in &self.columns { th scope="col" { (column) } } } }
                tbody { @for row in &self.rows { (line(row)) } }
            }
        }
    }
}

/// The first cell is the header of the row.
fn line(cells: &[Cell]) -> Markup {
    html! {
        tr {
            @for (at, cell) in cells.iter().enumerate() {
                @if at == 0 { th scope="row" { (cell.markup()) } } @else { td { (cell.markup()) } }
            }
        }
    }
}

/// A drawing with an accessible title.
pub(super) fn drawing(id: &str, title: &str, height: f64, body: &Markup) -> Markup {
    let name = format!("{id}-title");
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (px(height)) } role="img" aria-labelledby=(name) {
            title id=(name) { (title) }
            (body)
        }
    }
}

/// A coordinate, to a tenth.
pub(crate) fn px(value: f64) -> String {
    format!("{:.1}", value + 0.0)
}

/// A text in a drawing, `anchor` being start, middle or end.
pub(crate) fn words(x: f64, y: f64, anchor: &str, class: &str, text: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) text-anchor=(anchor) class=(class) { (text) } }
}

/// A straight line in a drawing.
pub(super) fn rule(from: (f64, f64), to: (f64, f64), class: &str) -> Markup {
    html! { line x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) class=(class) {} }
}
