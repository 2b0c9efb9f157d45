//! A view as a slice and a layout: the form that the naive loop and other libraries take.

use tensor_kernels::{Element, Layout, TensorView};

use crate::Result;

/// Elements and a layout that stays within them.
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
    /// Checks the layout against the elements.
    ///
    /// # Errors
    /// A layout that is out of bounds.
    pub fn new(elements: &'a [T], layout: &'a Layout) -> Result<Self> {
        layout.check_within(elements.len(), size_of::<T>())?;
        Ok(Strided { elements, layout })
    }

    /// The same as a view of this library.
    ///
    /// # Errors
    /// None: the layout was checked.
    pub fn view(&self) -> Result<TensorView<'a, T>> {
        Ok(TensorView::new(self.elements, self.layout.clone())?)
    }
}

impl<'a, T> Strided<'a, T> {
    /// All elements, also those that the layout skips.
    pub fn elements(&self) -> &'a [T] {
        self.elements
    }

    /// The layout of the view.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
}
