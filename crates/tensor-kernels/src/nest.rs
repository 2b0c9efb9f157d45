//! Loops in normal form: what remains of layouts once it no longer matters how a user wrote them.
//!
//! Every operation walks its operands in step. A [`Loop`] is one such walk: a length, and a stride for each operand. A [`Nest`] is a list of
//! loops that visits every element once, brought into a form in which equal work looks equal:
//!
//! 1. no loop has length 1 (or, if there is nothing to do, the only loop has length 0),
//! 2. the destination, operand 0, is walked forwards,
//! 3. loops are ordered by the destination's stride, the largest outermost,
//! 4. no two neighbours could be one loop.
//!
//! A permuted tensor and its contiguous copy, a flipped pair, a batch of images that lie end to end: all become the one or two loops they are.

use smallvec::SmallVec;
use tensor_core::Layout;

/// Walks `N` operands in step: `len` times, moving operand `i` by `strides[i]` elements each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loop<const N: usize> {
    /// How often.
    pub len: usize,
    /// How far each operand moves, in elements.
    pub strides: [isize; N],
}

impl<const N: usize> Loop<N> {
    /// A loop that is none.
    pub(crate) const ONCE: Self = Self { len: 1, strides: [0; N] };
}

/// Up to this many loops a nest allocates nothing.
pub(crate) type Loops<const N: usize> = SmallVec<[Loop<N>; 6]>;

/// Loops in normal form, outermost first, and where each operand starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest<const N: usize> {
    pub(crate) loops: Loops<N>,
    pub(crate) starts: [isize; N],
}

impl<const N: usize> Nest<N> {
    /// The nest of operands of one shape, the destination first.
    pub(crate) fn of(layouts: [&Layout; N]) -> Self {
        let shape = layouts[0].shape();
        let strides = layouts.map(Layout::strides);
        debug_assert!(layouts.iter().all(|layout| layout.shape() == shape));
        // The offset of no elements means nothing, and may be too far to compute with.
        let starts = layouts.map(|l| if l.numel() == 0 { 0 } else { l.offset() as isize });
        let mut nest = Self { loops: Loops::new(), starts };
        if layouts.iter().all(|layout| layout.is_contiguous()) {
            nest.enclose(Loop { len: layouts[0].numel(), strides: [1; N] });
            return nest;
        }
        for (d, &len) in shape.iter().enumerate() {
            nest.enclose(Loop { len, strides: strides.map(|strides| strides[d]) });
        }
        fuse(&mut nest.loops);
        nest
    }

    /// Adds a loop where its stride belongs: points 1 to 3, if they held before.
    fn enclose(&mut self, mut l: Loop<N>) {
        match (l.len, self.loops.first()) {
            (_, Some(Loop { len: 0, .. })) | (1, _) => return,
            (0, _) => {
                self.loops.clear();
                l.strides = [0; N];
            }
            _ => self.walk_forwards(&mut l),
        }
        self.loops.push(l);
        let mut at = self.loops.len() - 1;
        while at > 0 && self.loops[at - 1].strides[0] < l.strides[0] {
            self.loops.swap(at - 1, at);
            at -= 1;
        }
    }

    /// Point 2: a loop that walks the destination backwards starts at its other end.
    fn walk_forwards(&mut self, l: &mut Loop<N>) {
        if l.strides[0] < 0 {
            for (start, stride) in self.starts.iter_mut().zip(&mut l.strides) {
                *start += (l.len - 1) as isize * *stride;
                *stride = -*stride;
            }
        }
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

/// Point 4: a loop becomes part of the one inside if every operand goes on where that one ends.
pub(crate) fn fuse<const N: usize>(loops: &mut Loops<N>) {
    let mut kept = 0;
    for at in 1..loops.len() {
        let (outer, inner) = (loops[kept], loops[at]);
        let continues =
            |i: usize| outer.strides[i] == inner.strides[i].wrapping_mul(inner.len as isize);
        if (0..N).all(continues) {
            loops[kept] = Loop { len: outer.len * inner.len, strides: inner.strides };
        } else {
            kept += 1;
            loops[kept] = inner;
        }
    }
    loops.truncate(kept + 1);
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
        Nest::of([&low(dst), &low(src)]).loops().iter().map(|l| (l.len, l.strides)).collect()
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
        let dst = Layout::new(&[4], &[-1], 3).unwrap();
        let src = Layout::new(&[4], &[2], 10).unwrap();
        let nest = Nest::of([&dst, &src]);
        assert_eq!((nest.starts(), nest.loops()[0].strides), ([0, 16], [1, -2]));
    }
}
