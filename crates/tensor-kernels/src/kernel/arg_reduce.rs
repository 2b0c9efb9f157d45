//! Reductions that give a place: the innermost loops of argmin and argmax.
//!
//! Keys are compared lane by lane over up to [`PASS`] rows; beside each best key the number of its
//! row is kept, in an integer as wide as the key, so that both are chosen by one comparison in
//! registers of one width. Only then are row numbers turned into places and joined to the slots. A
//! row that is reduced is cut into rows of [`WIDE`] elements first, as in [`fold`](super::fold).
//!
//! Of equal keys the one with the least place is the result; NaN is before everything. Rows are
//! walked towards greater places, so that the first one found is the one. (With 2 KiB of keys at a
//! time, not [`AT_A_TIME`], columns of 64 MiB of floats take 11.2 ms, not 8.0: pieces of rows are
//! too short.)
//!
//! Where a slot gets few rows, or a row few lanes, what is done for each slot is most of the work:
//! four rows of 16 MiB take 34 ms, and 512 rows of 512 floats 62 µs, where one row of as many takes
//! 33.

use std::{marker::PhantomData, mem::MaybeUninit, slice};

use super::{
    dispatch::dispatch,
    fold::{FoldBlock, Reduction, ReductionOf, read},
    isa::{Isa, Kernel},
};
use crate::{
    element::{Compare, Count},
    exec::SimdLevel,
    memory::CACHE_LINE,
    reduction_order::{WIDE, Widths},
};

/// Rows that a count of any width can tell apart.
const PASS: usize = 128;

/// Bytes of keys, or of counts, that are compared at a time: they stay in the first-level cache,
/// and in a small frame.
const AT_A_TIME: usize = 8 << 10;

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

impl<T: Compare, F: Find<T>> ReductionOf<T, i64> for Finding<F, T> {}

impl<T: Compare, F: Find<T>> Reduction for Finding<F, T> {
    fn widths(&self) -> Widths {
        Widths { input: size_of::<T>(), output: size_of::<i64>(), slot: size_of::<Found<T::Key>>() }
    }

    fn finds_places(&self) -> bool {
        true
    }

    unsafe fn clear(&self, slots: *mut u8, len: usize) {
        let slots = slots.cast::<Found<T::Key>>();
        for i in 0..len {
            // Whatever has a place is in front of this.
            let nothing = Found { key: F::WORST, place: isize::MAX };
            // SAFETY: `i < len`: so many accumulators can be written.
            unsafe { slots.wrapping_add(i).write(nothing) };
        }
    }

    unsafe fn fold(&self, simd: SimdLevel, block: FoldBlock) {
        dispatch(simd, Block::<F, T> { block, find: PhantomData });
    }

