//! Parsing of calls: a name, its arguments, and the operation.

use tensor_kernels::DType;

use super::{Step, index};
use crate::{
    cases::view_op::ViewOp,
    input::parse::{Cursor, ParseError, Span},
};

/// The error is about the arguments; the caller adds their position.
type Checked<T> = Result<T, String>;

enum Arg {
    Int(isize),
    List(Vec<isize>),
}

struct Args<'a> {
    name: &'a str,
    values: Vec<Arg>,
    span: Span,
}

pub(super) fn source(cursor: &mut Cursor<'_>) -> Result<(Vec<usize>, DType), ParseError> {
    cursor.eat("torch.");
    let from = cursor.position();
    let name = cursor.word();
    let span = from..from + name.len();
    match name {
        "arange" => call(cursor, name, |args| Ok((vec![args.arange()?], DType::I64))),
        "zeros" => call(cursor, name, |args| Ok((args.shape()?, DType::F32))),
        "" => Err(cursor.error(span, "expected arange(…) or zeros(…)")),
        _ => {
            let message = format!("unknown source `{name}`: expected arange(…) or zeros(…)");
            Err(cursor.error(span, message))
        }
    }
}

pub(super) fn step(cursor: &mut Cursor<'_>) -> Result<Step, ParseError> {
    if cursor.eat("[") {
        return indices(cursor).map(|indices| Step::View(ViewOp::Index(indices)));
    }
    if !cursor.eat(".") {
        return Err(cursor.here("expected `.` or `[`"));
    }
    let from = cursor.position();
    let name = cursor.word();
    if name == "T" {
        return Ok(Step::View(ViewOp::Reverse));
    }
    match METHODS.iter().find(|(known, _)| *known == name) {
        Some((_, meaning)) => call(cursor, name, meaning),
        None => Err(cursor.error(from..from + name.len(), format!("unknown method `{name}`"))),
    }
}

fn indices(cursor: &mut Cursor<'_>) -> Result<Vec<tensor_kernels::Index>, ParseError> {
    let from = cursor.position();
    let indices = cursor.list("]", index::index)?;
    if indices.is_empty() {
        Err(cursor.error(from..from, "expected an index"))
    } else {
        Ok(indices)
    }
}

