//! What a lint of a layout costs on this machine: the time of the walk that it is about, and of the
//! same walk without it.
//!
//! | lint | walk | without it |
//! |---|---|---|
//! | power-of-two stride, 4 KiB aliasing | a copy with the dimension innermost | padded |
//! | page-stride walk, short rows | a copy in logical order | of a contiguous copy |
//! | false sharing | two threads write neighbouring rows | padded |
//!
//! All copies are to contiguous memory, on one thread.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use tensor_kernels::{Element, Exec, Layout, Lint, LintKind, Tensor, copy_into};

use crate::{
    Failure, Result,
    measure::engine::{Budget, Contender, race},
    system::memory,
};

/// The time of a walk, with what the lint is about and without.
#[derive(Clone, Debug)]
pub struct LintCost {
    /// What is timed.
    pub walk: String,
    /// The time with the layout as it is.
    pub ns: f64,
    /// What is different.
    pub instead: &'static str,
    /// The time without what the lint is about.
    pub better_ns: f64,
}

/// Larger arrays are not measured.
pub const MAX_BYTES: usize = 64 << 20;

const BUDGET: Budget = Budget {
    sample: Duration::from_micros(50),
    time: Duration::from_millis(60),
    min_rounds: 3,
    max_rounds: 50,
};

/// How often each of two threads writes its row.
const WRITES: usize = 100_000;

/// Lints in groups that one walk measures: those of a dimension that the same padding avoids.
pub fn walks(mut lints: Vec<Lint>) -> Vec<Vec<Lint>> {
    lints.sort_by_key(|lint| (lint.dim(), lint.kind()));
    lints.chunk_by(is_one_walk).map(<[Lint]>::to_vec).collect()
}

fn is_one_walk(a: &Lint, b: &Lint) -> bool {
    let is_shared = [a, b].iter().any(|lint| lint.kind() == LintKind::FalseSharing);
    !is_shared && a.dim() == b.dim() && a.padded().is_some() && a.padded() == b.padded()
}

/// Measures a lint; `None` if that needs arrays of more than [`MAX_BYTES`], or a second core that
/// is not there.
///
/// # Errors
/// Too little memory.
pub fn measure(exec: Exec, layout: &Layout, width: usize, lint: &Lint) -> Result<Option<LintCost>> {
    let last = |layout: &Layout| layout.movedim([lint.dim() as isize], [-1]);
    match (lint.kind(), lint.padded()) {
        (LintKind::FalseSharing, Some(padded)) => false_sharing(layout, padded, width, lint.dim()),
        (LintKind::PageStride | LintKind::ShortRows, _) => {
            let dense = Layout::contiguous(layout.shape())?;
            let walk = "a copy in logical order".to_owned();
            copies(exec, [layout, &dense], width, (walk, "of a contiguous array"))
        }
        (_, Some(padded)) => {
            let walk = format!("a copy with dim {} innermost", lint.dim());
            copies(exec, [&last(layout)?, &last(padded)?], width, (walk, "padded"))
        }
        (_, None) => Ok(None),
    }
}

/// The elements up to the highest one.
fn reach(layout: &Layout) -> usize {
    layout.bounds().map_or(0, |(_, highest)| highest.saturating_add(1))
}

