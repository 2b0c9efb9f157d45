//! Reductions of blocks: the innermost loops of sums, products, minima and maxima.
//!
//! A block is rows of adjacent elements. Its lanes, its rows or both are reduced into accumulators,
//! the *slots*, which hold what a result is made of until it is finished: f32 for the sum of f16, a
//! value and its place for [`arg_reduce`](super::arg_reduce).
//!
//! There is one order in which elements meet, whatever the instruction set, so that results do not
//! depend on it:
//!
//! - **Lanes kept**: eight rows at a time are joined as a tree and then with the slots, lane by
//!   lane. That is a loop which the compiler vectorises as it stands, and slots are read and
//!   written once for eight rows.
//! - **Lanes reduced**: a row is cut into four parts, which are read side by side and joined as
//!   above into [`WIDE`] partial results; these are joined as a tree at the end. So no loop asks
//!   the compiler to reorder floating-point sums. The trees of sixteen rows are one, lane by lane,
//!   after a transpose.
//!
//! Memory gives more to several streams than to one: the sum of 64 MiB of floats takes 5.5 ms down
//! the columns, eight rows at a time, and 6.0 along rows of 16 KiB in four parts, where a plain
//! loop over eight registers takes 6.7. In cache the tree shows: rows of 512 floats take 40 µs a
//! MiB, columns 28.
//!
//! # Tried and dropped
//!
//! - Rows in one stream: 8.1 ms for the same; in eight parts: 6.4 to 7.6.
//! - Distances of the parts computed in the loop: it starts with a hundred instructions that look
//!   for overflow, 55 µs for 512 rows of 512 floats, not 42.
//! - NaN and order tested at once for a minimum or maximum, as [`Compare`](crate::Compare) does:
//!   9.3 ms, not 7.0.
//!
//! An element of a block of at most [`TALL`](crate::reduction_order::TALL) rows, or of
//! [`LONG`](crate::reduction_order::LONG) elements a row, is in at most 48 sums one after the
//! other: 3 for eight rows, 32 with the slot, 7 for rows that do not make eight, 6 for the partial
//! results of a row.

use std::marker::PhantomData;

use tensor_core::Element;

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
    pairwise_tree::{TREE, Trees},
};
use crate::{
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{GROUP, WIDE, Widths},
};

/// Parts of a row that are read side by side.
const STREAMS: usize = 4;

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
    /// The place of the first element, from row to row, and from lane to lane, for what looks for
    /// places.
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

/// A reduction that can be called without knowing its types. Slots are aligned to a cache line, or
/// follow such.
pub(crate) trait Reduction: Sync {
    /// The bytes of an element of the input, of one of the result, and of a slot.
    fn widths(&self) -> Widths;

    /// Is the result the number of an element among those that are reduced to one?
    fn finds_places(&self) -> bool {
        false
    }

    /// Makes slots those of no elements.
    ///
    /// # Safety
    /// `len` slots can be written.
    unsafe fn clear(&self, slots: *mut u8, len: usize);

    /// Joins the elements of a block to its slots.
    ///
    /// # Safety
    /// The block's elements can be read and are aligned; its slots have been cleared, and nobody
    /// else uses them.
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

/// A reduction of elements `T` to results `R`: what its pointers point to.
pub(crate) trait ReductionOf<T, R>: Reduction {}

impl<T: Element, F: Fold<T>> ReductionOf<T, F::Output> for Folding<F, T> {}

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
        // All scalars are such; a slot of another kind must not compile.
        const { assert!(matches!(size_of::<F::Slot>(), 1 | 2 | 4 | 8 | 16)) };
        const { assert!(align_of::<F::Slot>() <= CACHE_LINE) };
        let (input, output) = (size_of::<T>(), size_of::<F::Output>());
        Widths { input, output, slot: size_of::<F::Slot>() }
    }

    unsafe fn clear(&self, slots: *mut u8, len: usize) {
        let slots = slots.cast::<F::Slot>();
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators can be written.
            unsafe { slots.wrapping_add(i).write(F::EMPTY) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { simd, block, fold: PhantomData });
    }

    unsafe fn join(&self, slots: *mut u8, others: *const u8, len: usize) {
        let (slots, others) = (slots.cast::<F::Slot>(), others.cast::<F::Slot>());
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared in both places.
            let a = unsafe { read(slots, i) };
            // SAFETY: `i < len`: as above.
            let b = unsafe { read(others, i) };
            // SAFETY: `i < len`: the accumulator that was read.
            unsafe { slots.wrapping_add(i).write(F::join(a, b)) };
        }
    }

    unsafe fn finish(&self, slots: *const u8, out: *mut u8, step: isize, len: usize) {
        let slots = slots.cast::<F::Slot>();
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared.
            let result = self.0.finish(unsafe { read(slots, i) });
            let out = out.wrapping_offset(step * i as isize).cast::<F::Output>();
            // SAFETY: `i < len`: so many results can be written, and are aligned.
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
    // SAFETY: element `at` can be read and is aligned: that is what is asked for.
    unsafe { start.wrapping_add(at).read() }
}

