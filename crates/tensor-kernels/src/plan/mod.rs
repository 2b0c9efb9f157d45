//! What a copy will do, decided before a byte moves.
//!
//! A plan is made from two layouts, the width of an element and a [`Machine`]; it is plain data that can be compared, hashed and printed. First
//! the loops are brought into normal form (`nest`), then counted in units that the kernels know (`unit`), then the first strategy of a table
//! that applies turns the innermost loops into one step that a kernel does in one go (`choose`).
//!
//! A piece of a plan is of the same kind as the whole: `schedule` cuts plans for threads, and nothing below knows which it was given.

mod choose;
mod elementwise;
mod reduce;
mod streamed;
mod unit;

pub(crate) use elementwise::{Access, Block as LanesBlock, ElementwiseWork, SCRATCH};
pub(crate) use reduce::{INPUT, PLACE, RESULT, Reach, ReduceWork, is_reduced};
pub(crate) use streamed::{Block, Lines, Streamed};

use std::fmt;

use tensor_core::{Error, Layout, Result, TensorView, TensorViewMut};

use crate::{
    Exec, Loop, Machine,
    drive::{self, Ends},
    micro::Stores,
    nest::{Loops, with_draft},
};

/// A copy between two layouts of one shape, decided; can be run any number of times.
///
/// ```
/// use tensor_kernels::{CopyPlan, Layout, Machine};
///
/// let rows = Layout::contiguous(&[128, 64])?;
/// let plan = CopyPlan::new(&rows.t()?, &Layout::contiguous(&[64, 128])?, 4, &Machine::REFERENCE)?;
/// assert_eq!(plan.path(), "tile");
/// println!("{plan}");
/// # Ok::<(), tensor_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CopyPlan {
    from: Layout,
    to: Layout,
    width: usize,
    work: Work,
}

/// A plan, or a piece of one: outer loops, and what to do at each of their turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Work {
    /// Bytes of the units in which loops are counted: 1, 2, 4, 8 or 16.
    pub(crate) unit: usize,
    /// Where destination and source start, in bytes from where their pointers point.
    pub(crate) starts: [isize; 2],
    /// The loops around the inner step, outermost first.
    pub(crate) outer: Loops<2>,
    /// What happens inside.
    pub(crate) inner: Inner,
    /// How the result reaches memory.
    pub(crate) stores: Stores,
    /// The name of the strategy.
    pub(crate) path: &'static str,
}

/// The innermost step of a copy, done by one kernel. Strides are in units; where none is given it is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inner {
    /// No elements.
    Nothing,
    /// Adjacent to adjacent.
    Run { len: usize },
    /// One element to adjacent ones.
    Fill { len: usize },
    /// Elements `step` apart to adjacent ones.
    Pick { len: usize, step: isize },
    /// Adjacent elements to ones `step` apart.
    Spread { len: usize, step: isize },
    /// A transpose: along `u` the destination is adjacent, along `v` the source is.
    Tile { u: Side, v: Side },
    /// A transpose that is written past the caches.
    Streamed(Streamed),
    /// Two loops over short runs, or over single elements that are adjacent on neither side as needed above; done in blocks, so that lines are used
    /// while they are cached.
    Grid { outer: Loop<2>, inner: Loop<2>, run: usize },
}

/// One side of a transpose: its length, and the stride of the operand that is not adjacent along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub(crate) len: usize,
    pub(crate) stride: isize,
}

impl CopyPlan {
    /// Plans a copy of elements of `width` bytes.
    ///
    /// # Errors
    /// [`Error::OutputShape`] if the shapes differ, [`Error::TooLarge`] if a layout reaches farther than memory does.
    pub fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Result<Self> {
        check_reach(from, width)?;
        check_reach(to, width)?;
        check_shapes(from, to)?;
        let work = Work::new(from, to, width, machine);
        Ok(Self { from: from.clone(), to: to.clone(), width, work })
    }

    /// The name of the path that the copy takes: `memcpy`, `rows`, `fill`, `tile`, `batched_tile`, `strided`, …
    pub fn path(&self) -> &'static str {
        self.work.path
    }

    /// Every path there is, in the order in which they are tried.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        std::iter::once(choose::NOTHING).chain(choose::STRATEGIES.iter().map(|s| s.name))
    }

    /// Copies.
    ///
    /// # Errors
    /// [`Error::NotPlanned`] if a view has another layout or element width than the plan was made for.
    pub fn run<T: Copy>(
        &self,
        exec: &Exec,
        from: &TensorView<'_, T>,
        to: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        if size_of::<T>() != self.width || *from.layout() != self.from || *to.layout() != self.to {
            return Err(Error::NotPlanned { from: from.shape().to_vec(), to: to.shape().to_vec() });
        }
        drive::copy(exec, &self.work, Ends::new([to.into(), from.into()]));
        Ok(())
    }
}

