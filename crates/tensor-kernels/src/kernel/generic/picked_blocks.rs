//! Blocks of adjacent bytes, assembled by picks out of whole registers that a list gives.
//!
//! The register of a block is assembled for several blocks in turn, so that what it picks is loaded
//! once for all of them, and the blocks' lines stay in the first-level cache meanwhile. The CPU
//! does not recognise this order, so blocks that lie in memory are prefetched.

use pulp::NullaryFnOnce;

use super::{
    across_lanes::Pick,
    register::{REGISTER_BYTES, Registers},
    unroll::unrolled,
};
use crate::{
    kernel::{prefetch::prefetch_bytes, unit::Unit},
    memory::CACHE_LINE,
    nest::Loop,
    register_picks::{MAX_PICKS, PickedRegister, PickedWindow, RegisterPicks},
    tuning::{
        MAX_BLOCK_DISTANCE, MIN_PREFETCHED_REGISTERS, PICKED_BLOCKS_AT_ONCE,
        PREFETCHED_BLOCKS_BYTES,
    },
};

/// Blocks in each iteration of a loop.
///
/// Invariant: only [`blocks`] makes it; M1 to M3 hold for all blocks.
struct Blocks<'p, R, L, const P: usize> {
    isa: R,
    src: *const L,
    dst: *mut L,
    picks: &'p RegisterPicks<P>,
    /// The blocks, with strides in bytes.
    blocks: Loop<2>,
}

/// Assembles a block in each iteration of a loop, whose strides are in bytes.
///
/// # Safety
///
/// M1 for the windows of each block, M2 for the bytes of each block, M3.
#[inline(always)]
pub(super) unsafe fn blocks<R: Registers, L: Unit, const P: usize>(
    isa: R,
    src: *const L,
    dst: *mut L,
    picks: &RegisterPicks<P>,
    blocks: Loop<2>,
) {
    isa.vectorize(Blocks { isa, src, dst, picks, blocks });
}

impl<R: Registers, L: Unit, const P: usize> NullaryFnOnce for Blocks<'_, R, L, P> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if self.is_prefetched() {
            self.assemble_all::<true>();
        } else {
            self.assemble_all::<false>();
        }
    }
}

impl<R: Registers, L: Unit, const P: usize> Blocks<'_, R, L, P> {
    /// Are blocks prefetched? Not if they descend.
    #[inline(always)]
    fn is_prefetched(&self) -> bool {
        let Loop { len, strides } = self.blocks;
        let bytes = len.saturating_mul(strides[1].unsigned_abs());
        L::WIDTH >= 4 && bytes >= PREFETCHED_BLOCKS_BYTES && {
            let registers = self.picks.registers().count();
            let most = MAX_BLOCK_DISTANCE * REGISTER_BYTES * registers;
            registers >= MIN_PREFETCHED_REGISTERS
                && strides.into_iter().all(|stride| (1..=most as isize).contains(&stride))
        }
    }

    /// Assembles all blocks, some at a time. Those behind them are prefetched meanwhile, a part of
    /// them before each register: prefetched all at once, copies took 1.4 times as long (Zen 4).
    #[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
    fn assemble_all<const PREFETCHES: bool>(&self) {
        let [to, from] = self.blocks.strides;
        let parts = if PREFETCHES { self.picks.registers().count() } else { 1 };
        let mut block = 0;
        while block < self.blocks.len {
            let some = Loop {
                len: PICKED_BLOCKS_AT_ONCE.min(self.blocks.len - block),
                strides: self.blocks.strides,
            };
            let src = self.src.wrapping_byte_offset(block as isize * from).cast();
            let dst = self.dst.wrapping_byte_offset(block as isize * to).cast();
            for (part, (register, windows)) in self.picks.registers().enumerate() {
                let token = self.isa.into();
                if PREFETCHES {
                    prefetch_behind(dst, to, (part, parts));
                    prefetch_behind(src, from, (part, parts));
                }
                // SAFETY: the invariant: M1 and M2 for this register of these blocks.
                unsafe { assemble::<R::Full, L, P>(token, (src, dst), register, windows, some) };
            }
            block += some.len;
        }
    }
}

/// Prefetches a part of the blocks behind those that are assembled from this address on.
#[inline(always)]
fn prefetch_behind(first: *const u8, stride: isize, (part, parts): (usize, usize)) {
    let bytes = PICKED_BLOCKS_AT_ONCE * stride.unsigned_abs();
    let of_part = bytes.div_ceil(parts).next_multiple_of(CACHE_LINE);
    prefetch_bytes(first.wrapping_add(bytes + part * of_part), of_part);
}

