//! Room for a piece of a reduction: a block's scratch, and slots for its results and for halves.
//!
//! It is this thread's kept [`Scratch`]. A thread that waits for a half takes up other work, which may be a reduction again, and wait; if each held its
//! room on the stack meanwhile, a dozen of them would overflow it. Only work that does not wait takes its room from the stack, if that is small: where
//! it is, and where there is no memory. Then work is cut until it is, and halves are done one after the other.

use std::mem::MaybeUninit;

use super::workspace::Scratch;
use crate::memory::CACHE_LINE;

/// Where room comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rooms {
    /// From what the thread keeps.
    Kept,
    /// From the stack, as there is no memory.
    Stack,
}

/// All of a room that the thread keeps.
const KEPT: usize = 96 << 10;

/// How often turns are halved at most, one half inside the other: 63 times for 2⁶³ elements, and three tenths more for loops of five leaves, which are
/// halved three times.
const HALVINGS: usize = 81;

/// Slots without memory: a line of them for the results, and one for each halving.
const FEW: usize = (1 + HALVINGS) * CACHE_LINE;

/// A block's scratch, at most: 16 KiB of elements, and a line between rows where there are at most 32 of them, of half a kilobyte or more.
const SCRATCH: usize = 18 << 10;

/// What is taken from the stack by work that does not wait: most reductions do with it.
const SMALL: usize = 4 << 10;

#[repr(align(64))]
struct Bytes<const N: usize>([MaybeUninit<u8>; N]);

impl Rooms {
    /// The bytes of slots in a room beside a block's scratch.
    pub(super) fn slots(self, scratch: usize) -> usize {
        match self {
            Rooms::Kept => KEPT - scratch,
            Rooms::Stack => FEW,
        }
    }
}

/// Calls `f` with memory for work that waits for other work or does not. If there is none it says so, with `false`.
pub(super) fn with_kept(bytes: usize, waits: bool, f: impl FnOnce(*mut u8)) -> bool {
    if bytes <= SMALL && !waits {
        in_frame::<SMALL>(f);
        return true;
    }
    let Some(mut scratch) = Scratch::take(bytes) else {
        return false;
    };
    f(scratch.start());
    true
}

/// Calls `f` with memory on the stack, for work that does not wait.
pub(super) fn with_stack(bytes: usize, f: impl FnOnce(*mut u8)) {
    assert!(bytes <= FEW + SCRATCH, "results were cut to fit");
    if bytes <= FEW { in_frame::<FEW>(f) } else { in_frame::<{ FEW + SCRATCH }>(f) }
}

#[inline(never)]
fn in_frame<const N: usize>(f: impl FnOnce(*mut u8)) {
    let mut bytes = Bytes([const { MaybeUninit::uninit() }; N]);
    f(bytes.0.as_mut_ptr().cast());
}
