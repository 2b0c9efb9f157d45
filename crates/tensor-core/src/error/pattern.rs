//! Why a pattern of einops' notation was refused, and where in its text.
//!
//! The parser and the operations that take patterns are in `tensor-kernels`; the error is here
//! because it is one of the reasons of [`Error`](crate::Error).

use std::{fmt, ops::Range};

use super::error_enum::error_enum;

/// A pattern that was refused: the rule, and the place in the text.
///
/// As text, it is the rule with its values, then the pattern with the place marked:
///
/// ```text
/// rearrange: axis 'c' is on the left side only; it must be on both
///   b (h w) c -> b h w
///           ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The operation.
    pub op: &'static str,
    /// The text of the pattern.
    pub pattern: String,
    /// The bytes of the text that break the rule. Empty at the end of the text if something is
    /// missing there; all of the text if the rule concerns no single place of it.
    pub at: Range<usize>,
    /// The rule that is broken.
    pub rule: PatternRule,
}

error_enum! {
/// A rule of einops' notation, with the values that break it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternRule {
    /// The sides are separated by one arrow.
    #[error("a pattern has one '->' between its sides, but this one has {count}")]
    Arrow {
        /// The number of arrows.
        count: usize,
    },
    /// Names consist of letters, digits and underscores; axes are separated by spaces.
    #[error("unknown character {found:?}{}", character_hint(*found))]
    Character {
        /// The character.
        found: char,
    },
    /// Three dots are an ellipsis; there are no other dots.
    #[error("dots are an ellipsis '...' that stands apart from names, not '{found}'")]
    Dots {
        /// The dots and the name that contains them.
        found: String,
    },
    /// A side has at most one ellipsis.
    #[error("a side has at most one ellipsis, but this is another one")]
    TwoEllipses,
    /// An ellipsis may stand in parentheses on the right side only.
    #[error("an ellipsis on the left side stands outside of parentheses")]
    EllipsisInParentheses,
    /// The dimensions of an ellipsis come from the left side.
    #[error("there is an ellipsis on the right side, but none on the left side")]
    EllipsisOnRight,
    /// Names are identifiers without an underscore at either end.
    #[error(
        "invalid axis name '{name}': a name starts with a letter, goes on with letters, digits and \
         underscores, and has no underscore at either end"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The size of an axis that a number stands for is positive, and at most `usize::MAX`.
    #[error("an axis without a name has a size from 1 to {}, not {number}", usize::MAX)]
    Number {
        /// The number.
        number: String,
    },
    /// Numbers other than 1 are axes that `reduce` removes or that `repeat_axes` adds.
    #[error("{size} is an axis without a name, which this operation cannot {}", side.changes())]
    Unnamed {
        /// The size.
        size: usize,
        /// The side on which it stands.
        side: PatternSide,
    },
    /// Parentheses do not nest.
    #[error("parentheses inside parentheses")]
    Nested,
    /// Each `(` has its `)`.
    #[error("'(' without ')'")]
    Unclosed,
    /// Each `)` has its `(`.
    #[error("')' without '('")]
    Unopened,
    /// No axis stands twice on one side.
    #[error("axis '{name}' is on this side twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// An axis that is on one side only, where the operation needs it on the other one too.
    #[error("axis '{name}' is on the {side} side only; {}", side.needs(*both))]
    OneSide {
        /// The name; `...` for an ellipsis.
        name: String,
        /// The side on which it is.
        side: PatternSide,
        /// Whether the operation allows no such axis on either side, as `rearrange` does.
        both: bool,
    },
    /// The input has as many dimensions as the left side.
    #[error(
        "the left side has {}{expected} dimensions, but the shape {shape:?} has {}",
        if *at_least { "at least " } else { "" }, shape.len()
    )]
    Rank {
        /// The number of dimensions on the left side, apart from an ellipsis.
        expected: usize,
        /// Whether there may be more, because of an ellipsis.
        at_least: bool,
        /// The shape of the input.
        shape: Vec<usize>,
    },
    /// Sizes are given for axes of the pattern.
    #[error("a size is given for '{name}', which is no named axis of the pattern")]
    UnknownAxis {
        /// The name.
        name: String,
    },
    /// One size is given for an axis.
    #[error("two sizes are given for axis '{name}': {first} and {second}")]
    SizeTwice {
        /// The name.
        name: String,
        /// The first size.
        first: usize,
        /// The second size.
        second: usize,
    },
    /// An axis that is not in the input needs a size.
    #[error("no size is given for the new axis '{name}'")]
    NoSize {
        /// The name.
        name: String,
    },
    /// At most one axis of a dimension of the input is inferred.
    #[error(
        "the sizes of {} cannot be inferred from one dimension: at most one may be missing",
        quoted(names)
    )]
    NotInferable {
        /// The axes of the dimension whose sizes are not given.
        names: Vec<String>,
    },
    /// The axes of a dimension have its size as their product.
    #[error(
        "dimension {dim} of the input has size {size}, but the product of its axes is {product}"
    )]
    Mismatch {
        /// The dimension of the input.
        dim: usize,
        /// Its size.
        size: usize,
        /// The product of the axes' sizes; `usize::MAX` if it is larger.
        product: usize,
    },
    /// The product of the given sizes divides that of the dimension.
    #[error(
        "dimension {dim} of the input has size {size}, which is not divisible by {product} to give \
         the size of axis '{name}'"
    )]
    NotDivisible {
        /// The dimension of the input.
        dim: usize,
        /// Its size.
        size: usize,
        /// The product of the sizes that are known; `usize::MAX` if it is larger.
        product: usize,
        /// The axis whose size is not.
        name: String,
    },
}
}

