//! The named operations as methods: macros that [`table`](crate::api::ops::table) passes its rows
//! to.

/// Operations on one operand: to a new tensor, and in place.
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
            current(stringify!($name))?.eval1(ops::$op, self.operand())
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
            ///
            /// # Errors
            /// [`Error::WriteOverlap`].
            #[track_caller]
            fn $inplace(&self) -> Result<()>
            where
                T: $inplace_bound,
            {
                current(stringify!($name))?.into1(ops::$op, Some(self.operand()), self.target())
            }
        )?
    )*};
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
        $crate::api::ext::methods::binary_method! {
            $(#[$doc])*
            $op<$bound> -> $output: $name $(method $method)?
        }

        $(
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
            ///
            /// # Errors
            /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
            /// [`Error::ReadWriteOverlap`], [`Error::DivisionByZero`].
            #[track_caller]
            fn $inplace<'b>(&self, b: impl Into<Operand<'b, T>>) -> Result<()>
            where
                T: $inplace_bound,
            {
                ops::$op::write(Exec::current()?, Some(self.operand()), b.into(), self.target())
            }
        )?
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
        fn $method<'b>(&self, b: impl Into<Operand<'b, T>>) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            ops::$op::eval(Exec::current()?, self.operand(), b.into())
        }
    };
}

/// Operations on three operands: to a new tensor, and in place.
macro_rules! ternary {
    ($(
        $(#[$doc:meta])*
        $op:ident<$t:ident: $bound:ident>:
            $name:ident, $into:ident, in place $inplace:ident
            { |$m:ident, $a:ident, $b:ident, $c:ident| $value:expr }
    )*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("As [`ops::", stringify!($name), "`], where `a` is this tensor.")]
        ///
        /// # Errors
        /// [`Error::Broadcast`].
        #[track_caller]
        fn $name<'b, 'c>(
            &self,
            $b: impl Into<Operand<'b, T>>,
            $c: impl Into<Operand<'c, T>>,
        ) -> Result<TensorBase<T, K>>
        where
            T: $bound,
        {
            current(stringify!($name))?.eval3(ops::$op, self.operand(), $b.into(), $c.into())
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        #[track_caller]
        fn $inplace<'b, 'c>(
            &self,
            $b: impl Into<Operand<'b, T>>,
            $c: impl Into<Operand<'c, T>>,
        ) -> Result<()>
        where
            T: $bound,
        {
            let (x, b, c) = (Some(self.operand()), Some($b.into()), Some($c.into()));
            current(stringify!($name))?.into3(ops::$op, x, b, c, self.target())
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
        #[doc = concat!("As [`ops::", stringify!($name), "`].")]
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; [`Error::ReduceEmpty`] if there are no
        /// elements and the reduction has no value for that.
        fn $name(&self, over: impl Into<ReduceDims>) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            reductions::$op::eval(Exec::current()?, &self.operand(), over.into())
        }

        #[doc = concat!(
            "[`", stringify!($name), "`](Self::", stringify!($name), ")",
            " of all elements, as a value."
        )]
        ///
        /// # Errors
        /// [`Error::ReduceEmpty`] if there are no elements and the reduction has no value for that.
        fn $all(&self) -> Result<$output>
        where
            T: $bound,
        {
            reductions::$op::all(Exec::current()?, self.operand())
        }
    )*};
}

pub(super) use {binary, binary_method, reductions, ternary, unary};
