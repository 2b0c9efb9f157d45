//! Random shapes and layouts, and the offsets of the elements of a layout.

use std::fmt;

use tensor_kernels::Layout;

use super::choices::Choices;

/// Bytes.
const CACHE_LINE: usize = 64;

/// Layouts whose extent exceeds this number of elements, and `SPARSE_FACTOR` times their number of
/// elements, are replaced by dense ones.
const LARGE_EXTENT: usize = 2048;
const SPARSE_FACTOR: usize = 8;

/// A random shape. `widths` are the element sizes of the operands in bytes, the result's first.
pub(crate) fn shape(choices: &mut Choices<'_>, widths: &[usize]) -> Vec<usize> {
    match choices.draw(8) {
        0..4 => any_shape(choices, widths),
        4..6 => matrices(choices, widths),
        _ => short_dimensions(choices),
    }
}

/// Dimensions of a few elements each, of which several make a block; one may be longer.
fn short_dimensions(choices: &mut Choices<'_>) -> Vec<usize> {
    let rank = 3 + choices.draw(4);
    let mut budget = MAX_SHORT_ELEMENTS;
    let mut shape: Vec<usize> = (0..rank)
        .map(|_| {
            let size = (2 + choices.draw(8)).min(budget);
            budget /= size.max(1);
            size
        })
        .collect();
    let longer = choices.draw(rank);
    shape[longer] *= 1 + choices.draw(20).min(budget);
    shape
}

/// The largest number of elements in short dimensions, without the longer one.
const MAX_SHORT_ELEMENTS: usize = 4000;

/// One or a few matrices with a dimension that is long enough for blocks and for streamed rows.
fn matrices(choices: &mut Choices<'_>, widths: &[usize]) -> Vec<usize> {
    let width = if choices.draw(2) == 0 { widths[0] } else { choices.pick(widths) };
    let columns = (CACHE_LINE / width).max(1) * (1 + choices.draw(8));
    let columns = columns + if choices.draw(3) == 2 { 1 + choices.draw(63) } else { 0 };
    let rows = (2 + choices.draw(140)).min((MAX_MATRIX_ELEMENTS / columns).max(2));
    let count = choices.pick(&[1, 1, 2, 4, 3]).min((MAX_MATRIX_ELEMENTS / columns / rows).max(1));
    let mut shape = vec![columns, rows, count];
    if count == 1 {
        shape.pop();
    }
    if choices.draw(2) == 0 {
        shape.reverse();
    }
    shape
}

/// The largest number of elements of a matrix.
const MAX_MATRIX_ELEMENTS: usize = 24_000;

/// Mostly up to 4096 elements, sometimes more.
fn any_shape(choices: &mut Choices<'_>, widths: &[usize]) -> Vec<usize> {
    let rank = choices.pick(&[1, 2, 2, 3, 2, 3, 4, 2, 3, 1, 4, 5, 6, 0]);
    let mut budget = match choices.draw(64) {
        63 => 100_000,
        58..63 => 16_384,
        drawn => 4096 >> (drawn % 7),
    };
    let first = choices.draw(rank.max(1));
    let mut shape = vec![1; rank];
    for d in 0..rank {
        let width = choices.pick(widths);
        let size = size(choices, (CACHE_LINE / width).max(1)).min(budget);
        budget /= size.max(1);
        shape[(first + d) % rank] = size;
    }
    shape
}

/// A random size; a cache line holds `line` elements.
fn size(choices: &mut Choices<'_>, line: usize) -> usize {
    match choices.draw(16) {
        0..4 => 2 + choices.draw(8),
        // About as many as from which on plans change.
        4 => 10 + choices.draw(64),
        5..9 => line * (1 + choices.draw(8)),
        9..11 => line * (1 + choices.draw(8)) + 1 + choices.draw(7),
        11..14 => (2 << choices.draw(9)) + choices.draw(8),
        14 => 1,
        _ => usize::from(choices.draw(3) != 2),
    }
}

