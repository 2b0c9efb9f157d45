//! Error types whose texts stand beside their variants.
//!
//! `thiserror` reads the same notation, but needs a parser of Rust (`syn`), which takes longer to
//! compile than the rest of this crate.

/// Defines an error type: an enum, in which each variant has its text as `#[error(…)]`, with the
/// arguments of `format!`. In the text the fields have their own names, and are references. A
/// variant that contains another value names it: `Pattern(why: Box<PatternError>)`.
macro_rules! error_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $(
                $(#[doc = $doc:literal])*
                #[error($($text:tt)*)]
                $variant:ident
                $({ $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)* })?
                $(($value:ident: $value_type:ty))?,
            )*
        }
    ) => {
        $(#[$attribute])*
        pub enum $name {
            $(
                $(#[doc = $doc])*
                $variant $({ $($(#[doc = $field_doc])* $field: $type,)* })? $(($value_type))?,
            )*
        }

        impl std::fmt::Display for $name {
            #[allow(unused_variables, reason = "not all values are part of the text")]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($value))? => write!(f, $($text)*),)*
                }
            }
        }

        impl std::error::Error for $name {}
    };
}

pub(super) use error_enum;
