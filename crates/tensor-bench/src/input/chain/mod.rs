//! Chains of calls as text: `arange(24).reshape(1, 2, 3, 4)[:, :, :, 2].reshape(3, 2)`.
//!
//! Parsing gives a [`Chain`], the shape of a new tensor and the steps applied to it, each with its
//! text; or a [`ParseError`] that points at the error. Nothing is computed here.
//!
//! ```text
//! chain  = ["torch."] source { step }
//! source = "arange" "(" int ["," int ["," int]] ")" | "zeros" "(" sizes ")"
//! step   = "." name [ "(" args ")" ] | "[" index { "," index } "]"
//! index  = int | [int] ":" [int] [":" [int]] | "None" | "..."
//! ```

mod call;
mod index;

pub use index::parse_index;
use tensor_kernels::DType;

use crate::{
    cases::view_op::ViewOp,
    input::parse::{Cursor, ParseError},
};

/// A new tensor and the steps applied to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The shape of the new tensor.
    pub shape: Vec<usize>,
    /// Its element type: `i64` from arange, `f32` from zeros, as in PyTorch.
    pub dtype: DType,
    /// The text of the source.
    pub text: String,
    /// The steps, in order.
    pub links: Vec<Link>,
}

/// One step and the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The operation.
    pub step: Step,
    /// Its text.
    pub text: String,
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An operation that returns a view or fails.
    View(ViewOp),
    /// An operation that returns a view if strides can express it, and copies otherwise: `reshape`,
    /// `flatten`.
    ViewOrCopy(ViewOp),
    /// `contiguous()`: the tensor itself if it is contiguous, otherwise a copy.
    Contiguous,
}

impl Chain {
    /// Reads a chain.
    ///
    /// # Errors
    /// What was expected, and where.
    pub fn parse(text: &str) -> Result<Chain, ParseError> {
        let mut cursor = Cursor::new(text);
        let (shape, dtype) = call::source(&mut cursor)?;
        let source = cursor.since(0).to_owned();
        let mut links = Vec::new();
        while !cursor.at_end() {
            let from = cursor.position();
            let step = call::step(&mut cursor)?;
            links.push(Link { step, text: cursor.since(from).to_owned() });
        }
        Ok(Chain { shape, dtype, text: source, links })
    }

    /// The steps as view operations; `None` if one of them may copy.
    pub fn view_ops(&self) -> Option<Vec<ViewOp>> {
        let view = |link: &Link| match &link.step {
            Step::View(op) => Some(op.clone()),
            Step::ViewOrCopy(_) | Step::Contiguous => None,
        };
        self.links.iter().map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::{Index, Slice};

    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        Chain::parse(text).unwrap().links.into_iter().map(|link| link.step).collect()
    }

    #[test]
    fn a_chain_keeps_its_text() {
        let chain = Chain::parse("torch.arange(0, 24) .reshape(2, 12)[:, 1]").unwrap();
        assert_eq!((chain.shape.as_slice(), chain.dtype), (&[24][..], DType::I64));
        let texts: Vec<_> = chain.links.iter().map(|link| link.text.as_str()).collect();
        assert_eq!(
            (chain.text.as_str(), texts),
            ("torch.arange(0, 24)", vec![".reshape(2, 12)", "[:, 1]"])
        );
    }

    #[test]
    fn sources_have_shapes() {
        let shape = |text| Chain::parse(text).unwrap().shape;
        assert_eq!(shape("arange(7)"), [7]);
        assert_eq!(shape("arange(2, 9, 2)"), [4]);
        assert_eq!(shape("arange(5, 0, -2)"), [3]);
        assert_eq!(shape("arange(5, 5)"), [0]);
        assert_eq!(shape("zeros(2, 3)"), [2, 3]);
        assert_eq!(shape("zeros((2, 3,))"), [2, 3]);
        assert_eq!(shape("zeros(())"), [0usize; 0]);
    }

