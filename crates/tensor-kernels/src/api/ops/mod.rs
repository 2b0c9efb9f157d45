//! The named operations, each for the element types that have it and in three forms:
//!
//! - `add(exec, a, b)` gives a fresh tensor, laid out as PyTorch does;
//! - `add_into(exec, a, b, out)` writes to what is there, whatever its layout (PyTorch: `out=`,
//!   without resizing);
//! - `add_inplace(exec, x, b)` replaces the first operand (PyTorch: `add_`), where the result has
//!   its type.
//!
//! Reductions give one element for many: `sum(exec, a, over)` and `sum_into(exec, a, over, out)`
//! over the dimensions of an [`ReduceDims`](crate::Over), `sum_all(exec, a)` over all of them as a plain
//! value.
//!
//! Operands are tensors, views or single values, in any mixture: whatever [`Operand`] is made from.
//! Results are tensors or mutable views: [`Output`]. The methods of [`TensorExt`](crate::TensorExt)
//! and the operators are the same with [`Exec::current`].
//!
//! ```
//! use tensor_kernels::{Exec, Tensor, ops};
//!
//! let exec = Exec::current()?;
//! let x = Tensor::arange(0.0f32, 6.0, 1.0)?.view(&[2, 3])?;
//! let y = ops::add(exec, &x, 0.5)?;
//! ops::mul_into(exec, 2.0, &x.t()?, &y.t()?)?;
//! ops::sub_inplace(exec, &y, &x.select(0, 0)?)?;
//! assert_eq!(y.to_vec()?, [0.0, 1.0, 2.0, 6.0, 7.0, 8.0]);
//! # Ok::<(), tensor_kernels::Error>(())
//! ```
//!
//! # One storage
//! A result may share its storage with operands. If it is exactly one of them, index by index, that
//! one is computed in place. If it meets one elsewhere the result would depend on the order of the
//! work: that is [`Error::ReadWriteOverlap`] with two indices that meet, or, under
//! [`Overlapping::CopyFirst`], the operand is copied. If it meets itself it is
//! [`Error::WriteOverlap`]. All of that is decided before an element is written.
//!
//! # Reductions
//! `sum`, `prod`, `mean`, `min`, `max`, `argmin`, `argmax`. The input may lie in any way and is
//! read along its memory, whatever dimensions are reduced; a fresh result is contiguous, as
//! PyTorch's. Elements are joined in blocks and as a tree, which depends on the sizes and strides
//! of the input and the result alone: results are the same to the bit on any number of threads,
//! with any instruction set and on any machine. A sum into a result with other strides may differ
//! in the last bits.
//!
//! # Instruction sets and threads
//! No result depends on the number of threads. What is rounded right, or exact, is the same to the
//! bit at every [`SimdLevel`], but for the bits of a NaN: arithmetic with `div`, `sqrt`, `rsqrt`,
//! `recip` and `mul_add`, rounding, comparisons, logic, casts, and reductions. Elementary functions
//! — `exp`, `ln`, `log2`, `log10`, `sin`, `cos`, `atan2`, `tanh`, `sigmoid`, `silu`, `gelu`, and
//! `pow` of f32 and halves — may differ in the last place between [`SimdLevel::Scalar`] and the
//! others, as [`math`] says.
//!
//! # Element types
//! Operands have one element type; [`cast`] converts. Integers wrap around. Where a fraction is
//! asked of integers (`div`, `exp`, `sqrt`, …) the result is f32, PyTorch's default. f16 and bf16
//! compute in f32 and round once. The accuracy of each function stands in [`math`].

mod binary;
mod reduce;
mod ternary;
mod unary;

pub use self::{binary::*, reduce::*, ternary::*, unary::*};

#[cfg(doc)]
use crate::{Error, Exec, Operand, Output, Overlapping, SimdLevel, math};
