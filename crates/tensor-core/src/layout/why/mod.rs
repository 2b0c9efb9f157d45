//! Why a view is refused, why a layout is not contiguous, and what to do about it.
//!
//! Both are questions about borders between groups of dimensions (`groups`): a view is refused
//! because a new dimension would span a border, and a layout is not contiguous because there is a
//! border, or because the last stride is not 1. The answers are data that can be matched on and
//! applied (`remedy`), and text (`text`). They are computed on request only: `reshape` tries a view
//! first, and a refusal must stay cheap.

mod remedy;
mod text;

pub use remedy::Remedy;

use super::{
    Layout,
    groups::{Crossing, DimGroup},
};
use crate::{
    DimVec, Result, Sizes,
    shape::{checked_numel, infer_shape},
};

/// A dimension, the stride that it has, and the stride that it would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StrideBreak {
    dim: usize,
    expected: isize,
    found: isize,
}

impl StrideBreak {
    /// The dimension, counted from the front.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The stride that it would need, in elements.
    pub fn expected(&self) -> isize {
        self.expected
    }

    /// The stride that it has, in elements.
    pub fn found(&self) -> isize {
        self.found
    }
}

/// Why a layout cannot be viewed as a shape, and the ways out; see [`Layout::why_not_view`].
///
/// `Display` prints all of it, a few lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WhyNotView {
    layout: Layout,
    target: DimVec<usize>,
    groups: Vec<DimGroup>,
    target_dim: usize,
    stride_break: StrideBreak,
    remedies: Vec<Remedy>,
    itemsize: Option<usize>,
}

/// Why a layout is not contiguous, and the ways out; see [`Layout::why_not_contiguous`].
///
/// `Display` prints all of it, a few lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WhyNotContiguous {
    layout: Layout,
    groups: Vec<DimGroup>,
    stride_break: StrideBreak,
    remedies: Vec<Remedy>,
    itemsize: Option<usize>,
}

macro_rules! common_accessors {
    () => {
        /// The layout that was asked about.
        pub fn layout(&self) -> &Layout {
            &self.layout
        }

        /// The groups of dimensions that are contiguous among themselves, in order.
        pub fn groups(&self) -> &[DimGroup] {
            &self.groups
        }

        /// The ways out, the cheapest first. The last one copies everything.
        pub fn remedies(&self) -> &[Remedy] {
            &self.remedies
        }

        /// The same, with sizes printed in bytes, for elements of `itemsize` bytes. Methods of
        /// tensors and views do this.
        #[must_use]
        pub fn in_bytes(self, itemsize: usize) -> Self {
            Self { itemsize: Some(itemsize), ..self }
        }
    };
}

impl WhyNotView {
    common_accessors!();

    /// The shape that was asked for.
    pub fn target(&self) -> &[usize] {
        &self.target
    }

    /// The dimension of the [`target`](Self::target) that would span a border between two groups:
    /// the last one that does.
    pub fn target_dim(&self) -> usize {
        self.target_dim
    }

    /// The border: the dimension before it, the stride with which it would continue the dimension
    /// after it, and the stride that it has.
    pub fn stride_break(&self) -> StrideBreak {
        self.stride_break
    }
}

impl WhyNotContiguous {
    common_accessors!();

    /// The last dimension whose stride is not the product of the sizes after it.
    pub fn stride_break(&self) -> StrideBreak {
        self.stride_break
    }
}

impl Layout {
    /// Why [`view`](Self::view) refuses a shape, and the ways out; `None` if it does not.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, Remedy};
    ///
    /// let transposed = Layout::contiguous(&[3, 4])?.t()?;
    /// assert!(transposed.why_not_view(&[2, 2, 3])?.is_none());
    ///
    /// let why = transposed.why_not_view(&[2, 6])?.expect("6 spans both dimensions");
    /// assert_eq!((why.target_dim(), why.stride_break().dim()), (1, 0));
    /// assert_eq!((why.stride_break().found(), why.stride_break().expected()), (1, 12));
    /// assert_eq!(why.remedies()[0], Remedy::View { shape: vec![2, 2, 3] });
    /// assert_eq!(why.remedies()[0].apply(&transposed)?.strides(), [2, 1, 4]);
    /// println!("{}", why.in_bytes(4));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// What no layout with this number of elements can be viewed as: sizes with another product,
    /// more than one −1.
    pub fn why_not_view(&self, sizes: impl Sizes) -> Result<Option<WhyNotView>> {
        Ok(self.view_refused(&infer_shape(&sizes.into_sizes()?, self.numel)?))
    }

    /// Why it cannot be viewed as a shape; also `None` if the shape has another number of elements.
    pub(crate) fn view_refused(&self, target: &[usize]) -> Option<WhyNotView> {
        if checked_numel(target) != Ok(self.numel) {
            return None;
        }
        let Err(Crossing { chunk, target_dim }) = self.view_strides(target) else { return None };
        let (dim, groups) = (chunk.start - 1, self.groups());
        let (found, expected) = (self.strides[dim], chunk.stride_before());
        Some(WhyNotView {
            remedies: remedy::of_view(self, target, &groups),
            layout: self.clone(),
            target: DimVec::from_slice(target),
            groups,
            target_dim,
            stride_break: StrideBreak { dim, expected, found },
            itemsize: None,
        })
    }

    /// Why the layout is not contiguous, and the ways out; `None` if it is contiguous.
    ///
    /// [`contiguity_trace`](Self::contiguity_trace) prints the check itself.
    ///
    /// ```
    /// # use tensor_core as tensor_kernels;
    /// use tensor_kernels::{Layout, Remedy};
    ///
    /// let image = Layout::contiguous(&[480, 640, 3])?;
    /// assert!(image.why_not_contiguous().is_none());
    ///
    /// let planes = image.permute(&[2, 0, 1])?;
    /// let why = planes.why_not_contiguous().expect("channels are the fastest");
    /// assert_eq!((why.stride_break().dim(), why.stride_break().found()), (2, 3));
    /// assert_eq!(why.groups().len(), 2); // channels; rows and columns together
    /// assert_eq!(why.remedies()[0].apply(&planes)?, image);
    /// assert_eq!(why.remedies()[1], Remedy::CopyAll { shape: None });
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn why_not_contiguous(&self) -> Option<WhyNotContiguous> {
        let dim = self.contiguity_break()?;
        let expected = self.shape[dim + 1..].iter().product::<usize>() as isize;
        Some(WhyNotContiguous {
            layout: self.clone(),
            groups: self.groups(),
            stride_break: StrideBreak { dim, expected, found: self.strides[dim] },
            remedies: remedy::of_contiguity(self),
            itemsize: None,
        })
    }
}