fn copies(
    exec: Exec,
    layouts: [&Layout; 2],
    width: usize,
    (walk, instead): (String, &'static str),
) -> Result<Option<LintCost>> {
    let sizes = [layouts[0].numel(), reach(layouts[0]), reach(layouts[1])];
    let bytes = sizes.map(|size| size.saturating_mul(width));
    if bytes.iter().any(|&bytes| bytes > MAX_BYTES) {
        return Ok(None);
    }
    memory::preflight(bytes.iter().map(|&bytes| bytes as u128).sum())?;
    let [ns, better_ns] = match width {
        1 => times::<u8>(exec, layouts),
        2 => times::<u16>(exec, layouts),
        4 => times::<u32>(exec, layouts),
        8 => times::<u64>(exec, layouts),
        _ => times::<num_complex::Complex<f64>>(exec, layouts),
    }?;
    Ok(Some(LintCost { walk, ns, instead, better_ns }))
}

/// The times of copies of two layouts of one shape to contiguous memory. Their memory is written
/// first: pages that never were are all the same one.
fn times<T: Element + Default>(exec: Exec, layouts: [&Layout; 2]) -> Result<[f64; 2]> {
    let exec = exec.serial();
    let to = Tensor::full(layouts[0].shape(), T::default())?;
    let mut sources = Vec::new();
    for layout in layouts {
        let storage = Tensor::full([reach(layout)], T::default())?;
        sources.push(storage.with_layout(layout.clone())?);
    }
    let copy = |from: &Tensor<T>| -> Result<(), tensor_kernels::Error> {
        copy_into(&exec, from.read()?.as_view(), &mut to.write()?.as_view_mut()?)
    };
    let contenders = [&sources[0], &sources[1]].map(|from| Contender::new(move || copy(from)));
    Ok(race(&BUDGET, contenders)?.map(|timing| timing.best_ns))
}

fn false_sharing(
    layout: &Layout,
    padded: &Layout,
    width: usize,
    dim: usize,
) -> Result<Option<LintCost>> {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Ok(None);
    }
    let [ns, better_ns] = [layout, padded].map(|layout| {
        let stride = layout.strides()[dim].unsigned_abs() * width;
        let rows = layout.select(dim as isize, 0).ok().and_then(|row| row.bounds());
        let extent = rows.map_or(0, |(lowest, highest)| (highest - lowest + 1) * width);
        let lowest = layout.bounds().map_or(0, |(lowest, _)| lowest * width);
        // The first row that starts in the middle of a line shares it with the row before.
        let shares = |row: &usize| (lowest + row * stride) % LINE > stride - extent;
        let row = (1..layout.shape()[dim]).find(shares).unwrap_or(1);
        let next = (lowest + row * stride) % LINE + LINES / 2 * LINE;
        write_in_turns([next - (stride - extent) - 1, next])
    });
    let walk = "two threads, writing neighbouring rows".to_owned();
    Ok(Some(LintCost { walk, ns: ns?, instead: "padded", better_ns: better_ns? }))
}

const LINE: usize = 64;

/// Twice as many lines as there can be between two neighbouring rows.
const LINES: usize = 32;

/// Bytes from the start of a cache line on.
#[repr(align(64))]
struct Lines([AtomicU8; LINES * LINE]);

/// The time of a write by two threads at once, each to a byte of its own; the best of three.
fn write_in_turns(bytes: [usize; 2]) -> Result<f64> {
    let lines = Lines([const { AtomicU8::new(0) }; LINES * LINE]);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        thread::scope(|scope| {
            let write = |byte: &AtomicU8| (0..WRITES).for_each(|_| _ = byte.fetch_add(1, Relaxed));
            let [here, there] = bytes.map(|byte| &lines.0[byte]);
            let other = thread::Builder::new().spawn_scoped(scope, move || write(there));
            other.map_err(|error| Failure::work(format!("cannot start a thread: {error}")))?;
            write(here);
            Ok::<_, Failure>(())
        })?;
        best = best.min(start.elapsed().as_nanos() as f64 / WRITES as f64);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(layout: &Layout, width: usize, kind: LintKind) -> Option<LintCost> {
        let lints = layout.lints(width);
        let lint = lints.iter().find(|lint| lint.kind() == kind).expect("the lint");
        measure(*Exec::current().unwrap(), layout, width, lint).unwrap()
    }

    #[test]
    fn each_kind_of_lint_has_a_cost() {
        let rows = Layout::contiguous([256, 256]).unwrap();
        let rgba = Layout::new([4096, 3], [4, 1], 0).unwrap();
        let tall = Layout::contiguous([100, 4096]).unwrap().t().unwrap();
        for (layout, width, kind) in [
            (&rows, 4, LintKind::PowerOfTwoStride),
            (&rows, 16, LintKind::PageAliasing),
            (&rgba, 1, LintKind::ShortRows),
            (&tall, 2, LintKind::PageStride),
        ] {
            let cost = measured(layout, width, kind).expect("a small array");
            assert!(cost.ns > 0.0 && cost.better_ns > 0.0, "{cost:?}");
        }
    }

    #[test]
    fn threads_that_share_a_line_are_timed_if_there_are_two_cores() {
        let accumulators = Layout::contiguous([8, 3]).unwrap();
        let cost = measured(&accumulators, 8, LintKind::FalseSharing);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(cost.is_some(), cores > 1);
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_measured() {
        let huge = Layout::contiguous([1 << 20, 1 << 20]).unwrap();
        assert!(measured(&huge, 8, LintKind::PowerOfTwoStride).is_none());
        let repeated = Layout::new([1_isize << 40, 100, 512], [0, 512, 1], 0).unwrap();
        assert!(measured(&repeated, 4, LintKind::PowerOfTwoStride).is_none());
    }
}
