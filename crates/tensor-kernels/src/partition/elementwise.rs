//! Cutting elementwise work.

use super::Divide;
use crate::{
    nest::Loop,
    plan::{ElementwiseWork, LanesBlock as Block},
};

impl<const N: usize> Divide for ElementwiseWork<N> {
    fn halves(&self) -> Option<(Self, Self)> {
        if let Some(at) = self.outer.iter().position(|l| l.len > 1) {
            return self.cut(self.outer[at].len / 2, |work| &mut work.outer[at]);
        }
        let Block { rows, lanes } = self.block;
        let rows = if self.uses_scratch() { rows.min(ALIGN) } else { 1 };
        // Rows that are joined stay whole.
        let at = if self.joins_rows() { lanes } else { lanes.min(ALIGN) };
        let middle = |len: usize, block: usize| (len / 2).next_multiple_of(block.max(1));
        self.cut(middle(self.rows.len, rows), |work| &mut work.rows)
            .or_else(|| self.cut(middle(self.lanes.len, at), |work| &mut work.lanes))
    }

    fn bytes(&self) -> usize {
        let turns: usize = self.outer.iter().map(|l| l.len).product();
        turns * self.rows.len * self.lanes.len * self.widths.iter().sum::<usize>()
    }
}

/// Lanes are cut at multiples of a line of the smallest elements.
const ALIGN: usize = 64;

impl<const N: usize> ElementwiseWork<N> {
    /// The two parts before and after turn `at` of one loop.
    fn cut(&self, at: usize, part: impl Fn(&mut Self) -> &mut Loop<N>) -> Option<(Self, Self)> {
        let (mut first, mut second) = (self.clone(), self.clone());
        let Loop { len, strides } = *part(&mut second);
        if at == 0 || at >= len {
            return None;
        }
        part(&mut first).len = at;
        part(&mut second).len = len - at;
        for (start, stride) in second.starts.iter_mut().zip(strides) {
            *start += stride * at as isize;
        }
        Some((first, second))
    }
}
