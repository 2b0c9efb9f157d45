//! Equality within tolerances for operands of different dtypes.
//!
//! Both are compared in the common dtype, to which another one is converted: a part at a time, of
//! those that [`all_parts`] asks for. So no operand is held twice, and nothing is converted behind
//! the first difference.

use tensor_core::{AnyOperand, AsOperand, Bare, Element, Layout, Operand, Result, TensorView};

use super::{
    convert::{CastAny, Converted, typed_operand},
    rows::compared_type,
};
use crate::{
    api::{
        call::Call,
        parts::{Block, PART_BYTES, Pair, all_parts},
        rows::{Tolerance, all_close, allclose as typed_allclose},
        types::match_dtype,
    },
    element::Real,
    exec::Exec,
};

const OP: &str = "allclose";

#[track_caller]
pub(super) fn allclose<K>(
    a: &AnyOperand<'_, K>,
    b: &AnyOperand<'_, K>,
    tolerance: Tolerance,
) -> Result<bool> {
    let exec = Exec::current()?;
    match_dtype!(Real, compared_type(a, b)?, OP, T => {
        match (Converted::<T, K>::unconverted(a)?, Converted::<T, K>::unconverted(b)?) {
            (Ok(a), Ok(b)) => typed_allclose(exec, a, b, tolerance),
            _ => by_parts::<T, K>(exec, [a, b], tolerance.check()?),
        }
    })
}

/// Compared as elements of type `T`, of which one operand is not.
fn by_parts<T: CastAny + Real, K>(
    exec: &Exec,
    [a, b]: [&AnyOperand<'_, K>; 2],
    tolerance: Tolerance,
) -> Result<bool> {
    let shape = Call::new(exec, OP).broadcast_pair(a.shape(), b.shape())?;
    let serial = exec.serial();
    let numel = shape.iter().fold(1_usize, |numel, &size| numel.saturating_mul(size));
    if numel.saturating_mul(size_of::<T>()) <= PART_BYTES {
        let (a, b) = (converted::<T, K>(a)?, converted::<T, K>(b)?);
        return all_close(&serial, a.operand(), b.operand(), tolerance);
    }
    with_parts(a, &shape, &mut |a: &dyn Parts<T>| {
        with_parts(b, &shape, &mut |b: &dyn Parts<T>| {
            let (layouts, item_bytes) = ([a.layout(), b.layout()], [a, b].map(Parts::item_bytes));
            all_parts(exec, Pair { layouts, item_bytes }, &|block| {
                a.with_part(block, &mut |a| {
                    b.with_part(block, &mut |b| all_close(&serial, a.clone(), b, tolerance))
                })
            })
        })
    })
}

/// An operand that is read as elements of type `T`.
trait Parts<T: Element>: Sync {
    fn layout(&self) -> &Layout;

    /// The bytes of the wider one of an element and what it is converted to.
    fn item_bytes(&self) -> usize;

    /// Calls `act` with the elements of a block, and returns what it returns.
    fn with_part(&self, block: &Block, act: ActOnPart<'_, T>) -> Result<bool>;
}

type ActOnPart<'f, T> = &'f mut dyn FnMut(Operand<'_, T>) -> Result<bool>;

/// Elements of type `T`.
struct Typed<'v, T: Element>(TensorView<'v, T>);

impl<T: Element> Parts<T> for Typed<'_, T> {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn item_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn with_part(&self, block: &Block, act: ActOnPart<'_, T>) -> Result<bool> {
        act(block.of(&self.0)?.as_operand())
    }
}

/// Elements of another type.
struct Other<'v, A: Element>(TensorView<'v, A>);

impl<T: CastAny, A: Element> Parts<T> for Other<'_, A>
where
    for<'p> &'p TensorView<'p, A>: Into<AnyOperand<'p, Bare>>,
{
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn item_bytes(&self) -> usize {
        size_of::<T>().max(size_of::<A>())
    }

    fn with_part(&self, block: &Block, act: ActOnPart<'_, T>) -> Result<bool> {
        let part = block.of(&self.0)?;
        act(converted::<T, Bare>(&(&part).into())?.operand())
    }
}

/// A small operand as elements of type `T`. The ledger has no copies of parts.
fn converted<'x, T: CastAny, K>(operand: &'x AnyOperand<'_, K>) -> Result<Converted<'x, T, K>> {
    Ok(match Converted::unconverted(operand)? {
        Ok(typed) => Converted::Operand(typed),
        Err(other) => Converted::Copy(T::cast_any(other)?),
    })
}

/// Calls `act` with an operand, broadcast to a shape and borrowed, and returns what it returns.
fn with_parts<T: CastAny, K>(
    operand: &AnyOperand<'_, K>,
    shape: &[usize],
    act: &mut dyn FnMut(&dyn Parts<T>) -> Result<bool>,
) -> Result<bool> {
    match Converted::<T, K>::unconverted(operand)? {
        Ok(typed) => act(&Typed(typed.read()?.elements().to_view::<Bare>().broadcast_to(shape)?)),
        Err(other) => match_dtype!(Equality, other.dtype(), OP, A => {
            let other = typed_operand::<A>(other)?;
            let reading = other.read()?;
            act(&Other(reading.elements().to_view::<Bare>().broadcast_to(shape)?))
        }),
    }
}
