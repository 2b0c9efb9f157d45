//! Items of a run-time number of bytes: memory as bytes, and the loops of a copy over it in units.
//!
//! [`Items`] has two layouts of the same memory. That of `bytes` counts in bytes, with the bytes of
//! an item as its last dimension: `tensor-core` checks its bounds and overlaps, as it does for any
//! view. That of `form` counts in *units*, from which copies are planned. A unit is an item if all
//! strides are multiples of it; a copy then is that of a tensor with elements of this width. If one
//! is not, as in an array of packed records, the unit is the largest power of two that divides the
//! item and the strides, and an item is a run of units.
//!
//! Addresses need no alignment: kernels load and store elements anywhere.

use std::{mem::MaybeUninit, ptr::NonNull};

use tensor_core::{DimVec, Error, Layout, Result, TensorView, TensorViewMut, ViewRef, ViewRefMut};

use super::{
    copy::{by_plan, execute},
    operands::{OperandPtr, OperandPtrs},
    plan_cache::Planned,
    tiny::{copy_tiny_at, has_few_rows, is_tiny},
};
use crate::{
    exec::{Exec, Machine},
    nest::check_shapes,
    plan::PlannedCopy,
};

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
    bytes: Layout,
    form: Form,
}

/// The part of an [`ItemLayout`] that copies are planned for.
#[derive(Clone, Debug)]
struct Form {
    units: Layout,
    unit: usize,
    shift: usize,
    item: usize,
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

    fn shape(&self) -> &[usize] {
        &self.units.shape()[..self.ndim()]
    }

    /// The layout in smaller units, which divide those of this one.
    fn in_units(&self, unit: usize) -> Result<Layout> {
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

/// Items in memory: `V` is a view of their bytes.
///
/// Invariant: `bytes` has the byte layout of the [`ItemLayout`] that `form` is part of.
#[derive(Clone)]
pub(crate) struct Items<V> {
    bytes: V,
    form: Form,
}

/// Bytes to be read.
pub(crate) type Source<'a> = Items<TensorView<'a, u8>>;

/// Bytes to be written, which are `u8` or `MaybeUninit<u8>`.
pub(crate) type Target<'a, B> = Items<TensorViewMut<'a, B>>;

impl<V> Items<V> {
    /// The bytes of an item.
    pub(crate) fn item_size(&self) -> usize {
        self.form.item
    }

    /// The sizes, in items.
    pub(crate) fn shape(&self) -> &[usize] {
        self.form.shape()
    }

    /// The view of the bytes, which has the bytes of an item as its last dimension.
    pub(crate) fn bytes(&self) -> &V {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut V {
        &mut self.bytes
    }
}

impl<'a> Source<'a> {
    /// Items in a slice.
    ///
    /// # Errors
    /// Those of [`TensorView::new`].
    pub(crate) fn new(
        bytes: &'a [u8],
        ItemLayout { bytes: layout, form }: ItemLayout,
    ) -> Result<Self> {
        Ok(Self { bytes: TensorView::new(bytes, layout)?, form })
    }

    /// Items in memory from `start` on.
    ///
    /// # Safety
    /// That of [`TensorView::from_raw_parts`], for the bytes of the items.
    pub(crate) unsafe fn from_raw_parts(
        start: NonNull<u8>,
        ItemLayout { bytes: layout, form }: ItemLayout,
    ) -> Self {
        // SAFETY: this function's contract.
        Self { bytes: unsafe { TensorView::from_raw_parts(start, layout) }, form }
    }
}

impl<'a, B: Copy> Target<'a, B> {
    /// Items in a slice.
    ///
    /// # Errors
    /// Those of [`TensorViewMut::new`].
    pub(crate) fn new(
        bytes: &'a mut [B],
        ItemLayout { bytes: layout, form }: ItemLayout,
    ) -> Result<Self> {
        Ok(Self { bytes: TensorViewMut::new(bytes, layout)?, form })
    }

    /// Items in memory from `start` on.
    ///
    /// # Safety
    /// That of [`TensorViewMut::from_raw_parts`], for the bytes of the items.
    ///
    /// # Errors
    /// Those of [`TensorViewMut::from_raw_parts`].
    pub(crate) unsafe fn from_raw_parts(
        start: NonNull<B>,
        ItemLayout { bytes: layout, form }: ItemLayout,
    ) -> Result<Self> {
        // SAFETY: this function's contract.
        Ok(Self { bytes: unsafe { TensorViewMut::from_raw_parts(start, layout) }?, form })
    }
}

impl Target<'_, u8> {
    /// The same items, to be read.
    pub(crate) fn as_source(&self) -> Source<'_> {
        Items { bytes: self.bytes.as_view(), form: self.form.clone() }
    }
}

impl<'a> Target<'a, MaybeUninit<u8>> {
    /// # Safety
    /// Every item has been written.
    unsafe fn assume_init(self) -> Target<'a, u8> {
        // SAFETY: this function's contract.
        Items { bytes: unsafe { self.bytes.assume_init() }, form: self.form }
    }
}

