//! Permutes a contiguous array in its own memory, by the steps of a plan.
//!
//! Scratch is allocated before the first byte moves; nothing fails after that. All but the exchange
//! of tiles is arithmetic on slices, which are checked.

mod line_tiles;
mod rotate;
mod square;
mod staged;
mod swap;

use tensor_core::{Element, Error, Result, ViewRefMut};

use crate::{
    exec::Exec,
    plan::in_place::{MAX_STAGED_SQUARE, Step, steps},
};

/// Brings the elements of a contiguous view into the order of `dims`, a permutation of its
/// dimensions.
///
/// # Errors
/// [`Error::NotDense`] if the view is not contiguous, [`Error::OutOfMemory`]; nothing has moved
/// then.
pub(crate) fn permute_elements<T: Element>(
    exec: &Exec,
    mut view: ViewRefMut<'_, T>,
    dims: &[usize],
) -> Result<()> {
    let layout = view.layout();
    if !layout.is_contiguous() {
        let (shape, strides) = (layout.shape().to_vec(), layout.strides().to_vec());
        return Err(Error::NotDense { shape, strides, offset: layout.offset() });
    }
    let bytes = layout.numel() * size_of::<T>();
    if bytes == 0 {
        return Ok(());
    }
    let start = view.base_mut_ptr().wrapping_add(layout.offset()).cast::<u8>();
    // SAFETY: the view is contiguous: its elements are these bytes, which are initialised, because
    // elements have no padding, and nobody else uses them while the view is borrowed. They are
    // moved as whole elements, so each is a valid element again when this function returns.
    let memory = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    permute_items(exec, memory, (layout.shape(), size_of::<T>()), dims)
}

/// Brings contiguous items into the order of `dims`, a permutation of the dimensions.
///
/// # Errors
/// [`Error::OutOfMemory`]; nothing has moved then.
pub(crate) fn permute_items(
    exec: &Exec,
    memory: &mut [u8],
    (shape, item): (&[usize], usize),
    dims: &[usize],
) -> Result<()> {
    debug_assert_eq!(memory.len(), shape.iter().product::<usize>() * item);
    let steps = steps(shape, dims, item);
    let bytes = steps.iter().map(Step::scratch_bytes).max().unwrap_or(0);
    if bytes <= MAX_STAGED_SQUARE {
        run_on_stack(exec, memory, &steps);
        return Ok(());
    }
    let mut scratch = Vec::new();
    scratch.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    scratch.resize(bytes, 0);
    run(exec, memory, &steps, &mut scratch);
    Ok(())
}

#[inline(never)]
fn run_on_stack(exec: &Exec, memory: &mut [u8], steps: &[Step]) {
    run(exec, memory, steps, &mut [0; MAX_STAGED_SQUARE]);
}

fn run(exec: &Exec, memory: &mut [u8], steps: &[Step], scratch: &mut [u8]) {
    for step in steps {
        match step {
            &Step::Swap { len, between, item } => {
                swap::swap(exec.simd(), memory, len, between, item);
            }
            Step::Staged { sizes, dims, item, together, .. } => {
                staged::permute(exec, memory, (sizes, dims), *item, *together, scratch);
            }
            &Step::Rotate { m, n, item, blocks, .. } => {
                for part in memory.chunks_exact_mut(m * n * item) {
                    rotate::Rotation { exec, m, n, item, blocks }.run(part, scratch);
                }
            }
        }
    }
}
