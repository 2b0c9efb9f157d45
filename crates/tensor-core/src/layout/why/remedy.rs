//! The ways out of a refused view, and of a layout that is not contiguous.
//!
//! Source and target shape correspond in *segments*: runs of source dimensions and of target
//! dimensions with the same number of elements, as short as possible. A view of the whole exists if
//! one exists of every segment. Only the dimensions of the other segments have to be copied
//! together; a dimension outside of them that repeats its elements (stride 0) need not be copied at
//! all.

use std::ops::Range;

use super::super::{Layout, groups::DimGroup};
use crate::{DimVec, Result, sort::sort_by_key};

/// A way to the shape that was asked for, or to one like it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// A view of another shape: the wanted sizes, split where they would span two groups of
    /// dimensions. The same elements in the same order; nothing is copied.
    View {
        /// The shape.
        shape: Vec<usize>,
    },
    /// `permute`, then `view`: the elements in the order of memory, which is another order. Nothing
    /// is copied.
    Permute {
        /// The dimensions in the order of memory, the slowest first.
        dims: Vec<usize>,
        /// The shape of the view after it, if one is needed.
        shape: Option<Vec<usize>>,
    },
    /// A copy of some dimensions only. The others repeat their elements with stride 0 and go on
    /// doing so, or there is one block for each of their indices, which can be copied one at a
    /// time.
    CopyBlock {
        /// The dimensions of a block.
        dims: Vec<usize>,
        /// The shape that it is a part of.
        source: Vec<usize>,
        /// The dimensions that repeat their elements with stride 0, if they are not of a block.
        repeated: Vec<usize>,
        /// What a contiguous copy of a block is viewed as.
        block_shape: Vec<usize>,
        /// The number of blocks.
        blocks: usize,
        /// The shape of the whole.
        shape: Vec<usize>,
    },
    /// A contiguous copy of all elements (PyTorch: `contiguous`, `reshape`).
    CopyAll {
        /// The shape of the view after it, if one is needed.
        shape: Option<Vec<usize>>,
    },
}

impl Remedy {
    /// The layout that it gives. Of a copy it is the layout over new memory, which has the elements
    /// of [`copied`](Self::copied) in row-major order.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, Remedy};
    ///
    /// // 100 times the transpose of one 3 x 4 matrix: 12 elements are copied, not 1200.
    /// let batch = Layout::contiguous(&[3, 4])?.t()?.expand(&[100, 4, 3])?;
    /// let why = batch.why_not_view(&[100, 12])?.expect("12 spans two dimensions");
    /// let copy = &why.remedies()[1];
    /// assert!(matches!(copy, Remedy::CopyBlock { blocks: 1, .. }));
    /// assert_eq!(copy.copied(&batch)?.numel(), 12);
    /// assert_eq!(copy.apply(&batch)?, Layout::new(&[100, 12], &[0, 1], 0)?);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`permute`](Layout::permute) and [`view`](Layout::view), for another layout than
    /// the one that was asked about.
    pub fn apply(&self, layout: &Layout) -> Result<Layout> {
        match self {
            Self::View { shape } => layout.view(signed(shape)),
            Self::Permute { dims, shape } => viewed(layout.permute(signed(dims))?, shape),
            Self::CopyBlock { dims, shape, .. } => {
                let dense = Layout::contiguous(copied_part(layout, dims)?.shape())?;
                dense.broadcast_to(layout.shape())?.view(signed(shape))
            }
            Self::CopyAll { shape } => viewed(Layout::contiguous(layout.shape())?, shape),
        }
    }

    /// The part of the layout that is copied: without elements if nothing is.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn copied(&self, layout: &Layout) -> Result<Layout> {
        match self {
            Self::View { .. } | Self::Permute { .. } => Layout::contiguous([0]),
            Self::CopyBlock { dims, .. } => copied_part(layout, dims),
            Self::CopyAll { .. } => Ok(layout.clone()),
        }
    }
}

fn viewed(layout: Layout, shape: &Option<Vec<usize>>) -> Result<Layout> {
    match shape {
        Some(shape) => layout.view(signed(shape)),
        None => Ok(layout),
    }
}

fn signed(sizes: &[usize]) -> DimVec<isize> {
    sizes.iter().map(|&size| isize::try_from(size).unwrap_or(isize::MAX)).collect()
}

/// One index of every dimension outside of `block` that repeats its elements.
fn copied_part(layout: &Layout, block: &[usize]) -> Result<Layout> {
    let repeated = repeated(layout, block);
    let sizes = layout.shape.iter().enumerate();
    let shape = sizes.map(|(d, &size)| if repeated.contains(&d) { 1 } else { size }).collect();
    Layout::checked(shape, layout.strides.clone(), layout.offset)
}

/// The dimensions outside of `block` that repeat their elements.
fn repeated(layout: &Layout, block: &[usize]) -> Vec<usize> {
    let repeats = |&d: &usize| layout.strides[d] == 0 && !block.contains(&d);
    (0..layout.ndim()).filter(repeats).collect()
}

