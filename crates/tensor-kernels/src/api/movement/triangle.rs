//! The triangles of matrices.

use tensor_core::{
    AsOperand, Int, Layout, MovementError, Operand, Output, Result, Scalar, TensorBase, TensorView,
};

use super::{Assemble, assembled, through_copy, with_slice};
use crate::{
    api::{call::Call, tensor::Simd},
    exec::Exec,
    run::{Destination, Part},
};

/// For each triangle: its functions.
macro_rules! triangles {
    ($(
        $(#[$doc:meta])* $name:ident, $into:ident, $eval:ident, $write:ident, $upper:literal;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// Fewer than two dimensions ([`Error::Movement`](crate::Error::Movement)).
        #[track_caller]
        pub fn $name<T: Scalar>(
            exec: &Exec,
            a: impl AsOperand<T>,
            diagonal: impl Int,
        ) -> Result<TensorBase<T, Simd>> {
            $eval(Call::new(exec, stringify!($name)), &a.as_operand(), diagonal.saturated())
        }

        #[doc = concat!("[`", stringify!($name), "`] into a given result.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($name), "`];")]
        /// a result of another shape, or that shares elements with the operand or with itself.
        #[track_caller]
        pub fn $into<'o, T: Scalar>(
            exec: &Exec,
            a: impl AsOperand<T>,
            diagonal: impl Int,
            out: impl Into<Output<'o, T>>,
        ) -> Result<()> {
            let call = Call::new(exec, stringify!($name));
            $write(call, &a.as_operand(), diagonal.saturated(), out.into())
        }

        assembled! {
            $eval, $write, T: Scalar; a: T, "a";
            |call, diagonal: isize| Triangle::new(call, a, diagonal, $upper)?
        }
    )*};
}

triangles! {
    /// The matrices with 0 above a diagonal: the main one for 0, others above it for positive
    /// numbers, in a new contiguous tensor (PyTorch: `torch.tril`).
    ///
    /// ```
    /// use tensor_kernels::{Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let mask = ops::tril(exec, &Tensor::full([3, 3], true)?, 0)?;
    /// assert_eq!(mask.select(0, 1)?.to_vec()?, [true, true, false]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    tril, tril_into, tril_eval, tril_write, false;
    /// The matrices with 0 below a diagonal: the main one for 0, others above it for positive
    /// numbers, in a new contiguous tensor (PyTorch: `torch.triu`).
    ///
    /// ```
    /// use tensor_kernels::{Exec, Tensor, ops};
    ///
    /// let exec = Exec::current()?;
    /// let x = Tensor::arange(1i32, 5, 1)?.view([2, 2])?;
    /// assert_eq!(ops::triu(exec, &x, 1)?.to_vec()?, [0, 2, 0, 0]);
    /// # Ok::<(), tensor_kernels::Error>(())
    /// ```
    triu, triu_into, triu_eval, triu_write, true;
}

struct Triangle<'v, T> {
    view: TensorView<'v, T>,
    diagonal: isize,
    upper: bool,
    layout: Layout,
}

impl<'v, T: Scalar> Triangle<'v, T> {
    fn new(call: Call<'_>, view: TensorView<'v, T>, diagonal: isize, upper: bool) -> Result<Self> {
        if view.ndim() < 2 {
            return Err(MovementError::NoMatrix { op: call.op, ndim: view.ndim() }.into());
        }
        Ok(Self { layout: Layout::contiguous(view.shape())?, view, diagonal, upper })
    }

    /// The number of elements of a row before the upper triangle, or of those of the lower one.
    fn boundary(&self, row: usize, columns: usize) -> usize {
        let below = self.diagonal.saturating_add(isize::from(!self.upper));
        (row as isize).saturating_add(below).clamp(0, columns as isize) as usize
    }
}

impl<T: Scalar> Assemble<T> for Triangle<'_, T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn write<W: Destination<T>>(&self, call: Call<'_>, part: Part<'_, T, W>) -> Result<()> {
        if !part.layout().is_contiguous() {
            return through_copy(call, self, part);
        }
        let &[.., height, columns] = self.layout.shape() else { return Ok(()) };
        with_slice(call, &self.view, |elements| {
            part.write_rows(call.exec, columns, &|rows, writer| {
                for row in rows {
                    let elements = &elements[row * columns..][..columns];
                    let boundary = self.boundary(row % height, columns);
                    let (before, after) = elements.split_at(boundary);
                    if self.upper {
                        writer.repeated(T::default(), before.len());
                        writer.slice(after);
                    } else {
                        writer.slice(before);
                        writer.repeated(T::default(), after.len());
                    }
                }
            })
        })
    }
}
