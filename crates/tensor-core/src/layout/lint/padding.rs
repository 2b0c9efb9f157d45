//! The padded layout that avoids a finding.
//!
//! A stride that is an odd number of cache lines visits all sets of a cache before it returns to
//! the first one, and rows that start at cache lines share none.

use super::{CACHE_LINE_BYTES, Finding, LintKind};
use crate::{DimVec, Layout};

/// The layout with a padded stride, if it has no finding of the kind for the dimension.
pub(super) fn padded(layout: &Layout, itemsize: usize, finding: Finding) -> Option<Layout> {
    match finding.kind {
        LintKind::PowerOfTwoStride | LintKind::PageAliasing | LintKind::FalseSharing => {}
        LintKind::PageStride | LintKind::ShortRows => return None,
    }
    let stride = layout.strides[finding.dim].unsigned_abs();
    let padded = with_stride(layout, finding.dim, odd_lines(stride, itemsize)?)?;
    let is_same = |other: &Finding| (other.kind, other.dim) == (finding.kind, finding.dim);
    (!padded.findings(itemsize).iter().any(is_same)).then_some(padded)
}

/// The least number of elements, `stride` or more, that is an odd number of cache lines; for
/// elements wider than a line, an odd number of elements.
fn odd_lines(stride: usize, itemsize: usize) -> Option<usize> {
    let power_of_two = 1 << itemsize.trailing_zeros();
    let unit = (CACHE_LINE_BYTES / power_of_two).max(1);
    let units = stride.div_ceil(unit) | 1;
    units.checked_mul(unit)
}

/// The layout with another stride of `dim`. A slower dimension moves over as many indices of `dim`
/// as before. The lowest element is at offset 0.
fn with_stride(layout: &Layout, dim: usize, new: usize) -> Option<Layout> {
    let old = layout.strides[dim].unsigned_abs();
    let stride_of = |(d, &stride): (usize, &isize)| {
        let size = stride.unsigned_abs();
        let is_moved = layout.shape[d] > 1 && (d == dim || size >= old);
        if !is_moved {
            return Some(stride);
        }
        let padded = (size / old).checked_mul(new)?.checked_add(size % old)?;
        Some(isize::try_from(padded).ok()? * stride.signum())
    };
    let strides = layout.strides.iter().enumerate().map(stride_of);
    let strides = strides.collect::<Option<DimVec<isize>>>()?;
    Layout::new(layout.shape(), &strides, lowest(layout.shape(), &strides)?).ok()
}

/// The offset of the first element if the lowest one has offset 0.
fn lowest(shape: &[usize], strides: &[isize]) -> Option<usize> {
    shape.iter().zip(strides).try_fold(0usize, |below, (&size, &stride)| {
        let steps = size.checked_sub(1)?;
        below.checked_add(stride.min(0).unsigned_abs().checked_mul(steps)?)
    })
}
