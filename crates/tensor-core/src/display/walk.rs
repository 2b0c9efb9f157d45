//! The elements of a tensor that are printed, in logical order.

use smallvec::SmallVec;

use super::{EDGE_ITEMS, THRESHOLD};
use crate::DimVec;

/// A position among the printed elements of a tensor that is not empty; starts at the first.
///
/// It increments an index instead of recursing over dimensions: a tensor can have more dimensions
/// than the call stack can hold frames.
pub(super) struct Walk<'a> {
    shape: &'a [usize],
    summarise: bool,
    index: DimVec<usize>,
}

/// The move from one printed element to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// The dimension whose index was incremented; those after it restart at 0.
    pub(super) dim: usize,
    /// The number of the new item along `dim` as printed: the dots count as an item.
    pub(super) item: usize,
    /// Whether items were skipped, for which dots are printed.
    pub(super) skipped: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(shape: &'a [usize]) -> Self {
        let summarise = shape.iter().product::<usize>() > THRESHOLD;
        Self { shape, summarise, index: SmallVec::from_elem(0, shape.len()) }
    }

    /// The logical index of the element.
    pub(super) fn index(&self) -> &[usize] {
        &self.index
    }

    /// Moves to the next printed element. From the last one it returns to the first, and the result
    /// is `None`.
    pub(super) fn advance(&mut self) -> Option<Step> {
        for dim in (0..self.shape.len()).rev() {
            let next = self.index[dim] + 1;
            if next < self.shape[dim] {
                return Some(self.step_to(dim, next));
            }
            self.index[dim] = 0;
        }
        None
    }

    fn step_to(&mut self, dim: usize, next: usize) -> Step {
        let hidden = self.hidden(dim);
        let skipped = hidden > 0 && next == EDGE_ITEMS;
        let position = if skipped { next + hidden } else { next };
        self.index[dim] = position;
        let after_dots = hidden > 0 && position >= EDGE_ITEMS;
        let item = if after_dots { position - hidden + 1 } else { position };
        Step { dim, item, skipped }
    }

    /// The number of items of a dimension that dots replace.
    fn hidden(&self, dim: usize) -> usize {
        if self.summarise { self.shape[dim].saturating_sub(2 * EDGE_ITEMS) } else { 0 }
    }
}
