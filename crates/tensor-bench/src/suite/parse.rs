//! Parsing of suite files. Every error names its case and is reported before anything is measured.

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::{DType, Layout, Slice};

use super::{Case, Op};
use crate::{
    Failure, Result,
    cases::{operand::Operand, view_op::ViewOp},
};

/// Reads a suite.
///
/// # Errors
/// [`Failure::Input`] that names the case.
pub fn read(text: &str) -> Result<Vec<Case>> {
    let not_a_suite = |error| Failure::input(format!("not a suite: {error}"));
    let values: Vec<Value> = serde_json::from_str(text).map_err(not_a_suite)?;
    let cases = values.iter().enumerate().map(|(at, value)| {
        checked(value).map_err(|reason| Failure::input(reason).at(name(at, value)))
    });
    cases.collect()
}

/// Reads one case.
///
/// # Errors
/// [`Failure::Input`] without the name of the case.
pub fn case(value: &Value) -> Result<Case> {
    checked(value).map_err(Failure::input)
}

fn name(at: usize, value: &Value) -> String {
    match value.get("id").and_then(Value::as_str) {
        Some(id) => format!("case {id}"),
        None => format!("case number {at}"),
    }
}

/// The error is about one case; the caller adds its name.
type Checked<T> = Result<T, String>;

