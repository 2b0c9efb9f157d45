//! Pointers on their way through a plan.
//!
//! This is where a plan's offsets become addresses. Everything above is arithmetic on plain data; everything below is kernels on raw memory.

use std::marker::PhantomData;

use tensor_core::{Elements, ElementsMut, TensorView, TensorViewMut};

/// One operand: the place of offset 0 of a view, whatever its element type.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(super) base: *mut u8,
    /// May the gaps between elements be read?
    pub(super) solid: bool,
    life: PhantomData<&'a mut u8>,
}

impl<'a, T: Copy> From<&'a TensorView<'_, T>> for Place<'a> {
    fn from(view: &'a TensorView<'_, T>) -> Self {
        Self { base: view.base_ptr().cast_mut().cast(), solid: view.is_solid(), life: PhantomData }
    }
}

impl<'a, T: Copy> From<Elements<'a, T>> for Place<'a> {
    #[inline]
    fn from(elements: Elements<'a, T>) -> Self {
        let base = elements.base_ptr().cast_mut().cast();
        Self { base, solid: elements.is_solid(), life: PhantomData }
    }
}

impl<'a, T: Copy> From<&mut ElementsMut<'a, T>> for Place<'a> {
    #[inline]
    fn from(elements: &mut ElementsMut<'a, T>) -> Self {
        Self { base: elements.base_mut_ptr().cast(), solid: false, life: PhantomData }
    }
}

impl<'a, T: Copy> From<&'a mut TensorViewMut<'_, T>> for Place<'a> {
    fn from(view: &'a mut TensorViewMut<'_, T>) -> Self {
        Self { base: view.base_mut_ptr().cast(), solid: false, life: PhantomData }
    }
}

/// The operands of an operation, the one that is written first.
///
/// # Invariants
/// 1. Every offset of an operand's layout can be read during `'a`; every offset of operand 0's can be written, too, and no two indices share one.
/// 2. Nobody else touches operand 0's elements, and nobody writes the others'.
/// 3. An operand shares no element with operand 0, or it is operand 0.
/// 4. Of an operand that is `solid` every byte between the lowest and the highest element can be read.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a, const N: usize>(pub(super) [Place<'a>; N]);

// SAFETY: elements are `Send + Sync`; pieces of one plan write different elements, as operand 0 is injective (invariant 1).
unsafe impl<const N: usize> Send for Ends<'_, N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Sync for Ends<'_, N> {}

impl<'a, const N: usize> Ends<'a, N> {
    /// The places come from views, whose invariants are 1, 2 and 4; two views that exist side by side do not meet, which is 3.
    pub(crate) fn new(places: [Place<'a>; N]) -> Self {
        Self(places)
    }

    /// The same, from `N − 1` inputs.
    pub(crate) fn with_inputs(output: Place<'a>, inputs: &[Place<'a>]) -> Self {
        Self(std::array::from_fn(|k| k.checked_sub(1).map_or(output, |input| inputs[input])))
    }
}
