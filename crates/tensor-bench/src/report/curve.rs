//! One layout in many sizes, from arrays that fit into the first-level cache to arrays larger than
//! all caches.

use serde::Serialize;
use tensor_kernels::{DType, Tensor};

use super::{Same, Subject, measure};
use crate::{
    Result,
    cases::{operand::Operand, view_op::ViewOp},
    measure::{engine::Budget, setting::Setting},
    system::machine::Cache,
};

/// The time per element of the elementwise pass over a transposed square matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Rows, and columns.
    pub side: usize,
    /// The bytes of matrix and result together.
    pub bytes: u64,
    /// By the naive loop.
    pub naive_ns: f64,
    /// By this library.
    pub strided_ns: f64,
    /// By this library, over a contiguous copy.
    pub contiguous_ns: f64,
}

/// Powers of two and one and a half times each: in a power of two, columns map to few sets of a
/// cache.
const SIDES: [usize; 17] =
    [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];

/// The largest side with `--quick`.
const QUICK_MAX_SIDE: usize = 1024;

/// A size gets this fraction of the time of a layout.
const TIME_DIVISOR: u32 = 8;

/// The sides that are measured.
pub(crate) fn sides(quick: bool) -> impl Iterator<Item = usize> {
    SIDES.into_iter().filter(move |&side| !quick || side <= QUICK_MAX_SIDE)
}

/// Measures every size, in the pool it is called from.
///
/// # Errors
/// Too little memory, a wrong result.
pub fn measure_curve(setting: &Setting, quick: bool) -> Result<Vec<Point>> {
    let budget =
        Budget { time: setting.budget.time / TIME_DIVISOR, min_rounds: 2, ..setting.budget };
    let setting = Setting { budget, ..*setting };
    sides(quick).map(|side| point(&setting, side)).collect()
}

fn point(setting: &Setting, side: usize) -> Result<Point> {
    let operand = Operand::new(DType::F32, vec![side, side], vec![ViewOp::T])?;
    let base: Tensor<f32> = operand.filled(0)?;
    let name = format!("{side} x {side}, transposed");
    let subject = Subject {
        name: name.clone(),
        view: ".t()".to_owned(),
        base: &base,
        layout: operand.layout,
    };
    let row = measure::<Same<f32>>(setting, &subject).map_err(|failure| failure.at(name))?;
    let each = |ns: f64| ns / (side * side) as f64;
    Ok(Point {
        side,
        bytes: 2 * row.bytes,
        naive_ns: each(row.elementwise.naive_ns),
        strided_ns: each(row.elementwise.strided_ns),
        contiguous_ns: each(row.elementwise.contiguous_ns),
    })
}

/// The largest point that fits each cache, under the cache's name, and the largest of all.
pub(super) fn by_cache<'a>(points: &'a [Point], caches: &[Cache]) -> Vec<(String, &'a Point)> {
    let mut levels = Vec::new();
    let mut below = 0;
    for cache in caches {
        let fits = |point: &&Point| (below + 1..=cache.bytes).contains(&point.bytes);
        levels.extend(points.iter().rfind(fits).map(|p| (format!("L{}", cache.level), p)));
        below = below.max(cache.bytes);
    }
    levels.extend(points.last().filter(|p| p.bytes > below).map(|p| ("memory".to_owned(), p)));
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_shown_by_the_largest_size_that_fits_it() {
        let point =
            |bytes| Point { side: 1, bytes, naive_ns: 1.0, strided_ns: 1.0, contiguous_ns: 1.0 };
        let points = [1, 10, 20, 90, 200, 300].map(point);
        let caches = |sizes: &[u64]| -> Vec<Cache> {
            sizes.iter().zip(1..).map(|(&bytes, level)| Cache { level, bytes }).collect()
        };
        let shown = |sizes: &[u64]| -> Vec<(String, u64)> {
            by_cache(&points, &caches(sizes)).into_iter().map(|(l, p)| (l, p.bytes)).collect()
        };
        let levels = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
            list.iter().map(|(level, bytes)| ((*level).to_owned(), *bytes)).collect()
        };
        assert_eq!(shown(&[15, 100]), levels(&[("L1", 10), ("L2", 90), ("memory", 300)]));
        assert_eq!(shown(&[15, 18, 1000]), levels(&[("L1", 10), ("L3", 300)]));
        assert_eq!(shown(&[]), levels(&[("memory", 300)]));
    }
}
