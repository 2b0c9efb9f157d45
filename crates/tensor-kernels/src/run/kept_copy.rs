//! Copies whose plan the caller keeps.
//!
//! A run compares the layouts with those of the plan, and then copies. Few elements are not copied
//! by the plan, which takes longer to start than they take to copy: their loops, or a list of their
//! source offsets, are prepared once and kept beside the plan. A call without a plan takes the same
//! short cuts, so a kept plan never takes longer than one.

use std::{
    fmt,
    hash::{Hash, Hasher},
    mem::MaybeUninit,
};

use tensor_core::{Element, Error, Layout, Result, TensorViewMutBase, ViewRef, ViewRefMut};

use super::{
    copy::execute,
    listed::{can_pick, run_listed, run_picked},
    operands::{CopyTarget, OperandPtrs},
    tiny::{MAX_TINY_DIMS, has_few_rows, is_tiny, sort_longest_innermost, walk, walk_rows},
};
use crate::{
    exec::{Exec, Machine},
    nest::{Loop, Nest},
    picked_copy::PickedCopy,
    plan::{Listing, PlannedCopy},
    tuning::FEW_ROWS_BYTES,
};

/// The plan of a copy, with the short cut that its runs take. Two are equal if their plans are.
#[derive(Clone)]
pub(crate) struct KeptCopy {
    planned: PlannedCopy,
    short_cut: ShortCut,
}

/// How few elements are copied.
///
/// Invariant: the offsets that it visits are those of the layouts of the plan beside it.
#[derive(Clone)]
enum ShortCut {
    /// As planned.
    None,
    /// By two loops over elements.
    Rows { starts: [isize; 2], rows: Loop<2>, columns: Loop<2> },
    /// By more loops over elements.
    Loops { starts: [isize; 2], loops: [Loop<2>; MAX_TINY_DIMS] },
    /// By a list of the source offsets, if one thread copies all.
    Listed { starts: [isize; 2], listing: Listing },
    /// By picks, on the same condition, and if the gaps between the source's elements can be read.
    Picked { starts: [isize; 2], picks: PickedCopy },
}

impl ShortCut {
    /// The short cut for a copy of few elements.
    fn of(planned: &PlannedCopy, machine: &Machine) -> Self {
        let (from, to, width) = planned.operands();
        // Loops of no iterations would not be the outermost ones.
        let nest = (from.numel() > 0).then(|| Nest::of([to, from]));
        let Some(Ok(nest)) = nest else { return Self::None };
        let (loops, starts) = (nest.loops(), nest.starts());
        let is_short_run = |l: &Loop<2>| l.strides == [1, 1] && l.len * width <= FEW_ROWS_BYTES;
        let is_short = is_tiny(to)
            || has_few_rows([to, from], width)
            || matches!(loops, [only] if is_short_run(only));
        if !is_short {
            return Self::listed(planned, starts, machine);
        }
        match longest_innermost(loops) {
            [.., rows, columns] if loops.len() <= 2 => Self::Rows { starts, rows, columns },
            loops => match Self::listed(planned, starts, machine) {
                Self::None => Self::Loops { starts, loops },
                listed => listed,
            },
        }
    }

    /// By a list or by picks, if that takes less time than the plan.
    fn listed(planned: &PlannedCopy, starts: [isize; 2], machine: &Machine) -> Self {
        let (from, to, width) = planned.operands();
        let listing = Listing::reserved(from, to, width, planned.work(), machine)
            .and_then(|mut listing| listing.fill(from).then_some(listing));
        let others = (planned.work(), listing.as_ref());
        if let Some(picks) = Listing::picks([from, to], width, others, machine) {
            return Self::Picked { starts, picks };
        }
        listing.map_or(Self::None, |listing| Self::Listed { starts, listing })
    }
}

/// At most [`MAX_TINY_DIMS`] loops, the longest innermost.
fn longest_innermost(of: &[Loop<2>]) -> [Loop<2>; MAX_TINY_DIMS] {
    let mut loops = [Loop::ONCE; MAX_TINY_DIMS];
    loops[MAX_TINY_DIMS - of.len()..].copy_from_slice(of);
    sort_longest_innermost(&mut loops);
    loops
}

impl KeptCopy {
    /// Plans a copy between layouts of one shape.
    pub(crate) fn new(from: &Layout, to: &Layout, width: usize, machine: &Machine) -> Self {
        let planned = PlannedCopy::new(from, to, width, machine);
        let short_cut = ShortCut::of(&planned, machine);
        Self { planned, short_cut }
    }