/// Joins [`TREE`] partial results as a tree, those farthest apart first.
macro_rules! tree {
    ($at:ident => $value:expr) => {{
        macro_rules! at {
            ($k:literal) => {{
                let $at: usize = $k;
                $value
            }};
        }
        macro_rules! four {
            ($a:literal $b:literal $c:literal $d:literal) => {
                F::join(F::join(at!($a), at!($b)), F::join(at!($c), at!($d)))
            };
        }
        F::join(F::join(four!(0 8 4 12), four!(2 10 6 14)), F::join(four!(1 9 5 13), four!(3 11 7 15)))
    }};
}

/// A block, of which the maker vouches for [`Reduction::fold`]'s contract.
struct Block<F, T> {
    simd: SimdLevel,
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
            // SAFETY: some of the block's rows, and an accumulator for each column.
            unsafe { rows_down::<F, T>(first, self.block.row_step, rows, self.block.lanes, slots) };
        }
    }

    /// All lanes into one slot, or one for each row.
    #[inline(always)]
    fn across(&self) {
        let (turns, rows) = self.block.stretches();
        let (mut turn, mut trees) = (0, Trees([[F::EMPTY; TREE]; TREE]));
        while turn < turns {
            let count = TREE.min(turns - turn);
            for (i, tree) in trees.0.iter_mut().enumerate().take(count) {
                *tree = self.leaves(turn + i, rows);
            }
            if count == TREE {
                self.many_trees(&trees, turn);
            } else {
                for (i, tree) in trees.0.iter().enumerate().take(count) {
                    self.meet(turn + i, tree!(k => tree[k]));
                }
            }
            turn += count;
        }
    }

    /// What [`TREE`] lanes of some rows come to.
    #[inline(always)]
    fn leaves(&self, first: usize, rows: usize) -> [F::Slot; TREE] {
        let mut parts = [F::EMPTY; WIDE];
        for j in first..first + rows {
            // SAFETY: one of the block's rows.
            unsafe { row_across::<F, T>(self.row(j), self.block.lanes, &mut parts) };
        }
        let mut leaves = [F::EMPTY; TREE];
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let pair = F::join(parts[i], parts[i + 2 * TREE]);
            *leaf = F::join(pair, F::join(parts[i + TREE], parts[i + 3 * TREE]));
        }
        leaves
    }

    /// The trees of as many rows, lane by lane.
    #[inline(always)]
    fn many_trees(&self, trees: &Trees<F::Slot>, first: usize) {
        let mut turned = Trees([[F::EMPTY; TREE]; TREE]);
        trees.turn(self.simd, &mut turned);
        for i in 0..TREE {
            self.meet(first + i, tree!(k => turned.0[k][i]));
        }
    }

    #[inline(always)]
    fn meet(&self, turn: usize, joined: F::Slot) {
        let slot = self.slot(turn * self.block.slot_row);
        // SAFETY: the block's accumulators have been cleared, and nobody else uses them.
        let before = unsafe { slot.read() };
        // SAFETY: the accumulator that was read.
        unsafe { slot.write(F::join(before, joined)) };
    }
}

/// Joins [`GROUP`] elements `step` bytes apart as a tree. A macro, as a closure might not be
/// inlined, and would then be compiled for the baseline.
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
        let mut r = [row(j); GROUP];
        for (k, start) in r.iter_mut().enumerate() {
            *start = row(j + k);
        }
        for i in 0..lanes {
            // SAFETY: element `i < lanes` of each of these rows can be read.
            let joined = group!(k => unsafe { read(r[k], i) });
            // SAFETY: there is an accumulator for each of the columns.
            let before = unsafe { read(slots, i) };
            // SAFETY: the accumulator that was read.
            unsafe { slots.wrapping_add(i).write(F::join(before, joined)) };
        }
        j += GROUP;
    }
    while j < rows {
        let from = row(j);
        for i in 0..lanes {
            // SAFETY: there is an accumulator for each of the columns.
            let before = unsafe { read(slots, i) };
            // SAFETY: element `i < lanes` of row `j` can be read.
            let element = unsafe { read(from, i) };
            // SAFETY: the accumulator that was read.
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
    let stream = len / (GROUP * WIDE) * (GROUP / STREAMS * WIDE);
    // Pointers before the loop: were their distances computed in it, it would start with a hundred
    // instructions that look for overflow.
    let mut r = [src; GROUP];
    for (k, part) in r.iter_mut().enumerate() {
        *part = src.wrapping_add(k % STREAMS * stream + k / STREAMS * WIDE);
    }
    for _ in (0..stream).step_by(GROUP / STREAMS * WIDE) {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: element `i < WIDE` of parts of the row that lie in front of its end.
            *part = F::join(*part, group!(k => unsafe { read(r[k], i) }));
        }
        for part in &mut r {
            *part = part.wrapping_add(GROUP / STREAMS * WIDE);
        }
    }
    let mut at = STREAMS * stream;
    while at + WIDE <= len {
        for (i, part) in parts.iter_mut().enumerate() {
            // SAFETY: `at + i < len`: `WIDE` more elements are left.
            *part = F::join(*part, F::lift(unsafe { read(src, at + i) }));
        }
        at += WIDE;
    }
    for (i, part) in parts.iter_mut().enumerate().take(len - at) {
        // SAFETY: `at + i < len`: `i` is less than what is left.
        *part = F::join(*part, F::lift(unsafe { read(src, at + i) }));
    }
}
