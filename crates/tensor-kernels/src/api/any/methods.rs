//! The named operations as methods of tensors of run-time dtypes: macros that the table of
//! operations passes its rows to.
//!
//! They are expanded beside the trait. What the methods name is exported with them.

#[cfg(doc)]
use tensor_core::DTypeError;
pub(super) use tensor_core::{AnyOperand, AnyOutput, DType, OptionalDim, TensorBase};
use tensor_core::{AnyTensorBase, BuiltIn, Error, Result, Scalar};

pub(super) use super::{
    into_result::{any_into_methods, movement_into_methods},
    movement::movement_methods,
};
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
        $crate::api::any::methods::unary! { @method [$(#[$doc])*] $op, Inexact, $name, $into, true
            $(, in place $inplace)?
        }
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
        $crate::api::any::methods::unary! { @method [$(#[$doc])*] $op, $bound, $name, $into, false
            $(, in place $inplace)?
        }
        $crate::api::any::methods::unary! { $($rest)* }
    };
    (@method [$(#[$doc:meta])*] $op:ident, $bound:ident, $name:ident, $into:ident,
     $fractions:literal $(, in place $inplace:ident)?) => {
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

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        /// into a given result (PyTorch: `out=`).
        ///
        /// # Errors
        /// [`DTypeError::ResultCast`] for a result of a higher category; [`Error::OutputShape`],
        /// [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $into<'o>(&self, out: impl Into<AnyOutput<'o>>) -> Result<()> {
            let (call, out) = (Call::current(stringify!($name))?, out.into());
            if let Some(result) = elementwise::of_bool(call, self.as_any())? {
                return output::store(call, &result, out);
            }
            let a = elementwise::prepared(call, self.as_any(), $fractions)?;
            match_tensor!($bound, &*a, call.op, a => typed::mapped_into(call, a, ops::$op, out))
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
            /// The dtype stays as it is.
            ///
            /// # Errors
            /// [`DTypeError::ResultCast`] for a result of a higher category;
            /// [`Error::WriteOverlap`].
            #[track_caller]
            fn $inplace(&self) -> Result<()> {
                elementwise::check_inplace(stringify!($name), self.as_any())?;
                self.$into(self.as_any())
            }
        )?
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

        #[doc = concat!("[`ops::", stringify!($name), "`] into a given result (PyTorch: `out=`).")]
        ///
        /// # Errors
        /// [`DTypeError`], also for a result of a higher category than the given one;
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $into<'b, 'o>(
            &self,
            b: impl Into<AnyOperand<'b, K>>,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()>
        where
            K: 'b,
        {
            elementwise::$into(&self.as_any().into(), &b.into(), out.into())
        }

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
                self.$into(b, self.as_any())
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
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr
                $(, in_registers $register_op:ident)? }
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

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        /// into a given result (PyTorch: `out=`).
        ///
        /// # Errors
        /// [`DTypeError`], also for a result of a higher category than the given one;
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $into<'b, 'c, 'o>(
            &self,
            $b: impl Into<AnyOperand<'b, K>>,
            $c: impl Into<AnyOperand<'c, K>>,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()>
        where
            K: 'b + 'c,
        {
            elementwise::$into(&self.as_any().into(), &$b.into(), &$c.into(), out.into())
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
        /// The dtype stays as it is.
        ///
        /// # Errors
        /// [`DTypeError::ResultCast`] for a result of a higher category; [`Error::Broadcast`],
        /// [`Error::WriteOverlap`], [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $inplace<'b, 'c>(
            &self,
            $b: impl Into<AnyOperand<'b, K>>,
            $c: impl Into<AnyOperand<'c, K>>,
        ) -> Result<()>
        where
            K: 'b + 'c,
        {
            self.$into($b, $c, self.as_any())
        }
    )*};
}

/// The operations that are operators too, under names that the traits of `std::ops` do not have.
macro_rules! try_methods {
    (
        binary { $($try:ident $op:ident $name:ident;)* }
        unary { $($try_unary:ident $op_unary:ident $unary:ident;)* }
    ) => {
        $(
            #[doc = concat!("[`", stringify!($name), "`](AnyTensorExt::", stringify!($name), "),")]
            #[doc = concat!(
                "under a name that [`std::ops::", stringify!($op), "`] does not shadow."
            )]
            ///
            /// # Errors
            /// [`DTypeError`], [`Error::Broadcast`].
            #[track_caller]
            fn $try<'b>(&self, b: impl Into<AnyOperand<'b, K>>) -> Result<AnyTensorBase<K>>
            where
                K: 'b,
            {
                AnyTensorExt::$name(self, b)
            }
        )*
        $(
            #[doc = concat!(
                "[`", stringify!($unary), "`](AnyTensorExt::", stringify!($unary), "),"
            )]
            #[doc = concat!(
                "under a name that [`std::ops::", stringify!($op_unary), "`] does not shadow."
            )]
            ///
            /// # Errors
            /// [`DTypeError::Unsupported`]; see the trait.
            #[track_caller]
            fn $try_unary(&self) -> Result<AnyTensorBase<K>> {
                AnyTensorExt::$unary(self)
            }
        )*
    };
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
        #[track_caller]
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
        fn copy_from<'b>(&self, from: impl Into<AnyOperand<'b, K>>) -> Result<()>
        where
            K: 'b,
        {
            let call = Call::current("copy_from")?;
            output::copy_converted(call, &from.into(), self.as_any().into())
        }

        /// Copies the elements, converted, into a given result of the same shape (PyTorch:
        /// `out.copy_(a)`).
        ///
        /// ```
        /// use tensor_kernels::{AnyTensor, AnyTensorExt, DType};
        ///
        /// let x = AnyTensor::arange(0, 6, 1, DType::U8)?.view([2, 3])?;
        /// let mut columns = [0.0f32; 6];
        /// x.t()?.copy_into(&mut columns)?;
        /// assert_eq!(columns, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        /// # Ok::<(), tensor_kernels::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::OutputShape`], [`Error::WriteOverlap`]; tensors that share elements.
        #[track_caller]
        fn copy_into<'o>(&self, out: impl Into<AnyOutput<'o>>) -> Result<()> {
            output::store(Call::current("copy_into")?, self.as_any(), out.into())
        }

        /// Same shape and equal elements, after promotion? (PyTorch: `torch.equal`)
        ///
        /// # Errors
        /// [`DTypeError::Promotion`].
        #[track_caller]
        fn equal<'b>(&self, other: impl Into<AnyOperand<'b, K>>) -> Result<bool>
        where
            K: 'b,
        {
            let (a, b) = (self.as_any(), other.into());
            if a.shape() == b.shape() { elementwise::equal(&a.into(), &b) } else { Ok(false) }
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

        /// [`where_cond`](Self::where_cond) into a given result, converted to its dtype (PyTorch:
        /// `out=`).
        ///
        /// # Errors
        /// Those of [`where_cond`](Self::where_cond); [`DTypeError::ResultCast`] for a result of a
        /// higher category; [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn where_cond_into<'a, 'b, 'o>(
            &self,
            a: impl Into<AnyOperand<'a, K>>,
            b: impl Into<AnyOperand<'b, K>>,
            out: impl Into<AnyOutput<'o>>,
        ) -> Result<()>
        where
            K: 'a + 'b,
        {
            elementwise::where_cond_into(self.as_any(), &a.into(), &b.into(), out.into())
        }

        unary_operations! { unary }
        binary_operations! { binary }
        ternary_operations! { ternary }
        try_methods! {
            binary {
                try_add Add add; try_sub Sub sub; try_mul Mul mul; try_div Div div;
                try_rem Rem rem; try_shl Shl shl; try_shr Shr shr;
            }
            unary { try_neg Neg neg; }
        }
        movement_methods! {}
        movement_into_methods! {}
    };
}

pub(super) use {binary, elementwise_methods, ternary, try_methods, unary};

/// The typed tensor, which must have these elements.
pub(super) fn expect<T: BuiltIn, K>(any: &AnyTensorBase<K>) -> Result<&TensorBase<T, K>> {
    let (expected, found) = (<T as Scalar>::DTYPE, any.dtype());
    any.typed::<T>().ok_or(Error::DTypeMismatch { expected, found })
}
