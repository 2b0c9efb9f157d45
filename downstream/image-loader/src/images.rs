//! Images, u8 in the order batch, height, width, channel, and normalised f32 planes: each made of
//! the other, by naive loops and in one pass.

use tensor_kernels::{Exec, Layout, Result, Tensor, TensorView, zip3_into};

/// The mean and the standard deviation of each channel, of pixels from 0 to 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const STD: [f32; 3] = [0.229, 0.224, 0.225];

/// Normalising as one multiplication and one addition, for each channel: the factors, the summands.
fn to_unit() -> [[f32; 3]; 2] {
    [STD.map(|std| 1.0 / (255.0 * std)), [0, 1, 2].map(|c| -MEAN[c] / STD[c])]
}

/// The inverse: from normalised values to values from 0 to 255.
fn to_pixels() -> [[f32; 3]; 2] {
    [STD.map(|std| 255.0 * std), MEAN.map(|mean| 255.0 * mean)]
}

/// The nearest pixel; what is beyond black or white becomes black or white.
///
/// Floats of 2^23 and more are integers, so the addition rounds, and the lowest byte is the pixel.
/// With `as u8`, which checks for NaN, a batch takes 1.6 times as long.
fn saturate(value: f32) -> u8 {
    (value.clamp(0.0, 255.0) + 8_388_608.0).to_bits() as u8
}

/// Three passes: convert, permute, normalise.
pub fn naive_load(pixels: &[u8], [n, h, w]: [usize; 3]) -> Vec<f32> {
    let floats: Vec<f32> = pixels.iter().map(|&pixel| f32::from(pixel)).collect();
    let mut planes = vec![0.0; floats.len()];
    for image in 0..n {
        for c in 0..3 {
            for at in 0..h * w {
                planes[(image * 3 + c) * h * w + at] = floats[(image * h * w + at) * 3 + c];
            }
        }
    }
    let [scale, shift] = to_unit();
    for (index, plane) in planes.chunks_exact_mut(h * w).enumerate() {
        plane.iter_mut().for_each(|x| *x = *x * scale[index % 3] + shift[index % 3]);
    }
    planes
}

/// Three passes: back to values from 0 to 255, convert, permute.
pub fn naive_store(planes: &[f32], [n, h, w]: [usize; 3]) -> Vec<u8> {
    let mut values = planes.to_vec();
    let [scale, shift] = to_pixels();
    for (index, plane) in values.chunks_exact_mut(h * w).enumerate() {
        plane.iter_mut().for_each(|x| *x = *x * scale[index % 3] + shift[index % 3]);
    }
    let bytes: Vec<u8> = values.iter().map(|&value| saturate(value)).collect();
    let mut pixels = vec![0; bytes.len()];
    for image in 0..n {
        for at in 0..h * w {
            for c in 0..3 {
                pixels[(image * h * w + at) * 3 + c] = bytes[(image * 3 + c) * h * w + at];
            }
        }
    }
    pixels
}

/// One pass over a permuted view of the pixels.
pub fn load(exec: &Exec, pixels: &[u8], [n, h, w]: [usize; 3], planes: &Tensor<f32>) -> Result<()> {
    let images = TensorView::new(pixels, Layout::contiguous([n, h, w, 3])?)?;
    let [scale, shift] = to_unit();
    zip3_into(
        exec,
        &images.permute([0, 3, 1, 2])?,
        &Tensor::from_slice(&scale, [3, 1, 1])?,
        &Tensor::from_slice(&shift, [3, 1, 1])?,
        planes,
        |pixel, scale, shift| f32::from(pixel) * scale + shift,
    )
}

