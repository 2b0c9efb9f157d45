//! Tensor methods that write: in place, and from elsewhere.
//!
//! A tensor is written through a shared reference, as its storage is borrowed at run time. A
//! mutable view needs an exclusive one. So there are two traits with the same methods.

use tensor_core::{Element, Int, Operand, Output, Result, TensorBase, TensorViewMutBase};

use crate::{
    api::{
        copy::{copy_between, fill},
        elementwise::{map_inplace, zip_inplace, zip3_inplace},
        ops::{
            self,
            table::{binary_operations, ternary_operations, unary_operations},
        },
    },
    element::{Bits, Compare, Inexact, Integer, Number, Ordered, Real},
    exec::Exec,
};

#[cfg(doc)]
use crate::{Error, TensorExt};

/// Operations on one operand, in place.
macro_rules! unary {
    ([$self:ident, $receiver:tt] $(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$($(
        method! { [$self, $receiver] $inplace of $name() where $inplace_bound }
    )?)*};
}

/// Operations on two operands, in place of the first.
macro_rules! binary {
    ([$self:ident, $receiver:tt] $(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$($(
        method! { [$self, $receiver] $inplace of $name(b: 'b) where $inplace_bound }
    )?)*};
}

/// Operations on three operands, in place of the first.
macro_rules! ternary {
    ([$self:ident, $receiver:tt] $(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr }
    )*) => {$(
        method! { [$self, $receiver] $inplace of $name($b: 'b, $c: 'c) where $bound }
    )*};
}

/// An operation in place of its first operand, with the others as arguments.
macro_rules! method {
    (
        [$self:ident, ($($receiver:tt)+)]
        $inplace:ident of $name:ident($($arg:ident: $life:lifetime),*) where $bound:ident
    ) => {
        #[doc = concat!("[`ops::", stringify!($name), "`] in place.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($inplace), "`].")]
        #[track_caller]
        fn $inplace<$($life),*>(
            $($receiver)+,
            $($arg: impl Into<Operand<$life, T>>),*
        ) -> Result<()>
        where
            T: $bound,
        {
            ops::$inplace(Exec::current()?, $self.target() $(, $arg)*)
        }
    };
}

/// The operations that are not in the table.
macro_rules! others {
    ([$self:ident, ($($receiver:tt)+)]) => {
        /// Copies elements, broadcast, into this one (PyTorch: `copy_`).
        ///
        /// # Errors
        /// Shapes that do not broadcast; operands that share elements.
        #[track_caller]
        fn copy_from<'b>($($receiver)+, from: impl Into<Operand<'b, T>>) -> Result<()> {
            copy_between(Exec::current()?, from, $self.target())
        }

        /// Writes one value to every element (PyTorch: `fill_`).
        ///
        /// # Errors
        /// [`Error::WriteOverlap`].
        #[track_caller]
        fn fill($($receiver)+, value: T) -> Result<()> {
            fill(Exec::current()?, $self.target(), value)
        }

        /// Replaces each element by `f` of it.
        ///
        /// # Errors
        /// [`Error::WriteOverlap`].
        #[track_caller]
        fn map_inplace($($receiver)+, f: impl Fn(T) -> T + Sync) -> Result<()> {
            map_inplace(Exec::current()?, $self.target(), f)
        }

        /// Replaces each element by `f` of it and of an element of the other operand, which is
        /// broadcast (PyTorch: `add_` and similar).
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`];
        /// [`Error::ReadWriteOverlap`] if the other operand shares elements with this one without
        /// being the same view.
        #[track_caller]
        fn zip_inplace<'b, B: Element>(
            $($receiver)+,
            b: impl Into<Operand<'b, B>>,
            f: impl Fn(T, B) -> T + Sync,
        ) -> Result<()> {
            zip_inplace(Exec::current()?, $self.target(), b, f)
        }

        /// Replaces each element by `f` of it and of elements of two other operands, which are
        /// broadcast.
        ///
        /// # Errors
        /// As [`zip_inplace`](Self::zip_inplace).
        #[track_caller]
        fn zip3_inplace<'b, 'c, B: Element, C: Element>(
            $($receiver)+,
            b: impl Into<Operand<'b, B>>,
            c: impl Into<Operand<'c, C>>,
            f: impl Fn(T, B, C) -> T + Sync,
        ) -> Result<()> {
            zip3_inplace(Exec::current()?, $self.target(), b, c, f)
        }

        /// [`scatter`](TensorExt::scatter) in place (PyTorch: `scatter_`).
        ///
        /// # Errors
        /// Those of [`ops::scatter_inplace`].
        #[track_caller]
        fn scatter_inplace<'i, 's>(
            $($receiver)+,
            dim: impl Int,
            index: impl Into<Operand<'i, i64>>,
            src: impl Into<Operand<'s, T>>,
        ) -> Result<()> {
            ops::scatter_inplace(Exec::current()?, $self.target(), dim, index, src)
        }

        /// [`masked_fill`](TensorExt::masked_fill) in place (PyTorch: `masked_fill_`).
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn masked_fill_inplace<'m>(
            $($receiver)+,
            mask: impl Into<Operand<'m, bool>>,
            value: T,
        ) -> Result<()> {
            ops::masked_fill_inplace(Exec::current()?, $self.target(), mask, value)
        }
    };
}

// The rows of a table, for methods with a shared and with an exclusive receiver.

macro_rules! shared_unary {
    ($($rows:tt)*) => { unary! { [self, (&self)] $($rows)* } };
}

macro_rules! shared_binary {
    ($($rows:tt)*) => { binary! { [self, (&self)] $($rows)* } };
}

macro_rules! shared_ternary {
    ($($rows:tt)*) => { ternary! { [self, (&self)] $($rows)* } };
}

macro_rules! exclusive_unary {
    ($($rows:tt)*) => { unary! { [self, (&mut self)] $($rows)* } };
}

macro_rules! exclusive_binary {
    ($($rows:tt)*) => { binary! { [self, (&mut self)] $($rows)* } };
}

macro_rules! exclusive_ternary {
    ($($rows:tt)*) => { ternary! { [self, (&mut self)] $($rows)* } };
}

/// The operations that write to a tensor.
///
/// A tensor is written through a shared reference: its storage is borrowed while an operation runs.
/// Every method fails with [`Error::Borrowed`] if it is borrowed otherwise.
///
/// ```
/// use tensor_kernels::prelude::*;
///
/// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
/// x.select(0, 0)?.mul_inplace(10.0)?;
/// x.t()?.add_inplace(&tensor![0.5f32, 0.25])?;
/// assert_eq!(x.to_vec()?, [10.5, 20.5, 3.25, 4.25]);
/// # Ok::<(), Error>(())
/// ```
pub trait TensorMutExt<T: Element> {
    /// This tensor as a result of [`ops`].
    fn target(&self) -> Output<'_, T>;

    unary_operations! { shared_unary }
    binary_operations! { shared_binary }
    ternary_operations! { shared_ternary }
    others! { [self, (&self)] }
}

impl<T: Element, K> TensorMutExt<T> for TensorBase<T, K> {
    fn target(&self) -> Output<'_, T> {
        self.into()
    }
}

/// The operations that write to a mutable view: those of [`TensorMutExt`].
///
/// ```
/// use tensor_kernels::prelude::*;
///
/// let mut pixels = [0.5f32, 1.0, 1.5, 2.0];
/// let mut view = TensorViewMut::new(&mut pixels, Layout::contiguous(&[2, 2])?)?;
/// view.mul_inplace(2.0)?;
/// view.add_inplace(&tensor![10.0f32, 20.0])?;
/// assert_eq!(pixels, [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait TensorViewMutExt<T: Element> {
    /// This view as a result of [`ops`].
    fn target(&mut self) -> Output<'_, T>;

    unary_operations! { exclusive_unary }
    binary_operations! { exclusive_binary }
    ternary_operations! { exclusive_ternary }
    others! { [self, (&mut self)] }
}

impl<T: Element, K> TensorViewMutExt<T> for TensorViewMutBase<'_, T, K> {
    fn target(&mut self) -> Output<'_, T> {
        self.into()
    }
}
