//! A view as code outside of the library is given it: the elements and the layout over them.

use tensor_kernels::{Element, Layout, TensorView};

use crate::Result;

/// Elements under a layout that stays within them.
#[derive(Debug)]
pub struct Strided<'a, T> {
    elements: &'a [T],
    layout: &'a Layout,
}

impl<T> Clone for Strided<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Strided<'_, T> {}

impl<'a, T: Element> Strided<'a, T> {
    /// Pairs the two.
    ///
    /// # Errors
    /// A layout that reaches beyond the elements.
    pub fn new(elements: &'a [T], layout: &'a Layout) -> Result<Self> {
        layout.check_within(elements.len(), size_of::<T>())?;
        Ok(Strided { elements, layout })
    }

    /// The same as the library has it.
    ///
    /// # Errors
    /// None: the layout was checked.
    pub fn view(&self) -> Result<TensorView<'a, T>> {
        Ok(TensorView::new(self.elements, self.layout.clone())?)
    }
}

impl<'a, T> Strided<'a, T> {
    /// All elements, those between the places of the layout, too.
    pub fn elements(&self) -> &'a [T] {
        self.elements
    }

    /// Where the elements of the view are.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
}
