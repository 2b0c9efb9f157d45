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

use tensor_core::{
    Error, Layout, Result, TensorView, TensorViewMut, ViewRef, ViewRefMut, vec_with_capacity,
};

use super::{
    copy::by_plan,
    item_layout::{Form, ItemLayout},
    kept_copy::KeptCopy,
    operands::{OperandPtr, OperandPtrs},
    plan_cache::Planned,
    tiny::{copy_tiny_at, has_few_rows, is_tiny},
};
use crate::{
    exec::{Exec, Machine},
    nest::check_shapes,
};

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

/// The operands of a copy of items that have one unit. A macro, because they borrow the view that
/// it makes of the destination.
macro_rules! operands_of_one_unit {
    ($from:ident, $to:ident, $operands:ident => $body:expr) => {{
        let Items { bytes, form } = &mut *$to;
        let mut bytes = ViewRefMut::from(bytes);
        let ptrs = pointers($from, (&mut bytes, form));
        let $operands =
            &Operands { layouts: [&form.units, &$from.form.units], unit: form.unit, ptrs };
        $body
    }};
}

/// Calls a function for the type that is as wide as a unit, if it is one of the usual ones: it is
/// compiled as a copy of elements of this width is, so that a tiny copy takes no longer.
macro_rules! for_usual_units {
    ($operands:ident, $copy:ident $arguments:tt else $otherwise:expr) => {
        match $operands.unit {
            1 => $copy::<u8> $arguments,
            2 => $copy::<u16> $arguments,
            3 => $copy::<[u8; 3]> $arguments,
            4 => $copy::<u32> $arguments,
            8 => $copy::<u64> $arguments,
            12 => $copy::<[u8; 12]> $arguments,
            16 => $copy::<u128> $arguments,
            _ => $otherwise,
        }
    };
}

/// Copies the items.
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
    operands_of_one_unit!(from, to, operands => {
        check_shapes(operands.layouts[1], operands.layouts[0])?;
        for_usual_units!(operands, copy_as(exec, operands) else copy_by_plan(exec, operands));
        Ok(())
    })
}

/// Copies items of one shape in units as wide as a `T`. Of the operands, and not of the views, so
/// that it is compiled once for destinations that are initialised and for others.
#[inline(never)]
fn copy_as<T: Copy>(exec: &Exec, operands: &Operands<'_>) {
    let Operands { layouts, unit, ptrs: OperandPtrs([to, from]) } = *operands;
    debug_assert_eq!(unit, size_of::<T>());
    if !is_tiny(layouts[0]) && !has_few_rows(layouts, size_of::<T>()) {
        return copy_by_plan(exec, operands);
    }
    // SAFETY: O1 and O3: the offsets of the layouts, in units as wide as `T`, can be read and
    // written, and do not overlap.
    unsafe { copy_tiny_at::<T>(layouts, from.base.cast_const().cast(), to.base.cast()) };
}

/// Copies items in any unit.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`].
#[cold]
#[inline(never)]
fn copy_in_any_unit<B: Copy>(exec: &Exec, from: &Source<'_>, to: &mut Target<'_, B>) -> Result<()> {
    with_operands(from, to, |operands| {
        copy_by_plan(exec, &operands);
        Ok(())
    })
}

#[inline(never)]
fn copy_by_plan(exec: &Exec, operands: &Operands<'_>) {
    let Operands { layouts: [to, from], unit, ptrs } = *operands;
    by_plan(exec, &Planned { from, to, width: unit, machine: &exec.machine }, ptrs);
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
    let bytes = layout.dense_bytes(from.item_size())?;
    let mut items = vec_with_capacity(bytes)?;
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
) -> Result<KeptCopy> {
    let (unit, [to, from]) = in_one_unit(&from.form, &to.form)?;
    Ok(KeptCopy::new(&from, &to, unit, machine))
}

/// Copies the items by a kept plan.
///
/// # Errors
/// [`Error::ItemSize`], [`Error::OutputShape`]; [`Error::NotPlanned`], and nothing is copied, if
/// the plan was made for other layouts or another item size.
pub(crate) fn copy_items_kept<B: Copy>(
    exec: &Exec,
    kept: &KeptCopy,
    from: &Source<'_>,
    to: &mut Target<'_, B>,
) -> Result<()> {
    let of_one_unit = from.form.unit == to.form.unit && from.form.item == to.form.item;
    let is_copied = of_one_unit
        && operands_of_one_unit!(from, to, operands => {
            for_usual_units!(operands, copy_kept_as(exec, kept, operands) else false)
        });
    if is_copied { Ok(()) } else { copy_kept_in_any_unit(exec, kept, from, to) }
}

/// Copies items in units as wide as a `T`, if the plan is for their layouts; see [`copy_as`].
#[inline(never)]
fn copy_kept_as<T: Copy>(exec: &Exec, kept: &KeptCopy, operands: &Operands<'_>) -> bool {
    let Operands { layouts: [to, from], unit, ptrs } = *operands;
    debug_assert_eq!(unit, size_of::<T>());
    let is_for = kept.is_for(from, to, unit);
    if is_for {
        kept.run::<T>(exec, ptrs);
    }
    is_for
}

/// [`copy_items_kept`] of items in any units; or a refusal.
///
/// # Errors
/// Those of [`copy_items_kept`].
#[cold]
#[inline(never)]
fn copy_kept_in_any_unit<B: Copy>(
    exec: &Exec,
    kept: &KeptCopy,
    from: &Source<'_>,
    to: &mut Target<'_, B>,
) -> Result<()> {
    with_operands(from, to, |Operands { layouts: [to, from], unit, ptrs }| {
        if !kept.is_for(from, to, unit) {
            return Err(KeptCopy::refused(from, to));
        }
        kept.run_any(exec, ptrs);
        Ok(())
    })
}

/// [`copy_items_kept`] into uninitialised memory.
///
/// # Errors
/// Those of [`copy_items_kept`].
pub(crate) fn copy_items_kept_uninit<'t>(
    exec: &Exec,
    kept: &KeptCopy,
    from: &Source<'_>,
    mut to: Target<'t, MaybeUninit<u8>>,
) -> Result<Target<'t, u8>> {
    copy_items_kept(exec, kept, from, &mut to)?;
    // SAFETY: a copy between these layouts has written every item of the destination.
    Ok(unsafe { to.assume_init() })
}
