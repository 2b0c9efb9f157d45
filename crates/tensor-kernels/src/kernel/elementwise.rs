//! Arithmetic on lanes: the innermost loop of elementwise operations.
//!
//! An operation is a function of one element of each input. Its loop runs over adjacent elements, or one that stands for all; a combination of
//! these is a loop of its own, so that each is one the compiler vectorises, at the SIMD level it is inlined into.
//!
//! The compiler does so under a check that the result meets no input. A result that is an input, as of an operation in place, would fail it; its
//! elements go through a room of their own, which stays in the first-level cache.
//!
//! It checks once for all rows, and that fails, too, where an input's rows go backwards or lie between the result's, though no row meets another. These
//! go the same way: the sum of 38 by 640 floats and their flipped rows took 12.4 µs, four times the naive loop.

use std::{marker::PhantomData, mem::MaybeUninit};

use tensor_core::Element;

use super::{
    dispatch::dispatch,
    function::{Function1, Function2, Function3},
    isa::{Isa, Kernel},
};
use crate::{exec::SimdLevel, math::Arith};

/// Rows of lanes: where each operand's first row starts, and how far its rows are apart, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<const N: usize> {
    pub(crate) places: [*mut u8; N],
    pub(crate) row_steps: [isize; N],
    /// Is the operand's row one element that stands for all?
    pub(crate) same: [bool; N],
    pub(crate) rows: usize,
    pub(crate) len: usize,
}

impl<const N: usize> Lanes<N> {
    /// As one row, if every operand goes on where a row ends: what is done for a row takes as long as 32 additions.
    #[inline(always)]
    fn joined(self, widths: [usize; N]) -> Self {
        let goes_on = |k: usize| {
            let row = if self.same[k] { 0 } else { self.len * widths[k] };
            self.row_steps[k] == row as isize
        };
        match (0..N).all(goes_on) {
            true => Self { rows: 1, len: self.rows * self.len, ..self },
            false => self,
        }
    }

    /// Does an input fail a check for all rows at once, which the compiler makes where there are several inputs?
    #[inline(always)]
    fn tangle(&self, widths: [usize; N]) -> bool {
        let range = |k: usize| {
            let start = self.places[k].addr();
            let row = if self.same[k] { widths[k] } else { self.len * widths[k] };
            (start, start.wrapping_add_signed(self.row_steps[k] * (self.rows as isize - 1)) + row)
        };
        let (start, end) = range(0);
        let fails = |k: usize| {
            let (its_start, its_end) = range(k);
            self.row_steps[k] < 0 || (its_start < end && start < its_end)
        };
        N > 2 && self.rows > 1 && (1..N).any(fails)
    }
}

/// An operation that can be called without knowing its types.
pub(crate) trait Operation<const N: usize>: Sync {
    /// Computes rows of adjacent results, which may be the very elements of an input.
    ///
    /// # Safety
    /// [`Compute::rows`]'s, for each row; but operand 0 may be an input.
    unsafe fn compute(&self, simd: SimdLevel, lanes: Lanes<N>);
}

impl<const N: usize, O: Compute<N>> Operation<N> for O {
    unsafe fn compute(&self, simd: SimdLevel, lanes: Lanes<N>) {
        dispatch(simd, Rows { operation: self, lanes: lanes.joined(O::WIDTHS) });
    }
}

/// An operation on its lanes, which the maker vouches for.
struct Rows<'a, const N: usize, O> {
    operation: &'a O,
    lanes: Lanes<N>,
}

impl<const N: usize, O: Compute<N>> Kernel for Rows<'_, N, O> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Lanes { places, .. } = self.lanes;
        // An input that starts where the result does is the result.
        let is_input = places[1..].contains(&places[0]);
        if O::SUITS_ROOM && (is_input || self.lanes.tangle(O::WIDTHS)) {
            // SAFETY: the maker's.
            unsafe { in_place::<N, O, I::Arith>(self.operation, self.lanes) };
        } else {
            // SAFETY: the maker's, and operand 0 is no input.
            unsafe { self.operation.rows::<I::Arith>(self.lanes) };
        }
    }
}

/// Room for results that may not go to where they belong before all have been computed.
#[repr(align(64))]
struct Room([MaybeUninit<u8>; ROOM]);

