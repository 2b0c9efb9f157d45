//! The transform of a 3-D array, by lanes that are gathered and by an array that is rotated.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner, num_complex::Complex};
use tensor_kernels::{Exec, Layout, Result, TensorView, TensorViewMut, copy_into};

pub type C32 = Complex<f32>;

pub struct Fft3d {
    shape: [usize; 3],
    passes: [Arc<dyn Fft<f32>>; 3],
    scratch: Vec<C32>,
}

impl Fft3d {
    pub fn new(shape: [usize; 3]) -> Self {
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
    pub fn transforms_only(&mut self, data: &mut [C32]) {
        for dim in [2, 1, 0] {
            self.lanes(dim, data);
        }
    }

    /// Gathers each lane that is not dense into `lane`, and scatters it back.
    pub fn gathered(&mut self, data: &mut [C32], lane: &mut [C32]) {
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

    /// Three times from one buffer to the other, which then change places: `data` has the result.
    pub fn rotated(
        &mut self,
        exec: &Exec,
        data: &mut Vec<C32>,
        other: &mut Vec<C32>,
    ) -> Result<()> {
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
    let from = TensorView::new(from, Layout::contiguous(shape)?)?.permute([2, 0, 1])?;
    let mut to = TensorViewMut::new(to, Layout::contiguous(from.shape())?)?;
    copy_into(exec, &from, &mut to)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    const SHAPES: [[usize; 3]; 10] = [
        [1, 1, 1],
        [1, 1, 7],
        [1, 5, 1],
        [6, 1, 1],
        [3, 5, 7],
        [7, 3, 5],
        [2, 9, 4],
        [5, 1, 8],
        [5, 5, 5],
        [13, 2, 3],
    ];

    fn signal(shape: [usize; 3]) -> Vec<C32> {
        let noise = timing::noise(2 * shape.iter().product::<usize>());
        noise.chunks(2).map(|z| C32::new(z[0], z[1])).collect()
    }

    /// Every index of an array, in row-major order.
    fn indices([n0, n1, n2]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        (0..n0 * n1 * n2).map(move |at| [at / (n1 * n2), at / n2 % n1, at % n2])
    }

    /// The definition, as one sum over all elements for each frequency.
    fn dft(signal: &[C32], shape: [usize; 3]) -> Vec<C32> {
        let element = |k: [usize; 3]| {
            let terms = indices(shape).zip(signal).map(|(j, z)| {
                let turns: f64 = (0..3).map(|d| (k[d] * j[d]) as f64 / shape[d] as f64).sum();
                Complex::new(f64::from(z.re), f64::from(z.im)) * Complex::cis(-TAU * turns)
            });
            let sum: Complex<f64> = terms.sum();
            C32::new(sum.re as f32, sum.im as f32)
        };
        indices(shape).map(element).collect()
    }

    fn assert_close(ours: &[C32], expected: &[C32], what: &str) {
        let largest = expected.iter().map(|z| z.norm()).fold(0.0, f32::max);
        assert_eq!(ours.len(), expected.len(), "{what}");
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours - expected).norm() <= 1e-6 * largest, "{what}: {ours}, not {expected}");
        }
    }

    #[test]
    fn gathered_lanes_give_the_transform_by_definition() {
        for shape in SHAPES {
            let mut data = signal(shape);
            let expected = dft(&data, shape);
            // Longer than any lane: only as much of it is used as a lane needs.
            let mut lane = vec![C32::new(9.0, 9.0); 16];
            Fft3d::new(shape).gathered(&mut data, &mut lane);
            assert_close(&data, &expected, &format!("{shape:?}"));
        }
    }

    #[test]
    fn a_rotated_array_gives_the_transform_by_definition() {
        let current = *Exec::current().unwrap();
        for (shape, exec) in SHAPES.iter().flat_map(|s| [(*s, current), (*s, current.serial())]) {
            let mut data = signal(shape);
            let expected = dft(&data, shape);
            let mut other = vec![C32::new(9.0, 9.0); data.len()];
            Fft3d::new(shape).rotated(&exec, &mut data, &mut other).unwrap();
            assert_close(&data, &expected, &format!("{shape:?}"));
        }
    }

    /// Nothing of a run is left in the scratch memory.
    #[test]
    fn a_plan_is_used_again() {
        let (shape, exec) = ([4, 37, 6], Exec::current().unwrap());
        let mut fft = Fft3d::new(shape);
        let mut other = vec![C32::default(); 4 * 37 * 6];
        let mut once = signal(shape);
        fft.rotated(exec, &mut once, &mut other).unwrap();
        let mut again = signal(shape);
        fft.rotated(exec, &mut again, &mut other).unwrap();
        assert_eq!(once, again);
    }

    #[test]
    fn rotating_brings_the_last_dimension_to_the_front() {
        let exec = Exec::current().unwrap();
        for shape in SHAPES {
            let from = signal(shape);
            let mut to = vec![C32::default(); from.len()];
            rotate(exec, &from, shape, &mut to).unwrap();
            let [n0, n1, _] = shape;
            for ([i, j, k], element) in indices(shape).zip(&from) {
                assert_eq!(to[(k * n0 + i) * n1 + j], *element, "{shape:?}");
            }
        }
    }

    #[test]
    fn a_result_of_another_size_is_an_error() {
        let exec = Exec::current().unwrap();
        let from = signal([2, 3, 4]);
        assert!(rotate(exec, &from, [2, 3, 4], &mut [C32::default(); 23]).is_err());
        assert!(rotate(exec, &from, [2, 3, 5], &mut [C32::default(); 30]).is_err());
    }
}
