//! Which elements of a tensor are printed, in the order in which they are.

use smallvec::SmallVec;

use super::{EDGE_ITEMS, THRESHOLD};
use crate::DimVec;

/// A position among the printed elements of a tensor that has any; begins at the first.
///
/// An odometer rather than a recursion: a tensor may have more dimensions than the call stack has
/// room for.
pub(super) struct Walk<'a> {
    shape: &'a [usize],
    summarise: bool,
    index: DimVec<usize>,
}

/// One move from a printed element to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// The outermost dimension that it moved along; the dimensions behind start again.
    pub(super) dim: usize,
    /// The number of the item it came to, counted along `dim` as printed: the dots are an item too.
    pub(super) item: usize,
    /// It passed over items; dots stand for them.
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

    /// Moves on to the next printed element; from the last one back to the first, which is no step.
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
        let behind_dots = hidden > 0 && position >= EDGE_ITEMS;
        let item = if behind_dots { position - hidden + 1 } else { position };
        Step { dim, item, skipped }
    }

    /// How many items of a dimension the dots stand for.
    fn hidden(&self, dim: usize) -> usize {
        if self.summarise { self.shape[dim].saturating_sub(2 * EDGE_ITEMS) } else { 0 }
    }
}
