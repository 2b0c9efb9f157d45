//! A batch of images, u8 in the order batch, height, width, channel, to the normalised f32 planes
//! that a network takes, and back. Before: a loop that converts, one that permutes, one that
//! normalises. After: one pass of `zip3_into` over a permuted view.
//!
//! With `PYTHON` naming an interpreter that has PyTorch, PyTorch takes part: it does the same work
//! in the same rounds, and its results are compared with ours.

mod images;
mod torch;

use std::{cell::RefCell, error::Error};

use images::{load, naive_load, naive_store, store};
use tensor_kernels::{Exec, Tensor};
use timing::{best_of, ms, print_table, row, speedup, timed};
use torch::Torch;

/// Images, height, width.
const BATCHES: [[usize; 3]; 3] = [[32, 224, 224], [8, 640, 640], [1, 1080, 1920]];

/// The same pixels as in `torch_baseline.py`.
fn pixels(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
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
fn case(exec: &Exec, batch: [usize; 3]) -> Result<[Vec<String>; 2], Box<dyn Error>> {
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