    /// A copy that always runs as planned.
    pub(crate) fn as_planned(planned: PlannedCopy) -> Self {
        Self { planned, short_cut: ShortCut::None }
    }

    /// The same, which always runs as planned.
    pub(crate) fn without_short_cut(self) -> Self {
        Self { short_cut: ShortCut::None, ..self }
    }

    pub(crate) fn planned(&self) -> &PlannedCopy {
        &self.planned
    }

    /// Was it planned for these layouts and this width?
    #[inline(always)]
    pub(super) fn is_for(&self, from: &Layout, to: &Layout, width: usize) -> bool {
        let (planned_from, planned_to, planned_width) = self.planned.operands();
        let is_for = width == planned_width && same(planned_from, from) && same(planned_to, to);
        debug_assert_eq!(is_for, self.planned.is_for(from, to, width));
        is_for
    }

    /// Copies elements between operands.
    ///
    /// C1: the caller has asked [`is_for`](Self::is_for) of the layouts behind the operands, and of
    /// the width of a `T`.
    #[inline(always)]
    pub(super) fn run<T: Copy>(&self, exec: &Exec, operands: OperandPtrs<'_, 2>) {
        if let ShortCut::Rows { starts, rows, columns } = self.short_cut {
            let [dst, src] = first_elements(operands, starts, size_of::<T>());
            // SAFETY: C1, with O1 and O3 for the offsets of the layouts.
            return unsafe { walk_rows::<T>(src.cast(), dst.cast(), rows, columns) };
        }
        self.run_longer::<T>(exec, operands);
    }

    /// A function of its own: it would make the stack frame of a tiny copy large.
    #[inline(never)]
    fn run_longer<T: Copy>(&self, exec: &Exec, operands: OperandPtrs<'_, 2>) {
        if let ShortCut::Loops { starts, loops } = self.short_cut {
            let [dst, src] = first_elements(operands, starts, size_of::<T>());
            // SAFETY: C1, with O1 and O3 for the offsets of the layouts.
            return unsafe { walk::<T>(src.cast(), dst.cast(), loops) };
        }
        self.run_any(exec, operands);
    }

    /// Copies elements for which there is no type, without loops over them. C1.
    pub(super) fn run_any(&self, exec: &Exec, operands: OperandPtrs<'_, 2>) {
        let (.., width) = self.planned.operands();
        match &self.short_cut {
            ShortCut::Listed { starts, listing }
                if exec.tasks(listing.offsets().len() * width) <= 1 =>
            {
                let [dst, src] = first_elements(operands, *starts, width);
                // SAFETY: the list has the offsets of the source's elements from its first one on;
                // the destination is contiguous. C1, with O1 and O3 for both.
                unsafe { run_listed(width, listing, dst, src) };
            }
            ShortCut::Picked { starts, picks }
                if exec.tasks(self.planned.operands().1.numel() * width) <= 1
                    && can_pick(exec.simd(), operands.0[1]) =>
            {
                let [dst, src] = first_elements(operands, *starts, width);
                // SAFETY: the picks are those of the source's elements from its first one on, and
                // the gaps between them can be read; the destination is contiguous. C1, with O1 to
                // O4 for both.
                unsafe { run_picked(exec.simd(), width, picks, (dst, src)) };
            }
            _ => execute(exec, self.planned.work(), &operands),
        }
    }

    /// That the plan was made for other layouts or another width than those of these shapes.
    #[cold]
    pub(super) fn refused(from: &Layout, to: &Layout) -> Error {
        let [from, to] = [from, to].map(|layout| layout.shape().to_vec());
        Error::NotPlanned { from, to }
    }
}

/// The addresses of the first elements of destination and source.
#[inline(always)]
fn first_elements(
    OperandPtrs([to, from]): OperandPtrs<'_, 2>,
    starts: [isize; 2],
    width: usize,
) -> [*mut u8; 2] {
    let [dst, src] = starts.map(|start| start.wrapping_mul(width as isize));
    [to.base.wrapping_offset(dst), from.base.wrapping_offset(src)]
}

