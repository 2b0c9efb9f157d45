//! The named operations, each in three forms, for the element types that support it:
//!
//! - `add(exec, a, b)` returns a new tensor, with the strides that PyTorch chooses.
//! - `add_into(exec, a, b, out)` writes to a given result of any layout (PyTorch: `out=`, without
//!   resizing).
//! - `add_inplace(exec, x, b)` replaces the first operand (PyTorch: `add_`), if the result has its
//!   type.
//!
//! Reductions: `sum(exec, a, over)` and `sum_into(exec, a, over, out)` reduce the dimensions of a
//! [`ReduceDims`](crate::ReduceDims); `sum_all(exec, a)` reduces all of them to a plain value.
//!
//! Operands are tensors, views or single values, in any mixture: see [`Operand`]. Results are
//! tensors or mutable views: see [`Output`]. The methods of [`TensorExt`](crate::TensorExt) and the
//! operators do the same with [`Exec::current`].
//!
//! ```
//! use tensor_kernels::{Exec, Tensor, ops};
//!
//! let exec = Exec::current()?;
//! let x = Tensor::arange(0.0f32, 6.0, 1.0)?.view([2, 3])?;
//! let y = ops::add(exec, &x, 0.5)?;
//! ops::mul_into(exec, 2.0, &x.t()?, &y.t()?)?;
//! ops::sub_inplace(exec, &y, &x.select(0, 0)?)?;
//! assert_eq!(y.to_vec()?, [0.0, 1.0, 2.0, 6.0, 7.0, 8.0]);
//! # Ok::<(), tensor_kernels::Error>(())
//! ```
//!
//! # Overlap
//! A result may share its storage with operands. If it is exactly one of them, index by index, that
//! operand is computed in place. If they overlap at other indices, the result would depend on the
//! order of the work. That is [`Error::ReadWriteOverlap`] with two overlapping indices, or, under
//! [`Overlapping::CopyFirst`], the operand is copied first. If two indices of the result share an
//! element it is [`Error::WriteOverlap`]. All of this is decided before any element is written.
//!
//! # Moving elements
//! [`cat`], [`stack`], [`pad`], [`roll`], [`repeat_interleave`], [`index_select`], [`take`],
//! [`gather`], [`take_along_dim`], [`scatter`], [`masked_fill`], [`masked_select`], [`tril`],
//! [`triu`]. Operands have any strides and results are new contiguous tensors, as in PyTorch, or
//! given ones of any strides, which share no element with an operand. Indices are i64. All of them
//! are checked before anything is written.
//!
//! # Reductions
//! `sum`, `prod`, `mean`, `min`, `max`, `any`, `all`, `argmin`, `argmax`. The input may have any
//! layout and is read in the order of its memory, whatever dimensions are reduced. A new result is
//! contiguous, as in PyTorch. Elements are combined in blocks and in a tree that depends only on
//! the sizes and strides of the input and the result. So results are bitwise the same for any
//! number of threads, any instruction set and any machine. A sum into a result with other strides
//! may differ in the last bits.
//!
//! ```
//! use tensor_kernels::{Exec, ReduceDims, Tensor, ops};
//!
//! let exec = Exec::current()?;
//! let x = Tensor::arange(0i64, 6, 1)?.view([2, 3])?;
//! assert_eq!(ops::sum(exec, &x, 0)?.to_vec()?, [3, 5, 7]);
//! assert_eq!(ops::sum(exec, &x, ReduceDims::from(-1).keepdim())?.shape(), [2, 1]);
//! assert_eq!(ops::sum(exec, &x, &[0, 1])?.get(&[])?, 15);
//! assert_eq!(ops::sum_all(exec, &x.t()?)?, 15);
//! # Ok::<(), tensor_kernels::Error>(())
//! ```
//!
//! # Rows
//! [`softmax`], [`log_softmax`], [`logsumexp`], [`var`], [`std`](fn@std), [`norm`], [`cumsum`] read
//! rows of any strides in blocks that fit the caches, so memory is read and written once. f16 and
//! bf16 are computed in f32. Results do not depend on the number of threads. Each states its
//! accuracy.
//!
//! # Instruction sets and threads
//! No result depends on the number of threads. Exact and correctly rounded results are bitwise the
//! same at every [`SimdLevel`], except for the bits of a NaN: arithmetic with `div`, `sqrt`,
//! `rsqrt`, `recip` and `mul_add`, rounding, comparisons, logic, casts, and reductions. Elementary
//! functions — `exp`, `ln`, `log2`, `log10`, `sin`, `cos`, `atan2`, `tanh`, `sigmoid`, `silu`,
//! `gelu`, and `pow` of f32 and halves — may differ in the last place between [`SimdLevel::Scalar`]
//! and the others; see [`math`].
//!
//! # Element types
//! Operands have one element type; [`cast`] converts. Integers wrap around. Operations on integers
//! whose results are fractions (`div`, `exp`, `sqrt`, …) return f32, PyTorch's default. f16 and
//! bf16 compute in f32 and round once. [`math`] states the accuracy of each function.

mod binary;
#[cfg(feature = "reductions")]
mod reduce;
#[cfg(feature = "reductions")]
pub(in crate::api) mod reduction_table;
pub(in crate::api) mod table;
mod ternary;
mod unary;

#[cfg(feature = "reductions")]
pub use self::reduce::*;
pub use self::{binary::*, ternary::*, unary::*};
pub use super::movement::*;
#[cfg(feature = "reductions")]
pub use super::rows::*;

#[cfg(doc)]
use crate::{Error, Exec, Operand, Output, Overlapping, SimdLevel, math};
