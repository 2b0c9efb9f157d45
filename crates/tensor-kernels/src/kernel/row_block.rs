//! Rows of the operands of an elementwise operation.

/// Rows of elements of `N` operands: the first row of each, and the distance of its rows in bytes.
#[derive(Clone, Copy)]
pub(crate) struct RowBlock<const N: usize> {
    pub(crate) ptrs: [*mut u8; N],
    pub(crate) row_strides: [isize; N],
    /// Is the operand's row one element, used for the whole row?
    pub(crate) is_scalar: [bool; N],
    pub(crate) rows: usize,
    pub(crate) len: usize,
}

impl<const N: usize> RowBlock<N> {
    /// The input that must be repeated in a buffer first, if there are several inputs and all are
    /// scalars: one that is the same in all rows, or else the last one. No loop is compiled for
    /// that combination.
    #[inline]
    pub(crate) fn input_to_repeat(&self) -> Option<usize> {
        let all = N > 2 && self.len > 1 && self.is_scalar[1..].iter().all(|&is_scalar| is_scalar);
        all.then(|| (1..N).find(|&k| self.row_strides[k] == 0).unwrap_or(N - 1))
    }
}
