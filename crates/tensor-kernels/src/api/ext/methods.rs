//! The named operations as methods of tensors and views: macros that
//! [`table`](crate::api::ops::table) passes its rows to.

/// Operations on one operand: to a new tensor, and into a given result.
macro_rules! unary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("As [`ops::", stringify!($name), "`], where `a` is this tensor.")]
        ///
        /// # Errors
        /// See the trait.
        #[track_caller]
        fn $name(&self) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            Call::current(stringify!($name))?.eval1(ops::$op, self.operand())
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        #[doc = concat!("into a given result. As [`ops::", stringify!($into), "`].")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($into), "`].")]
        #[track_caller]
        fn $into<'o>(&self, out: impl Into<Output<'o, $output>>) -> Result<()>
        where
            T: $bound,
        {
            ops::$into(Exec::current()?, self.operand(), out)
        }
    )*};
}

/// Operations on two operands: to a new tensor, and into a given result.
macro_rules! binary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident> -> $output:ty:
            $name:ident, $into:ident
            $(, in place $inplace:ident<$inplace_bound:ident>)? $(, divides $check:ident)?
            $(, of two $of_two:ident)? $(, method $method:ident)? $(, operator $operator:ident)?
            { $($value:tt)* }
    )*) => {$(
        $crate::api::ext::methods::binary_method! {
            $(#[$doc])*
            $op<$bound> -> $output: $name $(method $method)?
        }

        #[doc = concat!("[`ops::", stringify!($name), "`] into a given result.")]
        #[doc = concat!("As [`ops::", stringify!($into), "`], where `a` is this tensor.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($into), "`].")]
        #[track_caller]
        fn $into<'o>(
            &self,
            b: impl AsOperand<T>,
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()>
        where
            T: $bound,
        {
            ops::$into(Exec::current()?, self.operand(), b, out)
        }
    )*};
}

macro_rules! binary_method {
    ($(#[$doc:meta])* $op:ident<$bound:ident> -> $output:ty: $name:ident) => {
        $crate::api::ext::methods::binary_method! {
            $(#[$doc])*
            $op<$bound> -> $output: $name method $name
        }
    };
    (
        $(#[$doc:meta])*
        $op:ident<$bound:ident> -> $output:ty: $name:ident method $method:ident
    ) => {
        $(#[$doc])*
        ///
        #[doc = concat!("As [`ops::", stringify!($name), "`], where `a` is this tensor.")]
        ///
        /// # Errors
        /// [`Error::Broadcast`]; [`Error::DivisionByZero`].
        #[track_caller]
        fn $method(&self, b: impl AsOperand<T>) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            ops::$op::eval(Call::current(stringify!($name))?, self.operand(), b.as_operand())
        }
    };
}

/// Operations on three operands: to a new tensor, and into a given result.
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
        #[doc = concat!("As [`ops::", stringify!($name), "`], where `a` is this tensor.")]
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn $name(
            &self,
            $b: impl AsOperand<T>,
            $c: impl AsOperand<T>,
        ) -> Result<TensorBase<T, K>>
        where
            T: $bound,
        {
            let (b, c) = ($b.as_operand(), $c.as_operand());
            Call::current(stringify!($name))?.eval3(ops::$op, self.operand(), b, c)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        #[doc = concat!("into a given result. As [`ops::", stringify!($into), "`].")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($into), "`].")]
        #[track_caller]
        fn $into<'o>(
            &self,
            $b: impl AsOperand<T>,
            $c: impl AsOperand<T>,
            out: impl Into<Output<'o, T>>,
        ) -> Result<()>
        where
            T: $bound,
        {
            ops::$into(Exec::current()?, self.operand(), $b, $c, out)
        }
    )*};
}

/// The operations that are operators too, under names that the traits of `std::ops` do not have.
macro_rules! try_methods {
    (
        binary { $($try:ident $op:ident $name:ident<$bound:ident> -> $output:ty;)* }
        unary { $($try_unary:ident $op_unary:ident $unary:ident<$unary_bound:ident>;)* }
    ) => {
        $(
            #[doc = concat!("[`", stringify!($name), "`](TensorExt::", stringify!($name), "),")]
            #[doc = concat!(
                "under a name that [`std::ops::", stringify!($op), "`] does not shadow."
            )]
            ///
            /// # Errors
            /// [`Error::Broadcast`]; [`Error::DivisionByZero`].
            #[track_caller]
            fn $try(&self, b: impl AsOperand<T>) -> Result<TensorBase<$output, K>>
            where
                T: $bound,
            {
                TensorExt::$name(self, b)
            }
        )*
        $(
            #[doc = concat!("[`", stringify!($unary), "`](TensorExt::", stringify!($unary), "),")]
            #[doc = concat!(
                "under a name that [`std::ops::", stringify!($op_unary), "`] does not shadow."
            )]
            ///
            /// # Errors
            /// See the trait.
            #[track_caller]
            fn $try_unary(&self) -> Result<TensorBase<T, K>>
            where
                T: $unary_bound,
            {
                TensorExt::$unary(self)
            }
        )*
    };
}

pub(super) use {binary, binary_method, ternary, try_methods, unary};
