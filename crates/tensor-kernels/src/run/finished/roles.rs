//! How the operands of an operation take part that is computed in registers.

use tensor_core::Layout;

/// How an operand takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It lies as the result does.
    Alike,
    /// All its elements are one.
    Value,
    /// It is transposed on the way to the result.
    Transposed,
    /// It lies as the transposed operand does, and is transposed with it.
    TransposedToo,
    /// It lies otherwise, and is copied into the order of the result first.
    Packed,
}

/// The roles of the result and of the inputs, and the input whose copy transposes; `None` if there
/// is none.
pub(super) fn roles<const N: usize>(layouts: &[&Layout; N]) -> Option<([Role; N], usize)> {
    let mut roles = layouts.map(|layout| role(layouts[0], layout));
    let is_packed = |&k: &usize| roles[k] == Role::Packed;
    let transposed =
        (1..N).filter(is_packed).rfind(|&k| may_be_transposed(layouts[0], layouts[k]))?;
    for k in (1..N).filter(|&k| lies_alike(layouts[k], layouts[transposed])) {
        roles[k] = Role::TransposedToo;
    }
    roles[transposed] = Role::Transposed;
    Some((roles, transposed))
}

fn role(result: &Layout, operand: &Layout) -> Role {
    if lies_alike(result, operand) {
        Role::Alike
    } else if is_one_value(operand) {
        Role::Value
    } else {
        Role::Packed
    }
}

/// Can a copy between these layouts be a transpose of single elements? Not if both are adjacent
/// along one dimension, in whatever directions, or the operand along none. A plan is looked up only
/// if it can.
fn may_be_transposed(result: &Layout, operand: &Layout) -> bool {
    let strides = result.strides().iter().zip(operand.strides());
    let mut dims = result.shape().iter().zip(strides).filter(|&(&len, _)| len > 1);
    let adjacent =
        dims.clone().any(|(_, (&result, &operand))| result.abs() != 1 && operand.abs() == 1);
    adjacent && dims.all(|(_, (&result, &operand))| result.abs() != 1 || !matches!(operand, -1..=1))
}

/// Have all dimensions of more than one index the same strides?
fn lies_alike(a: &Layout, b: &Layout) -> bool {
    let strides = a.strides().iter().zip(b.strides());
    a.shape().iter().zip(strides).all(|(&len, (a, b))| len == 1 || a == b)
}

fn is_one_value(layout: &Layout) -> bool {
    layout.shape().iter().zip(layout.strides()).all(|(&len, &stride)| len == 1 || stride == 0)
}
