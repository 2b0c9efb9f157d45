//! `+ - * / % & | ^ << >>`, unary `-` and `!`, and assignments like `+=`, on tensors, views and
//! values.
//!
//! Rust allows operators of a type in the crate of the type only, and this crate does not compute.
//! So the second type parameter of a tensor names its kernels, and the operators here call them
//! through the traits [`BinaryKernel`], [`AssignKernel`] and [`UnaryKernel`]. A view has no such
//! parameter, so at least one operand has to be a tensor.
//!
//! ```compile_fail,E0277
//! use tensor_core::Tensor; // of this crate alone: it has no kernels
//! let x = Tensor::full([2], 1.0)?;
//! let y = &x + &x;
//! # Ok::<(), tensor_core::Error>(())
//! ```

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use crate::{
    Element, Operand, Output, Result, TensorBase, TensorView, TensorViewMut, ViewRef,
    dtype::for_each_dtype,
};

/// The parameter of a tensor without kernels: it has every view operation, and no operators.
#[derive(Clone, Copy, Debug)]
pub enum Bare {}

/// Kernels that read all elements of a view.
pub trait ReadKernel: Sized {
    /// The elements in logical order.
    ///
    /// # Errors
    /// No memory.
    fn to_vec<T: Element>(from: ViewRef<'_, T>) -> Result<Vec<T>>;

    /// Same shape and equal elements?
    ///
    /// # Errors
    /// No memory.
    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool>;
}

impl ReadKernel for Bare {
    fn to_vec<T: Element>(from: ViewRef<'_, T>) -> Result<Vec<T>> {
        from.to_view().try_to_vec()
    }

    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool> {
        Ok(a.to_view() == b.to_view())
    }
}

/// The names of the operators.
pub mod op {
    macro_rules! names {
        ($($name:ident $symbol:literal;)*) => {$(
            #[doc = concat!("`", $symbol, "`")]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
        )*};
    }

    names! {
        Add "+"; Sub "-"; Mul "*"; Div "/"; Rem "%"; BitAnd "&"; BitOr "|"; BitXor "^"; Shl "<<";
        Shr ">>"; Neg "-"; Not "!";
    }
}

/// Kernels that compute the binary operator `Op` on elements `T`.
pub trait BinaryKernel<Op, T>: Sized {
    /// The element type of the result.
    type Output;

    /// The result in newly allocated memory, operands broadcast to one shape.
    ///
    /// # Errors
    /// Shapes that do not broadcast, a storage that is being written, no memory.
    #[track_caller]
    fn binary(a: Operand<'_, T>, b: Operand<'_, T>) -> Result<TensorBase<Self::Output, Self>>;
}

/// Kernels that compute the binary operator `Op` on elements `T` in place.
pub trait AssignKernel<Op, T>: Sized {
    /// Writes the result to the first operand; the second is broadcast.
    ///
    /// # Errors
    /// Shapes that do not broadcast to the first, a storage that is borrowed, operands that overlap
    /// without being the same.
    #[track_caller]
    fn assign(x: Output<'_, T>, b: Operand<'_, T>) -> Result<()>;
}

/// Kernels that compute the unary operator `Op` on elements `T`.
pub trait UnaryKernel<Op, T>: Sized {
    /// The result in newly allocated memory.
    ///
    /// # Errors
    /// A storage that is being written, no memory.
    #[track_caller]
    fn unary(a: Operand<'_, T>) -> Result<TensorBase<T, Self>>;
}

/// A panic in a closure would be reported at the closure, not at the caller.
#[track_caller]
pub(crate) fn or_panic<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => panic!("{refused}"),
    }
}

/// One operator for one pair of operand types. `$a` and `$b` are the operands by reference.
macro_rules! binary_operator {
    ($trait:ident::$method:ident, [$($life:lifetime)*], $left:ty, $right:ty,
     $self:ident => $a:expr, $other:ident => $b:expr) => {
        impl<$($life,)* T: Element, K: BinaryKernel<op::$trait, T>> $trait<$right> for $left {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method($self, $other: $right) -> Self::Output {
                or_panic(K::binary(Operand::from($a), Operand::from($b)))
            }
        }
    };
}

/// One assignment operator for one pair of operand types.
macro_rules! assignment_operator {
    ($trait:ident::$method:ident as $op:ident, [$($life:lifetime)*], $left:ty, $right:ty,
     $self:ident => $x:expr, $other:ident => $b:expr) => {
        impl<$($life,)* T: Element, K: AssignKernel<op::$op, T>> $trait<$right> for $left {
            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(&mut $self, $other: $right) {
                or_panic(K::assign(Output::from($x), Operand::from($b)))
            }
        }
    };
}

