//! The strategies that follow from the innermost loops: a table that is tried from the top.
//!
//! An entry has a name, a test and a builder. The name is the path that users see and that tests
//! record; a layout that takes a later entry has become slower, and a test reports it.

use tensor_core::sort::sort_by_key;

use super::{Inner, Runs, Side, Streamed, Work};
use crate::{
    exec::Machine,
    memory::Stores,
    nest::{Loop, NestBuilder},
    tuning::{
        MAX_TRANSPOSED_RUN_BYTES, MIN_STREAMED_GATHER_BYTES, MIN_STREAMED_MIRRORED_BYTES,
        NARROW_RUNS_IN_L1, SHORT_RUN_BYTES, SOURCE_ORDER_ROW_BYTES,
    },
};

pub(super) struct Strategy {
    pub(super) name: &'static str,
    applies: fn(&[Loop<2>]) -> bool,
    /// Sets the inner step and says which loops it covers. Arguments: the loops, and the bytes of a
    /// unit.
    build: fn(&[Loop<2>], usize, &mut Inner) -> CoveredLoops,
}

/// The loops that a strategy covers: some innermost ones, and possibly one more.
struct CoveredLoops {
    innermost: usize,
    side: Option<usize>,
}

/// The innermost loop alone.
const INNERMOST_ONLY: CoveredLoops = CoveredLoops { innermost: 1, side: None };

/// The path of a copy of no elements.
pub(super) const NOTHING: &str = "nothing";

/// The path of a copy of rows of adjacent elements.
pub(super) const ROWS: &str = "rows";

/// The path of a transpose of short runs that is written by non-temporal stores.
pub(super) const TRANSPOSED_RUNS: &str = "transposed_runs";

/// The path of a copy of single units in blocks of two loops.
pub(super) const BLOCKED: &str = "blocked";

/// The fastest first; the last entry accepts every nest.
pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "memcpy",
        applies: |l| l.is_empty() || (l.len() == 1 && last(l) == [1, 1]),
        build: run,
    },
    Strategy { name: ROWS, applies: |l| last(l) == [1, 1], build: rows },
    Strategy { name: "fill", applies: |l| last(l) == [1, 0], build: fill },
    Strategy { name: "transpose", applies: |l| l.len() == 2 && is_transpose(l), build: transpose },
    Strategy { name: "batched_transpose", applies: is_transpose, build: transpose },
    Strategy { name: "reverse", applies: |l| last(l) == [1, -1], build: gather },
    Strategy {
        name: "strided_rows",
        applies: |l| last(l)[0] == 1 && nearest(l) == l.len() - 1,
        build: gather,
    },
    Strategy { name: "scatter", applies: |l| last(l)[1] == 1, build: scatter },
    Strategy { name: BLOCKED, applies: |l| l.len() > 1, build: blocked2d },
    LAST,
];

const LAST: Strategy = Strategy { name: "fallback", applies: |_| true, build: fallback };

/// The first strategy that applies covers the innermost loops; the others remain around it.
#[inline(always)]
pub(super) fn ungrouped(work: &mut Work, builder: &NestBuilder<'_, 2>) {
    work.starts = builder.starts;
    let loops = builder.loops();
    let strategy = STRATEGIES.iter().find(|s| (s.applies)(loops)).unwrap_or(&LAST);
    work.path = strategy.name;
    let CoveredLoops { innermost, side } = (strategy.build)(loops, work.unit, &mut work.inner);
    let around = loops.len().saturating_sub(innermost);
    for (at, &l) in loops[..around].iter().enumerate() {
        if side != Some(at) {
            work.outer.push(l);
        }
    }
}

