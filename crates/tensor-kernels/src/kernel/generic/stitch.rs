//! Streamed transposes whose destination rows do not start where cache lines do.
//!
//! A tile gives every row a register, a line's worth of columns that lies across two lines of
//! memory. The line that it completes is joined from it and from the register before, which is kept
//! aside, a line for each row; so only whole lines are streamed, whatever the alignment of each
//! row.
//!
//! # Tried and dropped
//!
//! - Joining through memory, a register stored at its place behind the one before and whole lines
//!   read back: reads wait for the stores before them, among them streamed ones.
//! - Scratch that collects some lines of each row before they leave: reading and writing memory no
//!   longer overlap, a third slower.

use std::marker::PhantomData;

use pulp::NullaryFnOnce;

use super::{
    copy::copy_plain,
    register::{FunnelShift, Registers},
    unroll::unrolled,
};
use crate::{
    kernel::{transpose_block::TransposeBlock, unit::Unit},
    memory::CACHE_LINE,
};

/// Compiled as a function of its own.
///
/// Invariant: made by [`transpose`] only, whose caller vouches for the memory.
struct StitchedTranspose<R, L> {
    isa: R,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
    unit: PhantomData<L>,
}

/// See [`Isa::transpose_stitched`](crate::kernel::Isa::transpose_stitched).
///
/// # Safety
///
/// That of [`Isa::transpose_stitched`](crate::kernel::Isa::transpose_stitched).
#[inline(always)]
pub(super) unsafe fn transpose<R: Registers, L: Unit>(
    isa: R,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
) {
    isa.vectorize(StitchedTranspose { isa, block, pending, first, unit: PhantomData::<L> });
}

impl<R: Registers, L: Unit> NullaryFnOnce for StitchedTranspose<R, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { isa, block, pending, first, .. } = self;
        let tall = CACHE_LINE / L::WIDTH;
        for u in (0..block.nu).step_by(tall) {
            let part = block.rows_from::<L>(u);
            let mut v = 0;
            loop {
                let at = v.min(block.nv.saturating_sub(L::PER_LANE));
                let columns = part.columns_from::<L>(at);
                // Rows that the last tile has in common with the one before have been carried on
                // already.
                let done = v - at;
                // SAFETY: the invariant, for a line of columns and a lane of rows; rows `at` on
                // have their lines.
                unsafe {
                    tile::<R::Full, L>(
                        isa.into(),
                        columns,
                        pending.wrapping_add(at * CACHE_LINE),
                        first && u == 0,
                        done,
                    );
                };
                v = at + L::PER_LANE;
                if v >= block.nv {
                    break;
                }
            }
        }
    }
}

/// A line's worth of source rows by a lane's worth of columns, of which the first `done` are not
/// written.
///
/// # Safety
///
/// That of [`transpose`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn tile<V: FunnelShift, L: Unit>(
    token: V::Token,
    block: TransposeBlock,
    pending: *mut u8,
    first: bool,
    done: usize,
) {
    // SAFETY: the rows hold so many lanes, M1.
    let columns = unsafe { V::load_columns::<L>(token, block.src, block.src_step) };
    unrolled!(i in 0..L::PER_LANE, 16 => if i >= done {
        // SAFETY: a row.
        unsafe { put(token, columns[i], block.dst_row(i), pending.wrapping_add(i * CACHE_LINE), first) }
    });
}

/// Completes a line and keeps the register.
///
/// # Safety
///
/// M2 for the register's bytes at `dst`; `carry` is an aligned line that holds the bytes before,
/// unless these are the `first` ones.
#[inline(always)]
unsafe fn put<V: FunnelShift>(
    token: V::Token,
    register: V,
    dst: *mut u8,
    pending: *mut u8,
    first: bool,
) {
    if first {
        // SAFETY: M2 covers the register at `dst`.
        unsafe { register.store(dst) }
    } else {
        // SAFETY: `carry` holds the line that the columns before have left.
        let before = unsafe { V::load(token, pending) };
        let back = dst.addr() % CACHE_LINE;
        // SAFETY: a whole line, whose first part belongs to the columns before.
        unsafe { before.funnel_shift(register, back).stream(dst.wrapping_sub(back)) }
    }
    // SAFETY: `carry` is a line of scratch for this row alone.
    unsafe { register.store(pending) }
}

/// See [`Isa::finish_stitched`](crate::kernel::Isa::finish_stitched).
///
/// # Safety
///
/// That of [`Isa::finish_stitched`](crate::kernel::Isa::finish_stitched).
#[inline(always)]
pub(super) unsafe fn finish<R: Registers>(
    isa: R,
    dst: *mut u8,
    dst_step: isize,
    nv: usize,
    pending: *const u8,
) {
    for v in 0..nv {
        let dst = dst.wrapping_offset(v as isize * dst_step);
        let left = dst.addr() % CACHE_LINE;
        let from = pending.wrapping_add((v + 1) * CACHE_LINE - left);
        // SAFETY: the row's last bytes, which its line of the carry ends with.
        unsafe { copy_plain(isa, from, dst.wrapping_sub(left), left) }
    }
}
