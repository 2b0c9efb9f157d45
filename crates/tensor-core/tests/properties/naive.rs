//! A tensor without strides: the offset of every element, listed in row-major order.

use proptest::prelude::*;
use tensor_core::Layout;

/// The enumeration of a layout: its shape and the offset of every index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Naive {
    pub(crate) shape: Vec<usize>,
    pub(crate) offsets: Vec<i128>,
}

/// All indices of a shape in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |prefixes, &size| {
        let longer = |prefix: Vec<usize>| (0..size).map(move |i| [&prefix[..], &[i]].concat());
        prefixes.into_iter().flat_map(longer).collect()
    })
}

impl Naive {
    pub(crate) fn new(shape: &[usize], strides: &[isize], offset: usize) -> Self {
        let offset_of = |index: Vec<usize>| {
            let steps = index.iter().zip(strides).map(|(&i, &s)| i as i128 * s as i128);
            offset as i128 + steps.sum::<i128>()
        };
        let offsets = indices(shape).into_iter().map(offset_of).collect();
        Self { shape: shape.to_vec(), offsets }
    }

    pub(crate) fn of(layout: &Layout) -> Self {
        Self::new(layout.shape(), layout.strides(), layout.offset())
    }

    pub(crate) fn at(&self, index: &[usize]) -> i128 {
        let position = index.iter().zip(&self.shape).fold(0, |before, (i, size)| before * size + i);
        self.offsets[position]
    }

    /// The tensor of another shape whose element at an index is this one's at `source(index)`.
    pub(crate) fn rearranged(
        &self,
        shape: Vec<usize>,
        source: impl Fn(&[usize]) -> Vec<usize>,
    ) -> Self {
        let offsets = indices(&shape).iter().map(|index| self.at(&source(index))).collect();
        Self { shape, offsets }
    }

    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let shape = order.iter().map(|&d| self.shape[d]).collect();
        self.rearranged(shape, |index| {
            let mut source = vec![0; index.len()];
            order.iter().zip(index).for_each(|(&d, &i)| source[d] = i);
            source
        })
    }

    /// The given indices of a dimension.
    pub(crate) fn selected(&self, dim: usize, indices: &[usize]) -> Self {
        let mut shape = self.shape.clone();
        shape[dim] = indices.len();
        self.rearranged(shape, |index| {
            let mut source = index.to_vec();
            source[dim] = indices[index[dim]];
            source
        })
    }
}

/// Layouts of up to 256 elements with arbitrary signed strides and a lowest offset of 0 to 3.
pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
    let size = prop_oneof![1 => Just(0), 3 => Just(1), 6 => 2usize..5];
    let dims = prop::collection::vec((size, -7isize..20), 0..5);
    (dims, 0usize..4).prop_map(|(dims, lowest)| {
        let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        layout(&shape, &strides, lowest)
    })
}

/// Layouts of row-major, permuted, sliced, flipped and expanded tensors.
pub(crate) fn usual_layouts() -> impl Strategy<Value = Layout> {
    let size = prop_oneof![1 => Just(0), 4 => Just(1), 6 => 2usize..5];
    let dims = prop::collection::vec((size, any::<u32>(), 0u8..12), 0..5);
    (dims, 1isize..3).prop_map(|(dims, unit)| {
        let mut order: Vec<usize> = (0..dims.len()).collect();
        order.sort_by_key(|&d| dims[d].1);
        let shape: Vec<usize> = dims.iter().map(|&(size, ..)| size).collect();
        let mut strides = vec![0; shape.len()];
        let mut next = unit;
        for d in order {
            strides[d] = match dims[d].2 {
                0 => 0,
                1 => -next,
                _ => next,
            };
            next *= shape[d].max(1) as isize + isize::from(dims[d].2 == 2);
        }
        layout(&shape, &strides, 0)
    })
}

fn layout(shape: &[usize], strides: &[isize], lowest: usize) -> Layout {
    let below: isize = shape
        .iter()
        .zip(strides)
        .map(|(&size, &stride)| (size.max(1) - 1) as isize * stride.min(0))
        .sum();
    Layout::new(shape, strides, lowest + below.unsigned_abs()).expect("nothing lies below 0")
}