/// What a copy of items needs: the layouts of destination and source in one unit, and their memory.
///
/// Invariant: O1 to O4 hold of the memory for these layouts.
#[derive(Clone, Copy)]
struct Operands<'a> {
    layouts: [&'a Layout; 2],
    unit: usize,
    ptrs: OperandPtrs<'a, 2>,
}

/// The memory of destination and source.
#[inline(always)]
fn pointers<'a, B: Copy>(
    from: &'a Source<'_>,
    (bytes, form): (&'a mut ViewRefMut<'_, B>, &Form),
) -> OperandPtrs<'a, 2> {
    let source = OperandPtr::from(ViewRef::from(&from.bytes)).behind(from.form.shift);
    OperandPtrs::new([OperandPtr::from(bytes).behind(form.shift), source])
}

/// Calls `f` with the operands of a copy.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`]; those of `f`.
#[inline(always)]
fn with_operands<B: Copy>(
    from: &Source<'_>,
    to: &mut Target<'_, B>,
    f: impl FnOnce(Operands<'_>) -> Result<()>,
) -> Result<()> {
    let Items { bytes, form } = to;
    let mut bytes = ViewRefMut::from(bytes);
    let ptrs = pointers(from, (&mut bytes, form));
    if form.unit == from.form.unit && form.item == from.form.item {
        let layouts = [&form.units, &from.form.units];
        check_shapes(layouts[1], layouts[0])?;
        return f(Operands { layouts, unit: form.unit, ptrs });
    }
    let (unit, layouts) = in_one_unit(&from.form, form)?;
    f(Operands { layouts: layouts.each_ref(), unit, ptrs })
}

/// A unit for two operands of different ones, and the layouts of destination and source in it.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
#[cold]
#[inline(never)]
fn in_one_unit(from: &Form, to: &Form) -> Result<(usize, [Layout; 2])> {
    if from.item != to.item {
        return Err(Error::ItemSize { from: from.item, to: to.item });
    }
    if from.shape() != to.shape() {
        let (got, expected) = (to.shape().to_vec(), from.shape().to_vec());
        return Err(Error::OutputShape { op: "copy", got, expected });
    }
    // A unit is the item or a power of two that divides it, so the smaller divides the larger.
    let unit = from.unit.min(to.unit);
    Ok((unit, [to.in_units(unit)?, from.in_units(unit)?]))
}

/// Copies the items.
///
/// A function for each of the usual units: it is compiled as a copy of elements of this width is,
/// so that a tiny copy takes no longer.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
#[inline]
pub(crate) fn copy_items<B: Copy>(
    exec: &Exec,
    from: &Source<'_>,
    to: &mut Target<'_, B>,
) -> Result<()> {
    if from.form.unit != to.form.unit || from.form.item != to.form.item {
        return copy_in_any_unit(exec, from, to);
    }
    match from.form.unit {
        1 => copy_as::<u8, B>(exec, from, to),
        2 => copy_as::<u16, B>(exec, from, to),
        3 => copy_as::<[u8; 3], B>(exec, from, to),
        4 => copy_as::<u32, B>(exec, from, to),
        8 => copy_as::<u64, B>(exec, from, to),
        12 => copy_as::<[u8; 12], B>(exec, from, to),
        16 => copy_as::<u128, B>(exec, from, to),
        _ => copy_in_any_unit(exec, from, to),
    }
}

/// Copies items in units as wide as a `T`, which is the unit of both.
///
/// # Errors
/// [`Error::OutputShape`].
#[inline(never)]
fn copy_as<T: Copy, B: Copy>(exec: &Exec, from: &Source<'_>, to: &mut Target<'_, B>) -> Result<()> {
    debug_assert_eq!([from.form.unit, to.form.unit], [size_of::<T>(); 2]);
    let Items { bytes, form } = to;
    let layouts = [&form.units, &from.form.units];
    check_shapes(layouts[1], layouts[0])?;
    let mut bytes = ViewRefMut::from(bytes);
    let ptrs = pointers(from, (&mut bytes, form));
    if !is_tiny(layouts[0]) && !has_few_rows(layouts, size_of::<T>()) {
        copy_by_plan(exec, Operands { layouts, unit: size_of::<T>(), ptrs });
        return Ok(());
    }
    let OperandPtrs([to, from]) = ptrs;
    // SAFETY: O1 and O3: the offsets of the layouts, in units as wide as `T`, can be read and
    // written, and do not overlap.
    unsafe { copy_tiny_at::<T>(layouts, from.base.cast_const().cast(), to.base.cast()) };
    Ok(())
}

/// Copies items in any unit.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
#[cold]
#[inline(never)]
fn copy_in_any_unit<B: Copy>(exec: &Exec, from: &Source<'_>, to: &mut Target<'_, B>) -> Result<()> {
    with_operands(from, to, |operands| {
        copy_by_plan(exec, operands);
        Ok(())
    })
}

#[inline(never)]
fn copy_by_plan(exec: &Exec, Operands { layouts: [to, from], unit, ptrs }: Operands<'_>) {
    by_plan(exec, Planned { from, to, width: unit, machine: &exec.machine }, ptrs);
}

/// Copies the items into uninitialised memory.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
pub(crate) fn copy_items_uninit<'t>(
    exec: &Exec,
    from: &Source<'_>,
    mut to: Target<'t, MaybeUninit<u8>>,
) -> Result<Target<'t, u8>> {
    copy_items(exec, from, &mut to)?;
    // SAFETY: a copy has written every item of its destination.
    Ok(unsafe { to.assume_init() })
}