/// Sizes that broadcast to `shape`: some are 1, some leading ones are missing. Often it is the last
/// one, so that there are rows along which all inputs are broadcast.
pub(crate) fn broadcast_shape(choices: &mut Choices<'_>, shape: &[usize]) -> Vec<usize> {
    let mut smaller = shape.to_vec();
    match choices.draw(6) {
        0..4 => return smaller,
        4 => {
            for size in &mut smaller {
                *size = if choices.draw(5) < 3 { *size } else { 1 };
            }
        }
        _ => {
            let from = shape.len().saturating_sub(1 + choices.draw(2));
            smaller[from..].fill(1);
            return smaller;
        }
    }
    let without = choices.draw(shape.len() + 1);
    let without = if choices.draw(2) == 0 { 0 } else { without };
    smaller.split_off(without)
}

/// The shape that shapes broadcast to.
pub(crate) fn common_shape(shapes: &[&[usize]]) -> Vec<usize> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let size = |d: usize| {
        let of = |shape: &&[usize]| (d + shape.len()).checked_sub(rank).map(|own| shape[own]);
        shapes.iter().filter_map(of).find(|&size| size != 1).unwrap_or(1)
    };
    (0..rank).map(size).collect()
}

/// Sizes, strides and the offset of index 0, in elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strided {
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) offset: usize,
}

/// The use of a layout.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Use {
    /// Written: no two indices share an element.
    Written,
    /// Read: indices can share elements.
    Read,
}

impl Strided {
    pub(crate) fn draw(
        choices: &mut Choices<'_>,
        shape: &[usize],
        width: usize,
        usage: Use,
    ) -> Self {
        let order = order(choices, shape.len());
        let style = choices.draw(5);
        let mut strides = vec![0; shape.len()];
        let mut inside = 1;
        for (level, &d) in order.iter().rev().enumerate() {
            let kind = match style {
                0 | 1 => DimStride::Dense,
                2 => choices.pick(&[DimStride::Dense, DimStride::Flipped]),
                _ => DimStride::draw(choices),
            };
            let kind = if style == 1 && level == 1 { DimStride::WholeLines } else { kind };
            let stride = kind.stride(choices, inside, width);
            inside = stride * shape[d].max(1);
            strides[d] = stride as isize;
            match kind {
                DimStride::Flipped => strides[d] = -strides[d],
                DimStride::Repeated if usage == Use::Read => strides[d] = 0,
                // As windows have it that begin at every element.
                DimStride::AsInside if usage == Use::Read && level > 0 => {
                    strides[d] = strides[order[order.len() - level]];
                }
                DimStride::Anywhere if usage == Use::Read || shape[d] == 1 => {
                    strides[d] = 1 + choices.draw(20) as isize;
                }
                _ => {}
            }
        }
        let lead = choices.pick(&[0, 0, 1, 3]);
        let numel: usize = shape.iter().product();
        if inside > LARGE_EXTENT && inside / SPARSE_FACTOR > numel {
            return Self::dense(shape);
        }
        Self::starting_at(shape, strides, lead)
    }

    /// Without gaps, in the order of another layout of the same shape and in its directions, but
    /// for two dimensions that change places. What is adjacent in one is often adjacent in the
    /// other, which is rare in layouts that are drawn independently.
    pub(crate) fn like(choices: &mut Choices<'_>, other: &Self) -> Self {
        let rank = other.shape.len();
        let mut order: Vec<usize> = (0..rank).collect();
        order.sort_by_key(|&d| std::cmp::Reverse(other.strides[d].unsigned_abs()));
        if rank > 0 {
            order.swap(choices.draw(rank), choices.draw(rank));
        }
        let dense = Self::dense_in(&order, &other.shape).strides;
        let sign = |stride: &isize| if *stride < 0 { -1 } else { 1 };
        let strides = dense.iter().zip(&other.strides).map(|(own, other)| own * sign(other));
        let strides = strides.collect();
        Self::starting_at(&other.shape, strides, choices.pick(&[0, 0, 1, 3]))
    }

    /// Row-major, without gaps.
    pub(crate) fn dense(shape: &[usize]) -> Self {
        Self::dense_in(&(0..shape.len()).collect::<Vec<_>>(), shape)
    }

    /// Without gaps, the dimensions in any order.
    pub(crate) fn dense_in_any_order(choices: &mut Choices<'_>, shape: &[usize]) -> Self {
        Self::dense_in(&order(choices, shape.len()), shape)
    }

