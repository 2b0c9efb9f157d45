//! Cuts elementwise operations.

use super::{Axes, Axis, CUT_ALIGNMENT_ELEMENTS, Divisible};
use crate::{nest::Loop, plan::ElementwiseWork};

impl<const N: usize> Divisible for ElementwiseWork<N> {
    /// The outer loops, the rows, the columns. Short rows that are packed into one stay whole. Work
    /// of several tiles is cut between them, that of a single one anywhere.
    fn axes(&self) -> Axes {
        if let Some(tile) = &self.tile {
            let tiles = self.outer.iter().zip(&tile.counts);
            let is_one_tile = tiles.clone().all(|(l, &count)| l.len <= count);
            let multiple = |count| if is_one_tile { 1 } else { count };
            return tiles.map(|(l, &count)| Axis::at_multiples(l.len, multiple(count))).collect();
        }
        let mut axes: Axes = self.outer.iter().map(|l| Axis::anywhere(l.len)).collect();
        let packs_rows = self.block.access().iter().any(|access| access.packs_rows());
        let rows = if self.block.uses_scratch() {
            self.block.rows().min(CUT_ALIGNMENT_ELEMENTS)
        } else {
            1
        };
        axes.push(Axis::at_multiples(self.rows.len, rows));
        let width = self.widths[0];
        axes.push(match self.columns.len {
            len if packs_rows => Axis::at_multiples(len, len),
            len if self.columns.strides[0] == 1 => {
                Axis::adjacent(len, self.starts[0].wrapping_mul(width as isize), width)
            }
            len => Axis::at_multiples(len, CUT_ALIGNMENT_ELEMENTS),
        });
        axes
    }

    fn part(&self, axis: usize, start: usize, len: usize) -> Self {
        let mut part = self.clone();
        let l = part.loop_mut(axis);
        l.len = len;
        let strides = l.strides;
        for (first, stride) in part.starts.iter_mut().zip(strides) {
            *first += stride * start as isize;
        }
        part
    }

    fn bytes(&self) -> usize {
        // Saturates, as operands that are only explained may exceed the address space.
        let loops = self.outer.iter().chain([&self.rows, &self.columns]);
        loops.fold(self.widths.iter().sum(), |bytes: usize, l| bytes.saturating_mul(l.len))
    }
}

impl<const N: usize> ElementwiseWork<N> {
    /// A loop of [`axes`](Divisible::axes).
    fn loop_mut(&mut self, axis: usize) -> &mut Loop<N> {
        match axis.checked_sub(self.outer.len()) {
            None => &mut self.outer[axis],
            Some(0) => &mut self.rows,
            Some(_) => &mut self.columns,
        }
    }
}
