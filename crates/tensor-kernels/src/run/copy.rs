//! Running a copy.

use super::{Ends, blocked, stream, walk::walk};
use crate::{
    exec::{Exec, SimdLevel},
    kernel::{self, Isa, Kernel, Scalar, Unit},
    memory::Stores,
    partition::share,
    plan::{Inner, Work},
};

/// Does the copy that `work` describes between the views that `ends` came from, the destination first.
///
/// `work` must have been planned for the layouts of those views: that is what makes every offset it visits one of theirs.
pub(crate) fn copy(exec: &Exec, work: &Work, ends: Ends<'_, 2>) {
    let simd = exec.simd();
    share(exec, work, move |work| run(simd, work, ends));
}

fn run(simd: SimdLevel, work: &Work, ends: Ends<'_, 2>) {
    match work.unit {
        1 => kernel::dispatch(simd, Piece::<u8>::new(work, ends)),
        2 => kernel::dispatch(simd, Piece::<u16>::new(work, ends)),
        4 => kernel::dispatch(simd, Piece::<u32>::new(work, ends)),
        8 => kernel::dispatch(simd, Piece::<u64>::new(work, ends)),
        _ => kernel::dispatch(simd, Piece::<u128>::new(work, ends)),
    }
}

/// Work on one thread, in units of `L`.
struct Piece<'a, L> {
    work: &'a Work,
    dst: *mut L,
    src: *const L,
    solid: bool,
}

impl<'a, L: Unit> Piece<'a, L> {
    fn new(work: &'a Work, Ends([dst, src]): Ends<'a, 2>) -> Self {
        debug_assert_eq!(work.unit, L::WIDTH);
        // Where a plan starts is an element's place, or without meaning if there are none; `wrapping_offset` forms no address before its use.
        Self {
            work,
            dst: dst.base.wrapping_offset(work.starts[0]).cast(),
            src: src.base.wrapping_offset(work.starts[1]).cast_const().cast(),
            solid: src.solid,
        }
    }
}

impl<L: Unit> Kernel for Piece<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Piece { work, dst, src, solid } = self;
        let stores = work.stores;
        if work.inner == Inner::Nothing {
            return;
        }
        walk(&work.outer, |[to, from]| {
            let (dst, src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            match (&work.inner, solid) {
                // Only the portable kernels never read the gaps between the elements that they are asked for.
                // SAFETY: M1 to M3 are invariants 1 to 3 of the ends, for the offsets that the plan visits: they are the layouts'.
                (inner @ (Inner::Pick { .. } | Inner::Tile { .. } | Inner::Streamed(_)), false) => unsafe {
                    step(Scalar, inner, src, dst, stores);
                },
                // SAFETY: as above, and invariant 4.
                (inner, _) => unsafe { step(isa, inner, src, dst, stores) },
            }
        });
        if stores == Stores::Stream {
            isa.fence();
        }
    }
}

/// One turn of the innermost step.
///
/// # Safety
/// M1, M2 and M3 for the elements of the step.
#[inline(always)]
unsafe fn step<I: Isa, L: Unit>(isa: I, inner: &Inner, src: *const L, dst: *mut L, stores: Stores) {
    match *inner {
        Inner::Nothing => {}
        // SAFETY: the caller's.
        Inner::Run { len } => unsafe { isa.run(src, dst, len, stores) },
        Inner::Fill { len } => {
            // SAFETY: M1.
            let value = unsafe { src.read_unaligned() };
            // SAFETY: the caller's.
            unsafe { isa.fill(value, dst, len, stores) }
        }
        // SAFETY: the caller's.
        Inner::Pick { len, step } => unsafe { isa.gather_run(src, step, dst, len, stores) },
        // SAFETY: the caller's.
        Inner::Spread { len, step } => unsafe { isa.scatter_run(src, dst, step, len) },
        // SAFETY: the caller's.
        Inner::Tile { u, v } => unsafe { blocked::tile(isa, src, dst, u, v) },
        // SAFETY: the caller's.
        Inner::Streamed(ref plan) => unsafe { stream::transpose(isa, src, dst, plan) },
        // SAFETY: the caller's.
        Inner::Grid { outer, inner, run } => unsafe {
            blocked::grid(isa, src, dst, (outer, inner), run);
        },
    }
}
