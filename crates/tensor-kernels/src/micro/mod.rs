//! Leaf kernels: how elements move from one piece of memory to another.
//!
//! In: raw pointers, strides and extents of a block that somebody else has cut and checked. Out:
//! the same elements, in the destination's order. Nothing here knows layouts, plans or threads.
//!
//! A kernel exists per element *width*, the [`Lane`]: an `f32` and a `u32` move alike. It is written
//! once, over registers made of 16-byte pieces, and compiled per instruction set:
//!
//! - `portable` is plain Rust, the fallback of every CPU and the last scraps of the others;
//! - `vector` says what a register can do, `run`, `transpose`, `pick` and `weave` are the kernels over
//!   any such register, and `v3` and `v4` are the registers of x86-64.
//!
//! [`dispatch`] turns a [`SimdLevel`] into an [`Isa`], the proof that the CPU has the instructions,
//! and compiles a whole [`Kernel`] for it. Everything under it must be `#[inline(always)]`, or it is
//! compiled for the target's baseline and every intrinsic becomes a call. Kernels too large to be
//! inlined at every call go through [`Isa::vectorize`] once more, which makes them functions of their
//! own, compiled for the same instructions.
//!
//! Tiles alone are functions of their own in debug builds: without optimisation every value keeps a
//! place of its own on the stack, and all tiles inlined into one body would need megabytes.
//!
//! # Contract
//!
//! Every unsafe function of this module asks its caller for the same things, with "element" meaning
//! `L::WIDTH` bytes of any alignment:
//!
//! - **M1, source.** All bytes from the first of the lowest source element to the last of the highest
//!   are readable, initialised, and written by nobody during the call. Kernels may read the gaps
//!   between elements, never beyond the two ends.
//! - **M2, destination.** Every destination element is writable and no two indices share a byte.
//!   Kernels write nothing else, gaps included; they may write an element more than once.
//! - **M3, apart.** No destination element overlaps the block of M1.
//! - **M4, whole lines.** Only inside this module, for streamed stores: the destination is 64-byte
//!   aligned, its row stride is a multiple of 64 bytes and its rows are whole lines.
//! - **M5, the CPU.** An [`Isa`] value exists only where its instructions do.

mod find;
mod fold;
mod function;
mod ops;
mod plane;
mod portable;
mod short;
mod stream;
#[cfg(test)]
mod tests;
mod trees;

// Over registers, of which only x86-64's are written.
#[cfg(target_arch = "x86_64")]
mod carry;
#[cfg(target_arch = "x86_64")]
mod lines;
#[cfg(target_arch = "x86_64")]
mod pick;
#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod run;
#[cfg(target_arch = "x86_64")]
mod shuffles;
#[cfg(target_arch = "x86_64")]
mod transpose;
#[cfg(target_arch = "x86_64")]
mod unroll;
#[cfg(target_arch = "x86_64")]
mod v3;
#[cfg(target_arch = "x86_64")]
mod v4;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod weave;

use pulp::NullaryFnOnce;

use crate::{
    Loop, SimdLevel,
    math::{Arith, Baseline},
};
pub(crate) use find::{Find, Finding};
pub(crate) use fold::{Fold, FoldBlock, Folding, GROUP, LONG, Reduction, TALL, WIDE, Widths};
pub(crate) use function::{Closure, Function1, Function2, Function3};
pub(crate) use ops::{Compute, Lanes, Map, Operation, Zip, Zip3};
use plane::Plane;
pub use stream::stream_copy;

/// Bytes of a cache line, and of the largest register.
pub(crate) const LINE: usize = 64;

/// An unsigned integer that stands for every element type of its width.
pub(crate) trait Lane: bytemuck::Pod + Send + Sync {
    /// Bytes of one element.
    const WIDTH: usize = size_of::<Self>();

    /// Elements in a piece of a register.
    const PER_PIECE: usize = 16 / Self::WIDTH;
}

impl Lane for u8 {}
impl Lane for u16 {}
impl Lane for u32 {}
impl Lane for u64 {}
impl Lane for u128 {}

/// How results reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stores {
    /// Through the cache.
    Plain,
    /// Through the cache, and by single pieces at any length, for results out of cache of which little is read: 64 MiB of one row again and again take
    /// 7.3 ms so, 9.0 by stores of 64 bytes, and 10.5 by the C library.
    Pieces,
    /// Past the cache, in whole lines; visible to other threads after [`Isa::fence`].
    Stream,
}

