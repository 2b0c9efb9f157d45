//! Loops in normal form: the loops over several layouts, independent of how a user has written
//! them.
//!
//! Every operation visits its operands index by index. A [`Loop`] is one dimension of that: a
//! length, and a stride for each operand. A [`Nest`] is a list of loops that visits every element
//! once, in a form in which equal work looks equal:
//!
//! 1. No loop has length 1. If there are no elements, the only loop has length 0.
//! 2. The destination, operand 0, is visited in ascending order.
//! 3. Loops are sorted by the destination's stride, the largest outermost.
//! 4. No two neighbouring loops can be fused into one.
//!
//! A permuted tensor and its contiguous copy become the same one or two loops. So do two tensors
//! flipped along the same dimension, and a batch of images without gaps between them.

use smallvec::SmallVec;
use tensor_core::{Error, Layout, Result};

/// One loop over `N` operands: `len` iterations, each of which moves operand `i` by `strides[i]`
/// elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loop<const N: usize> {
    /// The number of iterations.
    pub len: usize,
    /// The stride of each operand, in elements.
    pub strides: [isize; N],
}

impl<const N: usize> Loop<N> {
    /// A loop of one iteration.
    pub(crate) const ONCE: Self = Self { len: 1, strides: [0; N] };

    /// A loop of no iterations.
    pub(crate) const NONE: Self = Self { len: 0, strides: [0; N] };
}

impl Loop<2> {
    /// The loop over units of `width` bytes, with strides in bytes.
    #[inline(always)]
    pub(crate) fn in_bytes(self, width: usize) -> Self {
        let [to, from] = self.strides;
        Self { strides: [to * width as isize, from * width as isize], ..self }
    }
}

/// Loops; up to six are stored without an allocation.
pub(crate) type Loops<const N: usize> = SmallVec<[Loop<N>; 6]>;

/// Loops in normal form, outermost first, and where each operand starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest<const N: usize> {
    pub(crate) loops: Loops<N>,
    pub(crate) starts: [isize; N],
}

impl<const N: usize> Nest<N> {
    /// The nest of operands of one shape, the destination first. Use it to write a kernel of your
    /// own.
    ///
    /// ```
    /// use tensor_kernels::{Layout, Nest};
    ///
    /// let rows = Layout::contiguous(&[2, 3, 4])?;
    /// let nest = Nest::of([&Layout::contiguous(&[4, 2, 3])?, &rows.permute(&[2, 0, 1])?])?;
    /// let loops: Vec<_> = nest.loops().iter().map(|l| (l.len, l.strides)).collect();
    /// assert_eq!(loops, [(4, [6, 1]), (6, [1, 4])]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutputShape`] if an operand has another shape than the destination.
    pub fn of(layouts: [&Layout; N]) -> Result<Self> {
        const { assert!(N > 0, "a nest has a destination") };
        for layout in &layouts {
            check_shapes(layout, layouts[0])?;
        }
        Ok(with_nest(layouts, |builder| Self {
            loops: Loops::from_slice(builder.loops()),
            starts: builder.starts,
        }))
    }

    /// The loops, outermost first.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// Where each operand starts, in elements.
    pub fn starts(&self) -> [isize; N] {
        self.starts
    }

    /// The number of elements visited.
    pub fn numel(&self) -> usize {
        self.loops.iter().map(|l| l.len).product()
    }
}

/// Compares sizes one by one: a call of the C library's comparison takes longer than few sizes do.
#[inline(always)]
pub(crate) fn same_shape(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// # Errors
/// [`Error::OutputShape`] if the shapes differ.
#[inline(always)]
pub(crate) fn check_shapes(from: &Layout, to: &Layout) -> Result<()> {
    if same_shape(from.shape(), to.shape()) {
        return Ok(());
    }
    let (got, expected) = (to.shape().to_vec(), from.shape().to_vec());
    Err(Error::OutputShape { op: "copy", got, expected })
}

/// A nest on the stack, from which a plan is made. Planning a small copy takes less time than
/// moving a larger structure does.
pub(crate) struct NestBuilder<'a, const N: usize> {
    /// Holds all loops, and one more.
    buffer: &'a mut [Loop<N>],
    len: usize,
    pub(crate) starts: [isize; N],
}

