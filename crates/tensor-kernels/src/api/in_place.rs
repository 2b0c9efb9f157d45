//! Permutations of contiguous memory in place, for arrays of which memory does not hold two.

use tensor_core::{Element, Error, Layout, Result, Sizes, TensorViewMutBase};

use crate::{exec::Exec, run};

/// Permutes the elements of a contiguous view within its memory, and returns the memory as a
/// contiguous view of the permuted shape (PyTorch: `x.permute(dims).contiguous()`, in the memory of
/// `x`).
///
/// Square transposes, and permutations that exchange two dimensions of equal size, need no memory.
/// Others take up to 1 % of the view's bytes, or 256 KiB if that is more, which are allocated
/// before the first element moves. A thread keeps up to 256 KiB of it, and the plans of its last
/// permutations. Copies of parts use the scratch that a thread keeps for copies, as those into
/// other memory do: up to 256 KiB a thread, and less if memory is short.
///
/// Squares of some MB take about as long as `memcpy` of as many bytes; 1.2 to 2 times as long if
/// elements have 1 or 2 bytes; 2 to 5 times if elements have fewer than 8 bytes and rows are, or
/// nearly are, a power of two of bytes apart. Rectangles and other permutations take 2 to 6 times
/// as long as `memcpy`, in some cases 8 times, and up to 30 times where both take microseconds; the
/// first time on a thread 0.1 to 0.4 ms more, in which they are planned (Zen 5, one thread). Two
/// equal dimensions are exchanged on the calling thread; other permutations copy parts on the
/// threads of `exec`.
///
/// ```
/// use tensor_kernels::{Exec, Layout, TensorViewMut, permute_inplace};
///
/// let mut pixels = [1u8, 2, 3, 4, 5, 6];
/// let view = TensorViewMut::new(&mut pixels, Layout::contiguous(&[2, 3])?)?;
/// let planes = permute_inplace(Exec::current()?, view, [1, 0])?;
/// assert_eq!(planes.shape(), [3, 2]);
/// assert_eq!(pixels, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotDense`] if the view is not contiguous, [`Error::OutOfMemory`], those of
/// [`Layout::permute`]. The elements are where they were then.
pub fn permute_inplace<'t, T: Element, K>(
    exec: &Exec,
    mut view: TensorViewMutBase<'t, T, K>,
    dims: impl Sizes,
) -> Result<TensorViewMutBase<'t, T, K>> {
    let (shape, order) = permuted(view.shape(), dims)?;
    run::permute_elements(exec, (&mut view).into(), &order)?;
    view.view([-1])?.view(&shape[..])
}

/// [`permute_inplace`] of contiguous items of `item_size` bytes; returns the layout of the permuted
/// items.
///
/// ```
/// use tensor_kernels::{Exec, permute_bytes_inplace};
///
/// let mut pixels = [1u8, 2, 3, 4, 5, 6];
/// let planes = permute_bytes_inplace(Exec::current()?, &mut pixels, 1, [2, 3], [1, 0])?;
/// assert_eq!((planes.shape(), pixels), (&[3, 2][..], [1, 4, 2, 5, 3, 6]));
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
///
/// # Errors
/// [`Error::ElementCount`] (in bytes) if the slice has not as many bytes as the items,
/// [`Error::TooLarge`], [`Error::OutOfMemory`], those of [`Layout::permute`]. The items are where
/// they were then.
pub fn permute_bytes_inplace(
    exec: &Exec,
    bytes: &mut [u8],
    item_size: usize,
    shape: impl Sizes,
    dims: impl Sizes,
) -> Result<Layout> {
    let shape = shape.into_shape()?;
    let (permuted, order) = permuted(&shape, dims)?;
    let needed = Layout::contiguous(&shape)?.dense_bytes(item_size)?;
    if needed != bytes.len() {
        return Err(Error::ElementCount { shape: shape.to_vec(), needed, given: bytes.len() });
    }
    if needed > 0 {
        run::permute_items(exec, bytes, (&shape, item_size), &order)?;
    }
    Layout::contiguous(&permuted)
}

/// The shape of a permutation, and for each of its dimensions which one it was.
fn permuted(shape: &[usize], dims: impl Sizes) -> Result<(Vec<usize>, Vec<usize>)> {
    let dims = dims.into_sizes()?;
    let permuted = Layout::contiguous(shape)?.permute(&dims)?;
    let ndim = shape.len() as isize;
    let order = dims.iter().map(|&d| if d < 0 { d + ndim } else { d } as usize).collect();
    Ok((permuted.shape().to_vec(), order))
}