/// Rows in scratch that are ready to leave it: see [`Isa::flush`]. Steps are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The first column of the first row, in scratch.
    pub(crate) src: *mut u8,
    /// From row to row.
    pub(crate) src_step: isize,
    /// Where it belongs.
    pub(crate) dst: *mut u8,
    /// From row to row.
    pub(crate) dst_step: isize,
    /// How many rows.
    pub(crate) count: usize,
    /// The columns of a row.
    pub(crate) bytes: usize,
    /// Do rows start with these columns?
    pub(crate) first: bool,
    /// Do they end with them?
    pub(crate) last: bool,
    /// How far to move what is left in front, a multiple of a line.
    pub(crate) back: usize,
}

/// The kernels of one instruction set, and the proof (M5) that the CPU has it.
///
/// Strides and steps are signed and count elements. The defaults are the portable kernels.
pub(crate) trait Isa: Copy + Send + Sync {
    /// Whether products and sums can be fused.
    type Arith: Arith;

    /// Compiles `f`, and whatever is inlined into it, for this instruction set. A closure works; a
    /// type whose `call` is `#[inline(always)]` is sure to be inlined.
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output;

    /// Copies `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for `src[i]` and `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn run<L: Lane>(self, src: *const L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::run(src, dst, len) }
    }

    /// Writes `value` to `len` adjacent elements.
    ///
    /// # Safety
    ///
    /// M2 for `dst[i]`, `i < len`.
    #[inline(always)]
    unsafe fn fill<L: Lane>(self, value: L, dst: *mut L, len: usize, stores: Stores) {
        let _ = stores;
        // SAFETY: M2 is the caller's.
        unsafe { portable::fill(value, dst, len) }
    }

    /// Collects `len` elements `step` apart: `dst[i] = src[i * step]`. A step of -1 reverses.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements, `i < len`.
    #[inline(always)]
    unsafe fn gather_run<L: Lane>(
        self,
        src: *const L,
        step: isize,
        dst: *mut L,
        len: usize,
        stores: Stores,
    ) {
        let _ = stores;
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::gather::<L>(src.cast(), step * L::WIDTH as isize, dst.cast(), len) }
    }

    /// Spreads `len` elements `step` apart: `dst[i * step] = src[i]`.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements, `i < len`.
    #[inline(always)]
    unsafe fn scatter_run<L: Lane>(self, src: *const L, dst: *mut L, step: isize, len: usize) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::scatter::<L>(src.cast(), dst.cast(), step * L::WIDTH as isize, len) }
    }

    /// Transposes: `dst[v * dst_stride + u] = src[u * src_stride + v]` for `u < nu` and `v < nv`.
    ///
    /// Small extents are the interleaving of a few planes into pixels (`nu`), or the reverse (`nv`).
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
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
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { portable::transpose::<L>(plane) }
    }

    /// Copies `len` adjacent elements at every turn of a loop, whose strides are the destination's and the source's. The gaps are not read.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn runs<L: Lane>(self, src: *const L, dst: *mut L, len: usize, turns: Loop<2>) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { short::runs(self, src, dst, len, turns) }
    }

    /// Writes one element to `len` adjacent ones at every turn of a loop, whose strides are the destination's and the source's. The gaps are not read.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
    #[inline(always)]
    unsafe fn fills<L: Lane>(self, src: *const L, dst: *mut L, len: usize, turns: Loop<2>) {
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { short::fills(src, dst, len, turns) }
    }

    /// [`Isa::transpose`] with streamed stores of whole lines, if the level has them and `dst_stride` is
    /// a multiple of a line, so that all rows start alike; with plain stores of the rest.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements.
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
        // SAFETY: M1, M2, M3 are the caller's.
        unsafe { self.transpose(src, src_stride, dst, dst_stride, nu, nv) }
    }

    /// Are there streamed transposes of rows that do not start where lines do?
    const CARRIES: bool = false;

    /// [`Isa::transpose`] with streamed stores of whole lines, for rows that start anywhere: what does not fill a line is kept in `carry`, a line for each
    /// row, until the columns that follow. [`Isa::finish_carried`] writes the last of it.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for these elements. The level [carries](Isa::CARRIES), `nu` is a multiple of a line, addresses and steps in bytes are multiples of 4;
    /// `carry` is aligned and has `nv` lines, which hold what the columns before left in them unless these are the `first` ones.
    #[inline(always)]
    unsafe fn transpose_carried<L: Lane>(
        self,
        (src, src_stride): (*const L, isize),
        (dst, dst_stride): (*mut L, isize),
        (nu, nv): (usize, usize),
        carry: *mut u8,
        first: bool,
    ) {
        let _ = (carry, first);
        // SAFETY: the caller's contract.
        unsafe { self.transpose(src, src_stride, dst, dst_stride, nu, nv) }
    }

    /// Writes what [`Isa::transpose_carried`] has left in `carry`; `dst` is where the columns that would follow start.
    ///
    /// # Safety
    ///
    /// Rows and `carry` as there.
    #[inline(always)]
    unsafe fn finish_carried(self, dst: *mut u8, dst_step: isize, nv: usize, carry: *const u8) {
        let _ = (dst, dst_step, nv, carry);
    }

    /// Moves rows of columns from scratch to memory. What does not fill a line may stay in scratch, `back` bytes towards the front, and leaves with the
    /// columns that follow.
    ///
    /// # Safety
    ///
    /// M1, M2, M3 for the rows; columns that are not the `first` follow those that the last call moved. In scratch the row's line before, and the line
    /// after, can be read and written; `src` and `dst` are at the same place within a line, in every row.
    #[inline(always)]
    unsafe fn flush(self, rows: Rows) {
        for r in 0..rows.count as isize {
            let (src, dst) = (
                rows.src.wrapping_offset(r * rows.src_step),
                rows.dst.wrapping_offset(r * rows.dst_step),
            );
            // SAFETY: the caller's.
            unsafe { portable::run(src.cast_const(), dst, rows.bytes) };
        }
    }

    /// Makes streamed stores visible before any store that follows.
    #[inline(always)]
    fn fence(self) {}
}

