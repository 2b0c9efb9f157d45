//! Running a plan: cut it for threads, choose the instructions once a piece, walk its loops, call its kernels.

mod block;
mod compute;
mod cursor;
mod fresh;
mod levels;
mod move_elements;
mod pack;
mod reduce;
mod room;
mod scratch;
mod streamed;
mod tiny;

pub(crate) use compute::compute;
pub(crate) use cursor::{Ends, Place};
pub(crate) use fresh::{computed, copied, reduced};
pub(crate) use move_elements::copy;
pub(crate) use reduce::reduce;
pub(crate) use tiny::{copy_tiny, is_tiny};

use crate::{Exec, exec::pool};

/// Something that can be cut in two halves that may run at the same time.
pub(crate) trait Divide: Sized + Sync {
    /// The halves, or `None` if it is too small to cut.
    fn halves(&self) -> Option<(Self, Self)>;

    /// The bytes that it moves.
    fn bytes(&self) -> usize;
}

/// Halves the work until there are as many pieces as `exec` wants, and runs them on whatever threads are free.
fn share<W: Divide>(exec: &Exec, work: &W, run: impl Fn(&W) + Copy + Sync + Send) {
    match exec.pieces(work.bytes()) {
        1 => run(work),
        pieces => share_out(work, pieces, run),
    }
}

fn share_out<W: Divide>(work: &W, pieces: usize, run: impl Fn(&W) + Copy + Sync + Send) {
    match if pieces > 1 { work.halves() } else { None } {
        None => run(work),
        Some((first, second)) => pool::join(
            || share_out(&first, pieces / 2, run),
            || share_out(&second, pieces - pieces / 2, run),
        ),
    }
}
