//! The named operations as methods of tensors of run-time dtypes: macros that the table of
//! operations passes its rows to.
//!
//! They are expanded beside the trait. What the methods name is exported with them.

#[cfg(doc)]
use tensor_core::DTypeError;
pub(super) use tensor_core::{AnyOperand, DType, TensorBase};
use tensor_core::{AnyTensorBase, BuiltIn, Error, Result, Scalar};

pub(super) use super::movement::movement_methods;
pub(super) use crate::{
    api::{
        call::Call,
        movement::PadMode,
        ops::{
            self,
            table::{binary_operations, ternary_operations, unary_operations},
        },
    },
    exec::Exec,
};

/// Operations on one operand. Those whose results are fractions compute integers as f32.
macro_rules! unary {
    () => {};
    (
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $o:ident::Float:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
        $($rest:tt)*
    ) => {
        $crate::api::any::methods::unary! { @method [$(#[$doc])*] $op, Inexact, $name, true }
        $crate::api::any::methods::unary! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
        $($rest:tt)*
    ) => {
        $crate::api::any::methods::unary! { @method [$(#[$doc])*] $op, $bound, $name, false }
        $crate::api::any::methods::unary! { $($rest)* }
    };
    (@method [$(#[$doc:meta])*] $op:ident, $bound:ident, $name:ident, $fractions:literal) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DTypeError::Unsupported`]; see the trait.
        #[track_caller]
        fn $name(&self) -> Result<AnyTensorBase<K>> {
            let call = Call::current(stringify!($name))?;
            if let Some(result) = elementwise::of_bool(call, self.as_any())? {
                return Ok(result);
            }
            let a = elementwise::prepared(call, self.as_any(), $fractions)?;
            match_tensor!($bound, &*a, call.op, a => typed::mapped(call, a, ops::$op))
        }
    };
}

/// Operations on two operands: to a new tensor, and in place.
macro_rules! binary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$(
        $crate::api::any::methods::binary! { @method [$(#[$doc])*] $name $(, $method)? }

        $(
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
            /// The dtype stays as it is.
            ///
            /// # Errors
            /// [`DTypeError::ResultCast`] for a result of a higher category;
            /// [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
            #[track_caller]
            fn $inplace<'b>(&self, b: impl Into<AnyOperand<'b, K>>) -> Result<()>
            where
                K: 'b,
            {
                elementwise::$inplace(self.as_any(), &b.into())
            }
        )?
    )*};
    (@method $doc:tt $name:ident) => {
        $crate::api::any::methods::binary! { @method $doc $name, $name }
    };
    (@method [$(#[$doc:meta])*] $name:ident, $method:ident) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DTypeError`], [`Error::Broadcast`].
        #[track_caller]
        fn $method<'b>(&self, b: impl Into<AnyOperand<'b, K>>) -> Result<AnyTensorBase<K>>
        where
            K: 'b,
        {
            elementwise::$name(&self.as_any().into(), &b.into())
        }
    };
}

/// Operations on three operands.
macro_rules! ternary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr }
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DTypeError`], [`Error::Broadcast`].
        #[track_caller]
        fn $name<'b, 'c>(
            &self,
            $b: impl Into<AnyOperand<'b, K>>,
            $c: impl Into<AnyOperand<'c, K>>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'b + 'c,
        {
            elementwise::$name(&self.as_any().into(), &$b.into(), &$c.into())
        }
    )*};
}

/// The methods, for the trait of the extension methods.
macro_rules! elementwise_methods {
    () => {
        /// The elements converted to a dtype; the tensor itself if it has it (PyTorch:
        /// `to(dtype)`).
        ///
        /// # Errors
        /// [`DTypeError::NotInBuild`]; see the trait.
        #[track_caller]
        fn to_dtype(&self, dtype: DType) -> Result<AnyTensorBase<K>> {
            convert::to_dtype(self.as_any(), dtype)
        }

        /// The elements converted to a type, as a typed tensor; the same storage if they have it.
        ///
        /// # Errors
        /// See the trait.
        #[track_caller]
        fn to_typed<T: CastAny>(&self) -> Result<TensorBase<T, K>> {
            convert::typed(self.as_any())
        }

        /// The elements in logical order, converted to a type (PyTorch: `flatten().tolist()`).
        ///
        /// # Errors
        /// See the trait.
        fn to_vec<T: CastAny>(&self) -> Result<Vec<T>> {
            let typed = convert::typed::<T, K>(self.as_any())?;
            crate::to_vec(Exec::current()?, &typed.read()?.as_view())
        }

        /// Copies the elements of another tensor, broadcast and converted, into this one (PyTorch:
        /// `copy_`).
        ///
        /// # Errors
        /// Shapes that do not broadcast; tensors that share elements.
        #[track_caller]
        fn copy_from(&self, from: &AnyTensorBase<K>) -> Result<()> {
            elementwise::copy_converted("copy_from", self.as_any(), from)
        }

        /// Same shape and equal elements, after promotion? (PyTorch: `torch.equal`)
        ///
        /// # Errors
        /// [`DTypeError::Promotion`].
        #[track_caller]
        fn equal(&self, other: &AnyTensorBase<K>) -> Result<bool> {
            let a = self.as_any();
            if a.shape() == other.shape() { elementwise::equal(a, other) } else { Ok(false) }
        }

        /// The elements of `a` where this is true, else those of `b`, broadcast and promoted
        /// (PyTorch: `torch.where`).
        ///
        /// # Errors
        /// [`Error::DTypeMismatch`] if this is no bool; [`DTypeError::Promotion`],
        /// [`Error::Broadcast`].
        #[track_caller]
        fn where_cond<'a, 'b>(
            &self,
            a: impl Into<AnyOperand<'a, K>>,
            b: impl Into<AnyOperand<'b, K>>,
        ) -> Result<AnyTensorBase<K>>
        where
            K: 'a + 'b,
        {
            elementwise::where_cond(self.as_any(), &a.into(), &b.into())
        }

        unary_operations! { unary }
        binary_operations! { binary }
        ternary_operations! { ternary }
        movement_methods! {}
    };
}

pub(super) use {binary, elementwise_methods, ternary, unary};

/// The typed tensor, which must have these elements.
pub(super) fn expect<T: BuiltIn, K>(any: &AnyTensorBase<K>) -> Result<&TensorBase<T, K>> {
    let (expected, found) = (<T as Scalar>::DTYPE, any.dtype());
    any.typed::<T>().ok_or(Error::DTypeMismatch { expected, found })
}
