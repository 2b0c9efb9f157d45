//! The view operations, written once for the three types that have a layout.
//!
//! Each method derives a layout by the method of the same name of [`Layout`](crate::Layout), which
//! documents rules and errors, and pairs it with the same memory. A derived layout reaches only
//! elements that the original reaches. `derive` requires this, and the property tests `chains` and
//! `extremes` check it. `Tensor` and `TensorView` return a new view; `TensorViewMut` is consumed.

/// `view_methods!(self, &self)` or `view_methods!(self, self)`, in an `impl` that has `layout` and
/// `derive`.
macro_rules! view_methods {
    ($self:ident, $($receiver:tt)+) => {
        /// Sizes, strides and offset.
        pub fn layout(&self) -> &$crate::Layout {
            &self.layout
        }

        /// The sizes (PyTorch: `size()`).
        pub fn shape(&self) -> &[usize] {
            self.layout.shape()
        }

        /// The strides, in elements (PyTorch: `stride()`).
        pub fn strides(&self) -> &[isize] {
            self.layout.strides()
        }

        /// The offset of the first element, in elements (PyTorch: `storage_offset()`).
        pub fn storage_offset(&self) -> usize {
            self.layout.offset()
        }

        /// The number of dimensions (PyTorch: `dim()`).
        pub fn ndim(&self) -> usize {
            self.layout.ndim()
        }

        /// The number of elements (PyTorch: `numel()`).
        pub fn numel(&self) -> usize {
            self.layout.numel()
        }

        /// Does memory order equal logical order? (PyTorch: `is_contiguous()`)
        pub fn is_contiguous(&self) -> bool {
            self.layout.is_contiguous()
        }

        /// Why [`view`](Self::view) refuses a shape, and the ways out, in bytes; `None` if it does
        /// not refuse it. See [`Layout::why_not_view`](crate::Layout::why_not_view).
        ///
        /// # Errors
        /// Those of [`Layout::why_not_view`](crate::Layout::why_not_view).
        pub fn why_not_view(
            &self,
            sizes: &[isize],
        ) -> $crate::Result<Option<$crate::WhyNotView>> {
            Ok(self.layout.why_not_view(sizes)?.map(|why| why.in_bytes(size_of::<T>())))
        }

        /// Why it is not contiguous, and the ways out, in bytes; `None` if it is contiguous. See
        /// [`Layout::why_not_contiguous`](crate::Layout::why_not_contiguous).
        pub fn why_not_contiguous(&self) -> Option<$crate::WhyNotContiguous> {
            self.layout.why_not_contiguous().map(|why| why.in_bytes(size_of::<T>()))
        }

        /// What is slow about the strides, with padded ones that are not; empty for most layouts.
        /// See [`Layout::lints`](crate::Layout::lints).
        pub fn lints(&self) -> Vec<$crate::Lint> {
            self.layout.lints(size_of::<T>())
        }

        $crate::methods::view_methods! { @derived $self, ($($receiver)+)
            transpose(d0: isize, d1: isize) "Two dimensions swapped (PyTorch: `transpose`).";
            t() "The transpose of a matrix (PyTorch: `t`).";
            permute(dims: &[isize]) "All dimensions reordered (PyTorch: `permute`).";
            movedim(from: &[isize], to: &[isize])
                "Dimensions moved to new positions (PyTorch: `movedim`).";
            flip(dims: &[isize]) "Dimensions reversed, as a view (NumPy: `flip`).";
            narrow(dim: isize, start: isize, len: usize)
                "`len` indices of a dimension (PyTorch: `narrow`).";
            select(dim: isize, index: isize)
                "One index of a dimension, which is removed (PyTorch: `select`).";
            slice(dim: isize, slice: impl Into<$crate::Slice>)
                "A range of a dimension, with a step (PyTorch: `t[a:b:k]`).";
            index(items: &[$crate::Index])
                "An index tuple, written with [`s!`](crate::s) (PyTorch: `t[2, 1:3, None]`).";
            unsqueeze(dim: isize) "A new dimension of size 1 (PyTorch: `unsqueeze`).";
            squeeze() "Without the dimensions of size 1 (PyTorch: `squeeze()`).";
            squeeze_dim(dim: isize)
                "Without a dimension, if its size is 1 (PyTorch: `squeeze(dim)`).";
            expand(sizes: &[isize])
                "Dimensions of size 1 repeated with stride 0 (PyTorch: `expand`). \
                 A mutable view refuses it.";
            broadcast_to(shape: &[usize])
                "Broadcast to a shape (PyTorch: `broadcast_to`). \
                 A mutable view refuses it, unless the shape is the same.";
            view(sizes: &[isize])
                "Another shape over the same memory, if strides can express it (PyTorch: `view`).";
            flatten(start: isize, end: isize)
                "Several dimensions as one, if strides can express it (PyTorch: `flatten`).";
            unflatten(dim: isize, sizes: &[isize])
                "One dimension as several (PyTorch: `unflatten`).";
            diagonal(offset: isize, d0: isize, d1: isize)
                "The diagonal of two dimensions (PyTorch: `diagonal`).";
            unfold(dim: isize, size: usize, step: usize)
                "All windows along a dimension (PyTorch: `unfold`). \
                 A mutable view refuses windows that overlap.";
        }
    };

    (@derived $self:ident, $receiver:tt
     $($name:ident($($arg:ident: $type:ty),*) $doc:literal;)*) => {
        $($crate::methods::view_methods! {
            @method $self, $receiver, $name($($arg: $type),*) $doc
        })*
    };

    (@method $self:ident, ($($receiver:tt)+),
     $name:ident($($arg:ident: $type:ty),*) $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
        pub fn $name($($receiver)+, $($arg: $type),*) -> $crate::Result<Self> {
            let layout = $self.layout.$name($($arg),*)?;
            // SAFETY: a transform of a layout reaches only elements that the layout reaches.
            unsafe { $self.derive(layout) }
        }
    };
}

/// The operations that return several views, for the types that can share their elements.
macro_rules! split_methods {
    () => {
        $crate::methods::split_methods! {
            split(size: usize, dim: isize)
                "Consecutive parts of `size` indices (PyTorch: `split`).";
            chunk(chunks: usize, dim: isize)
                "At most `chunks` parts of equal size (PyTorch: `chunk`).";
            unbind(dim: isize)
                "One view for every index of a dimension (PyTorch: `unbind`).";
        }
    };
    ($($name:ident($($arg:ident: $type:ty),*) $doc:literal;)+) => {
        $(
            #[doc = $doc]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
            pub fn $name(&self, $($arg: $type),*) -> $crate::Result<Vec<Self>> {
                let layouts = self.layout.$name($($arg),*)?;
                let mut parts = $crate::shape::reserved(layouts.len())?;
                for layout in layouts {
                    // SAFETY: a part of a layout reaches only elements that the layout reaches.
                    parts.push(unsafe { self.derive(layout) }?);
                }
                Ok(parts)
            }
        )+
    };
}

pub(crate) use {split_methods, view_methods};
