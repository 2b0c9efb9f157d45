//! Arithmetic on lanes: the innermost loop of elementwise operations.
//!
//! An operation is a function of one element of each input. Its loop runs over adjacent elements, or one that stands for all; a combination of
//! these is a loop of its own, so that each is one the compiler vectorises, at the SIMD level it is inlined into.

use std::marker::PhantomData;

use tensor_core::Element;

use super::{Isa, Kernel, dispatch};
use crate::SimdLevel;

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

/// An operation that can be called without knowing its types.
pub(crate) trait Operation<const N: usize>: Sync {
    /// Computes rows of adjacent results, which may be the very elements of an input.
    ///
    /// # Safety
    /// [`Compute::row`]'s, for each row.
    unsafe fn compute(&self, simd: SimdLevel, lanes: Lanes<N>);
}

impl<const N: usize, O: Compute<N>> Operation<N> for O {
    unsafe fn compute(&self, simd: SimdLevel, lanes: Lanes<N>) {
        dispatch(simd, Rows { operation: self, lanes });
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
        let Lanes { mut places, row_steps, same, rows, len } = self.lanes;
        for _ in 0..rows {
            // SAFETY: the maker's.
            unsafe { self.operation.row(places, same, len) };
            places = std::array::from_fn(|k| places[k].wrapping_offset(row_steps[k]));
        }
    }
}

/// An elementwise operation on lanes.
pub(crate) trait Compute<const N: usize>: Sync {
    /// The elements of the result.
    type Output: Element;

    /// The bytes of an element of the result and of each input.
    const WIDTHS: [usize; N];

    /// Computes `len` adjacent results, which may be the very elements of an input.
    ///
    /// # Safety
    /// Operand 0 can be written and the others read, at `len` adjacent elements, or at one for operands that are `same`. All are aligned. Operand 0 is
    /// never `same`.
    unsafe fn row(&self, operands: [*mut u8; N], same: [bool; N], len: usize);
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident<$n:literal>($($input:ident / $same:ident: $type:ident),*)) => {
        $(#[$doc])*
        pub(crate) struct $name<F, $($type,)* R>(F, PhantomData<fn($($type),*) -> R>);

        impl<F: Fn($($type),*) -> R, $($type,)* R> $name<F, $($type,)* R> {
            pub(crate) fn new(function: F) -> Self {
                Self(function, PhantomData)
            }
        }

        impl<F, $($type: Element,)* R: Element> Compute<$n> for $name<F, $($type,)* R>
        where
            F: Fn($($type),*) -> R + Sync,
        {
            type Output = R;

            const WIDTHS: [usize; $n] = [size_of::<R>(), $(size_of::<$type>()),*];

            #[inline(always)]
            unsafe fn row(&self, [out, $($input),*]: [*mut u8; $n], [_, $($same),*]: [bool; $n], len: usize) {
                rows!(self, out, len, [$($input: $type = $same),*] []);
            }
        }
    };
}

/// Chooses the loop for the inputs that are one element for all: `[undecided inputs] [decided inputs]`.
macro_rules! rows {
    ($self:ident, $out:ident, $len:ident, [$input:ident: $type:ident = $same:ident $(, $($rest:tt)*)?] [$($done:tt)*]) => {
        if $same {
            rows!($self, $out, $len, [$($($rest)*)?] [$($done)* ($input: $type, true)])
        } else {
            rows!($self, $out, $len, [$($($rest)*)?] [$($done)* ($input: $type, false)])
        }
    };
    ($self:ident, $out:ident, $len:ident, [] [$(($input:ident: $type:ident, $same:literal))*]) => {
        for at in 0..$len {
            // SAFETY: the caller's: `len` elements of each input, or one if it is the same for all.
            let value = $self.0($(unsafe { read($input.cast::<$type>(), lane::<$same>(at)) }),*);
            // SAFETY: the caller's.
            unsafe { write($out.cast::<R>(), at, value) };
        }
    };
}

/// # Safety
/// `place` can be read at element `at` and is aligned.
#[inline(always)]
unsafe fn read<T: Copy>(place: *mut T, at: usize) -> T {
    // SAFETY: the caller's.
    unsafe { place.wrapping_add(at).read() }
}

/// # Safety
/// `place` can be written at element `at` and is aligned.
#[inline(always)]
unsafe fn write<T: Copy>(place: *mut T, at: usize, value: T) {
    // SAFETY: the caller's.
    unsafe { place.wrapping_add(at).write(value) };
}

operation!(/// A function of one element.
    Map<2>(a / a_same: A));
operation!(/// A function of two elements.
    Zip<3>(a / a_same: A, b / b_same: B));
operation!(/// A function of three elements.
    Zip3<4>(a / a_same: A, b / b_same: B, c / c_same: C));

/// Which element of an input belongs to lane `at`: the only one, if it is the same for all.
#[inline(always)]
fn lane<const SAME: bool>(at: usize) -> usize {
    if SAME { 0 } else { at }
}
