//! The time per element over the size of the arrays.

use maud::{Markup, html};

use super::{
    super::Point,
    figure::{Cell, Figure, FigureWidth, Table, WIDTH, drawing, px, rule, words},
    scale::{Scale, ScaleKind, spread_apart},
};
use crate::system::machine::Cache;

const HEIGHT: f64 = 300.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 250.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 300.0;

/// A line of the picture: the class gives colour and dashes, the shape its marks.
struct Series {
    class: &'static str,
    label: &'static str,
    shape: Shape,
    of: fn(&Point) -> f64,
}

#[derive(Clone, Copy)]
enum Shape {
    Disc,
    Square,
    Diamond,
}

const SERIES: [Series; 3] = [
    Series { class: "naive", label: "naive loop", shape: Shape::Diamond, of: |p| p.naive_ns },
    Series { class: "strided", label: "this library", shape: Shape::Disc, of: |p| p.strided_ns },
    Series {
        class: "contiguous",
        label: "contiguous",
        shape: Shape::Square,
        of: |p| p.contiguous_ns,
    },
];

/// The picture.
pub(super) fn figure(points: &[Point], caches: &[Cache]) -> Figure {
    let title = "Time per element by size, through the caches";
    Figure {
        id: "curve".into(),
        title: title.to_owned(),
        note: "Nanoseconds per element of 2x + 1 over a transposed square matrix of f32, by the \
              bytes of matrix and result. Dashed lines: the caches of a core, as the system \
              reports them; the last one may be shared between cores."
            .to_owned(),
        width: FigureWidth::Row,
        picture: drawing("curve", title, HEIGHT, &body(points, caches)),
        table: Table {
            columns: vec!["side", "bytes", "naive loop", "this library", "contiguous"],
            rows: points.iter().map(cells).collect(),
        },
    }
}

fn cells(point: &Point) -> Vec<Cell> {
    let times = SERIES.iter().map(|series| Cell::Time((series.of)(point)));
    [Cell::Count(point.side as u64), Cell::Bytes(point.bytes)].into_iter().chain(times).collect()
}

/// The axes: bytes to the right, nanoseconds upwards.
struct Axes {
    x: Scale,
    y: Scale,
}

impl Axes {
    fn of(points: &[Point]) -> Axes {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (first, last) = ends(&mut points.iter().map(|p| p.bytes as f64));
        let times = SERIES.iter().flat_map(|series| points.iter().map(series.of));
        let (low, high) = ends(&mut { times });
        let scale =
            |low, high, from, to| Scale { kind: ScaleKind::Logarithmic, low, high, from, to };
        Axes { x: scale(first, last, LEFT, RIGHT), y: scale(low * 0.8, high * 1.25, BOTTOM, TOP) }
    }

    fn place(&self, point: &Point, of: fn(&Point) -> f64) -> (f64, f64) {
        (self.x.at(point.bytes as f64), self.y.at(of(point)))
    }
}

fn body(points: &[Point], caches: &[Cache]) -> Markup {
    let axes = Axes::of(points);
    html! {
        @for tick in axes.y.ticks() {
            (rule((LEFT, axes.y.at(tick)), (RIGHT, axes.y.at(tick)), "grid"))
            (words(LEFT - 5.0, axes.y.at(tick) + 4.0, "end", "tick", &format!("{tick}")))
        }
        (words(0.0, 12.0, "start", "tick", "ns per element"))
        (sizes(&axes.x))
        @for cache in caches { (limit(cache, &axes.x)) }
        @for series in &SERIES { (line(series, points, &axes)) }
        (labels(points, &axes))
    }
}

/// Labels every fourth power of two below the axis.
fn sizes(x: &Scale) -> Markup {
    let powers = (10..=40).step_by(4).map(|power| 2f64.powi(power));
    let within = powers.filter(|&bytes| bytes >= x.low && bytes <= x.high);
    html! {
        @for bytes in within {
            (rule((x.at(bytes), BOTTOM), (x.at(bytes), BOTTOM + 5.0), "axis"))
            (words(x.at(bytes), BOTTOM + 18.0, "middle", "tick", &binary(bytes)))
        }
        (rule((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis"))
        (words((LEFT + RIGHT) / 2.0, BOTTOM + 38.0, "middle", "tick", "bytes of matrix and result"))
    }
}

fn binary(bytes: f64) -> String {
    match bytes as u64 {
        bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    }
}

fn limit(cache: &Cache, x: &Scale) -> Markup {
    let bytes = cache.bytes as f64;
    let name = format!("L{} {}", cache.level, binary(bytes));
    html! {
        @if bytes > x.low && bytes < x.high {
            (rule((x.at(bytes), TOP - 8.0), (x.at(bytes), BOTTOM), "cache"))
            (words(x.at(bytes), TOP - 12.0, "middle", "tick", &name))
        }
    }
}

fn line(series: &Series, points: &[Point], axes: &Axes) -> Markup {
    let places: Vec<_> = points.iter().map(|point| axes.place(point, series.of)).collect();
    let corners: Vec<_> = places.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! {
        polyline points=(corners.join(" ")) class={ "line " (series.class) } {}
        @for &place in &places { (mark(series, place)) }
    }
}

fn mark(series: &Series, (x, y): (f64, f64)) -> Markup {
    match series.shape {
        Shape::Disc => html! { circle cx=(px(x)) cy=(px(y)) r="3.2" class=(series.class) {} },
        Shape::Square => html! {
            rect x=(px(x - 3.0)) y=(px(y - 3.0)) width="6" height="6" class=(series.class) {}
        },
        Shape::Diamond => html! {
            rect x=(px(x - 3.0)) y=(px(y - 3.0)) width="6" height="6" class=(series.class)
                transform={ "rotate(45 " (px(x)) " " (px(y)) ")" } {}
        },
    }
}

/// Labels each line at its end.
fn labels(points: &[Point], axes: &Axes) -> Markup {
    let Some(last) = points.last() else { return html! {} };
    let ends: Vec<f64> = SERIES.iter().map(|series| axes.place(last, series.of).1).collect();
    let places = spread_apart(&ends, 13.0);
    html! {
        @for (series, y) in SERIES.iter().zip(places) {
            (words(RIGHT + 8.0, y + 4.0, "start", &format!("label {}", series.class), series.label))
        }
    }
}

const _: () = assert!(RIGHT + 75.0 < WIDTH);
