//! The named operations as methods; each is one line of a table.

/// Two operands: to a new tensor, and in place.
macro_rules! binary {
    ($($name:ident $inplace:ident $op:ident $bound:ident -> $output:ty, $doc:literal;)*) => {$(
        $crate::api::ext::methods::binary_new! { $name $op $bound -> $output, $doc; }
        $crate::api::ext::methods::binary_inplace! {
            $inplace $op $bound,
            concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.");
        }
    )*};
}

macro_rules! binary_new {
    ($($name:ident $op:ident $bound:ident -> $output:ty, $doc:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error::Broadcast`]; [`Error::DivisionByZero`].
        fn $name<'b>(&self, b: impl Into<Operand<'b, T>>) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            ops::$op::eval(Exec::current()?, self.operand(), b.into())
        }
    )*};
}

macro_rules! binary_inplace {
    ($($name:ident $op:ident $bound:ident, $doc:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error::Broadcast`], [`Error::OutputShape`], [`Error::WriteOverlap`],
        /// [`Error::ReadWriteOverlap`].
        fn $name<'b>(&self, b: impl Into<Operand<'b, T>>) -> Result<()>
        where
            T: $bound,
        {
            ops::$op::write(Exec::current()?, Some(self.operand()), b.into(), self.target())
        }
    )*};
}

/// One operand: to a new tensor, and in place.
macro_rules! unary {
    ($($name:ident $inplace:ident $op:ident $bound:ident, $doc:literal;)*) => {$(
        $crate::api::ext::methods::unary_new! { $name $op $bound -> T, $doc; }
        $crate::api::ext::methods::unary_inplace! {
            $inplace $op $bound,
            concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.");
        }
    )*};
}

/// The same, for functions whose results are floats.
macro_rules! unary_float {
    ($($name:ident $inplace:ident $op:ident, $doc:literal;)*) => {$(
        $crate::api::ext::methods::unary_new! {
            $name $op Number -> T::Float,
            concat!($doc, " Of integers as f32.");
        }
        $crate::api::ext::methods::unary_inplace! {
            $inplace $op Inexact,
            concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.");
        }
    )*};
}

macro_rules! unary_new {
    ($($name:ident $op:ident $bound:ident -> $output:ty, $doc:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// See the trait.
        fn $name(&self) -> Result<TensorBase<$output, K>>
        where
            T: $bound,
        {
            current(stringify!($name))?.eval1(ops::$op, self.operand())
        }
    )*};
}

macro_rules! unary_inplace {
    ($($name:ident $op:ident $bound:ident, $doc:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error::WriteOverlap`].
        fn $name(&self) -> Result<()>
        where
            T: $bound,
        {
            current(stringify!($name))?.into1(ops::$op, Some(self.operand()), self.target())
        }
    )*};
}

/// Three operands: to a new tensor, and in place.
macro_rules! ternary {
    ($($name:ident $inplace:ident $op:ident $bound:ident $b:ident $c:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error::Broadcast`].
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
    ($($name:ident $all:ident $op:ident $bound:ident -> $output:ty, $doc:literal;)*) => {$(
        #[doc = concat!($doc, " See [`ops::", stringify!($name), "`].")]
        ///
        /// # Errors
        /// [`Error::DimOutOfRange`], [`Error::ReduceTwice`]; [`Error::ReduceEmpty`] if there are no
        /// elements and the reduction has no value for that.
        fn $name<'d>(&self, over: impl Into<ReduceDims<'d>>) -> Result<TensorBase<$output, K>>
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

pub(super) use {
    binary, binary_inplace, binary_new, reductions, ternary, unary, unary_float, unary_inplace,
    unary_new,
};
