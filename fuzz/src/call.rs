//! A transform of a layout with its arguments, valid or not.

use libfuzzer_sys::arbitrary::{self, Unstructured};
use tensor_kernels::{Layout, Result, Slice};

use crate::{
    LIMIT, draw,
    index::{self, Item},
};

/// One call. The arguments are not validated.
#[derive(Clone, Debug)]
pub enum Call {
    Transpose(isize, isize),
    T,
    Permute(Vec<isize>),
    MoveDim(Vec<isize>, Vec<isize>),
    Flip(Vec<isize>),
    Narrow(isize, isize, usize),
    Select(isize, isize),
    Slice(isize, Slice),
    Index(Vec<Item>),
    Unsqueeze(isize),
    Squeeze,
    SqueezeDim(isize),
    Expand(Vec<isize>),
    BroadcastTo(Vec<usize>),
    Diagonal(isize, isize, isize),
    Unfold(isize, usize, usize),
    View(Vec<isize>),
    Flatten(isize, isize),
    Unflatten(isize, Vec<isize>),
    AsStrided(Vec<usize>, Vec<isize>, Option<usize>),
    /// The size of the parts, the dimension, and which part is the result.
    Split(usize, isize, usize),
    /// The number of parts, the dimension, and which part is the result.
    Chunk(usize, isize, usize),
    /// The dimension, and the index that is the result.
    Unbind(isize, usize),
}

impl Call {
    /// A call that is mostly valid for a layout.
    ///
    /// # Errors
    /// Only those of `arbitrary`.
    pub fn draw(u: &mut Unstructured<'_>, layout: &Layout) -> arbitrary::Result<Call> {
        let rank = layout.ndim();
        Ok(match u.int_in_range(0..=22)? {
            0 => Call::Transpose(draw::dim(u, rank)?, draw::dim(u, rank)?),
            1 => Call::T,
            2 => Call::Permute(draw::order(u, rank)?),
            3 => {
                let count = u.int_in_range(0..=rank)?;
                let mut dims = [draw::order(u, rank)?, draw::order(u, rank)?];
                dims.iter_mut().for_each(|dims| dims.truncate(count));
                let [from, to] = dims;
                Call::MoveDim(from, to)
            }
            4 => {
                let mut dims = draw::order(u, rank)?;
                dims.truncate(u.int_in_range(0..=rank)?);
                Call::Flip(dims)
            }
            5 => Call::Narrow(draw::dim(u, rank)?, draw::number(u)?, draw::size(u)?),
            6 => Call::Select(draw::dim(u, rank)?, draw::number(u)?),
            7 => Call::Slice(draw::dim(u, rank)?, draw::slice(u)?),
            8 => Call::Index(index::tuple(u, rank)?),
            9 => Call::Unsqueeze(draw::dim(u, rank + 1)?),
            10 => Call::Squeeze,
            11 => Call::SqueezeDim(draw::dim(u, rank)?),
            12 => Call::Expand(draw::expanded(u, layout.shape())?),
            13 => {
                let sizes = draw::expanded(u, layout.shape())?;
                Call::BroadcastTo(sizes.into_iter().map(|size| size as usize).collect())
            }
            14 => Call::Diagonal(draw::number(u)?, draw::dim(u, rank)?, draw::dim(u, rank)?),
            15 => Call::Unfold(draw::dim(u, rank)?, draw::size(u)?, draw::size(u)?),
            16 => Call::View(draw::sizes(u, layout.numel())?),
            17 => Call::Flatten(draw::dim(u, rank)?, draw::dim(u, rank)?),
            18 => {
                let dim = draw::dim(u, rank)?;
                let own = usize::try_from(dim).ok().and_then(|dim| layout.shape().get(dim));
                Call::Unflatten(dim, draw::sizes(u, own.copied().unwrap_or(6))?)
            }
            19 => {
                let (shape, strides, offset) = draw::small(u)?;
                Call::AsStrided(shape, strides, if u.arbitrary()? { Some(offset) } else { None })
            }
            // The list of all parts is allocated, so the dimension must not be huge.
            _ if layout.shape().iter().any(|&size| size > LIMIT) => Call::Squeeze,
            20 => Call::Split(u.int_in_range(0..=8)?, draw::dim(u, rank)?, draw::size(u)?),
            21 => Call::Chunk(u.int_in_range(0..=8)?, draw::dim(u, rank)?, draw::size(u)?),
            _ => Call::Unbind(draw::dim(u, rank)?, draw::size(u)?),
        })
    }

    /// Makes the call. If it returns an empty list, the result is the layout itself.
    ///
    /// # Errors
    /// The library's error.
    pub fn apply(&self, layout: &Layout) -> Result<Layout> {
        let one_of = |parts: Vec<Layout>, which: usize| match parts.len() {
            0 => layout.clone(),
            len => parts[which % len].clone(),
        };
        match self {
            Call::Transpose(a, b) => layout.transpose(*a, *b),
            Call::T => layout.t(),
            Call::Permute(dims) => layout.permute(dims),
            Call::MoveDim(from, to) => layout.movedim(from, to),
            Call::Flip(dims) => layout.flip(dims),
            Call::Narrow(dim, start, len) => layout.narrow(*dim, *start, *len),
            Call::Select(dim, at) => layout.select(*dim, *at),
            Call::Slice(dim, slice) => layout.slice(*dim, *slice),
            Call::Index(items) => layout.index(&index::as_given(items)),
            Call::Unsqueeze(dim) => layout.unsqueeze(*dim),
            Call::Squeeze => layout.squeeze(),
            Call::SqueezeDim(dim) => layout.squeeze_dim(*dim),
            Call::Expand(sizes) => layout.expand(sizes),
            Call::BroadcastTo(shape) => layout.broadcast_to(shape),
            Call::Diagonal(offset, a, b) => layout.diagonal(*offset, *a, *b),
            Call::Unfold(dim, size, step) => layout.unfold(*dim, *size, *step),
            Call::View(sizes) => layout.view(sizes),
            Call::Flatten(start, end) => layout.flatten(*start, *end),
            Call::Unflatten(dim, sizes) => layout.unflatten(*dim, sizes),
            Call::AsStrided(shape, strides, offset) => layout.as_strided(shape, strides, *offset),
            Call::Split(size, dim, which) => Ok(one_of(layout.split(*size, *dim)?, *which)),
            Call::Chunk(count, dim, which) => Ok(one_of(layout.chunk(*count, *dim)?, *which)),
            Call::Unbind(dim, which) => Ok(one_of(layout.unbind(*dim)?, *which)),
        }
    }

    /// Whether the result can reach elements that the layout does not reach.
    pub fn leaves_the_view(&self) -> bool {
        matches!(self, Call::AsStrided(..))
    }
}
