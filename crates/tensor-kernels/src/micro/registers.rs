//! Which registers an instruction set has, and the kernels it gets for them.

use pulp::NullaryFnOnce;

use super::plane::Plane;
use super::vector::{Join, Vector};
use crate::math::Fused;

use super::{Isa, Lane, Rows, Stores, carry, lines, run, transpose};

/// An instruction set with registers, which is all it needs to get every kernel: [`Isa`] is
/// implemented for it.
pub(super) trait Registers: Copy + Send + Sync {
    /// The widest register.
    type Full: Join<Token: From<Self>>;
    /// The next narrower one, for blocks too small for the widest.
    type Half: Vector<Token: From<Self>>;
    /// A single piece, for blocks too small for either.
    type Piece: Vector<Token: From<Self>>;

    /// Compiles `f` for these instructions.
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output;

    /// Makes streamed stores visible before any store that follows.
    fn fence(self);
}

impl<R: Registers> Isa for R {
    // Both levels of x86-64 that have registers here have FMA.
    type Arith = Fused;

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        Registers::vectorize(self, f)
    }

    #[inline(always)]
    fn fence(self) {
        Registers::fence(self);
    }

    const CARRIES: bool = true;

    #[inline(always)]
    unsafe fn transpose_carried<L: Lane>(
        self,
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
        carry: *mut u8,
        first: bool,
    ) {
        let plane = Plane::new((src, src_stride), (dst, dst_stride), (nu, nv));
        // SAFETY: the caller's contract.
        unsafe { carry::transpose::<R, L>(self, plane, carry, first) }
    }

    #[inline(always)]
    unsafe fn finish_carried(self, dst: *mut u8, dst_step: isize, nv: usize, carry: *const u8) {
        // SAFETY: the caller's contract.
        unsafe { carry::finish(self, dst, dst_step, nv, carry) }
    }

    #[inline(always)]
    unsafe fn flush(self, rows: Rows) {
        // SAFETY: the caller's contract.
        unsafe { lines::flush(self, rows) }
    }

    #[inline(always)]
    unsafe fn run<L: Lane>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: the caller's contract.
        unsafe { run::copy(self, src.cast(), dst.cast(), len * L::WIDTH, stores) }
    }

    #[inline(always)]
    unsafe fn fill<L: Lane>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: the caller's contract.
        unsafe { run::fill(self, value, dst.cast(), len, stores) }
    }

    #[inline(always)]
    unsafe fn gather_run<L: Lane>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        stores: Stores,
    ) {
        // A gather is the transposition of source rows of one element.
        let plane = Plane::new((src, step), (dst, 0), (len, 1));
        match stores {
            // SAFETY: the caller's contract.
            Stores::Plain | Stores::Pieces => unsafe { transpose::plain::<R, L>(self, plane) },
            // SAFETY: the caller's contract.
            Stores::Stream => unsafe { transpose::streamed::<R, L>(self, plane) },
        }
    }

    #[inline(always)]
    unsafe fn transpose<L: Lane>(
        self,
        src: *const L,
        src_stride: isize,
        dst: *mut L,
        dst_stride: isize,
        nu: usize,
        nv: usize,
    ) {
        let plane = Plane::new((src, src_stride), (dst, dst_stride), (nu, nv));
        // SAFETY: the caller's contract.
        unsafe { transpose::plain::<R, L>(self, plane) }
    }

    #[inline(always)]
    unsafe fn transpose_stream<L: Lane>(
        self,
        src: *const L,
        src_stride: isize,
        dst: *mut L,
        dst_stride: isize,
        nu: usize,
        nv: usize,
    ) {
        let plane = Plane::new((src, src_stride), (dst, dst_stride), (nu, nv));
        // SAFETY: the caller's contract.
        unsafe { transpose::streamed::<R, L>(self, plane) }
    }
}
