//! Copies of few elements, each register of the result assembled by listed picks.

use pulp::NullaryFnOnce;

use super::{across_lanes::Pick, register::Registers, unroll::unrolled};
use crate::{
    kernel::unit::Unit,
    picked_copy::{MAX_WINDOWS, PickedCopy, PickedGroup, picks_of},
};

/// Invariant: only [`copy`] makes it; M1 to M3 hold for the copy.
struct Copy<'p, R, L> {
    isa: R,
    src: *const L,
    dst: *mut L,
    picks: &'p PickedCopy,
}

/// Copies elements of type `L`, whose offsets are counted from `src` and `dst`.
///
/// # Safety
///
/// M1 for all bytes from the lowest element of the source to the highest, M2 for the result, M3.
#[inline(always)]
pub(super) unsafe fn copy<R: Registers, L: Unit>(
    isa: R,
    src: *const L,
    dst: *mut L,
    picks: &PickedCopy,
) {
    isa.vectorize(Copy { isa, src, dst, picks });
}

impl<R: Registers, L: Unit> NullaryFnOnce for Copy<'_, R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        const { assert!(MAX_WINDOWS == 8) };
        let mut rest = self.picks.all();
        macro_rules! of_windows {
            ($($windows:literal)*) => {$(
                let [group, others] = self.picks.split($windows, rest);
                rest = others;
                // SAFETY: the invariant.
                unsafe { self.registers::<R::Full, $windows>(self.isa.into(), group) };
            )*};
        }
        of_windows!(1 2 3 4 5 6 7 8);
        debug_assert!(rest.0.is_empty());
    }
}

impl<R: Registers, L: Unit> Copy<'_, R, L> {
    /// The registers of `WINDOWS` windows.
    ///
    /// # Safety
    ///
    /// The invariant, for registers of the picks.
    #[inline(always)]
    unsafe fn registers<V: Pick, const WINDOWS: usize>(
        &self,
        token: V::Token,
        (places, indices): PickedGroup<'_>,
    ) {
        let places = places.chunks_exact(1 + WINDOWS);
        for (places, indices) in places.zip(indices.chunks_exact(picks_of(WINDOWS))) {
            let window = |k: usize| {
                let at = self.src.wrapping_byte_offset(places[1 + k] as isize).cast();
                // SAFETY: M1: no window extends beyond the source's ends.
                unsafe { V::load(token, at) }
            };
            let first = window(0);
            let mut picked = first;
            if WINDOWS == 1 {
                picked = V::pick::<L>(token, [first; 2], indices[0].0);
            }
            unrolled!(k in 0..WINDOWS - 1, 8 => {
                picked = V::pick::<L>(token, [picked, window(k + 1)], indices[k].0);
            });
            let to = self.dst.wrapping_byte_offset(places[0] as isize).cast();
            // SAFETY: M2 for a register of the result.
            unsafe { picked.store(to) };
        }
    }
}
