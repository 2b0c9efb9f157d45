//! Copies of few elements that are repeated: by the list of their offsets, or by listed picks.

use super::{operands::OperandPtr, tiny::copy_listed};
use crate::{
    exec::SimdLevel,
    kernel::{self, Isa, Kernel},
    picked_copy::PickedCopy,
    plan::{Listing, WIDEST_VECTOR},
};

/// Copies elements of `width` bytes by a list of their offsets in the source.
///
/// # Safety
/// Each offset of the list can be read at `src`, and as many elements be written at `dst`. They do
/// not overlap.
#[inline]
pub(super) unsafe fn run_listed(width: usize, listing: &Listing, dst: *mut u8, src: *const u8) {
    match width {
        // SAFETY: this function's contract.
        1 => unsafe { copy_listed::<u8>(listing, src, dst) },
        // SAFETY: this function's contract.
        2 => unsafe { copy_listed::<u16>(listing, src.cast(), dst.cast()) },
        // SAFETY: this function's contract.
        4 => unsafe { copy_listed::<u32>(listing, src.cast(), dst.cast()) },
        // SAFETY: this function's contract.
        8 => unsafe { copy_listed::<u64>(listing, src.cast(), dst.cast()) },
        // SAFETY: this function's contract; other widths are not listed.
        _ => unsafe { copy_listed::<u128>(listing, src.cast(), dst.cast()) },
    }
}

/// Can a copy from this operand be picked? Windows read the gaps between its elements.
#[inline]
pub(super) fn can_pick(simd: SimdLevel, operand: OperandPtr<'_>) -> bool {
    simd.vector_bytes() == WIDEST_VECTOR && operand.gaps_readable
}

/// Copies elements of `width` bytes by listed picks.
///
/// # Safety
/// [`can_pick`] is true. The bytes from the lowest to the highest element of the source, the first
/// of which is at `src`, can be read, and the result be written at `dst`. They do not overlap.
pub(super) unsafe fn run_picked(
    simd: SimdLevel,
    width: usize,
    picks: &PickedCopy,
    (dst, src): (*mut u8, *const u8),
) {
    kernel::dispatch(simd, &PickedTask { width, picks, dst, src });
}

/// Invariant: [`run_picked`] makes it, by its contract.
struct PickedTask<'a> {
    width: usize,
    picks: &'a PickedCopy,
    dst: *mut u8,
    src: *const u8,
}

impl Kernel for &PickedTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let PickedTask { width, picks, dst, src } = *self;
        match width {
            _ if !I::PICKS => unreachable!("`can_pick` is true"),
            // SAFETY: the invariant: M1 to M3.
            2 => unsafe { isa.copy_picked::<u16>(src.cast(), dst.cast(), picks) },
            // SAFETY: the same.
            4 => unsafe { isa.copy_picked::<u32>(src.cast(), dst.cast(), picks) },
            // SAFETY: the same; there are no other widths.
            _ => unsafe { isa.copy_picked::<u64>(src.cast(), dst.cast(), picks) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_with_readable_gaps_are_picked_from() {
        for level in SimdLevel::available() {
            let operand = |readable| OperandPtr::at(std::ptr::null_mut(), readable);
            assert!(!can_pick(level, operand(false)), "{level}");
            assert_eq!(can_pick(level, operand(true)), level.to_string() == "v4", "{level}");
        }
    }
}
