//! Runs plans: each task chooses its instruction set once, walks its loops, and calls its kernels.

mod allocate;
#[cfg(feature = "elementwise")]
mod assemble;
mod blocked;
#[cfg(feature = "elementwise")]
mod bounce;
#[cfg(feature = "elementwise")]
mod computed;
mod copy;
#[cfg(feature = "elementwise")]
mod elementwise;
#[cfg(feature = "elementwise")]
mod few;
#[cfg(feature = "elementwise")]
mod few_loops;
#[cfg(feature = "elementwise")]
mod few_transposes;
#[cfg(feature = "elementwise")]
mod finished;
mod grouped;
#[cfg(feature = "in-place")]
mod in_place;
mod item_layout;
mod items;
mod kept_copy;
#[cfg(feature = "elementwise")]
mod levels;
#[cfg(feature = "elementwise")]
mod line_writer;
mod listed;
mod offsets;
mod operands;
#[cfg(feature = "elementwise")]
mod pack;
mod packed_source;
mod plan_cache;
mod plan_slot;
#[cfg(feature = "elementwise")]
mod reduce;
#[cfg(feature = "elementwise")]
mod reduce_part;
#[cfg(feature = "reductions")]
mod reduced;
mod regions;
mod shuffled;
#[cfg(feature = "elementwise")]
mod small;
mod stream;
mod streamed_groups;
#[cfg(feature = "elementwise")]
mod strided;
mod tile_plans;
#[cfg(feature = "elementwise")]
mod tiled_elementwise;
mod tiny;
mod walk;
mod workspace;

pub(crate) use allocate::{copied, copied_to_vec, copy_into_uninit};
#[cfg(feature = "elementwise")]
pub(crate) use assemble::{Part, RowWriter, assemble_into, assembled};
#[cfg(feature = "elementwise")]
pub(crate) use computed::{computed1, computed2, computed3};
pub(crate) use copy::{CopyOperands, copy};
#[cfg(feature = "elementwise")]
pub(crate) use elementwise::{
    compute_views1, compute_views2, compute_views3, compute1, compute2, compute3,
};
#[cfg(feature = "elementwise")]
pub(crate) use finished::{PlannedInRegisters, Role, planned_in_registers};
#[cfg(feature = "in-place")]
pub(crate) use in_place::{permute_elements, permute_items};
pub(crate) use item_layout::ItemLayout;
pub(crate) use items::{
    Source, Target, copy_items, copy_items_kept, copy_items_kept_uninit, copy_items_uninit,
    items_to_vec, plan_items,
};
pub(crate) use kept_copy::{KeptCopy, copy_kept, copy_kept_uninit};
#[cfg(feature = "elementwise")]
pub(crate) use operands::{Destination, Erased, Input};
#[cfg(feature = "elementwise")]
pub(crate) use reduce::reduce_erased;
#[cfg(feature = "reductions")]
pub(crate) use reduced::{reduce, reduced};
