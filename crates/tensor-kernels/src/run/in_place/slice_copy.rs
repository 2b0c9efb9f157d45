//! Copies between slices by a plan.

use tensor_core::Layout;

use crate::{
    exec::{Exec, Machine},
    plan::PlannedCopy,
    run::{
        copy::execute,
        operands::{OperandPtr, OperandPtrs},
    },
};

/// A copy of items between slices, planned once. Stores are plain: what is written is read soon.
pub(super) struct SliceCopy(PlannedCopy);

impl SliceCopy {
    /// From items at these strides to adjacent ones.
    pub(super) fn gathering(shape: &[usize], strides: &[isize], item: usize) -> Self {
        let from = Layout::new(shape, strides, 0).expect("a part of the memory");
        Self::new(&from, &contiguous(shape), item)
    }

    /// From contiguous items of `sizes` to contiguous items in the order of `dims`.
    pub(super) fn permuting(sizes: &[usize], dims: &[usize], item: usize) -> Self {
        let from = contiguous(sizes);
        let pick = |values: &[isize]| dims.iter().map(|&d| values[d]).collect::<Vec<_>>();
        let shape: Vec<usize> = dims.iter().map(|&d| sizes[d]).collect();
        Self::gathering(&shape, &pick(from.strides()), item)
    }

    /// Between items of any layouts of the same shape.
    pub(super) fn new(from: &Layout, to: &Layout, item: usize) -> Self {
        let machine = Machine { stream: usize::MAX, ..Machine::REFERENCE };
        Self(PlannedCopy::new(from, to, item, &machine))
    }

    /// Copies items from one slice to another.
    ///
    /// # Panics
    /// If the layouts of the plan reach beyond the slices.
    pub(super) fn run(&self, exec: &Exec, from: &[u8], to: &mut [u8]) {
        let (source, destination, item) = self.0.operands();
        let reach = |layout: &Layout| layout.bounds().map_or(0, |(_, last)| (last + 1) * item);
        assert!(reach(source) <= from.len() && reach(destination) <= to.len(), "within the slices");
        // O1 to O4: the layouts lie within the slices, of which the first is borrowed for reading
        // and the other for writing; no two indices of the destination's share an item.
        let from = OperandPtr::at(from.as_ptr().cast_mut(), true);
        execute(
            exec,
            self.0.work(),
            &OperandPtrs::new([OperandPtr::at(to.as_mut_ptr(), false), from]),
        );
    }
}

fn contiguous(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect("a part of the memory")
}