    #[test]
    fn every_method_is_read() {
        let view = |op| vec![Step::View(op)];
        let cases = [
            ("view(-1, 3)", view(ViewOp::View(vec![-1, 3]))),
            ("permute([2, 0, 1])", view(ViewOp::Permute(vec![2, 0, 1]))),
            ("transpose(0, -1)", view(ViewOp::Transpose(0, -1))),
            ("t()", view(ViewOp::T)),
            ("T", view(ViewOp::Reverse)),
            ("movedim(0, 2)", view(ViewOp::MoveDim(vec![0], vec![2]))),
            ("narrow(0, -2, 2)", view(ViewOp::Narrow(0, -2, 2))),
            ("select(1, 3)", view(ViewOp::Select(1, 3))),
            ("flip(0)", view(ViewOp::Flip(vec![0]))),
            ("expand(2, -1)", view(ViewOp::Expand(vec![2, -1]))),
            ("broadcast_to((2, 3))", view(ViewOp::BroadcastTo(vec![2, 3]))),
            ("unsqueeze(0)", view(ViewOp::Unsqueeze(0))),
            ("squeeze()", view(ViewOp::Squeeze)),
            ("squeeze(1)", view(ViewOp::SqueezeDim(1))),
            ("unfold(0, 3, 1)", view(ViewOp::Unfold(0, 3, 1))),
            ("diagonal()", view(ViewOp::Diagonal(0, 0, 1))),
            ("diagonal(-1, 1, 0)", view(ViewOp::Diagonal(-1, 1, 0))),
            ("as_strided((2, 2), (1, 1))", view(ViewOp::AsStrided(vec![2, 2], vec![1, 1], None))),
            ("as_strided((2,), (1,), 3)", view(ViewOp::AsStrided(vec![2], vec![1], Some(3)))),
            ("reshape(6)", vec![Step::ViewOrCopy(ViewOp::View(vec![6]))]),
            ("flatten()", vec![Step::ViewOrCopy(ViewOp::Flatten(0, -1))]),
            ("contiguous()", vec![Step::Contiguous]),
        ];
        for (call, expected) in cases {
            assert_eq!(steps(&format!("zeros(6).{call}")), expected, "{call}");
        }
    }

    #[test]
    fn indices_are_pythons() {
        let range = |start, end, step| Index::Slice(Slice::new(start, end, step));
        let expected = vec![
            Index::At(-2),
            range(None, None, 1),
            range(Some(1), Some(-3), 2),
            range(None, None, -1),
            Index::NewAxis,
            Index::Ellipsis,
        ];
        assert_eq!(
            steps("zeros(6)[-2, :, 1:-3:2, ::-1, None, ...]"),
            [Step::View(ViewOp::Index(expected))]
        );
    }

    #[test]
    fn mistakes_are_pointed_at() {
        let cases = [
            ("", 0, "expected arange(…) or zeros(…)"),
            ("arange(5, 0)", 6, "arange: a step of 1 leads away from 5 to 0"),
            ("arange(0, 1, -2)", 6, "arange: a step of -2 leads away from 0 to 1"),
            ("ones(3)", 0, "unknown source `ones`: expected arange(…) or zeros(…)"),
            ("arange(3", 8, "expected `,` or `)`"),
            ("arange(-3)", 6, "arange: the number of elements cannot be negative"),
            ("arange(1, 5, 0)", 6, "arange: the step cannot be 0"),
            ("zeros(2, -3)", 5, "zeros: -3 is not a size"),
            ("arange(99999999999999999999)", 7, "99999999999999999999 does not fit 64 bits"),
            ("arange(3).frobnicate(1)", 10, "unknown method `frobnicate`"),
            ("arange(3).transpose(1)", 19, "transpose takes 2 arguments, not 1"),
            ("arange(3).transpose((1, 2), 3)", 19, "transpose takes integers, not lists"),
            ("arange(3).unfold(0, -1, 1)", 16, "unfold: -1 is not a size"),
            ("arange(3).t", 11, "expected `(`"),
            ("arange(3)[1:2:]x", 15, "expected `.` or `[`"),
            ("arange(3)[a]", 10, "expected an index"),
            ("arange(3)[]", 10, "expected an index"),
            ("arange(3)[::0]", 10, "a slice step cannot be 0"),
        ];
        for (text, at, message) in cases {
            let error = Chain::parse(text).unwrap_err();
            assert_eq!((error.span().start, error.message()), (at, message), "{text}");
        }
    }

    #[test]
    fn the_caret_stands_under_the_mistake() {
        let error = Chain::parse("arange(3).foo()").unwrap_err().to_string();
        assert_eq!(error, "unknown method `foo`\n  arange(3).foo()\n            ^^^");
    }
}
