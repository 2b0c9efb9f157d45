//! The order in which each layout reads its storage: a cell per element, with the number of the
//! step that reads it first.

use std::collections::HashMap;

use maud::{Markup, html};
use tensor_kernels::Layout;

use super::{
    super::Row,
    figure::{Cell, Figure, FigureWidth, Table, WIDTH, drawing, px, words},
    walk::Walk,
};
use crate::{
    Result,
    output::render::{join, tuple},
};

const CELL: f64 = 30.0;
const HEAD: f64 = 22.0;

/// One drawing for each layout.
///
/// # Errors
/// None for layouts that could be measured.
pub(super) fn figure(rows: &[Row]) -> Result<Figure> {
    let walks = rows.iter().map(walk).collect::<Result<Vec<_>>>()?;
    let pairs = || rows.iter().zip(&walks).enumerate();
    Ok(Figure {
        id: "walks".into(),
        title: "The order in which each layout reads its storage".to_owned(),
        note: "The same layouts with few elements. A cell is an element of the storage; its \
              number is the step of the view, in logical order, that reads it first. The line \
              follows the first steps, from the dot on. Empty cells are not part of the view."
            .to_owned(),
        width: FigureWidth::Many,
        picture: html! { @for (at, (row, walk)) in pairs() { (picture(at, row, walk)) } },
        table: Table {
            columns: vec!["layout", "shape", "strides", "offsets in logical order"],
            rows: pairs().map(|(_, (row, walk))| cells(row, &walk.layout)).collect(),
        },
    })
}

fn walk(row: &Row) -> Result<Walk> {
    Walk::of(&Layout::new(&row.shape, &row.strides, row.offset)?)
}

fn cells(row: &Row, layout: &Layout) -> Vec<Cell> {
    vec![
        Cell::text(&row.name),
        Cell::Text(tuple(layout.shape())),
        Cell::Text(tuple(layout.strides())),
        Cell::Text(join(layout.offsets(), " ")),
    ]
}

fn picture(at: usize, row: &Row, walk: &Walk) -> Markup {
    let title = format!("{}: {}", row.name, row.why);
    let body = html! {
        (words(0.0, 13.0, "start", "name", &title))
        (storage(walk))
    };
    let height = HEAD + (walk.places / walk.row) as f64 * CELL + 4.0;
    drawing(&format!("walk-{}", at + 1), &title, height, &body)
}

fn storage(walk: &Walk) -> Markup {
    let visits: Vec<usize> = walk.layout.offsets().collect();
    let mut first = HashMap::new();
    for (step, &place) in visits.iter().enumerate() {
        first.entry(place).or_insert(step);
    }
    let line = visits[..first_run(&walk.layout)].iter().map(|&place| below(walk, place));
    let line: Vec<String> = line.map(|(x, y)| format!("{},{}", px(x), px(y))).collect();
    let (x, y) = below(walk, walk.layout.offset());
    html! {
        @for place in 0..walk.places {
            (cell(walk, place, first.get(&place).copied(), visits.len()))
        }
        polyline points=(line.join(" ")) class="walk" {}
        circle cx=(px(x)) cy=(px(y)) r="2.5" class="walk" {}
        @for (&place, &step) in sorted(&first) { (number(walk, place, step)) }
    }
}

/// In the order of the steps, so that the page is deterministic.
fn sorted(first: &HashMap<usize, usize>) -> Vec<(&usize, &usize)> {
    let mut steps: Vec<_> = first.iter().collect();
    steps.sort_by_key(|(_, step)| **step);
    steps
}

/// The steps that the line follows: the last dimension and the first step after it.
fn first_run(layout: &Layout) -> usize {
    let last = layout.shape().last().copied().unwrap_or(1);
    (last + 1).min(layout.numel())
}

fn corner(walk: &Walk, place: usize) -> (f64, f64) {
    let left = (WIDTH - walk.row as f64 * CELL).max(0.0) / 2.0;
    let (row, column) = (place / walk.row, place % walk.row);
    (left.min(10.0) + column as f64 * CELL, HEAD + row as f64 * CELL)
}

/// The point of the line in a cell, below the number.
fn below(walk: &Walk, place: usize) -> (f64, f64) {
    let (x, y) = corner(walk, place);
    (x + CELL / 2.0, y + CELL - 7.0)
}

/// A cell; later steps are darker.
fn cell(walk: &Walk, place: usize, step: Option<usize>, steps: usize) -> Markup {
    let (x, y) = corner(walk, place);
    let part = step.map(|step| 0.08 + 0.4 * step as f64 / steps as f64);
    html! {
        rect x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(CELL - 2.0)) height=(px(CELL - 2.0)) rx="3"
            class={ "cell" @if part.is_some() { " visited" } }
            fill-opacity=[part.map(|part| format!("{part:.2}"))] {}
    }
}

fn number(walk: &Walk, place: usize, step: usize) -> Markup {
    let (x, y) = corner(walk, place);
    words(x + CELL / 2.0, y + 15.0, "middle", "step", &step.to_string())
}
