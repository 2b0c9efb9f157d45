//! The elements at the same indices of two layouts, in an order that suits the memory of both.
//!
//! Where the order does not matter, as in a comparison, or in a copy, logical order can be a walk
//! through memory with long steps. Here the elements come in the order of the first layout's
//! memory; where the second layout is adjacent along another dimension they come in blocks, so that
//! a cache line of either is used while it is cached.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::Layout;
use crate::sort::sort_by_key;

/// Indices along one dimension: the offsets of the first one, the strides, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) starts: [usize; 2],
    pub(crate) strides: [isize; 2],
    pub(crate) len: usize,
}

impl Row {
    /// The offset of an element in layout `k`.
    #[inline]
    pub(crate) fn offset(&self, k: usize, index: usize) -> usize {
        self.starts[k].wrapping_add_signed(self.strides[k] * index as isize)
    }
}

#[derive(Clone, Copy)]
struct Dim {
    len: usize,
    strides: [isize; 2],
}

type Dims = SmallVec<[Dim; 8]>;

/// The indices on each side of a block. Of 8, 16, 32 and 64 this is the fastest for transposes of 1
/// to 4096² elements of 4 and 8 bytes (Zen 5).
const BLOCK: usize = 16;

/// Calls `f` with rows that visit each index of two layouts of one shape once, until it breaks.
pub(crate) fn for_each_row<B>(
    layouts: [&Layout; 2],
    mut f: impl FnMut(Row) -> ControlFlow<B>,
) -> ControlFlow<B> {
    debug_assert_eq!(layouts[0].shape(), layouts[1].shape());
    if layouts[0].numel() == 0 {
        return ControlFlow::Continue(());
    }
    let mut dims = dims(layouts);
    let blocked = dims.len() > 1 && bring_nearest_inside(&mut dims);
    walk(&dims, layouts.map(|layout| layout.offset() as isize), blocked, &mut f)
}

/// The dimensions in the order of the first layout's memory; neighbours that lie together in both
/// are one.
fn dims(layouts: [&Layout; 2]) -> Dims {
    let sizes = layouts[0].shape().iter().enumerate().filter(|&(_, &len)| len != 1);
    let mut dims: Dims =
        sizes.map(|(d, &len)| Dim { len, strides: layouts.map(|l| l.strides()[d]) }).collect();
    sort_by_key(&mut dims, |dim| std::cmp::Reverse(dim.strides[0].unsigned_abs()));
    let mut fused = Dims::new();
    for dim in dims {
        match fused.last_mut() {
            Some(outer) if continues(outer, &dim) => {
                *outer = Dim { len: outer.len * dim.len, ..dim };
            }
            _ => fused.push(dim),
        }
    }
    fused
}

fn continues(outer: &Dim, inner: &Dim) -> bool {
    (0..2).all(|k| inner.strides[k].checked_mul(inner.len as isize) == Some(outer.strides[k]))
}

/// Moves the dimension along which the second layout has its smallest stride to the place before
/// the last one, unless it is the last one itself.
fn bring_nearest_inside(dims: &mut Dims) -> bool {
    let last = dims.len() - 1;
    let stride = |dim: &Dim| dim.strides[1].unsigned_abs();
    let nearest = (0..last).filter(|&d| stride(&dims[d]) > 0).min_by_key(|&d| stride(&dims[d]));
    match nearest {
        Some(d) if stride(&dims[d]) < stride(&dims[last]) => {
            let dim = dims.remove(d);
            dims.insert(last - 1, dim);
            true
        }
        _ => false,
    }
}

fn walk<B>(
    dims: &[Dim],
    starts: [isize; 2],
    blocked: bool,
    f: &mut impl FnMut(Row) -> ControlFlow<B>,
) -> ControlFlow<B> {
    match dims {
        [] => f(row(starts, &Dim { len: 1, strides: [0; 2] })),
        [inner] => f(row(starts, inner)),
        [outer, inner] if blocked => blocks(outer, inner, starts, f),
        [outer, inside @ ..] => {
            (0..outer.len).try_for_each(|i| walk(inside, after(starts, outer, i), blocked, f))
        }
    }
}