/// The items in row-major order, as a vector of just their bytes.
///
/// # Errors
/// [`Error::OutOfMemory`], [`Error::TooLarge`].
#[expect(clippy::disallowed_methods, reason = "the result is a vector, not a tensor")]
pub(crate) fn items_to_vec(exec: &Exec, from: &Source<'_>) -> Result<Vec<u8>> {
    let layout = Layout::contiguous(from.shape())?;
    let (bytes, mut items) = (layout.dense_bytes(from.item_size())?, Vec::new());
    items.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    let to = ItemLayout::of(layout, from.item_size())?;
    copy_items(exec, from, &mut Target::new(items.spare_capacity_mut(), to)?)?;
    // SAFETY: a copy has written every item of its destination: the first `bytes` bytes.
    unsafe { items.set_len(bytes) };
    Ok(items)
}

/// The plan for copies between these items.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
pub(crate) fn plan_items<B: Copy>(
    machine: &Machine,
    from: &Source<'_>,
    to: &Target<'_, B>,
) -> Result<PlannedCopy> {
    let (unit, [to, from]) = in_one_unit(&from.form, &to.form)?;
    Ok(PlannedCopy::new(&from, &to, unit, machine))
}

/// Copies the items as planned.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`]; [`Error::NotPlanned`], and nothing is copied, if
/// the plan was made for other layouts or another item size.
pub(crate) fn copy_items_planned<B: Copy>(
    exec: &Exec,
    plan: &PlannedCopy,
    from: &Source<'_>,
    to: &mut Target<'_, B>,
) -> Result<()> {
    with_operands(from, to, |Operands { layouts: [to, from], unit, ptrs }| {
        if plan.is_for(from, to, unit) {
            execute(exec, plan.work(), ptrs);
            return Ok(());
        }
        let [from, to] = [from, to].map(|layout| layout.shape().to_vec());
        Err(Error::NotPlanned { from, to })
    })
}

/// [`copy_items_planned`] into uninitialised memory.
///
/// # Errors
/// Those of [`copy_items_planned`].
pub(crate) fn copy_items_planned_uninit<'t>(
    exec: &Exec,
    plan: &PlannedCopy,
    from: &Source<'_>,
    mut to: Target<'t, MaybeUninit<u8>>,
) -> Result<Target<'t, u8>> {
    copy_items_planned(exec, plan, from, &mut to)?;
    // SAFETY: a plan for these layouts has written every item of the destination.
    Ok(unsafe { to.assume_init() })
}
