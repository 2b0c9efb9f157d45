//! Index tuples: `t[2, 1:3, ::2, ..., None]`, as values and as the [`s!`](crate::s) macro.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::{Error, Result};

/// A range with a step along one dimension, as in Python: `start:end:step`.
///
/// Negative bounds count from the end; bounds beyond the dimension are clamped. A negative step
/// goes backwards, by default from the end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slice {
    /// The first index. `None` is the first index of the dimension, or the last for a negative
    /// step.
    pub start: Option<isize>,
    /// The index to stop before. `None` stops at the end of the dimension in the step's direction.
    pub end: Option<isize>,
    /// Whether the slice includes the element at `end`, like `a..=b`, in either direction.
    pub inclusive: bool,
    /// The difference from one index to the next; not 0.
    pub step: isize,
}

impl Slice {
    /// The whole dimension.
    pub const ALL: Slice = Slice::new(None, None, 1);

    /// `start:end:step`.
    pub const fn new(start: Option<isize>, end: Option<isize>, step: isize) -> Self {
        Self { start, end, inclusive: false, step }
    }

    /// `start..=end`: includes the element at `end`.
    const fn inclusive(start: Option<isize>, end: isize) -> Self {
        Self { start, end: Some(end), inclusive: true, step: 1 }
    }

    /// The same bounds with another step.
    pub const fn step_by(self, step: isize) -> Self {
        Self { step, ..self }
    }

    /// The first index and the number of indices that the slice selects from a dimension of `size`.
    pub(crate) fn resolve(self, size: usize) -> Result<(usize, usize)> {
        let size = size as isize;
        let end = self.end_excluded();
        match self.step {
            0 => Err(Error::ZeroStep),
            step if step > 0 => {
                let start = from_end(self.start.unwrap_or(0), size).clamp(0, size);
                let end = from_end(end.unwrap_or(size), size).clamp(start, size);
                Ok((start as usize, (end - start).unsigned_abs().div_ceil(step.unsigned_abs())))
            }
            step => {
                let start = self.start.map_or(size - 1, |s| from_end(s, size).clamp(-1, size - 1));
                let end = end.map_or(-1, |e| from_end(e, size).clamp(-1, size - 1));
                let len = (start - end).max(0).unsigned_abs().div_ceil(step.unsigned_abs());
                Ok((start.max(0) as usize, len))
            }
        }
    }

    /// The index to stop before. After the last index (−1), and before the first (0) for a negative
    /// step, this is `None`, the end of the dimension: the next numbers, 0 and −1, are valid
    /// indices.
    fn end_excluded(self) -> Option<isize> {
        match (self.end?, self.step > 0) {
            (end, _) if !self.inclusive => Some(end),
            (-1, true) | (0, false) => None,
            (end, true) => Some(end.saturating_add(1)),
            (end, false) => Some(end.saturating_sub(1)),
        }
    }
}

fn from_end(index: isize, size: isize) -> isize {
    if index < 0 { index.saturating_add(size) } else { index }
}

/// One entry of an index tuple.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// One index: the dimension is removed. A negative index counts from the end.
    At(isize),
    /// A range of indices: the dimension is kept.
    Slice(Slice),
    /// A new dimension of size 1 (Python: `None`).
    NewAxis,
    /// All dimensions that the other entries do not name (Python: `...`).
    Ellipsis,
}

/// A new dimension of size 1, in [`s!`](crate::s).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewAxis;

impl From<NewAxis> for Index {
    fn from(_: NewAxis) -> Self {
        Index::NewAxis
    }
}

impl From<Slice> for Index {
    fn from(slice: Slice) -> Self {
        Index::Slice(slice)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Slice::ALL
    }
}

/// An integer that can be an index or a bound. A `usize` above `isize::MAX` becomes `isize::MAX`,
/// which is beyond every dimension too.
trait Bound: Copy {
    fn bound(self) -> isize;
}

