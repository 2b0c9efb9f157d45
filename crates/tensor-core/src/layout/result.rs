//! The layouts of newly allocated results: those that PyTorch gives a clone and the result of an
//! elementwise operation.
//!
//! Every public function here has an example.

use super::Layout;
use crate::{
    DimVec, MemoryFormat, Result,
    shape::broadcast_shapes,
    strides::{contiguous_strides, dense_strides},
};

impl Layout {
    /// The layout of a new tensor that keeps the order of the dimensions in memory (PyTorch:
    /// `empty_like` with `preserve_format`).
    ///
    /// A dense layout keeps its strides; any other gets dense strides in the same order.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let gaps = Layout::new(&[6, 5, 4, 3, 2], &[6, 0, 120, 0, 1], 0)?;
    /// assert_eq!(gaps.preserved()?.strides(), [6, 36, 180, 2, 1]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Never for a layout with elements; the signature is that of the other transforms.
    pub fn preserved(&self) -> Result<Self> {
        let strides = if self.is_dense() {
            self.strides.clone()
        } else {
            dense_strides(&self.shape, memory_order(&self.shape, &[self]))
        };
        Self::checked(self.shape.clone(), strides, 0)
    }

    /// The layout of the newly allocated result of an elementwise operation on these operands,
    /// broadcast to one shape (PyTorch: TensorIterator's rule).
    ///
    /// If the operands have one shape and are all contiguous, all channels-last, or dense with
    /// equal strides, the result has their strides. Otherwise it is dense, and its dimensions are
    /// ordered by stride; for each pair of dimensions the first operand whose strides differ
    /// decides.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let transposed = Layout::contiguous(&[3, 4])?.t()?;
    /// let result = Layout::elementwise(&[&transposed, &transposed])?;
    /// assert_eq!(result.strides(), [1, 4]);
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Shapes that do not broadcast.
    pub fn elementwise(operands: &[&Layout]) -> Result<Self> {
        let shapes: DimVec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
        let shape = broadcast_shapes(&shapes)?;
        let strides = match common_strides(&shape, operands) {
            Some(strides) => strides,
            None => result_strides(&shape, memory_order(&shape, operands)),
        };
        Self::checked(shape, strides, 0)
    }
}

/// Dense strides in this order. Row-major strides count a size of 0 as 1, the others do not.
fn result_strides(shape: &[usize], order: DimVec<usize>) -> DimVec<isize> {
    if order.iter().rev().copied().eq(0..shape.len()) {
        contiguous_strides(shape)
    } else {
        dense_strides(shape, order)
    }
}

/// The strides that operands of one shape and one order have in common.
fn common_strides(shape: &[usize], operands: &[&Layout]) -> Option<DimVec<isize>> {
    let first = operands.first()?;
    let all = |holds: fn(&Layout) -> bool| operands.iter().all(|operand| holds(operand));
    if operands.iter().any(|operand| operand.shape() != shape) {
        None
    } else if all(Layout::is_contiguous) {
        Some(contiguous_strides(shape))
    } else if all(Layout::is_channels_last) {
        crate::format_strides(shape, MemoryFormat::ChannelsLast).ok()
    } else if all(Layout::is_dense)
        && operands.iter().all(|operand| operand.strides() == first.strides())
    {
        Some(first.strides.clone())
    } else {
        None
    }
}

/// The dimensions, fastest in memory first.
///
/// The comparison is a partial order, so this is PyTorch's insertion sort from row-major order: if
/// no operand distinguishes two dimensions, the search for a position continues to the left, and
/// only a dimension that is definitely faster ends it.
fn memory_order(shape: &[usize], operands: &[&Layout]) -> DimVec<usize> {
    let strides: DimVec<DimVec<isize>> =
        operands.iter().map(|operand| aligned_strides(shape, operand)).collect();
    let mut order: DimVec<usize> = (0..shape.len()).rev().collect();
    for sorted in 1..order.len() {
        let mut position = sorted;
        for before in (0..sorted).rev() {
            match compare(shape, &strides, order[before], order[position]) {
                Some(Placement::Swap) => {
                    order.swap(before, position);
                    position = before;
                }
                Some(Placement::Keep) => break,
                None => {}
            }
        }
    }
    order
}

enum Placement {
    Keep,
    Swap,
}

fn compare(
    shape: &[usize],
    strides: &[DimVec<isize>],
    before: usize,
    behind: usize,
) -> Option<Placement> {
    for operand in strides {
        let (b, h) = (operand[before].abs(), operand[behind].abs());
        if b == 0 || h == 0 {
            continue;
        }
        if b < h {
            return Some(Placement::Keep);
        }
        if b > h || shape[before] > shape[behind] {
            return Some(Placement::Swap);
        }
    }
    None
}

/// An operand's strides, one for each dimension of the result; 0 where it is broadcast.
fn aligned_strides(shape: &[usize], operand: &Layout) -> DimVec<isize> {
    let lead = shape.len() - operand.ndim();
    let own = |d: usize| match d.checked_sub(lead) {
        Some(d) if operand.shape[d] == shape[d + lead] => operand.strides[d],
        _ => 0,
    };
    (0..shape.len()).map(own).collect()
}
