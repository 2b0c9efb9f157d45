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
