//! What both kinds of pictures are made of: cells coloured by their place in the storage, arrows
//! and labels.

use maud::{Markup, html};
use tensor_kernels::Layout;

pub(super) use crate::report::html::figure::{WIDTH, px, words};

/// The number of colours of arrows; dimensions beyond it use them again.
pub(super) const COLOURS: usize = 4;

/// A storage of more elements has colours only where elements are drawn.
const MAX_WHOLE: usize = 4096;

/// The height of a cell, and the width of one whose number is short.
const SIDE: f64 = 30.0;

/// Numbers are not printed smaller than this.
const SMALLEST_FONT: f64 = 8.0;

/// The width of a digit, in parts of the font's size.
const DIGIT: f64 = 0.66;

/// From offsets to colours.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: usize,
    high: usize,
}

impl Scale {
    /// For a storage of `len` elements, of which those of a layout are drawn.
    pub(super) fn of(drawn: &Layout, len: usize) -> Scale {
        match drawn.bounds() {
            Some((low, high)) if len > MAX_WHOLE => Scale { low, high },
            _ => Scale { low: 0, high: len.saturating_sub(1) },
        }
    }

    /// The place of an offset, from 0 to 1.
    fn at(self, offset: usize) -> f64 {
        let (place, len) = (offset.saturating_sub(self.low), self.high.saturating_sub(self.low));
        if len == 0 { 0.0 } else { (place as f64 / len as f64).min(1.0) }
    }
}

/// The smallest width of cells whose numbers can be read, up to the number.
pub(super) fn readable_width(highest: usize) -> f64 {
    let digits = highest.to_string().len() as f64;
    (digits * DIGIT * SMALLEST_FONT + 4.0).max(20.0)
}

/// A cell whose left upper corner is at a point.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

impl Cell {
    /// The height of cells of a width.
    pub(super) fn height(width: f64) -> f64 {
        width.min(SIDE)
    }

    pub(super) fn centre(self) -> f64 {
        self.x + self.width / 2.0
    }

    pub(super) fn bottom(self) -> f64 {
        self.y + Cell::height(self.width)
    }

    /// An element: its offset on the colour of its place.
    pub(super) fn element(self, offset: usize, scale: Scale) -> Markup {
        let (text, height) = (offset.to_string(), Cell::height(self.width));
        let size = ((self.width - 4.0) / (DIGIT * text.len() as f64)).min(0.42 * height);
        let baseline = self.y + height / 2.0 + size * 0.36;
        let colour = format!("--p:{:.3}", scale.at(offset));
        html! {
            (self.rectangle("element", Some(&colour)))
            text x=(px(self.centre())) y=(px(baseline)) text-anchor="middle"
                style={ "font-size:" (px(size)) "px" } class="offset" { (text) }
        }
    }

    /// An element of the storage that the view does not have.
    pub(super) fn unused(self) -> Markup {
        self.rectangle("cell", None)
    }

    fn rectangle(self, class: &str, style: Option<&str>) -> Markup {
        let (width, height) = (self.width - 1.5, Cell::height(self.width) - 1.5);
        html! {
            rect x=(px(self.x + 0.75)) y=(px(self.y + 0.75)) width=(px(width)) height=(px(height))
                rx="3" class=(class) style=[style] {}
        }
    }
}

/// A picture with a title and a description.
pub(super) fn drawing(id: &str, title: &str, text: &str, height: f64, body: &Markup) -> Markup {
    let (name, description) = (format!("{id}-title"), format!("{id}-text"));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (px(height)) } role="img"
            aria-labelledby=(name) aria-describedby=(description) {
            title id=(name) { (title) }
            desc id=(description) { (text) }
            (body)
        }
    }
}

/// The direction in which an arrow ends.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Right,
    Down,
}

/// An arrow along a path, in the colour of a dimension.
pub(super) fn arrow(dim: usize, path: &str, end: (f64, f64), head: Head) -> Markup {
    let (x, y) = end;
    let corners = match head {
        Head::Right => [(x, y), (x - 6.0, y - 3.5), (x - 6.0, y + 3.5)],
        Head::Down => [(x, y), (x - 3.5, y - 6.0), (x + 3.5, y - 6.0)],
    };
    let points = corners.map(|(x, y)| format!("{},{}", px(x), px(y))).join(" ");
    let colour = dim % COLOURS;
    html! {
        path d=(path) class={ "arrow dim-" (colour) } {}
        polygon points=(points) class={ "head dim-" (colour) } {}
    }
}

/// A label in the colour of a dimension.
pub(super) fn label(dim: usize, x: f64, y: f64, anchor: &str, text: &str) -> Markup {
    words(x, y, anchor, &format!("label dim-{}", dim % COLOURS), text)
}

/// The same, read upwards. It ends at the top of the drawing at most.
pub(super) fn upright(dim: usize, x: f64, y: f64, text: &str) -> Markup {
    let y = y.max(LETTER * text.len() as f64);
    let (x, y) = (px(x), px(y));
    html! {
        text x=(x) y=(y) transform={ "rotate(-90 " (x) " " (y) ")" } text-anchor="start"
            class={ "label dim-" (dim % COLOURS) } { (text) }
    }
}

/// The width of a letter of a label.
const LETTER: f64 = 6.0;

/// A stride with its sign.
pub(super) fn signed(stride: isize) -> String {
    format!("{stride:+}")
}
