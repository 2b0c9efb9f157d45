//! The storage in the order of memory: a cell for each element, coloured where the view has it, and
//! an arrow for the stride of each dimension, from the first element to its neighbour.

use maud::{Markup, html};
use tensor_kernels::{Layout, Overlap};

use super::svg::{
    Cell, Head, Scale, WIDTH, arrow, drawing, label, px, readable_width, signed, words,
};
use crate::output::render::join;

/// The most elements that are drawn, and the most rows.
const MAX_ELEMENTS: usize = 192;
const MAX_ROWS: usize = 12;

/// Elements in a row: the first number for a storage of few elements, else the first one that
/// leaves the numbers readable.
const ROWS: [usize; 4] = [12, 16, 8, 4];

/// A storage of more elements has long rows.
const FEW: usize = 96;

/// Space above a row: over an arc, for an arrow from another row, without any.
const OVER: f64 = 5.0;
const ENDS: f64 = 24.0;
/// The height of a further label there.
const LANE: f64 = 12.0;
const PLAIN: f64 = 4.0;

/// The longest horizontal way of an arrow from a row to the next.
const NEAR: f64 = 80.0;

/// The most offsets in the description.
const MAX_LISTED: usize = 64;

/// A part of a storage.
pub(super) struct Strip<'a> {
    layout: &'a Layout,
    len: usize,
    /// The offset of the first element that is drawn.
    first: usize,
    /// Whether the view has an element, of those that are drawn.
    visited: Vec<bool>,
    row: usize,
}