#[derive(Deserialize)]
struct Head {
    group: String,
    id: String,
    op: Option<String>,
    out_dtype: Option<String>,
    operands: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Stated {
    dtype: String,
    base: Vec<usize>,
    ops: Vec<Value>,
    shape: Option<Vec<usize>>,
    strides: Option<Vec<isize>>,
    offset: Option<usize>,
}

fn checked(value: &Value) -> Checked<Case> {
    let head = Head::deserialize(value).map_err(|error| error.to_string())?;
    if [&head.group, &head.id].iter().any(|name| name.contains(char::is_control)) {
        return Err("a name with a control character".to_owned());
    }
    let op = head.op.as_deref().map_or(Ok(Op::Copy), op)?;
    let operands: Vec<Operand> = match &head.operands {
        None if op == Op::Copy => vec![operand(value)?],
        None => return Err(format!("{} needs operands", op.name())),
        Some(list) => list.iter().map(operand).collect::<Checked<_>>()?,
    };
    let out = match head.out_dtype {
        Some(name) => dtype(&name)?,
        None => operands.first().map(|operand| operand.dtype).ok_or("no operands")?,
    };
    let case = Case { group: head.group, id: head.id, op, out, operands };
    check(&case)?;
    Ok(case)
}

fn op(name: &str) -> Checked<Op> {
    let names = || Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
    let op = Op::ALL.iter().copied().find(|op| op.name() == name);
    op.ok_or_else(|| format!("unknown op '{name}': expected one of {}", names()))
}

fn dtype(name: &str) -> Checked<DType> {
    name.parse().map_err(|error: tensor_kernels::Error| error.to_string())
}

fn check(case: &Case) -> Checked<()> {
    let Case { op, out, operands, .. } = case;
    if operands.len() != op.arity() {
        return Err(format!("{} takes {} operands, not {}", op.name(), op.arity(), operands.len()));
    }
    let shape = operands[0].layout.shape();
    if let Some(other) = operands.iter().find(|operand| operand.layout.shape() != shape) {
        return Err(format!(
            "operands of different shapes {shape:?} and {:?}",
            other.layout.shape()
        ));
    }
    if let Some(other) = operands.iter().find(|operand| *op != Op::Cast && operand.dtype != *out) {
        return Err(format!("an operand of dtype {} for a result of dtype {out}", other.dtype));
    }
    if let Some(other) = operands.iter().find(|operand| !op.takes(operand.dtype)) {
        return Err(format!("{} is not defined for dtype {}", op.name(), other.dtype));
    }
    if *op == Op::Cast && !Op::casts(operands[0].dtype, *out) {
        return Err(format!(
            "cast from {} to {out}: one of the two must be f32 or f64",
            operands[0].dtype
        ));
    }
    operands[0].layout.dense_bytes(out.size()).map_err(|error| error.to_string())?;
    if case.numel() == 0 {
        return Err(format!("shape {shape:?} has no elements: there is nothing to measure"));
    }
    Ok(())
}

fn operand(value: &Value) -> Checked<Operand> {
    let stated = Stated::deserialize(value).map_err(|error| error.to_string())?;
    let ops = stated.ops.iter().map(view_op).collect::<Checked<_>>()?;
    let operand = Operand::new(dtype(&stated.dtype)?, stated.base.clone(), ops)
        .map_err(|error| error.to_string())?;
    stated.check(&operand.layout)?;
    Ok(operand)
}

impl Stated {
    /// A stated layout must equal the one that the operations give.
    fn check(&self, layout: &Layout) -> Checked<()> {
        let (right_shape, right_strides, right_offset) =
            (layout.shape(), layout.strides(), layout.offset());
        match self {
            Stated { shape: Some(shape), .. } if shape != right_shape => {
                Err(format!("shape {shape:?} is stated, but base and ops give {right_shape:?}"))
            }
            Stated { strides: Some(strides), .. } if !same_strides(strides, layout) => Err(
                format!("strides {strides:?} are stated, but base and ops give {right_strides:?}"),
            ),
            Stated { offset: Some(offset), .. } if *offset != right_offset => {
                Err(format!("offset {offset} is stated, but base and ops give {right_offset}"))
            }
            _ => Ok(()),
        }
    }
}

/// Equal up to the strides of dimensions of size 1, which have no effect and in which libraries
/// differ.
fn same_strides(strides: &[isize], layout: &Layout) -> bool {
    let mut dims = layout.shape().iter().zip(layout.strides()).zip(strides);
    strides.len() == layout.ndim()
        && dims.all(|((&size, right), stated)| size == 1 || right == stated)
}

/// `["permute", [1, 0]]`, `["slice", dim, start, stop, step]`, `["flip", dim]`, `["expand",
/// [sizes]]`.
fn view_op(value: &Value) -> Checked<ViewOp> {
    let unknown =
        || format!("unknown view operation {value}: expected permute, slice, flip or expand");
    let (name, args) = value.as_array().and_then(|list| list.split_first()).ok_or_else(unknown)?;
    let op = match (name.as_str(), args) {
        (Some("permute"), [dims]) => integers(dims).map(ViewOp::Permute),
        (Some("expand"), [sizes]) => integers(sizes).map(ViewOp::Expand),
        (Some("flip"), [dim]) => {
            integer(dim).map(|dim| vec![dim]).or(integers(dim)).map(ViewOp::Flip)
        }
        (Some("slice"), [dim, start, stop, step]) => slice(dim, start, stop, step),
        (Some("permute" | "expand" | "flip" | "slice"), _) => None,
        _ => return Err(unknown()),
    };
    op.ok_or_else(|| format!("malformed view operation {value}"))
}

fn slice(dim: &Value, start: &Value, stop: &Value, step: &Value) -> Option<ViewOp> {
    let bound = |value: &Value| if value.is_null() { Some(None) } else { integer(value).map(Some) };
    Some(ViewOp::Slice(integer(dim)?, Slice::new(bound(start)?, bound(stop)?, integer(step)?)))
}

fn integer(value: &Value) -> Option<isize> {
    isize::try_from(value.as_i64()?).ok()
}

fn integers(value: &Value) -> Option<Vec<isize>> {
    value.as_array()?.iter().map(integer).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::Against, *};

    fn copy(fields: &str) -> String {
        format!("[{{\"group\": \"g\", \"id\": \"c1\", {fields}}}]")
    }