/// Up to this many dimensions the loops are on the stack.
const INLINE_DIMS: usize = 8;

/// Calls `f` with the normal form of the loops over operands of one shape.
#[inline(always)]
pub(crate) fn with_nest<const N: usize, R>(
    layouts: [&Layout; N],
    f: impl FnOnce(&mut NestBuilder<'_, N>) -> R,
) -> R {
    let (mut inline, mut heap) = ([Loop::NONE; INLINE_DIMS + 1], Vec::new());
    let buffer: &mut [Loop<N>] = if layouts[0].ndim() <= INLINE_DIMS {
        &mut inline
    } else {
        heap.resize(layouts[0].ndim() + 1, Loop::NONE);
        &mut heap
    };
    let mut builder = NestBuilder::new(buffer);
    builder.add_layouts(layouts);
    f(&mut builder)
}

impl<'a, const N: usize> NestBuilder<'a, N> {
    /// An empty nest.
    #[inline(always)]
    pub(crate) fn new(buffer: &'a mut [Loop<N>]) -> Self {
        Self { buffer, len: 0, starts: [0; N] }
    }

    /// The nest of loops that fill a buffer.
    pub(crate) fn over(buffer: &'a mut [Loop<N>], starts: [isize; N]) -> Self {
        let len = buffer.len();
        Self { buffer, len, starts }
    }

    /// The loops, outermost first.
    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop<N>] {
        &self.buffer[..self.len]
    }

    #[inline(always)]
    pub(crate) fn loops_mut(&mut self) -> &mut [Loop<N>] {
        &mut self.buffer[..self.len]
    }

    /// Adds an innermost loop.
    #[inline(always)]
    pub(crate) fn push(&mut self, l: Loop<N>) {
        self.buffer[self.len] = l;
        self.len += 1;
    }

    /// Removes the innermost loop.
    pub(crate) fn pop(&mut self) {
        self.len -= 1;
    }

    /// Establishes point 4.
    pub(crate) fn fuse(&mut self) {
        self.len = fuse(self.loops_mut());
    }

    /// Adds the dimensions of the layouts as loops. Loops are fused as they are added, unless one
    /// is out of order.
    #[inline(always)]
    fn add_layouts(&mut self, layouts: [&Layout; N]) {
        let shape = layouts[0].shape();
        debug_assert!(layouts.iter().all(|layout| layout.shape() == shape));
        if layouts[0].numel() == 0 {
            // Without elements the offset has no meaning, and may overflow when strides are added
            // to it.
            return self.push(Loop::NONE);
        }
        self.starts = layouts.map(|layout| layout.offset() as isize);
        if layouts.iter().all(|layout| layout.is_contiguous()) {
            if layouts[0].numel() > 1 {
                self.push(Loop { len: layouts[0].numel(), strides: [1; N] });
            }
            return;
        }
        let strides = layouts.map(|layout| &layout.strides()[..shape.len()]);
        let mut in_order = true;
        for (d, &len) in shape.iter().enumerate() {
            let mut l = Loop { len, strides: strides.map(|strides| strides[d]) };
            if len > 1 {
                walk_forwards(&mut self.starts, &mut l);
                in_order &= self.insert_sorted(l);
            }
        }
        if !in_order {
            self.fuse();
        }
    }

    /// Inserts a loop by its stride (point 3), or fuses it with the innermost loop if possible.
    /// Returns whether the loops were added in order.
    #[inline(always)]
    fn insert_sorted(&mut self, l: Loop<N>) -> bool {
        let Some(last) = self.len.checked_sub(1) else {
            self.push(l);
            return true;
        };
        let outer = self.buffer[last];
        if is_fusible(&outer, &l) {
            self.buffer[last] = Loop { len: outer.len * l.len, strides: l.strides };
            return true;
        }
        let mut at = self.len;
        while at > 0 && self.buffer[at - 1].strides[0] < l.strides[0] {
            self.buffer[at] = self.buffer[at - 1];
            at -= 1;
        }
        self.buffer[at] = l;
        self.len += 1;
        outer.strides[0] >= l.strides[0]
    }
}