fn blocks<B>(
    outer: &Dim,
    inner: &Dim,
    starts: [isize; 2],
    f: &mut impl FnMut(Row) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for u in (0..outer.len).step_by(BLOCK) {
        let rows = u..(u + BLOCK).min(outer.len);
        for v in (0..inner.len).step_by(BLOCK) {
            let columns = Dim { len: BLOCK.min(inner.len - v), ..*inner };
            let starts = after(starts, inner, v);
            rows.clone().try_for_each(|i| f(row(after(starts, outer, i), &columns)))?;
        }
    }
    ControlFlow::Continue(())
}

fn row(starts: [isize; 2], dim: &Dim) -> Row {
    Row { starts: starts.map(|start| start as usize), strides: dim.strides, len: dim.len }
}

/// The offsets `index` steps along a dimension.
fn after(starts: [isize; 2], dim: &Dim, index: usize) -> [isize; 2] {
    [0, 1].map(|k| starts[k] + dim.strides[k] * index as isize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The offsets that rows visit, in pairs.
    fn visited(layouts: [&Layout; 2]) -> Vec<[usize; 2]> {
        let mut pairs = Vec::new();
        let all = for_each_row(layouts, |row| {
            for i in 0..row.len {
                pairs.push([0, 1].map(|k| row.offset(k, i)));
            }
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(all, ControlFlow::Continue(()));
        pairs
    }

    /// A layout of a shape, with its dimensions in some order in memory, one of them reversed or
    /// repeated.
    fn layout(shape: &[usize], order: &[usize], special: usize, kind: u8) -> Layout {
        let sizes: Vec<usize> = order.iter().map(|&d| shape[d]).collect();
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &d)| back[d] = at as isize);
        let layout = Layout::contiguous(&sizes).unwrap().permute(&back).unwrap();
        match kind {
            0 => layout,
            1 => layout.flip([special as isize]).unwrap(),
            _ => {
                let one = layout.narrow(special as isize, 0, shape[special].min(1)).unwrap();
                if shape[special] == 0 { one } else { one.broadcast_to(shape).unwrap() }
            }
        }
    }

    fn layouts() -> impl Strategy<Value = [Layout; 2]> {
        proptest::collection::vec(0_usize..20, 1..5).prop_flat_map(|shape| {
            let order: Vec<usize> = (0..shape.len()).collect();
            let one = (Just(order).prop_shuffle(), 0..shape.len(), 0_u8..3);
            (one.clone(), one).prop_map(move |(a, b)| {
                [layout(&shape, &a.0, a.1, a.2), layout(&shape, &b.0, b.1, b.2)]
            })
        })
    }

    proptest! {
        #[test]
        fn every_index_is_visited_once([a, b] in layouts()) {
            let mut expected: Vec<_> = a.offsets().zip(b.offsets()).map(|(a, b)| [a, b]).collect();
            let mut pairs = visited([&a, &b]);
            expected.sort_unstable();
            pairs.sort_unstable();
            prop_assert_eq!(pairs, expected);
        }
    }

    #[test]
    fn a_transpose_comes_in_blocks() {
        let rows = Layout::contiguous([64, 64]).unwrap();
        let pairs = visited([&rows, &rows.t().unwrap()]);
        let lines = |block: &[[usize; 2]], k: usize| {
            block.iter().map(|pair| pair[k] / BLOCK).collect::<std::collections::HashSet<_>>().len()
        };
        for block in pairs.chunks(BLOCK * BLOCK) {
            assert_eq!((lines(block, 0), lines(block, 1)), (BLOCK, BLOCK));
        }
    }

    #[test]
    fn contiguous_layouts_are_one_row_and_a_break_ends_the_walk() {
        let layout = Layout::contiguous([3, 4, 5]).unwrap();
        let mut rows = Vec::new();
        let end = for_each_row([&layout, &layout], |row| {
            rows.push(row);
            ControlFlow::Break("here")
        });
        assert_eq!(end, ControlFlow::Break("here"));
        assert_eq!(rows, [Row { starts: [0, 0], strides: [1, 1], len: 60 }]);
    }
}
