//! Where items of a run-time number of bytes lie: in bytes, and in the units that copies are
//! planned for. See `items`.

use tensor_core::{DimVec, Error, Layout, Result};

/// How items lie in memory, before there is any.
///
/// # Invariants
/// 1. `bytes` has the dimensions of the items, and one of the `item` bytes of an item, which are
///    adjacent.
/// 2. `units` has the dimensions of the items and, if a unit is less than an item, one of the
///    units of an item. Its index `i`, in units from byte `shift` on, is the first byte of what
///    `bytes` has there.
#[derive(Clone, Debug)]
pub(crate) struct ItemLayout {
    pub(super) bytes: Layout,
    pub(super) form: Form,
}

/// The part of an [`ItemLayout`] that copies are planned for.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) units: Layout,
    pub(super) unit: usize,
    pub(super) shift: usize,
    pub(super) item: usize,
}

impl ItemLayout {
    /// Items of `item` bytes at the offsets of a layout that counts in items.
    ///
    /// # Errors
    /// [`Error::ByteStride`] for items of 0 bytes, [`Error::TooLarge`].
    pub(crate) fn of(units: Layout, item: usize) -> Result<Self> {
        check_item(item)?;
        let in_bytes = |count: isize| count.checked_mul(item as isize);
        let dims = units.shape().iter().zip(units.strides());
        let strides = dims.map(|(&len, &stride)| if len > 1 { in_bytes(stride) } else { Some(1) });
        let strides = strides.collect::<Option<DimVec<isize>>>();
        let offset = if units.numel() > 0 { units.offset().checked_mul(item) } else { Some(0) };
        let (Some(strides), Some(offset)) = (strides, offset) else {
            return Err(too_large(units.shape(), units.strides()));
        };
        let bytes = with_last(units.shape(), strides, offset, item)?;
        Ok(Self { bytes, form: Form { units, unit: item, shift: 0, item } })
    }

    /// Items of `item` bytes, of which the first is `offset` bytes behind the start of the memory.
    /// Strides are in bytes.
    ///
    /// # Errors
    /// [`Error::ByteStride`] for items of 0 bytes; those of [`Layout::new`].
    pub(crate) fn strided(
        shape: &[usize],
        strides: &[isize],
        offset: usize,
        item: usize,
    ) -> Result<Self> {
        check_item(item)?;
        if shape.len() != strides.len() {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            return Err(Error::StridesLength { shape, strides });
        }
        let strides = DimVec::from_slice(strides);
        let bytes = with_last(shape, strides.clone(), offset, item)?;
        if bytes.numel() == 0 {
            // Without items strides and offset have no meaning.
            let units = Layout::contiguous(shape)?;
            return Ok(Self { bytes, form: Form { units, unit: item, shift: 0, item } });
        }
        let unit = unit_of(item, shape, &strides);
        let in_units = |(&len, stride): (&usize, isize)| match len > 1 {
            true => stride / unit as isize,
            false => 1,
        };
        let strides = shape.iter().zip(strides).map(in_units).collect();
        let units = in_runs(shape, strides, offset / unit, item / unit)?;
        Ok(Self { bytes, form: Form { units, unit, shift: offset % unit, item } })
    }

    /// The bytes from the lowest item of these to the first. Strides are in bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub(crate) fn bytes_below(shape: &[usize], strides: &[isize]) -> Result<usize> {
        if shape.contains(&0) {
            return Ok(0);
        }
        let steps = shape.iter().zip(strides).filter(|&(&len, &stride)| len > 1 && stride < 0);
        let reach = |(&len, &stride): (&usize, &isize)| stride.unsigned_abs().checked_mul(len - 1);
        steps
            .map(reach)
            .try_fold(0usize, |sum, reach| sum.checked_add(reach?))
            .ok_or_else(|| too_large(shape, strides))
    }
}

/// The unit of items at these strides, in bytes.
fn unit_of(item: usize, shape: &[usize], strides: &[isize]) -> usize {
    let steps = shape.iter().zip(strides).filter(|&(&len, _)| len > 1).map(|(_, stride)| stride);
    if steps.clone().all(|stride| stride % item as isize == 0) {
        return item;
    }
    1 << steps.fold(item, |bits, &stride| bits | stride as usize).trailing_zeros()
}

/// # Errors
/// [`Error::ByteStride`] for items of 0 bytes.
fn check_item(item: usize) -> Result<()> {
    match isize::try_from(item) {
        Ok(1..) => Ok(()),
        Ok(_) => Err(Error::ByteStride { bytes: 0, width: 0 }),
        Err(_) => Err(too_large(&[item], &[])),
    }
}

#[cold]
fn too_large(shape: &[usize], strides: &[isize]) -> Error {
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    Error::TooLarge { what: "an offset in bytes", shape, strides }
}

/// A layout with `parts` adjacent parts of each element as its last dimension.
fn with_last(
    shape: &[usize],
    mut strides: DimVec<isize>,
    offset: usize,
    parts: usize,
) -> Result<Layout> {
    let mut shape = DimVec::from_slice(shape);
    shape.push(parts);
    strides.push(1);
    Layout::new(&shape, &strides, offset)
}

/// [`with_last`], or the layout without that dimension if there is one part.
fn in_runs(shape: &[usize], strides: DimVec<isize>, offset: usize, parts: usize) -> Result<Layout> {
    match parts {
        1 => Layout::new(shape, &strides, offset),
        _ => with_last(shape, strides, offset, parts),
    }
}

impl Form {
    /// The dimensions of the items.
    fn ndim(&self) -> usize {
        self.units.ndim() - usize::from(self.unit < self.item)
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.units.shape()[..self.ndim()]
    }

    /// The layout in smaller units, which divide those of this one.
    pub(super) fn in_units(&self, unit: usize) -> Result<Layout> {
        if unit == self.unit {
            return Ok(self.units.clone());
        }
        let ratio = (self.unit / unit) as isize;
        let strides = self.units.strides()[..self.ndim()].iter();
        // What is too large belongs to a dimension of one item, or to a layout without items.
        let strides = strides.map(|&stride| stride.saturating_mul(ratio).max(-isize::MAX));
        let offset = match self.units.numel() {
            0 => 0,
            _ => self.units.offset() * (self.unit / unit),
        };
        in_runs(self.shape(), strides.collect(), offset, self.item / unit)
    }
}
