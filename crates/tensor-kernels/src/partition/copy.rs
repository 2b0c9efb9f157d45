//! Cuts copies: along the outer loops first, then within the innermost step.

use smallvec::{SmallVec, smallvec};

use super::{Axes, Axis, CUT_ALIGNMENT_ELEMENTS, Divisible, cut_groups};
use crate::{
    nest::Loop,
    plan::{Along, Inner, Side, Streamed, Work},
};

impl Divisible for Work {
    fn axes(&self) -> Axes {
        let outer = self.outer.iter().map(|l| Axis::anywhere(l.len));
        if let Inner::Grouped(groups) = self.inner {
            let mut axes: Axes = outer.collect();
            cut_groups(&mut axes, [groups.u, groups.v]);
            return axes;
        }
        if let Inner::Shuffled(plan) = self.inner {
            let mut axes: Axes = outer.collect();
            cut_groups(&mut axes, [plan.block]);
            return axes;
        }
        outer.chain(self.inner.axes(self.starts[0], self.unit)).collect()
    }

    fn part(&self, axis: usize, start: usize, len: usize) -> Self {
        let mut part = self.clone();
        let strides = match axis.checked_sub(self.outer.len()) {
            None => {
                part.outer[axis].len = len;
                self.outer[axis].strides
            }
            Some(inner) => part.inner.shorten(inner, len),
        };
        for (first, stride) in part.starts.iter_mut().zip(strides) {
            *first += stride * start as isize * self.unit as isize;
        }
        part
    }

    fn bytes(&self) -> usize {
        // Saturates: a plan of repeated elements may exceed the address space.
        let units = self.outer.iter().fold(self.inner.len(), |n, l| n.saturating_mul(l.len));
        units.saturating_mul(self.unit)
    }
}

impl Inner {
    /// The loops of a step, in units of `unit` bytes. The result starts `start` bytes after a cache
    /// line.
    fn axes(&self, start: isize, unit: usize) -> SmallVec<[Axis; 4]> {
        let adjacent = |len| Axis::adjacent(len, start, unit);
        match *self {
            Inner::Nothing
            | Inner::Grouped(_)
            | Inner::Shuffled(_)
            | Inner::PackedSource { .. } => smallvec![],
            Inner::Run { len } | Inner::Fill { len } | Inner::Gather { len, .. } => {
                smallvec![adjacent(len)]
            }
            Inner::Scatter { len, .. } => {
                smallvec![Axis::at_multiples(len, CUT_ALIGNMENT_ELEMENTS)]
            }
            Inner::Tile { u, v, .. } => {
                smallvec![Axis::at_multiples(v.len, CUT_ALIGNMENT_ELEMENTS), adjacent(u.len)]
            }
            Inner::Streamed(ref plan) => plan.axes(),
            Inner::Blocked2d { outer, inner, run, .. } => {
                let multiple = (CUT_ALIGNMENT_ELEMENTS / run).max(1);
                [outer, inner].iter().map(|l| Axis::at_multiples(l.len, multiple)).collect()
            }
        }
    }

    /// Shortens a loop of [`axes`](Self::axes), and returns its strides of destination and source.
    fn shorten(&mut self, axis: usize, to: usize) -> [isize; 2] {
        match self {
            Inner::Nothing
            | Inner::Grouped(_)
            | Inner::Shuffled(_)
            | Inner::PackedSource { .. } => [0, 0],
            Inner::Run { len } => shorten(len, to, [1, 1]),
            Inner::Fill { len } => shorten(len, to, [1, 0]),
            Inner::Gather { len, step } => shorten(len, to, [1, *step]),
            Inner::Scatter { len, step } => shorten(len, to, [*step, 1]),
            Inner::Tile { v, .. } if axis == 0 => shorten(&mut v.len, to, [v.stride, 1]),
            Inner::Tile { u, .. } => shorten(&mut u.len, to, [1, u.stride]),
            Inner::Streamed(plan) => plan.shorten(axis, to),
            Inner::Blocked2d { outer, .. } if axis == 0 => shorten_loop(outer, to),
            Inner::Blocked2d { inner, .. } => shorten_loop(inner, to),
        }
    }
}

fn shorten(len: &mut usize, to: usize, strides: [isize; 2]) -> [isize; 2] {
    *len = to;
    strides
}

fn shorten_loop(l: &mut Loop<2>, to: usize) -> [isize; 2] {
    shorten(&mut l.len, to, l.strides)
}

impl Streamed {
    /// `v2`, `v`, `u2`, `u`: the slowest in the destination first, cut at multiples of a block. `v`
    /// and `u` stay whole if `v2` or `u2` continues them.
    fn axes(&self) -> SmallVec<[Axis; 4]> {
        let Streamed { u, v, u2, v2, block, .. } = self;
        let whole_unless = |free: bool, side: &Side| if free { side.len } else { 1 };
        smallvec![
            Axis::at_multiples(v2.len, block.v2),
            Axis::at_multiples(whole_unless(v2.len == 1, v), block.v),
            Axis::at_multiples(u2.len, block.u2),
            Axis::at_multiples(whole_unless(u2.len == 1, u), block.u),
        ]
    }

    fn shorten(&mut self, axis: usize, to: usize) -> [isize; 2] {
        let along = [Along::V2, Along::V, Along::U2, Along::U][axis];
        let strides = self.strides(along);
        let side = match along {
            Along::V2 => &mut self.v2,
            Along::V => &mut self.v,
            Along::U2 => &mut self.u2,
            Along::U => &mut self.u,
        };
        shorten(&mut side.len, to, strides)
    }
}