/// Are two layouts the same? Comparing slices calls `memcmp`, which takes longer for a few
/// dimensions; so do loops over two.
#[inline(always)]
fn same(a: &Layout, b: &Layout) -> bool {
    if let (&[m, n], &[rows, columns]) = (a.shape(), b.shape())
        && let (&[s, t], &[row, column]) = (a.strides(), b.strides())
    {
        let sizes = (m ^ rows) | (n ^ columns) | (a.offset() ^ b.offset());
        return sizes | ((s ^ row) | (t ^ column)) as usize == 0;
    }
    let sizes = a.shape().iter().zip(b.shape()).fold(0, |other, (a, b)| other | (a ^ b));
    let strides = a.strides().iter().zip(b.strides()).fold(0, |other, (a, b)| other | (a ^ b));
    a.ndim() == b.ndim() && a.offset() == b.offset() && sizes == 0 && strides == 0
}

impl PartialEq for KeptCopy {
    fn eq(&self, other: &Self) -> bool {
        self.planned == other.planned
    }
}

impl Eq for KeptCopy {}

impl Hash for KeptCopy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.planned.hash(state);
    }
}

impl fmt::Debug for KeptCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.planned.fmt(f)
    }
}

/// Copies elements by a kept plan.
///
/// # Errors
/// [`Error::NotPlanned`], and nothing is copied, if the plan was made for other layouts or another
/// width.
#[inline]
pub(crate) fn copy_kept<T: Element, W: CopyTarget<T>>(
    exec: &Exec,
    kept: &KeptCopy,
    from: ViewRef<'_, T>,
    to: &mut ViewRefMut<'_, W>,
) -> Result<()> {
    if !kept.is_for(from.layout(), to.layout(), size_of::<T>()) {
        return Err(KeptCopy::refused(from.layout(), to.layout()));
    }
    kept.run::<T>(exec, OperandPtrs::new([to.into(), from.into()]));
    Ok(())
}

/// Copies elements into uninitialised memory by a kept plan.
///
/// # Errors
/// Those of [`copy_kept`].
pub(crate) fn copy_kept_uninit<'t, T: Element, K>(
    exec: &Exec,
    kept: &KeptCopy,
    from: ViewRef<'_, T>,
    mut to: TensorViewMutBase<'t, MaybeUninit<T>, K>,
) -> Result<TensorViewMutBase<'t, T, K>> {
    copy_kept(exec, kept, from, &mut (&mut to).into())?;
    // SAFETY: a copy between these layouts has written every element of the destination's.
    Ok(unsafe { to.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short_cut(shape: &[usize], strides: &[isize], width: usize) -> &'static str {
        let to = Layout::contiguous(shape).unwrap();
        let from = Layout::new(shape, strides, 0).unwrap();
        match KeptCopy::new(&from, &to, width, &Machine::REFERENCE).short_cut {
            ShortCut::None => "none",
            ShortCut::Rows { .. } => "rows",
            ShortCut::Loops { .. } => "loops",
            ShortCut::Listed { .. } => "listed",
            ShortCut::Picked { .. } => "picked",
        }
    }

    #[test]
    fn few_elements_take_a_short_cut() {
        for (what, shape, strides, width, expected) in [
            ("a small transpose", &[4, 4][..], &[1, 4][..], 4, "rows"),
            ("of items of any size", &[4, 4], &[1, 4], 70, "rows"),
            ("few long rows", &[4, 15], &[16, 1], 4, "rows"),
            ("adjacent elements", &[2, 3, 50], &[150, 50, 1], 4, "rows"),
            ("many adjacent elements", &[1 << 20], &[1], 4, "none"),
            ("no elements", &[0, 3], &[3, 1], 4, "none"),
            ("two dimensions are one", &[2, 3, 4], &[40, 4, 1], 4, "rows"),
            ("three of a plan that is fast", &[3, 4, 2], &[100, 1, 4], 16, "listed"),
            ("many short dimensions", &[2, 4, 2, 3, 2], &[48, 96, 1, 3, 6], 8, "listed"),
            ("a matrix", &[64, 64], &[1, 64], 4, "none"),
        ] {
            assert_eq!(short_cut(shape, strides, width), expected, "{what}");
        }
    }

    #[test]
    fn a_plan_without_short_cuts_is_equal() {
        let to = Layout::contiguous([4, 4]).unwrap();
        let kept = KeptCopy::new(&to.t().unwrap(), &to, 4, &Machine::REFERENCE);
        assert_eq!(kept.clone().without_short_cut(), kept);
        assert!(matches!(kept.without_short_cut().short_cut, ShortCut::None));
    }
}
