//! The loops over few elements, fused without a plan: planning would take longer than the work.

use tensor_core::Layout;

use super::tiny;
use crate::nest::Loop;

/// The most loops: each is written out where they run.
pub(super) const MAX_LOOPS: usize = 4;

/// Loops over layouts of one shape, the outermost first. Outer loops that are not needed run once.
pub(super) struct FewLoops<const N: usize>(pub(super) [Loop<N>; MAX_LOOPS]);

impl<const N: usize> Default for FewLoops<N> {
    #[inline(always)]
    fn default() -> Self {
        Self([Loop::ONCE; MAX_LOOPS])
    }
}

impl<const N: usize> FewLoops<N> {
    /// Makes them the loops over all indices in row-major order. Dimensions that one stride of each
    /// layout walks through are one loop. Returns `false` if there are more than [`MAX_LOOPS`].
    // Filled in place: see `Operands`.
    #[inline(always)]
    pub(super) fn fill(&mut self, layouts: &[&Layout; N]) -> bool {
        let shape = layouts[0].shape();
        // Rows that follow each other need not be one loop.
        let fuse = shape.len() > 2;
        let mut outermost = MAX_LOOPS;
        for d in (0..shape.len()).rev() {
            let len = shape[d];
            if len == 1 {
                continue;
            }
            let mut strides = [0; N];
            for (stride, layout) in strides.iter_mut().zip(layouts) {
                *stride = layout.strides().get(d).copied().unwrap_or(0);
            }
            if fuse && outermost < MAX_LOOPS && continues(&self.0[outermost], &strides) {
                self.0[outermost].len *= len;
            } else if outermost > 0 {
                outermost -= 1;
                self.0[outermost] = Loop { len, strides };
            } else {
                return false;
            }
        }
        true
    }
}

/// How an operand becomes a row in the order of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// It has the strides of the result.
    Adjacent,
    /// One element.
    Scalar,
    /// It lies otherwise, and is copied.
    Packed,
}

impl<const N: usize> FewLoops<N> {
    /// The loops with the longest of those around the columns, the last, as that over rows. Any
    /// order visits the same elements, and starting the rows takes as long as computing three.
    #[inline(always)]
    pub(super) fn longest_as_rows(&self) -> [&Loop<N>; MAX_LOOPS] {
        let [mut outer, mut inner, mut rows, columns] = self.0.each_ref();
        if inner.len > rows.len {
            (inner, rows) = (rows, inner);
        }
        if outer.len > rows.len {
            (outer, rows) = (rows, outer);
        }
        [outer, inner, rows, columns]
    }

    /// The loops with the two longest last.
    #[inline(always)]
    pub(super) fn longest_last(&self) -> [&Loop<N>; MAX_LOOPS] {
        let mut loops = self.0.each_ref();
        for last in [3, 2] {
            for at in 0..last {
                if loops[at].len > loops[last].len {
                    loops.swap(at, last);
                }
            }
        }
        loops
    }

    /// The loops over operand 0 and operand `k`.
    #[inline(always)]
    pub(super) fn of_operand(&self, k: usize) -> [Loop<2>; MAX_LOOPS] {
        self.0.each_ref().map(|l| over_operand(l, k))
    }

    /// How operand `k` becomes a row.
    #[inline(always)]
    pub(super) fn row(&self, k: usize) -> Row {
        let (mut is_adjacent, mut is_scalar) = (true, true);
        for l in &self.0 {
            is_adjacent &= l.strides[k] == l.strides[0];
            is_scalar &= l.strides[k] == 0;
        }
        match (is_adjacent, is_scalar) {
            (true, _) => Row::Adjacent,
            (_, true) => Row::Scalar,
            _ => Row::Packed,
        }
    }

    /// Do two operands have the same strides?
    #[inline(always)]
    pub(super) fn lie_alike(&self, a: usize, b: usize) -> bool {
        let mut all = true;
        for l in &self.0 {
            all &= l.strides[a] == l.strides[b];
        }
        all
    }
}

/// A loop over operand 0 and operand `k`.
#[inline(always)]
fn over_operand<const N: usize>(l: &Loop<N>, k: usize) -> Loop<2> {
    Loop { len: l.len, strides: [l.strides[0], l.strides[k]] }
}

/// Does a loop of these strides walk on where `inner` ends?
#[inline(always)]
fn continues<const N: usize>(inner: &Loop<N>, strides: &[isize; N]) -> bool {
    let mut all = true;
    for (stride, outer) in inner.strides.iter().zip(strides) {
        all &= stride.wrapping_mul(inner.len as isize) == *outer;
    }
    all
}

