//! Operands of a case: a dense array, the view operations on it, and the layout that may be stated.

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::{Layout, Slice};

use super::{Checked, dtype};
use crate::cases::{operand::Operand, view_op::ViewOp};

/// The keys of an operand.
pub(super) const KEYS: [&str; 6] = ["dtype", "base", "ops", "shape", "strides", "offset"];

#[derive(Deserialize)]
struct Stated {
    dtype: String,
    base: Vec<usize>,
    ops: Vec<Value>,
    shape: Option<Vec<usize>>,
    strides: Option<Vec<isize>>,
    offset: Option<usize>,
}

pub(super) fn operand(value: &Value) -> Checked<Operand> {
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

/// The view operations, each with its arguments.
const FORMS: [&str; 8] = [
    r#"["permute", [dims]]"#,
    r#"["slice", dim, start, stop, step]"#,
    r#"["flip", dim]"#,
    r#"["expand", [sizes]]"#,
    r#"["select", dim, index]"#,
    r#"["view", [sizes]]"#,
    r#"["unfold", dim, size, step]"#,
    r#"["as_strided", [sizes], [strides], offset]"#,
];

fn view_op(value: &Value) -> Checked<ViewOp> {
    let unknown =
        || format!("unknown view operation {value}: expected one of {}", FORMS.join(", "));
    let (name, args) = value.as_array().and_then(|list| list.split_first()).ok_or_else(unknown)?;
    let op = match (name.as_str(), args) {
        (Some("permute"), [dims]) => integers(dims).map(ViewOp::Permute),
        (Some("expand"), [sizes]) => integers(sizes).map(ViewOp::Expand),
        (Some("flip"), [dim]) => {
            integer(dim).map(|dim| vec![dim]).or(integers(dim)).map(ViewOp::Flip)
        }
        (Some("slice"), [dim, start, stop, step]) => slice(dim, start, stop, step),
        (Some("select"), [dim, index]) => select(dim, index),
        (Some("view"), [sizes]) => integers(sizes).map(ViewOp::View),
        (Some("unfold"), [dim, size, step]) => unfold(dim, size, step),
        (Some("as_strided"), [sizes, strides]) => as_strided(sizes, strides, None),
        (Some("as_strided"), [sizes, strides, offset]) => as_strided(sizes, strides, Some(offset)),
        _ => None,
    };
    let known = name
        .as_str()
        .and_then(|name| FORMS.into_iter().find(|form| form.starts_with(&format!("[\"{name}\""))));
    match known {
        None => Err(unknown()),
        Some(form) => {
            op.ok_or_else(|| format!("malformed view operation {value}: expected {form}"))
        }
    }
}

fn slice(dim: &Value, start: &Value, stop: &Value, step: &Value) -> Option<ViewOp> {
    let bound = |value: &Value| if value.is_null() { Some(None) } else { integer(value).map(Some) };
    Some(ViewOp::Slice(integer(dim)?, Slice::new(bound(start)?, bound(stop)?, integer(step)?)))
}

fn select(dim: &Value, index: &Value) -> Option<ViewOp> {
    Some(ViewOp::Select(integer(dim)?, integer(index)?))
}

fn unfold(dim: &Value, size: &Value, step: &Value) -> Option<ViewOp> {
    Some(ViewOp::Unfold(integer(dim)?, count(size)?, count(step)?))
}

fn as_strided(sizes: &Value, strides: &Value, offset: Option<&Value>) -> Option<ViewOp> {
    let sizes = sizes.as_array()?.iter().map(count).collect::<Option<_>>()?;
    let offset = offset.filter(|offset| !offset.is_null());
    let offset = offset.map(|offset| count(offset).ok_or(())).transpose().ok()?;
    Some(ViewOp::AsStrided(sizes, integers(strides)?, offset))
}

fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn integer(value: &Value) -> Option<isize> {
    isize::try_from(value.as_i64()?).ok()
}

fn integers(value: &Value) -> Option<Vec<isize>> {
    value.as_array()?.iter().map(integer).collect()
}
