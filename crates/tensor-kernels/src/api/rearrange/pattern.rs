//! Parsed patterns, and the types under which users keep them.

use std::{borrow::Cow, fmt, str::FromStr};

use tensor_core::{Error, PatternError, PatternSide, Result};

use super::{
    number::number,
    parse::{Dim, Refusal, Span, parse},
};

/// What a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Rearrange,
    Repeat,
    Reduce,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Rearrange => "rearrange",
            Self::Repeat => "repeat_axes",
            Self::Reduce => "reduce",
        }
    }

    /// May an axis be on this side only?
    pub(super) fn allows_only(self, side: PatternSide) -> bool {
        match side {
            PatternSide::Left => self == Self::Reduce,
            PatternSide::Right => self == Self::Repeat,
        }
    }
}

/// A pattern whose text is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::api) struct Pattern {
    pub(super) operation: Operation,
    pub(super) text: String,
    /// The axes of the left side in their order, then those that are on the right side only.
    pub(super) axes: Vec<Axis>,
    /// The number of axes on the left side.
    pub(super) left_axes: usize,
    pub(super) left: Vec<Dim<usize>>,
    pub(super) right: Vec<Dim<Place>>,
    pub(super) left_span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Where it stands first.
    pub(super) span: Span,
    /// Its size if it is a number.
    pub(super) size: Option<usize>,
    /// Whether the right side has it.
    pub(super) kept: bool,
}

/// An axis of the right side, by its number, or the ellipsis of the left side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Axis(usize),
    Ellipsis,
}

impl Pattern {
    fn parse(operation: Operation, text: &str) -> Result<Self> {
        let pattern = parse(text).and_then(|(left, right)| number(operation, text, &left, &right));
        pattern.map_err(|refusal| refused(operation, text, refusal))
    }

    /// The name of the operation.
    pub(super) fn op(&self) -> &'static str {
        self.operation.name()
    }

    /// The error for a refusal of this pattern.
    pub(super) fn refused(&self, refusal: Refusal) -> Error {
        refused(self.operation, &self.text, refusal)
    }

    /// The text of a span.
    pub(super) fn text(&self, span: &Span) -> &str {
        &self.text[span.clone()]
    }

    /// All of the text.
    pub(super) fn span(&self) -> Span {
        0..self.text.len()
    }

    /// The number of the axis with a name.
    pub(super) fn axis(&self, name: &str) -> Option<usize> {
        let named = |axis: &Axis| axis.size.is_none() && self.text(&axis.span) == name;
        self.axes.iter().position(named)
    }
}

fn refused(operation: Operation, text: &str, Refusal { at, rule }: Refusal) -> Error {
    let (op, pattern) = (operation.name(), text.to_owned());
    Error::from(Box::new(PatternError { op, pattern, at, rule }))
}

/// A pattern, as text or parsed: what the operations on patterns take.
///
/// ```
/// use tensor_kernels::{RearrangePattern, Tensor, TensorExt};
///
/// let x = Tensor::arange(0u8, 6, 1)?.view([2, 3])?;
/// let parsed = RearrangePattern::new("h w -> w h")?;
/// assert_eq!(x.rearrange(&parsed, &[])?.strides(), x.rearrange("h w -> w h", &[])?.strides());
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum PatternArg<'p, P> {
    /// The text, parsed at each call.
    Text(&'p str),
    /// Parsed before.
    Parsed(&'p P),
}

impl<'p, P: Clone + FromStr<Err = Error>> PatternArg<'p, P> {
    pub(in crate::api) fn parsed(self) -> Result<Cow<'p, P>> {
        match self {
            Self::Text(text) => text.parse().map(Cow::Owned),
            Self::Parsed(pattern) => Ok(Cow::Borrowed(pattern)),
        }
    }
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident: $operation:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(Pattern);

        impl $name {
            /// Parses the text of a pattern.
            ///
            /// # Errors
            /// [`Error::Pattern`] with the rule that is broken and its place in the text.
            pub fn new(text: &str) -> Result<Self> {
                Pattern::parse(Operation::$operation, text).map(Self)
            }

            pub(in crate::api) fn pattern(&self) -> &Pattern {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        /// The text of the pattern.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0.text)
            }
        }

        impl<'p> From<&'p str> for PatternArg<'p, $name> {
            fn from(text: &'p str) -> Self {
                Self::Text(text)
            }
        }

        impl<'p> From<&'p String> for PatternArg<'p, $name> {
            fn from(text: &'p String) -> Self {
                Self::Text(text)
            }
        }

        impl<'p> From<&'p $name> for PatternArg<'p, $name> {
            fn from(pattern: &'p $name) -> Self {
                Self::Parsed(pattern)
            }
        }
    )*};
}

patterns! {
    /// A pattern of [`rearrange`](crate::TensorExt::rearrange), parsed (einops: that of
    /// `rearrange`).
    ///
    /// The same axes are on both sides.
    ///
    /// ```
    /// use tensor_kernels::{RearrangePattern, Tensor, TensorExt};
    ///
    /// let heads = RearrangePattern::new("b s (h d) -> b h s d")?; // kept for many calls
    /// for length in [5, 7] {
    ///     let x = Tensor::full([2, length, 12], 1.0f32)?;
    ///     assert_eq!(x.rearrange(&heads, &[("h", 3)])?.shape(), [2, 3, length, 4]);
    /// }
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    RearrangePattern: Rearrange;

    /// A pattern of [`repeat_axes`](crate::TensorExt::repeat_axes), parsed (einops: that of
    /// `repeat`).
    ///
    /// The right side has all axes of the left one, and others along which elements are repeated.
    ///
    /// ```
    /// use tensor_kernels::{RepeatPattern, Tensor, TensorExt};
    ///
    /// let twice: RepeatPattern = "h w -> (h 2) (w 2)".parse()?;
    /// let x = Tensor::arange(0u8, 2, 1)?.view([1, 2])?;
    /// assert_eq!(x.repeat_axes(&twice, &[])?.to_vec()?, [0, 0, 1, 1, 0, 0, 1, 1]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    RepeatPattern: Repeat;

    /// A pattern of [`reduce`](crate::TensorExt::reduce), parsed (einops: that of `reduce`).
    ///
    /// Axes that are on the left side only are reduced.
    ///
    /// ```
    /// use tensor_kernels::{ReducePattern, Reduction, Tensor, TensorExt};
    ///
    /// let pooling = ReducePattern::new("... (h 2) (w 2) -> ... h w")?;
    /// let x = Tensor::arange(0.0f32, 16.0, 1.0)?.view([4, 4])?;
    /// assert_eq!(x.reduce(&pooling, Reduction::Max, &[])?.to_vec()?, [5.0, 7.0, 13.0, 15.0]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ReducePattern: Reduce;
}
