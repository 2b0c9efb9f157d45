//! ndarray's `as_standard_layout` of permuted and mirrored views, and its `Zip` over arrays of
//! different orders, beside the same through `TensorView::from_ndarray`.

mod copies;

use std::error::Error;

use copies::{assign, ours, theirs, zip};
use ndarray::{Array, ArrayD, ArrayViewD, IxDyn, Slice, Zip};
use tensor_kernels::{Element, Exec};
use timing::{best_of, ms, noise, print_table, row, speedup, timed};

/// The row of one copy: into a new array, and into one that is used again.
fn copied<T: Element + PartialEq>(exec: &Exec, name: &str, view: ArrayViewD<'_, T>) -> Vec<String> {
    let mut expected = theirs(&view);
    let mut to = ours(exec, &view).expect("a view that a layout can have");
    assert!(to.is_standard_layout() && to == expected, "{name}");
    let [before, after, before_reused, after_reused] = best_of([
        &mut || timed(|| theirs(&view)),
        &mut || timed(|| ours(exec, &view)),
        &mut || timed(|| expected.assign(&view)),
        &mut || timed(|| assign(exec, &view, &mut to)),
    ]);
    assert!(to == expected, "{name}");
    row([
        name,
        &ms(before),
        &ms(after),
        &speedup(before, after),
        &ms(before_reused),
        &ms(after_reused),
        &speedup(before_reused, after_reused),
    ])
}

/// The row of `out = f(a, b)`, into a result that is used again.
fn zipped(exec: &Exec, name: &str, a: ArrayViewD<'_, f32>, b: ArrayViewD<'_, f32>) -> Vec<String> {
    let f = |a: f32, b: f32| a * 0.5 + b;
    let mut expected = ArrayD::zeros(a.raw_dim());
    let mut out = expected.clone();
    let mut before = || Zip::from(&mut expected).and(&a).and(&b).for_each(|o, &a, &b| *o = f(a, b));
    let mut after = || zip(exec, &a, &b, &mut out, f);
    before();
    after().expect("views that a layout can have");
    let [seconds_before, seconds_after] =
        best_of([&mut || timed(&mut before), &mut || timed(&mut after)]);
    assert_eq!(out, expected, "{name}");
    row([name, &ms(seconds_before), &ms(seconds_after), &speedup(seconds_before, seconds_after)])
}

fn array(shape: &[usize]) -> ArrayD<f32> {
    let elements = noise(shape.iter().product());
    Array::from_shape_vec(IxDyn(shape), elements).expect("as many elements as the shape")
}

fn main() -> Result<(), Box<dyn Error>> {
    let exec = &Exec::current()?.serial();
    println!("{}\n", timing::machine(exec.simd()));

    let square = array(&[4096, 4096]);
    let bytes = square.mapv(|x| (x * 127.0) as i8);
    let cube = array(&[256, 256, 256]);
    let images = array(&[32, 64, 112, 112]);
    let pixels = array(&[64, 224, 224, 3]).mapv(|x| (x * 127.0) as i8);
    let heads = array(&[8, 1024, 16, 64]);
    let mut mirrored = square.view();
    mirrored.slice_axis_inplace(ndarray::Axis(1), Slice::new(0, None, -1));
    let mut half = square.view();
    half.slice_axis_inplace(ndarray::Axis(1), Slice::new(0, None, 2));

    println!("new: as_standard_layout().into_owned(), and to_vec of from_ndarray");
    println!("reused: assign, and copy_into between from_ndarray and from_ndarray_mut");
    print_table(&[
        row(["view", "new", "ours", "speedup", "reused", "ours", "speedup"]),
        copied(exec, "4096² f32, transposed", square.t()),
        copied(exec, "4096² i8, transposed", bytes.t()),
        copied(exec, "256³ f32, axes reversed", cube.t()),
        copied(exec, "32 × 64 × 112² f32, to NHWC", images.view().permuted_axes(vec![0, 2, 3, 1])),
        copied(exec, "64 × 224² × 3 i8, to NCHW", pixels.view().permuted_axes(vec![0, 3, 1, 2])),
        copied(
            exec,
            "8 × 1024 × 16 × 64, heads first",
            heads.view().permuted_axes(vec![0, 2, 1, 3]),
        ),
        copied(exec, "4096² f32, columns mirrored", mirrored.view()),
        copied(exec, "4096² f32, every second column", half.view()),
    ]);

    println!("\nZip::from(&mut out).and(&a).and(&b), and zip_into of from_ndarray: a * 0.5 + b");
    print_table(&[
        row(["operands", "ndarray", "ours", "speedup"]),
        zipped(exec, "4096² f32, both in order", square.view(), square.view()),
        zipped(exec, "4096² f32, b transposed", square.view(), square.t()),
        zipped(exec, "4096² f32, both transposed", square.t(), square.t()),
        zipped(exec, "256³ f32, axes of b reversed", cube.view(), cube.t()),
        zipped(exec, "4096² f32, b mirrored", square.view(), mirrored.view()),
    ]);
    Ok(())
}
