//! Memory for elements: allocated fallibly, aligned to cache lines, on huge pages if it is large.
//!
//! Page faults dominate the cost of a newly allocated buffer of many megabytes: the operating
//! system maps and clears 4 KiB at a time. With huge pages (`madvise`, Linux) it is 2 MiB at a
//! time. This is advice; where the system ignores it the buffer works the same. Large buffers that
//! are dropped are kept for the next result: see `cache`.
//!
//! A buffer is aligned by starting at an offset in a slightly larger allocation. Asking the
//! allocator for more than its natural alignment makes `alloc_zeroed` clear the memory explicitly,
//! which touches every page that the operating system has already zeroed.

mod cache;

pub use cache::{cached_memory, empty_memory_cache, set_memory_cache_limit};

use std::{
    alloc::{self, Layout as AllocLayout},
    any::Any,
    mem::ManuallyDrop,
    ptr::NonNull,
    sync::Arc,
};

use crate::{Element, Error, Result};

/// The alignment in bytes that the system's allocator guarantees for every allocation.
const NATURAL_ALIGNMENT: usize = 16;

/// The bytes of a huge page, and the smallest buffer that is placed on huge pages. In a smaller one
/// the padding at both ends would be too large a part.
const HUGE_PAGE_BYTES: usize = 2 << 20;
const HUGE_BUFFER_BYTES: usize = 4 * HUGE_PAGE_BYTES;

/// An allocation, or memory of another owner.
///
/// # Invariants
/// 1. `start` is valid for reads of `bytes` bytes until the buffer is dropped, and for writes
///    unless it is memory of an owner that only reads it. Only the buffer frees it.
/// 2. If `alloc.size() > 0`, `origin` came from the global allocator with layout `alloc`.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    origin: NonNull<u8>,
    alloc: AllocLayout,
    /// The owner of the memory, dropped with the buffer.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: a buffer owns plain bytes, and elements are `Send + Sync`. The borrow flag of the storage
// controls access to them.
unsafe impl Send for Buffer {}
// SAFETY: as for `Send`. A shared reference to a buffer gives out its address and size only.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Uninitialised memory.
    pub(crate) fn uninit(bytes: usize, align: usize) -> Result<Self> {
        Self::allocate(bytes, align, |layout| {
            let cached =
                if layout.size() >= HUGE_BUFFER_BYTES { cache::take(layout.size()) } else { None };
            // SAFETY: the layout has a size above 0.
            cached
                .or_else(|| NonNull::new(unsafe { alloc::alloc(layout) }).map(|new| (new, layout)))
        })
    }

    /// Zeroed memory.
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
        let align = if bytes >= HUGE_BUFFER_BYTES { align.max(HUGE_PAGE_BYTES) } else { align };
        let size = bytes.checked_add(align).ok_or_else(out_of_memory)?;
        let alloc =
            AllocLayout::from_size_align(size, NATURAL_ALIGNMENT).map_err(|_| out_of_memory())?;
        let again = || if cache::release() { source(alloc) } else { None };
        let (origin, alloc) = source(alloc).or_else(again).ok_or_else(out_of_memory)?;
        // SAFETY: the distance to the next multiple of `align` is below `align`, and the allocation
        // is `align` larger than the buffer, or more.
        let start = unsafe { origin.add(origin.align_offset(align)) };
        if bytes >= HUGE_BUFFER_BYTES {
            // SAFETY: the range lies in the allocation.
            unsafe { advise_huge_pages(start, bytes) };
        }
        Ok(Self { start, bytes, origin, alloc, _owner: None })
    }

    /// Takes over a vector's allocation without copying. A large one is kept when it is dropped.
    ///
    /// `as_mut_ptr` has the provenance of the whole allocation, which freeing needs. A pointer made
    /// from the slice of elements would not cover the spare capacity.
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
        Self { start, bytes: size_of::<T>() * values.len(), origin: start, alloc, _owner: None }
    }

    /// Memory of another owner, which is dropped with the buffer.
    ///
    /// # Safety
    /// `elements` is valid for reads, and for writes where the buffer is written, until `owner` is
    /// dropped. Nobody else writes it, nor reads it if the buffer is written.
    pub(crate) unsafe fn owned_by<T: Element>(
        owner: Arc<dyn Any + Send + Sync>,
        elements: NonNull<[T]>,
        align: usize,
    ) -> Self {
        if elements.is_empty() {
            return Self::adopt(Vec::<T>::new(), align);
        }
        let bytes = size_of::<T>() * elements.len();
        Self { bytes, _owner: Some(owner), ..Self::without_elements(elements.cast()) }
    }

    /// The vector that the buffer was adopted from, if it was adopted from one of `T`.
    pub(crate) fn into_vec<T: Element>(self) -> Result<Vec<T>, Self> {
        let capacity = self.alloc.size() / size_of::<T>();
        let is_of_vector = self.alloc.size() > 0
            && self.start == self.origin
            && AllocLayout::array::<T>(capacity) == Ok(self.alloc);
        if !is_of_vector {
            return Err(self);
        }
        let buffer = ManuallyDrop::new(self);
        let (start, len) = (buffer.start.as_ptr().cast(), buffer.bytes / size_of::<T>());
        // SAFETY: the allocation came from the global allocator with the layout of a vector of this
        // capacity (invariant 2, checked above). It starts with `bytes` bytes of elements `T`, as
        // the caller's tensor says, and is not freed here.
        Ok(unsafe { Vec::from_raw_parts(start, len, capacity) })
    }

    fn without_elements(start: NonNull<u8>) -> Self {
        Self { start, bytes: 0, origin: start, alloc: AllocLayout::new::<()>(), _owner: None }
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
            // SAFETY: invariant 2; the buffer is dropped once and not used after that.
            HUGE_BUFFER_BYTES.. => unsafe { cache::put(self.origin, self.alloc) },
            // SAFETY: invariant 2; the buffer is dropped once.
            _ => unsafe { alloc::dealloc(self.origin.as_ptr(), self.alloc) },
        }
    }
}

