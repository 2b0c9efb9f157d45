//! The view operations, written once for the three types that have a layout.
//!
//! Each method derives a layout by the method of the same name of [`Layout`](crate::Layout), which
//! documents rules and errors, and pairs it with the same memory. A derived layout reaches only
//! elements that the original reaches. `derive` requires this, and the property tests `chains` and
//! `extremes` check it. `Tensor` and `TensorView` return a new view; `TensorViewMut` is consumed.

/// `for_each_view! { then => arguments }` passes the view operations to a macro, after the
/// arguments: their names, their parameters with the kinds of these, and what they do.
macro_rules! for_each_view {
    ($then:path => $($arguments:tt)*) => {
        $then! { $($arguments)*
            transpose(d0: dim, d1: dim) "Two dimensions swapped (PyTorch: `transpose`).";
            t() "The transpose of a matrix (PyTorch: `t`).";
            permute(dims: sizes) "All dimensions reordered (PyTorch: `permute`).";
            movedim(from: sizes, to: sizes)
                "Dimensions moved to new positions (PyTorch: `movedim`).";
            flip(dims: sizes) "Dimensions reversed, as a view (NumPy: `flip`).";
            narrow(dim: dim, start: dim, len: count)
                "`len` indices of a dimension (PyTorch: `narrow`).";
            select(dim: dim, index: dim)
                "One index of a dimension, which is removed (PyTorch: `select`).";
            slice(dim: dim, slice: slice)
                "A range of a dimension, with a step (PyTorch: `t[a:b:k]`).";
            index(items: items)
                "An index tuple, written with [`s!`](crate::s) (PyTorch: `t[2, 1:3, None]`).";
            unsqueeze(dim: dim) "A new dimension of size 1 (PyTorch: `unsqueeze`).";
            squeeze() "Without the dimensions of size 1 (PyTorch: `squeeze()`).";
            squeeze_dim(dim: dim)
                "Without a dimension, if its size is 1 (PyTorch: `squeeze(dim)`).";
            expand(sizes: sizes)
                "Dimensions of size 1 repeated with stride 0 (PyTorch: `expand`). \
                 A mutable view refuses it.";
            broadcast_to(shape: shape)
                "Broadcast to a shape (PyTorch: `broadcast_to`). \
                 A mutable view refuses it, unless the shape is the same.";
            view(sizes: sizes)
                "Another shape over the same memory, if strides can express it (PyTorch: `view`).";
            flatten(start: dim, end: dim)
                "Several dimensions as one, if strides can express it (PyTorch: `flatten`).";
            unflatten(dim: dim, sizes: sizes)
                "One dimension as several (PyTorch: `unflatten`).";
            diagonal(offset: dim, d0: dim, d1: dim)
                "The diagonal of two dimensions (PyTorch: `diagonal`).";
            unfold(dim: dim, size: count, step: count)
                "All windows along a dimension (PyTorch: `unfold`). \
                 A mutable view refuses windows that overlap.";
        }
    };
}

/// As [`for_each_view!`], the operations that return several views.
macro_rules! for_each_split {
    ($then:path => $($arguments:tt)*) => {
        $then! { $($arguments)*
            split(size: count, dim: dim)
                "Consecutive parts of `size` indices (PyTorch: `split`).";
            chunk(chunks: count, dim: dim)
                "At most `chunks` parts of equal size (PyTorch: `chunk`).";
            unbind(dim: dim)
                "One view for every index of a dimension (PyTorch: `unbind`).";
        }
    };
}

/// `view_methods!(self, &self)` or `view_methods!(self, self)`, in an `impl` that has `layout` and
/// `derive`.
macro_rules! view_methods {
    ($self:ident, $($receiver:tt)+) => {
        /// Sizes, strides and offset.
        pub fn layout(&self) -> &$crate::Layout {
            &self.layout
        }

        /// The sizes (PyTorch: `size()`).
        #[doc(alias = "size")]
        pub fn shape(&self) -> &[usize] {
            self.layout.shape()
        }

        /// The strides, in elements (PyTorch: `stride()`).
        #[doc(alias = "stride")]
        pub fn strides(&self) -> &[isize] {
            self.layout.strides()
        }

        /// The offset of the first element, in elements (PyTorch: `storage_offset()`).
        pub fn storage_offset(&self) -> usize {
            self.layout.offset()
        }

        /// The number of dimensions (PyTorch: `dim()`).
        #[doc(alias = "dim")]
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
            sizes: impl $crate::Sizes,
        ) -> $crate::Result<Option<$crate::WhyNotView>> {
            let why = self.layout.why_not_view(&sizes.into_sizes()?)?;
            Ok(why.map(|why| why.in_bytes(size_of::<T>())))
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

        $crate::methods::for_each_view! {
            $crate::methods::view_methods => @derived $self, ($($receiver)+)
        }
    };

    (@derived $self:ident, $receiver:tt
     $($name:ident($($arg:ident: $kind:ident),*) $doc:literal;)*) => {
        $($crate::methods::view_methods! {
            @method $self, $receiver, $name($($arg: $kind),*) $doc
        })*
    };

    (@method $self:ident, ($($receiver:tt)+),
     $name:ident($($arg:ident: $kind:ident),*) $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
        pub fn $name(
            $($receiver)+,
            $($arg: $crate::methods::argument_type!($kind)),*
        ) -> $crate::Result<Self> {
            let layout =
                $self.layout.$name($($arg),*)?;
            // SAFETY: a transform of a layout reaches only elements that the layout reaches.
            unsafe { $self.derive(layout) }
        }
    };
}

/// The operations that return several views, for the types that can share their elements.
macro_rules! split_methods {
    () => {
        $crate::methods::for_each_split! { $crate::methods::split_methods => }
    };
    ($($name:ident($($arg:ident: $kind:ident),*) $doc:literal;)+) => {
        $(
            #[doc = $doc]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::", stringify!($name), "`].")]
            pub fn $name(
                &self,
                $($arg: $crate::methods::argument_type!($kind)),*
            ) -> $crate::Result<Vec<Self>> {
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

/// The type of an argument of these methods, by its kind.
macro_rules! argument_type {
    (dim) => { impl $crate::Int };
    (sizes) => { impl $crate::Sizes };
    (shape) => { impl $crate::Sizes };
    (count) => { usize };
    (slice) => { impl Into<$crate::Slice> };
    (items) => { &[$crate::Index] };
}

pub(crate) use {argument_type, for_each_split, for_each_view, split_methods, view_methods};
