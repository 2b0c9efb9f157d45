//! The elements of a view by index: a matrix of the last two dimensions for each index of the two
//! before them. Of more dimensions, and of large ones, the first indices are drawn.

use maud::{Markup, html};
use tensor_kernels::Layout;

use super::svg::{
    Cell, Head, Scale, WIDTH, arrow, drawing, label, px, readable_width, signed, upright, words,
};
use crate::{Result, output::render::join};

/// The most indices that are drawn of the last dimension, the one before it, ….
const MOST: [usize; 4] = [16, 12, 6, 4];

/// A single dimension is drawn in rows of this many elements, up to the number after it.
const WRAPPED_ROW: usize = 12;
const MOST_WRAPPED: usize = 96;

/// The most elements that are drawn.
const MAX_ELEMENTS: usize = 192;

/// The widest cell that holds a short number.
const SIDE: f64 = 30.0;
/// Space for the arrow of the rows, between matrices, and for what is cut off on the right.
const LEFT: f64 = 34.0;
const GAP: f64 = 16.0;
const RIGHT: f64 = 14.0;
/// Space for the label of an arrow, and for the index of a matrix.
const ARROW: f64 = 20.0;
const INDEX: f64 = 17.0;

/// The part of a layout that is drawn.
pub(super) struct Grid<'a> {
    layout: &'a Layout,
    /// The drawn sizes of all dimensions; 1 of those that are not drawn.
    sizes: Vec<usize>,
    /// The elements in a row, if a single dimension is drawn.
    wrapped: usize,
}

/// Where the matrices lie.
struct Places {
    /// The width of a cell.
    width: f64,
    per_line: usize,
}

