//! Layouts: sizes, strides and an offset.
//!
//! A [`Layout`] maps the index of an element to its offset in a one-dimensional storage. Every
//! zero-copy operation is a function from a layout to a layout. Files:
//!
//! | file | operations |
//! |---|---|
//! | `query` | is it contiguous, channels-last, dense; and what breaks contiguity |
//! | `trace` | the contiguity check as text |
//! | `groups` | which neighbouring dimensions are equivalent to one |
//! | `why/` | why a view, or contiguity, is refused, and the ways out |
//! | `lint/`, `padded` | strides that are slow on CPUs, and layouts with padding that are not |
//! | `move_axes` | transpose, permute, movedim, flip: the same elements in another order |
//! | `reform` | view, flatten, squeeze, expand, …: the same elements under other dimensions |
//! | `width` | view(dtype): the same bytes as elements of another width |
//! | `restrict` | narrow, select, slice, index, diagonal, unfold, split: some of the elements |
//! | `reduce` | the dimensions of a reduction |
//! | `result` | the layouts of newly allocated results |
//! | `runs` | iteration over the offsets in logical order |
//! | `pairs` | iteration over two layouts in an order that suits their memory |
//! | `overlap` | do two indices reach the same element? |

mod groups;
mod lint;
mod move_axes;
mod overlap;
mod padded;
pub(crate) mod pairs;
mod query;
mod reduce;
mod reform;
mod restrict;
mod result;
mod runs;
mod trace;
mod why;
mod width;

use std::fmt;

pub use groups::DimGroup;
pub use lint::{Lint, LintKind};
pub use overlap::Overlap;
pub use reduce::{ReduceDims, ReductionShape};
pub use runs::{Offsets, Runs};
pub use trace::ContiguityTrace;
pub use why::{Remedy, StrideBreak, WhyNotContiguous, WhyNotView};

use crate::{
    DimVec, Error, MemoryFormat, Result, Sizes,
    shape::{checked_numel, too_large},
    strides::{contiguous_strides, format_strides, fortran_strides},
};
use query::Flags;

/// Sizes, strides and offset of a view, in elements (PyTorch: a tensor's `size()`, `stride()` and
/// `storage_offset()`).
///
/// The element with index `(i0, i1, …)` has offset `offset + i0·stride0 + i1·stride1 + …`. Strides
/// are signed: a flipped dimension has a negative one. A layout is immutable; operations derive
/// other layouts, and each one is checked.
///
/// # Invariants
/// 1. `shape` and `strides` have one entry per dimension.
/// 2. The product of the sizes that are not 0 is at most `isize::MAX`; so is the offset.
/// 3. If there are elements, the offset of each lies between 0 and `isize::MAX`, and no partial sum
///    of it overflows.
/// 4. No stride is `isize::MIN`, so every stride can be negated.
/// 5. `numel` and `flags` are those of the shape and strides.
///
/// Strides of dimensions of size 1, and all strides of a layout without elements, are arbitrary
/// apart from 4.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::Layout;
///
/// let matrix = Layout::contiguous(&[3, 4])?;
/// let transposed = matrix.transpose(0, 1)?;
/// assert_eq!(transposed.shape(), [4, 3]);
/// assert_eq!(transposed.strides(), [1, 4]);
/// assert!(!transposed.is_contiguous());
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[derive(PartialEq, Eq, Hash)]
pub struct Layout {
    shape: DimVec<usize>,
    strides: DimVec<isize>,
    offset: usize,
    numel: usize,
    flags: Flags,
}

impl Layout {
    /// The layout of a single element, without dimensions (PyTorch: that of `torch.tensor(1.5)`).
    pub const SCALAR: Layout = Layout {
        shape: DimVec::new_const(),
        strides: DimVec::new_const(),
        offset: 0,
        numel: 1,
        flags: Flags::SCALAR,
    };

    /// A layout of any sizes, strides and offset.
    ///
    /// # Errors
    /// Shape and strides of different lengths, sizes or offsets too large to address, elements
    /// below the start of the storage.
    pub fn new(shape: impl Sizes, strides: impl Sizes, offset: usize) -> Result<Self> {
        Self::checked(shape.into_shape()?, strides.into_sizes()?, offset)
    }

