//! Scratch for blocks of elementwise operations and reductions, cut into areas.

use std::marker::PhantomData;

use super::{Scratch, ScratchRows};
use crate::plan::Area;

impl Scratch<'_> {
    /// The same memory for a shorter time.
    pub(in crate::run) fn reborrow(&mut self) -> Scratch<'_> {
        Scratch { life: PhantomData, ..*self }
    }

    /// The rows of an operand's area.
    ///
    /// # Panics
    /// If the area is not within the scratch.
    #[inline]
    pub(in crate::run) fn area(&mut self, area: Area) -> ScratchRows<'_> {
        self.rows(area.start, (area.rows, area.row_bytes), area.pitch)
    }
}

impl ScratchRows<'_> {
    /// Bytes from one row to the next.
    #[inline]
    pub(in crate::run) fn pitch(&self) -> usize {
        self.pitch
    }
}
