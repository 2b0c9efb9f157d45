//! Copies between buffers of one's own, which no tensor owns: with gaps between the rows, into
//! initialised or uninitialised memory, or into a part of a larger buffer.
//!
//! ```sh
//! cargo run --release -p examples --bin own_buffers
//! ```
//!
//! ```text
//! initialised:   [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]
//! uninitialised: [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]
//! second slot:   [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]
//! a vector:      [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]
//! refused:       output with shape [3, 4] doesn't match the broadcast shape [4, 3] [copy]
//! refused:       shape [4, 4] with strides [4, 1] and offset 0 needs 16 elements, but 14 were \
//! given
//! ```

use std::mem::MaybeUninit;

use tensor_kernels::{
    Exec, Layout, Result, TensorView, TensorViewMut, copy_into, copy_into_uninit, to_vec,
};

/// Three rows of four elements. Rows are five elements apart, as where a driver aligns them.
const FRAME: [u8; 14] = [1, 2, 3, 4, 0, 5, 6, 7, 8, 0, 9, 10, 11, 12];
const ROW_STRIDE: isize = 5;

/// The order in which the columns of the frame follow each other.
const COLUMNS: [u8; 12] = [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12];

fn main() -> Result<()> {
    let exec = Exec::current()?; // this machine, its best SIMD level, the caller's rayon pool
    let frame = TensorView::new(&FRAME, Layout::new([3, 4], [ROW_STRIDE, 1], 0)?)?;
    let columns = frame.t()?;

    // Into initialised memory, in any layout without overlap.
    let mut bytes = [0; 12];
    copy_into(exec, &columns, &mut dense(&mut bytes)?)?;
    println!("initialised:   {bytes:?}");
    assert_eq!(bytes, COLUMNS);

    // Into memory that nobody has written: it is written once. What is returned is initialised.
    let mut memory = vec![MaybeUninit::uninit(); 12];
    let mut written = copy_into_uninit(exec, &columns, dense(&mut memory)?)?;
    let initialised: &mut [u8] = written.as_slice_mut().expect("the layout is contiguous");
    println!("uninitialised: {initialised:?}");
    assert_eq!(initialised, COLUMNS);

    // Into a part of a larger buffer: the second of two slots.
    let mut ring = [0; 24];
    let slots = TensorViewMut::new(&mut ring, Layout::contiguous([2, 4, 3])?)?;
    copy_into(exec, &columns, &mut slots.select(0, 1)?)?;
    println!("second slot:   {ring:?}");
    assert_eq!(ring[12..], COLUMNS);

    // Into a new vector, which is written once, too.
    println!("a vector:      {:?}", to_vec(exec, &columns)?);

    // Shapes must be equal, and a layout must lie in its slice.
    let refused = copy_into(exec, &columns, &mut dense(&mut bytes)?.t()?);
    println!("refused:       {}", refused.expect_err("other shapes"));
    let refused = TensorView::new(&FRAME, Layout::contiguous([4, 4])?);
    println!("refused:       {}", refused.expect_err("the slice is too short"));
    Ok(())
}

/// A slice as four rows of three.
fn dense<T: Copy>(slice: &mut [T]) -> Result<TensorViewMut<'_, T>> {
    TensorViewMut::new(slice, Layout::contiguous([4, 3])?)
}