/// A side of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternSide {
    /// The side of the input.
    Left,
    /// The side of the result.
    Right,
}

impl PatternSide {
    fn changes(self) -> &'static str {
        match self {
            Self::Left => "remove",
            Self::Right => "add",
        }
    }

    fn needs(self, both: bool) -> &'static str {
        match (self, both) {
            (_, true) => "it must be on both",
            (Self::Left, false) => "only reduce removes axes",
            (Self::Right, false) => "only repeat_axes adds axes",
        }
    }
}

impl fmt::Display for PatternSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}

fn character_hint(found: char) -> &'static str {
    match found {
        '…' => ": write an ellipsis as three dots",
        '-' | '>' => ": the arrow is '->'",
        c if c.is_whitespace() => ": only spaces separate axes",
        _ => "",
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// The pattern on one line, so that the mark below it stands at its place.
fn line(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars = |range: Range<usize>| self.pattern.get(range).map_or(0, |s| s.chars().count());
        let (before, marked) = (chars(0..self.at.start), chars(self.at.clone()).max(1));
        writeln!(f, "{}: {}", self.op, self.rule)?;
        writeln!(f, "  {}", line(&self.pattern).collect::<String>())?;
        write!(f, "  {}{}", " ".repeat(before), "^".repeat(marked))
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_the_place() {
        let error = |pattern: &str, at| PatternError {
            op: "reduce",
            pattern: pattern.to_owned(),
            at,
            rule: PatternRule::TwoEllipses,
        };
        for (pattern, at, lines) in [
            ("a bb -> a", 2..4, "\n  a bb -> a\n    ^^"),
            ("é ü -> é", 3..5, "\n  é ü -> é\n    ^"),
            ("a\n b", 3..4, "\n  a\u{fffd} b\n     ^"),
            ("a", 1..1, "\n  a\n   ^"),
            ("", 0..0, "\n  \n  ^"),
        ] {
            let text = error(pattern, at).to_string();
            assert!(text.starts_with("reduce: ") && text.ends_with(lines), "{text}");
        }
    }
}
