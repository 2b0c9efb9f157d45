//! Reductions of blocks: the innermost loops of sums, products, minima and maxima.
//!
//! A block is rows of adjacent elements. Its lanes, its rows or both are reduced into accumulators, the *slots*, which hold what a result is made of
//! until it is finished: f32 for the sum of f16, a value and its place for [`find`](super::find).
//!
//! There is one order in which elements meet, whatever the instruction set, so that results do not depend on it:
//!
//! - **Lanes kept**: eight rows at a time are joined as a tree and then with the slots, lane by lane. That is a loop which the compiler vectorises as
//!   it stands, and slots are read and written once for eight rows.
//! - **Lanes reduced**: a row is cut into rows of [`WIDE`] elements, which are joined as above into as many partial results; these are joined as a
//!   tree at the end. So no loop asks the compiler to reorder floating-point sums.
//!
//! An element of a block of at most [`TALL`] rows, or of [`LONG`] elements a row, is in at most [`DEEPEST`] sums one after the other.

use std::marker::PhantomData;

use tensor_core::Element;

use super::{Isa, Kernel, dispatch};
use crate::SimdLevel;

/// Partial results of a row that is reduced: 4 registers of f32, 8 of f64.
pub(crate) const WIDE: usize = 64;

/// Rows that are joined before they meet a slot.
const GROUP: usize = 8;

/// Rows that are reduced in one go.
pub(crate) const TALL: usize = 256;

/// Elements of a row that are reduced in one go.
pub(crate) const LONG: usize = WIDE * TALL;

/// A tree over a group, slots as many times as there are groups, up to seven rows that make no group, and a tree over [`WIDE`] lanes.
#[cfg(test)]
const DEEPEST: usize = 3 + TALL / GROUP + (GROUP - 1) + 6;

/// Elements and their slots.
#[derive(Clone, Copy)]
pub(crate) struct FoldBlock {
    /// The first element.
    pub(crate) src: *const u8,
    /// From row to row, in bytes.
    pub(crate) row_step: isize,
    pub(crate) rows: usize,
    /// Elements of a row, which are adjacent.
    pub(crate) lanes: usize,
    /// The slot of the first element.
    pub(crate) slots: *mut u8,
    /// From row to row, in slots; 0 if rows are reduced.
    pub(crate) slot_row: usize,
    /// Has every lane a slot of its own, next to each other? Else lanes are reduced.
    pub(crate) lanes_kept: bool,
    /// The place of the first element, from row to row, and from lane to lane, for what looks for places.
    pub(crate) place: isize,
    pub(crate) place_row: isize,
    pub(crate) place_lane: isize,
}

impl FoldBlock {
    /// Stretches of rows that share slots: one of all rows, or each row alone.
    pub(super) fn stretches(&self) -> (usize, usize) {
        if self.slot_row > 0 { (self.rows, 1) } else { (1, self.rows) }
    }
}

/// A reduction that can be called without knowing its types. Slots are aligned to a cache line, or follow such.
pub(crate) trait Reduction: Sync {
    /// The bytes of an element of the input, of one of the result, and of a slot.
    fn widths(&self) -> Widths;

    /// Makes slots those of no elements.
    ///
    /// # Safety
    /// `len` slots can be written.
    unsafe fn clear(&self, slots: *mut u8, len: usize);

    /// Joins the elements of a block to its slots.
    ///
    /// # Safety
    /// The block's elements can be read and are aligned; its slots have been cleared, and nobody else uses them.
    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock);

    /// Joins slots to others.
    ///
    /// # Safety
    /// `len` slots in both places have been cleared; nobody else uses them.
    unsafe fn join(&self, slots: *mut u8, others: *const u8, len: usize);

    /// Writes the results of slots, `step` bytes apart.
    ///
    /// # Safety
    /// `len` slots have been cleared; as many results can be written and are aligned.
    unsafe fn finish(&self, slots: *const u8, out: *mut u8, step: isize, len: usize);
}

/// Bytes of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Widths {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) slot: usize,
}

/// How elements are joined to one.
pub(crate) trait Fold<T>: Sync {
    /// What results are made of.
    type Slot: Copy;
    /// The result.
    type Output: Element;

    /// The slot of no elements.
    const EMPTY: Self::Slot;

    /// The slot of one element.
    fn lift(element: T) -> Self::Slot;

    /// The slot of the elements of both.
    fn join(a: Self::Slot, b: Self::Slot) -> Self::Slot;

    /// The result of a slot.
    fn finish(&self, slot: Self::Slot) -> Self::Output;
}

/// A [`Fold`] as a [`Reduction`].
pub(crate) struct Folding<F, T>(pub(crate) F, pub(crate) PhantomData<fn(T)>);

impl<T: Element, F: Fold<T>> Reduction for Folding<F, T> {
    fn widths(&self) -> Widths {
        let (input, output) = (size_of::<T>(), size_of::<F::Output>());
        Widths { input, output, slot: size_of::<F::Slot>() }
    }

    unsafe fn clear(&self, slots: *mut u8, len: usize) {
        let slots = slots.cast::<F::Slot>();
        for i in 0..len {
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(F::EMPTY) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { block, fold: PhantomData });
    }

