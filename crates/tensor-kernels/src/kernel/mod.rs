//! Leaf kernels: they move or combine the elements of one block.
//!
//! Input: raw pointers, strides and extents of a block that `run` has cut and checked. Output: the
//! elements, copied or combined, in the destination's order. Nothing here knows layouts, plans or
//! threads.
//!
//! A copy kernel exists per element *width*, the [`Unit`]: an `f32` and a `u32` are copied by the
//! same code. Each kernel is written once, over registers made of 128-bit lanes, and compiled per
//! instruction set:
//!
//! - `portable` is plain Rust. It is the fallback on every CPU, and handles the elements that do
//!   not fill a register.
//! - `generic` defines what a register can do (`register`) and holds the kernels over any such
//!   register.
//! - `x86` and `aarch64` define the registers of an architecture: AVX2, AVX-512, NEON.
//!
//! [`dispatch()`] turns a [`SimdLevel`](crate::SimdLevel) into an [`Isa`], the proof that the CPU
//! has the instructions, and compiles a whole [`Kernel`] for it. Everything that a kernel calls
//! must be `#[inline(always)]`. A function that is not inlined is compiled for the target's
//! baseline, and every intrinsic in it becomes a call. Kernels too large to inline at every call
//! site go through [`vectorize`](isa::Vectorize::vectorize), which makes them functions of their
//! own, compiled for the same instructions.
//!
//! In debug builds tiles are functions of their own. Without optimisation every value has its own
//! stack slot, and all tiles inlined into one body would need megabytes of stack.
//!
//! # Contract
//!
//! Every unsafe function of this module states its obligations by these numbers. "Element" means
//! `L::WIDTH` bytes of any alignment:
//!
//! - **M1, source.** All bytes from the first of the lowest source element to the last of the
//!   highest are readable, initialised, and written by nobody during the call. Kernels may read the
//!   gaps between elements, never beyond the two ends. The portable kernels, and those for runs
//!   that are not transposed in registers, read no gaps: for them M1 concerns the elements alone.
//! - **M2, destination.** Every destination element is writable and no two indices share a byte.
//!   Kernels write nothing else, gaps included; they may write an element more than once.
//! - **M3, no overlap.** No destination element overlaps the bytes of M1.
//! - **M4, whole lines.** Only inside this module, for non-temporal stores: the destination is
//!   64-byte aligned, its row stride is a multiple of 64 bytes, and each row is a whole number of
//!   cache lines.
//! - **F1, other operands.** Only where an operation is computed: for each destination element that
//!   is written, those of the other operands of the [`Finishing`] can be read, or a register of a
//!   repeated one. They share no byte with the destination. Its address is that of an element of
//!   the result, unless no other operand lies as the result does; that of the source is one of the
//!   transposed operand, if others are transposed too. Elements are floats.
//! - **M5, the CPU.** An [`Isa`] value exists only on a CPU that has its instructions.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(feature = "elementwise")]
mod adjacent_keys;
#[cfg(feature = "elementwise")]
mod arg_reduce;
#[cfg(feature = "elementwise")]
mod compared_rows;
mod dispatch;
#[cfg(feature = "elementwise")]
mod elementwise;
mod fence;
#[cfg(feature = "elementwise")]
mod finished;
#[cfg(feature = "elementwise")]
mod finishes;
#[cfg(feature = "elementwise")]
mod fold;
#[cfg(feature = "elementwise")]
mod function;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod generic;
mod indexed_block;
mod isa;
#[cfg(feature = "elementwise")]
mod kept_columns;
#[cfg(feature = "elementwise")]
mod listed_elements;
pub(crate) mod narrow_runs;
#[cfg(feature = "elementwise")]
mod operation;
#[cfg(feature = "elementwise")]
mod pairwise_tree;
mod portable;
mod prefetch;
#[cfg(feature = "elementwise")]
mod reduced_row;
#[cfg(feature = "elementwise")]
mod reduction;
#[cfg(feature = "elementwise")]
mod register_op;
#[cfg(feature = "elementwise")]
mod row_block;
#[cfg(feature = "elementwise")]
mod row_chunks;
pub(crate) mod short_fills;
pub(crate) mod short_runs;
mod staged_rows;
mod stream_copy;
#[cfg(feature = "elementwise")]
mod strided_rows;
#[cfg(test)]
mod tests;
#[cfg(feature = "in-place")]
mod tile_exchange;
mod transpose_block;
mod unit;
mod units;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(feature = "elementwise")]
pub(crate) use arg_reduce::{ArgOrder, ArgReduction};
pub(crate) use dispatch::dispatch;
#[cfg(feature = "elementwise")]
pub(crate) use elementwise::{Map, Zip, Zip3};
pub(crate) use fence::FenceOnDrop;
#[cfg(feature = "elementwise")]
pub(crate) use finished::Finished;
#[cfg(feature = "elementwise")]
pub(crate) use function::{Closure, Function1, Function2, Function3};
#[cfg(feature = "elementwise")]
pub(crate) use isa::Vectorize;
pub(crate) use isa::{Isa, Kernel};
#[cfg(feature = "elementwise")]
pub(crate) use operation::{Compute, Operation, OperationOf};
pub(crate) use prefetch::prefetch;
#[cfg(feature = "elementwise")]
pub(crate) use prefetch::prefetch_bytes;
#[cfg(feature = "elementwise")]
pub(crate) use reduction::{
    AccumulatorRows, Fold, FoldBlock, FoldReduction, ListedElements, Reduction, ReductionOf,
};
#[cfg(feature = "elementwise")]
pub(crate) use register_op::{Finish, Finishing, OtherOperand, RegisterOp};
#[cfg(feature = "elementwise")]
pub(crate) use row_block::RowBlock;
#[cfg(feature = "elementwise")]
pub(crate) use row_chunks::chunk;
pub(crate) use staged_rows::StagedRows;
pub use stream_copy::stream_copy;
#[cfg(feature = "elementwise")]
pub(crate) use strided_rows::StridedRows;
#[cfg(feature = "in-place")]
pub(crate) use tile_exchange::TileExchange;
pub(crate) use transpose_block::Residency;
pub(crate) use unit::Unit;
pub(crate) use units::{Rows, Units};