/// The ways out of a refused view, the cheapest first.
pub(super) fn of_view(layout: &Layout, target: &[usize], groups: &[DimGroup]) -> Vec<Remedy> {
    let mut remedies = vec![Remedy::View { shape: split_at_borders(groups, target) }];
    let dims = memory_order(layout);
    let permuted = layout.reordered(&dims);
    if permuted.is_ok_and(|permuted| permuted.view_strides(target).is_ok()) {
        remedies.push(Remedy::Permute { dims: dims.to_vec(), shape: Some(target.to_vec()) });
    }
    remedies.extend(copy_block(layout, target));
    remedies.push(Remedy::CopyAll { shape: Some(target.to_vec()) });
    remedies
}

/// The ways to a contiguous layout, the cheapest first.
pub(super) fn of_contiguity(layout: &Layout) -> Vec<Remedy> {
    let dims = memory_order(layout);
    let is_dense = layout.reordered(&dims).is_ok_and(|permuted| permuted.is_contiguous());
    let permute = is_dense.then(|| Remedy::Permute { dims: dims.to_vec(), shape: None });
    permute.into_iter().chain([Remedy::CopyAll { shape: None }]).collect()
}

/// The dimensions from the slowest to the fastest in memory. Those of size 1 stay where they are.
fn memory_order(layout: &Layout) -> DimVec<usize> {
    let is_wide = |&d: &usize| layout.shape[d] != 1;
    let mut sorted: DimVec<usize> = (0..layout.ndim()).filter(is_wide).collect();
    sort_by_key(&mut sorted, |&d| std::cmp::Reverse(layout.strides[d].unsigned_abs()));
    let mut wide = sorted.into_iter();
    (0..layout.ndim()).map(|d| if is_wide(&d) { wide.next().unwrap_or(d) } else { d }).collect()
}

/// The sizes of a shape, split at the borders of groups. Where a border does not divide a size, the
/// sizes around it are replaced by those of the groups.
fn split_at_borders(groups: &[DimGroup], target: &[usize]) -> Vec<usize> {
    let borders = products(groups.iter().rev().map(DimGroup::numel));
    let fits = |cut: &usize| {
        let below = borders.iter().rev().find(|&border| border <= cut).unwrap_or(&1);
        let above = borders.iter().find(|&border| border >= cut).unwrap_or(cut);
        cut.is_multiple_of(*below) && above.is_multiple_of(*cut)
    };
    let mut cuts: Vec<usize> = products(target.iter().rev().copied());
    cuts.retain(fits);
    let missing: Vec<usize> = borders.iter().copied().filter(|b| !cuts.contains(b)).collect();
    cuts.extend(missing);
    sort_by_key(&mut cuts, |&cut| cut);
    let below = [1].into_iter().chain(cuts.iter().copied());
    let mut sizes: Vec<usize> = cuts.iter().zip(below).map(|(cut, below)| cut / below).collect();
    sizes.reverse();
    sizes
}

/// The products of the first one, the first two, … of the sizes.
fn products(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    sizes
        .scan(1usize, |product, size| {
            *product = product.saturating_mul(size);
            Some(*product)
        })
        .collect()
}

/// A copy of the dimensions whose segments cannot be viewed, unless these are all.
fn copy_block(layout: &Layout, target: &[usize]) -> Option<Remedy> {
    let (mut dims, mut block_shape) = (Vec::new(), Vec::new());
    for (source, wanted) in segments(&layout.shape, target) {
        if !is_viewable(layout, source.clone(), &target[wanted.clone()]) {
            dims.extend(source);
            block_shape.extend_from_slice(&target[wanted]);
        }
    }
    let elements = |dims: &mut dyn Iterator<Item = usize>| -> usize {
        dims.map(|d| layout.shape[d]).product()
    };
    if elements(&mut dims.iter().copied()) == layout.numel {
        return None;
    }
    let is_counted = |&d: &usize| !dims.contains(&d) && layout.strides[d] != 0;
    let blocks = elements(&mut (0..layout.ndim()).filter(is_counted));
    let (source, repeated) = (layout.shape.to_vec(), repeated(layout, &dims));
    Some(Remedy::CopyBlock { dims, source, repeated, block_shape, blocks, shape: target.to_vec() })
}

/// Can the dimensions be viewed as the sizes?
fn is_viewable(layout: &Layout, dims: Range<usize>, sizes: &[usize]) -> bool {
    let (shape, strides) = (&layout.shape[dims.clone()], &layout.strides[dims]);
    let part =
        Layout::checked(DimVec::from_slice(shape), DimVec::from_slice(strides), layout.offset);
    part.is_ok_and(|part| part.view_strides(sizes).is_ok())
}

/// The shortest runs of dimensions of two shapes with equal numbers of elements.
fn segments(source: &[usize], target: &[usize]) -> Vec<(Range<usize>, Range<usize>)> {
    let (mut ends, mut segments) = ((source.len(), target.len()), Vec::new());
    while ends != (0, 0) {
        let ((mut i, mut j), mut numels) = (ends, (1usize, 1usize));
        while (i, j) == ends || numels.0 != numels.1 {
            if i > 0 && (numels.0 <= numels.1 || j == 0) {
                i -= 1;
                numels.0 *= source[i];
            } else {
                j -= 1;
                numels.1 *= target[j];
            }
        }
        segments.push((i..ends.0, j..ends.1));
        ends = (i, j);
    }
    segments.reverse();
    segments
}