/// A quarter of a page.
const ROOM: usize = 1024;

/// Rows whose result is an input, by way of a room.
///
/// # Safety
/// [`Operation::compute`]'s.
#[inline(always)]
unsafe fn in_place<const N: usize, O: Compute<N>, M: Arith>(operation: &O, lanes: Lanes<N>) {
    let mut room = Room([MaybeUninit::uninit(); ROOM]);
    let (width, step) = (O::WIDTHS[0], ROOM / O::WIDTHS[0].max(1));
    let mut row = lanes.places;
    for _ in 0..lanes.rows {
        for at in (0..lanes.len).step_by(step) {
            let count = step.min(lanes.len - at);
            let mut places: [*mut u8; N] = std::array::from_fn(|k| {
                row[k].wrapping_add(if lanes.same[k] { 0 } else { at * O::WIDTHS[k] })
            });
            let out = std::mem::replace(&mut places[0], room.0.as_mut_ptr().cast());
            // SAFETY: the caller's; the room is operand 0, large and aligned enough.
            unsafe { operation.rows::<M>(Lanes { places, rows: 1, len: count, ..lanes }) };
            // SAFETY: the room holds `count` results; the caller's.
            unsafe { out.copy_from_nonoverlapping(places[0], count * width) };
        }
        row = std::array::from_fn(|k| row[k].wrapping_offset(lanes.row_steps[k]));
    }
}

/// An elementwise operation on lanes.
pub(crate) trait Compute<const N: usize>: Sync {
    /// The elements of the result.
    type Output: Element;

    /// The bytes of an element of the result and of each input.
    const WIDTHS: [usize; N];

    /// Is a [`Room`] large enough and aligned for a result?
    const SUITS_ROOM: bool =
        align_of::<Self::Output>() <= align_of::<Room>() && size_of::<Self::Output>() <= ROOM;

    /// Computes rows of adjacent results.
    ///
    /// # Safety
    /// In every row operand 0 can be written and the others read, at `len` adjacent elements, or at one for operands that are `same`. All are aligned.
    /// Operand 0 is never `same`.
    unsafe fn rows<M: Arith>(&self, lanes: Lanes<N>);
}

/// `out[at] = value` for each lane. A macro, as a closure might not be inlined, and would then be compiled for the baseline.
macro_rules! each {
    ($out:expr, $len:expr, $at:ident => $value:expr) => {
        for $at in 0..$len {
            let value = $value;
            // SAFETY: the caller's.
            unsafe { $out.wrapping_add($at).write(value) };
        }
    };
}

/// Element `at` of an input, or the only one.
///
/// # Safety
/// It can be read and is aligned.
#[inline(always)]
unsafe fn read<const SAME: bool, T: Copy>(place: *mut T, at: usize) -> T {
    // SAFETY: the caller's.
    unsafe { place.wrapping_add(if SAME { 0 } else { at }).read() }
}

/// A function of one element.
pub(crate) struct Map<F, A>(F, PhantomData<fn(A)>);

impl<F, A> Map<F, A> {
    pub(crate) fn new(function: F) -> Self {
        Self(function, PhantomData)
    }
}

impl<A: Element, R: Element, F: Function1<A, Output = R>> Compute<2> for Map<F, A> {
    type Output = R;

    const WIDTHS: [usize; 2] = [size_of::<R>(), size_of::<A>()];

    #[inline(always)]
    unsafe fn rows<M: Arith>(&self, lanes: Lanes<2>) {
        let Lanes { places: [mut out, mut a], row_steps, same: [_, same], rows, len } = lanes;
        for _ in 0..rows {
            if same {
                // SAFETY: the caller's.
                unsafe { self.lanes::<M, true>(out.cast(), a.cast(), len) };
            } else {
                // SAFETY: the caller's.
                unsafe { self.lanes::<M, false>(out.cast(), a.cast(), len) };
            }
            (out, a) = (out.wrapping_offset(row_steps[0]), a.wrapping_offset(row_steps[1]));
        }
    }
}

/// So many elements are searched for far ones at a time.
const SEARCHED: usize = 1024;

