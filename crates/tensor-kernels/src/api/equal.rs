//! Equality of tensors whose elements lie in different orders.
//!
//! A comparison walks both operands at once, so one of them is read with long steps. A copy reads
//! it by cache lines, so a part of it is copied first, into the order of the other operand, and
//! compared while it is cached: 4 million transposed floats take an eighth of the time (Zen 5).
//! Large operands are compared by several threads, until one finds a difference.

use std::cmp::Reverse;

use tensor_core::{Element, Layout, Result, TensorBase, TensorView, ViewRef};

use super::{
    compiled::compiled_function,
    parts::{Pair, all_parts, dim_to_cut, tasks},
    tensor::Simd,
};
use crate::{exec::Exec, run};

/// The bytes of a part. Both parts and the lines that a transpose reads stay in the caches, and
/// allocators do not map memory of this size anew each time.
const PART_BYTES: usize = 64 << 10;

/// Same shape and equal elements?
pub(super) fn equal<T: Element + PartialEq>(
    exec: &Exec,
    a: ViewRef<'_, T>,
    b: ViewRef<'_, T>,
) -> Result<bool> {
    find_equal::<T>()(exec, a, b)
}

compiled_function! {
    find_equal<T: PartialEq>: fn(&Exec, ViewRef<'_, T>, ViewRef<'_, T>) -> Result<bool>
        = equal_elements for f32 f64 i64 i32 u8 bool
}

fn equal_elements<T: Element + PartialEq>(
    exec: &Exec,
    a: ViewRef<'_, T>,
    b: ViewRef<'_, T>,
) -> Result<bool> {
    let (a, b) = (a.to_view(), b.to_view());
    if a.shape() != b.shape() {
        return Ok(false);
    }
    let (is_one_order, serial) = (nearest(a.layout()) == nearest(b.layout()), exec.serial());
    let equal = |a: &TensorView<'_, T>, b: &TensorView<'_, T>| {
        if is_one_order { Ok(*a == *b) } else { parts_equal(&serial, a, b) }
    };
    let bytes = a.numel().saturating_mul(2 * size_of::<T>());
    if tasks(exec, bytes) == 1 {
        return equal(&a, &b);
    }
    let pair = Pair { layouts: [a.layout(), b.layout()], item_bytes: [size_of::<T>(); 2] };
    all_parts(exec, pair, &|block| equal(&block.of(&a)?, &block.of(&b)?))
}

/// The dimension with the smallest stride.
fn nearest(layout: &Layout) -> Option<usize> {
    let longer = (0..layout.ndim()).filter(|&d| layout.shape()[d] > 1);
    longer.min_by_key(|&d| (layout.strides()[d].unsigned_abs(), Reverse(d)))
}

/// Compares operands of one shape, part by part.
fn parts_equal<T: Element + PartialEq>(
    exec: &Exec,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
) -> Result<bool> {
    match dim_to_cut(a.shape(), [a.layout(), b.layout()], size_of::<T>()) {
        Some(dim) if a.numel().saturating_mul(size_of::<T>()) > PART_BYTES => {
            let (dim, half, size) = (dim as isize, a.shape()[dim] / 2, a.shape()[dim]);
            let half_equal = |start: usize, len: usize| {
                let start = start as isize;
                parts_equal(exec, &a.narrow(dim, start, len)?, &b.narrow(dim, start, len)?)
            };
            Ok(half_equal(0, half)? && half_equal(half, size - half)?)
        }
        _ => {
            let in_order: TensorBase<T, Simd> =
                run::copied(exec, b.into(), a.layout().preserved()?)?;
            Ok(*a == in_order.read()?.as_view())
        }
    }
}
