//! Permutations of parts that fit into scratch.

use super::slice_copy::SliceCopy;
use crate::exec::Exec;

/// Each part of the memory is permuted, several of them at a time.
pub(super) struct Staged {
    /// The bytes of the parts that are permuted together.
    bytes: usize,
    together: SliceCopy,
    /// For the parts that remain, which are fewer.
    rest: Option<SliceCopy>,
}

impl Staged {
    /// Parts of these sizes, in items of `item` bytes, are put into the order of `dims`. There are
    /// `all` bytes.
    pub(super) fn new(
        (sizes, dims): (&[usize], &[usize]),
        item: usize,
        together: usize,
        all: usize,
    ) -> Self {
        let part = sizes.iter().product::<usize>() * item;
        let plan = |parts: usize| {
            let sizes: Vec<usize> = [parts].iter().chain(sizes).copied().collect();
            let dims: Vec<usize> = [0].into_iter().chain(dims.iter().map(|&d| d + 1)).collect();
            SliceCopy::permuting(&sizes, &dims, item)
        };
        let rest = all / part % together;
        let bytes = part * together;
        Self { bytes, together: plan(together), rest: (rest > 0).then(|| plan(rest)) }
    }

    pub(super) fn run(&self, exec: &Exec, memory: &mut [u8], scratch: &mut [u8]) {
        let mut run = |copy: &SliceCopy, part: &mut [u8]| {
            let staged = &mut scratch[..part.len()];
            copy.run(exec, part, staged);
            part.copy_from_slice(staged);
        };
        let mut chunks = memory.chunks_exact_mut(self.bytes);
        chunks.by_ref().for_each(|chunk| run(&self.together, chunk));
        if let Some(rest) = &self.rest {
            run(rest, chunks.into_remainder());
        }
    }
}
