//! Sliding windows as views, what is refused for them, and what is slow.
//!
//! ```sh
//! cargo run --release -p examples --bin windows
//! ```
//!
//! ```text
//! windows: shape [5, 4] strides [2, 1], of 12 elements
//! means: tensor([1.5000, 3.5000, 5.5000, 7.5000, 9.5000])
//!
//! shape [5, 4] strides [2, 1] cannot be viewed as [20]
//! contiguous among themselves: dim 0 | dim 1
//! size 20 of dim 0 would span dims 0 and 1: stride of dim 0 is 2, but 4 would be needed
//! instead, the cheapest first:
//! - .view(&[5, 4]): no copy
//! - .reshape(&[20]): copies 80 bytes
//!
//! unsupported operation: more than one element of the written-to tensor refers to a single \
//! memory location. Please deep_clone() the tensor before performing the operation; clone() \
//! would share its elements. [size [5, 4] stride [2, 1]: indices [1, 0] and [0, 2] share an \
//! element]
//!
//! tensor([[0., 0., 0., 0., 0., 0.],
//!         [0., 0., 0., 0., 0., 0.],
//!         [1., 1., 1., 0., 0., 0.],
//!         [1., 1., 1., 0., 0., 0.]])
//!
//! power-of-two stride: dim 0 steps 4096 bytes, 1024 times, into 1 of the 64 sets of a \
//! first-level cache; a stride of 1040 elements avoids it
//! 4 KiB aliasing: dim 0 steps 4096 bytes, a multiple of 4096: what is visited together agrees \
//! in the low 12 bits of its addresses; a stride of 1040 elements avoids it
//! with strides [1040, 1]: 0 lints
//! ```

use tensor_kernels::{Error, Lint, Remedy, Result, Tensor, TensorExt, TensorMutExt, forbid_copies};

fn main() -> Result<()> {
    // Windows of four samples, two apart. They overlap, so their elements are shared.
    let signal = Tensor::arange(0.0f32, 12.0, 1.0)?;
    let windows = signal.unfold(0, 4, 2)?;
    let (shape, strides) = (windows.shape(), windows.strides());
    println!("windows: shape {shape:?} strides {strides:?}, of {} elements", signal.numel());
    println!("means: {}", forbid_copies(|| windows.mean(1))?);

    // One dimension would need one stride, and here the step from a window to the next is not
    // that from a sample to the next.
    let why = windows.why_not_view([20])?.expect("windows overlap");
    println!("\n{why}\n");
    assert_eq!(why.remedies().last(), Some(&Remedy::CopyAll { shape: Some(vec![20]) }));
    assert!(matches!(windows.view([20]), Err(Error::NotViewable { .. })));

    // What two windows share would be written twice.
    let refused = windows.fill(0.0).expect_err("windows overlap");
    println!("{refused}\n");
    assert!(matches!(refused, Error::WriteOverlap { .. }));

    // Patches side by side share nothing: they can be written, and merged by a permutation.
    let image = Tensor::<f32>::zeros([4, 6])?;
    let patches = image.unfold(0, 2, 2)?.unfold(1, 3, 3)?; // [2, 2, 2, 3]
    patches.select(0, 1)?.select(0, 0)?.fill(1.0)?;
    println!("{image}\n");
    assert!(patches.permute([0, 2, 1, 3])?.view([4, 6])?.same_storage(&image));

    // The rows of this matrix are 4096 bytes apart, so that columns fall into few cache sets.
    let matrix = Tensor::<f32>::zeros([1024, 1024])?;
    let padded_stride = matrix.lints().iter().find_map(Lint::padded_stride).expect("a lint");
    matrix.lints().iter().for_each(|lint| println!("{lint}"));
    let padded = Tensor::<f32>::zeros_padded([1024, 1024], 0, padded_stride)?;
    println!("with strides {:?}: {} lints", padded.strides(), padded.lints().len());
    Ok(())
}
