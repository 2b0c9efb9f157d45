//! Reductions of a drawn view: the operation, and the dimensions that are reduced.

use tensor_kernels::DType;

use super::Random;
use crate::{
    cases::operand::Operand,
    suite::{Case, Op},
};

/// The operations that are drawn, as far as the element type has them.
const OPS: [(Op, u64); 4] = [(Op::Sum, 4), (Op::Max, 2), (Op::ArgMax, 1), (Op::Mean, 1)];

/// A reduction of the view; `None` for an element type without reductions.
pub(super) fn case(random: &mut Random, operand: Operand) -> Option<Case> {
    let op = op(random, operand.dtype)?;
    let dims = dims(random, operand.layout.ndim());
    let out = op.usual_result(operand.dtype);
    let (group, id) = (String::new(), String::new());
    Some(Case { group, id, op, out, operands: vec![operand], dims })
}

fn op(random: &mut Random, dtype: DType) -> Option<Op> {
    let able: Vec<_> = OPS.into_iter().filter(|(op, _)| op.takes(dtype)).collect();
    (!able.is_empty()).then(|| random.weighted(&able))
}

/// Any of the dimensions, at least one.
fn dims(random: &mut Random, ndim: usize) -> Vec<usize> {
    let always = random.between(0, ndim - 1);
    (0..ndim).filter(|&dim| dim == always || random.chance(35)).collect()
}
