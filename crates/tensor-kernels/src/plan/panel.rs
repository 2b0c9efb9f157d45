//! Transposes that do not fit the caches: through a panel.
//!
//! A transpose of memory to memory has two enemies. Short rows: a register tile reads and writes a cache line here and a cache line there, each in
//! another page. And partial lines: a destination row that does not start at a line's border cannot be written past the cache in whole lines. Both
//! are met by a scratch panel in the second-level cache: register tiles transpose a block into it, reading long runs of the source; then each of its
//! rows, a long run of the destination, is written out past the caches.
//!
//! Runs are made long on both sides even where the planes are small: a loop that goes on where `u` ends in the destination (`u2`), and one that goes
//! on where `v` ends in the source (`v2`), become part of the panel. A reversed array of six short dimensions has runs as long as a matrix.

use std::fmt;

use super::Side;
use crate::{Loop, Machine, nest::Loops};

/// A blocked transpose. The panel has a row for each index along `v` and `v2`, and a column for each along `u` and `u2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Panel {
    /// Adjacent in the destination; its stride is the source's.
    pub(crate) u: Side,
    /// Adjacent in the source; its stride is the destination's.
    pub(crate) v: Side,
    /// Goes on in the destination where `u` ends, or once.
    pub(crate) u2: Loop<2>,
    /// Goes on in the source where `v` ends, or once.
    pub(crate) v2: Loop<2>,
    /// The extents of a block along `u`, `u2`, `v` and `v2`.
    pub(crate) block: Block,
}

/// The extents of a panel, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) u: usize,
    pub(crate) u2: usize,
    pub(crate) v: usize,
    pub(crate) v2: usize,
}

/// A row of the panel, which is a run of the destination, in bytes.
const ROW: usize = 512;

/// A side this short is a handful of channels: the other one alone gives long runs, and a panel in the first-level cache is enough.
const CHANNELS: usize = 8;

impl Panel {
    /// Takes from `outer` the loops that make its runs longer.
    pub(super) fn new(
        u: Side,
        v: Side,
        outer: &mut Loops<2>,
        unit: usize,
        machine: &Machine,
    ) -> Self {
        let row = ROW / unit;
        let u2 =
            if u.len < row { take(outer, |l| l.strides[0] == u.len as isize) } else { Loop::ONCE };
        let rows = |row: usize| (machine.l2 / 2 / unit / row.max(1)).max(1);
        let v2 = if v.len < rows(row) {
            take(outer, |l| l.strides[1] == v.len as isize)
        } else {
            Loop::ONCE
        };
        let block = if u.len.min(v.len) <= CHANNELS {
            channels(u.len, v.len, machine.l1 / 2 / unit)
        } else {
            let (width, u2) = extents(u.len, u2.len, row);
            let (height, v2) = extents(v.len, v2.len, rows(width * u2));
            Block { u: width, u2, v: height, v2 }
        };
        Self { u, v, u2, v2, block }
    }

    /// The number of units written.
    pub(crate) fn len(&self) -> usize {
        self.u.len * self.v.len * self.u2.len * self.v2.len
    }
}

impl Block {
    /// The columns and rows of the panel.
    pub(crate) fn extents(&self) -> (usize, usize) {
        (self.u * self.u2, self.v * self.v2)
    }
}

/// `panel 128x1024 of 4096 (src 4096) x 4096 (dst 4096)`: the block's columns and rows, and the transpose.
impl fmt::Display for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Panel { u, v, u2, v2, block } = self;
        let (columns, rows) = block.extents();
        write!(
            f,
            "panel {columns}x{rows} of {} (src {}) x {} (dst {})",
            u.len, u.stride, v.len, v.stride
        )?;
        for (name, l) in [("u2", u2), ("v2", v2)].into_iter().filter(|(_, l)| l.len > 1) {
            write!(f, ", {name} {} x {:?}", l.len, l.strides)?;
        }
        Ok(())
    }
}

/// The loop that fits, once at most.
fn take(outer: &mut Loops<2>, fits: impl Fn(&Loop<2>) -> bool) -> Loop<2> {
    outer.iter().position(fits).map_or(Loop::ONCE, |at| outer.remove(at))
}

/// How much of a loop and of the one that goes on after it makes `target`.
fn extents(len: usize, next: usize, target: usize) -> (usize, usize) {
    if len >= target { (target, 1) } else { (len, (target / len).clamp(1, next)) }
}

/// A block with all of the short side, and as much of the other as fits.
fn channels(u: usize, v: usize, units: usize) -> Block {
    let most = |other: usize| (units / other).max(1);
    let (u, v) = if u <= v { (u, v.min(most(u))) } else { (u.min(most(v)), v) };
    Block { u, u2: 1, v, v2: 1 }
}
