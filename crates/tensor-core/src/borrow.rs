//! Which parts of a storage are borrowed, checked at run time as a `RefCell` does, across threads.
//!
//! The tensors of one storage often have parts of it: the rows of a table, the channels of an
//! image. Threads may write different parts at the same time. So a borrow is of the bytes that a
//! layout reaches, its [`Region`], and is refused if it meets another borrow's region and one of
//! the two writes. Writers of parts that share no element are never refused, whatever the timing.
//!
//! Readers borrow the gaps between their elements, too, because kernels read whole registers. A
//! writer borrows its elements only.
//!
//! The list of borrows is held for some nanoseconds at a time, by a lock that spins. A borrow and
//! its end take two atomic read-modify-write operations together, as a count of borrows would.

use std::{hint, thread};

use atomic_refcell::{AtomicRefCell, AtomicRefMut};
use smallvec::SmallVec;

use crate::{DimVec, Error, Layout, sort::sort_by_key};

/// Borrows of a storage that take no allocation.
const FEW: usize = 3;

/// Attempts before the lock lets another thread run.
const SPINS: usize = 64;

/// The bytes of a storage that elements take: all of a span, or those in a pattern that is repeated
/// through the span, as the columns of some rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// The first byte.
    start: usize,
    /// Behind the last byte.
    end: usize,
    /// The distance of repetitions; 0 if all bytes of the span are taken.
    period: usize,
    /// The bytes that are taken at the start of each repetition.
    width: usize,
}

impl Region {
    /// The elements of a layout, of `width` bytes each, and all gaps between them; `None` without
    /// elements.
    #[inline]
    pub(crate) fn span(layout: &Layout, width: usize) -> Option<Self> {
        let (first, elements) = match layout.is_dense() {
            true if layout.numel() == 0 => return None,
            true => (layout.offset(), layout.numel()),
            false => layout.bounds().map(|(first, last)| (first, last - first + 1))?,
        };
        let (start, bytes) = (first * width, elements * width);
        Some(Self { start, end: start + bytes, period: 0, width: bytes })
    }

    /// The elements of a layout, of `width` bytes each, and as few gaps as one pattern can tell;
    /// `None` without elements.
    #[inline]
    pub(crate) fn elements(layout: &Layout, width: usize) -> Option<Self> {
        let span = Self::span(layout, width)?;
        if layout.is_dense() { Some(span) } else { Some(span.repeated(layout, width)) }
    }

    /// The pattern that leaves out most of the span. The strides of some dimensions are multiples
    /// of its period; those of all others reach less far.
    fn repeated(self, layout: &Layout, width: usize) -> Self {
        let dims = layout.shape().iter().zip(layout.strides());
        let mut steps: DimVec<(usize, usize)> = dims
            .filter(|&(&size, &stride)| size > 1 && stride != 0)
            .map(|(&size, stride)| (stride.unsigned_abs() * width, size - 1))
            .collect();
        sort_by_key(&mut steps, |&step| step);
        let (mut best, mut taken) = (self, width);
        for (d, &(period, count)) in steps.iter().enumerate() {
            let is_period = steps[d..].iter().all(|&(step, _)| step.is_multiple_of(period));
            // Less of the span is taken if `taken / period` is less.
            let part = |taken: usize, of: usize| taken as u128 * of as u128;
            let is_less = best.period == 0 || part(taken, best.period) < part(best.width, period);
            if is_period && taken <= period && is_less {
                best = Self { period, width: taken, ..self };
            }
            taken += period * count;
        }
        best
    }

    /// May the two share a byte? `false` only if they share none.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        if self.end <= other.start || other.end <= self.start {
            return false;
        }
        match (self.period, other.period) {
            (0, 0) => true,
            (period, 0) => self.meets_in(other, period),
            (0, period) => other.meets_in(self, period),
            (period, same) => period != same || self.meets_in(other, period),
        }
    }

    /// Do the repetitions of both, at this distance, share a byte? If `other` is a whole span it is
    /// taken for one repetition.
    fn meets_in(&self, other: &Self, period: usize) -> bool {
        let apart = (other.start % period + period - self.start % period) % period;
        apart < self.width || apart + other.width > period
    }
}

/// Why a borrow is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Some of the bytes are borrowed otherwise.
    Borrowed,
    /// No memory to list more borrows than are usual.
    OutOfMemory,
    /// The memory's owner lets it be read only.
    ReadOnly,
}

