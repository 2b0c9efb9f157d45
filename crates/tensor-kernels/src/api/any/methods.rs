//! The named operations as methods of tensors of run-time dtypes: macros that the table of
//! operations passes its rows to.

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
            let call = current(stringify!($name))?;
            if let Some(result) = elementwise::of_bool(call, self.as_any())? {
                return Ok(result);
            }
            let a = elementwise::prepared(call, self.as_any(), $fractions)?;
            match_tensor!($bound, &*a, call.op, a => {
                Ok(AnyTensorBase::from(call.eval1(ops::$op, a.into())?))
            })
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

/// Reductions: over some dimensions, and over all of them.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty: $name:ident, $into:ident, $all:ident;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DTypeError::Unsupported`]; [`Error::DimOutOfRange`], [`Error::ReduceTwice`];
        /// [`Error::ReduceEmpty`] if there are no elements and the reduction has no value for that.
        #[track_caller]
        fn $name(&self, over: impl Into<ReduceDims>) -> Result<AnyTensorBase<K>> {
            let call = current(stringify!($name))?;
            let result = match_tensor!($bound, self.as_any(), call.op, a => {
                reductions::$op::eval(call.exec, &a.into(), over.into()).map(AnyTensorBase::from)
            });
            as_torch(call.op, self.as_any().dtype(), result?)
        }

        #[doc = concat!(
            "[`", stringify!($name), "`](Self::", stringify!($name), ")",
            " of all elements, as a value."
        )]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`](Self::", stringify!($name), ").")]
        #[track_caller]
        fn $all(&self) -> Result<AnyValue> {
            self.$name(ReduceDims::ALL)?.item()
        }
    )*};
}

pub(in crate::api) use {binary, reductions, ternary, unary};
