//! Reductions that give a place: the innermost loops of argmin and argmax.
//!
//! Keys are compared lane by lane over up to [`PASS`] rows; beside each best key the number of its row is kept, in an integer as wide as the key, so
//! that both are chosen by one comparison in registers of one width. Only then are row numbers turned into places and joined to the slots. A row that
//! is reduced is cut into rows of [`WIDE`] elements first, as in [`fold`](super::fold).
//!
//! Of equal keys the one with the least place is the result; NaN is before everything. Rows are walked towards greater places, so that the first one
//! found is the one. (With 512 lanes at a time, not [`LANES`], columns of 64 MiB of floats take 11.2 ms, not 8.0: pieces of rows are too short.)
//!
//! Where a slot gets few rows, or a row few lanes, what is done for each slot is most of the work: four rows of 16 MiB take 34 ms, and 512 rows of
//! 512 floats 62 µs, where one row of as many takes 33.

use std::marker::PhantomData;

use super::{
    Isa, Kernel, dispatch,
    fold::{FoldBlock, Reduction, WIDE, Widths, read},
};
use crate::{Compare, Count, SimdLevel};

/// Rows that a count of any width can tell apart.
const PASS: usize = 128;

/// Lanes that are compared at a time: keys and counts stay in the first-level cache.
const LANES: usize = 2048;

/// What is looked for.
pub(crate) trait Find<T: Compare>: Sync {
    /// A key that is beaten by, or ties with, every other.
    const WORST: T::Key;

    /// Is a key in front of another?
    fn beats(a: T::Key, b: T::Key) -> bool;
}

/// A [`Find`] as a [`Reduction`].
pub(crate) struct Finding<F, T>(pub(crate) PhantomData<fn(F, T)>);

/// The best key so far and the least place that it has.
#[derive(Clone, Copy)]
struct Found<K> {
    key: K,
    place: isize,
}

/// The first of two in the order of keys and places.
#[inline(always)]
fn first<F: Find<T>, T: Compare>(a: Found<T::Key>, b: Found<T::Key>) -> Found<T::Key> {
    let in_front = F::beats(a.key, b.key) || (!F::beats(b.key, a.key) && a.place <= b.place);
    if in_front { a } else { b }
}

impl<T: Compare, F: Find<T>> Reduction for Finding<F, T> {
    fn widths(&self) -> Widths {
        Widths { input: size_of::<T>(), output: size_of::<i64>(), slot: size_of::<Found<T::Key>>() }
    }

    unsafe fn clear(&self, slots: *mut u8, len: usize) {
        let slots = slots.cast::<Found<T::Key>>();
        for i in 0..len {
            // Whatever has a place is in front of this.
            let nothing = Found { key: F::WORST, place: isize::MAX };
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(nothing) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { block, find: PhantomData });
    }

    unsafe fn join(&self, slots: *mut u8, others: *const u8, len: usize) {
        let (slots, others) = (slots.cast::<Found<T::Key>>(), others.cast::<Found<T::Key>>());
        for i in 0..len {
            // SAFETY: the caller's.
            let a = unsafe { read(slots, i) };
            // SAFETY: the caller's.
            let b = unsafe { read(others, i) };
            // SAFETY: the caller's.
            unsafe { slots.wrapping_add(i).write(first::<F, T>(a, b)) };
        }
    }

    unsafe fn finish(&self, slots: *const u8, out: *mut u8, step: isize, len: usize) {
        let slots = slots.cast::<Found<T::Key>>();
        for i in 0..len {
            // SAFETY: the caller's.
            let found = unsafe { read(slots, i) };
            let out = out.wrapping_offset(step * i as isize).cast::<i64>();
            // SAFETY: the caller's.
            unsafe { out.write(found.place as i64) };
        }
    }
}

/// A block, of which the maker vouches for [`Reduction::fold`]'s contract.
struct Block<F, T> {
    block: FoldBlock,
    find: PhantomData<fn(F, T)>,
}

impl<T: Compare, F: Find<T>> Kernel for Block<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let (turns, rows) = self.block.stretches();
        for turn in 0..turns {
            if self.block.lanes_kept {
                self.down(turn, rows);
            } else {
                self.across(turn, rows);
            }
        }
    }
}

/// The best keys of some lanes, and the rows that they were found in.
struct Best<K, C, const N: usize> {
    keys: [K; N],
    rows: [C; N],
}

