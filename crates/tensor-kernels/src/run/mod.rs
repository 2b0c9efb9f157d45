//! Runs plans: each task chooses its instruction set once, walks its loops, and calls its kernels.

mod allocate;
mod assemble;
mod blocked;
mod bounce;
mod copy;
mod elementwise;
mod grouped;
mod in_place;
mod item_layout;
mod items;
mod levels;
mod offsets;
mod operands;
mod pack;
mod plan_cache;
mod reduce;
mod reduce_part;
mod small;
mod stream;
mod tiled_elementwise;
mod tiny;
mod walk;
mod workspace;

pub(crate) use allocate::{
    computed1, computed2, computed3, copied, copied_to_vec, copy_into_uninit, reduced,
};
pub(crate) use assemble::{Part, RowWriter, assemble_into, assembled};
pub(crate) use copy::{CopyOperands, copy, copy_planned};
pub(crate) use elementwise::{compute1, compute2, compute3};
pub(crate) use in_place::{permute_elements, permute_items};
pub(crate) use item_layout::ItemLayout;
pub(crate) use items::{
    Source, Target, copy_items, copy_items_planned, copy_items_planned_uninit, copy_items_uninit,
    items_to_vec, plan_items,
};
pub(crate) use operands::{Destination, Erased, Input};
pub(crate) use reduce::{reduce, reduce_erased};
