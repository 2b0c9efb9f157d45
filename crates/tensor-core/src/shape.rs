//! Sizes and dimension numbers: the arithmetic that every layout operation starts with.
//!
//! Input: sizes and dimensions as a user writes them (−1 to infer a size, negative dimensions count
//! from the end). Output: checked non-negative values.

use smallvec::SmallVec;

use crate::{Error, Result};

/// A list with one entry per dimension; up to rank 8 it allocates nothing.
pub type DimVec<T> = SmallVec<[T; 8]>;

/// The number of elements of a shape, 0 if a size is 0.
///
/// The product of the sizes that are *not* zero must fit too, as in NumPy: the shape
/// `[0, 1 << 62, 4]` is refused.
pub(crate) fn checked_numel(shape: &[usize]) -> Result<usize> {
    let product = shape
        .iter()
        .filter(|&&size| size > 0)
        .try_fold(1usize, |product, &size| product.checked_mul(size))
        .filter(|&product| product <= isize::MAX as usize)
        .ok_or_else(|| too_large("the number of elements", shape))?;
    Ok(if shape.contains(&0) { 0 } else { product })
}

pub(crate) fn too_large(what: &'static str, shape: &[usize]) -> Error {
    Error::TooLarge { what, shape: shape.to_vec(), strides: Vec::new() }
}

/// An empty list with capacity for `count` views.
pub(crate) fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    list.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(list)
}

/// Converts a dimension counted from either end to one counted from the front; there are `range` of
/// them.
///
/// ```
/// # use tensor_core::wrap_dim;
/// assert_eq!(wrap_dim("cat", -1, 3)?, 2);
/// assert!(wrap_dim("cat", 3, 3).is_err());
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::DimOutOfRange`] with the name of the operation.
pub fn wrap_dim(op: &'static str, dim: isize, range: usize) -> Result<usize> {
    let wrapped = if dim < 0 { dim.checked_add_unsigned(range) } else { Some(dim) };
    match wrapped {
        Some(d) if d >= 0 && d.unsigned_abs() < range => Ok(d.unsigned_abs()),
        _ => Err(Error::DimOutOfRange { op, dim, range }),
    }
}

/// As [`wrap_dim`], but a tensor without dimensions counts as having one (PyTorch: `wrap_scalar`).
pub(crate) fn wrap_dim_or_scalar(op: &'static str, dim: isize, ndim: usize) -> Result<usize> {
    wrap_dim(op, dim, ndim.max(1))
}

/// Resolves the one −1 that a requested shape may hold and checks that it has `numel` elements.
///
/// ```
/// # use tensor_core::infer_shape;
/// assert_eq!(infer_shape(&[2, -1], 6)?.as_slice(), [2, 3]);
/// assert!(infer_shape(&[-1, 0], 0).is_err());
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// Two −1s, other negative sizes, a product that is not `numel`, and a −1 that any size satisfies.
pub fn infer_shape(sizes: &[isize], numel: usize) -> Result<DimVec<usize>> {
    let inferred = inferred_position(sizes)?;
    let known = sizes
        .iter()
        .filter(|&&size| size != -1)
        .try_fold(1usize, |product, &size| product.checked_mul(size.unsigned_abs()));
    let mismatch = || Error::ShapeMismatch { shape: sizes.to_vec(), numel };
    let known = known.ok_or_else(mismatch)?;
    let mut shape: DimVec<usize> = sizes.iter().map(|size| size.unsigned_abs()).collect();
    match inferred {
        None if known == numel => {}
        Some(_) if known == 0 && numel == 0 => {
            return Err(Error::InferAmbiguous { shape: sizes.to_vec() });
        }
        Some(position) if known > 0 && numel.is_multiple_of(known) => {
            shape[position] = numel / known;
        }
        _ => return Err(mismatch()),
    }
    checked_numel(&shape)?;
    Ok(shape)
}

fn inferred_position(sizes: &[isize]) -> Result<Option<usize>> {
    let mut inferred = None;
    for (index, &size) in sizes.iter().enumerate() {
        if size < -1 {
            return Err(Error::InvalidSize { size, index, shape: sizes.to_vec() });
        }
        if size == -1 && inferred.replace(index).is_some() {
            return Err(Error::InferTwice { shape: sizes.to_vec() });
        }
    }
    Ok(inferred)
}

/// The shape that all the given shapes broadcast to (PyTorch: `torch.broadcast_shapes`).
///
/// Shapes are aligned at their last dimension; along each, sizes must be equal or 1.
///
/// ```
/// # use tensor_core::broadcast_shapes;
/// assert_eq!(broadcast_shapes(&[&[3, 1], &[4]])?.as_slice(), [3, 4]);
/// assert!(broadcast_shapes(&[&[3], &[4]]).is_err());
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::BroadcastShapes`] names the shape and dimension that do not fit; [`Error::TooLarge`] if
/// the result has more than `isize::MAX` elements.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<DimVec<usize>> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut common: DimVec<usize> = SmallVec::from_elem(1, rank);
    for (argument, shape) in shapes.iter().enumerate() {
        let lead = rank - shape.len();
        for (d, &size) in shape.iter().enumerate().rev() {
            let common_size = common[lead + d];
            if size == 1 || size == common_size {
                continue;
            }
            if common_size != 1 {
                let dim = d as isize - shape.len() as isize;
                let expected = common.to_vec();
                return Err(Error::BroadcastShapes {
                    size,
                    dim,
                    argument,
                    shape: shape.to_vec(),
                    expected,
                });
            }
            common[lead + d] = size;
        }
    }
    checked_numel(&common)?;
    Ok(common)
}

/// The shape that the two operands of an operation broadcast to.
///
/// # Errors
/// [`Error::Broadcast`] with PyTorch's message and both shapes.
pub fn broadcast_two(op: &'static str, a: &[usize], b: &[usize]) -> Result<DimVec<usize>> {
    broadcast_shapes(&[a, b]).map_err(|refused| match refused {
        Error::BroadcastShapes { dim, .. } => {
            let from_end = |shape: &[usize]| shape[shape.len() - dim.unsigned_abs()];
            let (a_size, b_size) = (from_end(a), from_end(b));
            let dim = a.len().max(b.len()) - dim.unsigned_abs();
            Error::Broadcast {
                op,
                a: a_size,
                b: b_size,
                dim,
                a_shape: a.to_vec(),
                b_shape: b.to_vec(),
            }
        }
        other => other,
    })
}