/// Assembles a register of each block.
///
/// # Safety
///
/// M1 for the windows, M2 for the register of each block.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn assemble<V: Pick, L: Unit, const P: usize>(
    token: V::Token,
    (src, dst): (*const u8, *mut u8),
    register: PickedRegister<P>,
    windows: &[PickedWindow<P>],
    blocks: Loop<2>,
) {
    let PickedRegister { start, shuffles, .. } = register;
    let Some((&PickedWindow { offset, index }, others)) = windows.split_first() else { return };
    let (src, dst) = (src.wrapping_offset(offset as isize), dst.wrapping_add(start));
    // Windows behind the first are counted from it.
    let others =
        others.iter().map(|window| PickedWindow { offset: window.offset - offset, ..*window });
    macro_rules! by {
        ($($picks:literal)*) => {
            match others.len() {
                // SAFETY: this function's contract; there is one window.
                0 => unsafe {
                    assemble_from_one::<V, L, P>(token, (src, dst), (index, shuffles), blocks);
                },
                $($picks => {
                    let windows = (array::<P, $picks>(others), shuffles);
                    // SAFETY: this function's contract.
                    unsafe { assemble_by::<V, L, P, $picks>(token, (src, dst), windows, blocks) };
                })*
                picks => unreachable!("{picks} picks for a register"),
            }
        };
    }
    const { assert!(MAX_PICKS == 4) };
    by!(1 2 3 4);
}

/// [`assemble`] from one window, which lies at `src`.
///
/// # Safety
///
/// M1 for the window, M2 for the register of each block, which lies at `dst`.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn assemble_from_one<V: Pick, L: Unit, const P: usize>(
    token: V::Token,
    (src, dst): (*const u8, *mut u8),
    (index, shuffles): (Indices<P>, Indices<P>),
    blocks: Loop<2>,
) {
    let [to, from] = blocks.strides;
    for block in 0..blocks.len as isize {
        // SAFETY: M1 for the window of this block.
        let window = unsafe { V::load(token, src.wrapping_offset(block * from)) };
        let picked = index.map(|index| V::pick::<L>(token, [window; 2], index));
        let picked = merged(picked, &shuffles);
        // SAFETY: M2 for the register of this block.
        unsafe { picked.store(dst.wrapping_offset(block * to)) };
    }
}

/// The first `N` windows.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
fn array<const P: usize, const N: usize>(
    windows: impl Iterator<Item = PickedWindow<P>>,
) -> [PickedWindow<P>; N] {
    let mut array = [PickedWindow { offset: 0, index: [[0; REGISTER_BYTES]; P] }; N];
    array.iter_mut().zip(windows).for_each(|(to, window)| *to = window);
    array
}

/// [`assemble`] by `N` picks, from the window at `src` and those at offsets from there.
///
/// # Safety
///
/// M1 for the windows, M2 for the register of each block, which lies at `dst`.
#[cfg_attr(any(not(debug_assertions), tensor_optimized), inline(always))]
unsafe fn assemble_by<V: Pick, L: Unit, const P: usize, const N: usize>(
    token: V::Token,
    (src, dst): (*const u8, *mut u8),
    (windows, shuffles): ([PickedWindow<P>; N], Indices<P>),
    blocks: Loop<2>,
) {
    let [to, from] = blocks.strides;
    for block in 0..blocks.len as isize {
        let src = src.wrapping_offset(block * from);
        // SAFETY: M1 for the first window of this block.
        let mut picked = [unsafe { V::load(token, src) }; P];
        unrolled!(k in 0..N, 4 => {
            let PickedWindow { offset, index } = windows[k];
            // SAFETY: M1 for window `k` of this block.
            let window = unsafe { V::load(token, src.wrapping_offset(offset as isize)) };
            unrolled!(part in 0..P, 4 => {
                picked[part] = V::pick::<L>(token, [picked[part], window], index[part]);
            });
        });
        let picked = merged(picked, &shuffles);
        // SAFETY: M2 for the register of this block.
        unsafe { picked.store(dst.wrapping_offset(block * to)) };
    }
}

/// An index for each of `P` parts of a register.
type Indices<const P: usize> = [[u8; REGISTER_BYTES]; P];

/// The register of which these are the parts: the only one, or the bytes that shuffles move to
/// their places in the words of each.
#[inline(always)]
fn merged<V: Pick, const P: usize>(parts: [V; P], shuffles: &Indices<P>) -> V {
    let mut register = parts[0];
    if P > 1 {
        register = register.shuffle_within_lanes(shuffles[0]);
        unrolled!(part in 1..P, 4 => {
            register = register.or(parts[part].shuffle_within_lanes(shuffles[part]));
        });
    }
    register
}
