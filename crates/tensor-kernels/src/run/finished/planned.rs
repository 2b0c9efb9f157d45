//! How an operation would be computed in registers, for explanations.

use tensor_core::Layout;

use super::{Role, Way, has_enough_elements, machine_in_registers, planned};
use crate::{
    exec::{Exec, Machine},
    kernel::RegisterOp,
    plan::Work,
};

/// How an operation on operands of these layouts is computed in registers, for explanations; `None`
/// if it is not. Which operands are the same memory is not known here: none is the result.
pub(crate) fn planned_in_registers<const N: usize>(
    exec: &Exec,
    op: RegisterOp,
    layouts: &[&Layout; N],
    width: usize,
    machine: &Machine,
) -> Option<PlannedInRegisters<N>> {
    if !has_enough_elements::<N>(layouts[0]) {
        return None;
    }
    let machine = &machine_in_registers(layouts, width, machine);
    let way = Way::new(exec, op, layouts, width, machine)?;
    let work = planned(&way.copy_of(way.transposed, way.machine));
    let is_run = (way.packed().next().is_none() || way.may_pack()) && way.runs(&work);
    let scratch_bytes = way.packed_bytes();
    is_run.then(|| PlannedInRegisters { roles: way.roles, scratch_bytes, work })
}

/// See [`planned_in_registers`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedInRegisters<const N: usize> {
    /// Of the result and the inputs.
    pub(crate) roles: [Role; N],
    pub(crate) scratch_bytes: usize,
    /// The copy that computes.
    pub(crate) work: Work,
}
