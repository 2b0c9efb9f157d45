//! What the kernels ask of a register, and which registers an instruction set has.
//!
//! A register is one or more *pieces* of 16 bytes. x86 shuffles are cheap inside a piece and dear
//! across pieces, so no kernel moves bytes across: pieces are put in place while they are loaded
//! ([`Vector::load_pieces`]), which costs a load and a blend, not a shuffle. The same kernels then fit
//! registers of 128, 256 and 512 bits.

use pulp::NullaryFnOnce;

use super::{Isa, Lane, Stores, run};
use crate::SimdLevel;

/// Bytes of a piece.
pub(super) const PIECE: usize = 16;

/// A SIMD register of [`Vector::PIECES`] pieces, and with it the proof (M5) that the CPU has it.
///
/// Every method is `#[inline(always)]` and must run under [`Isa::vectorize`].
pub(super) trait Vector: Copy {
    /// The proof that the instructions exist.
    type Token: Copy;

    /// Pieces in a register.
    const PIECES: usize;

    /// The same piece everywhere.
    fn splat(token: Self::Token, piece: [u8; PIECE]) -> Self;

    /// Reads a whole register.
    ///
    /// # Safety
    ///
    /// M1 for `src[..16 * PIECES]`.
    unsafe fn load(token: Self::Token, src: *const u8) -> Self;

    /// Reads piece `p` from `src + p * step`, a step in bytes.
    ///
    /// # Safety
    ///
    /// M1 for the 16 bytes at each of these places.
    unsafe fn load_pieces(token: Self::Token, src: *const u8, step: isize) -> Self;

    /// Writes the whole register.
    ///
    /// # Safety
    ///
    /// M2 for `dst[..16 * PIECES]`.
    unsafe fn store(self, dst: *mut u8);

    /// Writes the whole register past the cache.
    ///
    /// # Safety
    ///
    /// M2 for `dst[..16 * PIECES]`, and `dst` is a multiple of the register's bytes.
    unsafe fn stream(self, dst: *mut u8);

    /// Writes piece `p` to `dst + p * step`, a step in bytes, in ascending `p`.
    ///
    /// # Safety
    ///
    /// M2 for the 16 bytes at each of these places.
    unsafe fn store_pieces(self, dst: *mut u8, step: isize);

    /// Per piece: the elements of `WIDTH` bytes of both registers in turn, `a0 b0 a1 b1 …`; the first
    /// half of them, then the second.
    fn zip<const WIDTH: usize>(self, other: Self) -> [Self; 2];

    /// Per piece: byte `i` becomes byte `index[i]`, or 0 where `index[i]` is 128 or more.
    fn shuffle(self, index: [u8; PIECE]) -> Self;

    /// The bits of either.
    fn or(self, other: Self) -> Self;

    /// Bytes of a register.
    const BYTES: usize = Self::PIECES * PIECE;

    /// [`Vector::store`] or [`Vector::stream`].
    ///
    /// # Safety
    ///
    /// Those of the chosen one.
    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, stores: Stores) {
        match stores {
            // SAFETY: M2 is the caller's.
            Stores::Plain => unsafe { self.store(dst) },
            // SAFETY: M2 and the alignment are the caller's.
            Stores::Stream => unsafe { self.stream(dst) },
        }
    }
}

/// An instruction set with registers, which is all it needs to get every kernel: [`Isa`] is
/// implemented for it.
pub(super) trait Registers: Copy + Send + Sync {
    /// The level of these instructions.
    const LEVEL: SimdLevel;

    /// The widest register.
    type Full: Vector<Token: From<Self>>;
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
    const LEVEL: SimdLevel = R::LEVEL;

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        Registers::vectorize(self, f)
    }

    #[inline(always)]
    fn fence(self) {
        Registers::fence(self);
    }

    #[inline(always)]
    unsafe fn run<L: Lane>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { run::copy(self, src.cast(), dst.cast(), len * L::WIDTH, stores) }
    }

    #[inline(always)]
    unsafe fn fill<L: Lane>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        // SAFETY: M2 is the caller's.
        unsafe { run::fill(self, value, dst.cast(), len, stores) }
    }
}
