//! Memory for elements: allocated fallibly, aligned to cache lines, on huge pages where it is
//! large.
//!
//! A fresh buffer of many megabytes costs more in page faults than in writing it: the kernel maps
//! and clears it 4 KiB at a time. Asking for huge pages (`madvise`, Linux) makes that 2 MiB at a
//! time; it is advice, so where it is not heeded nothing else changes. And large buffers that are
//! dropped are kept for the next result: see `spare`.
//!
//! Alignment is made by starting late in a slightly larger allocation, not by asking the allocator:
//! for more than its natural alignment the standard allocator zeroes by hand, and would touch every
//! page of memory that the kernel hands out zeroed.

mod spare;

pub use spare::{keep_spare_memory, release_spare_memory, spare_memory};

use std::{
    alloc::{self, Layout as AllocLayout},
    mem::ManuallyDrop,
    ptr::NonNull,
};

use crate::{Element, Error, Result};

/// What the allocator gives without detours.
const NATURAL: usize = 16;

/// The size of a huge page, and from where on a buffer is put on huge pages: below four of them the
/// ends that do not fill one weigh too much.
const HUGE_PAGE: usize = 2 << 20;
const HUGE_FROM: usize = 4 * HUGE_PAGE;

/// An allocation.
///
/// # Invariants
/// 1. `start` is valid for reads and writes of `bytes` bytes until the buffer is dropped, and
///    nobody else frees or moves it.
/// 2. If `alloc.size() > 0`, `origin` came from the global allocator with layout `alloc`.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    origin: NonNull<u8>,
    alloc: AllocLayout,
}

// SAFETY: a buffer owns plain bytes (elements are `Send + Sync`); access to them is ruled by the
// borrow flag beside it.
unsafe impl Send for Buffer {}
// SAFETY: as for `Send`; a shared buffer gives out nothing but its address and size.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Memory that holds nothing yet.
    pub(crate) fn uninit(bytes: usize, align: usize) -> Result<Self> {
        Self::allocate(bytes, align, |layout| {
            let kept = if layout.size() >= HUGE_FROM { spare::take(layout.size()) } else { None };
            // SAFETY: the layout has a size above 0.
            kept.or_else(|| NonNull::new(unsafe { alloc::alloc(layout) }).map(|new| (new, layout)))
        })
    }

    /// Memory that holds zeros.
    pub(crate) fn zeroed(bytes: usize, align: usize) -> Result<Self> {
        Self::allocate(bytes, align, |layout| {
            // SAFETY: the layout has a size above 0.
            NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).map(|new| (new, layout))
        })
    }

    fn allocate(
        bytes: usize,
        align: usize,
        source: impl Fn(AllocLayout) -> Option<(NonNull<u8>, AllocLayout)>,
    ) -> Result<Self> {
        let out_of_memory = || Error::OutOfMemory { bytes };
        if bytes == 0 {
            let start = NonNull::without_provenance(align.try_into().map_err(|_| out_of_memory())?);
            return Ok(Self::without_elements(start));
        }
        let align = if bytes >= HUGE_FROM { align.max(HUGE_PAGE) } else { align };
        let size = bytes.checked_add(align).ok_or_else(out_of_memory)?;
        let alloc = AllocLayout::from_size_align(size, NATURAL).map_err(|_| out_of_memory())?;
        let again = || if spare::release() { source(alloc) } else { None };
        let (origin, alloc) = source(alloc).or_else(again).ok_or_else(out_of_memory)?;
        // SAFETY: the distance to the next multiple of `align` is below `align`, and the allocation
        // is `align` larger than the buffer, or more.
        let start = unsafe { origin.add(origin.align_offset(align)) };
        if bytes >= HUGE_FROM {
            // SAFETY: the range lies in the allocation.
            unsafe { advise_huge_pages(start, bytes) };
        }
        Ok(Self { start, bytes, origin, alloc })
    }

    /// Takes over a vector's memory as it is. Where it is large it will be kept, too.
    ///
    /// The pointer is the vector's own: it reaches all of the allocation, as freeing it needs. One
    /// made from the vector's elements would reach no further than they do.
    ///
    /// A vector without elements has nothing to take over: its own pointer may be aligned for its
    /// type alone, and a view of no elements as a wider type would be refused.
    pub(crate) fn adopt<T: Element>(values: Vec<T>, align: usize) -> Self {
        if values.is_empty() {
            let start = std::ptr::without_provenance_mut(align.max(align_of::<T>()));
            return Self::without_elements(NonNull::new(start).expect("an alignment is not 0"));
        }
        let mut values = ManuallyDrop::new(values);
        let start = NonNull::new(values.as_mut_ptr()).expect("a vector's pointer is not null");
        let start = start.cast();
        let alloc =
            AllocLayout::array::<T>(values.capacity()).expect("a vector's allocation has a layout");
        Self { start, bytes: size_of::<T>() * values.len(), origin: start, alloc }
    }

    fn without_elements(start: NonNull<u8>) -> Self {
        Self { start, bytes: 0, origin: start, alloc: AllocLayout::new::<()>() }
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self.alloc.size() {
            0 => {}
            // SAFETY: invariant 2; the buffer is dropped once, and nobody uses it after that.
            HUGE_FROM.. => unsafe { spare::put(self.origin, self.alloc) },
            // SAFETY: invariant 2; the buffer is dropped once.
            _ => unsafe { alloc::dealloc(self.origin.as_ptr(), self.alloc) },
        }
    }
}

