//! Parts of error texts that are computed from the values of a variant.

use crate::{DType, Layout, Overlap, Remedy};

/// A stride or an offset, or a width of no bytes.
pub(super) fn byte_stride_text(bytes: i128, width: usize) -> String {
    match width {
        0 => "elements have at least 1 byte, not 0".to_owned(),
        _ => format!("{bytes} bytes are no multiple of the element width, {width}"),
    }
}

/// The range of valid dimensions.
pub(super) fn range_text(dim: isize, range: usize) -> String {
    match range.checked_sub(1) {
        None => format!("Dimension specified as {dim} but tensor has no dimensions"),
        Some(last) => format!(
            "Dimension out of range (expected to be in range of [-{range}, {last}], but got {dim})"
        ),
    }
}

/// The requirement that a reduction without identity makes of the input.
pub(super) fn empty_text(op: &str, dim: Option<usize>) -> String {
    match dim {
        Some(dim) => format!("{op}(): Expected reduction dim {dim} to have non-zero size."),
        None => {
            format!("{op}(): Expected reduction dim to be specified for input.numel() == 0.")
        }
    }
}

/// The strides, unless they are not known.
pub(super) fn strides_text(strides: &[isize]) -> String {
    if strides.is_empty() { String::new() } else { format!(" and strides={strides:?}") }
}

/// Which two dimensions are not adjacent, and the stride that would make them so.
pub(super) fn seam_text(strides: &[isize], seam: usize, expected: isize) -> String {
    let before = seam.saturating_sub(1);
    let stride = strides.get(before).map_or_else(|| "unknown".to_owned(), isize::to_string);
    format!(
        "dimensions {before} and {seam} are not adjacent in memory: \
         stride of dimension {before} is {stride}, but {expected} would be needed"
    )
}

/// What can be done instead without a copy, if anything can. Computed for the text only: most
/// refusals are followed by a copy.
pub(super) fn remedies_text(shape: &[usize], strides: &[isize], target: &[usize]) -> String {
    let Some(why) = lowest_layout(shape, strides).and_then(|layout| layout.view_refused(target))
    else {
        return String::new();
    };
    let is_view = |remedy: &&Remedy| matches!(remedy, Remedy::View { .. });
    let views = why.remedies().iter().filter(is_view);
    views.map(|remedy| format!("; without a copy: {remedy}")).collect()
}

/// A layout with its lowest element at offset 0.
fn lowest_layout(shape: &[usize], strides: &[isize]) -> Option<Layout> {
    let below = shape.iter().zip(strides).try_fold(0isize, |below, (&size, &stride)| {
        let steps = isize::try_from(size.saturating_sub(1)).ok()?;
        below.checked_add(stride.min(0).checked_mul(steps)?)
    });
    Layout::new(shape, strides, below?.unsigned_abs()).ok()
}

/// The indices that overlap.
pub(super) fn overlap_text(overlap: &Overlap) -> String {
    match overlap {
        Overlap::Yes { first, second } => {
            format!("indices {first:?} and {second:?} share an element")
        }
        Overlap::No => "no two indices share an element".to_owned(),
        Overlap::TooHard => "too hard to tell whether two indices share an element".to_owned(),
    }
}

/// The indices at which an operand and the output overlap.
pub(super) fn shared_text(operand: &str, overlap: &Overlap) -> String {
    match overlap {
        Overlap::Yes { first, second } => {
            format!("operand {operand} at {first:?} is the output at {second:?}")
        }
        Overlap::No => format!("operand {operand} and the output share no element"),
        Overlap::TooHard => {
            format!("too hard to tell whether operand {operand} and the output share an element")
        }
    }
}

/// The value that breaks a rule, if there is one.
pub(super) fn value_text(value: Option<isize>) -> String {
    value.map_or_else(String::new, |v| format!(", but got {v}"))
}

/// The short names of all dtypes.
pub(super) fn dtype_names() -> String {
    DType::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}
