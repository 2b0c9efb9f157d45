//! Which parts of a storage are borrowed, checked at run time as a `RefCell` does, across threads.
//!
//! The tensors of one storage often have parts of it: the rows of a table, the channels of an
//! image. Threads may write different parts at the same time. So a borrow is of the bytes that a
//! layout reaches, its [`Region`], and is refused if it meets another borrow's region and one of
//! the two writes. Writers of parts that share no element are never refused, whatever the timing.
//!
//! Readers borrow the gaps between their elements, too, because kernels read whole registers, and
//! a writer in these gaps is refused. There are two exceptions. If the gaps are being written when
//! a reader comes, it borrows its elements alone. So do all readers of a storage whose parts are
//! [shared](Borrows::share_parts): there nothing depends on who comes first.
//!
//! The list of borrows is held for some nanoseconds at a time, by a lock that spins. A borrow and
//! its end take two atomic read-modify-write operations together, as a count of borrows would.

mod region;
#[cfg(test)]
mod tests;

use std::{hint, thread};

use atomic_refcell::{AtomicRefCell, AtomicRefMut};
use smallvec::SmallVec;

use self::region::{Region, Span};
use crate::{Error, Layout, elements::Gaps};

/// Borrows of a storage that take no allocation.
const FEW: usize = 3;

/// The number of no borrow in the list.
const NOBODY: u64 = 0;

/// Attempts before the lock lets another thread run.
const SPINS: usize = 64;

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
    /// Whether readers leave the gaps between their elements to others.
    parts_are_shared: bool,
    entries: SmallVec<[Entry; FEW]>,
}

struct Entry {
    number: u64,
    access: Access,
    region: Region,
}

/// What a borrow is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Reading elements.
    Read,
    /// Reading elements, and gaps between them.
    ReadGaps,
    /// Writing elements.
    Write,
}

/// A borrow of a part of a storage, which ends when it is dropped.
pub(crate) struct Borrow<'a> {
    borrows: &'a Borrows,
    /// That of the entry in the list; [`NOBODY`] without an entry, if there are no elements.
    number: u64,
    /// Whether the gaps between the elements can be read while it lives. So if there are none.
    pub(crate) gaps: Gaps,
}

impl Borrows {
    pub(crate) fn new() -> Self {
        Self { list: AtomicRefCell::default() }
    }

    /// Borrows the elements of a layout, of `width` bytes each, to read, with the gaps between them
    /// if these can be had. Refused while another writes some of the elements.
    #[inline]
    pub(crate) fn read(&self, layout: &Layout, width: usize) -> Result<Borrow<'_>, Refused> {
        let Some(span) = Span::of(layout, width) else { return Ok(self.nothing()) };
        let mut list = self.lock();
        let (access, leaves_gaps) = match layout.is_dense() {
            true => (Access::Read, false),
            false => (Access::ReadGaps, list.parts_are_shared),
        };
        if leaves_gaps || list.writes(NOBODY, |region| region.meets_span(span)) {
            return self.add_elements(&mut list, layout, width, NOBODY);
        }
        self.add(&mut list, access, span.into(), Gaps::Readable)
    }

    /// Borrows the elements of a layout to read, without the gaps, next to the borrow of a writer
    /// whose elements are others.
    pub(crate) fn read_beside(
        &self,
        layout: &Layout,
        width: usize,
        writer: &Borrow<'_>,
    ) -> Result<Borrow<'_>, Refused> {
        self.add_elements(&mut self.lock(), layout, width, writer.number)
    }

    #[cold]
    #[inline(never)]
    fn add_elements(
        &self,
        list: &mut List,
        layout: &Layout,
        width: usize,
        own: u64,
    ) -> Result<Borrow<'_>, Refused> {
        let elements = Region::elements(layout, width);
        let Some(elements) = elements else { return Ok(self.nothing()) };
        if list.writes(own, |region| region.meets(&elements)) {
            return Err(Refused::Borrowed);
        }
        let nobody_writes_gaps = elements.is_whole() && own == NOBODY;
        let gaps = if nobody_writes_gaps { Gaps::Readable } else { Gaps::Unreadable };
        self.add(list, Access::Read, elements, gaps)
    }

    /// Borrows the elements of a layout, of `width` bytes each, to write. Refused while another
    /// reads or writes some of them, or reads gaps that they lie in.
    #[inline]
    pub(crate) fn write(&self, layout: &Layout, width: usize) -> Result<Borrow<'_>, Refused> {
        let elements = Region::elements(layout, width);
        let Some(region) = elements else { return Ok(self.nothing()) };
        let mut list = self.lock();
        if list.entries.iter().any(|entry| entry.region.meets(&region)) {
            return Err(Refused::Borrowed);
        }
        self.add(&mut list, Access::Write, region, Gaps::Unreadable)
    }

    /// From now on readers borrow their elements alone. Refused while one has borrowed gaps.
    pub(crate) fn share_parts(&self) -> Result<(), Refused> {
        let mut list = self.lock();
        if list.entries.iter().any(|entry| entry.access == Access::ReadGaps) {
            return Err(Refused::Borrowed);
        }
        list.parts_are_shared = true;
        Ok(())
    }

    /// A borrow of no elements.
    fn nothing(&self) -> Borrow<'_> {
        Borrow { borrows: self, number: NOBODY, gaps: Gaps::Readable }
    }

    #[inline]
    fn add(
        &self,
        list: &mut List,
        access: Access,
        region: Region,
        gaps: Gaps,
    ) -> Result<Borrow<'_>, Refused> {
        if list.entries.len() == list.entries.capacity() && list.entries.try_reserve(1).is_err() {
            return Err(Refused::OutOfMemory);
        }
        list.last += 1;
        let number = list.last;
        list.entries.push(Entry { number, access, region });
        Ok(Borrow { borrows: self, number, gaps })
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

impl List {
    /// Is a region being written that is like this, by another borrow than `own`?
    #[inline]
    fn writes(&self, own: u64, is_like_this: impl Fn(&Region) -> bool) -> bool {
        let is_other = |entry: &&Entry| entry.access == Access::Write && entry.number != own;
        self.entries.iter().filter(is_other).any(|entry| is_like_this(&entry.region))
    }
}

impl Drop for Borrow<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.number == NOBODY {
            return;
        }
        let mut list = self.borrows.lock();
        if let Some(at) = list.entries.iter().position(|entry| entry.number == self.number) {
            let last = list.entries.len() - 1;
            if at < last {
                list.entries.swap(at, last);
            }
            // Nothing is read of what is dropped.
            list.entries.truncate(last);
        }
    }
}
