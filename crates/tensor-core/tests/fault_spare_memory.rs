//! Large buffers are marked as free and given back without holding up whoever asks for another:
//! the system takes tens of milliseconds for a GiB. A program of its own: it replaces the calls
//! that do it.
#![cfg(target_os = "linux")]

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use tensor_core::{Layout, Uninit, keep_spare_memory, release_spare_memory, spare_memory};

const MIB: usize = 1 << 20;

/// Calls that were answered while another thread could ask for spare memory, and those that kept
/// it waiting.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);
static HELD_UP: AtomicUsize = AtomicUsize::new(0);

/// Asks from another thread, and waits for the answer; long, for threads can be slow to start.
fn ask_meanwhile() {
    if HELD_UP.load(SeqCst) > 0 {
        return;
    }
    let asking = thread::spawn(spare_memory);
    let deadline = Instant::now() + Duration::from_secs(5);
    while !asking.is_finished() && Instant::now() < deadline {
        thread::yield_now();
    }
    let outcome = if asking.is_finished() { &ANSWERED } else { &HELD_UP };
    outcome.fetch_add(1, SeqCst);
}

struct Asking;

// SAFETY: memory is the system's.
unsafe impl GlobalAlloc for Asking {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        if layout.size() >= 8 * MIB {
            ask_meanwhile();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Asking = Asking;

/// Stands before the system's; the crate's own calls arrive here.
///
/// # Safety
/// That of the system call.
// SAFETY: the name is the system's, and so are parameters, result and effect.
#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(
    start: *mut libc::c_void,
    bytes: usize,
    advice: libc::c_int,
) -> libc::c_int {
    if advice == libc::MADV_FREE {
        ask_meanwhile();
    }
    // SAFETY: the caller's promise is the same.
    let status = unsafe { libc::syscall(libc::SYS_madvise, start, bytes, advice) };
    status as libc::c_int
}

fn result(mib: usize) -> Uninit<u8> {
    Uninit::new(Layout::contiguous(&[mib * MIB]).unwrap()).unwrap()
}

/// How often the system was called by `work`; never while spare memory was locked.
#[track_caller]
fn system_calls(work: impl FnOnce()) -> usize {
    let before = ANSWERED.load(SeqCst);
    work();
    assert_eq!(HELD_UP.load(SeqCst), 0, "another thread had to wait");
    ANSWERED.load(SeqCst) - before
}

#[test]
fn fault_spare_memory_is_not_locked_during_system_calls() {
    keep_spare_memory(100 * MIB);
    let results = [result(40), result(40), result(40)];
    assert_eq!(system_calls(|| drop(results)), 4, "three marked as free, one given back");
    let large = result(200);
    assert_eq!(system_calls(|| drop(large)), 1, "given back at once");
    assert_eq!(system_calls(|| keep_spare_memory(50 * MIB)), 1);
    assert_eq!(system_calls(release_spare_memory), 1);
    let many: Vec<_> = (0..9).map(|_| result(9)).collect();
    keep_spare_memory(100 * MIB);
    assert_eq!(system_calls(|| drop(many)), 10, "one more than are kept");
    assert_eq!(system_calls(release_spare_memory), 8);
    assert_eq!(spare_memory(), 0);
}