/// Adapts the plan of a result larger than the caches. The result is written by non-temporal
/// stores, unless little is read. Fills and repeated rows read little: repeated rows took 10.7 ms
/// with non-temporal stores and 7.3 ms with plain 128-bit stores, for 64 MiB.
#[inline(never)]
pub(super) fn stream(work: &mut Work, bytes: usize, machine: &Machine) {
    let loops = &mut work.outer;
    if let Inner::Tile { u, v, .. } = work.inner
        && let Some(streamed) = Streamed::new(u, v, Runs::UNITS, loops, work.unit, machine)
    {
        work.inner = Inner::Streamed(streamed);
    }
    if let Inner::Blocked2d { outer, inner, run, .. } = work.inner
        && let Some((u, v, runs)) = transpose_of_runs(outer, inner, run, work.unit)
        && let Some(streamed) = Streamed::new(u, v, runs, loops, work.unit, machine)
    {
        (work.inner, work.path) = (Inner::Streamed(streamed), TRANSPOSED_RUNS);
    }
    if let Inner::Blocked2d { outer, inner, run, .. } = work.inner
        && SOURCE_ORDER_ROW_BYTES.contains(&(run * work.unit))
    {
        loops.extend([outer, inner].into_iter().filter(|l| l.len > 1));
        work.inner = Inner::Run { len: run };
    }
    if let Inner::Run { len } = work.inner
        && SOURCE_ORDER_ROW_BYTES.contains(&(len * work.unit))
    {
        sort_by_key(loops, |l| std::cmp::Reverse(l.strides[1].unsigned_abs()));
    }
    work.stores = match work.inner {
        Inner::Run { len } if loops.iter().any(|l| l.strides[1] == 0) => {
            let narrow = machine.l1 / NARROW_RUNS_IN_L1;
            if len * work.unit <= narrow { Stores::Narrow } else { Stores::Plain }
        }
        Inner::Run { .. } if !machine.is_far_larger(bytes) => Stores::Plain,
        Inner::Gather { len, step } if len * work.unit < least_gathered_row(work.unit, step) => {
            Stores::Plain
        }
        Inner::Run { .. } | Inner::Gather { .. } | Inner::Streamed(_) => Stores::NonTemporal,
        Inner::Fill { .. } => Stores::Narrow,
        _ => Stores::Plain,
    };
}

/// The bytes of the shortest rows that are gathered past the caches, of units `step` units apart.
fn least_gathered_row(unit: usize, step: isize) -> usize {
    if step == -1 { MIN_STREAMED_MIRRORED_BYTES / unit } else { MIN_STREAMED_GATHER_BYTES }
}

/// The sides of two loops over short runs, if these are transposed: they follow each other along
/// the inner loop in the destination, and lie nearer in the source along the outer loop.
fn transpose_of_runs(
    outer: Loop<2>,
    inner: Loop<2>,
    run: usize,
    unit: usize,
) -> Option<(Side, Side, Runs)> {
    let u = Side { len: inner.len, stride: inner.strides[1] };
    let v = Side { len: outer.len, stride: outer.strides[0] };
    let runs = Runs { len: run, step: outer.strides[1] };
    let is_short = run > 1 && run * unit <= MAX_TRANSPOSED_RUN_BYTES;
    let is_transpose = inner.strides[0] == run as isize
        && (1..u.stride.unsigned_abs()).contains(&runs.step.unsigned_abs());
    (is_short && is_transpose).then_some((u, v, runs))
}

/// If the source descends by 1 along a loop other than the innermost, the loop starts from its
/// other end, so that a tile can cover it; so does a loop that continues the source where that one
/// ends, and so on.
#[inline(never)]
pub(super) fn source_forwards(builder: &mut NestBuilder<'_, 2>, unit: usize) {
    let mut step = 1;
    let outer = builder.loops().len().saturating_sub(1);
    while let Some(at) = builder.loops()[..outer].iter().position(|l| l.strides[1].abs() == step) {
        let Loop { len, strides } = builder.loops()[at];
        if strides[1] < 0 {
            let end = (len - 1) as isize * unit as isize;
            builder.starts = std::array::from_fn(|k| builder.starts[k] + end * strides[k]);
            builder.loops_mut()[at].strides = strides.map(|stride| -stride);
        }
        step = step.saturating_mul(len.try_into().unwrap_or(isize::MAX));
        if len == 1 {
            return;
        }
    }
}

fn last(loops: &[Loop<2>]) -> [isize; 2] {
    innermost(loops).strides
}

fn innermost(loops: &[Loop<2>]) -> Loop<2> {
    loops.last().copied().unwrap_or(Loop { len: 1, strides: [1, 1] })
}