    unsafe fn join(&self, slots: *mut u8, others: *const u8, len: usize) {
        let (slots, others) = (slots.cast::<F::Slot>(), others.cast::<F::Slot>());
        for i in 0..len {
            // SAFETY: the caller's.
            let (a, b) = unsafe { (read(slots, i), read(others, i)) };
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(F::join(a, b)) };
        }
    }

    unsafe fn finish(&self, slots: *const u8, out: *mut u8, step: isize, len: usize) {
        let slots = slots.cast::<F::Slot>();
        for i in 0..len {
            // SAFETY: the caller's.
            let result = self.0.finish(unsafe { read(slots, i) });
            let out = out.wrapping_offset(step * i as isize).cast::<F::Output>();
            // SAFETY: the caller's.
            unsafe { out.write(result) };
        }
    }
}

/// Element `at`.
///
/// # Safety
/// It can be read and is aligned.
#[inline(always)]
pub(super) unsafe fn read<T: Copy>(start: *const T, at: usize) -> T {
    // SAFETY: the caller's.
    unsafe { start.wrapping_add(at).read() }
}

/// A block, of which the maker vouches for [`Reduction::fold`]'s contract.
struct Block<F, T> {
    block: FoldBlock,
    fold: PhantomData<fn(F, T)>,
}

impl<T: Element, F: Fold<T>> Kernel for Block<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        if self.block.lanes_kept { self.down() } else { self.across() }
    }
}

impl<T: Element, F: Fold<T>> Block<F, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.block.src.wrapping_offset(at as isize * self.block.row_step).cast()
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> *mut F::Slot {
        self.block.slots.cast::<F::Slot>().wrapping_add(at)
    }

    /// Every lane into a slot of its own.
    #[inline(always)]
    fn down(&self) {
        let (turns, rows) = self.block.stretches();
        for turn in 0..turns {
            let (first, slots) = (self.row(turn), self.slot(turn * self.block.slot_row));
            // SAFETY: the maker's.
            unsafe { rows_down::<F, T>(first, self.block.row_step, rows, self.block.lanes, slots) };
        }
    }

    /// All lanes into one slot, or one for each row.
    #[inline(always)]
    fn across(&self) {
        let (turns, rows) = self.block.stretches();
        for turn in 0..turns {
            let mut parts = [F::EMPTY; WIDE];
            for j in turn..turn + rows {
                // SAFETY: the maker's.
                unsafe { row_across::<F, T>(self.row(j), self.block.lanes, &mut parts) };
            }
            let slot = self.slot(turn * self.block.slot_row);
            // SAFETY: the maker's.
            let before = unsafe { slot.read() };
            // SAFETY: the maker's.
            unsafe { slot.write(F::join(before, one_of::<F, T>(parts))) };
        }
    }
}

/// Joins [`GROUP`] elements `step` bytes apart as a tree. A macro, as a closure might not be inlined, and would then be compiled for the baseline.
macro_rules! group {
    ($at:ident => $value:expr) => {{
        macro_rules! at {
            ($k:literal) => {{
                let $at: usize = $k;
                F::lift($value)
            }};
        }
        let first = F::join(F::join(at!(0), at!(1)), F::join(at!(2), at!(3)));
        F::join(first, F::join(F::join(at!(4), at!(5)), F::join(at!(6), at!(7))))
    }};
}

/// Joins rows to slots, lane by lane.
///
/// # Safety
/// [`Reduction::fold`]'s, for these rows and slots.
#[inline(always)]
unsafe fn rows_down<F: Fold<T>, T: Copy>(
    src: *const T,
    step: isize,
    rows: usize,
    lanes: usize,
    slots: *mut F::Slot,
) {
    let row = |at: usize| src.wrapping_byte_offset(at as isize * step);
    let mut j = 0;
    while j + GROUP <= rows {
        let r: [*const T; GROUP] = [
            row(j),
            row(j + 1),
            row(j + 2),
            row(j + 3),
            row(j + 4),
            row(j + 5),
            row(j + 6),
            row(j + 7),
        ];
        for i in 0..lanes {
            // SAFETY: the caller's: an element of each of these rows.
            let joined = group!(k => unsafe { read(r[k], i) });
            // SAFETY: the caller's.
            let before = unsafe { read(slots, i) };
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(F::join(before, joined)) };
        }
        j += GROUP;
    }
    while j < rows {
        let from = row(j);
        for i in 0..lanes {
            // SAFETY: the caller's.
            let (before, element) = unsafe { (read(slots, i), read(from, i)) };
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(F::join(before, F::lift(element))) };
        }
        j += 1;
    }
}

/// Joins a row to partial results.
///
/// # Safety
/// `len` elements can be read and are aligned.
#[inline(always)]
unsafe fn row_across<F: Fold<T>, T: Copy>(src: *const T, len: usize, parts: &mut [F::Slot; WIDE]) {
    let mut at = 0;
    while at + GROUP * WIDE <= len {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *part = F::join(*part, group!(k => unsafe { read(src, at + k * WIDE + i) }));
        }
        at += GROUP * WIDE;
    }
    while at + WIDE <= len {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *part = F::join(*part, F::lift(unsafe { read(src, at + i) }));
        }
        at += WIDE;
    }
    for (i, part) in parts.iter_mut().enumerate().take(len - at) {
        // SAFETY: the caller's.
        *part = F::join(*part, F::lift(unsafe { read(src, at + i) }));
    }
}

/// Joins partial results as a tree.
#[inline(always)]
fn one_of<F: Fold<T>, T>(mut parts: [F::Slot; WIDE]) -> F::Slot {
    let mut len = WIDE;
    while len > 1 {
        len /= 2;
        for i in 0..len {
            parts[i] = F::join(parts[i], parts[i + len]);
        }
    }
    parts[0]
}
