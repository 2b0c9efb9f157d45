//! Which strategy copies a nest: a table, tried from the top.
//!
//! A row has a name, a test and a builder. The name is the path that users see and tests hold on to; a layout that falls to another row has
//! become slower, and is noticed.

use std::ops::Range;

use super::{Inner, Side, Streamed, Work};
use crate::{Loop, Machine, nest::Loops};

pub(super) struct Strategy {
    pub(super) name: &'static str,
    applies: fn(&Loops<2>) -> bool,
    /// Takes the loops that it does itself; the others stay around it.
    build: fn(&mut Loops<2>) -> Inner,
}

/// The fastest first; the last one takes everything.
pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "nothing",
        applies: |l| l.first().is_some_and(|l| l.len == 0),
        build: nothing,
    },
    Strategy {
        name: "memcpy",
        applies: |l| l.is_empty() || (l.len() == 1 && last(l) == [1, 1]),
        build: run,
    },
    Strategy { name: "rows", applies: |l| last(l) == [1, 1], build: run },
    Strategy { name: "fill", applies: |l| last(l) == [1, 0], build: fill },
    Strategy { name: "tile", applies: |l| l.len() == 2 && is_tile(l), build: tile },
    Strategy { name: "batched_tile", applies: is_tile, build: tile },
    Strategy { name: "reverse", applies: |l| last(l) == [1, -1], build: pick },
    Strategy {
        name: "strided",
        applies: |l| last(l)[0] == 1 && nearest(l) == l.len() - 1,
        build: pick,
    },
    Strategy { name: "scatter", applies: |l| last(l)[1] == 1, build: spread },
    Strategy { name: "grid", applies: |l| l.len() > 1, build: grid },
    Strategy { name: "gather", applies: |_| true, build: lone },
];

/// Rows of so many bytes are visited in the order of the source: streamed stores care less where they go than reads where they come from. Measured on
/// the heads of an attention layer, rows of 256 bytes 4 KiB apart: 0.6 of the roof in the order of the result, 1.0 in that of the source.
const SHORT_ROWS: Range<usize> = 256..4096;

/// Lets the first strategy that applies take the innermost loops of the work.
pub(super) fn choose(work: &mut Work, machine: &Machine) {
    source_forwards(work);
    let loops = &mut work.outer;
    let strategy = STRATEGIES
        .iter()
        .find(|s| (s.applies)(loops))
        .expect("the last strategy applies to everything");
    work.inner = (strategy.build)(loops);
    work.path = strategy.name;
    if let (Inner::Tile { u, v }, true) = (work.inner, work.stream)
        && let Some(streamed) = Streamed::new(u, v, loops, work.unit, machine)
    {
        work.inner = Inner::Streamed(streamed);
    }
    if let (Inner::Run { len }, true) = (work.inner, work.stream)
        && SHORT_ROWS.contains(&(len * work.unit))
    {
        loops.sort_by_key(|l| std::cmp::Reverse(l.strides[1].unsigned_abs()));
    }
    work.stream &= matches!(
        work.inner,
        Inner::Run { .. } | Inner::Fill { .. } | Inner::Pick { .. } | Inner::Streamed(_)
    );
}

/// A source that runs backwards along a loop other than the innermost is walked from its other end, so that a tile can take it.
fn source_forwards(work: &mut Work) {
    let Some((_, outer)) = work.outer.split_last_mut() else { return };
    for l in outer.iter_mut().filter(|l| l.strides[1] == -1) {
        for (start, stride) in work.starts.iter_mut().zip(&mut l.strides) {
            *start += (l.len - 1) as isize * *stride * work.unit as isize;
            *stride = -*stride;
        }
    }
}

fn last(loops: &Loops<2>) -> [isize; 2] {
    loops[loops.len() - 1].strides
}

/// The loop along which the source is adjacent, while the destination is adjacent along the last one.
fn source_side(loops: &Loops<2>) -> Option<usize> {
    let (last, outer) = loops.split_last()?;
    if last.strides[0] != 1 {
        return None;
    }
    outer.iter().position(|l| l.strides[1] == 1)
}

fn is_tile(loops: &Loops<2>) -> bool {
    source_side(loops).is_some()
}

/// The loop with the smallest step of the source.
fn nearest(loops: &Loops<2>) -> usize {
    let step = |at: &usize| (loops[*at].strides[1].unsigned_abs().max(1), usize::MAX - at);
    (0..loops.len()).min_by_key(step).unwrap_or(0)
}

fn take_last(loops: &mut Loops<2>) -> Loop<2> {
    loops.pop().unwrap_or(Loop { len: 1, strides: [1, 1] })
}

fn nothing(loops: &mut Loops<2>) -> Inner {
    loops.clear();
    Inner::Nothing
}

fn run(loops: &mut Loops<2>) -> Inner {
    Inner::Run { len: take_last(loops).len }
}

fn fill(loops: &mut Loops<2>) -> Inner {
    Inner::Fill { len: take_last(loops).len }
}

fn pick(loops: &mut Loops<2>) -> Inner {
    let Loop { len, strides: [_, step] } = take_last(loops);
    Inner::Pick { len, step }
}

fn spread(loops: &mut Loops<2>) -> Inner {
    let Loop { len, strides: [step, _] } = take_last(loops);
    Inner::Spread { len, step }
}

fn tile(loops: &mut Loops<2>) -> Inner {
    let side = source_side(loops).expect("a tile has a side along which the source is adjacent");
    let u = take_last(loops);
    let v = loops.remove(side);
    let (u, v) =
        (Side { len: u.len, stride: u.strides[1] }, Side { len: v.len, stride: v.strides[0] });
    Inner::Tile { u, v }
}

/// The destination's nearest loop and the source's, or the two that are left.
fn grid(loops: &mut Loops<2>) -> Inner {
    let side = match nearest(loops) {
        side if side + 1 < loops.len() => side,
        _ => loops.len() - 2,
    };
    let inner = take_last(loops);
    Inner::Grid { outer: loops.remove(side), inner }
}

fn lone(loops: &mut Loops<2>) -> Inner {
    let inner = take_last(loops);
    Inner::Grid { outer: Loop { len: 1, strides: [0, 0] }, inner }
}
