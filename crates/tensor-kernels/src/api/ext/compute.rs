//! The elementwise operations, and those that move elements, as methods of tensors and views.
//!
//! The macro is expanded beside the trait. What its methods name is exported with it.

pub(super) use tensor_core::{OptionalDim, Scalar};

pub(super) use super::{
    into_result::into_methods,
    methods::{binary, ternary, try_methods, unary},
};
pub(super) use crate::{
    api::{
        call::Call,
        elementwise,
        movement::{self, PadMode, methods::movement_methods},
        ops::{
            self,
            table::{binary_operations, ternary_operations, unary_operations},
        },
    },
    element::{Bits, Cast, Compare, Equality, Integer, Number, Ordered, Real},
};

/// The methods, for the trait of the extension methods.
macro_rules! elementwise_methods {
    () => {
        /// The elements converted to another type (PyTorch: `to(dtype)`).
        ///
        /// # Errors
        /// See the trait.
        #[doc(alias = "to")]
        #[track_caller]
        fn cast<U: Element>(&self) -> Result<TensorBase<U, K>>
        where
            T: Cast<U>,
        {
            Call::current("cast")?.eval1(ops::Convert::TO, self.operand())
        }

        /// The elements converted to the type of a given result (PyTorch: `out.copy_(a)`).
        ///
        /// # Errors
        /// Those of [`ops::cast_into`].
        #[track_caller]
        fn cast_into<'o, U: Element>(&self, out: impl Into<Output<'o, U>>) -> Result<()>
        where
            T: Cast<U>,
        {
            ops::cast_into(Exec::current()?, self.operand(), out)
        }

        /// A new tensor with `f` of each element.
        ///
        /// # Errors
        /// See the trait.
        #[track_caller]
        fn map<R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<TensorBase<R, K>> {
            elementwise::map(Exec::current()?, self.operand(), f)
        }

        /// [`map`](Self::map) into a given result.
        ///
        /// ```
        /// use tensor_kernels::prelude::*;
        ///
        /// let x = tensor![[1.5f32, -2.5], [0.5, 3.0]];
        /// let mut bytes = [0u8; 4];
        /// x.map_into(&mut bytes, |x| x.max(0.0) as u8)?;
        /// assert_eq!(bytes, [1, 0, 0, 3]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::OutputShape`], [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn map_into<'o, R: Element>(
            &self,
            out: impl Into<Output<'o, R>>,
            f: impl Fn(T) -> R + Sync,
        ) -> Result<()> {
            elementwise::map_into(Exec::current()?, self.operand(), out, f)
        }

        /// A new tensor with `f` of the elements of two operands, broadcast.
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn zip_map<B: Element, R: Element>(
            &self,
            b: impl AsOperand<B>,
            f: impl Fn(T, B) -> R + Sync,
        ) -> Result<TensorBase<R, K>> {
            elementwise::zip(Exec::current()?, self.operand(), b, f)
        }

        /// [`zip_map`](Self::zip_map) into a given result.
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn zip_into<'o, B: Element, R: Element>(
            &self,
            b: impl AsOperand<B>,
            out: impl Into<Output<'o, R>>,
            f: impl Fn(T, B) -> R + Sync,
        ) -> Result<()> {
            elementwise::zip_into(Exec::current()?, self.operand(), b, out, f)
        }

        /// A new tensor with `f` of the elements of three operands, broadcast.
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn zip3_map<B: Element, C: Element, R: Element>(
            &self,
            b: impl AsOperand<B>,
            c: impl AsOperand<C>,
            f: impl Fn(T, B, C) -> R + Sync,
        ) -> Result<TensorBase<R, K>> {
            elementwise::zip3(Exec::current()?, self.operand(), b, c, f)
        }

        /// [`zip3_map`](Self::zip3_map) into a given result.
        ///
        /// # Errors
        /// As [`zip_into`](Self::zip_into).
        #[track_caller]
        fn zip3_into<'o, B: Element, C: Element, R: Element>(
            &self,
            b: impl AsOperand<B>,
            c: impl AsOperand<C>,
            out: impl Into<Output<'o, R>>,
            f: impl Fn(T, B, C) -> R + Sync,
        ) -> Result<()> {
            elementwise::zip3_into(Exec::current()?, self.operand(), b, c, out, f)
        }

        unary_operations! { unary }
        binary_operations! { binary }
        ternary_operations! { ternary }
        try_methods! {
            binary {
                try_add Add add<Number> -> T;
                try_sub Sub sub<Number> -> T;
                try_mul Mul mul<Number> -> T;
                try_div Div div<Number> -> T::Float;
                try_rem Rem rem<Ordered> -> T;
                try_shl Shl shl<Integer> -> T;
                try_shr Shr shr<Integer> -> T;
            }
            unary {
                try_neg Neg neg<Number>;
            }
        }
        movement_methods! {}

        /// The elements of `a` where this is true, else those of `b`, broadcast (PyTorch:
        /// `torch.where`).
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[doc(alias = "where")]
        #[track_caller]
        fn where_cond<U: Element>(
            &self,
            a: impl AsOperand<U>,
            b: impl AsOperand<U>,
        ) -> Result<TensorBase<U, K>>
        where
            Self: TensorExt<bool, K>,
        {
            let condition = TensorExt::<bool, K>::operand(self);
            Call::current("where_cond")?.eval3(
                ops::Where,
                condition,
                a.as_operand(),
                b.as_operand(),
            )
        }

        /// [`where_cond`](Self::where_cond) into a given result. As [`ops::where_cond_into`].
        ///
        /// # Errors
        /// Those of [`ops::where_cond_into`].
        #[track_caller]
        fn where_cond_into<'o, U: Element>(
            &self,
            a: impl AsOperand<U>,
            b: impl AsOperand<U>,
            out: impl Into<Output<'o, U>>,
        ) -> Result<()>
        where
            Self: TensorExt<bool, K>,
        {
            let condition = TensorExt::<bool, K>::operand(self);
            ops::where_cond_into(Exec::current()?, condition, a, b, out)
        }
    };
}

pub(super) use elementwise_methods;
