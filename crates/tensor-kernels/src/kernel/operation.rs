//! Elementwise operations without their types: what calls the loops of [`elementwise`] does not
//! depend on the function or on the element types, and is compiled once.
//!
//! [`elementwise`]: super::elementwise

use std::marker::PhantomData;

use tensor_core::Element;

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    register_op::RegisterOp,
    row_block::RowBlock,
    strided_rows::StridedRows,
};
use crate::{exec::SimdLevel, memory::CACHE_LINE};

/// An operation with its types erased.
pub(crate) trait Operation<const N: usize>: Sync {
    /// Computes rows of adjacent results.
    ///
    /// # Safety
    /// That of [`Compute::rows`].
    unsafe fn compute(&self, simd: SimdLevel, block: &RowBlock<N>);

    /// Computes elements at any strides, one by one. Only if it [is cheap](Self::is_cheap).
    ///
    /// # Safety
    /// That of [`Compute::strided`].
    unsafe fn compute_strided(&self, simd: SimdLevel, block: &StridedRows<N>);

    /// Does a result take no longer to compute than to load its operands and to store it? An
    /// operation on f32 or f64 by an instruction or two, or a conversion of them.
    fn is_cheap(&self, simd: SimdLevel) -> bool;

    /// Does a result take much longer to compute than to store?
    fn computes_much(&self) -> bool;

    /// Is the function called once for each result, also for results that are equal?
    fn is_counted(&self) -> bool;

    /// Are rows of this length computed in chunks? A chunk is read before it is written, so rows
    /// are computed as fast wherever they lie.
    fn has_chunks(&self, simd: SimdLevel, len: usize) -> bool;

    /// The operation of registers that this is, if there is one: all operands are f32, or all f64.
    fn register_op(&self) -> Option<RegisterOp>;
}

impl<const N: usize, O: Compute<N>> Operation<N> for O {
    unsafe fn compute(&self, simd: SimdLevel, block: &RowBlock<N>) {
        dispatch(simd, RowsKernel { operation: self, block });
    }

    unsafe fn compute_strided(&self, simd: SimdLevel, block: &StridedRows<N>) {
        assert!(O::IS_CHEAP, "a cheap operation");
        dispatch(simd, StridedKernel { operation: self, block });
    }

    fn is_cheap(&self, simd: SimdLevel) -> bool {
        // Without the instruction, a fused product and sum is a call.
        let is_fused = || O::register_op() == Some(RegisterOp::MulAdd);
        O::is_cheap() && (simd != SimdLevel::Scalar || !is_fused())
    }

    fn computes_much(&self) -> bool {
        O::COMPUTES_MUCH
    }

    fn is_counted(&self) -> bool {
        O::IS_COUNTED
    }

    fn has_chunks(&self, simd: SimdLevel, len: usize) -> bool {
        O::has_chunks(len, simd.vector_bytes() == CACHE_LINE)
    }

    fn register_op(&self) -> Option<RegisterOp> {
        O::register_op()
    }
}

/// An operation from and to elements of the types `S`, inputs first: `(A, B, R)`. The code around
/// an operation takes this type, so that it is compiled once per combination of element types, and
/// not once per function.
pub(crate) struct OperationOf<'f, const N: usize, S> {
    operation: &'f dyn Operation<N>,
    types: PhantomData<fn(S)>,
}

impl<'f, const N: usize, S> OperationOf<'f, N, S> {
    #[inline]
    pub(super) fn new(operation: &'f dyn Operation<N>) -> Self {
        Self { operation, types: PhantomData }
    }

    /// Without its types.
    #[inline]
    pub(crate) fn any(self) -> &'f dyn Operation<N> {
        self.operation
    }
}

/// An operation and its rows. Invariant: they meet the contract of [`Compute::rows`].
struct RowsKernel<'a, const N: usize, O> {
    operation: &'a O,
    block: &'a RowBlock<N>,
}

impl<const N: usize, O: Compute<N>> Kernel for RowsKernel<'_, N, O> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        // SAFETY: only `Operation::compute` makes a `RowsKernel`, and its contract is that of
        // `rows`.
        unsafe { self.operation.rows::<I>(self.block) };
    }
}

/// An operation and its elements. Invariant: they meet the contract of [`Compute::strided`].
struct StridedKernel<'a, const N: usize, O> {
    operation: &'a O,
    block: &'a StridedRows<N>,
}

impl<const N: usize, O: Compute<N>> Kernel for StridedKernel<'_, N, O> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        // SAFETY: only `Operation::compute_strided` makes a `StridedKernel`, and its contract is
        // that of `strided`.
        unsafe { self.operation.strided::<I>(self.block) };
    }
}

/// An elementwise operation on rows.
pub(crate) trait Compute<const N: usize>: Sync {
    /// The element type of the result.
    type Output: Element;

    /// Does a result take much longer to compute than to store?
    const COMPUTES_MUCH: bool;

    /// Is the function called once for each result, also for results that are equal?
    const IS_COUNTED: bool;

    /// See [`Operation::is_cheap`]; for floats.
    const IS_CHEAP: bool;

    /// See [`Operation::is_cheap`].
    fn is_cheap() -> bool {
        Self::IS_CHEAP && Self::register_op().is_some()
    }

    /// See [`Operation::has_chunks`].
    fn has_chunks(len: usize, wide: bool) -> bool;

    /// See [`Operation::register_op`].
    fn register_op() -> Option<RegisterOp>;

    /// Computes rows of adjacent results.
    ///
    /// # Safety
    /// - In every row operand 0 can be written at `len` adjacent elements. The inputs can be read
    ///   there, or at one element if `is_scalar` is set. All are aligned.
    /// - An input shares no element with operand 0, or is operand 0, index by index.
    /// - Operand 0 is never `is_scalar`, and [`RowBlock::input_to_repeat`] is `None`.
    unsafe fn rows<I: Isa>(&self, block: &RowBlock<N>);

    /// Computes results one by one; none of an operation that is not [cheap](Self::IS_CHEAP).
    ///
    /// # Safety
    /// - Every element that the loops visit can be read, those of operand 0 be written. All are
    ///   aligned.
    /// - An input shares no element with operand 0, or is operand 0, index by index.
    unsafe fn strided<I: Isa>(&self, block: &StridedRows<N>);
}