/// One pass into a permuted view of the images.
pub fn store(
    exec: &Exec,
    planes: &[f32],
    [n, h, w]: [usize; 3],
    images: &Tensor<u8>,
) -> Result<()> {
    let planes = TensorView::new(planes, Layout::contiguous([n, 3, h, w])?)?;
    let [scale, shift] = to_pixels();
    zip3_into(
        exec,
        &planes,
        &Tensor::from_slice(&scale, [3, 1, 1])?,
        &Tensor::from_slice(&shift, [3, 1, 1])?,
        &images.permute([0, 3, 1, 2])?,
        |value, scale, shift| saturate(value * scale + shift),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Images, height, width.
    const BATCHES: [[usize; 3]; 8] = [
        [0, 3, 5],
        [1, 1, 1],
        [1, 1, 9],
        [3, 7, 1],
        [2, 3, 5],
        [1, 17, 67],
        [5, 4, 4],
        [4, 31, 33],
    ];

    fn execs() -> [Exec; 2] {
        let current = *Exec::current().unwrap();
        [current, current.serial()]
    }

    fn loaded(exec: &Exec, pixels: &[u8], [n, h, w]: [usize; 3]) -> Vec<f32> {
        // No value of an image: each of them must be replaced.
        let planes = Tensor::full([n, 3, h, w], f32::NAN).unwrap();
        load(exec, pixels, [n, h, w], &planes).unwrap();
        planes.to_vec().unwrap()
    }

    fn stored(exec: &Exec, planes: &[f32], [n, h, w]: [usize; 3]) -> Vec<u8> {
        let images = Tensor::full([n, h, w, 3], 77).unwrap();
        store(exec, planes, [n, h, w], &images).unwrap();
        images.to_vec().unwrap()
    }

    fn pixels([n, h, w]: [usize; 3]) -> Vec<u8> {
        (0..n * h * w * 3).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
    }

    /// Normalised values, of which a third is beyond black or white.
    fn wide([n, h, w]: [usize; 3]) -> Vec<f32> {
        timing::noise(n * 3 * h * w).iter().map(|x| x * 4.0).collect()
    }

    /// The place of a value in images, and of the same in planes.
    fn places([n, h, w]: [usize; 3]) -> impl Iterator<Item = (usize, usize)> {
        (0..n * h * w * 3).map(move |in_images| {
            let (pixel, c) = (in_images / 3, in_images % 3);
            let (image, at) = (pixel / (h * w), pixel % (h * w));
            (in_images, (image * 3 + c) * h * w + at)
        })
    }

    #[test]
    fn one_pass_gives_what_naive_loops_give() {
        for (batch, exec) in BATCHES.iter().flat_map(|b| execs().map(|exec| (*b, exec))) {
            let (pixels, wide) = (pixels(batch), wide(batch));
            assert_eq!(loaded(&exec, &pixels, batch), naive_load(&pixels, batch), "{batch:?}");
            assert_eq!(stored(&exec, &wide, batch), naive_store(&wide, batch), "{batch:?}");
        }
    }

    #[test]
    fn planes_are_normalised_by_the_definition() {
        for batch in BATCHES {
            let pixels = pixels(batch);
            let planes = loaded(&execs()[1], &pixels, batch);
            for (from, to) in places(batch) {
                let (mean, std) = (f64::from(MEAN[from % 3]), f64::from(STD[from % 3]));
                let expected = (f64::from(pixels[from]) / 255.0 - mean) / std;
                let error = f64::from(planes[to]) - expected;
                assert!(error.abs() <= 1e-6, "{batch:?}: {}, not {expected}", planes[to]);
            }
        }
    }

    #[test]
    fn values_between_pixels_become_the_nearest_one() {
        for batch in BATCHES {
            let wide = wide(batch);
            let images = stored(&execs()[1], &wide, batch);
            for (to, from) in places(batch) {
                let (mean, std) = (f64::from(MEAN[to % 3]), f64::from(STD[to % 3]));
                let exact = ((f64::from(wide[from]) * std + mean) * 255.0).clamp(0.0, 255.0);
                let error = f64::from(images[to]) - exact;
                // Where a value lies between two pixels, rounding before may choose the other.
                assert!(error.abs() <= 0.5 + 1e-4, "{batch:?}: {}, not {exact}", images[to]);
            }
        }
    }

    #[test]
    fn every_pixel_of_every_channel_comes_back() {
        let batch = [1, 16, 16];
        let pixels: Vec<u8> = (0..=255).flat_map(|i: u8| [i, i ^ 0x5a, 255 - i]).collect();
        for exec in execs() {
            let planes = loaded(&exec, &pixels, batch);
            assert_eq!(stored(&exec, &planes, batch), pixels);
            assert_eq!(naive_store(&planes, batch), pixels);
        }
    }

    #[test]
    fn what_is_beyond_black_or_white_is_saturated() {
        let planes = [-1e30, 1e30, f32::NEG_INFINITY, f32::INFINITY, -3.0, 3.0];
        assert_eq!(stored(&execs()[1], &planes, [1, 1, 2]), [0, 0, 0, 255, 255, 255]);
        assert_eq!(stored(&execs()[1], &[1e9; 12], [1, 2, 2]), [255; 12]);
    }

    #[test]
    fn rounding_is_to_the_nearest_pixel_ties_to_even() {
        let cases = [(0.5, 0), (0.51, 1), (1.5, 2), (2.5, 2), (254.49, 254), (254.5, 254)];
        for (value, pixel) in cases.into_iter().chain([(254.51, 255), (-0.0, 0), (255.5, 255)]) {
            assert_eq!(saturate(value), pixel, "{value}");
        }
        for value in (-800..3000).map(|eighths| eighths as f32 / 8.0) {
            let expected = value.clamp(0.0, 255.0).round_ties_even() as u8;
            assert_eq!(saturate(value), expected, "{value}");
        }
    }

    #[test]
    fn a_size_that_does_not_fit_is_an_error() {
        let (exec, planes) = (execs()[0], Tensor::zeros([1, 3, 2, 2]).unwrap());
        assert!(load(&exec, &[0; 11], [1, 2, 2], &planes).is_err());
        assert!(load(&exec, &[0; 18], [1, 2, 3], &planes).is_err());
        let images = Tensor::zeros([1, 2, 2, 3]).unwrap();
        assert!(store(&exec, &[0.0; 11], [1, 2, 2], &images).is_err());
        assert!(store(&exec, &[0.0; 18], [1, 3, 2], &images).is_err());
    }
}