    fn dense_in(order: &[usize], shape: &[usize]) -> Self {
        let mut inside = 1;
        let mut strides = vec![0; shape.len()];
        for &d in order.iter().rev() {
            strides[d] = inside;
            inside *= shape[d].max(1) as isize;
        }
        Self::starting_at(shape, strides, 0)
    }

    /// The lowest offset is `lead`.
    pub(crate) fn starting_at(shape: &[usize], strides: Vec<isize>, lead: usize) -> Self {
        let below = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) as isize * stride.min(0);
        let below: isize = shape.iter().zip(&strides).map(below).sum();
        Self { shape: shape.to_vec(), strides, offset: lead + below.unsigned_abs() }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(&self.shape, &self.strides, self.offset).expect("a small layout")
    }

    /// One more than the highest offset.
    pub(crate) fn extent(&self) -> usize {
        if self.shape.contains(&0) {
            return self.offset;
        }
        let above = |(&size, &stride): (&usize, &isize)| (size - 1) * stride.max(0) as usize;
        self.offset + self.shape.iter().zip(&self.strides).map(above).sum::<usize>() + 1
    }

    /// The offsets of the elements, in logical order.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        self.offsets_as(&self.shape)
    }

    /// The same, broadcast to a shape: `offset + Σ index · stride`, where dimensions are aligned at
    /// the end and those of size 1 have one index.
    pub(crate) fn offsets_as(&self, shape: &[usize]) -> Vec<usize> {
        let lead = shape.len() - self.shape.len();
        let own_stride = |d: usize| match d.checked_sub(lead) {
            Some(own) if self.shape[own] != 1 => self.strides[own],
            _ => 0,
        };
        // Dimension by dimension: this is most of the time of a case.
        let mut offsets = vec![self.offset];
        for (d, &size) in shape.iter().enumerate() {
            let stride = own_stride(d);
            let mut with_this = Vec::with_capacity(offsets.len() * size);
            for mut offset in offsets {
                for _ in 0..size {
                    with_this.push(offset);
                    offset = offset.wrapping_add_signed(stride);
                }
            }
            offsets = with_this;
        }
        offsets
    }
}

impl fmt::Display for Strided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} strides {:?} offset {}", self.shape, self.strides, self.offset)
    }
}

/// Calls `body` with each index of a shape, in logical order.
pub(crate) fn for_each_index(shape: &[usize], mut body: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        body(&index);
        let mut d = shape.len();
        while d > 0 && index[d - 1] + 1 == shape[d - 1] {
            d -= 1;
            index[d] = 0;
        }
        if d == 0 {
            return;
        }
        index[d - 1] += 1;
    }
}

/// The index of element number `at` in logical order.
pub(crate) fn index_of(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        (*i, at) = (at % size, at / size);
    }
    index
}

/// Dimensions from the slowest in memory to the fastest.
fn order(choices: &mut Choices<'_>, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    match choices.draw(4) {
        0 => {}
        1 => order.reverse(),
        2 if rank > 1 => order.swap(rank - 1, rank - 2),
        _ => (1..rank).for_each(|d| order.swap(d, choices.draw(d + 1))),
    }
    order
}

/// How the stride of a dimension differs from the dense one.
#[derive(Clone, Copy, PartialEq)]
enum DimStride {
    Dense,
    Stepped,
    Gap,
    WholeLines,
    Flipped,
    Repeated,
    AsInside,
    Anywhere,
}

impl DimStride {
    fn draw(choices: &mut Choices<'_>) -> Self {
        match choices.draw(13) {
            0..5 => Self::Dense,
            5 => Self::Stepped,
            6 => Self::Gap,
            7..9 => Self::WholeLines,
            9 => Self::Flipped,
            10 => Self::Repeated,
            11 => Self::AsInside,
            _ => Self::Anywhere,
        }
    }

    /// The stride of a dimension whose inner dimensions span `inside` elements.
    fn stride(self, choices: &mut Choices<'_>, inside: usize, width: usize) -> usize {
        match self {
            Self::Stepped => inside * (2 + choices.draw(3)),
            Self::Gap => inside + 1 + choices.draw(4),
            Self::WholeLines => inside.next_multiple_of((CACHE_LINE / width).max(1)),
            _ => inside,
        }
    }
}
