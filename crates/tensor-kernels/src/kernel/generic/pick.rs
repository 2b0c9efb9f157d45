//! Single elements a small step apart, by instructions that pick elements out of two whole
//! registers.
//!
//! A window is as many registers as the step has elements; the elements picked from it fill one
//! register. So `n` elements take a load and a pick for each register of the window, where
//! [`gather`](super::gather) takes four loads and a shuffle. Copies of every second to seventh
//! element become 1.2 to 2.9 times faster with elements of 2 bytes, 1.1 to 1.6 times with 4 and up
//! to 1.2 times with 8 (in the first two caches; Zen 5, AVX-512). AVX2 and NEON have no such
//! instruction for every width, and keep to lanes.
//!
//! # Tried and dropped
//! Reversed rows, a step of -1: 1.05 to 1.4 times as long as by lanes, longest if short.

use std::marker::PhantomData;

use super::{
    across_lanes::Pick,
    register::{REGISTER_BYTES, Registers},
    unroll::unrolled,
};
use crate::kernel::{transpose_block::TransposeBlock, unit::Unit};

/// Are elements of this width that lie so far apart picked on this instruction set? Windows of many
/// wide elements are read from the second-level cache or from memory, and take as long as they do.
pub(super) const fn picks<R: Registers, L: Unit>(step: usize) -> bool {
    let most = match L::WIDTH {
        2 | 4 => 8,
        8 => 3,
        _ => 0,
    };
    R::Full::PICKS && 1 < step && step <= most
}

/// Gathers rows of one element that lie `STEP` elements apart, as far as whole registers go, and
/// returns their number: all but the last one, or none if there are too few.
///
/// # Safety
///
/// M1, M2, M3 for the block, which has source rows of one element, `STEP` elements apart, at
/// falling addresses if `DESCENDING`.
#[inline(always)]
pub(super) unsafe fn picked<R: Registers, L: Unit, const STEP: usize, const DESCENDING: bool>(
    isa: R,
    block: TransposeBlock,
) -> usize {
    let whole = REGISTER_BYTES / L::WIDTH;
    // The window of the last row would include the gap behind it.
    let rows = block.nu.saturating_sub(1);
    if rows < whole {
        return 0;
    }
    let mut u = 0;
    while u < rows {
        // The last registers overlap.
        u = u.min(rows - whole);
        let row = block.rows_from::<L>(u);
        // SAFETY: M1 and M2 hold for rows `u..u + whole`, and another row follows.
        unsafe { pick_register::<R::Full, L, STEP, DESCENDING>(isa.into(), row.src, row.dst) };
        u += whole;
    }
    rows
}

/// # Safety
///
/// M1 for the `STEP` registers from the first element on, in the direction of the steps; M2 for a
/// register at `dst`.
#[inline(always)]
unsafe fn pick_register<V: Pick, L: Unit, const STEP: usize, const DESCENDING: bool>(
    token: V::Token,
    src: *const u8,
    dst: *mut u8,
) {
    let behind = if DESCENDING { REGISTER_BYTES * STEP - L::WIDTH } else { 0 };
    let window = src.wrapping_sub(behind);
    // SAFETY: M1 holds for the first register of the window.
    let mut picked = unsafe { V::load(token, window) };
    unrolled!(k in 1..STEP, 8 => {
        // SAFETY: M1 holds for register `k` of the window.
        let next = unsafe { V::load(token, window.wrapping_add(k * REGISTER_BYTES)) };
        picked = V::pick::<L>(token, [picked, next], PickWindow::<L, STEP, DESCENDING>::TABLE[k]);
    });
    // SAFETY: M2 holds for a register at `dst`.
    unsafe { picked.store(dst) };
}

/// The elements picked from a window of `STEP` registers.
struct PickWindow<L, const STEP: usize, const DESCENDING: bool>(PhantomData<L>);

impl<L: Unit, const STEP: usize, const DESCENDING: bool> PickWindow<L, STEP, DESCENDING> {
    /// At `[k]`, `k` not 0: the index with which register `k` is combined with what was picked from
    /// those before it, which is the whole of register 0 if `k` is 1.
    const TABLE: [[u8; REGISTER_BYTES]; STEP] = {
        let whole = REGISTER_BYTES / L::WIDTH;
        let mut table = [[0; REGISTER_BYTES]; STEP];
        let mut at = 0;
        while at < STEP * whole {
            let (k, i) = (at / whole, at % whole);
            let element = if DESCENDING { (whole - i) * STEP - 1 } else { i * STEP };
            // The elements of the second register follow those of the first.
            let from = match (k, element / whole) {
                (_, register) if register == k => whole + element % whole,
                (..2, _) => element % whole,
                _ => i,
            };
            // An index has the width of an element; it is less than 256.
            table[k][i * L::WIDTH] = from as u8;
            at += 1;
        }
        table
    };
}
