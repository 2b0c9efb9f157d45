//! A layout with few elements that reads its storage in the same order as the original.
//!
//! Sizes shrink to a few elements, and strides with them. Dense dimensions stay dense, gaps stay
//! gaps, reversed and expanded dimensions stay so. Dimensions of size 1 are left out.

use tensor_kernels::Layout;

use crate::Result;

/// The largest number of elements.
const MAX_STEPS: usize = 40;

/// The largest size of a dimension.
const MAX_SIZE: usize = 12;

/// The longest row of cells in a drawing.
const MAX_ROW: usize = 12;

/// A small layout and its storage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    pub(super) layout: Layout,
    /// Elements in the storage, and in a row of the drawing.
    pub(super) places: usize,
    pub(super) row: usize,
}

/// One dimension, as it was and as it is drawn.
#[derive(Clone, Copy)]
struct Dim {
    size: usize,
    stride: isize,
    drawn: usize,
    step: usize,
}

impl Walk {
    /// The small version of a layout that has elements.
    ///
    /// # Errors
    /// None: the small layout is below every limit.
    pub(super) fn of(layout: &Layout) -> Result<Walk> {
        let mut dims = dims(layout);
        shrink(&mut dims);
        let row = lay_out(&mut dims);
        let backwards: usize =
            dims.iter().filter(|d| d.stride < 0).map(|d| (d.drawn - 1) * d.step).sum();
        let offset = backwards + start(layout, &dims);
        let sizes: Vec<usize> = dims.iter().map(|d| d.drawn).collect();
        let strides: Vec<isize> =
            dims.iter().map(|d| d.stride.signum() * d.step as isize).collect();
        let layout = Layout::new(&sizes, &strides, offset)?;
        let used = layout.bounds().map_or(1, |(_, highest)| highest + 1);
        Ok(Walk { layout, places: used.next_multiple_of(row), row })
    }
}

fn dims(layout: &Layout) -> Vec<Dim> {
    let all = layout.shape().iter().zip(layout.strides());
    let dim =
        |(&size, &stride): (&usize, &isize)| Dim { size, stride, drawn: size.min(2), step: 0 };
    all.filter(|(size, _)| **size > 1).map(dim).collect()
}

/// Grows dimensions in turn from two elements on, the last one first, expanded ones only when no
/// other can grow.
fn shrink(dims: &mut [Dim]) {
    for repeated in [false, true] {
        let mut growing = true;
        while growing {
            growing = false;
            for at in (0..dims.len()).rev() {
                let chosen = (dims[at].stride == 0) == repeated;
                growing |= chosen && grow(dims, at, if repeated { 3 } else { MAX_SIZE });
            }
        }
    }
}

fn grow(dims: &mut [Dim], at: usize, most: usize) -> bool {
    let Dim { size, drawn, .. } = dims[at];
    let others: usize = (0..dims.len()).filter(|&d| d != at).map(|d| dims[d].drawn).product();
    let fits = drawn < size.min(most) && others * (drawn + 1) <= MAX_STEPS;
    dims[at].drawn += usize::from(fits);
    fits
}

/// Assigns strides, the smallest first; returns the number of cells in a row of the drawing.
fn lay_out(dims: &mut [Dim]) -> usize {
    let mut order: Vec<usize> = (0..dims.len()).filter(|&at| dims[at].stride != 0).collect();
    order.sort_by_key(|&at| dims[at].stride.unsigned_abs());
    let (mut before, mut now, mut row) = (1, 1, None);
    for at in order {
        let Dim { size, stride, drawn, .. } = dims[at];
        dims[at].step = step(stride.unsigned_abs(), before, now);
        before = before.max(stride.unsigned_abs().saturating_mul(size));
        if (3..=MAX_ROW).contains(&dims[at].step) {
            row = Some(dims[at].step);
        }
        now = now.max(dims[at].step * drawn);
    }
    row.unwrap_or(now.clamp(1, MAX_ROW))
}

/// The stride of a dimension. Dense stays dense, overlapping stays overlapping; a gap is at most as
/// long as the data before it.
fn step(stride: usize, before: usize, now: usize) -> usize {
    let ratio = (stride as f64 / before as f64).min(2.0);
    ((now as f64 * ratio).ceil() as usize).max(1)
}

/// The offset, without the part that reversed dimensions need: in each dimension in proportion to
/// the original, at least one step.
fn start(layout: &Layout, dims: &[Dim]) -> usize {
    let back =
        |dim: &Dim| if dim.stride < 0 { (dim.size - 1) * dim.stride.unsigned_abs() } else { 0 };
    let mut rest = layout.offset().saturating_sub(dims.iter().map(back).sum());
    let mut order: Vec<&Dim> = dims.iter().filter(|dim| dim.stride != 0).collect();
    order.sort_by_key(|dim| std::cmp::Reverse(dim.stride.unsigned_abs()));
    let mut offset = 0;
    for dim in order {
        let steps = rest / dim.stride.unsigned_abs();
        rest %= dim.stride.unsigned_abs();
        let share = (steps as f64 * dim.drawn as f64 / dim.size as f64).round() as usize;
        offset += share.clamp(usize::from(steps > 0), dim.drawn) * dim.step;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(shape: &[usize], strides: &[isize], offset: usize) -> Walk {
        Walk::of(&Layout::new(shape, strides, offset).unwrap()).unwrap()
    }

    fn drawn(shape: &[usize], strides: &[isize], offset: usize, places: usize, row: usize) -> Walk {
        Walk { layout: Layout::new(shape, strides, offset).unwrap(), places, row }
    }

    #[test]
    fn what_is_dense_stays_dense_in_the_order_of_its_strides() {
        assert_eq!(walk(&[4096, 4096], &[1, 4096], 0), drawn(&[6, 6], &[1, 6], 0, 36, 6));
        assert_eq!(
            walk(&[3, 512, 512], &[1, 1536, 3], 0),
            drawn(&[3, 3, 4], &[1, 12, 3], 0, 36, 12)
        );
        assert_eq!(walk(&[9], &[1], 0), drawn(&[9], &[1], 0, 9, 9));
    }

    #[test]
    fn gaps_reverses_and_repeats_are_kept() {
        assert_eq!(walk(&[4096, 4096], &[8192, 2], 0), drawn(&[6, 6], &[12, 2], 0, 72, 12));
        assert_eq!(walk(&[4096, 4096], &[8192, 1], 1024), drawn(&[6, 6], &[12, 1], 2, 72, 12));
        assert_eq!(walk(&[6, 6], &[6, -1], 5), drawn(&[6, 6], &[6, -1], 5, 36, 6));
        assert_eq!(walk(&[9, 64, 9], &[0, 1, 0], 0), drawn(&[2, 10, 2], &[0, 1, 0], 0, 10, 10));
    }

    #[test]
    fn dimensions_without_a_step_are_left_out() {
        let slice = walk(&[1, 8_388_608], &[16_777_216, 1], 4096);
        assert_eq!(slice, drawn(&[12], &[1], 1, 24, 12));
        assert_eq!(walk(&[1, 1], &[7, 7], 0), drawn(&[], &[], 0, 1, 1));
    }

    #[test]
    fn overlapping_windows_still_overlap() {
        let Walk { layout, .. } = walk(&[100, 3], &[1, 1], 0);
        assert_eq!((layout.strides(), layout.offset()), (&[1, 1][..], 0));
    }
}