    /// A row-major layout (PyTorch: that of `torch.empty(shape)`).
    ///
    /// # Errors
    /// More elements than `isize::MAX`.
    pub fn contiguous(shape: impl Sizes) -> Result<Self> {
        let shape = shape.into_shape()?;
        checked_numel(&shape)?;
        let strides = contiguous_strides(&shape);
        Self::checked(shape, strides, 0)
    }

    /// A column-major layout (NumPy: `order='F'`).
    ///
    /// # Errors
    /// More elements than `isize::MAX`.
    pub fn fortran(shape: impl Sizes) -> Result<Self> {
        let shape = shape.into_shape()?;
        checked_numel(&shape)?;
        let strides = fortran_strides(&shape);
        Self::checked(shape, strides, 0)
    }

    /// A dense layout in a memory format.
    ///
    /// # Errors
    /// More elements than `isize::MAX`, a shape whose rank is not the format's, and
    /// [`MemoryFormat::Preserve`], which needs a layout to preserve.
    pub fn with_format(shape: impl Sizes, format: MemoryFormat) -> Result<Self> {
        let shape = shape.into_shape()?;
        checked_numel(&shape)?;
        let strides = format_strides(&shape, format)?;
        Self::checked(shape, strides, 0)
    }

    /// The one constructor: checks invariants 1 to 4 and establishes 5.
    fn checked(shape: DimVec<usize>, strides: DimVec<isize>, offset: usize) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(Error::StridesLength { shape: shape.to_vec(), strides: strides.to_vec() });
        }
        if let Some(dim) = strides.iter().position(|&stride| stride == isize::MIN) {
            return Err(Error::StrideMin { dim });
        }
        let numel = checked_numel(&shape)?;
        check_reach(&shape, &strides, offset, numel)?;
        let flags = Flags::of(&shape, &strides, numel);
        Ok(Self { shape, strides, offset, numel, flags })
    }

    /// The sizes (PyTorch: `size()`).
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The strides, in elements (PyTorch: `stride()`).
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The offset of the first element, in elements from the start of the storage (PyTorch:
    /// `storage_offset()`).
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of dimensions (PyTorch: `dim()`).
    #[inline]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements (PyTorch: `numel()`).
    #[inline]
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// The lowest and the highest offset of an element, or `None` if there are no elements.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// assert_eq!(Layout::new(&[3, 2], &[-4, 1], 8)?.bounds(), Some((0, 9)));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    pub fn bounds(&self) -> Option<(usize, usize)> {
        if self.numel == 0 {
            return None;
        }
        let mut bounds = (self.offset as isize, self.offset as isize);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            if size > 1 {
                let reach = (size - 1) as isize * stride;
                bounds = (bounds.0 + reach.min(0), bounds.1 + reach.max(0));
            }
        }
        Some((bounds.0 as usize, bounds.1 as usize))
    }

    /// The offset of the element at `index`.
    ///
    /// # Errors
    /// An index of another length than the rank, or beyond a size.
    pub fn offset_of(&self, index: &[usize]) -> Result<usize> {
        if index.len() > self.ndim() {
            return Err(Error::TooManyIndices { ndim: self.ndim(), given: index.len() });
        }
        if index.len() < self.ndim() {
            return Err(Error::TooFewIndices { ndim: self.ndim(), given: index.len() });
        }
        for (dim, (&i, &size)) in index.iter().zip(&self.shape).enumerate() {
            if i >= size {
                let index = isize::try_from(i).unwrap_or(isize::MAX);
                return Err(Error::IndexOutOfBounds { index, dim, size });
            }
        }
        let steps = index.iter().zip(&self.strides).map(|(&i, &stride)| i as isize * stride);
        Ok(steps.fold(self.offset as isize, |offset, step| offset + step) as usize)
    }

    /// Checks that every element lies in a storage of `len` elements of `itemsize` bytes.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`].
    pub fn check_within(&self, len: usize, itemsize: usize) -> Result<()> {
        let Some((_, highest)) = self.bounds() else { return Ok(()) };
        if highest < len {
            return Ok(());
        }
        Err(Error::OutOfBounds {
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
            offset: self.offset,
            itemsize,
            needed: (highest as u128 + 1) * itemsize as u128,
            available: len.saturating_mul(itemsize),
        })
    }

    /// Checks that every element lies in a slice of `given` elements.
    ///
    /// # Errors
    /// [`Error::TooFewElements`].
    pub(crate) fn check_slice(&self, given: usize) -> Result<()> {
        match self.bounds() {
            Some((_, highest)) if highest >= given => Err(Error::TooFewElements {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
                needed: highest + 1,
                given,
            }),
            _ => Ok(()),
        }
    }

    /// The size in bytes of a dense tensor of this shape.
    ///
    /// # Errors
    /// More bytes than `isize::MAX`.
    pub fn dense_bytes(&self, itemsize: usize) -> Result<usize> {
        self.numel
            .checked_mul(itemsize)
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or_else(|| too_large("the number of bytes", &self.shape))
    }

    /// A layout of strides in bytes, as NumPy and the buffer protocol of Python count them, for
    /// elements of `width` bytes. The offset is in bytes, too.
    ///
    /// ```
    /// # use tensor_core::Layout;
    /// let layout = Layout::from_byte_strides(&[3, 4], &[4, 12], 8, 4)?;
    /// assert_eq!((layout.strides(), layout.offset()), (&[1, 3][..], 2));
    /// # Ok::<(), tensor_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ByteStride`] for a stride or an offset that is no multiple of the width; those of
    /// [`Layout::new`].
    pub fn from_byte_strides(
        shape: impl Sizes,
        strides: impl Sizes,
        offset: usize,
        width: usize,
    ) -> Result<Self> {
        let refused = |bytes: i128| Error::ByteStride { bytes, width };
        let step = isize::try_from(width).ok().filter(|&step| step > 0).ok_or(refused(0))?;
        let in_elements = |&bytes: &isize| match bytes % step {
            0 => Ok(bytes / step),
            _ => Err(refused(bytes as i128)),
        };
        let strides = strides.into_sizes()?;
        let strides = strides.iter().map(in_elements).collect::<Result<DimVec<isize>>>()?;
        if !offset.is_multiple_of(width) {
            return Err(refused(offset as i128));
        }
        Self::new(shape, &strides, offset / width)
    }

    /// Applies the rules of `as_strided`: sizes and non-negative strides over the same storage
    /// (PyTorch: `as_strided`).
    ///
    /// The offset defaults to this layout's. `Tensor::as_strided` also checks that the elements lie
    /// in the storage.
    ///
    /// # Errors
    /// Lengths that differ, negative strides ([`Layout::new`] takes those), sizes too large.
    pub fn as_strided(
        &self,
        shape: impl Sizes,
        strides: impl Sizes,
        offset: Option<usize>,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_shape()?, strides.into_sizes()?);
        if shape.len() == strides.len() && strides.iter().any(|&stride| stride < 0) {
            return Err(Error::NegativeStrides { strides: strides.to_vec() });
        }
        Self::checked(shape, strides, offset.unwrap_or(self.offset))
    }
}

