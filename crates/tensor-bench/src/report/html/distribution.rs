//! The cases of a suite as cumulative curves: which share of them is how fast.

use maud::{Markup, html};

use super::{
    figure::{Cell, Figure, FigureWidth, Table, WIDTH, drawing, px, rule, words},
    scale::{Scale, ScaleKind},
};
use crate::{
    measure::stats::quantile,
    output::render::percent,
    suite::{Row, SizeClass},
};

const HEIGHT: f64 = 270.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 220.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 300.0;

/// The axis of speed: from 1 to 200 percent.
const SPEEDS: Scale =
    Scale { kind: ScaleKind::Logarithmic, low: 0.01, high: 2.0, from: LEFT, to: RIGHT };

/// The axis of cases, none to all.
const CASES: Scale = Scale { kind: ScaleKind::Linear, low: 0.0, high: 1.0, from: BOTTOM, to: TOP };

/// The percentiles of the table.
const SHARES: [(f64, &str); 6] = [
    (0.0, "slowest"),
    (0.05, "5 %"),
    (0.25, "25 %"),
    (0.5, "50 %"),
    (0.75, "75 %"),
    (0.95, "95 %"),
];

/// A line of the picture: who, its class, and the relative speed in each case that it can do.
struct Series {
    label: &'static str,
    class: &'static str,
    /// Sorted, slowest first.
    speeds: Vec<f64>,
}

impl Series {
    fn new(label: &'static str, class: &'static str, speeds: impl Iterator<Item = f64>) -> Series {
        let mut speeds: Vec<f64> = speeds.collect();
        speeds.sort_by(f64::total_cmp);
        Series { label, class, speeds }
    }

    fn at(&self, share: f64) -> Option<f64> {
        quantile(&self.speeds, share)
    }
}

/// The lines of some rows; libraries only where there are any.
fn series(rows: &[&Row]) -> Vec<Series> {
    let peers = rows.iter().filter_map(|row| {
        let times = row.peers.iter().filter_map(|peer| peer.preallocated_ns);
        Some(row.reference_ns() / times.min_by(f64::total_cmp)?)
    });
    let all = [
        Series::new("this library", "strided", rows.iter().map(|row| row.score())),
        Series::new(
            "naive loop",
            "naive",
            rows.iter().map(|row| row.reference_ns() / row.naive_ns),
        ),
        Series::new("fastest other", "copied", peers),
    ];
    all.into_iter().filter(|series| !series.speeds.is_empty()).collect()
}

/// The picture of the cases of one group.
pub(super) fn figure(number: usize, rows: &[&Row]) -> Figure {
    let (first, series) = (rows[0], series(rows));
    let size = SizeClass::describe(&first.group);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let threads = format!("{} thread{}", first.threads, plural(first.threads));
    let cases = format!("{} case{}", rows.len(), plural(rows.len()));
    let title = format!("{}, {size}, {threads}: {cases}", first.kind());
    let reference = match first.is_copy() {
        true => "percent of copy bandwidth, the speed of the fastest plain copy of as many bytes",
        false => "efficiency, percent of the speed on contiguous operands",
    };
    let id = format!("cases-{number}");
    Figure {
        picture: drawing(&id, &title, HEIGHT, &body(&series, first.is_copy())),
        id: id.into(),
        title,
        note: format!(
            "How many of the cases are at most how fast: {reference}. Further to the right is \
             faster; the dashed line is half of the cases."
        ),
        width: FigureWidth::Column,
        table: table(&series),
    }
}

fn table(series: &[Series]) -> Table {
    let cell = |speed: Option<f64>| speed.map_or(Cell::Nothing, Cell::Share);
    let row = |(share, name): (f64, &str)| {
        [Cell::text(name)].into_iter().chain(series.iter().map(|s| cell(s.at(share)))).collect()
    };
    Table {
        columns: ["slower"].into_iter().chain(series.iter().map(|series| series.label)).collect(),
        rows: SHARES.into_iter().map(row).collect(),
    }
}

fn body(series: &[Series], copies: bool) -> Markup {
    let what = if copies { "% of copy bandwidth" } else { "efficiency" };
    html! {
        @for tick in CASES.ticks() {
            (rule((LEFT, CASES.at(tick)), (RIGHT, CASES.at(tick)), "grid"))
            (words(LEFT - 5.0, CASES.at(tick) + 4.0, "end", "tick", &percent(tick)))
        }
        @for tick in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0] {
            (rule((SPEEDS.at(tick), BOTTOM), (SPEEDS.at(tick), BOTTOM + 5.0), "axis"))
            (words(SPEEDS.at(tick), BOTTOM + 18.0, "middle", "tick", &percent(tick)))
        }
        (rule((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis"))
        (rule((LEFT, CASES.at(0.5)), (RIGHT, CASES.at(0.5)), "cache"))
        (words(0.0, 12.0, "start", "tick", "share of the cases that are slower"))
        (words((LEFT + RIGHT) / 2.0, BOTTOM + 38.0, "middle", "tick", what))
        @for series in series { (curve(series)) }
        (labels(series))
    }
}

/// Steps: each case raises the curve at its speed.
fn curve(series: &Series) -> Markup {
    let count = series.speeds.len() as f64;
    let mut corners = vec![(SPEEDS.from, BOTTOM)];
    for (at, &speed) in series.speeds.iter().enumerate() {
        let x = SPEEDS.at(speed);
        corners.push((x, CASES.at(at as f64 / count)));
        corners.push((x, CASES.at((at + 1) as f64 / count)));
    }
    let corners: Vec<_> = corners.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! { polyline points=(corners.join(" ")) class={ "line " (series.class) } {} }
}

/// Names beside the picture.
fn labels(series: &[Series]) -> Markup {
    html! {
        @for (at, series) in series.iter().enumerate() {
            (words(RIGHT + 8.0, TOP + 14.0 * (at + 1) as f64, "start",
                &format!("label {}", series.class), series.label))
        }
    }
}

const _: () = assert!(RIGHT + 75.0 < WIDTH);
