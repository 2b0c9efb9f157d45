//! Tensors as text, character for character what PyTorch's `str(tensor)` gives with its default
//! print options.
//!
//! Input: a shape and a function that reads one element. The text is made in three steps:
//!
//! 1. [`walk`] selects the elements to print: all of them, or the edge items of every dimension of
//!    a large tensor. No other element is read.
//! 2. [`Column::fit`] chooses the notation and the width that all of these elements share.
//! 3. [`page`] writes the elements between brackets, breaks lines and appends the shape and dtype
//!    where the elements do not show them.
//!
//! A summary shortens only dimensions longer than six. PyTorch prints a large tensor of many short
//! dimensions in full, at any length. Here the text ends after [`cell_limit`] elements, with dots
//! and a note of their number.

#[cfg(feature = "complex")]
mod complex;
mod number;
mod page;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};

use crate::{DType, Scalar};
use page::{Frame, Page};
use walk::Walk;

/// Digits after the decimal point (PyTorch: `precision`).
const PRECISION: usize = 4;
/// A tensor of more elements is summarised (PyTorch: `threshold`).
const THRESHOLD: usize = 1000;
/// How many items a summary keeps at either end of a dimension (PyTorch: `edgeitems`).
const EDGE_ITEMS: usize = 3;
/// The length that lines are broken at (PyTorch: `linewidth`).
const LINE_WIDTH: usize = 80;

/// The number of elements after which the text ends: 65,536 up to rank 16. Above, the product of
/// elements and rank is constant, because every element can need as many brackets and spaces as
/// there are dimensions.
fn cell_limit(ndim: usize) -> usize {
    ((1 << 20) / ndim.max(16)).max(1)
}

/// An element type that can be printed.
pub trait Show: Copy {
    /// How the elements of one tensor are printed.
    type Column: Column<Self>;
}

/// The notation and width that all printed elements of one tensor share (PyTorch: `_Formatter`).
pub trait Column<T>: Sized {
    /// Chooses both for the elements that will be printed.
    fn fit(shown: impl Iterator<Item = T> + Clone) -> Self;

    /// The width in characters that line breaks are computed with; a cell can be wider.
    fn width(&self) -> usize;

    /// One element, padded on the left to the width.
    fn cell(&self, value: T) -> String;
}

macro_rules! show {
    ($($(#[$gate:meta])* $type:ty => $column:ty),* $(,)?) => {
        $($(#[$gate])* impl Show for $type {
            type Column = $column;
        })*
    };
}

show! {
    bool => number::Words,
    u8 => number::Words, u16 => number::Words, u32 => number::Words, u64 => number::Words,
    i8 => number::Words, i16 => number::Words, i32 => number::Words, i64 => number::Words,
    f32 => number::Decimals, f64 => number::Decimals,
    #[cfg(feature = "half")] half::f16 => number::Decimals,
    #[cfg(feature = "half")] half::bf16 => number::Decimals,
    #[cfg(feature = "complex")] num_complex::Complex<f32> => complex::Pairs,
    #[cfg(feature = "complex")] num_complex::Complex<f64> => complex::Pairs,
}

/// Writes a tensor as PyTorch's `str(tensor)`.
///
/// The shape is a layout's: its number of elements fits a `usize`. `at` returns the element at a
/// logical index. It is called once for each printed element and for no other, so a view of any
/// size can be printed.
pub(crate) fn write_tensor<T: Scalar>(
    out: &mut dyn fmt::Write,
    shape: &[usize],
    at: impl Fn(&[usize]) -> T,
) -> fmt::Result {
    let mut page = Page::new(out);
    page.write_str(page::PREFIX)?;
    let end = if shape.contains(&0) {
        page.write_str("[]")?;
        End::All
    } else {
        write_elements(&mut page, shape, cell_limit(shape.len()), at)?
    };
    let suffixes = [size_suffix(shape, end), dtype_suffix(shape, T::DTYPE), end_suffix(shape, end)];
    page.finish(suffixes.into_iter().flatten())
}

/// Whether all selected elements are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    All,
    /// The text ends after this number of elements, at the limit.
    Cut(usize),
}

fn write_elements<T: Show>(
    page: &mut Page<'_>,
    shape: &[usize],
    limit: usize,
    at: impl Fn(&[usize]) -> T,
) -> Result<End, fmt::Error> {
    let shown = read_shown(shape, limit, at);
    let column = T::Column::fit(shown.iter().copied());
    let mut frame = Frame::open(page, shape.len(), column.width())?;
    let mut walk = Walk::new(shape);
    for (count, &value) in (1..).zip(&shown) {
        frame.write_cell(&column.cell(value))?;
        match walk.advance() {
            Some(step) if count == shown.len() => {
                frame.cut(step)?;
                return Ok(End::Cut(count));
            }
            Some(step) => frame.write_between(step)?,
            None => {}
        }
    }
    frame.close()?;
    Ok(End::All)
}

fn read_shown<T>(shape: &[usize], limit: usize, at: impl Fn(&[usize]) -> T) -> Vec<T> {
    let mut walk = Walk::new(shape);
    let mut shown = vec![at(walk.index())];
    while shown.len() < limit && walk.advance().is_some() {
        shown.push(at(walk.index()));
    }
    shown
}

/// The shape, where the brackets do not show it.
fn size_suffix(shape: &[usize], end: End) -> Option<String> {
    let hidden = end != End::All || (shape.contains(&0) && shape.len() != 1);
    hidden.then(|| {
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        format!("size=({})", sizes.join(", "))
    })
}

/// The number of printed elements, if the text ends before the last one.
fn end_suffix(shape: &[usize], end: End) -> Option<String> {
    match end {
        End::All => None,
        End::Cut(count) => {
            let numel: usize = shape.iter().product();
            Some(format!("first {count} of {numel} elements"))
        }
    }
}

/// The dtype, unless PyTorch infers it from the text.
fn dtype_suffix(shape: &[usize], dtype: DType) -> Option<String> {
    let inferred = match dtype {
        DType::F32 => true,
        DType::I64 | DType::Bool | DType::C64 => !shape.contains(&0),
        _ => false,
    };
    (!inferred).then(|| format!("dtype={}", dtype.torch_name()))
}
