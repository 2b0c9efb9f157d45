//! The elementwise operations in place, as methods of tensors and mutable views.
//!
//! The macros are expanded beside the traits. What their methods name is exported with them.

pub(super) use tensor_core::Int;

pub(super) use crate::{
    api::{
        elementwise::{map_inplace, zip_inplace, zip3_inplace},
        ops::{
            self,
            table::{binary_operations, ternary_operations, unary_operations},
        },
    },
    element::{Bits, Compare, Inexact, Integer, Number, Ordered, Real},
};

/// Operations on one operand, in place.
macro_rules! unary {
    ([$self:ident, $receiver:tt] $(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$($(
        $crate::api::ext::inplace::method! {
            [$self, $receiver] $inplace of $name() where $inplace_bound
        }
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
        $crate::api::ext::inplace::method! {
            [$self, $receiver] $inplace of $name(b) where $inplace_bound
        }
    )?)*};
}

/// Operations on three operands, in place of the first.
macro_rules! ternary {
    ([$self:ident, $receiver:tt] $(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr
                $(, in_registers $register_op:ident)? }
    )*) => {$(
        $crate::api::ext::inplace::method! {
            [$self, $receiver] $inplace of $name($b, $c) where $bound
        }
    )*};
}

/// An operation in place of its first operand, with the others as arguments.
macro_rules! method {
    (
        [$self:ident, ($($receiver:tt)+)]
        $inplace:ident of $name:ident($($arg:ident),*) where $bound:ident
    ) => {
        #[doc = concat!("[`ops::", stringify!($name), "`] in place.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($inplace), "`].")]
        #[track_caller]
        fn $inplace(
            $($receiver)+,
            $($arg: impl AsOperand<T>),*
        ) -> Result<()>
        where
            T: $bound,
        {
            ops::$inplace(Exec::current()?, $self.target() $(, $arg)*)
        }
    };
}

// The rows of a table, for methods with a shared and with an exclusive receiver.

macro_rules! shared_unary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::unary! { [self, (&self)] $($rows)* } };
}

macro_rules! shared_binary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::binary! { [self, (&self)] $($rows)* } };
}

macro_rules! shared_ternary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::ternary! { [self, (&self)] $($rows)* } };
}

macro_rules! exclusive_unary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::unary! { [self, (&mut self)] $($rows)* } };
}

macro_rules! exclusive_binary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::binary! { [self, (&mut self)] $($rows)* } };
}

macro_rules! exclusive_ternary {
    ($($rows:tt)*) => { $crate::api::ext::inplace::ternary! { [self, (&mut self)] $($rows)* } };
}

/// The methods, and the macros for the rows of the tables.
macro_rules! inplace_methods {
    ([$self:ident, ($($receiver:tt)+)] $unary:ident $binary:ident $ternary:ident) => {
        unary_operations! { $unary }
        binary_operations! { $binary }
        ternary_operations! { $ternary }

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
        fn zip_inplace<B: Element>(
            $($receiver)+,
            b: impl AsOperand<B>,
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
        fn zip3_inplace<B: Element, C: Element>(
            $($receiver)+,
            b: impl AsOperand<B>,
            c: impl AsOperand<C>,
            f: impl Fn(T, B, C) -> T + Sync,
        ) -> Result<()> {
            zip3_inplace(Exec::current()?, $self.target(), b, c, f)
        }

        /// [`scatter`](TensorExt::scatter) in place (PyTorch: `scatter_`).
        ///
        /// # Errors
        /// Those of [`ops::scatter_inplace`].
        #[track_caller]
        fn scatter_inplace(
            $($receiver)+,
            dim: impl Int,
            index: impl AsOperand<i64>,
            src: impl AsOperand<T>,
        ) -> Result<()> {
            ops::scatter_inplace(Exec::current()?, $self.target(), dim, index, src)
        }

        /// [`masked_fill`](TensorExt::masked_fill) in place (PyTorch: `masked_fill_`).
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn masked_fill_inplace(
            $($receiver)+,
            mask: impl AsOperand<bool>,
            value: T,
        ) -> Result<()> {
            ops::masked_fill_inplace(Exec::current()?, $self.target(), mask, value)
        }
    };
}

pub(super) use {
    binary, exclusive_binary, exclusive_ternary, exclusive_unary, inplace_methods, method,
    shared_binary, shared_ternary, shared_unary, ternary, unary,
};
