//! The operations of the records, by name.

use tensor_kernels::{
    AnyOperand, AnyTensor, AnyTensorExt, Error, ReduceDims, Result, Simd, tensor,
};

pub(crate) type Operand<'a> = AnyOperand<'a, Simd>;

macro_rules! by_name {
    ($name:expr, $a:ident, $b:ident: $($method:ident $(as $other:literal)?),*) => {
        match $name {
            $(by_name!(@name $method $(as $other)?) => $a.$method($b),)*
            other => panic!("no operation {other}"),
        }
    };
    (@name $method:ident) => { stringify!($method) };
    (@name $method:ident as $other:literal) => { $other };
}

/// An operation on two operands of which the first is a tensor.
pub(crate) fn binary(op: &str, a: &AnyTensor, b: Operand<'_>) -> Result<AnyTensor> {
    match (op, &b) {
        ("where_cond", _) => {
            let condition = if a.ndim() == 0 && b.shape().is_empty() {
                tensor![true, false, true].into()
            } else {
                AnyTensor::from(tensor![true, false, true])
            };
            return condition.where_cond(a, b);
        }
        ("cat", AnyOperand::Tensor(b)) => return AnyTensor::cat(&[a, b], 0),
        ("stack", AnyOperand::Tensor(b)) => return AnyTensor::stack(&[a, b], 0),
        ("copy_from", AnyOperand::Tensor(b)) => return changed(a, |a| a.copy_from(*b)),
        ("add_inplace", _) => return changed(a, |a| a.add_inplace(b)),
        ("div_inplace", _) => return changed(a, |a| a.div_inplace(b)),
        _ => {}
    }
    by_name!(op, a, b: add, sub, mul, div, div_floor, div_trunc, rem, pow, atan2, minimum, maximum,
        elem_eq as "eq", elem_ne as "ne", elem_lt as "lt", elem_le as "le", elem_gt as "gt",
        elem_ge as "ge", logical_and, logical_or, logical_xor, bitwise_and, bitwise_or, bitwise_xor,
        shl, shr)
}

fn changed(a: &AnyTensor, change: impl FnOnce(&AnyTensor) -> Result<()>) -> Result<AnyTensor> {
    let a = a.deep_clone()?;
    change(&a).map(|()| a)
}

/// An operation on one tensor.
pub(crate) fn unary(op: &str, a: &AnyTensor) -> Result<AnyTensor> {
    let all = ReduceDims::ALL;
    macro_rules! by_name {
        ($($method:ident)*; $($reduction:ident)*) => {
            match op {
                $(stringify!($method) => a.$method(),)*
                $(stringify!($reduction) => a.$reduction(all),)*
                "softmax" => a.softmax(0),
                "log_softmax" => a.log_softmax(0),
                "var" => a.var(all, 1.0),
                "std" => a.std(all, 1.0),
                "norm" => a.norm(all, 2.0),
                "cumsum" => a.cumsum(0),
                "clamp" => a.clamp(1, 2),
                "tril" => a.view([1, 3])?.tril(0),
                "roll" => a.roll([1], [0]),
                other => panic!("no operation {other}"),
            }
        };
    }
    by_name!(neg abs sign recip sqrt rsqrt square exp ln log2 log10 sin cos tanh sigmoid relu gelu
        silu floor ceil round trunc is_nan logical_not bitwise_not;
        sum prod mean min max any all argmin argmax logsumexp)
}

/// The text of an error, without what stands in brackets after PyTorch's sentence.
pub(crate) fn sentence(refused: &Error) -> String {
    let text = refused.to_string();
    text.split(" [").next().unwrap_or_default().to_owned()
}