impl Refused {
    /// The error of a tensor that is `wanted` for reading or writing, while it is `held`.
    #[cold]
    pub(crate) fn into_error(self, held: &'static str, wanted: &'static str) -> Error {
        match self {
            Self::Borrowed => Error::Borrowed { held, wanted },
            Self::OutOfMemory => Error::OutOfMemory { bytes: size_of::<Entry>() },
            Self::ReadOnly => Error::ReadOnly,
        }
    }
}

/// The borrows of a storage.
pub(crate) struct Borrows {
    list: AtomicRefCell<List>,
}

#[derive(Default)]
struct List {
    /// The number of the last borrow.
    last: u64,
    entries: SmallVec<[Entry; FEW]>,
}

struct Entry {
    number: u64,
    writes: bool,
    region: Region,
}

/// A borrow of a part of a storage, which ends when it is dropped.
pub(crate) struct Borrow<'a> {
    borrows: &'a Borrows,
    /// That of the entry in the list; 0 without an entry, if there are no elements.
    number: u64,
}

impl Borrows {
    pub(crate) fn new() -> Self {
        Self { list: AtomicRefCell::default() }
    }

    /// Borrows a region to read, next to the borrow of a writer whose elements the reader does not
    /// read, if one is given. Refused while another writes some of it.
    #[inline]
    pub(crate) fn read(
        &self,
        region: Option<Region>,
        beside: Option<&Borrow<'_>>,
    ) -> Result<Borrow<'_>, Refused> {
        let own = beside.map_or(0, |borrow| borrow.number);
        self.add(region, false, |entry| entry.writes && entry.number != own)
    }

    /// Borrows a region to write. Refused while another reads or writes some of it.
    #[inline]
    pub(crate) fn write(&self, region: Option<Region>) -> Result<Borrow<'_>, Refused> {
        self.add(region, true, |_| true)
    }

    #[inline]
    fn add(
        &self,
        region: Option<Region>,
        writes: bool,
        excludes: impl Fn(&Entry) -> bool,
    ) -> Result<Borrow<'_>, Refused> {
        let Some(region) = region else { return Ok(Borrow { borrows: self, number: 0 }) };
        let mut list = self.lock();
        if list.entries.iter().any(|entry| excludes(entry) && entry.region.meets(&region)) {
            return Err(Refused::Borrowed);
        }
        if list.entries.len() == list.entries.capacity() && list.entries.try_reserve(1).is_err() {
            return Err(Refused::OutOfMemory);
        }
        list.last += 1;
        let number = list.last;
        list.entries.push(Entry { number, writes, region });
        Ok(Borrow { borrows: self, number })
    }

    #[inline]
    fn lock(&self) -> AtomicRefMut<'_, List> {
        match self.list.try_borrow_mut() {
            Ok(list) => list,
            Err(_) => self.wait(),
        }
    }

    /// Waits until no other thread has the list.
    #[cold]
    fn wait(&self) -> AtomicRefMut<'_, List> {
        for spins in 1usize.. {
            if let Ok(list) = self.list.try_borrow_mut() {
                return list;
            }
            if spins.is_multiple_of(SPINS) { thread::yield_now() } else { hint::spin_loop() }
        }
        unreachable!("the loop ends with the lock")
    }
}

