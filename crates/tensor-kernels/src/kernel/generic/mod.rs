//! The kernels over any register type: written once, compiled for each instruction set that
//! implements [`Registers`](register::Registers).

pub(super) mod across_lanes;
mod byte_tiles;
mod copy;
mod destination_ahead;
#[cfg(feature = "in-place")]
mod exchange;
mod few_rows;
mod finish;
#[cfg(feature = "elementwise")]
mod finished_rows;
#[cfg(feature = "elementwise")]
mod finishes;
mod gather;
mod indexed;
mod interleave;
mod isa;
mod narrow_runs;
mod pick;
mod picked_blocks;
mod picked_copy;
pub(super) mod register;
mod row_writer;
mod shuffled;
mod shuffles;
mod source;
mod source_ahead;
mod stitch;
mod stitch_indexed;
mod strips;
mod tiles_apart;
mod transpose;
mod unroll;
