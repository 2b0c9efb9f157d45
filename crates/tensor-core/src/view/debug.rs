//! The text of views and tensors for debugging.

use std::{any::type_name, fmt};

use super::{TensorViewBase, TensorViewMutBase};
use crate::Layout;

impl<T: Copy + fmt::Debug, K> fmt::Debug for TensorViewBase<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe::<T>(&mut f.debug_struct("TensorView"), &self.layout)
            .field("elements", &FirstElements(self))
            .finish()
    }
}

impl<T: Copy + fmt::Debug, K> fmt::Debug for TensorViewMutBase<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe::<T>(&mut f.debug_struct("TensorViewMut"), self.layout())
            .field("elements", &FirstElements(&self.as_view()))
            .finish()
    }
}

/// Element type, sizes, strides and offset, for debugging.
pub(crate) fn describe<'f, 'a, 'b, T>(
    text: &'f mut fmt::DebugStruct<'a, 'b>,
    layout: &Layout,
) -> &'f mut fmt::DebugStruct<'a, 'b> {
    text.field("dtype", &format_args!("{}", type_name::<T>()))
        .field("shape", &layout.shape())
        .field("strides", &layout.strides())
        .field("offset", &layout.offset())
}

/// The first elements in logical order, for debugging.
pub(crate) struct FirstElements<'v, 'a, T, K>(pub(crate) &'v TensorViewBase<'a, T, K>);

impl<T: Copy + fmt::Debug, K> fmt::Debug for FirstElements<'_, '_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        let mut list = f.debug_list();
        list.entries(self.0.iter().take(SHOWN));
        if self.0.numel() > SHOWN { list.finish_non_exhaustive() } else { list.finish() }
    }
}
