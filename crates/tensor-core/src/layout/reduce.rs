//! The dimensions of a reduction, and the layouts that follow from them.
//!
//! A reduction kernel iterates over the input's shape. [`ReductionShape`] makes the layouts of the
//! other operands for this iteration: the result broadcast to the input's shape, and the index of
//! each element within its group (for argmin and argmax).

use super::{Layout, contiguous_strides};
use crate::{DimVec, Error, Int, Result, shape::wrap_dim_or_scalar};

/// The dimensions to reduce, and whether the result keeps them with size 1 (PyTorch: `dim` and
/// `keepdim`).
///
/// Made from a dimension, from a list of dimensions, or from `..` for all. Negative dimensions
/// count from the end. An empty list means all, as in PyTorch.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Layout, ReduceDims};
///
/// let x = Layout::contiguous(&[2, 3, 4])?;
/// assert_eq!(x.reduced("sum", 1)?.shape()[..], [2, 4]);
/// assert_eq!(x.reduced("sum", &[0, -1])?.shape()[..], [3]);
/// assert_eq!(x.reduced("sum", ReduceDims::from(1).keepdim())?.shape()[..], [2, 1, 4]);
/// assert!(x.reduced("sum", ..)?.shape().is_empty());
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReduceDims {
    /// Empty for all dimensions.
    dims: DimVec<isize>,
    keepdim: bool,
}

impl ReduceDims {
    /// All dimensions.
    pub const ALL: Self = ReduceDims { dims: DimVec::new_const(), keepdim: false };

    /// The same, but the result keeps the reduced dimensions with size 1.
    #[must_use]
    pub fn keepdim(self) -> Self {
        Self { keepdim: true, ..self }
    }

    fn of<I: Int>(dims: &[I]) -> Self {
        Self { dims: dims.iter().map(|dim| dim.saturated()).collect(), keepdim: false }
    }
}

impl From<std::ops::RangeFull> for ReduceDims {
    fn from(_: std::ops::RangeFull) -> Self {
        Self::ALL
    }
}

impl From<()> for ReduceDims {
    fn from((): ()) -> Self {
        Self::ALL
    }
}

impl<I: Int> From<I> for ReduceDims {
    fn from(dim: I) -> Self {
        Self::of(&[dim])
    }
}

impl<I: Int> From<&[I]> for ReduceDims {
    fn from(dims: &[I]) -> Self {
        Self::of(dims)
    }
}

impl<I: Int, const N: usize> From<&[I; N]> for ReduceDims {
    fn from(dims: &[I; N]) -> Self {
        Self::of(dims)
    }
}

impl<I: Int, const N: usize> From<[I; N]> for ReduceDims {
    fn from(dims: [I; N]) -> Self {
        Self::of(&dims)
    }
}

impl<I: Int> From<&Vec<I>> for ReduceDims {
    fn from(dims: &Vec<I>) -> Self {
        Self::of(dims)
    }
}

impl<I: Int> From<Vec<I>> for ReduceDims {
    fn from(dims: Vec<I>) -> Self {
        Self::of(&dims)
    }
}

/// The dimensions of a reduction, resolved for the shape of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionShape {
    /// The sizes of the input, and whether each is reduced.
    sizes: DimVec<(usize, bool)>,
    keepdim: bool,
    /// Whether dimensions were given, rather than all.
    named: bool,
}

impl Layout {
    /// Resolves the dimensions of a reduction of this layout.
    ///
    /// # Errors
    /// [`Error::DimOutOfRange`]; [`Error::ReduceTwice`] for a repeated dimension. A layout without
    /// dimensions counts as having one.
    pub fn reduced(&self, op: &'static str, over: impl Into<ReduceDims>) -> Result<ReductionShape> {
        let over = over.into();
        let mut sizes: DimVec<_> = self.shape.iter().map(|&size| (size, false)).collect();
        let mut named: DimVec<usize> = DimVec::new();
        for &dim in &over.dims {
            let dim = wrap_dim_or_scalar(op, dim, self.ndim())?;
            if named.contains(&dim) {
                return Err(Error::ReduceTwice { op, dim });
            }
            named.push(dim);
        }
        for (d, (_, reduced)) in sizes.iter_mut().enumerate() {
            *reduced = named.is_empty() || named.contains(&d);
        }
        Ok(ReductionShape { sizes, keepdim: over.keepdim, named: !named.is_empty() })
    }
}

impl ReductionShape {
    /// The sizes of the result.
    pub fn shape(&self) -> DimVec<usize> {
        let size = |&(size, reduced): &(usize, bool)| match (reduced, self.keepdim) {
            (false, _) => Some(size),
            (true, true) => Some(1),
            (true, false) => None,
        };
        self.sizes.iter().filter_map(size).collect()
    }