fn call<T>(
    cursor: &mut Cursor<'_>,
    name: &str,
    meaning: impl FnOnce(&Args<'_>) -> Checked<T>,
) -> Result<T, ParseError> {
    let from = cursor.position();
    cursor.expect("(")?;
    let values = cursor.list(")", argument)?;
    let args = Args { name, values, span: from..from + cursor.since(from).len() };
    meaning(&args).map_err(|message| cursor.error(args.span.clone(), message))
}

fn argument(cursor: &mut Cursor<'_>) -> Result<Arg, ParseError> {
    for (open, close) in [("(", ")"), ("[", "]")] {
        if cursor.eat(open) {
            return cursor.list(close, integer).map(Arg::List);
        }
    }
    integer(cursor).map(Arg::Int)
}

fn integer(cursor: &mut Cursor<'_>) -> Result<isize, ParseError> {
    cursor.integer()?.ok_or_else(|| cursor.here("expected a whole number"))
}

type Meaning = fn(&Args<'_>) -> Checked<Step>;

/// Every method, under PyTorch's name.
const METHODS: &[(&str, Meaning)] = &[
    ("contiguous", |args| args.ints().map(|[]| Step::Contiguous)),
    ("reshape", |args| Ok(Step::ViewOrCopy(ViewOp::View(args.sizes()?)))),
    ("flatten", |args| {
        args.ints_or([0, -1]).map(|[start, end]| Step::ViewOrCopy(ViewOp::Flatten(start, end)))
    }),
    ("view", |args| view(ViewOp::View(args.sizes()?))),
    ("permute", |args| view(ViewOp::Permute(args.sizes()?))),
    ("transpose", |args| args.ints().and_then(|[d0, d1]| view(ViewOp::Transpose(d0, d1)))),
    ("t", |args| args.ints().and_then(|[]| view(ViewOp::T))),
    ("movedim", |args| view(ViewOp::MoveDim(args.list(0)?, args.list(1)?))),
    ("narrow", |args| {
        let [dim, start, len] = args.ints()?;
        view(ViewOp::Narrow(dim, start, args.size(len)?))
    }),
    ("select", |args| args.ints().and_then(|[dim, index]| view(ViewOp::Select(dim, index)))),
    ("flip", |args| view(ViewOp::Flip(args.sizes()?))),
    ("expand", |args| view(ViewOp::Expand(args.sizes()?))),
    ("broadcast_to", |args| view(ViewOp::BroadcastTo(args.shape()?))),
    ("unsqueeze", |args| args.ints().and_then(|[dim]| view(ViewOp::Unsqueeze(dim)))),
    ("squeeze", |args| match args.values.as_slice() {
        [] => view(ViewOp::Squeeze),
        _ => args.ints().and_then(|[dim]| view(ViewOp::SqueezeDim(dim))),
    }),
    ("unfold", |args| {
        let [dim, size, step] = args.ints()?;
        view(ViewOp::Unfold(dim, args.size(size)?, args.size(step)?))
    }),
    ("diagonal", |args| {
        args.ints_or([0, 0, 1]).and_then(|[offset, d0, d1]| view(ViewOp::Diagonal(offset, d0, d1)))
    }),
    ("as_strided", |args| {
        let shape =
            args.list(0)?.into_iter().map(|size| args.size(size)).collect::<Checked<_>>()?;
        let offset = args.values.get(2).map(|offset| args.size(args.int(offset)?)).transpose()?;
        view(ViewOp::AsStrided(shape, args.list(1)?, offset))
    }),
];

fn view(op: ViewOp) -> Checked<Step> {
    Ok(Step::View(op))
}

impl Args<'_> {
    /// `(2, 3)` or `((2, 3))`.
    fn sizes(&self) -> Checked<Vec<isize>> {
        match self.values.as_slice() {
            [Arg::List(list)] => Ok(list.clone()),
            values => values.iter().map(|value| self.int(value)).collect(),
        }
    }

    fn shape(&self) -> Checked<Vec<usize>> {
        self.sizes()?.into_iter().map(|size| self.size(size)).collect()
    }

    fn ints<const N: usize>(&self) -> Checked<[isize; N]> {
        let given = self.values.len();
        if given != N {
            let plural = if N == 1 { "" } else { "s" };
            return Err(format!("{} takes {N} argument{plural}, not {given}", self.name));
        }
        self.ints_or([0; N])
    }

    /// The given integers, with defaults for those missing at the end.
    fn ints_or<const N: usize>(&self, mut ints: [isize; N]) -> Checked<[isize; N]> {
        if self.values.len() > N {
            return Err(format!(
                "{} takes at most {N} arguments, not {}",
                self.name,
                self.values.len()
            ));
        }
        for (slot, value) in ints.iter_mut().zip(&self.values) {
            *slot = self.int(value)?;
        }
        Ok(ints)
    }

    fn int(&self, value: &Arg) -> Checked<isize> {
        match value {
            Arg::Int(int) => Ok(*int),
            Arg::List(_) => Err(format!("{} takes integers, not lists", self.name)),
        }
    }

    fn size(&self, value: isize) -> Checked<usize> {
        usize::try_from(value).map_err(|_| format!("{}: {value} is not a size", self.name))
    }

    /// The argument at `at` as a list; an integer is a list of one.
    fn list(&self, at: usize) -> Checked<Vec<isize>> {
        match self.values.get(at) {
            Some(Arg::List(list)) => Ok(list.clone()),
            Some(Arg::Int(int)) => Ok(vec![*int]),
            None => {
                Err(format!("{} takes at least 2 arguments, not {}", self.name, self.values.len()))
            }
        }
    }

    /// The number of elements of `arange(end)`, `arange(start, end)` or `arange(start, end, step)`.
    fn arange(&self) -> Checked<usize> {
        let [start, end, step] = match self.values.as_slice() {
            [end] => [0, self.int(end)?, 1],
            [start, end] => [self.int(start)?, self.int(end)?, 1],
            _ => self.ints()?,
        };
        if self.values.len() == 1 && end < 0 {
            return Err("arange: the number of elements cannot be negative".to_owned());
        }
        let distance = end as i128 - start as i128;
        let steps = ceiling(distance, step as i128).ok_or("arange: the step cannot be 0")?;
        if distance.signum() * (step.signum() as i128) < 0 {
            return Err(format!("arange: a step of {step} leads away from {start} to {end}"));
        }
        usize::try_from(steps).map_err(|_| "arange: too many elements".to_owned())
    }
}

/// The quotient rounded up; `None` for a divisor of 0.
fn ceiling(dividend: i128, divisor: i128) -> Option<i128> {
    let quotient = dividend.checked_div(divisor)?;
    let above = dividend % divisor != 0 && (dividend < 0) == (divisor < 0);
    Some(quotient + i128::from(above))
}
