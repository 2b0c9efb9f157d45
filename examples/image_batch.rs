//! A batch of images to the planes that a network takes: u8 in the order height, width, channel to
//! normalised f32 in the order channel, height, width. One pass reads each byte once and writes
//! each float once; nothing is copied between.
//!
//! ```sh
//! cargo run --release -p examples --bin image_batch
//! ```
//!
//! ```text
//! planes: shape [2, 3, 4, 6] strides [72, 1, 18, 3], a view of the images
//! red:      tensor([-2.1179, -1.9467, -1.7754, -1.6042, -1.4329, -1.2617])
//! mirrored: tensor([-1.2617, -1.4329, -1.6042, -1.7754, -1.9467, -2.1179])
//! 0 copies
//! ```

use tensor_kernels::{Exec, Result, Tensor, count_copies, s, zip3_into};

/// The mean and the standard deviation of each channel, of pixels from 0 to 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const STD: [f32; 3] = [0.229, 0.224, 0.225];

fn main() -> Result<()> {
    // As a decoder gives them: batch, height, width, channel.
    let images = Tensor::from_fn([2, 4, 6, 3], |at| ((at[1] * 6 + at[2]) * 10 + at[3]) as u8)?;
    let planes = images.permute([0, 3, 1, 2])?;
    assert!(planes.same_storage(&images));
    let (shape, strides) = (planes.shape(), planes.strides());
    println!("planes: shape {shape:?} strides {strides:?}, a view of the images");

    // Memory that each batch of a training loop uses again.
    let batch = Tensor::<f32>::zeros([2, 3, 4, 6])?;
    let (written, copies) = count_copies(|| -> Result<()> {
        normalise(&planes, &batch)?;
        check(&images, &batch, |column| column)?;
        println!("red:      {}", batch.index(s![0, 0, 0, ..])?);

        // Mirrored images are a view, too: their columns have a negative stride.
        normalise(&planes.flip([3])?, &batch)?;
        check(&images, &batch, |column| 5 - column)?;
        println!("mirrored: {}", batch.index(s![0, 0, 0, ..])?);
        Ok(())
    });
    written?;
    println!("{} copies", copies.count());
    Ok(())
}

/// `batch = (planes / 255 - mean) / std`, with the mean and the deviation of each channel.
///
/// A new result (`planes.zip3_map(…)`) would have the order of the planes in memory, as in PyTorch:
/// channels last. The order of a result that is given is its own.
fn normalise(planes: &Tensor<u8>, batch: &Tensor<f32>) -> Result<()> {
    let mean = Tensor::from_slice(&MEAN, [3, 1, 1])?;
    let std = Tensor::from_slice(&STD, [3, 1, 1])?;
    let (planes, mean, std) = (planes.read()?, mean.read()?, std.read()?);
    zip3_into(
        Exec::current()?,
        planes.as_view(),
        mean.as_view(),
        std.as_view(),
        &mut batch.write()?.as_view_mut()?,
        |pixel, mean, std| (f32::from(pixel) / 255.0 - mean) / std,
    )
}

/// Compares the batch with a loop over its elements. `source` is the column that each comes from.
fn check(images: &Tensor<u8>, batch: &Tensor<f32>, source: fn(usize) -> usize) -> Result<()> {
    let expected = Tensor::from_fn(batch.shape(), |at| {
        let pixel = images.get(&[at[0], at[2], source(at[3]), at[1]]).expect("an index in range");
        (f32::from(pixel) / 255.0 - MEAN[at[1]]) / STD[at[1]]
    })?;
    assert_eq!(batch, &expected);
    Ok(())
}