/// Point 2: a loop that visits the destination in descending order starts at its other end.
#[inline(always)]
fn walk_forwards<const N: usize>(starts: &mut [isize; N], l: &mut Loop<N>) {
    if l.strides[0] < 0 {
        for (start, stride) in starts.iter_mut().zip(&mut l.strides) {
            *start += (l.len - 1) as isize * *stride;
            *stride = -*stride;
        }
    }
}

/// Can two loops be fused? They can if one iteration of `outer` moves every operand as far as all
/// iterations of `inner` do.
#[inline]
fn is_fusible<const N: usize>(outer: &Loop<N>, inner: &Loop<N>) -> bool {
    (0..N).all(|k| outer.strides[k] == inner.strides[k].wrapping_mul(inner.len as isize))
}

/// Point 4: fuses each loop with the one inside it where possible, and returns the number of loops.
pub(crate) fn fuse<const N: usize>(loops: &mut [Loop<N>]) -> usize {
    let mut kept = 0;
    for at in 1..loops.len() {
        let (outer, inner) = (loops[kept], loops[at]);
        if is_fusible(&outer, &inner) {
            loops[kept] = Loop { len: outer.len * inner.len, strides: inner.strides };
        } else {
            kept += 1;
            loops[kept] = inner;
        }
    }
    loops.len().min(kept + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(dst: &[isize], src: &[isize], shape: &[usize]) -> Vec<(usize, [isize; 2])> {
        let low = |strides: &[isize]| {
            let below: isize =
                shape.iter().zip(strides).map(|(&n, &s)| (n as isize - 1).max(0) * s.min(0)).sum();
            Layout::new(shape, strides, below.unsigned_abs()).unwrap()
        };
        Nest::of([&low(dst), &low(src)])
            .unwrap()
            .loops()
            .iter()
            .map(|l| (l.len, l.strides))
            .collect()
    }

    #[test]
    fn normal_forms() {
        for (what, dst, src, shape, expected) in [
            (
                "contiguous pairs become one loop",
                vec![12, 4, 1],
                vec![12, 4, 1],
                vec![2, 3, 4],
                vec![(24, [1, 1])],
            ),
            (
                "so do dense pairs in any order",
                vec![1, 2, 6],
                vec![1, 2, 6],
                vec![2, 3, 4],
                vec![(24, [1, 1])],
            ),
            (
                "a transpose stays two loops",
                vec![3, 1],
                vec![1, 4],
                vec![4, 3],
                vec![(4, [3, 1]), (3, [1, 4])],
            ),
            (
                "channels last to first",
                vec![60, 20, 5, 1],
                vec![60, 1, 15, 3],
                vec![2, 3, 4, 5],
                vec![(2, [60, 60]), (3, [20, 1]), (20, [1, 3])],
            ),
            ("unit loops go", vec![4, 99, 1], vec![4, -7, 1], vec![3, 1, 4], vec![(12, [1, 1])]),
            ("a flipped pair is no flip", vec![-1], vec![-1], vec![9], vec![(9, [1, 1])]),
            ("a flipped source stays flipped", vec![1], vec![-1], vec![9], vec![(9, [1, -1])]),
            ("one element is no loop", vec![], vec![], vec![], vec![]),
            ("nothing to do", vec![1, 1], vec![5, 1], vec![0, 7], vec![(0, [0, 0])]),
        ] {
            assert_eq!(nest(&dst, &src, &shape), expected, "{what}");
        }
    }

    #[test]
    fn a_reversed_loop_starts_at_its_other_end() {
        let dst = Layout::new([4], [-1], 3).unwrap();
        let src = Layout::new([4], [2], 10).unwrap();
        let nest = Nest::of([&dst, &src]).unwrap();
        assert_eq!((nest.starts(), nest.loops()[0].strides), ([0, 16], [1, -2]));
    }
}