impl Bound for isize {
    fn bound(self) -> isize {
        self
    }
}

impl Bound for i32 {
    fn bound(self) -> isize {
        self as isize
    }
}

impl Bound for usize {
    fn bound(self) -> isize {
        isize::try_from(self).unwrap_or(isize::MAX)
    }
}

macro_rules! from_bounds {
    ($($int:ty),*) => {$(
        impl From<$int> for Index {
            fn from(index: $int) -> Self {
                Index::At(index.bound())
            }
        }
        impl From<Range<$int>> for Slice {
            fn from(range: Range<$int>) -> Self {
                Slice::new(Some(range.start.bound()), Some(range.end.bound()), 1)
            }
        }
        impl From<RangeFrom<$int>> for Slice {
            fn from(range: RangeFrom<$int>) -> Self {
                Slice::new(Some(range.start.bound()), None, 1)
            }
        }
        impl From<RangeTo<$int>> for Slice {
            fn from(range: RangeTo<$int>) -> Self {
                Slice::new(None, Some(range.end.bound()), 1)
            }
        }
        impl From<RangeInclusive<$int>> for Slice {
            fn from(range: RangeInclusive<$int>) -> Self {
                Slice::inclusive(Some(range.start().bound()), range.end().bound())
            }
        }
        impl From<RangeToInclusive<$int>> for Slice {
            fn from(range: RangeToInclusive<$int>) -> Self {
                Slice::inclusive(None, range.end.bound())
            }
        }
    )*};
}

from_bounds!(isize, i32, usize);

macro_rules! index_from_range {
    ($($range:ty),*) => {$(
        impl From<$range> for Index {
            fn from(range: $range) -> Self {
                Index::Slice(range.into())
            }
        }
    )*};
}

index_from_range!(RangeFull);
index_from_range!(
    Range<isize>,
    RangeFrom<isize>,
    RangeTo<isize>,
    RangeInclusive<isize>,
    RangeToInclusive<isize>
);
index_from_range!(
    Range<i32>,
    RangeFrom<i32>,
    RangeTo<i32>,
    RangeInclusive<i32>,
    RangeToInclusive<i32>
);
index_from_range!(
    Range<usize>,
    RangeFrom<usize>,
    RangeTo<usize>,
    RangeInclusive<usize>,
    RangeToInclusive<usize>
);

/// An index tuple for [`index`](crate::Layout::index): integers, ranges, `range; step`, [`NewAxis`]
/// and `...`.
///
/// ```
/// # use tensor_core as tensor_kernels;
/// use tensor_kernels::{NewAxis, Tensor, s};
///
/// let t = Tensor::arange(0i64, 96, 1)?.view([3, 4, 8])?;
/// let part = t.index(s![2, 1..3, 1..6;3])?; // PyTorch: t[2, 1:3, 1:6:3]
/// assert_eq!(part.shape(), [2, 2]);
/// assert_eq!((part.strides(), part.storage_offset()), (&[8, 3][..], 73));
///
/// assert_eq!(t.index(s![..., -1])?.shape(), [3, 4]);
/// assert_eq!(t.index(s![.., NewAxis, ..;-1])?.shape(), [3, 1, 4, 8]);
/// assert_eq!(t.index(s![2, 0, 5..=2;-1])?.to_vec()?, [69, 68, 67, 66]); // the last one included
/// # Ok::<(), tensor_core::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@items [$($done:expr,)*]) => { &[$($done),*] as &[$crate::Index] };
    (@items [$($done:expr,)*] ... $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* $crate::Index::Ellipsis,] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] $range:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* {
            #[allow(clippy::reversed_empty_ranges, reason = "`5..=2; -1` has 4 elements")]
            let range = $range;
            $crate::Index::Slice($crate::Slice::from(range).step_by($step))
        },] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] $item:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* $crate::Index::from($item),] $($($rest)*)?)
    };
    ($($items:tt)*) => { $crate::s!(@items [] $($items)*) };
}