impl Drop for Borrow<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.number == 0 {
            return;
        }
        let mut list = self.borrows.lock();
        if let Some(at) = list.entries.iter().position(|entry| entry.number == self.number) {
            list.entries.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
        Layout::new(shape, strides, offset).unwrap()
    }

    /// A storage that holds every layout of `any_layout`.
    const STORAGE: usize = 700;

    /// The bytes of all elements.
    fn bytes(layout: &Layout, width: usize) -> Vec<bool> {
        let mut taken = vec![false; STORAGE];
        let mut index = vec![0; layout.ndim()];
        for _ in 0..layout.numel() {
            let start = layout.offset_of(&index).unwrap() * width;
            taken[start..start + width].fill(true);
            for d in (0..index.len()).rev() {
                index[d] += 1;
                if index[d] < layout.shape()[d] {
                    break;
                }
                index[d] = 0;
            }
        }
        taken
    }

    fn any_layout() -> impl Strategy<Value = (Layout, usize)> {
        let dims = prop::collection::vec((0usize..5, -6isize..7), 0..4);
        (dims, prop::sample::select(vec![1usize, 2, 4])).prop_map(|(dims, width)| {
            let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
            // Strides of -6 reach 72 elements below.
            (layout(&shape, &strides, 80), width)
        })
    }

    proptest! {
        #[test]
        fn a_region_has_the_bytes_of_all_elements((layout, width) in any_layout()) {
            let taken = bytes(&layout, width);
            for region in [Region::elements(&layout, width), Region::span(&layout, width)] {
                let Some(region) = region else {
                    prop_assert!(!taken.contains(&true));
                    continue;
                };
                for byte in (0..STORAGE).filter(|&byte| taken[byte]) {
                    let one = Region { start: byte, end: byte + 1, period: 0, width: 1 };
                    prop_assert!(region.meets(&one) && one.meets(&region), "{region:?}, {byte}");
                }
            }
        }

        #[test]
        fn regions_that_share_a_byte_meet(a in any_layout(), b in any_layout()) {
            let shared = bytes(&a.0, a.1).iter().zip(bytes(&b.0, b.1)).any(|(&a, b)| a && b);
            let regions = [a, b].map(|(layout, width)| Region::elements(&layout, width));
            if let [Some(a), Some(b)] = regions {
                prop_assert!(!shared || a.meets(&b) && b.meets(&a), "{a:?}, {b:?}");
            } else {
                prop_assert!(!shared);
            }
        }

        #[test]
        fn parts_along_any_dimension_do_not_meet(
            shape in prop::collection::vec(2usize..5, 1..4),
            dim in 0usize..3,
            at in 1usize..4,
            width in prop::sample::select(vec![1usize, 2, 4]),
        ) {
            let dim = dim % shape.len();
            let (whole, at) = (Layout::contiguous(&shape).unwrap(), at.min(shape[dim] - 1));
            let first = whole.narrow(dim, 0, at).unwrap();
            let rest = whole.narrow(dim, at, shape[dim] - at).unwrap();
            let [a, b] = [&first, &rest].map(|part| Region::elements(part, width).unwrap());
            prop_assert!(!a.meets(&b) && !b.meets(&a), "{a:?}, {b:?}");
        }
    }

    #[test]
    fn every_second_row_and_column_of_either_parity_do_not_meet() {
        for (dim, flipped) in [(0, false), (1, false), (1, true)] {
            let whole = Layout::contiguous([6, 8]).unwrap();
            let part = |start: usize| {
                let slice = crate::Slice::new(Some(start as isize), None, 2);
                let part = whole.slice(dim, slice).unwrap();
                if flipped { part.flip([1]).unwrap() } else { part }
            };
            let [even, odd] = [0, 1].map(|start| Region::elements(&part(start), 4).unwrap());
            assert!(!even.meets(&odd) && even.meets(&even), "{even:?}, {odd:?}");
        }
    }

    #[test]
    fn a_reader_takes_the_gaps_between_its_elements() {
        let columns = |from| Layout::contiguous([3, 4]).unwrap().narrow(1, from, 2).unwrap();
        let borrows = Borrows::new();
        let reader = borrows.read(Region::span(&columns(0), 1), None).unwrap();
        assert!(borrows.write(Region::elements(&columns(2), 1)).is_err());
        drop(reader);
        let writer = borrows.write(Region::elements(&columns(2), 1)).unwrap();
        assert!(borrows.read(Region::span(&columns(0), 1), None).is_err());
        assert!(borrows.read(Region::span(&columns(0), 1), Some(&writer)).is_ok());
        assert!(borrows.write(Region::elements(&columns(0), 1)).is_ok());
    }

    #[test]
    fn more_borrows_than_fit_end_in_any_order() {
        let borrows = Borrows::new();
        let part = |at: usize| Region::span(&layout(&[2], &[1], 2 * at), 8);
        let mut writers: Vec<_> = (0..20).map(|at| borrows.write(part(at)).unwrap()).collect();
        assert!((0..20).all(|at| borrows.read(part(at), None).is_err()));
        for at in [13, 0, 5] {
            drop(writers.remove(at));
        }
        assert_eq!((0..20).filter(|&at| borrows.write(part(at)).is_ok()).count(), 3);
        drop(writers);
        assert!(borrows.write(Region::span(&layout(&[40], &[1], 0), 8)).is_ok());
    }

    #[test]
    fn nothing_meets_an_empty_layout() {
        let borrows = Borrows::new();
        let all = borrows.write(Region::span(&layout(&[9], &[1], 0), 4));
        let empty = borrows.write(Region::elements(&layout(&[3, 0], &[1, 1], 2), 4));
        assert!(all.is_ok() && empty.is_ok());
    }
}
