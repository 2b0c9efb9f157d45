//! The loops of a reduction as they are run: how they are halved, how many accumulators each
//! iteration has, and which loop is cut for threads.

use smallvec::SmallVec;

use crate::{
    nest::Loop,
    plan::{RESULT, ReduceWork, halvings, is_reduced},
    tuning::MIN_SPLIT_COLUMNS,
};

/// A loop, and the accumulators of the loops inside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) l: Loop<3>,
    /// Iterations that are combined in sequence; a reduced loop with more is halved.
    pub(super) leaf: usize,
    /// Accumulators from one iteration to the next; 0 if the loop is reduced.
    pub(super) accumulator_stride: usize,
    /// The accumulators of one iteration.
    pub(super) accumulators: usize,
}

impl Level {
    /// The loop with its strides in the results and in the accumulators.
    pub(super) fn as_kept(&self) -> Loop<2> {
        Loop {
            len: self.l.len,
            strides: [self.l.strides[RESULT], self.accumulator_stride as isize],
        }
    }

    /// How many halves are nested in each other.
    fn halvings(&self) -> usize {
        halvings(&self.l, self.leaf)
    }
}

/// The loops of a task, outermost first. The last two are a block's rows and columns.
#[derive(Clone)]
pub(super) struct Levels(pub(super) SmallVec<[Level; 6]>);

impl Levels {
    pub(super) fn of(work: &ReduceWork) -> Self {
        let (leaves, mut accumulators) = (work.leaves(), 1);
        let mut levels: SmallVec<[Level; 6]> = SmallVec::new();
        for (l, leaf) in work.loops().zip(&leaves) {
            levels.push(Level { l: *l, leaf: leaf.len, accumulator_stride: 0, accumulators: 1 });
        }
        for level in levels.iter_mut().rev() {
            level.accumulators = accumulators;
            if !is_reduced(&level.l) {
                level.accumulator_stride = accumulators;
                accumulators = accumulators.saturating_mul(level.l.len);
            }
        }
        // The columns of a block are halved for all its rows at once.
        let [rows, columns] = [levels.len() - 2, levels.len() - 1];
        if is_reduced(&levels[columns].l) && !is_reduced(&levels[rows].l) {
            levels[columns].accumulators = levels[rows].l.len;
        }
        Self(levels)
    }

    /// The same accumulators for a single row, of fewer columns.
    pub(super) fn of_row(&self, columns: usize) -> Self {
        let mut levels = self.clone();
        let rows = levels.0.len() - 2;
        levels.0[rows].l.len = 1;
        levels.0[rows + 1].l.len = columns;
        levels
    }

    /// The loops around the columns.
    pub(super) fn around_columns(&self) -> &[Level] {
        &self.0[..self.0.len() - 1]
    }

    /// The rows and the columns of a block.
    pub(super) fn block(&self) -> [&Level; 2] {
        let rows = self.0.len() - 2;
        [&self.0[rows], &self.0[rows + 1]]
    }

    pub(super) fn halvings(&self) -> usize {
        self.0.iter().map(Level::halvings).sum()
    }

    /// The outermost of the first `loops` loops that is kept.
    pub(super) fn kept(&self, loops: usize) -> Option<usize> {
        self.0[..loops].iter().position(|level| !is_reduced(&level.l) && level.l.len > 1)
    }

    /// The loop to cut for `tasks` tasks: the outermost of the first `loops` loops that is kept and
    /// long enough. `None` if the reduced loops around it have leaves for as many tasks.
    pub(super) fn to_cut(&self, loops: usize, tasks: usize) -> Option<usize> {
        let columns = self.0.len() - 1;
        let min_len = |at: usize| if at == columns { MIN_SPLIT_COLUMNS } else { 2 };
        let is_splittable =
            |&at: &usize| !is_reduced(&self.0[at].l) && self.0[at].l.len >= min_len(at);
        let at = (0..loops).find(is_splittable)?;
        (self.leaves(at) < tasks).then_some(at)
    }

    /// The number of tasks that the leaves of the reduced loops around loop `at` allow: the leaves
    /// of one loop, times those of the next one if a leaf is a single iteration.
    fn leaves(&self, at: usize) -> usize {
        let mut leaves = 1usize;
        for level in self.0[..at].iter().filter(|level| level.l.len > 1) {
            if !is_reduced(&level.l) {
                break;
            }
            leaves = leaves.saturating_mul(level.l.len.div_ceil(level.leaf));
            if level.leaf > 1 {
                break;
            }
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use tensor_core::{Layout, ReduceDims};

    use super::*;
    use crate::reduction_order::Repeats;
    use crate::reduction_order::Widths;

    /// The loop that is cut for the sum of floats.
    fn cut(shape: &[usize], over: ReduceDims, tasks: usize) -> Option<usize> {
        let input = Layout::contiguous(shape).unwrap();
        let reduced = input.reduced("sum", over).unwrap();
        let result =
            reduced.broadcast_result(&Layout::contiguous(reduced.shape()).unwrap()).unwrap();
        let layouts = [&input, &result, &reduced.zero_layout().unwrap()];
        let widths = Widths { input: 4, output: 4, accumulator: 4 };
        let levels = Levels::of(&ReduceWork::plan(layouts, widths, Repeats::Combined));
        levels.to_cut(levels.0.len(), tasks)
    }

    #[test]
    fn columns_are_cut_where_rows_have_fewer_leaves_than_tasks() {
        assert_eq!(
            [1, 2, 3, 8].map(|tasks| cut(&[300, 4000], 0.into(), tasks)),
            [None, None, Some(1), Some(1)]
        );
        assert_eq!([8, 64].map(|tasks| cut(&[16_384, 4000], 0.into(), tasks)), [None; 2]);
        assert_eq!([2, 8].map(|tasks| cut(&[200, 4000], 0.into(), tasks)), [Some(1); 2]);
        assert_eq!([2, 8].map(|tasks| cut(&[300, 100], 0.into(), tasks)), [None; 2], "too short");
    }

    #[test]
    fn rows_of_other_results_are_cut_before_columns() {
        assert_eq!([2, 8].map(|tasks| cut(&[300, 4000], 1.into(), tasks)), [Some(0); 2]);
        assert_eq!([2, 8].map(|tasks| cut(&[300, 4000], ReduceDims::ALL, tasks)), [None; 2]);
    }
}
