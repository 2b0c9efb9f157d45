//! What moves bytes across the lanes of registers, for the few kernels that gain by it: picks of
//! elements out of two registers, which AVX-512 has, shifts of bytes from one register into the
//! next, and moves of whole lanes between two registers.

use super::register::{REGISTER_BYTES, Vector};
use crate::kernel::unit::Unit;

/// Registers of [`REGISTER_BYTES`] out of two of which elements can be picked.
pub(in crate::kernel) trait Pick: Vector {
    /// True if one instruction picks elements of 2, 4 and 8 bytes. Else [`pick`](Self::pick) is
    /// never called.
    const PICKS: bool = false;

    /// Element `i` is element `index[i]` of those of the first register followed by those of the
    /// second. An index has the width of an element; only its first byte is not 0.
    #[inline(always)]
    fn pick<L: Unit>(token: Self::Token, pair: [Self; 2], index: [u8; REGISTER_BYTES]) -> Self {
        let _ = (token, pair, index);
        unreachable!("no instruction picks elements out of two registers")
    }

    /// Byte `i` becomes byte `index[i]` of its lane, or 0 where `index[i]` is 128 or more.
    #[inline(always)]
    fn shuffle_within_lanes(self, index: [u8; REGISTER_BYTES]) -> Self {
        let _ = index;
        unreachable!("no register that is picked from")
    }
}

/// Registers that can be shifted across a pair of them.
pub(in crate::kernel) trait FunnelShift: Vector {
    /// The last `back` bytes of `self`, followed by the first bytes of `next`. `back` is less than
    /// the size of a register, and a multiple of the unit's bytes, or of 4 if these are more.
    fn funnel_shift<L: Unit>(self, next: Self, back: usize) -> Self;
}

/// Registers between which whole lanes can be moved.
pub(in crate::kernel) trait UnzipLanes: Vector {
    /// The lanes of even number of both registers, `a0 a2 … b0 b2 …`, and those of odd number.
    /// Never called for registers of one lane.
    #[cfg_attr(not(feature = "in-place"), expect(dead_code, reason = "only exchanges of tiles"))]
    fn unzip_lanes(self, other: Self) -> [Self; 2];
}
