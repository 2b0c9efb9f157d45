//! Groups of neighbouring dimensions that are equivalent to one dimension.
//!
//! A view exists if no new dimension spans two groups, and a layout is contiguous if there is one
//! group of stride 1. `reform` computes strides from groups, `why` explains refusals by them.

use std::{fmt, ops::Range};

use super::{Layout, saturating_stride};

/// Neighbouring dimensions that are contiguous among themselves: they are equivalent to one
/// dimension of [`numel`](Self::numel) elements, [`stride`](Self::stride) apart.
///
/// ```
/// # use tensor_core::Layout;
/// let block = Layout::contiguous(&[4, 6, 8])?.narrow(1, 0, 3)?;
/// let why = block.why_not_contiguous().expect("there are gaps");
/// let groups: Vec<_> = why.groups().iter().map(|g| (g.dims(), g.numel(), g.stride())).collect();
/// assert_eq!(groups, [(0..1, 4, 48), (1..3, 24, 1)]);
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DimGroup {
    dims: Range<usize>,
    numel: usize,
    stride: isize,
}

impl DimGroup {
    /// The dimensions. One of size 1 belongs to the group on either side of it.
    pub fn dims(&self) -> Range<usize> {
        self.dims.clone()
    }

    /// The product of their sizes.
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// The distance of logical neighbours within the group, in elements.
    pub fn stride(&self) -> isize {
        self.stride
    }
}

/// `dim 0` or `dims 1 to 2`.
impl fmt::Display for DimGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.dims.start, self.dims.end.saturating_sub(1));
        match first < last {
            true => write!(f, "dims {first} to {last}"),
            false => write!(f, "dim {first}"),
        }
    }
}

/// Dimensions from `start` on that are equivalent to one of size `count` and this stride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) stride: isize,
    pub(super) count: usize,
}

impl Chunk {
    /// The stride with which the dimension before would belong to it.
    pub(super) fn stride_before(&self) -> isize {
        saturating_stride(self.count, self.stride)
    }
}

/// A dimension of a requested shape that spans a chunk and the dimension before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) chunk: Chunk,
    pub(super) target_dim: usize,
}

impl Layout {
    /// The longest sequence of dimensions before `end` that can be merged to one.
    pub(super) fn chunk_before(&self, end: usize) -> Chunk {
        let (mut start, stride, mut count) = (end - 1, self.strides[end - 1], self.shape[end - 1]);
        while start > 0 && self.adjoins(start - 1, count, stride) {
            start -= 1;
            count *= self.shape[start];
        }
        Chunk { start, stride, count }
    }

    fn adjoins(&self, d: usize, count: usize, stride: isize) -> bool {
        self.shape[d] == 1 || stride.checked_mul(count as isize) == Some(self.strides[d])
    }

    /// All dimensions in groups. The layout has elements.
    pub(super) fn groups(&self) -> Vec<DimGroup> {
        let (mut groups, mut end) = (Vec::new(), self.ndim());
        while end > 0 {
            // A last dimension of size 1 has a stride that says nothing.
            let last = (0..end).rev().find(|&d| self.shape[d] != 1).unwrap_or(0);
            let Chunk { start, stride, count } = self.chunk_before(last + 1);
            groups.push(DimGroup { dims: start..end, numel: count, stride });
            end = start;
        }
        groups.reverse();
        groups
    }
}