    fn refusal(text: &str) -> String {
        let error = read(text).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_copy_case_is_read_and_its_layout_worked_out() {
        let text = copy(
            r#""dtype": "u16", "base": [4, 6],
               "ops": [["slice", 1, 0, 6, 2], ["permute", [1, 0]], ["flip", 0]],
               "shape": [3, 4], "strides": [-2, 6], "offset": 4"#,
        );
        let case = &read(&text).unwrap()[0];
        assert_eq!((case.op, case.out, case.to_string().as_str()), (Op::Copy, DType::U16, "g/c1"));
        assert_eq!((case.bytes(), case.operands[0].layout.strides()), (24, &[-2, 6][..]));
    }

    #[test]
    fn an_elementwise_case_counts_the_bytes_it_reads_and_writes() {
        let text = r#"[{"group": "g", "id": "e", "op": "add", "out_dtype": "f32", "operands": [
            {"dtype": "f32", "base": [8, 4], "ops": []},
            {"dtype": "f32", "base": [4], "ops": [["expand", [8, 4]]]}]}]"#;
        let case = &read(text).unwrap()[0];
        assert_eq!((case.bytes(), case.result_bytes()), (128 + 16 + 128, 128));
        assert_eq!(case.memory(Against::Naive), 128 + 16 + 2 * 128 + 6 * 128);
    }

    #[test]
    fn a_name_that_steers_a_terminal_is_refused() {
        let text = copy(r#""dtype": "u8", "base": [4], "ops": []"#).replace("c1", "\\u001b[2J");
        assert!(refusal(&text).ends_with("a name with a control character"), "{text}");
    }

    #[test]
    fn whatever_is_wrong_is_said_with_the_case() {
        let cases = [
            (r#""dtype": "f31", "base": [2], "ops": []"#, "case c1: unknown dtype 'f31'"),
            (r#""dtype": "f32", "base": [2]"#, "case c1: missing field `ops`"),
            (r#""dtype": "f32", "base": [-2], "ops": []"#, "case c1: invalid value: integer `-2`"),
            (r#""dtype": "f32", "base": "2", "ops": []"#, "case c1: invalid type"),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [["permute", [0, 0]]]"#,
                "case c1: permute(): duplicate",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [["permute"]]"#,
                "case c1: malformed view operation",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [["roll", 1]]"#,
                "case c1: unknown view operation",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [["slice", 0, 0, 2, 0]]"#,
                "case c1: slice step",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [], "shape": [3, 2]"#,
                "case c1: shape [3, 2] is stated",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [], "strides": [1, 2]"#,
                "case c1: strides [1, 2] are stated",
            ),
            (
                r#""dtype": "f32", "base": [2, 3], "ops": [], "offset": 1"#,
                "case c1: offset 1 is stated",
            ),
            (
                r#""dtype": "f32", "base": [2, 0], "ops": []"#,
                "case c1: shape [2, 0] has no elements",
            ),
            (
                r#""dtype": "f32", "base": [4294967296, 4294967296], "ops": []"#,
                "case c1: Storage size calculation overflowed",
            ),
            (r#""op": "frob", "out_dtype": "f32", "operands": []"#, "case c1: unknown op 'frob'"),
            (
                r#""op": "add", "out_dtype": "f32", "operands": []"#,
                "case c1: add takes 2 operands, not 0",
            ),
            (
                r#""op": "add", "dtype": "f32", "base": [2], "ops": []"#,
                "case c1: add needs operands",
            ),
        ];
        for (fields, reason) in cases {
            let text = refusal(&copy(fields));
            assert!(text.starts_with(reason), "{fields}: {text}");
        }
    }

    #[test]
    fn operands_must_agree() {
        let pair = |other: &str| {
            format!(
                r#"[{{"group": "g", "id": "e", "op": "add", "out_dtype": "f32", "operands": [
                    {{"dtype": "f32", "base": [2, 3], "ops": []}}, {{{other}, "ops": []}}]}}]"#
            )
        };
        let shape = refusal(&pair(r#""dtype": "f32", "base": [3, 2]"#));
        assert_eq!(shape, "case e: operands of different shapes [2, 3] and [3, 2]");
        let dtype = refusal(&pair(r#""dtype": "f64", "base": [2, 3]"#));
        assert_eq!(dtype, "case e: an operand of dtype f64 for a result of dtype f32");
        let root = r#"[{"group": "g", "id": "e", "op": "sqrt", "out_dtype": "i32", "operands": [
            {"dtype": "i32", "base": [2], "ops": []}]}]"#;
        let cast = root.replace("sqrt", "cast").replacen("i32", "u8", 1);
        assert_eq!(
            refusal(&cast),
            "case e: cast from i32 to u8: one of the two must be f32 or f64"
        );
        assert_eq!(refusal(root), "case e: sqrt is not defined for dtype i32");
    }

    #[test]
    fn what_is_not_a_list_of_cases_is_refused() {
        assert!(refusal("{}").starts_with("not a suite: "));
        assert!(refusal("[{").starts_with("not a suite: "));
        assert!(refusal("[5]").starts_with("case number 0: "));
    }
}
