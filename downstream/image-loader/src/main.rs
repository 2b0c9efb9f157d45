//! A batch of images, u8 in the order batch, height, width, channel, to the normalised f32 planes
//! that a network takes, and back. Before: a loop that converts, one that permutes, one that
//! normalises. After: one pass of `zip3_into` over a permuted view.
//!
//! With `PYTHON` naming an interpreter that has PyTorch, PyTorch takes part: it does the same work
//! in the same rounds, and its results are compared with ours.

mod torch;

use std::{cell::RefCell, error::Error};

use tensor_kernels::{Exec, Layout, Result, Tensor, TensorView, zip3_into};
use timing::{best_of, ms, print_table, row, speedup, timed};
use torch::Torch;

/// The mean and the standard deviation of each channel, of pixels from 0 to 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const STD: [f32; 3] = [0.229, 0.224, 0.225];

/// Images, height, width.
const BATCHES: [[usize; 3]; 3] = [[32, 224, 224], [8, 640, 640], [1, 1080, 1920]];

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

fn naive_load(pixels: &[u8], [n, h, w]: [usize; 3]) -> Vec<f32> {
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

fn naive_store(planes: &[f32], [n, h, w]: [usize; 3]) -> Vec<u8> {
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

fn load(exec: &Exec, pixels: &[u8], [n, h, w]: [usize; 3], planes: &Tensor<f32>) -> Result<()> {
    let images = TensorView::new(pixels, Layout::contiguous(&[n, h, w, 3])?)?;
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

fn store(exec: &Exec, planes: &[f32], [n, h, w]: [usize; 3], images: &Tensor<u8>) -> Result<()> {
    let planes = TensorView::new(planes, Layout::contiguous(&[n, 3, h, w])?)?;
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

/// The same pixels as in `torch_baseline.py`.
fn pixels(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let exec = &Exec::current()?.serial();
    println!("{}\n", timing::machine(exec.simd()));
    let mut rows =
        vec![row(["batch", "naive", "PyTorch", "out=", "ours, new", "ours, reused", "speedup"])];
    let mut back = rows.clone();
    for batch in BATCHES {
        let [loaded, stored] = case(exec, batch)?;
        rows.push(loaded);
        back.push(stored);
    }
    println!("u8, channels last, to normalised f32 planes");
    print_table(&rows);
    println!("\nnormalised f32 planes to u8, channels last, saturated");
    print_table(&back);
    println!("\nspeedup: ours into a new result over PyTorch, or over naive without PyTorch");
    Ok(())
}

/// The rows of both directions for one batch.
fn case(exec: &Exec, batch: [usize; 3]) -> std::result::Result<[Vec<String>; 2], Box<dyn Error>> {
    let [n, h, w] = batch;
    let source = pixels(n * h * w * 3);
    let planes = Tensor::zeros([n, 3, h, w])?;
    load(exec, &source, batch, &planes)?;
    let loaded = planes.to_vec()?;
    assert_eq!(loaded, naive_load(&source, batch));
    // Beyond black and white, so that some of the results are saturated.
    let wide: Vec<f32> = loaded.iter().map(|x| x * 1.5).collect();
    let images = Tensor::zeros([n, h, w, 3])?;
    store(exec, &wide, batch, &images)?;
    let stored = images.to_vec()?;
    assert_eq!(stored, naive_store(&wide, batch));

    let torch = RefCell::new(Torch::start(batch)?);
    torch.borrow_mut().check(&loaded, &stored)?;
    let loaded = best_of([
        &mut || timed(|| naive_load(&source, batch)),
        &mut || torch.borrow_mut().time("load"),
        &mut || torch.borrow_mut().time("load_into"),
        &mut || {
            timed(|| {
                let planes = Tensor::zeros([n, 3, h, w])?;
                load(exec, &source, batch, &planes).map(|()| planes)
            })
        },
        &mut || timed(|| load(exec, &source, batch, &planes)),
    ]);
    let stored = best_of([
        &mut || timed(|| naive_store(&wide, batch)),
        &mut || torch.borrow_mut().time("store"),
        &mut || torch.borrow_mut().time("store_into"),
        &mut || {
            timed(|| {
                let images = Tensor::zeros([n, h, w, 3])?;
                store(exec, &wide, batch, &images).map(|()| images)
            })
        },
        &mut || timed(|| store(exec, &wide, batch, &images)),
    ]);
    Ok([loaded, stored].map(|seconds| cells(format!("{n} × {h} × {w}"), seconds)))
}

fn cells(name: String, seconds: [f64; 5]) -> Vec<String> {
    let [naive, torch, _, new, _] = seconds;
    let shown = seconds.map(|s| if s.is_finite() { ms(s) } else { "–".to_owned() });
    let before = if torch.is_finite() { torch } else { naive };
    [vec![name], shown.to_vec(), vec![speedup(before, new)]].concat()
}