/// The loop along which the source is adjacent, if the destination is adjacent along the innermost
/// loop.
pub(super) fn source_side(loops: &[Loop<2>]) -> Option<usize> {
    let (last, outer) = loops.split_last()?;
    if last.strides[0] != 1 {
        return None;
    }
    outer.iter().position(|l| l.strides[1] == 1)
}

fn is_transpose(loops: &[Loop<2>]) -> bool {
    source_side(loops).is_some()
}

/// The loop with the smallest stride of the source.
fn nearest(loops: &[Loop<2>]) -> usize {
    let step = |at: &usize| (loops[*at].strides[1].unsigned_abs().max(1), usize::MAX - at);
    (0..loops.len()).min_by_key(step).unwrap_or(0)
}

fn run(loops: &[Loop<2>], _: usize, inner: &mut Inner) -> CoveredLoops {
    *inner = Inner::Run { len: innermost(loops).len };
    INNERMOST_ONLY
}

/// Long rows are copied one by one. Short ones in blocks, along the destination's innermost loop
/// and the source's.
fn rows(loops: &[Loop<2>], unit: usize, inner: &mut Inner) -> CoveredLoops {
    let (around, run) = (&loops[..loops.len() - 1], innermost(loops).len);
    if run * unit >= SHORT_RUN_BYTES {
        *inner = Inner::Run { len: run };
        return INNERMOST_ONLY;
    }
    let side = match nearest(around) {
        side if side + 1 < around.len() => Some(side),
        _ => around.len().checked_sub(2),
    };
    let outer = side.map_or(Loop::ONCE, |side| around[side]);
    *inner = blocked(outer, innermost(around), run, unit);
    CoveredLoops { innermost: 2, side }
}

fn fill(loops: &[Loop<2>], _: usize, inner: &mut Inner) -> CoveredLoops {
    *inner = Inner::Fill { len: innermost(loops).len };
    INNERMOST_ONLY
}

fn gather(loops: &[Loop<2>], _: usize, inner: &mut Inner) -> CoveredLoops {
    let Loop { len, strides: [_, step] } = innermost(loops);
    *inner = Inner::Gather { len, step };
    INNERMOST_ONLY
}

fn scatter(loops: &[Loop<2>], _: usize, inner: &mut Inner) -> CoveredLoops {
    let Loop { len, strides: [step, _] } = innermost(loops);
    *inner = Inner::Scatter { len, step };
    INNERMOST_ONLY
}

fn transpose(loops: &[Loop<2>], _: usize, inner: &mut Inner) -> CoveredLoops {
    let side = source_side(loops).unwrap_or(0);
    let (u, v) = (innermost(loops), loops[side]);
    let u = Side { len: u.len, stride: u.strides[1] };
    let v = Side { len: v.len, stride: v.strides[0] };
    *inner = Inner::Tile { u, v, block: usize::MAX };
    CoveredLoops { innermost: 1, side: Some(side) }
}

/// The loops with the smallest strides of the destination and of the source; if they are the same
/// loop, the two innermost ones.
fn blocked2d(loops: &[Loop<2>], unit: usize, inner: &mut Inner) -> CoveredLoops {
    let side = match nearest(loops) {
        side if side + 1 < loops.len() => side,
        _ => loops.len() - 2,
    };
    *inner = blocked(loops[side], innermost(loops), 1, unit);
    CoveredLoops { innermost: 1, side: Some(side) }
}

fn fallback(loops: &[Loop<2>], unit: usize, inner: &mut Inner) -> CoveredLoops {
    *inner = blocked(Loop::ONCE, innermost(loops), 1, unit);
    INNERMOST_ONLY
}

/// Two loops over runs of `run` units of `unit` bytes. The cache lines of a block take up to half
/// of a first-level cache. Loops that visit source and destination in one order are not cut.
pub(super) fn blocked(outer: Loop<2>, inner: Loop<2>, run: usize, unit: usize) -> Inner {
    let is_nearer = |k: usize| inner.strides[k].unsigned_abs() <= outer.strides[k].unsigned_abs();
    let block = match run * unit {
        _ if is_nearer(0) && is_nearer(1) => inner.len.max(outer.len),
        0..=8 => 64,
        9..=32 => 32,
        _ => 16,
    };
    Inner::Blocked2d { outer, inner, run, block }
}
