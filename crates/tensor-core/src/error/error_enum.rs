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

/// Defines an error type whose variants stand in several files, in the order of their names there.
macro_rules! join_variants {
    ($(#[$attribute:meta])* pub enum $name:ident { $first:ident $(, $rest:ident)* }) => {
        $first! { [$(#[$attribute])* pub enum $name] [] $($rest)* }
    };
    (@next [$($head:tt)*] [$($variants:tt)*]) => {
        $crate::error::error_enum::error_enum! { $($head)* { $($variants)* } }
    };
    (@next $head:tt $variants:tt $next:ident $($rest:ident)*) => {
        $next! { $head $variants $($rest)* }
    };
}

/// Defines the variants of one file, under a name for [`join_variants`]. The `$` stands before the
/// name because the macro that has them needs the character.
macro_rules! error_variants {
    ($d:tt $name:ident $($variants:tt)*) => {
        macro_rules! $name {
            ($d head:tt [$d($d before:tt)*] $d($d rest:ident)*) => {
                $crate::error::error_enum::join_variants! {
                    @next $d head [$d($d before)* $($variants)*] $d($d rest)*
                }
            };
        }

        pub(super) use $name;
    };
}

pub(super) use {error_enum, error_variants, join_variants};
