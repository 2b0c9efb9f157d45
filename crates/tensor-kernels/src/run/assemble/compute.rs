//! Parts of a result that are computed, as operations on rows do.

use tensor_core::{Element, Result, ViewRef};

use super::Part;
use crate::{
    exec::Exec,
    kernel::OperationOf,
    nest::check_shapes,
    run::{
        elementwise::compute1,
        operands::{Destination, Input},
    },
};

impl<T: Element, W: Destination<T>> Part<'_, T, W> {
    /// Writes all elements: a function of those of a view of the same shape.
    pub(crate) fn compute_from<A: Element>(
        mut self,
        exec: &Exec,
        operation: OperationOf<'_, 2, (A, T)>,
        from: ViewRef<'_, A>,
    ) -> Result<()> {
        check_shapes(from.layout(), self.view.layout())?;
        compute1(exec, operation, &mut (&mut self.view).into(), Input::View(from));
        self.count();
        Ok(())
    }
}