impl<'a> Grid<'a> {
    pub(super) fn of(layout: &'a Layout) -> Grid<'a> {
        let highest = layout.bounds().map_or(0, |(_, highest)| highest);
        let fitting = ((WIDTH - LEFT - RIGHT) / readable_width(highest)) as usize;
        let columns = if layout.ndim() == 1 { MOST_WRAPPED } else { MOST[0].min(fitting) };
        let limits = [columns].into_iter().chain(MOST.into_iter().skip(1));
        let limits = limits.chain(std::iter::repeat(1));
        let mut sizes: Vec<usize> =
            layout.shape().iter().rev().zip(limits).map(|(&size, most)| size.min(most)).collect();
        sizes.reverse();
        while sizes.iter().product::<usize>() > MAX_ELEMENTS {
            cut(&mut sizes);
        }
        let wrapped = WRAPPED_ROW.min(fitting);
        Grid { layout, sizes, wrapped }
    }

    /// The layout of the elements that are drawn.
    pub(super) fn drawn(&self) -> Result<Layout> {
        Ok(Layout::new(&self.sizes, self.layout.strides(), self.layout.offset())?)
    }

    /// What is drawn, if it is not all.
    pub(super) fn note(&self) -> String {
        if self.layout.numel() == 0 {
            return "It has no elements.".to_owned();
        }
        let cut = self.sizes.iter().zip(self.layout.shape()).enumerate();
        let cut: Vec<String> = cut
            .filter(|(_, (drawn, size))| drawn < size)
            .map(|(dim, (drawn, size))| format!("the first {drawn} of {size} along dim {dim}"))
            .collect();
        match cut.as_slice() {
            [] => "All elements.".to_owned(),
            some => format!("Cut off: {}.", some.join(", ")),
        }
    }

    fn rows_and_columns(&self) -> (usize, usize) {
        if let [size] = *self.sizes {
            return (size.div_ceil(self.wrapped), size.min(self.wrapped));
        }
        let from_end = |k: usize| self.sizes.iter().rev().nth(k).copied().unwrap_or(1);
        (from_end(1), from_end(0))
    }

    /// The sizes of the dimensions before the last two.
    fn outer(&self) -> &[usize] {
        &self.sizes[..self.sizes.len().saturating_sub(2)]
    }

    fn matrices(&self) -> usize {
        self.outer().iter().product()
    }

    /// Matrices of one line differ in one dimension, if that leaves them readable.
    fn places(&self) -> Places {
        let columns = self.rows_and_columns().1.max(1) as f64;
        let highest = self.layout.bounds().map_or(0, |(_, highest)| highest);
        let (smallest, room) = (readable_width(highest), WIDTH - LEFT - RIGHT);
        let wanted = self.outer().last().copied().unwrap_or(1).max(1);
        let gaps = (wanted - 1) as f64 * GAP;
        let width = (room - gaps) / (wanted as f64 * columns);
        if width >= smallest {
            return Places { width: width.min(SIDE.max(smallest)), per_line: wanted };
        }
        let width = (room / columns).min(SIDE.max(smallest));
        let fitting = ((room + GAP) / (columns * width + GAP)) as usize;
        Places { width, per_line: fitting.clamp(1, wanted) }
    }

    pub(super) fn drawing(&self, at: usize, call: &str, scale: Scale) -> Markup {
        let title = format!("{call}: elements by index");
        let (id, places) = (format!("grid-{at}"), self.places());
        if self.sizes.contains(&0) {
            let body = html! { (words(0.0, 16.0, "start", "label", "no elements")) };
            return drawing(&id, &title, "It has no elements.", 24.0, &body);
        }
        let line = self.line_height(&places);
        let lines = self.matrices().div_ceil(places.per_line);
        let body = html! {
            @for matrix in 0..self.matrices() {
                @let x = LEFT + (matrix % places.per_line) as f64 * self.width(&places);
                @let y = self.top() + (matrix / places.per_line) as f64 * line;
                (self.matrix(matrix, (x, y), &places, scale))
            }
            (self.arrows(&places))
        };
        drawing(&id, &title, &self.text(), self.top() + lines as f64 * line, &body)
    }

    fn width(&self, places: &Places) -> f64 {
        self.rows_and_columns().1 as f64 * places.width + GAP
    }

    /// The height of a line of matrices: their indices, their rows, what is cut off.
    fn line_height(&self, places: &Places) -> f64 {
        let below = if self.is_cut(2) || self.matrices() > 1 { GAP } else { 4.0 };
        self.head() + self.rows_and_columns().0 as f64 * Cell::height(places.width) + below
    }

    fn head(&self) -> f64 {
        if self.matrices() > 1 { INDEX } else { 0.0 }
    }

    /// The row in which the elements of a matrix end.
    fn last_row(&self) -> usize {
        if self.sizes.len() == 1 { self.rows_and_columns().0 - 1 } else { 0 }
    }

    /// Is a dimension cut off, counted from the end, from 1 on?
    fn is_cut(&self, from_end: usize) -> bool {
        let sizes = self.layout.shape().iter().zip(&self.sizes).rev().nth(from_end - 1);
        sizes.is_some_and(|(size, drawn)| drawn < size)
    }

    /// The index of a matrix in the dimensions before the last two.
    fn index(&self, mut matrix: usize) -> Vec<usize> {
        let mut index: Vec<usize> = (self.outer().iter().rev())
            .map(|size| {
                let at = matrix % size;
                matrix /= size;
                at
            })
            .collect();
        index.reverse();
        index
    }

    /// The offset of an element; `None` behind the end of the last row of a single dimension.
    fn offset(&self, matrix: usize, row: usize, column: usize) -> Option<usize> {
        if let [size] = *self.sizes {
            let at = row * self.wrapped + column;
            let offset = self.layout.offset() as isize + at as isize * self.layout.strides()[0];
            return (at < size).then_some(offset as usize);
        }
        let mut index = self.index(matrix);
        index.extend([row, column].into_iter().skip(2 - self.sizes.len().min(2)));
        let steps = index.iter().zip(self.layout.strides());
        let from_first: isize = steps.map(|(&at, &stride)| at as isize * stride).sum();
        Some(self.layout.offset().saturating_add_signed(from_first))
    }

    fn matrix(&self, matrix: usize, (x, y): (f64, f64), places: &Places, scale: Scale) -> Markup {
        let (rows, columns) = self.rows_and_columns();
        let (width, height) = (places.width, Cell::height(places.width));
        let (top, right) = (y + self.head(), x + columns as f64 * width);
        html! {
            @if self.matrices() > 1 {
                (words(x, y + 11.0, "start", "label", &self.name(matrix)))
            }
            @for row in 0..rows {
                @for column in 0..columns {
                    @if let Some(offset) = self.offset(matrix, row, column) {
                        @let (x, y) = (x + column as f64 * width, top + row as f64 * height);
                        (Cell { x, y, width }.element(offset, scale))
                    }
                }
            }
            @if self.is_cut(1) {
                @let y = top + (self.last_row() as f64 + 0.5) * height + 3.0;
                (words(right + 2.0, y, "start", "label", "…"))
            }
            @if self.is_cut(2) {
                (words(x + width / 2.0, top + rows as f64 * height + 11.0, "middle", "label", "⋮"))
            }
        }
    }

    /// `[0, 1, :, :]`
    fn name(&self, matrix: usize) -> String {
        format!("[{}, :, :]", join(self.index(matrix), ", "))
    }

    /// The steps of the last two dimensions, at the first matrix.
    fn arrows(&self, places: &Places) -> Markup {
        let ((_, columns), ndim) = (self.rows_and_columns(), self.sizes.len());
        let step = |dim: usize| format!("dim {dim}: {}", signed(self.layout.strides()[dim]));
        let (width, height) = (places.width, Cell::height(places.width));
        let (y, x, top) = (self.top() - 6.0, LEFT - 9.0, self.top() + self.head());
        html! {
            @if columns > 1 {
                @let (from, to) = (LEFT + width / 2.0, LEFT + width * 1.5);
                @let path = format!("M{},{} H{}", px(from), px(y), px(to - 4.0));
                (arrow(ndim - 1, &path, (to, y), Head::Right))
                (label(ndim - 1, to + 5.0, y + 3.5, "start", &step(ndim - 1)))
            }
            @if self.has_row_arrow() {
                @let (from, to) = (top + height / 2.0, top + height * 1.5);
                @let path = format!("M{},{} V{}", px(x), px(from), px(to - 4.0));
                (arrow(ndim - 2, &path, (x, to), Head::Down))
                (upright(ndim - 2, x - 9.0, to, &step(ndim - 2)))
            }
        }
    }

    fn has_row_arrow(&self) -> bool {
        self.sizes.len() > 1 && self.rows_and_columns().0 > 1
    }

    /// Where matrices begin, below the label of the columns, and below the end of that of the rows,
    /// which is upright.
    fn top(&self) -> f64 {
        if self.has_row_arrow() { 2.0 * ARROW - 4.0 } else { ARROW }
    }

    /// The offsets, row by row.
    fn text(&self) -> String {
        let (rows, columns) = self.rows_and_columns();
        let row = |matrix, row| {
            join((0..columns).filter_map(|column| self.offset(matrix, row, column)), " ")
        };
        let matrix = |matrix| join((0..rows).map(|r| row(matrix, r)), "; ");
        let offsets = join((0..self.matrices()).map(matrix), "; ");
        format!("Offsets in the storage, row by row: {offsets}. {}", self.note())
    }
}

/// Cuts an index off: of the first dimension that has more than two, so that matrices stay whole,
/// or of the longest one.
fn cut(sizes: &mut [usize]) {
    let outer = sizes.len().saturating_sub(2);
    match sizes[..outer].iter().position(|&size| size > 2) {
        Some(dim) => sizes[dim] -= 1,
        None => sizes.iter_mut().max().into_iter().for_each(|size| *size -= 1),
    }
}
