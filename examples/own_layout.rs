//! One's own layout under criterion, beside the same work on contiguous memory: the difference is
//! what the layout costs.
//!
//! ```sh
//! cargo bench -p examples --bench own_layout
//! ```
//!
//! criterion compares a run with the one before it; its pictures are in `target/criterion`.
//! `cargo test` runs each function once, without measuring.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tensor_kernels::{Exec, Result, Tensor, TensorExt, TensorView, copy_into, map_into};

/// Images of 3 channels from the loader: batch, height, width, channel.
const IMAGES: [usize; 4] = [8, 96, 128, 3];

fn copies(criterion: &mut Criterion) {
    each_layout(criterion, "copy", |exec, images, to| {
        copy_into(exec, images, &mut to.write()?.as_view_mut()?)
    });
}

fn scaled(criterion: &mut Criterion) {
    each_layout(criterion, "scale", |exec, images, to| {
        map_into(exec, images, &mut to.write()?.as_view_mut()?, |x| x * 2.0 + 1.0)
    });
}

/// Times work on the planes of the images, once through the view and once contiguous.
fn each_layout(
    criterion: &mut Criterion,
    work: &str,
    run: impl Fn(&Exec, &TensorView<'_, f32>, &Tensor<f32>) -> Result<()>,
) {
    let (view, contiguous, to) = tensors().expect("the shapes fit");
    let exec = Exec::current().expect("TENSOR_SIMD names a level of this CPU").serial();
    let mut group = criterion.benchmark_group(work);
    group.throughput(Throughput::Bytes((2 * view.numel() * size_of::<f32>()) as u64));
    for (name, from) in [("planes, a view", &view), ("contiguous", &contiguous)] {
        let from = from.read().expect("nobody writes");
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(&exec, black_box(&from.as_view()), &to));
        });
        // What is timed is right.
        run(&exec, &from.as_view(), &to).expect("the shapes are equal");
        assert_eq!(to.get(&[1, 2, 3, 4]).ok(), expected(work, &view));
    }
    group.finish();
}

/// The planes as a view of the images, the same contiguous, and memory for the result.
fn tensors() -> Result<(Tensor<f32>, Tensor<f32>, Tensor<f32>)> {
    let count = IMAGES.iter().product::<usize>() as f32;
    let view = Tensor::arange(0.0, count, 1.0)?.view(IMAGES)?.permute([0, 3, 1, 2])?;
    let contiguous = view.contiguous()?;
    assert!(!view.is_contiguous() && contiguous.is_contiguous());
    let to = contiguous.zeros_like()?;
    Ok((view, contiguous, to))
}

fn expected(work: &str, view: &Tensor<f32>) -> Option<f32> {
    let element = view.get(&[1, 2, 3, 4]).ok()?;
    Some(if work == "copy" { element } else { element * 2.0 + 1.0 })
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = copies, scaled
}
criterion_main!(benches);