impl<T: Compare, F: Find<T>> Block<F, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> *const T {
        self.block.src.wrapping_offset(at as isize * self.block.row_step).cast()
    }

    #[inline(always)]
    fn place(&self, row: usize, lane: usize) -> isize {
        let FoldBlock { place, place_row, place_lane, .. } = self.block;
        place + row as isize * place_row + lane as isize * place_lane
    }

    #[inline(always)]
    fn meet(&self, slot: usize, found: Found<T::Key>) {
        let slot = self.block.slots.cast::<Found<T::Key>>().wrapping_add(slot);
        // SAFETY: the maker's.
        let before = unsafe { slot.read() };
        // SAFETY: the maker's.
        unsafe { slot.write(first::<F, T>(before, found)) };
    }

    /// Rows into a slot for each lane.
    #[inline(always)]
    fn down(&self, turn: usize, rows: usize) {
        let mut best =
            Best::<_, _, LANES> { keys: [F::WORST; LANES], rows: [T::Count::of(0); LANES] };
        for from in (turn..turn + rows).step_by(PASS) {
            let count = PASS.min(turn + rows - from);
            for lane in (0..self.block.lanes).step_by(LANES) {
                self.some_lanes(&mut best, (from, count), lane, turn * self.block.slot_row);
            }
        }
    }

    /// A pass of rows for some lanes.
    #[inline(always)]
    fn some_lanes(
        &self,
        best: &mut Best<T::Key, T::Count, LANES>,
        (from, count): (usize, usize),
        lane: usize,
        slots: usize,
    ) {
        let (lanes, backwards) = (LANES.min(self.block.lanes - lane), self.block.place_row < 0);
        let (start, step) = match backwards {
            false => (self.row(from), self.block.row_step),
            true => (self.row(from + count - 1), -self.block.row_step),
        };
        // SAFETY: the maker's.
        unsafe { look::<F, T, LANES>(best, start.wrapping_add(lane), step, count, lanes) };
        for i in 0..lanes {
            let rank = best.rows[i].number() as usize;
            let row = if backwards { from + count - 1 - rank } else { from + rank };
            let found = Found { key: best.keys[i], place: self.place(row, lane + i) };
            self.meet(slots + lane + i, found);
        }
    }

    /// Each row into one slot.
    #[inline(always)]
    fn across(&self, turn: usize, rows: usize) {
        for j in turn..turn + rows {
            let (lanes, whole) = (self.block.lanes, self.block.lanes / WIDE * WIDE);
            for at in (0..whole).step_by(PASS * WIDE) {
                self.some_row(j, at, PASS.min((whole - at) / WIDE), WIDE, turn);
            }
            if whole < lanes {
                self.some_row(j, whole, 1, lanes - whole, turn);
            }
        }
    }

    /// `count` times `wide` elements of a row, as rows themselves.
    #[inline(always)]
    fn some_row(&self, j: usize, at: usize, count: usize, wide: usize, turn: usize) {
        let mut best = Best::<_, _, WIDE> { keys: [F::WORST; WIDE], rows: [T::Count::of(0); WIDE] };
        let backwards = self.block.place_lane < 0;
        let start = self.row(j).wrapping_add(at);
        let step = (WIDE * size_of::<T>()) as isize;
        let (start, step) = match backwards {
            false => (start, step),
            true => (start.wrapping_byte_offset((count - 1) as isize * step), -step),
        };
        if wide == WIDE {
            // SAFETY: the maker's.
            unsafe { look::<F, T, WIDE>(&mut best, start, step, count, WIDE) };
        } else {
            // SAFETY: the maker's.
            unsafe { look::<F, T, WIDE>(&mut best, start, step, count, wide) };
        }
        let (key, position) = best_of::<F, T>(&best, wide, backwards);
        let lane = if backwards { count * wide - 1 - position } else { position };
        let found = Found { key, place: self.place(j, at + lane) };
        self.meet(turn * self.block.slot_row, found);
    }
}

/// Compares rows lane by lane.
///
/// # Safety
/// `lanes` elements, at most `N`, of each row can be read and are aligned.
#[inline(always)]
unsafe fn look<F: Find<T>, T: Compare, const N: usize>(
    best: &mut Best<T::Key, T::Count, N>,
    src: *const T,
    step: isize,
    rows: usize,
    lanes: usize,
) {
    for i in 0..lanes {
        // SAFETY: the caller's.
        best.keys[i] = unsafe { read(src, i) }.to_key();
        best.rows[i] = T::Count::of(0);
    }
    let mut j = 1;
    while j < rows {
        // Four rows at a time where there are as many; the last ones again and again, which changes nothing.
        let at = |k: usize| (j + k).min(rows - 1);
        let r = [at(0), at(1), at(2), at(3)];
        let from: [*const T; 4] = [
            src.wrapping_byte_offset(r[0] as isize * step),
            src.wrapping_byte_offset(r[1] as isize * step),
            src.wrapping_byte_offset(r[2] as isize * step),
            src.wrapping_byte_offset(r[3] as isize * step),
        ];
        for i in 0..lanes {
            let (mut key, mut row) = (best.keys[i], best.rows[i]);
            for k in 0..4 {
                // SAFETY: the caller's.
                let other = unsafe { read(from[k], i) }.to_key();
                let better = F::beats(other, key);
                key = if better { other } else { key };
                row = if better { T::Count::of(r[k] as u8) } else { row };
            }
            best.keys[i] = key;
            best.rows[i] = row;
        }
        j += 4;
    }
}

/// The best key of `wide` lanes, and the first of the positions that have it: rows after each other, `backwards` from their last lanes.
#[inline(always)]
fn best_of<F: Find<T>, T: Compare>(
    best: &Best<T::Key, T::Count, WIDE>,
    wide: usize,
    backwards: bool,
) -> (T::Key, usize) {
    let mut keys = best.keys;
    macro_rules! halves {
        ($($len:literal)*) => {
            $(for i in 0..$len {
                let (a, b) = (keys[i], keys[i + $len]);
                keys[i] = if F::beats(b, a) { b } else { a };
            })*
        };
    }
    halves!(32 16 8 4 2 1);
    let (top, last) = (keys[0], wide as u32 - 1);
    let mut position = u32::MAX;
    for i in 0..wide {
        let lane = if backwards { last - i as u32 } else { i as u32 };
        let here = best.rows[i].number() * wide as u32 + lane;
        let here = if F::beats(top, best.keys[i]) { u32::MAX } else { here };
        position = position.min(here);
    }
    (top, position as usize)
}
