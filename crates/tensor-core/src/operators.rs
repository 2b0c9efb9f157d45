//! `+ - * / % & | ^ << >>`, unary `-` and `!`, and assignments like `+=`, on tensors, views and
//! values.
//!
//! Rust allows operators of a type in the crate of the type only, and this crate does not compute.
//! So the second type parameter of a tensor names its kernels, and the operators here call them
//! through the traits [`BinaryKernel`], [`AssignKernel`] and [`UnaryKernel`]. So do those of views.
//! The operand on the left determines the kernels; that on the right is any [`AsOperand`].
//!
//! ```compile_fail,E0277
//! use tensor_core::Tensor; // of this crate alone: it has no kernels
//! let x = Tensor::full([2], 1.0)?;
//! let y = &x + &x;
//! # Ok::<(), tensor_core::Error>(())
//! ```

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use crate::{
    AsOperand, Element, Operand, Output, Result, TensorBase, TensorViewBase, TensorViewMutBase,
    ViewRef, dtype::for_each_dtype, view::equal_by_rows,
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

    /// Called before `op` copies the elements of a tensor or view into a new vector; an error
    /// refuses it. Kernels that keep account of copies do it here.
    ///
    /// # Errors
    /// The copy is refused.
    #[track_caller]
    fn will_copy<T: Element>(op: &'static str, from: ViewRef<'_, T>) -> Result<()> {
        let _ = (op, from);
        Ok(())
    }

    /// Same shape and equal elements?
    ///
    /// # Errors
    /// No memory.
    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool>;
}

impl ReadKernel for Bare {
    fn to_vec<T: Element>(from: ViewRef<'_, T>) -> Result<Vec<T>> {
        from.to_view::<Self>().rows_to_vec()
    }

    fn equal<T: Element + PartialEq>(a: ViewRef<'_, T>, b: ViewRef<'_, T>) -> Result<bool> {
        Ok(equal_by_rows(&a.to_view::<Self>(), &b.to_view::<Self>()))
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
    type Output: Element;

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
pub trait UnaryKernel<Op, T: Element>: Sized {
    /// The result in newly allocated memory.
    ///
    /// # Errors
    /// A storage that is being written, no memory.
    #[track_caller]
    fn unary(a: Operand<'_, T>) -> Result<TensorBase<T, Self>>;
}

/// The value, or a panic with the error. A panic in a closure would be reported at the closure, not
/// at the caller.
#[doc(hidden)]
#[track_caller]
pub fn or_panic<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => panic!("{refused}"),
    }
}

/// Operators whose left operand is of one type, by reference or by value: one with elements `T`,
/// kernels `K` and `as_operand`. Crates with kernels call it for types of theirs.
#[doc(hidden)]
#[macro_export]
macro_rules! left_operators {
    ($([$($life:lifetime)*] $left:ty;)*) => {$(
        $crate::left_operators! { @binary [$($life)*] $left:
            Add::add, Sub::sub, Mul::mul, Div::div, Rem::rem, BitAnd::bitand, BitOr::bitor,
            BitXor::bitxor, Shl::shl, Shr::shr
        }
        $crate::left_operators! { @unary [$($life)*] $left: Neg::neg, Not::not }
    )*};

    (@binary $lives:tt $left:ty: $($trait:ident::$method:ident),*) => {$(
        $crate::left_operators! { @one $lives $left, $trait::$method }
    )*};

    (@one [$($life:lifetime)*] $left:ty, $trait:ident::$method:ident) => {
        impl<$($life,)* R, T: $crate::Element, K> ::std::ops::$trait<R> for $left
        where
            R: $crate::AsOperand<T>,
            K: $crate::BinaryKernel<$crate::op::$trait, T>,
        {
            type Output = $crate::TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                $crate::or_panic(K::binary(self.as_operand(), other.as_operand()))
            }
        }
    };

    (@unary $lives:tt $left:ty: $($trait:ident::$method:ident),*) => {$(
        $crate::left_operators! { @one_unary $lives $left, $trait::$method }
    )*};

    (@one_unary [$($life:lifetime)*] $left:ty, $trait:ident::$method:ident) => {
        impl<$($life,)* T: $crate::Element, K> ::std::ops::$trait for $left
        where
            K: $crate::UnaryKernel<$crate::op::$trait, T>,
        {
            type Output = $crate::TensorBase<T, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self) -> Self::Output {
                $crate::or_panic(K::unary(self.as_operand()))
            }
        }
    };
}

left_operators! {
    [] TensorBase<T, K>;
    ['a] &'a TensorBase<T, K>;
    ['v] TensorViewBase<'v, T, K>;
    ['a 'v] &'a TensorViewBase<'v, T, K>;
    ['v] TensorViewMutBase<'v, T, K>;
    ['a 'v] &'a TensorViewMutBase<'v, T, K>;
}

macro_rules! assignment_operators {
    ($($trait:ident::$method:ident as $op:ident::$plain:ident;)*) => {$(
        impl<R: AsOperand<T>, T: Element, K: AssignKernel<op::$op, T>> $trait<R>
            for TensorBase<T, K>
        {
            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(&mut self, other: R) {
                or_panic(K::assign(Output::from(&*self), other.as_operand()))
            }
        }

        impl<R: AsOperand<T>, T: Element, K: AssignKernel<op::$op, T>> $trait<R>
            for TensorViewMutBase<'_, T, K>
        {
            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(&mut self, other: R) {
                or_panic(K::assign(Output::from(self), other.as_operand()))
            }
        }

        for_each_dtype!(value_operators, $op::$plain);
    )*};
}

/// Operators whose left operand is a value. The orphan rule allows them for concrete types only.
macro_rules! value_operators {
    ([$trait:ident::$method:ident]
     $($(#[$gate:meta])* $variant:ident: $type:ty, $($text:literal),*;)*) => {$(
        value_operators! { @right $trait::$method, [$(#[$gate])*] $type:
            [] TensorBase<$type, K>;
            ['b] &'b TensorBase<$type, K>;
            ['v] TensorViewBase<'v, $type, K>;
            ['b 'v] &'b TensorViewBase<'v, $type, K>;
            ['b 'v] &'b TensorViewMutBase<'v, $type, K>;
        }
    )*};

    (@right $trait:ident::$method:ident, $gates:tt $type:ty:
     $([$($life:lifetime)*] $right:ty;)*) => {$(
        value_operators! { @one $trait::$method, $gates [$($life)*] $type, $right }
    )*};

    (@one $trait:ident::$method:ident, [$(#[$gate:meta])*]
     [$($life:lifetime)*] $type:ty, $right:ty) => {
        $(#[$gate])*
        impl<$($life,)* K: BinaryKernel<op::$trait, $type>> $trait<$right> for $type {
            type Output = TensorBase<K::Output, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: $right) -> Self::Output {
                or_panic(K::binary(Operand::from(self), other.as_operand()))
            }
        }
    };
}

assignment_operators! {
    AddAssign::add_assign as Add::add;
    SubAssign::sub_assign as Sub::sub;
    MulAssign::mul_assign as Mul::mul;
    DivAssign::div_assign as Div::div;
    RemAssign::rem_assign as Rem::rem;
    BitAndAssign::bitand_assign as BitAnd::bitand;
    BitOrAssign::bitor_assign as BitOr::bitor;
    BitXorAssign::bitxor_assign as BitXor::bitxor;
    ShlAssign::shl_assign as Shl::shl;
    ShrAssign::shr_assign as Shr::shr;
}
