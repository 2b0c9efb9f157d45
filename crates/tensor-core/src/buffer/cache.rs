//! A cache of large buffers: memory of dropped results, kept for the next ones.
//!
//! The operating system maps and clears the pages of a large allocation when they are first
//! written, and takes them back when it is freed. For a result of 64 MiB this takes as long as
//! copying it. So large buffers are kept when they are dropped, up to a limit in bytes, and reused
//! by the next result that fits. Cached memory is marked with `MADV_FREE`: the system can reclaim
//! its pages when it runs short of memory.
//!
//! Measured: a contiguous copy of 64 MiB into newly allocated memory reaches 2.2 GB/s on huge pages
//! that the system has to clear, 4.4 GB/s in a cached buffer; `Vec::clone` reaches 1.3 to 2 GB/s.

use std::{
    alloc::{self, Layout as AllocLayout},
    mem::ManuallyDrop,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use smallvec::{SmallVec, smallvec};

/// The limit in bytes until [`set_memory_cache_limit`] sets another one.
const DEFAULT_LIMIT_BYTES: usize = if CAN_MARK { 1 << 30 } else { 0 };

/// The largest number of blocks that are kept. The search is linear, and a block that fits is
/// usually one of the last few.
const MAX_BLOCKS: usize = 8;

/// Memory is kept only if it can be marked as free: otherwise the system could not reclaim it.
const CAN_MARK: bool = cfg!(all(target_os = "linux", not(miri)));

/// An unused allocation; dropping it frees it.
///
/// Invariant: `origin` came from the global allocator with layout `alloc`.
struct Block {
    origin: NonNull<u8>,
    alloc: AllocLayout,
}

// SAFETY: the block owns its memory, and no other pointer to it is used.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the invariant; a block is dropped once.
        unsafe { alloc::dealloc(self.origin.as_ptr(), self.alloc) }
    }
}

/// A list of blocks that allocates nothing.
type Blocks = SmallVec<[Block; MAX_BLOCKS]>;

/// The cached blocks.
///
/// Freeing memory and marking it as free are system calls that take milliseconds. So no method
/// makes them: evicted blocks are returned, and the caller drops them after releasing the lock.
struct Cache {
    /// Oldest first.
    blocks: Blocks,
    bytes: usize,
    limit: usize,
}

static CACHE: Mutex<Cache> =
    Mutex::new(Cache { blocks: SmallVec::new_const(), bytes: 0, limit: DEFAULT_LIMIT_BYTES });

fn lock() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of large buffers that are kept for later results.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{Tensor, set_memory_cache_limit, empty_memory_cache, cached_memory};
///
/// set_memory_cache_limit(1 << 26);
/// drop(Tensor::<u8>::full([1 << 24], 1)?);
/// assert!(cached_memory() <= 1 << 26);
/// empty_memory_cache();
/// assert_eq!(cached_memory(), 0);
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub fn cached_memory() -> usize {
    lock().bytes
}

/// Keeps at most `limit` bytes of large buffers for later results; 0 keeps none. The default is
/// 1 GiB on Linux, where the system reclaims cached memory when it runs short, and 0 elsewhere.
pub fn set_memory_cache_limit(limit: usize) {
    let evicted = lock().set_limit(limit);
    drop(evicted);
}

/// Frees all cached memory.
pub fn empty_memory_cache() {
    release();
}

/// Frees all cached memory. Returns whether there was any.
pub(super) fn release() -> bool {
    let evicted = lock().shrink_to(0);
    !evicted.is_empty()
}

impl Cache {
    fn set_limit(&mut self, limit: usize) -> Blocks {
        self.limit = limit;
        self.shrink_to(limit)
    }

    /// Evicts the oldest blocks until at most `bytes` bytes are kept.
    fn shrink_to(&mut self, bytes: usize) -> Blocks {
        let mut evicted = Blocks::new();
        while self.bytes > bytes {
            evicted.push(self.remove(0));
        }
        evicted
    }

    /// Keeps a block, unless it exceeds the limit. Returns the blocks that are evicted for it, or
    /// the block itself.
    fn keep(&mut self, block: Block) -> Blocks {
        let Some(others) = self.limit.checked_sub(block.alloc.size()) else {
            return smallvec![block];
        };
        let mut evicted = self.shrink_to(others);
        if self.blocks.len() == MAX_BLOCKS {
            evicted.push(self.remove(0));
        }
        self.bytes += block.alloc.size();
        self.blocks.push(block);
        evicted
    }

    /// A cached block of `size` bytes up to a quarter more.
    fn take(&mut self, size: usize) -> Option<Block> {
        let fits = |block: &Block| (size..=size + size / 4).contains(&block.alloc.size());
        let at = self.blocks.iter().rposition(fits)?;
        Some(self.remove(at))
    }

    fn remove(&mut self, at: usize) -> Block {
        let block = self.blocks.remove(at);
        self.bytes -= block.alloc.size();
        block
    }
}

/// A cached allocation of `size` bytes up to a quarter more.
pub(super) fn take(size: usize) -> Option<(NonNull<u8>, AllocLayout)> {
    let block = ManuallyDrop::new(lock().take(size)?);
    Some((block.origin, block.alloc))
}

/// Keeps an allocation, or frees it.
///
/// # Safety
/// `origin` came from the global allocator with layout `alloc`, and is not used after this call.
pub(super) unsafe fn put(origin: NonNull<u8>, alloc: AllocLayout) {
    let block = Block { origin, alloc };
    let is_within_limit = alloc.size() <= lock().limit;
    if is_within_limit && block.mark_as_free() {
        let evicted = lock().keep(block);
        drop(evicted);
    }
}

impl Block {
    /// Lets the system reclaim the pages. Returns `false` if it does not support that.
    ///
    /// The range is cut to whole huge pages, which the system would otherwise have to split.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn mark_as_free(&self) -> bool {
        use super::HUGE_PAGE_BYTES;

        let before = self.origin.align_offset(HUGE_PAGE_BYTES);
        let bytes = self.alloc.size().saturating_sub(before);
        let whole = bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
        let start = self.origin.as_ptr().wrapping_add(before);
        // SAFETY: the range lies in the block, which is unused: its contents may be lost.
        unsafe { libc::madvise(start.cast(), whole, libc::MADV_FREE) == 0 }
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    fn mark_as_free(&self) -> bool {
        true
    }
}
