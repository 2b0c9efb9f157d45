//! Marking large buffers as free and freeing them does not block threads that allocate: these
//! system calls take tens of milliseconds for a GiB. A test program of its own, because it replaces
//! `madvise` and the allocator.
#![cfg(target_os = "linux")]

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use tensor_core::{Layout, Uninit, cached_memory, empty_memory_cache, set_memory_cache_limit};

const MIB: usize = 1 << 20;

/// The number of system calls during which another thread could, and could not, lock the cache.
static UNLOCKED: AtomicUsize = AtomicUsize::new(0);
static LOCKED: AtomicUsize = AtomicUsize::new(0);

/// Called during a system call: another thread locks the cache. Waits up to 5 s for it, as threads
/// can be slow to start.
fn lock_from_another_thread() {
    if LOCKED.load(SeqCst) > 0 {
        return;
    }
    let asking = thread::spawn(cached_memory);
    let deadline = Instant::now() + Duration::from_secs(5);
    while !asking.is_finished() && Instant::now() < deadline {
        thread::yield_now();
    }
    let outcome = if asking.is_finished() { &UNLOCKED } else { &LOCKED };
    outcome.fetch_add(1, SeqCst);
}

struct CheckingLock;

// SAFETY: every method forwards to the system's allocator.
unsafe impl GlobalAlloc for CheckingLock {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        // SAFETY: the caller's obligations are those of the system's function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        if layout.size() >= 8 * MIB {
            lock_from_another_thread();
        }
        // SAFETY: the caller's obligations are those of the system's function.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CheckingLock = CheckingLock;

/// Replaces the C library's function, which `tensor-core` calls.
///
/// # Safety
/// That of the system call.
// SAFETY: the function has the signature and the effect of the one that it replaces.
#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(
    start: *mut libc::c_void,
    bytes: usize,
    advice: libc::c_int,
) -> libc::c_int {
    if advice == libc::MADV_FREE {
        lock_from_another_thread();
    }
    // SAFETY: the caller's obligations are those of the system's function.
    let status = unsafe { libc::syscall(libc::SYS_madvise, start, bytes, advice) };
    status as libc::c_int
}

fn result(mib: usize) -> Uninit<u8> {
    Uninit::new(Layout::contiguous([mib * MIB]).unwrap()).unwrap()
}

/// The number of system calls of `work`. Fails if the cache was locked during one.
#[track_caller]
fn system_calls(work: impl FnOnce()) -> usize {
    let before = UNLOCKED.load(SeqCst);
    work();
    assert_eq!(LOCKED.load(SeqCst), 0, "another thread had to wait");
    UNLOCKED.load(SeqCst) - before
}

#[test]
fn fault_memory_cache_is_not_locked_during_system_calls() {
    set_memory_cache_limit(100 * MIB);
    let results = [result(40), result(40), result(40)];
    assert_eq!(system_calls(|| drop(results)), 4, "three marked as free, one freed");
    let large = result(200);
    assert_eq!(system_calls(|| drop(large)), 1, "freed at once");
    assert_eq!(system_calls(|| set_memory_cache_limit(50 * MIB)), 1);
    assert_eq!(system_calls(empty_memory_cache), 1);
    let many: Vec<_> = (0..9).map(|_| result(9)).collect();
    set_memory_cache_limit(100 * MIB);
    assert_eq!(system_calls(|| drop(many)), 10, "one more than are kept");
    assert_eq!(system_calls(empty_memory_cache), 8);
    assert_eq!(cached_memory(), 0);
}