    /// Is this dimension of the input reduced?
    pub fn is_reduced(&self, dim: usize) -> bool {
        self.sizes.get(dim).is_some_and(|&(_, reduced)| reduced)
    }

    /// The number of input elements that are reduced to each element of the result.
    pub fn count(&self) -> usize {
        self.sizes.iter().filter(|(_, reduced)| *reduced).map(|(size, _)| size).product()
    }

    /// Refuses an operation that has no identity, like `max`, if there are no elements to reduce.
    ///
    /// # Errors
    /// [`Error::ReduceEmpty`] with the first reduced dimension of size 0.
    pub fn check_not_empty(&self, op: &'static str) -> Result<()> {
        let Some(dim) = self.sizes.iter().position(|&(size, reduced)| reduced && size == 0) else {
            return Ok(());
        };
        let shape = self.input_shape().to_vec();
        Err(Error::ReduceEmpty { op, dim: self.named.then_some(dim), shape })
    }

    /// The layout of a result broadcast to the input's shape: its strides along the kept
    /// dimensions, and 0 along the reduced ones.
    ///
    /// # Errors
    /// None for a result of [this](Self::shape) shape.
    pub fn broadcast_result(&self, result: &Layout) -> Result<Layout> {
        let mut own = result.strides.iter();
        let stride = |&(_, reduced): &(usize, bool)| match (reduced, self.keepdim) {
            (false, _) => own.next().copied().unwrap_or(0),
            (true, true) => own.next().map_or(0, |_| 0),
            (true, false) => 0,
        };
        let strides = self.sizes.iter().map(stride).collect();
        Layout::checked(self.input_shape(), strides, result.offset)
    }

    /// A layout of the input's shape whose offsets are the row-major index of each element among
    /// those that are reduced to the same result.
    ///
    /// # Errors
    /// None for the shape of a layout.
    pub fn indices(&self) -> Result<Layout> {
        let among: DimVec<usize> =
            self.sizes.iter().map(|&(size, reduced)| if reduced { size } else { 1 }).collect();
        let mut strides = contiguous_strides(&among);
        for (stride, (_, reduced)) in strides.iter_mut().zip(&self.sizes) {
            *stride = if *reduced { *stride } else { 0 };
        }
        Layout::checked(self.input_shape(), strides, 0)
    }

    /// A layout of the input's shape with all strides 0, for reductions that need no
    /// [`indices`](Self::indices).
    ///
    /// # Errors
    /// None for the shape of a layout.
    pub fn zero_layout(&self) -> Result<Layout> {
        let strides = self.sizes.iter().map(|_| 0).collect();
        Layout::checked(self.input_shape(), strides, 0)
    }

    /// The sizes of the input.
    pub fn input_shape(&self) -> DimVec<usize> {
        self.sizes.iter().map(|(size, _)| *size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Layout {
        Layout::contiguous([2, 3, 4]).unwrap()
    }

    #[test]
    fn shape_and_count_for_each_form_of_dimensions() {
        for (over, shape, count) in [
            (ReduceDims::ALL, &[][..], 24),
            ((&[] as &[isize]).into(), &[], 24),
            (ReduceDims::ALL.keepdim(), &[1, 1, 1], 24),
            (1.into(), &[2, 4], 3),
            ((-1).into(), &[2, 3], 4),
            ((&[2, 0]).into(), &[3], 8),
            (ReduceDims::from(&[0, -1]).keepdim(), &[1, 3, 1], 8),
        ] {
            let reduced = cube().reduced("sum", over.clone()).unwrap();
            assert_eq!((&reduced.shape()[..], reduced.count()), (shape, count), "{over:?}");
        }
    }

    #[test]
    fn a_scalar_has_one_dimension_to_reduce() {
        let scalar = Layout::contiguous(()).unwrap();
        for over in [ReduceDims::ALL, 0.into(), ReduceDims::from(-1).keepdim()] {
            assert_eq!(scalar.reduced("sum", over).unwrap().shape().len(), 0);
        }
        assert!(scalar.reduced("sum", 1).is_err() && scalar.reduced("sum", [0, -1]).is_err());
    }

    #[test]
    fn layouts_of_the_result_and_of_the_indices() {
        let kept = cube().reduced("sum", ReduceDims::from(&[2, 0]).keepdim()).unwrap();
        let result = Layout::new([1, 3, 1], [7, -5, 9], 10).unwrap();
        assert_eq!(kept.broadcast_result(&result).unwrap().strides(), [0, -5, 0]);
        assert_eq!(kept.indices().unwrap().strides(), [4, 0, 1]);
        let gone = cube().reduced("sum", 1).unwrap();
        assert_eq!(
            gone.broadcast_result(&Layout::fortran([2, 4]).unwrap()).unwrap().strides(),
            [1, 0, 2]
        );
        assert_eq!(gone.indices().unwrap().strides(), [0, 1, 0]);
    }
}