    unsafe fn join(&self, slots: *mut u8, others: *const u8, len: usize) {
        let (slots, others) = (slots.cast::<Found<T::Key>>(), others.cast::<Found<T::Key>>());
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared in both places.
            let a = unsafe { read(slots, i) };
            // SAFETY: `i < len`: as above.
            let b = unsafe { read(others, i) };
            // SAFETY: `i < len`: the accumulator that was read.
            unsafe { slots.wrapping_add(i).write(first::<F, T>(a, b)) };
        }
    }

    unsafe fn finish(&self, slots: *const u8, out: *mut u8, step: isize, len: usize) {
        let slots = slots.cast::<Found<T::Key>>();
        for i in 0..len {
            // SAFETY: `i < len`: so many accumulators have been cleared.
            let found = unsafe { read(slots, i) };
            let out = out.wrapping_offset(step * i as isize).cast::<i64>();
            // SAFETY: `i < len`: so many results can be written, and are aligned.
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

/// Memory for the keys of some lanes, or for counts.
#[repr(align(64))]
struct Memory(#[allow(dead_code, reason = "only its bytes are used")] [u8; AT_A_TIME]);

/// It is written for as many lanes as there are, which may be a few.
type Room = MaybeUninit<Memory>;

/// The keys of a row, in a room.
///
/// # Safety
/// `lanes` elements can be read and are aligned.
#[inline(always)]
unsafe fn keys<T: Compare>(room: &mut Room, src: *const T, lanes: usize) -> &mut [T::Key] {
    let start = start::<T::Key>(room, lanes);
    for i in 0..lanes {
        // SAFETY: `i < lanes`: so many elements can be read.
        let element = unsafe { read(src, i) };
        // SAFETY: the room is large enough and aligned.
        unsafe { start.wrapping_add(i).write(element.to_key()) };
    }
    // SAFETY: so many have just been written.
    unsafe { slice::from_raw_parts_mut(start, lanes) }
}

#[inline(always)]
fn zeros<C: Count>(room: &mut Room, lanes: usize) -> &mut [C] {
    let start = start::<C>(room, lanes);
    for i in 0..lanes {
        // SAFETY: the room is large enough and aligned.
        unsafe { start.wrapping_add(i).write(C::of(0)) };
    }
    // SAFETY: so many have just been written.
    unsafe { slice::from_raw_parts_mut(start, lanes) }
}

/// Where `len` values fit.
#[inline(always)]
fn start<V>(room: &mut Room, len: usize) -> *mut V {
    const { assert!(align_of::<V>() <= CACHE_LINE) };
    assert!(len <= AT_A_TIME / size_of::<V>(), "lanes are cut to fit");
    room.as_mut_ptr().cast()
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
        // SAFETY: the block's accumulators have been cleared, and nobody else uses them.
        let before = unsafe { slot.read() };
        // SAFETY: the accumulator that was read.
        unsafe { slot.write(first::<F, T>(before, found)) };
    }

    /// Rows into a slot for each lane.
    #[inline(always)]
    fn down(&self, turn: usize, rows: usize) {
        // Each where it stays: unoptimised, a pair of them would be there twice.
        let mut keys = Room::uninit();
        let mut counts = Room::uninit();
        for from in (turn..turn + rows).step_by(PASS) {
            let count = PASS.min(turn + rows - from);
            for lane in (0..self.block.lanes).step_by(AT_A_TIME / size_of::<T::Key>()) {
                let rooms = [&mut keys, &mut counts];
                self.some_lanes(rooms, (from, count), lane, turn * self.block.slot_row);
            }
        }
    }

    /// A pass of rows for some lanes.
    #[inline(always)]
    fn some_lanes(
        &self,
        [for_keys, for_counts]: [&mut Room; 2],
        (from, count): (usize, usize),
        lane: usize,
        slots: usize,
    ) {
        let lanes = (AT_A_TIME / size_of::<T::Key>()).min(self.block.lanes - lane);
        let backwards = self.block.place_row < 0;
        let (start, step) = match backwards {
            false => (self.row(from), self.block.row_step),
            true => (self.row(from + count - 1), -self.block.row_step),
        };
        let start = start.wrapping_add(lane);
        // SAFETY: `lanes` elements of one of the block's rows, from `lane` on.
        let keys = unsafe { keys(for_keys, start, lanes) };
        let counts = zeros::<T::Count>(for_counts, lanes);
        // SAFETY: the same elements of `count` of the block's rows.
        unsafe { look::<F, T>(keys, counts, start, step, count) };
        for i in 0..lanes {
            let rank = counts[i].number() as usize;
            let row = if backwards { from + count - 1 - rank } else { from + rank };
            let found = Found { key: keys[i], place: self.place(row, lane + i) };
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
        let (mut keys, mut counts) = ([F::WORST; WIDE], [T::Count::of(0); WIDE]);
        let backwards = self.block.place_lane < 0;
        let start = self.row(j).wrapping_add(at);
        let step = (WIDE * size_of::<T>()) as isize;
        let (start, step) = match backwards {
            false => (start, step),
            true => (start.wrapping_byte_offset((count - 1) as isize * step), -step),
        };
        if wide == WIDE {
            // SAFETY: `WIDE` elements of one of the block's rows.
            unsafe { first_row(&mut keys, start) };
            // SAFETY: `count` times as many elements of the same row.
            unsafe { look::<F, T>(&mut keys, &mut counts, start, step, count) };
        } else {
            // SAFETY: the elements of the row that are left, fewer than `WIDE`.
            unsafe { first_row(&mut keys[..wide], start) };
        }
        let (key, position) = best_of::<F, T>(&keys, &counts, wide, backwards);
        let lane = if backwards { count * wide - 1 - position } else { position };
        let found = Found { key, place: self.place(j, at + lane) };
        self.meet(turn * self.block.slot_row, found);
    }
}

/// The keys of a row.
///
/// # Safety
/// As many elements can be read and are aligned.
#[inline(always)]
unsafe fn first_row<T: Compare>(keys: &mut [T::Key], src: *const T) {
    for (i, key) in keys.iter_mut().enumerate() {
        // SAFETY: `i` is less than the number of keys, and as many elements can be read.
        *key = unsafe { read(src, i) }.to_key();
    }
}

/// Compares rows with the first of them, lane by lane: that one's keys become the best, its counts
/// the number of the row that has it.
///
/// # Safety
/// As many elements of each row as there are keys can be read and are aligned.
#[inline(always)]
unsafe fn look<F: Find<T>, T: Compare>(
    keys: &mut [T::Key],
    counts: &mut [T::Count],
    src: *const T,
    step: isize,
    rows: usize,
) {
    let lanes = keys.len();
    let counts = &mut counts[..lanes];
    let mut j = 1;
    while j < rows {
        // Four rows at a time where there are as many; the last ones again and again, which changes
        // nothing.
        let at = |k: usize| (j + k).min(rows - 1);
        let r = [at(0), at(1), at(2), at(3)];
        let from: [*const T; 4] = [
            src.wrapping_byte_offset(r[0] as isize * step),
            src.wrapping_byte_offset(r[1] as isize * step),
            src.wrapping_byte_offset(r[2] as isize * step),
            src.wrapping_byte_offset(r[3] as isize * step),
        ];
        for i in 0..lanes {
            let (mut key, mut row) = (keys[i], counts[i]);
            for k in 0..4 {
                // SAFETY: row `r[k] < rows`, element `i < lanes`: as many can be read.
                let other = unsafe { read(from[k], i) }.to_key();
                let better = F::beats(other, key);
                key = if better { other } else { key };
                row = if better { T::Count::of(r[k] as u8) } else { row };
            }
            keys[i] = key;
            counts[i] = row;
        }
        j += 4;
    }
}

/// The best key of `wide` lanes, and the first of the positions that have it: rows after each
/// other, `backwards` from their last lanes.
#[inline(always)]
fn best_of<F: Find<T>, T: Compare>(
    best: &[T::Key; WIDE],
    counts: &[T::Count; WIDE],
    wide: usize,
    backwards: bool,
) -> (T::Key, usize) {
    let mut keys = *best;
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
        let here = counts[i].number() * wide as u32 + lane;
        let here = if F::beats(top, best[i]) { u32::MAX } else { here };
        position = position.min(here);
    }
    (top, position as usize)
}