/// Checks invariants 2 (the offset) and 3.
fn check_reach(shape: &[usize], strides: &[isize], offset: usize, numel: usize) -> Result<()> {
    let too_far =
        || Error::TooLarge { what: "an offset", shape: shape.to_vec(), strides: strides.to_vec() };
    let start = isize::try_from(offset).map_err(|_| too_far())?;
    if numel == 0 {
        return Ok(());
    }
    let (mut below, mut above) = (0isize, start);
    for (&size, &stride) in shape.iter().zip(strides) {
        if size > 1 {
            let reach = stride.checked_mul((size - 1) as isize).ok_or_else(too_far)?;
            below = below.checked_add(reach.min(0)).ok_or_else(too_far)?;
            above = above.checked_add(reach.max(0)).ok_or_else(too_far)?;
        }
    }
    if start.checked_add(below).is_none_or(|lowest| lowest < 0) {
        return Err(Error::BelowStorage {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset,
        });
    }
    Ok(())
}

/// `size · stride` for a dimension that will have at most one element, where any value is correct
/// that does not overflow.
pub(crate) fn saturating_stride(size: usize, stride: isize) -> isize {
    let size = isize::try_from(size).unwrap_or(isize::MAX);
    stride.saturating_mul(size).max(-isize::MAX)
}

/// Not derived: copying the lists as slices takes a fifth of the time of `SmallVec::clone`, which
/// clones element by element, and every view clones a layout.
impl Clone for Layout {
    fn clone(&self) -> Self {
        let (shape, strides) = (DimVec::from_slice(&self.shape), DimVec::from_slice(&self.strides));
        Self { shape, strides, offset: self.offset, numel: self.numel, flags: self.flags }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Layout(shape {:?}, strides {:?}, offset {})",
            self.shape, self.strides, self.offset
        )
    }
}