macro_rules! operators {
    ($($trait:ident::$method:ident, $assign:ident::$assign_method:ident;)*) => {$(
        binary_operator!($trait::$method, ['a 'b], &'a TensorBase<T, K>, &'b TensorBase<T, K>,
            self => self, other => other);
        binary_operator!($trait::$method, ['a], &'a TensorBase<T, K>, TensorBase<T, K>,
            self => self, other => &other);
        binary_operator!($trait::$method, ['b], TensorBase<T, K>, &'b TensorBase<T, K>,
            self => &self, other => other);
        binary_operator!($trait::$method, [], TensorBase<T, K>, TensorBase<T, K>,
            self => &self, other => &other);
        binary_operator!($trait::$method, ['a], &'a TensorBase<T, K>, T,
            self => self, other => other);
        binary_operator!($trait::$method, [], TensorBase<T, K>, T, self => &self, other => other);
        binary_operator!($trait::$method, ['a 'b 'v], &'a TensorBase<T, K>, &'b TensorView<'v, T>,
            self => self, other => other);
        binary_operator!($trait::$method, ['b 'v], TensorBase<T, K>, &'b TensorView<'v, T>,
            self => &self, other => other);
        binary_operator!($trait::$method, ['a 'b 'v], &'a TensorView<'v, T>, &'b TensorBase<T, K>,
            self => self, other => other);
        binary_operator!($trait::$method, ['a 'v], &'a TensorView<'v, T>, TensorBase<T, K>,
            self => self, other => &other);

        assignment_operator!($assign::$assign_method as $trait,
            ['b], TensorBase<T, K>, &'b TensorBase<T, K>, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait,
            [], TensorBase<T, K>, TensorBase<T, K>, self => &*self, other => &other);
        assignment_operator!($assign::$assign_method as $trait,
            [], TensorBase<T, K>, T, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait,
            ['b 'v], TensorBase<T, K>, &'b TensorView<'v, T>, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait,
            ['b 'x], TensorViewMut<'x, T>, &'b TensorBase<T, K>, self => self, other => other);
        assignment_operator!($assign::$assign_method as $trait,
            ['x], TensorViewMut<'x, T>, TensorBase<T, K>, self => self, other => &other);

        for_each_dtype!(value_operators, $trait::$method);
    )*};
}

/// Operators whose left operand is a value. The orphan rule allows them for concrete types only.
macro_rules! value_operators {
    ([$trait:ident::$method:ident]
     $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        $(#[$gate])*
        impl<'b, K: BinaryKernel<op::$trait, $type>> $trait<&'b TensorBase<$type, K>> for $type {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: &'b TensorBase<$type, K>) -> Self::Output {
                or_panic(K::binary(Operand::from(self), Operand::from(other)))
            }
        }

        $(#[$gate])*
        impl<K: BinaryKernel<op::$trait, $type>> $trait<TensorBase<$type, K>> for $type {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: TensorBase<$type, K>) -> Self::Output {
                or_panic(K::binary(Operand::from(self), Operand::from(&other)))
            }
        }
    )*};
}

operators! {
    Add::add, AddAssign::add_assign;
    Sub::sub, SubAssign::sub_assign;
    Mul::mul, MulAssign::mul_assign;
    Div::div, DivAssign::div_assign;
    Rem::rem, RemAssign::rem_assign;
    BitAnd::bitand, BitAndAssign::bitand_assign;
    BitOr::bitor, BitOrAssign::bitor_assign;
    BitXor::bitxor, BitXorAssign::bitxor_assign;
    Shl::shl, ShlAssign::shl_assign;
    Shr::shr, ShrAssign::shr_assign;
}

macro_rules! unary_operators {
    ($($trait:ident::$method:ident),*) => {$(
        impl<T: Element, K: UnaryKernel<op::$trait, T>> $trait for &TensorBase<T, K> {
            type Output = TensorBase<T, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> TensorBase<T, K> {
                or_panic(K::unary(Operand::from(self)))
            }
        }

        impl<T: Element, K: UnaryKernel<op::$trait, T>> $trait for TensorBase<T, K> {
            type Output = TensorBase<T, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> TensorBase<T, K> {
                or_panic(K::unary(Operand::from(&self)))
            }
        }
    )*};
}

unary_operators!(Neg::neg, Not::not);
