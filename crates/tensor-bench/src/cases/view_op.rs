//! One view operation as a value. Suite files, command-line options and chains of calls are parsed
//! to it.

use std::fmt;

use tensor_kernels::{Index, Layout, Result, Slice};

use crate::output::render::{join, tuple};

/// A zero-copy operation with its arguments, under PyTorch's name.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewOp {
    /// `view(sizes)`
    View(Vec<isize>),
    /// `permute(dims)`
    Permute(Vec<isize>),
    /// `transpose(d0, d1)`
    Transpose(isize, isize),
    /// `t()`, of at most two dimensions
    T,
    /// `.T`: all dimensions in reverse
    Reverse,
    /// `movedim(from, to)`
    MoveDim(Vec<isize>, Vec<isize>),
    /// `narrow(dim, start, len)`
    Narrow(isize, isize, usize),
    /// `select(dim, index)`
    Select(isize, isize),
    /// A slice of one dimension
    Slice(isize, Slice),
    /// `[…]`
    Index(Vec<Index>),
    /// `flip(dims)`
    Flip(Vec<isize>),
    /// `expand(sizes)`
    Expand(Vec<isize>),
    /// `broadcast_to(shape)`
    BroadcastTo(Vec<usize>),
    /// `unsqueeze(dim)`
    Unsqueeze(isize),
    /// `squeeze()`
    Squeeze,
    /// `squeeze(dim)`
    SqueezeDim(isize),
    /// `flatten(start, end)`
    Flatten(isize, isize),
    /// `unfold(dim, size, step)`
    Unfold(isize, usize, usize),
    /// `diagonal(offset, d0, d1)`
    Diagonal(isize, isize, isize),
    /// `as_strided(shape, strides, offset)`
    AsStrided(Vec<usize>, Vec<isize>, Option<usize>),
}

impl ViewOp {
    /// The layout of the view.
    pub fn apply(&self, layout: &Layout) -> Result<Layout> {
        match self {
            ViewOp::View(sizes) => layout.view(sizes),
            ViewOp::Permute(dims) => layout.permute(dims),
            ViewOp::Transpose(d0, d1) => layout.transpose(*d0, *d1),
            ViewOp::T => layout.t(),
            ViewOp::Reverse => {
                layout.permute((0..layout.ndim() as isize).rev().collect::<Vec<_>>())
            }
            ViewOp::MoveDim(from, to) => layout.movedim(from, to),
            ViewOp::Narrow(dim, start, len) => layout.narrow(*dim, *start, *len),
            ViewOp::Select(dim, index) => layout.select(*dim, *index),
            ViewOp::Slice(dim, slice) => layout.slice(*dim, *slice),
            ViewOp::Index(indices) => layout.index(indices),
            ViewOp::Flip(dims) => layout.flip(dims),
            ViewOp::Expand(sizes) => layout.expand(sizes),
            ViewOp::BroadcastTo(shape) => layout.broadcast_to(shape),
            ViewOp::Unsqueeze(dim) => layout.unsqueeze(*dim),
            ViewOp::Squeeze => layout.squeeze(),
            ViewOp::SqueezeDim(dim) => layout.squeeze_dim(*dim),
            ViewOp::Flatten(start, end) => layout.flatten(*start, *end),
            ViewOp::Unfold(dim, size, step) => layout.unfold(*dim, *size, *step),
            ViewOp::Diagonal(offset, d0, d1) => layout.diagonal(*offset, *d0, *d1),
            ViewOp::AsStrided(shape, strides, offset) => layout.as_strided(shape, strides, *offset),
        }
    }
}

/// Applies operations one after the other.
pub fn apply_all(ops: &[ViewOp], base: Layout) -> Result<Layout> {
    ops.iter().try_fold(base, |layout, op| op.apply(&layout))
}

impl fmt::Display for ViewOp {
    /// As a call in a chain: `.permute(2, 0, 1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewOp::View(sizes) => write!(f, ".view{}", tuple(sizes)),
            ViewOp::Permute(dims) => write!(f, ".permute{}", tuple(dims)),
            ViewOp::Transpose(d0, d1) => write!(f, ".transpose({d0}, {d1})"),
            ViewOp::T => f.write_str(".t()"),
            ViewOp::Reverse => f.write_str(".T"),
            ViewOp::MoveDim(from, to) => write!(f, ".movedim({}, {})", tuple(from), tuple(to)),
            ViewOp::Narrow(dim, start, len) => write!(f, ".narrow({dim}, {start}, {len})"),
            ViewOp::Select(dim, index) => write!(f, ".select({dim}, {index})"),
            ViewOp::Slice(dim, slice) => write!(f, ".slice({dim}, {})", slice_text(slice)),
            ViewOp::Index(indices) => write!(f, "[{}]", join(indices.iter().map(index_text), ", ")),
            ViewOp::Flip(dims) => write!(f, ".flip{}", tuple(dims)),
            ViewOp::Expand(sizes) => write!(f, ".expand{}", tuple(sizes)),
            ViewOp::BroadcastTo(shape) => write!(f, ".broadcast_to({})", tuple(shape)),
            ViewOp::Unsqueeze(dim) => write!(f, ".unsqueeze({dim})"),
            ViewOp::Squeeze => f.write_str(".squeeze()"),
            ViewOp::SqueezeDim(dim) => write!(f, ".squeeze({dim})"),
            ViewOp::Flatten(start, end) => write!(f, ".flatten({start}, {end})"),
            ViewOp::Unfold(dim, size, step) => write!(f, ".unfold({dim}, {size}, {step})"),
            ViewOp::Diagonal(offset, d0, d1) => write!(f, ".diagonal({offset}, {d0}, {d1})"),
            ViewOp::AsStrided(shape, strides, offset) => {
                let offset = offset.map_or(String::new(), |offset| format!(", {offset}"));
                write!(f, ".as_strided({}, {}{offset})", tuple(shape), tuple(strides))
            }
        }
    }
}

fn index_text(index: &Index) -> String {
    match index {
        Index::At(at) => at.to_string(),
        Index::Slice(slice) => slice_text(slice),
        Index::NewAxis => "None".to_owned(),
        Index::Ellipsis => "...".to_owned(),
    }
}

fn slice_text(slice: &Slice) -> String {
    let bound = |bound: Option<isize>| bound.map_or(String::new(), |b| b.to_string());
    let step = if slice.step == 1 { String::new() } else { format!(":{}", slice.step) };
    format!("{}:{}{step}", bound(slice.start), bound(slice.end))
}
