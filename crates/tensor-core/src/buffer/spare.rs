//! Memory of large results that is kept for the next one.
//!
//! A large allocation comes from the operating system as pages that are mapped and cleared one by one as they are written first, and goes back to it.
//! For a result of 64 MiB that takes as long as to copy it. So large buffers are kept when they are dropped, up to a limit, and given to the next
//! result that fits. What is kept is marked as free: the system takes it when it runs short of memory, without asking.
//!
//! Measured on a contiguous copy of 64 MiB into fresh memory: 2.2 GB/s on huge pages that the system has to clear, 4.4 GB/s in a kept buffer, where
//! `Vec::clone` reaches 1.3 to 2.

use std::{
    alloc::{self, Layout as AllocLayout},
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Bytes that are kept unless [`keep_spare_memory`] says otherwise.
const LIMIT: usize = if CAN_MARK { 1 << 30 } else { 0 };

/// Blocks that are kept at most; more would make the search for one slower, and one that fits is found among the last few or not at all.
const BLOCKS: usize = 8;

/// Only where memory can be marked as free is it honest to keep it.
const CAN_MARK: bool = cfg!(all(target_os = "linux", not(miri)));

/// An allocation that nobody uses.
///
/// Invariant: `origin` came from the global allocator with layout `alloc`.
struct Block {
    origin: NonNull<u8>,
    alloc: AllocLayout,
}

// SAFETY: it is unused memory, owned by the block.
unsafe impl Send for Block {}

struct Spare {
    /// The one that was kept last is the last.
    blocks: Vec<Block>,
    bytes: usize,
    limit: usize,
}

static SPARE: Mutex<Spare> = Mutex::new(Spare { blocks: Vec::new(), bytes: 0, limit: LIMIT });

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of large buffers that are kept for results to come.
///
/// ```
/// use tensor_core::{Tensor, keep_spare_memory, release_spare_memory, spare_memory};
///
/// keep_spare_memory(1 << 26);
/// drop(Tensor::<u8>::full(&[1 << 24], 1)?);
/// assert!(spare_memory() <= 1 << 26);
/// release_spare_memory();
/// assert_eq!(spare_memory(), 0);
/// # Ok::<(), tensor_core::Error>(())
/// ```
pub fn spare_memory() -> usize {
    spare().bytes
}

/// Keeps at most so many bytes of large buffers for results to come; 0 keeps none. Unless told otherwise it is 1 GiB on Linux, where the system takes
/// kept memory back when it runs short of it, and nothing elsewhere.
pub fn keep_spare_memory(limit: usize) {
    let mut spare = spare();
    spare.limit = limit;
    spare.shrink_to(limit);
}

/// Gives all kept memory back.
pub fn release_spare_memory() {
    release();
}

/// Gives all kept memory back. Was there any?
pub(super) fn release() -> bool {
    let mut spare = spare();
    let any = spare.bytes > 0;
    spare.shrink_to(0);
    any
}

impl Spare {
    /// Gives back what was kept first.
    fn shrink_to(&mut self, bytes: usize) {
        while self.bytes > bytes && !self.blocks.is_empty() {
            let Block { origin, alloc } = self.blocks.remove(0);
            self.bytes -= alloc.size();
            // SAFETY: the invariant; the block is gone.
            unsafe { alloc::dealloc(origin.as_ptr(), alloc) }
        }
    }
}

/// A kept allocation of at least `size` bytes, and not many more.
pub(super) fn take(size: usize) -> Option<(NonNull<u8>, AllocLayout)> {
    let mut spare = spare();
    let fits = |block: &Block| (size..=size + size / 4).contains(&block.alloc.size());
    let at = spare.blocks.iter().rposition(fits)?;
    let Block { origin, alloc } = spare.blocks.remove(at);
    spare.bytes -= alloc.size();
    Some((origin, alloc))
}

/// Keeps an allocation, or gives it back.
///
/// # Safety
/// `origin` came from the global allocator with layout `alloc`, and nobody uses it any more.
pub(super) unsafe fn put(origin: NonNull<u8>, alloc: AllocLayout) {
    let mut spare = spare();
    let kept = alloc.size() <= spare.limit
        && spare.blocks.try_reserve(1).is_ok()
        && mark_as_free(origin, alloc.size());
    if !kept {
        drop(spare);
        // SAFETY: the caller's.
        return unsafe { alloc::dealloc(origin.as_ptr(), alloc) };
    }
    let (room, others) = (spare.limit - alloc.size(), spare.blocks.len());
    spare.shrink_to(room);
    if others == BLOCKS && spare.blocks.len() == BLOCKS {
        let rest = spare.bytes - spare.blocks[0].alloc.size();
        spare.shrink_to(rest);
    }
    spare.bytes += alloc.size();
    spare.blocks.push(Block { origin, alloc });
}

/// Lets the system take the pages of unused memory, huge pages whole. `false` if it cannot.
#[cfg(all(target_os = "linux", not(miri)))]
fn mark_as_free(origin: NonNull<u8>, bytes: usize) -> bool {
    let before = origin.align_offset(super::HUGE_PAGE);
    let whole = bytes.saturating_sub(before) / super::HUGE_PAGE * super::HUGE_PAGE;
    let start = origin.as_ptr().wrapping_add(before);
    // SAFETY: the range lies in an allocation that nobody uses; what it holds is not needed any more.
    unsafe { libc::madvise(start.cast(), whole, libc::MADV_FREE) == 0 }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn mark_as_free(_: NonNull<u8>, _: usize) -> bool {
    true
}
