//! The operations of `views.jsonl`, as recorded and as calls.

use serde::Deserialize;
use tensor_kernels::{Index, MemoryFormat, Slice, Tensor, TensorExt};

/// Any error. A negative size is an error before the call.
pub(crate) type Refusal = Box<dyn std::error::Error>;

/// An operation with its arguments: `{"op": "select", "args": [0, -1]}`.
#[derive(Deserialize, Debug)]
#[serde(tag = "op", content = "args", rename_all = "snake_case")]
pub(crate) enum Operation {
    Transpose(isize, isize),
    Permute([Vec<isize>; 1]),
    Narrow(isize, isize, isize),
    Select(isize, isize),
    Slice(isize, Option<isize>, Option<isize>, Option<isize>),
    Unsqueeze([isize; 1]),
    Squeeze(),
    SqueezeDim([isize; 1]),
    Expand([Vec<isize>; 1]),
    BroadcastTo([Vec<isize>; 1]),
    View([Vec<isize>; 1]),
    Reshape([Vec<isize>; 1]),
    Flatten(isize, isize),
    Unflatten(isize, Vec<isize>),
    T(),
    Movedim(isize, isize),
    Diagonal(isize, isize, isize),
    Unfold(isize, isize, isize),
    Flip([Vec<isize>; 1]),
    Repeat([Vec<isize>; 1]),
    Contiguous(),
    ContiguousChannelsLast(),
    AsStrided(Vec<isize>, Vec<isize>, Option<isize>),
    Index([Vec<Item>; 1]),
    Chunk(isize, isize, usize),
    Split(isize, isize, usize),
}

/// An entry of an index tuple: an integer, `[start, end, step]`, or `"newaxis"` or `"..."`.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
pub(crate) enum Item {
    At(isize),
    Slice(Option<isize>, Option<isize>, Option<isize>),
    Named(Named),
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Named {
    NewAxis,
    #[serde(rename = "...")]
    Ellipsis,
}

impl From<&Item> for Index {
    fn from(item: &Item) -> Self {
        match *item {
            Item::At(index) => Index::At(index),
            Item::Slice(start, end, step) => Index::Slice(slice(start, end, step)),
            Item::Named(Named::NewAxis) => Index::NewAxis,
            Item::Named(Named::Ellipsis) => Index::Ellipsis,
        }
    }
}

impl Operation {
    pub(crate) fn apply(&self, t: &Tensor<i64>) -> Result<Tensor<i64>, Refusal> {
        Ok(match self {
            Self::Transpose(d0, d1) => t.transpose(*d0, *d1)?,
            Self::Permute([dims]) => t.permute(dims)?,
            Self::Narrow(dim, start, len) => t.narrow(*dim, *start, size(*len)?)?,
            Self::Select(dim, index) => t.select(*dim, *index)?,
            Self::Slice(dim, start, end, step) => t.slice(*dim, slice(*start, *end, *step))?,
            Self::Unsqueeze([dim]) => t.unsqueeze(*dim)?,
            Self::Squeeze() => t.squeeze()?,
            Self::SqueezeDim([dim]) => t.squeeze_dim(*dim)?,
            Self::Expand([target]) => t.expand(target)?,
            Self::BroadcastTo([target]) => t.broadcast_to(&sizes(target)?)?,
            Self::View([target]) => t.view(target)?,
            Self::Reshape([target]) => t.reshape(target)?.into_tensor(),
            Self::Flatten(start, end) => t.flattened(*start, *end)?.into_tensor(),
            Self::Unflatten(dim, target) => t.unflatten(*dim, target)?,
            Self::T() => t.t()?,
            Self::Movedim(from, to) => t.movedim([*from], [*to])?,
            Self::Diagonal(offset, d0, d1) => t.diagonal(*offset, *d0, *d1)?,
            Self::Unfold(dim, window, step) => t.unfold(*dim, size(*window)?, size(*step)?)?,
            Self::Flip([dims]) => t.flip(dims)?,
            Self::Repeat([times]) => t.repeat(&sizes(times)?)?,
            Self::Contiguous() => t.contiguous()?,
            Self::ContiguousChannelsLast() => t.to_contiguous(MemoryFormat::ChannelsLast)?,
            Self::AsStrided(shape, strides, offset) => {
                t.as_strided(&sizes(shape)?, strides, offset.map(size).transpose()?)?
            }
            Self::Index([items]) => t.index(&items.iter().map(Index::from).collect::<Vec<_>>())?,
            Self::Chunk(chunks, dim, which) => piece(t.chunk(size(*chunks)?, *dim)?, *which)?,
            Self::Split(length, dim, which) => piece(t.split(size(*length)?, *dim)?, *which)?,
        })
    }
}

fn slice(start: Option<isize>, end: Option<isize>, step: Option<isize>) -> Slice {
    Slice::new(start, end, step.unwrap_or(1))
}

fn size(number: isize) -> Result<usize, Refusal> {
    usize::try_from(number).map_err(|_| format!("{number} is no size").into())
}

fn sizes(numbers: &[isize]) -> Result<Vec<usize>, Refusal> {
    numbers.iter().copied().map(size).collect()
}

fn piece(pieces: Vec<Tensor<i64>>, which: usize) -> Result<Tensor<i64>, Refusal> {
    pieces.into_iter().nth(which).ok_or_else(|| format!("there is no piece {which}").into())
}