impl<'a> Strip<'a> {
    /// A storage of `len` elements; of a large one the part where the view begins.
    pub(super) fn of(layout: &'a Layout, len: usize) -> Strip<'a> {
        let highest = len.min(layout.offset() + MAX_ELEMENTS);
        let fits = |row: &usize| (WIDTH - 4.0) / *row as f64 >= readable_width(highest);
        let rows = ROWS.into_iter().skip(usize::from(len > FEW));
        let row = rows.into_iter().find(fits).unwrap_or(ROWS[3]);
        let first = begin(layout, len, row);
        let drawn = (len - first).min(MAX_ROWS * row);
        Strip { layout, len, first, visited: visited(layout, first, drawn), row }
    }

    /// What is drawn, if it is not all.
    pub(super) fn note(&self) -> String {
        match (self.len, self.visited.len()) {
            (0, _) => "The storage is empty.".to_owned(),
            (len, drawn) if drawn < len => {
                let last = self.first + drawn - 1;
                format!("Cut off: elements {} to {last} of a storage of {len}.", self.first)
            }
            (len, _) => {
                let used = self.visited.iter().filter(|&&visited| visited).count();
                match used == len {
                    true => format!("A storage of {len}, all in the view."),
                    false => format!("A storage of {len}; the view has {used} of them."),
                }
            }
        }
    }

    pub(super) fn drawing(&self, at: usize, call: &str, scale: Scale) -> Markup {
        let (id, title) = (format!("strip-{at}"), format!("{call}: the storage"));
        if self.visited.is_empty() {
            let body = html! { (words(0.0, 16.0, "start", "label", "no elements")) };
            return drawing(&id, &title, "The storage is empty.", 24.0, &body);
        }
        let tops = self.tops();
        let arrows = self.arrows().into_iter().enumerate();
        let arrows: Vec<_> = arrows.map(|(level, dim)| self.arrow(dim, level, &tops)).collect();
        let body = html! {
            @for (place, &visited) in self.visited.iter().enumerate() {
                @let cell = self.cell(place, &tops);
                @if visited { (cell.element(self.first + place, scale)) }
                @else { (cell.unused()) }
            }
            // Labels lie over all arrows.
            @for (arrow, _) in &arrows { (arrow) }
            @for (_, label) in &arrows { (label) }
        };
        let height = tops.last().copied().unwrap_or(0.0) + Cell::height(self.width()) + 4.0;
        drawing(&id, &title, &self.text(), height, &body)
    }

    fn width(&self) -> f64 {
        (WIDTH - 4.0) / self.row as f64
    }

    fn cell(&self, place: usize, tops: &[f64]) -> Cell {
        let width = self.width();
        let x = 2.0 + (place % self.row) as f64 * width;
        Cell { x, y: tops[place / self.row], width }
    }

    /// The place of an offset in the drawing.
    fn place(&self, offset: isize) -> Option<usize> {
        let place = usize::try_from(offset).ok()?.checked_sub(self.first)?;
        (place < self.visited.len()).then_some(place)
    }

    /// The places of the first element and of its neighbour along a dimension.
    fn ends(&self, dim: usize) -> Option<(usize, usize)> {
        let (offset, stride) = (self.layout.offset() as isize, self.layout.strides()[dim]);
        Some((self.place(offset)?, self.place(offset.checked_add(stride)?)?))
    }

    /// The dimensions whose strides are drawn, the shortest first.
    fn arrows(&self) -> Vec<usize> {
        let has_step = |&dim: &usize| self.layout.shape()[dim] > 1 && self.ends(dim).is_some();
        let dims = if self.layout.numel() == 0 { 0..0 } else { 0..self.layout.ndim() };
        let mut dims: Vec<usize> = dims.filter(has_step).collect();
        dims.sort_by_key(|&dim| self.layout.strides()[dim].unsigned_abs());
        dims
    }

    /// The height of a dimension's label above those of shorter strides that it could cover: of
    /// arrows from other rows to the same one, and of an arc to the same element.
    fn lane(&self, dim: usize) -> f64 {
        let Some((_, end)) = self.ends(dim) else { return 0.0 };
        let is_arc = |(from, to): (usize, usize)| from / self.row == to / self.row;
        let own = self.ends(dim).is_some_and(is_arc);
        let is_covered = |&before: &usize| {
            let same_row = |&(_, to): &(usize, usize)| to / self.row == end / self.row;
            self.ends(before)
                .filter(same_row)
                .is_some_and(|ends| is_arc(ends) == own && (!own || ends.1 == end))
        };
        let before = self.arrows().into_iter().take_while(|&before| before != dim);
        LANE * before.filter(is_covered).count() as f64
    }

    /// The upper edges of the rows.
    fn tops(&self) -> Vec<f64> {
        let mut space = vec![PLAIN; self.visited.len().div_ceil(self.row)];
        for (level, dim) in self.arrows().into_iter().enumerate() {
            let Some((from, to)) = self.ends(dim) else { continue };
            let (from, to) = (from / self.row, to / self.row);
            let needed = if from == to { peak(level) + OVER } else { ENDS + self.lane(dim) };
            space[to] = space[to].max(needed);
        }
        let mut y = 0.0;
        let top = |space: f64| {
            let top = y + space;
            y = top + Cell::height(self.width());
            top
        };
        space.into_iter().map(top).collect()
    }

    /// The arrow of a dimension, and its label beside the end, at the right edge on its other side.
    fn arrow(&self, dim: usize, level: usize, tops: &[f64]) -> (Markup, Markup) {
        let Some((from, to)) = self.ends(dim) else { return Default::default() };
        // A stride of 0 leads back to the element.
        let aside = if from == to { 6.0 } else { 0.0 };
        let target = self.cell(to, tops);
        let end = (target.centre() + aside, target.y - 1.0);
        let source = self.cell(from, tops);
        let source = Cell { x: source.x - aside, ..source };
        let rows = (to / self.row).wrapping_sub(from / self.row);
        let (path, text) = self.route(dim, level, source, end, rows);
        let (x, anchor) = match end.0 > WIDTH - 7.0 * text.len() as f64 {
            true => (end.0 - 6.0, "end"),
            false => (end.0 + 6.0, "start"),
        };
        let y = end.1 - 4.0 - self.lane(dim);
        (arrow(dim, &path, end, Head::Down), label(dim, x, y, anchor, &text))
    }

    /// An arc above the row, a curve to a near cell of the next row, or the end of an arrow alone,
    /// where the whole would cross many cells; and what to write beside it. `rows` are those
    /// between the ends; for an arrow upwards it has wrapped, and is large.
    fn route(
        &self,
        dim: usize,
        level: usize,
        source: Cell,
        end: Point,
        rows: usize,
    ) -> (String, String) {
        let stride = signed(self.layout.strides()[dim]);
        match rows {
            0 => (arc(source.centre(), end, level), stride),
            1 if (source.centre() - end.0).abs() < NEAR => {
                let path = between_rows((source.centre(), source.bottom()), end);
                (path, format!("dim {dim}: {stride}"))
            }
            _ => {
                let path = format!(
                    "M{},{} V{}",
                    px(end.0),
                    px(end.1 - 18.0 - self.lane(dim)),
                    px(end.1 - 5.0)
                );
                (path, format!("dim {dim}: {stride} from {}", self.layout.offset()))
            }
        }
    }

    /// The offsets of the view, and the steps.
    fn text(&self) -> String {
        let places = self.visited.iter().enumerate().filter(|(_, visited)| **visited);
        let mut offsets = places.map(|(place, _)| self.first + place);
        let listed = join(offsets.by_ref().take(MAX_LISTED), " ");
        let more = if offsets.next().is_some() { " …" } else { "" };
        let step = |dim: &usize| {
            let (from, stride) = (self.layout.offset() as isize, self.layout.strides()[*dim]);
            format!(" Dimension {dim} steps from {from} to {}.", from + stride)
        };
        let steps: String = self.arrows().iter().map(step).collect();
        format!("{} In the view: {listed}{more}.{steps}", self.note())
    }
}

/// Where the drawn part of a large storage begins: in the row of the first element, or before it,
/// if its neighbours are there.
fn begin(layout: &Layout, len: usize, row: usize) -> usize {
    let backwards = layout.strides().iter().any(|&stride| stride < 0);
    let before = if backwards { MAX_ROWS / 2 * row } else { 0 };
    let last_rows = len.saturating_sub(MAX_ROWS * row).next_multiple_of(row);
    (layout.offset().saturating_sub(before) / row * row).min(last_rows)
}

type Point = (f64, f64);

/// The height of an arc. The arcs of longer strides are higher.
fn peak(level: usize) -> f64 {
    16.0 + 10.0 * level.min(3) as f64
}

/// A curve of this kind rises to three quarters of the height of its control points.
fn arc(start: f64, end: Point, level: usize) -> String {
    let top = end.1 - peak(level) / 0.75;
    curve((start, end.1), (start, top), (end.0, top), (end.0, end.1 - 5.0))
}

/// From the lower edge of a cell to the upper edge of one in the next row.
fn between_rows(start: Point, end: Point) -> String {
    curve(start, (start.0, start.1 + 14.0), (end.0, end.1 - 16.0), (end.0, end.1 - 5.0))
}

fn curve(from: Point, control: Point, other: Point, to: Point) -> String {
    let points = [control, other, to].map(|(x, y)| format!("{},{}", px(x), px(y)));
    format!("M{},{} C{}", px(from.0), px(from.1), points.join(" "))
}

/// Which of `count` elements of the storage, from `first` on, a view has. A view of very many
/// elements takes no longer than one of few.
fn visited(layout: &Layout, first: usize, count: usize) -> Vec<bool> {
    let has = |place: usize| {
        Layout::new((), (), place).is_ok_and(|one| layout.overlap(&one) != Overlap::No)
    };
    (first..first + count).map(has).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_view_has_of_a_part_of_the_storage_is_what_its_offsets_say() {
        let cases: [(&[usize], &[isize], usize); 6] = [
            (&[3, 4], &[4, 1], 0),
            (&[4, 3], &[1, 4], 5),
            (&[5, 3], &[2, 1], 1),
            (&[3, 2, 2], &[-6, 0, 2], 15),
            (&[1, 7], &[99, -2], 14),
            (&[0, 3], &[3, 1], 0),
        ];
        for (shape, strides, offset) in cases {
            let layout = Layout::new(shape, strides, offset).unwrap();
            for (first, count) in [(0, 20), (4, 5), (8, 1), (16, 4)] {
                let mut expected = vec![false; count];
                for place in layout.offsets().filter_map(|offset| offset.checked_sub(first)) {
                    if place < count {
                        expected[place] = true;
                    }
                }
                assert_eq!(visited(&layout, first, count), expected, "{shape:?} {first} {count}");
            }
        }
    }

    #[test]
    fn a_part_of_a_huge_view_takes_no_longer_than_the_part() {
        let huge = Layout::new([1_isize << 30, 1_isize << 30], [1_isize << 30, 1], 0).unwrap();
        assert_eq!(visited(&huge, 1 << 40, 3), [true; 3]);
        let windows = Layout::new([1_isize << 40, 1 << 10], [1, 1], 7).unwrap();
        assert_eq!(visited(&windows, 6, 3), [false, true, true]);
        let overlapping = Layout::new([1_isize << 30, 1_isize << 30], [-1, 1], 1 << 30).unwrap();
        assert_eq!(visited(&overlapping, (1 << 30) - 1, 3), [true; 3]);
        let many = Layout::new([192; 6], [1; 6], 0).unwrap();
        assert_eq!(visited(&many, 1145, 4), [true, true, false, false]);
    }
}
