//! Methods that write into a given result, of operations that move elements or work along rows.
//!
//! Such a method is the function of the same name in [`ops`](crate::ops), with
//! [`Exec::current`](crate::Exec::current).

/// `name into(arguments) -> element type of the result, where bounds;` for each method.
macro_rules! into_methods {
    ($(
        $name:ident $into:ident($($arg:ident: $type:ty),*) -> $output:ty
            $(, $t:ident: $bound:ident)?;
    )*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ")")]
        #[doc = concat!("into a given result. As [`ops::", stringify!($into), "`].")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`ops::", stringify!($into), "`].")]
        #[track_caller]
        fn $into<'o>(
            &self,
            $($arg: $type,)*
            out: impl Into<Output<'o, $output>>,
        ) -> Result<()>
        $(where $t: $bound)?
        {
            ops::$into(Exec::current()?, self.operand(), $($arg,)* out)
        }
    )*};
}

pub(super) use into_methods;
