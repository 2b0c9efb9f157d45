//! Cutting work for threads.
//!
//! Work is halved, and the halves again, along the outermost loop of the destination that can be cut; where only the innermost step is left it is
//! cut too, at a multiple of what its kernel takes in one go. Halves write different elements (the destination's indices do), so they may run at
//! the same time.

mod elementwise;

use crate::{
    exec::{Exec, pool},
    nest::Loop,
    plan::{Inner, Side, Streamed, Work},
};

/// Something that can be cut in two halves that may run at the same time.
pub(crate) trait Divide: Sized + Sync {
    /// The halves, or `None` if it is too small to cut.
    fn halves(&self) -> Option<(Self, Self)>;

    /// The bytes that it moves.
    fn bytes(&self) -> usize;
}

/// Halves the work until there are as many pieces as `exec` wants, and runs them on whatever threads are free.
pub(crate) fn share<W: Divide>(exec: &Exec, work: &W, run: impl Fn(&W) + Copy + Sync + Send) {
    match exec.pieces(work.bytes()) {
        1 => run(work),
        pieces => share_out(work, pieces, run),
    }
}

fn share_out<W: Divide>(work: &W, pieces: usize, run: impl Fn(&W) + Copy + Sync + Send) {
    match if pieces > 1 { work.halves() } else { None } {
        None => run(work),
        Some((first, second)) => pool::join(
            || share_out(&first, pieces / 2, run),
            || share_out(&second, pieces - pieces / 2, run),
        ),
    }
}

/// Inner steps are cut at multiples of this many units: a cache line of the smallest, and whole register tiles.
const ALIGN: usize = 64;

impl Divide for Work {
    fn halves(&self) -> Option<(Work, Work)> {
        match self.outer.iter().position(|l| l.len > 1) {
            Some(at) => Some(self.halved_outside(at)),
            None => self.halved_inside(),
        }
    }

    fn bytes(&self) -> usize {
        self.outer.iter().map(|l| l.len).product::<usize>() * self.inner.len() * self.unit
    }
}

impl Work {
    fn halved_outside(&self, at: usize) -> (Work, Work) {
        let (mut first, mut second) = (self.clone(), self.clone());
        let Loop { len, strides } = self.outer[at];
        first.outer[at].len = len / 2;
        second.outer[at].len = len - len / 2;
        second.advance(strides, len / 2);
        (first, second)
    }

    fn halved_inside(&self) -> Option<(Work, Work)> {
        let (head, tail, strides, at) = self.inner.halves()?;
        let (mut first, mut second) = (self.clone(), self.clone());
        (first.inner, second.inner) = (head, tail);
        second.advance(strides, at);
        Some((first, second))
    }

    /// Moves the start by `steps` turns of a loop.
    fn advance(&mut self, strides: [isize; 2], steps: usize) {
        for (start, stride) in self.starts.iter_mut().zip(strides) {
            *start += stride * steps as isize * self.unit as isize;
        }
    }
}

impl Inner {
    /// The step cut in two, the strides of the loop that was cut, and where.
    fn halves(self) -> Option<(Inner, Inner, [isize; 2], usize)> {
        match self {
            Inner::Nothing => None,
            Inner::Run { len } => cut(len, [1, 1], |len| Inner::Run { len }),
            Inner::Fill { len } => cut(len, [1, 0], |len| Inner::Fill { len }),
            Inner::Pick { len, step } => cut(len, [1, step], |len| Inner::Pick { len, step }),
            Inner::Spread { len, step } => cut(len, [step, 1], |len| Inner::Spread { len, step }),
            Inner::Tile { u, v } => {
                let rows = |len| Inner::Tile { u, v: Side { len, ..v } };
                let columns = |len| Inner::Tile { u: Side { len, ..u }, v };
                cut(v.len, [v.stride, 1], rows).or_else(|| cut(u.len, [1, u.stride], columns))
            }
            Inner::Streamed(plan) => plan.halves(),
            Inner::Grid { outer, inner, run } => {
                let rows = |len| Inner::Grid { outer: Loop { len, ..outer }, inner, run };
                let columns = |len| Inner::Grid { outer, inner: Loop { len, ..inner }, run };
                let step = (ALIGN / run).max(1);
                cut_at(outer.len, step, outer.strides, rows)
                    .or_else(|| cut_at(inner.len, step, inner.strides, columns))
            }
        }
    }
}

impl Streamed {
    /// Cut along the loop that is slowest in the destination, at a multiple of a block. `u` and `v` are whole while something goes on where they end.
    fn halves(self) -> Option<(Inner, Inner, [isize; 2], usize)> {
        let Streamed { u, v, u2, v2, block, .. } = self;
        let part = Inner::Streamed;
        let steps = |len: usize, side: Side| Side { len, ..side };
        if v2.len > block.v2 {
            return cut_at(v2.len, block.v2, [v2.stride, v.len as isize], |len| {
                part(Streamed { v2: steps(len, v2), ..self })
            });
        }
        let rows = || {
            cut_at(v.len, block.v, [v.stride, 1], |len| part(Streamed { v: steps(len, v), ..self }))
        };
        let turns = || {
            cut_at(u2.len, block.u2, [u.len as isize, u2.stride], |len| {
                part(Streamed { u2: steps(len, u2), ..self })
            })
        };
        let columns = || {
            cut_at(u.len, block.u, [1, u.stride], |len| part(Streamed { u: steps(len, u), ..self }))
        };
        let rows = if v2.len == 1 { rows() } else { None };
        rows.or_else(turns).or_else(|| if u2.len == 1 { columns() } else { None })
    }
}

/// A loop of `len` turns cut near its middle, at a multiple of [`ALIGN`].
fn cut(
    len: usize,
    strides: [isize; 2],
    part: impl Fn(usize) -> Inner,
) -> Option<(Inner, Inner, [isize; 2], usize)> {
    cut_at(len, ALIGN, strides, part)
}

/// A loop of `len` turns cut near its middle, at a multiple of `step`.
fn cut_at(
    len: usize,
    step: usize,
    strides: [isize; 2],
    part: impl Fn(usize) -> Inner,
) -> Option<(Inner, Inner, [isize; 2], usize)> {
    let at = (len / 2).next_multiple_of(step);
    (0 < at && at < len).then(|| (part(at), part(len - at), strides, at))
}

#[cfg(test)]
mod tests;
