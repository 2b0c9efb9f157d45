//! `+`, `-`, `*`, `/` on tensors, computed elsewhere.
//!
//! Rust lets operators of a type be defined in the type's own crate only, and this crate does not compute. So a tensor names, in its second type
//! parameter, what computes for it; the operators here only call it.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::{Result, TensorBase};

/// The kernels of a tensor that has none: it has every view, and no operators.
#[derive(Clone, Copy, Debug)]
pub enum Bare {}

/// The names of the operators.
pub mod op {
    /// Addition, `+`.
    #[derive(Clone, Copy, Debug)]
    pub struct Add;
    /// Subtraction, `-`.
    #[derive(Clone, Copy, Debug)]
    pub struct Sub;
    /// Multiplication, `*`.
    #[derive(Clone, Copy, Debug)]
    pub struct Mul;
    /// Division, `/`.
    #[derive(Clone, Copy, Debug)]
    pub struct Div;
    /// Negation, unary `-`.
    #[derive(Clone, Copy, Debug)]
    pub struct Neg;
}

/// Kernels that compute the binary operator `Op` on elements `T`.
pub trait BinaryKernel<Op, T>: Sized {
    /// The result in fresh memory, operands broadcast to one shape.
    ///
    /// # Errors
    /// Shapes that do not broadcast, a storage that is being written, no memory.
    fn binary(a: &TensorBase<T, Self>, b: &TensorBase<T, Self>) -> Result<TensorBase<T, Self>>;
}

/// Kernels that compute the unary operator `Op` on elements `T`.
pub trait UnaryKernel<Op, T>: Sized {
    /// The result in fresh memory.
    ///
    /// # Errors
    /// A storage that is being written, no memory.
    fn unary(a: &TensorBase<T, Self>) -> Result<TensorBase<T, Self>>;
}

macro_rules! binary_operators {
    ($($trait:ident::$method:ident),*) => {$(
        impl<'a, T, K: BinaryKernel<op::$trait, T>> $trait<&'a TensorBase<T, K>> for &'a TensorBase<T, K> {
            type Output = TensorBase<T, K>;

            /// # Panics
            /// Where the method of the same name returns an error.
            #[track_caller]
            fn $method(self, other: &'a TensorBase<T, K>) -> TensorBase<T, K> {
                K::binary(self, other).unwrap_or_else(|refused| panic!("{refused}"))
            }
        }
    )*};
}

binary_operators!(Add::add, Sub::sub, Mul::mul, Div::div);

impl<T, K: UnaryKernel<op::Neg, T>> Neg for &TensorBase<T, K> {
    type Output = TensorBase<T, K>;

    /// # Panics
    /// Where the method of the same name returns an error.
    #[track_caller]
    fn neg(self) -> TensorBase<T, K> {
        K::unary(self).unwrap_or_else(|refused| panic!("{refused}"))
    }
}
