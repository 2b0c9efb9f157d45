//! The steps of a permutation with the plans of their copies.

use super::{rotate::Rotation, staged::Staged, swap};
use crate::{
    exec::Exec,
    plan::in_place::{Step, steps},
};

/// A permutation that can be run on any memory of its size.
pub(super) struct Prepared {
    steps: Vec<PreparedStep>,
    scratch_bytes: usize,
}

enum PreparedStep {
    Swap { len: usize, between: usize, item: usize },
    Staged(Box<Staged>),
    Rotate(Box<Rotation>),
}

impl Prepared {
    /// For items of `item` bytes, of which there are some.
    pub(super) fn new(shape: &[usize], dims: &[usize], item: usize) -> Self {
        let steps = steps(shape, dims, item);
        let scratch_bytes = steps.iter().map(Step::scratch_bytes).max().unwrap_or(0);
        let bytes = shape.iter().product::<usize>() * item;
        let steps = steps.iter().map(|step| PreparedStep::new(step, bytes)).collect();
        Self { steps, scratch_bytes }
    }

    pub(super) fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }

    /// Does it copy by plans, or through scratch?
    pub(super) fn has_plans(&self) -> bool {
        !self.steps.iter().all(|step| matches!(step, PreparedStep::Swap { .. }))
    }

    /// Permutes the memory. The scratch has at least as many bytes as asked for.
    pub(super) fn run(&self, exec: &Exec, memory: &mut [u8], scratch: &mut [u8]) {
        for step in &self.steps {
            match step {
                &PreparedStep::Swap { len, between, item } => {
                    swap::swap(exec.simd(), memory, len, between, item);
                }
                PreparedStep::Staged(staged) => staged.run(exec, memory, scratch),
                PreparedStep::Rotate(rotation) => {
                    for part in memory.chunks_exact_mut(rotation.bytes()) {
                        rotation.run(exec, part, scratch);
                    }
                }
            }
        }
    }
}

impl PreparedStep {
    /// A step of a permutation of an array of `bytes` bytes.
    fn new(step: &Step, bytes: usize) -> Self {
        match step {
            &Step::Swap { len, between, item } => Self::Swap { len, between, item },
            Step::Staged { sizes, dims, item, together } => {
                Self::Staged(Box::new(Staged::new((sizes, dims), *item, *together, bytes)))
            }
            &Step::Rotate { m, n, item, blocks } => {
                Self::Rotate(Box::new(Rotation::new((m, n), item, blocks)))
            }
        }
    }
}