/// Copies elements of `width` bytes, 1 to 16 and a power of two, of operand `k` of loops to where
/// operand 0 has them.
///
/// # Safety
/// Every offset that the loops visit in operand `k` can be read at `from`, and those of operand 0
/// be written at `to`, at any alignment; the two do not overlap.
#[inline]
pub(super) unsafe fn copy_few<const N: usize>(
    width: usize,
    (from, k): (*const u8, usize),
    to: *mut u8,
    loops: &FewLoops<N>,
) {
    match width {
        // SAFETY: this function's contract.
        1 => unsafe { walk::<u8, N>((from, k), to, loops) },
        // SAFETY: this function's contract.
        2 => unsafe { walk::<u16, N>((from.cast(), k), to.cast(), loops) },
        // SAFETY: this function's contract.
        4 => unsafe { walk::<u32, N>((from.cast(), k), to.cast(), loops) },
        // SAFETY: this function's contract.
        8 => unsafe { walk::<u64, N>((from.cast(), k), to.cast(), loops) },
        // SAFETY: this function's contract; there are no other widths.
        _ => unsafe { walk::<u128, N>((from.cast(), k), to.cast(), loops) },
    }
}

/// # Safety
/// That of [`copy_few`], for elements `T`.
// Not inlined: together the widths need more registers than there are.
#[inline(never)]
unsafe fn walk<T: Copy, const N: usize>(
    (from, k): (*const T, usize),
    to: *mut T,
    FewLoops([a, b, c, d]): &FewLoops<N>,
) {
    let of = |l: &Loop<N>| over_operand(l, k);
    // The overhead around a loop is paid least often if the longest is innermost.
    if a.len == 1 && b.len == 1 {
        let (rows, columns) = if c.len > d.len { (d, c) } else { (c, d) };
        // SAFETY: this function's contract: the other loops are one iteration, at offset 0.
        return unsafe { tiny::walk_rows(from, to, of(rows), of(columns)) };
    }
    let mut loops = [of(a), of(b), of(c), of(d)];
    tiny::sort_longest_innermost(&mut loops);
    // SAFETY: this function's contract; the order of loops does not change what they visit.
    unsafe { tiny::walk(from, to, loops) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops<const N: usize>(of: [&Layout; N]) -> Option<[Loop<N>; MAX_LOOPS]> {
        let mut loops = FewLoops::default();
        loops.fill(&of).then_some(loops.0)
    }

    fn layout(shape: &[usize], strides: &[isize]) -> Layout {
        Layout::new(shape, strides, 10_000).unwrap()
    }

    #[test]
    fn dimensions_that_continue_each_other_in_all_layouts_are_one_loop() {
        let (a, b) = (layout(&[3, 4, 5], &[20, 5, 1]), layout(&[3, 4, 5], &[40, 5, 1]));
        let one = Loop { len: 60, strides: [1] };
        assert_eq!(loops([&a]).unwrap(), [Loop::ONCE, Loop::ONCE, Loop::ONCE, one]);
        let rows = Loop { len: 3, strides: [20, 40] };
        let columns = Loop { len: 20, strides: [1, 1] };
        assert_eq!(loops([&a, &b]).unwrap(), [Loop::ONCE, Loop::ONCE, rows, columns]);
    }

    #[test]
    fn two_dimensions_stay_two_loops() {
        let a = layout(&[3, 4], &[4, 1]);
        let [.., rows, columns] = loops([&a]).unwrap();
        assert_eq!([rows, columns], [(3, 4), (4, 1)].map(|(len, s)| Loop { len, strides: [s] }));
    }

    #[test]
    fn repeated_and_single_elements_make_no_loops_of_their_own() {
        let (a, b) = (layout(&[3, 1, 4], &[4, 9, 1]), layout(&[3, 1, 4], &[0, 7, 0]));
        let only = Loop { len: 12, strides: [1, 0] };
        assert_eq!(loops([&a, &b]).unwrap(), [Loop::ONCE, Loop::ONCE, Loop::ONCE, only]);
    }

    #[test]
    fn more_loops_than_there_is_room_for_are_refused() {
        let apart = |ndim: u32| {
            let strides: Vec<isize> = (0..ndim).map(|d| 3isize.pow(d)).collect();
            layout(&vec![2; ndim as usize], &strides)
        };
        assert!(loops([&apart(4)]).is_some());
        assert!(loops([&apart(5)]).is_none());
    }
}