/// The portable instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Isa for Scalar {
    type Arith = Baseline;

    #[inline(always)]
    fn vectorize<F: NullaryFnOnce>(self, f: F) -> F::Output {
        f.call()
    }
}

/// Work to be compiled for an instruction set that is chosen at run time.
pub(crate) trait Kernel {
    /// What the work gives back.
    type Output;

    /// The work. Implementations are `#[inline(always)]`, and so is all they call.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// Runs `kernel` compiled for `level`.
///
/// # Panics
///
/// When this CPU lacks `level`; [`SimdLevel::is_available`] tells.
pub(crate) fn dispatch<K: Kernel>(level: SimdLevel, kernel: K) -> K::Output {
    match level {
        SimdLevel::Scalar => compiled_for(Scalar, kernel),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V3 => compiled_for(v3::Avx2::new().unwrap_or_else(|| missing(level)), kernel),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V4 => compiled_for(v4::Avx512::new().unwrap_or_else(|| missing(level)), kernel),
        _ => missing(level),
    }
}

/// Whether this CPU has `level` and this build has kernels for it.
pub(crate) fn has(level: SimdLevel) -> bool {
    match level {
        SimdLevel::Scalar => true,
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V3 => v3::Avx2::new().is_some(),
        #[cfg(target_arch = "x86_64")]
        SimdLevel::V4 => v4::Avx512::new().is_some(),
        _ => false,
    }
}

#[cold]
fn missing(level: SimdLevel) -> ! {
    panic!("SIMD level {level} is not available on this CPU")
}

/// Runs `kernel` inside `isa`.
fn compiled_for<I: Isa, K: Kernel>(isa: I, kernel: K) -> K::Output {
    isa.vectorize(OnIsa { isa, kernel })
}

/// A kernel and its instruction set, so that the call is sure to be inlined: a closure cannot carry
/// `#[inline(always)]`.
struct OnIsa<I, K> {
    isa: I,
    kernel: K,
}

impl<I: Isa, K: Kernel> NullaryFnOnce for OnIsa<I, K> {
    type Output = K::Output;

    #[inline(always)]
    fn call(self) -> K::Output {
        self.kernel.run(self.isa)
    }
}
