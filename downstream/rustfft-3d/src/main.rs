//! A 3-D FFT of complex f32, as passes of RustFFT over each dimension. Lanes along the last
//! dimension lie in memory one after the other; those of the others do not.
//!
//! Before: each lane is gathered into a buffer, transformed, and scattered back. After: all lanes
//! of a dimension are brought together by one copy of the permuted array, and transformed by one
//! call; three such rotations, and the array is in its first order again.

mod fft3d;

use std::error::Error;

use fft3d::{C32, Fft3d};
use tensor_kernels::{Exec, Result};
use timing::{best_of, ms, noise, print_table, row, speedup, timed};

const SHAPES: [[usize; 3]; 4] = [[64, 64, 64], [128, 128, 128], [100, 120, 140], [256, 256, 256]];

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