/// # Safety
/// `start` is valid for writes of `bytes` bytes.
#[cfg(target_os = "linux")]
unsafe fn advise_huge_pages(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the range is the caller's to use, all of it is mapped, and the advice changes how it
    // is backed, never what it holds.
    let _refused = unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
}

/// # Safety
/// None: nothing is done.
#[cfg(not(target_os = "linux"))]
unsafe fn advise_huge_pages(_: NonNull<u8>, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_writable_to_the_last_byte() {
        for bytes in [0, 2, 63, 64, 4096, HUGE_FROM - 1, HUGE_FROM, HUGE_FROM + 1] {
            let buffer = Buffer::zeroed(bytes, 64).unwrap();
            assert!(buffer.start().addr().get().is_multiple_of(64), "{bytes}");
            for at in [0, bytes.wrapping_sub(1)].into_iter().filter(|&at| at < bytes) {
                // SAFETY: `at` lies in the buffer.
                let place = unsafe { buffer.start().add(at) };
                // SAFETY: invariant 1.
                let before = unsafe { place.read() };
                assert_eq!(before, 0);
                // SAFETY: invariant 1.
                unsafe { place.write(1) };
            }
        }
    }

    /// Many at a time: a single one may be aligned by chance.
    #[test]
    fn an_alignment_above_a_huge_page_is_kept() {
        for align in [64, 4096, HUGE_PAGE, 2 * HUGE_PAGE, 16 * HUGE_PAGE] {
            let sizes = [1, 4096, HUGE_FROM - 1, HUGE_FROM, HUGE_FROM + 5 * 4096];
            let buffers = sizes.repeat(3).into_iter().flat_map(|bytes| {
                [Buffer::uninit(bytes, align), Buffer::zeroed(bytes, align)].map(Result::unwrap)
            });
            for buffer in buffers.collect::<Vec<_>>() {
                let address = buffer.start().addr().get();
                assert!(address.is_multiple_of(align), "{address:#x}: {align} {}", buffer.bytes());
            }
        }
    }

    #[test]
    fn more_than_there_can_be_is_an_error() {
        for bytes in [isize::MAX as usize, usize::MAX, usize::MAX - 63] {
            assert!(matches!(Buffer::uninit(bytes, 64), Err(Error::OutOfMemory { .. })));
        }
    }
}
