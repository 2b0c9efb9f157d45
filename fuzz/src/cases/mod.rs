//! Cases that are decoded from a fuzzer's bytes without the fuzzer's crates, so that the seeds in
//! `fuzz/corpus` are also replayed by `crates/tensor-kernels/tests/fuzz_seeds.rs`, with a stable
//! compiler.

pub mod bytes;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "in-place")]
pub mod in_place;

/// Numbers that are taken from the front of an input. When it is used up they are 0.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl Input<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below a limit of at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// A small number of either sign.
    pub(crate) fn signed(&mut self) -> isize {
        isize::from(self.byte() as i8)
    }

    /// True for one byte in `count`.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}
