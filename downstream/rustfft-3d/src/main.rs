//! A 3-D FFT of complex f32, as passes of RustFFT over each dimension. Lanes along the last
//! dimension lie in memory one after the other; those of the others do not.
//!
//! Before: each lane is gathered into a buffer, transformed, and scattered back. After: all lanes
//! of a dimension are brought together by one copy of the permuted array, and transformed by one
//! call; three such rotations, and the array is in its first order again.

use std::{error::Error, sync::Arc};

use rustfft::{Fft, FftPlanner, num_complex::Complex};
use tensor_kernels::{Exec, Layout, Result, TensorView, TensorViewMut, copy_into};
use timing::{best_of, ms, noise, print_table, row, speedup, timed};

type C32 = Complex<f32>;

const SHAPES: [[usize; 3]; 4] = [[64, 64, 64], [128, 128, 128], [100, 120, 140], [256, 256, 256]];

struct Fft3d {
    shape: [usize; 3],
    passes: [Arc<dyn Fft<f32>>; 3],
    scratch: Vec<C32>,
}

impl Fft3d {
    fn new(shape: [usize; 3]) -> Self {
        let mut planner = FftPlanner::new();
        let passes = shape.map(|len| planner.plan_fft_forward(len));
        let scratch = passes.iter().map(|fft| fft.get_inplace_scratch_len()).max().unwrap_or(0);
        Self { shape, passes, scratch: vec![C32::default(); scratch] }
    }

    /// Transforms the lanes of a dimension, which lie one after the other.
    fn lanes(&mut self, dim: usize, data: &mut [C32]) {
        self.passes[dim].process_with_scratch(data, &mut self.scratch);
    }

    /// The transforms alone: what a 3-D FFT takes if moving data were free.
    fn transforms_only(&mut self, data: &mut [C32]) {
        for dim in [2, 1, 0] {
            self.lanes(dim, data);
        }
    }

    fn gathered(&mut self, data: &mut [C32], lane: &mut [C32]) {
        let [n0, n1, n2] = self.shape;
        self.lanes(2, data);
        for plane in data.chunks_exact_mut(n1 * n2) {
            for start in 0..n2 {
                self.strided(1, &mut plane[start..], n2, &mut lane[..n1]);
            }
        }
        for start in 0..n1 * n2 {
            self.strided(0, &mut data[start..], n1 * n2, &mut lane[..n0]);
        }
    }

    fn strided(&mut self, dim: usize, data: &mut [C32], stride: usize, lane: &mut [C32]) {
        for (to, from) in lane.iter_mut().zip(data.iter().step_by(stride)) {
            *to = *from;
        }
        self.lanes(dim, lane);
        for (to, from) in data.iter_mut().step_by(stride).zip(lane) {
            *to = *from;
        }
    }

    /// Three times from one buffer to the other, which then change places.
    fn rotated(&mut self, exec: &Exec, data: &mut Vec<C32>, other: &mut Vec<C32>) -> Result<()> {
        let [n0, n1, n2] = self.shape;
        self.lanes(2, data);
        rotate(exec, data, [n0, n1, n2], other)?;
        self.lanes(1, other);
        rotate(exec, other, [n2, n0, n1], data)?;
        self.lanes(0, data);
        rotate(exec, data, [n1, n2, n0], other)?;
        std::mem::swap(data, other);
        Ok(())
    }
}

/// Copies an array so that its last dimension becomes the first one.
fn rotate(exec: &Exec, from: &[C32], shape: [usize; 3], to: &mut [C32]) -> Result<()> {
    let from = TensorView::new(from, Layout::contiguous(&shape)?)?.permute([2, 0, 1])?;
    let mut to = TensorViewMut::new(to, Layout::contiguous(from.shape())?)?;
    copy_into(exec, &from, &mut to)
}

/// The row of one shape.
fn case(exec: &Exec, shape: [usize; 3]) -> Result<Vec<String>> {
    let mut fft = Fft3d::new(shape);
    let count = shape.iter().product();
    let signal: Vec<C32> = noise(2 * count).chunks(2).map(|z| C32::new(z[0], z[1])).collect();
    let mut lane = vec![C32::default(); shape.into_iter().max().unwrap_or(0)];
    let (mut expected, mut data) = (signal.clone(), signal.clone());
    let mut other = vec![C32::default(); count];
    fft.gathered(&mut expected, &mut lane);
    fft.rotated(exec, &mut data, &mut other)?;
    assert_close(&data, &expected);

    // Each run starts from the signal: transformed again and again, it would overflow.
    let mut of_transforms = Fft3d::new(shape);
    let mut of_gathers = Fft3d::new(shape);
    let mut gathered = signal.clone();
    let [transforms, before, after] = best_of([
        &mut || {
            expected.copy_from_slice(&signal);
            timed(|| of_transforms.transforms_only(&mut expected))
        },
        &mut || {
            gathered.copy_from_slice(&signal);
            timed(|| of_gathers.gathered(&mut gathered, &mut lane))
        },
        &mut || {
            data.copy_from_slice(&signal);
            timed(|| fft.rotated(exec, &mut data, &mut other))
        },
    ]);
    let moving = |total: f64| format!("{:.0} %", (1.0 - transforms / total) * 100.0);
    let [n0, n1, n2] = shape;
    Ok(row([
        &format!("{n0} × {n1} × {n2}"),
        &ms(transforms),
        &ms(before),
        &moving(before),
        &ms(after),
        &moving(after),
        &speedup(before, after),
    ]))
}

/// The same transforms of the same lanes: no more than rounding may differ.
fn assert_close(ours: &[C32], theirs: &[C32]) {
    let largest = theirs.iter().map(|z| z.norm()).fold(0.0, f32::max);
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).norm() <= 1e-6 * largest, "{ours} is not {theirs}");
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let exec = &Exec::current()?.serial();
    println!("{}\n", timing::machine(exec.simd()));
    let heading = ["shape", "FFTs alone", "gathered", "moving", "rotated", "moving", "speedup"];
    let mut rows = vec![row(heading)];
    for shape in SHAPES {
        rows.push(case(exec, shape)?);
    }
    print_table(&rows);
    println!("\nmoving: the share of the time that is not spent in the FFTs alone");
    Ok(())
}
