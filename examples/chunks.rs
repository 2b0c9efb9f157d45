//! Chunks of a file format: the size of an item is known at run time only, memory is bytes at any
//! address, and each chunk has the same shape. So one plan is made, and run for every chunk. What
//! cannot be kept twice is permuted in its own memory.
//!
//! ```sh
//! cargo run --release -p examples --bin chunks
//! ```
//!
//! ```text
//! decoded:  a00a10a01a11a02a12
//! decoded:  b00b10b01b11b02b12
//! digits:   111000
//! in place: a00a10a01a11a02a12 of shape [3, 2]
//! refused:  shape [2, 3, 3] with strides [9, 3, 1] and offset 0 needs 18 elements, but 5 were \
//! given
//! ```

use std::mem::MaybeUninit;

use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Exec, Layout, Result, copy_bytes, permute_bytes_inplace,
};

/// A file of two chunks, each a header of one byte and 2 × 3 items of three bytes.
const FILE: &[u8] = b"#a00a01a02a10a11a12#b00b01b02b10b11b12";
const ITEM_SIZE: usize = 3;
const SHAPE: [usize; 2] = [2, 3];

fn main() -> Result<()> {
    let exec = Exec::current()?; // this machine, its best SIMD level, the caller's rayon pool
    let chunk_bytes = ITEM_SIZE * SHAPE.iter().product::<usize>();
    let columns = Layout::contiguous(SHAPE)?.t()?;
    let chunk = |bytes| ByteView::new(bytes, ITEM_SIZE, columns.clone());
    let dense = Layout::contiguous(columns.shape())?;

    // One plan, run for each chunk, into memory that nobody has written.
    let mut memory = vec![MaybeUninit::uninit(); chunk_bytes];
    let to = ByteViewMut::new(&mut memory, ITEM_SIZE, dense.clone())?;
    let plan = CopyPlan::for_bytes(&chunk(&FILE[1..])?, &to, &exec.machine)?;
    for stored in FILE.chunks(1 + chunk_bytes) {
        let to = ByteViewMut::new(&mut memory, ITEM_SIZE, dense.clone())?;
        let mut decoded = plan.run_bytes_uninit(exec, &chunk(&stored[1..])?, to)?;
        println!("decoded:  {}", text(decoded.as_slice_mut().expect("it is contiguous")));
    }

    // Any strides in bytes: the second byte of each item, the rows from last to first.
    let digits = ByteView::strided(&FILE[1..], 1, SHAPE, [-9, 3], 10)?;
    let mut bytes = [0; 6];
    copy_bytes(exec, &digits, &mut ByteViewMut::new(&mut bytes, 1, Layout::contiguous(SHAPE)?)?)?;
    println!("digits:   {}", text(&bytes));

    // In place: the bytes of the first chunk are permuted, with little memory or none.
    let mut bytes = FILE[1..=chunk_bytes].to_vec();
    let layout = permute_bytes_inplace(exec, &mut bytes, ITEM_SIZE, SHAPE, [1, 0])?;
    println!("in place: {} of shape {:?}", text(&bytes), layout.shape());

    // A size that does not fit is an error, and nothing is written.
    let refused = ByteView::new(&FILE[1..6], ITEM_SIZE, Layout::contiguous(SHAPE)?);
    println!("refused:  {}", refused.expect_err("it is too short"));
    Ok(())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("ASCII")
}