impl<A: Element, F: Function1<A>> Map<F, A> {
    /// # Safety
    /// [`Compute::rows`]'s.
    #[inline(always)]
    unsafe fn lanes<M: Arith, const SAME: bool>(&self, out: *mut F::Output, a: *mut A, len: usize) {
        let block = if F::HAS_FAR { SEARCHED } else { len.max(1) };
        for start in (0..len).step_by(block) {
            let (out, a) = (out.wrapping_add(start), a.wrapping_add(if SAME { 0 } else { start }));
            let count = block.min(len - start);
            // SAFETY: the caller's.
            if F::HAS_FAR && unsafe { self.any_far::<SAME>(a, count) } {
                // SAFETY: the caller's.
                each!(out, count, at => self.one::<M>(unsafe { read::<SAME, A>(a, at) }));
            } else {
                // SAFETY: the caller's.
                each!(out, count, at => self.0.call::<M>(unsafe { read::<SAME, A>(a, at) }));
            }
        }
    }

    /// # Safety
    /// [`Compute::rows`]'s, for the input.
    #[inline(always)]
    unsafe fn any_far<const SAME: bool>(&self, a: *mut A, len: usize) -> bool {
        let mut any = false;
        for at in 0..len {
            // SAFETY: the caller's.
            any |= self.0.is_far(unsafe { read::<SAME, A>(a, at) });
        }
        any
    }

    #[inline(always)]
    fn one<M: Arith>(&self, a: A) -> F::Output {
        if self.0.is_far(a) { self.0.call_far::<M>(a) } else { self.0.call::<M>(a) }
    }
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident<$n:literal> of $function:ident($($input:ident $same:ident $step:ident: $type:ident),*)) => {
        $(#[$doc])*
        pub(crate) struct $name<F, $($type),*>(F, PhantomData<fn($($type),*)>);

        impl<F, $($type),*> $name<F, $($type),*> {
            pub(crate) fn new(function: F) -> Self {
                Self(function, PhantomData)
            }
        }

        impl<F, $($type: Element,)* R: Element> Compute<$n> for $name<F, $($type),*>
        where
            F: $function<$($type,)* Output = R>,
        {
            type Output = R;

            const WIDTHS: [usize; $n] = [size_of::<R>(), $(size_of::<$type>()),*];

            #[inline(always)]
            unsafe fn rows<M: Arith>(&self, lanes: Lanes<$n>) {
                let Lanes { places: [out, $($input),*], row_steps: [out_step, $($step),*], .. } = lanes;
                let (out, [_, $($same),*]) = (out.cast::<R>(), lanes.same);
                rows!(self, lanes, out out_step, [$($input $step: $type = $same),*] []);
            }
        }
    };
}

/// Chooses the loops for the inputs that are one element for all: `[undecided inputs] [decided inputs]`.
macro_rules! rows {
    ($self:ident, $lanes:ident, $out:ident $out_step:ident, [$input:ident $step:ident: $type:ident = $same:ident $(, $($rest:tt)*)?] [$($done:tt)*]) => {
        if $same {
            rows!($self, $lanes, $out $out_step, [$($($rest)*)?] [$($done)* ($input $step: $type, true)])
        } else {
            rows!($self, $lanes, $out $out_step, [$($($rest)*)?] [$($done)* ($input $step: $type, false)])
        }
    };
    ($self:ident, $lanes:ident, $out:ident $out_step:ident, [] [$(($input:ident $step:ident: $type:ident, $same:literal))*]) => {{
        let (mut $out, $(mut $input),*) = ($out, $($input),*);
        for _ in 0..$lanes.rows {
            // SAFETY: the caller's: `len` elements of each input, or one if it is the same for all.
            each!($out, $lanes.len, at => $self.0.call::<M>($(unsafe { read::<$same, $type>($input.cast(), at) }),*));
            $out = $out.wrapping_byte_offset($out_step);
            $($input = $input.wrapping_offset($step);)*
        }
    }};
}

operation!(/// A function of two elements.
    Zip<3> of Function2(a a_same a_step: A, b b_same b_step: B));
operation!(/// A function of three elements.
    Zip3<4> of Function3(a a_same a_step: A, b b_same b_step: B, c c_same c_step: C));
