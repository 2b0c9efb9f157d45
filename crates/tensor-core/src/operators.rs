//! `+ - * / % & | ^ << >>`, unary `-` and `!`, and assignments like `+=`, on tensors, views and
//! values; computed elsewhere.
//!
//! Rust lets operators of a type be defined in the type's own crate only, and this crate does not
//! compute. So a tensor names, in its second type parameter, what computes for it; the operators
//! here only call it. A view names nothing, so one operand has to be a tensor.
//!
//! ```compile_fail,E0277
//! use tensor_core::Tensor; // of this crate alone: it has no kernels
//! let x = Tensor::full(&[2], 1.0)?;
//! let y = &x + &x;
//! # Ok::<(), tensor_core::Error>(())
//! ```

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

#[cfg(feature = "half")]
use half::{bf16, f16};
#[cfg(feature = "complex")]
use num_complex::{Complex32, Complex64};

use crate::{Element, Operand, Output, Result, TensorBase, TensorView, TensorViewMut};

/// The kernels of a tensor that has none: it has every view, and no operators.
#[derive(Clone, Copy, Debug)]
pub enum Bare {}

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
        Add "+"; Sub "-"; Mul "*"; Div "/"; Rem "%"; BitAnd "&"; BitOr "|"; BitXor "^"; Shl "<<"; Shr ">>"; Neg "-"; Not "!";
    }
}

/// Kernels that compute the binary operator `Op` on elements `T`.
pub trait BinaryKernel<Op, T>: Sized {
    /// The elements of the result.
    type Output;

    /// The result in fresh memory, operands broadcast to one shape.
    ///
    /// # Errors
    /// Shapes that do not broadcast, a storage that is being written, no memory.
    fn binary(a: Operand<'_, T>, b: Operand<'_, T>) -> Result<TensorBase<Self::Output, Self>>;
}

/// Kernels that compute the binary operator `Op` on elements `T` in place.
pub trait AssignKernel<Op, T>: Sized {
    /// The result takes the place of the first operand; the other is broadcast.
    ///
    /// # Errors
    /// Shapes that do not broadcast to the first, a storage that is borrowed, operands that overlap
    /// without being the same.
    fn assign(x: Output<'_, T>, b: Operand<'_, T>) -> Result<()>;
}

/// Kernels that compute the unary operator `Op` on elements `T`.
pub trait UnaryKernel<Op, T>: Sized {
    /// The result in fresh memory.
    ///
    /// # Errors
    /// A storage that is being written, no memory.
    fn unary(a: Operand<'_, T>) -> Result<TensorBase<T, Self>>;
}

#[track_caller]
fn or_panic<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|refused| panic!("{refused}"))
}

/// One operator for one pair of operand types, each as `&operand`.
macro_rules! binary_operator {
    ($trait:ident::$method:ident, [$($life:lifetime)*], $left:ty, $right:ty, $self:ident => $a:expr, $other:ident => $b:expr) => {
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

macro_rules! assignment_operator {
    ($trait:ident::$method:ident as $op:ident, [$($life:lifetime)*], $left:ty, $right:ty, $self:ident => $x:expr, $other:ident => $b:expr) => {
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
        binary_operator!($trait::$method, ['a 'b], &'a TensorBase<T, K>, &'b TensorBase<T, K>, self => self, other => other);
        binary_operator!($trait::$method, ['a], &'a TensorBase<T, K>, TensorBase<T, K>, self => self, other => &other);
        binary_operator!($trait::$method, ['b], TensorBase<T, K>, &'b TensorBase<T, K>, self => &self, other => other);
        binary_operator!($trait::$method, [], TensorBase<T, K>, TensorBase<T, K>, self => &self, other => &other);
        binary_operator!($trait::$method, ['a], &'a TensorBase<T, K>, T, self => self, other => other);
        binary_operator!($trait::$method, [], TensorBase<T, K>, T, self => &self, other => other);
        binary_operator!($trait::$method, ['a 'b 'v], &'a TensorBase<T, K>, &'b TensorView<'v, T>, self => self, other => other);
        binary_operator!($trait::$method, ['b 'v], TensorBase<T, K>, &'b TensorView<'v, T>, self => &self, other => other);
        binary_operator!($trait::$method, ['a 'b 'v], &'a TensorView<'v, T>, &'b TensorBase<T, K>, self => self, other => other);
        binary_operator!($trait::$method, ['a 'v], &'a TensorView<'v, T>, TensorBase<T, K>, self => self, other => &other);

        assignment_operator!($assign::$assign_method as $trait, ['b], TensorBase<T, K>, &'b TensorBase<T, K>, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait, [], TensorBase<T, K>, TensorBase<T, K>, self => &*self, other => &other);
        assignment_operator!($assign::$assign_method as $trait, [], TensorBase<T, K>, T, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait, ['b 'v], TensorBase<T, K>, &'b TensorView<'v, T>, self => &*self, other => other);
        assignment_operator!($assign::$assign_method as $trait, ['b 'x], TensorViewMut<'x, T>, &'b TensorBase<T, K>, self => self, other => other);
        assignment_operator!($assign::$assign_method as $trait, ['x], TensorViewMut<'x, T>, TensorBase<T, K>, self => self, other => &other);

        value_operators!($trait::$method: bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
        #[cfg(feature = "half")]
        const _: () = { value_operators!($trait::$method: f16 bf16); };
        #[cfg(feature = "complex")]
        const _: () = { value_operators!($trait::$method: Complex32 Complex64); };
    )*};
}

/// Operators whose left operand is a value: Rust has them for named types only.
macro_rules! value_operators {
    ($trait:ident::$method:ident: $($type:ident)*) => {$(
        impl<'b, K: BinaryKernel<op::$trait, $type>> $trait<&'b TensorBase<$type, K>> for $type {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: &'b TensorBase<$type, K>) -> Self::Output {
                or_panic(K::binary(Operand::from(self), Operand::from(other)))
            }
        }

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
