//! Bars, or dots on stems, in groups: one group for each layout, with its name above.

use maud::{Markup, html};

use super::{
    figure::{WIDTH, px, rule, words},
    scale::Scale,
};

/// Where bars begin; their labels are to the left.
pub(super) const START: f64 = 106.0;

/// Where the longest bar ends; the numbers are to the right.
pub(super) const END: f64 = 285.0;

const AXIS: f64 = 22.0;
const HEADING: f64 = 18.0;
const BAR: f64 = 11.0;
const LINE: f64 = 15.0;
const GAP: f64 = 9.0;

/// The bars of one layout.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) bars: Vec<Bar>,
}

/// One bar: label, length, number as text, and the class that gives its colour.
pub(super) struct Bar {
    pub(super) class: &'static str,
    pub(super) label: &'static str,
    /// `None`: only the text.
    pub(super) value: Option<f64>,
    pub(super) text: String,
}

/// How values are drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mark {
    Bar,
    Dot,
}

/// All groups on one axis with `unit` at each tick and a mark at `line`; returns the drawing and
/// its height.
pub(super) fn bars(
    groups: &[Group],
    scale: &Scale,
    mark: Mark,
    unit: &str,
    line: f64,
) -> (Markup, f64) {
    let mut body = vec![axis(scale, unit)];
    let mut y = AXIS;
    for group in groups {
        body.push(words(0.0, y + 12.0, "start", "name", &group.name));
        y += HEADING;
        body.push(grid(scale, line, y, group.bars.len()));
        for bar in &group.bars {
            body.push(draw(bar, y, scale, mark));
            y += LINE;
        }
        y += GAP;
    }
    (html! { @for part in &body { (part) } }, y)
}

fn axis(scale: &Scale, unit: &str) -> Markup {
    html! {
        @for tick in scale.ticks() {
            (words(scale.at(tick), AXIS - 10.0, "middle", "tick", &format!("{tick}{unit}")))
        }
    }
}

/// The grid behind the bars of one group; grid lines do not cross names.
fn grid(scale: &Scale, line: f64, y: f64, bars: usize) -> Markup {
    let (top, bottom) = (y - 2.0, y + bars as f64 * LINE - 2.0);
    let upright =
        |value: f64, class| rule((scale.at(value), top), (scale.at(value), bottom), class);
    html! {
        @for tick in scale.ticks() { (upright(tick, "grid")) }
        (upright(line, "mark"))
    }
}

fn draw(bar: &Bar, y: f64, scale: &Scale, mark: Mark) -> Markup {
    let middle = y + BAR - 2.0;
    let end = bar.value.map_or(START, |value| scale.at(value));
    let after = if mark == Mark::Dot && bar.value.is_some() { end + 9.0 } else { end + 5.0 };
    html! {
        (words(START - 6.0, middle, "end", "label", bar.label))
        @match (bar.value, mark) {
            (None, _) => {},
            (Some(_), Mark::Dot) => {
                (rule((START, y + BAR / 2.0), (end, y + BAR / 2.0), &format!("stem {}", bar.class)))
                circle cx=(px(end)) cy=(px(y + BAR / 2.0)) r="4.5" class=(bar.class) {}
            },
            (Some(value), Mark::Bar) => {
                rect x=(px(START)) y=(px(y)) width=(px((end - START).max(1.0))) height=(px(BAR))
                    rx="1.5" class=(bar.class) {}
                @if scale.cuts(value) { (cut(y)) }
            },
        }
        (words(after, middle, "start", "value", &bar.text))
    }
}

/// Two gaps: the bar is cut off.
fn cut(y: f64) -> Markup {
    let gap = |x: f64| rule((x, y + BAR + 1.0), (x + 4.0, y - 1.0), "cut");
    html! { (gap(END - 16.0)) (gap(END - 10.0)) }
}

const _: () = assert!(END < WIDTH);
