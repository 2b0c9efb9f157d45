//! Elementwise operations on a drawn view: the operation, and the layouts of its other operands.

use tensor_kernels::DType;

use super::{Family, Random};
use crate::{
    Result,
    cases::{operand::Operand, view_op::ViewOp},
    suite::{Case, Op},
};

/// The operations that are drawn, as far as the element type has them.
const OPS: [Op; 9] =
    [Op::Add, Op::Mul, Op::Sub, Op::Relu, Op::Neg, Op::Sqrt, Op::Exp, Op::MulAdd, Op::Cast];

/// An operation whose first operand is the view.
pub(super) fn case(random: &mut Random, family: Family, first: Operand) -> Result<Case> {
    let op = op(random, family, first.dtype);
    let out = if op == Op::Cast { cast_to(first.dtype) } else { op.usual_result(first.dtype) };
    let mut operands = vec![first];
    while operands.len() < op.arity() {
        operands.push(other(random, family, &operands[0])?);
    }
    Ok(Case { group: String::new(), id: String::new(), op, out, operands, dims: vec![] })
}

fn op(random: &mut Random, family: Family, dtype: DType) -> Op {
    let able = |op: &Op| op.takes(dtype) && (family != Family::Mixed || op.arity() > 1);
    let ops: Vec<Op> = OPS.into_iter().filter(able).collect();
    // A cast is left where nothing else is: booleans.
    if ops.is_empty() { Op::Cast } else { random.one_of(&ops) }
}

fn cast_to(dtype: DType) -> DType {
    if dtype == DType::F32 { DType::F64 } else { DType::F32 }
}

/// How another operand lies.
#[derive(Clone, Copy)]
enum Lies {
    Contiguous,
    AsTheFirst,
    Reordered,
    Broadcast,
}

fn other(random: &mut Random, family: Family, first: &Operand) -> Result<Operand> {
    let ways = [
        (Lies::Contiguous, 45),
        (Lies::Reordered, 25),
        (Lies::AsTheFirst, 15),
        (Lies::Broadcast, 15),
    ];
    let lies = if family == Family::Mixed { Lies::Reordered } else { random.weighted(&ways) };
    let shape = first.layout.shape();
    let (base, ops) = match lies {
        Lies::Contiguous => (shape.to_vec(), vec![]),
        Lies::AsTheFirst => (first.base.clone(), first.ops.clone()),
        Lies::Reordered => reordered(random, shape),
        Lies::Broadcast => broadcast(random, shape),
    };
    Ok(Operand::new(first.dtype, base, ops)?)
}

/// A dense array of another order of dimensions, permuted to the shape.
fn reordered(random: &mut Random, shape: &[usize]) -> (Vec<usize>, Vec<ViewOp>) {
    let order = random.other_order(shape.len());
    let base = order.iter().map(|&dim| shape[dim]).collect();
    let mut back = vec![0; shape.len()];
    for (at, &dim) in order.iter().enumerate() {
        back[dim] = at as isize;
    }
    (base, vec![ViewOp::Permute(back)])
}

/// An array that some dimensions of the shape repeat.
fn broadcast(random: &mut Random, shape: &[usize]) -> (Vec<usize>, Vec<ViewOp>) {
    let repeated = random.between(0, shape.len() - 1);
    let size = |random: &mut Random, dim: usize, size: usize| {
        if dim == repeated || random.chance(30) { 1 } else { size }
    };
    let base = shape.iter().enumerate().map(|(dim, &full)| size(random, dim, full)).collect();
    (base, vec![ViewOp::Expand(shape.iter().map(|&size| size as isize).collect())])
}