/// An empty vector with memory for `capacity` elements, or an error: for results that are written
/// once, such as those of `copy_into_uninit`. A large one is placed on huge pages where the system
/// has them: a transpose into a new vector of 64 MiB takes 16 ms, and 37 without (Zen 5).
///
/// ```
/// # use tensor_core as tensor_kernels;
/// let mut values = tensor_kernels::vec_with_capacity::<f32>(6)?;
/// assert_eq!((values.len(), values.spare_capacity_mut().len()), (0, 6));
/// assert!(tensor_kernels::vec_with_capacity::<f32>(usize::MAX).is_err());
/// # Ok::<(), tensor_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn vec_with_capacity<T>(capacity: usize) -> Result<Vec<T>> {
    let bytes = capacity.saturating_mul(size_of::<T>());
    let mut values: Vec<T> = Vec::new();
    values.try_reserve_exact(capacity).map_err(|_| Error::OutOfMemory { bytes })?;
    if bytes >= HUGE_BUFFER_BYTES {
        let start: *mut u8 = values.as_mut_ptr().cast();
        let before = start.align_offset(HUGE_PAGE_BYTES).min(bytes);
        let whole = (bytes - before) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
        if let Some(start) = NonNull::new(start.wrapping_add(before)) {
            // SAFETY: `before + whole` is at most the bytes that the vector has reserved.
            unsafe { advise_huge_pages(start, whole) };
        }
    }
    Ok(values)
}

/// # Safety
/// `start` is valid for writes of `bytes` bytes.
#[cfg(target_os = "linux")]
unsafe fn advise_huge_pages(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the range is mapped, as it is valid for writes. The advice changes the size of its
    // pages, not its contents.
    let _refused = unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
}

/// # Safety
/// None: this does nothing.
#[cfg(not(target_os = "linux"))]
unsafe fn advise_huge_pages(_: NonNull<u8>, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_the_capacity_or_are_refused() {
        for bytes in [0, 1, HUGE_BUFFER_BYTES - 1, HUGE_BUFFER_BYTES, 5 * HUGE_BUFFER_BYTES + 4097]
        {
            let mut values = vec_with_capacity::<u8>(bytes).unwrap();
            values.spare_capacity_mut().fill(std::mem::MaybeUninit::new(7));
            assert!(values.is_empty() && values.capacity() >= bytes);
        }
        assert_eq!(vec_with_capacity::<()>(usize::MAX), Ok(Vec::new()));
        let refused = vec_with_capacity::<u64>(usize::MAX / 4);
        assert_eq!(refused, Err(Error::OutOfMemory { bytes: usize::MAX }));
    }

    #[test]
    fn buffers_are_aligned_and_writable_to_the_last_byte() {
        for bytes in
            [0, 2, 63, 64, 4096, HUGE_BUFFER_BYTES - 1, HUGE_BUFFER_BYTES, HUGE_BUFFER_BYTES + 1]
        {
            let buffer = Buffer::zeroed(bytes, 64).unwrap();
            assert!(buffer.start().addr().get().is_multiple_of(64), "{bytes}");
            for at in [0, bytes.wrapping_sub(1)].into_iter().filter(|&at| at < bytes) {
                // SAFETY: `at` lies in the buffer.
                let byte = unsafe { buffer.start().add(at) };
                // SAFETY: invariant 1.
                let before = unsafe { byte.read() };
                assert_eq!(before, 0);
                // SAFETY: invariant 1.
                unsafe { byte.write(1) };
            }
        }
    }

    /// Several buffers are alive at a time, as a single one can be aligned by chance.
    #[test]
    fn alignments_up_to_16_huge_pages_hold() {
        for align in [64, 4096, HUGE_PAGE_BYTES, 2 * HUGE_PAGE_BYTES, 16 * HUGE_PAGE_BYTES] {
            let sizes =
                [1, 4096, HUGE_BUFFER_BYTES - 1, HUGE_BUFFER_BYTES, HUGE_BUFFER_BYTES + 5 * 4096];
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
    fn a_size_beyond_the_address_space_is_an_error() {
        for bytes in [isize::MAX as usize, usize::MAX, usize::MAX - 63] {
            assert!(matches!(Buffer::uninit(bytes, 64), Err(Error::OutOfMemory { .. })));
        }
    }
}
