//! How the registers of a transpose are read: from source rows a step apart, from rows that a table
//! lists, or along few rows.

use super::register::{LANE_BYTES, Vector, transpose_lanes};
use super::unroll::unrolled;
use crate::kernel::unit::Unit;

/// The source rows of a tile. Several operands whose elements lie alike are read in the same way.
pub(super) trait Source: Copy {
    /// The registers of the tile whose first element is at `src`, transposed. The first
    /// [`Unit::PER_LANE`] are used.
    ///
    /// # Safety
    ///
    /// M1 for the elements that the tile has from `src` on.
    unsafe fn load<V: Vector, L: Unit>(self, token: V::Token, src: *const u8) -> [V; LANE_BYTES];
}

/// A lane of each of `LANES * PER_LANE` rows, which are this many bytes apart. Every register is
/// written to a destination row.
#[derive(Clone, Copy)]
pub(super) struct Strided(pub(super) isize);

impl Source for Strided {
    #[inline(always)]
    unsafe fn load<V: Vector, L: Unit>(self, token: V::Token, src: *const u8) -> [V; LANE_BYTES] {
        // SAFETY: this function's contract.
        unsafe { V::load_columns::<L>(token, src, self.0) }
    }
}

/// The same for rows at the second offset of each entry of a table.
#[derive(Clone, Copy)]
pub(super) struct Listed<'t>(pub(super) &'t [[isize; 2]]);

impl Source for Listed<'_> {
    #[inline(always)]
    unsafe fn load<V: Vector, L: Unit>(self, token: V::Token, src: *const u8) -> [V; LANE_BYTES] {
        // SAFETY: this function's contract.
        unsafe { V::load_columns_at::<L>(token, src, self.0) }
    }
}

/// A register of each of at most `PER_LANE` rows. Every lane is written to a destination row.
#[derive(Clone, Copy)]
pub(super) struct AlongRows {
    /// The bytes from one row to the next.
    pub(super) step: isize,
    /// The number of rows; more registers repeat the last one.
    pub(super) rows: usize,
}

impl Source for AlongRows {
    #[inline(always)]
    unsafe fn load<V: Vector, L: Unit>(self, token: V::Token, src: *const u8) -> [V; LANE_BYTES] {
        // SAFETY: this function's contract.
        transpose_lanes::<V, L>(unsafe { self.rows::<V, L>(token, src) })
    }
}

impl AlongRows {
    /// The rows, not transposed.
    ///
    /// # Safety
    ///
    /// M1 for a register of each row.
    #[inline(always)]
    pub(super) unsafe fn rows<V: Vector, L: Unit>(
        self,
        token: V::Token,
        src: *const u8,
    ) -> [V; LANE_BYTES] {
        let mut registers = [V::splat(token, [0; LANE_BYTES]); LANE_BYTES];
        unrolled!(r in 0..L::PER_LANE, 16 => {
            let at = r.min(self.rows - 1) as isize * self.step;
            // SAFETY: M1 holds, by this function's contract.
            registers[r] = unsafe { V::load(token, src.wrapping_offset(at)) };
        });
        registers
    }
}