impl Work {
    /// The plan of a copy between layouts of one shape.
    #[inline(always)]
    pub(crate) fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Self {
        let mut work = Self::nothing();
        work.plan(from, to, width, machine);
        work
    }

    /// Nothing is done.
    #[inline(always)]
    fn nothing() -> Self {
        let (outer, inner) = (Loops::new(), Inner::Nothing);
        Self { unit: 1, starts: [0; 2], outer, inner, stores: Stores::Plain, path: choose::NOTHING }
    }

    /// In place: to move a plan takes as long as to copy sixteen elements.
    fn plan(&mut self, from: &Layout, to: &Layout, width: usize, machine: &Machine) {
        let bytes = from.numel().saturating_mul(width);
        if bytes == 0 {
            return;
        }
        with_draft([to, from], |draft| {
            draft.starts = draft.starts.map(|start| start * width as isize);
            self.unit = unit::count_in_units(draft, width);
            choose::choose(self, draft);
            if bytes >= machine.stream {
                choose::stream(self, bytes, machine);
            }
        });
    }
}

/// # Errors
/// [`Error::OutputShape`] if the shapes differ.
#[inline]
pub(crate) fn check_shapes(from: &Layout, to: &Layout) -> Result<()> {
    if from.shape() == to.shape() {
        return Ok(());
    }
    let (got, expected) = (to.shape().to_vec(), from.shape().to_vec());
    Err(Error::OutputShape { op: "copy", got, expected })
}

/// Views have been checked against their memory; a layout alone may reach anywhere.
fn check_reach(layout: &Layout, width: usize) -> Result<()> {
    let end = layout.bounds().map_or(0, |(_, highest)| highest + 1);
    match end.checked_mul(width) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Error::TooLarge {
            what: "an offset in bytes",
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
        }),
    }
}

impl Inner {
    /// The number of units written at each turn.
    pub(crate) fn len(&self) -> usize {
        match *self {
            Inner::Nothing => 0,
            Inner::Run { len }
            | Inner::Fill { len }
            | Inner::Pick { len, .. }
            | Inner::Spread { len, .. } => len,
            Inner::Tile { u, v } => u.len * v.len,
            Inner::Streamed(plan) => plan.len(),
            Inner::Grid { outer, inner, run } => outer.len * inner.len * run,
        }
    }
}

impl fmt::Display for CopyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.work.fmt(f)
    }
}

/// One line: `batched_tile of 4-byte units: 32 x [301056, 301056], tile 4096 (src 3) x 3 (dst 4096), streamed`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}-byte units: ", self.path, self.unit)?;
        fmt_loops(f, &self.outer)?;
        write!(f, "{}{}", self.inner, if self.stores == Stores::Stream { ", streamed" } else { "" })
    }
}

/// `32 x [301056, 301056], `: a length and the strides of each operand, the one that is written first.
fn fmt_loops<const N: usize>(f: &mut fmt::Formatter<'_>, loops: &[Loop<N>]) -> fmt::Result {
    loops.iter().try_for_each(|l| write!(f, "{} x {:?}, ", l.len, l.strides))
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Inner::Nothing => f.write_str("nothing"),
            Inner::Run { len } => write!(f, "run {len}"),
            Inner::Fill { len } => write!(f, "fill {len}"),
            Inner::Pick { len, step } => write!(f, "pick {len} (src {step})"),
            Inner::Spread { len, step } => write!(f, "spread {len} (dst {step})"),
            Inner::Tile { u, v } => {
                write!(f, "tile {} (src {}) x {} (dst {})", u.len, u.stride, v.len, v.stride)
            }
            Inner::Streamed(plan) => plan.fmt(f),
            Inner::Grid { outer, inner, run } => write!(
                f,
                "grid {} (dst {}, src {}) x {} (dst {}, src {}) of {run}",
                outer.len,
                outer.strides[0],
                outer.strides[1],
                inner.len,
                inner.strides[0],
                inner.strides[1]
            ),
        }
    }
}
