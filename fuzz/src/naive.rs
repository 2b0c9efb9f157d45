//! A tensor without strides: the offset of every element, listed in row-major order.

use tensor_kernels::{Layout, Overlap};

/// The largest number of elements that is enumerated.
pub const LIMIT: usize = 512;

const MAX: i128 = isize::MAX as i128;

/// The enumeration of a layout: its shape and the offset of every index.
#[derive(Clone, Debug, PartialEq)]
pub struct Naive {
    /// The sizes.
    pub shape: Vec<usize>,
    /// The offsets, in logical order.
    pub offsets: Vec<i128>,
}

/// Why there is no model of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// The rule refuses the arguments, and so must the library.
    Refused,
    /// The rule accepts them, but there are more elements than [`LIMIT`].
    TooMany,
}

/// The model of a result.
pub type Ruled = Result<Naive, Stop>;

/// Are sizes, strides and an offset a valid layout? Computed in saturating 128-bit arithmetic.
pub fn is_addressable(shape: &[usize], strides: &[isize], offset: usize) -> bool {
    let numbers_fit = numel(shape).is_some() && offset as i128 <= MAX;
    let strides_fit = shape.len() == strides.len() && !strides.contains(&isize::MIN);
    let (lowest, highest) = reach(shape, strides, offset);
    let offsets_fit = shape.contains(&0) || (lowest >= 0 && highest <= MAX);
    numbers_fit && strides_fit && offsets_fit
}

/// The lowest and the highest offset, if no size is 0.
pub fn reach(shape: &[usize], strides: &[isize], offset: usize) -> (i128, i128) {
    let reaches = || shape.iter().zip(strides).map(|(&n, &s)| (n as i128 - 1) * s as i128);
    let below = reaches().fold(0, |sum: i128, reach| sum.saturating_add(reach.min(0)));
    let above = reaches().fold(0, |sum: i128, reach| sum.saturating_add(reach.max(0)));
    (below.saturating_add(offset as i128), above.saturating_add(offset as i128))
}

/// The number of elements; `None` if the product of the sizes other than 0 exceeds `isize::MAX`.
pub fn numel(shape: &[usize]) -> Option<usize> {
    let counted = shape.iter().filter(|&&size| size > 0);
    let product = counted.fold(1i128, |product, &size| product.saturating_mul(size as i128));
    let elements = if shape.contains(&0) { 0 } else { product };
    (product <= MAX).then_some(elements as usize)
}

/// All indices of a shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    if shape.contains(&0) {
        return Vec::new();
    }
    shape.iter().fold(vec![vec![]], |prefixes, &size| {
        let longer = |prefix: Vec<usize>| (0..size).map(move |i| [&prefix[..], &[i]].concat());
        prefixes.into_iter().flat_map(longer).collect()
    })
}

impl Naive {
    /// The tensor of a shape whose element at an index has the offset `offset(index)`.
    ///
    /// # Errors
    /// A number of elements that overflows, or exceeds [`LIMIT`].
    pub fn from_fn(shape: Vec<usize>, offset: impl Fn(&[usize]) -> i128) -> Ruled {
        let numel = numel(&shape).ok_or(Stop::Refused)?;
        if numel > LIMIT {
            return Err(Stop::TooMany);
        }
        let offsets = indices(&shape).iter().map(|index| offset(index)).collect();
        Ok(Naive { shape, offsets })
    }

    /// The tensor of sizes, strides and an offset.
    ///
    /// # Errors
    /// Numbers that are no valid layout, or more elements than [`LIMIT`].
    pub fn strided(shape: &[usize], strides: &[isize], offset: usize) -> Ruled {
        if !is_addressable(shape, strides, offset) {
            return Err(Stop::Refused);
        }
        Naive::from_fn(shape.to_vec(), |index| {
            let steps = index.iter().zip(strides).map(|(&i, &s)| i as i128 * s as i128);
            offset as i128 + steps.sum::<i128>()
        })
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The offset of the element at an index.
    pub fn at(&self, index: &[usize]) -> i128 {
        let position = index.iter().zip(&self.shape).fold(0, |before, (i, size)| before * size + i);
        self.offsets[position]
    }

    /// The tensor of another shape whose element at an index is this one's at `source(index)`.
    ///
    /// # Errors
    /// Those of [`from_fn`](Self::from_fn).
    pub fn rearranged(&self, shape: Vec<usize>, source: impl Fn(&[usize]) -> Vec<usize>) -> Ruled {
        Naive::from_fn(shape, |index| self.at(&source(index)))
    }

    /// The same elements in the same order under another shape, if strides can express it.
    ///
    /// A stride is the difference of the offsets of the first two indices of its dimension. So
    /// there is one candidate, which is compared with every offset.
    ///
    /// # Errors
    /// [`Stop::Refused`] if strides cannot express it.
    pub fn viewed(&self, shape: Vec<usize>) -> Ruled {
        let view = Naive { shape, offsets: self.offsets.clone() };
        let Some(&first) = view.offsets.first() else { return Ok(view) };
        let units = (0..view.rank()).map(|d| {
            let step = (0..view.rank()).map(|e| usize::from(e == d)).collect::<Vec<_>>();
            if view.shape[d] > 1 { view.at(&step) - first } else { 0 }
        });
        let strides: Vec<i128> = units.collect();
        let strided = |index: &Vec<usize>| {
            first + index.iter().zip(&strides).map(|(&i, &s)| i as i128 * s).sum::<i128>()
        };
        let explained = indices(&view.shape).iter().map(strided).eq(view.offsets.iter().copied());
        if explained { Ok(view) } else { Err(Stop::Refused) }
    }

    /// Checks all queries of a layout.
    pub fn check(&self, layout: &Layout) {
        assert_eq!(layout.shape(), self.shape, "{layout:?}");
        assert_eq!(layout.numel(), self.offsets.len(), "{layout:?}");
        let offsets: Vec<i128> = layout.offsets().map(|offset| offset as i128).collect();
        assert_eq!(offsets, self.offsets, "{layout:?}");
        let runs = layout.runs().flat_map(|(start, len)| start..start + len);
        assert!(runs.map(|offset| offset as i128).eq(offsets.iter().copied()), "{layout:?}");
        for (index, &offset) in indices(&self.shape).iter().zip(&self.offsets) {
            assert_eq!(layout.offset_of(index).map(|found| found as i128), Ok(offset));
        }
        let bounds = layout.bounds().map(|(low, high)| (low as i128, high as i128));
        assert_eq!(bounds, self.bounds(), "{layout:?}");
        self.check_order(layout);
        self.check_overlap(layout);
    }

    fn bounds(&self) -> Option<(i128, i128)> {
        Some((*self.offsets.iter().min()?, *self.offsets.iter().max()?))
    }

    /// Contiguous: logical neighbours are adjacent in memory. Dense: no gaps, in any order.
    fn check_order(&self, layout: &Layout) {
        let contiguous = self.offsets.windows(2).all(|pair| pair[1] == pair[0] + 1);
        assert_eq!(layout.is_contiguous(), contiguous, "{layout:?}");
        assert_eq!(layout.contiguity_break().is_none(), contiguous, "{layout:?}");
        if let Some((low, high)) = self.bounds() {
            let dense = self.is_injective() && high - low + 1 == self.offsets.len() as i128;
            assert_eq!(layout.is_dense_signed(), dense, "{layout:?}");
        }
    }

    /// Do different indices have different offsets?
    pub fn is_injective(&self) -> bool {
        let mut sorted = self.offsets.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn check_overlap(&self, layout: &Layout) {
        match layout.self_overlap() {
            Overlap::No => assert!(self.is_injective(), "{layout:?}"),
            Overlap::Yes { first, second } => {
                assert_ne!(first, second, "{layout:?}");
                assert_eq!(self.at(&first), self.at(&second), "{layout:?}");
            }
            Overlap::TooHard => {}
        }
    }

    /// Checks the overlap query for two layouts over one storage.
    pub fn check_pair(&self, layout: &Layout, other: &Naive, other_layout: &Layout) {
        match layout.overlap(other_layout) {
            Overlap::No => {
                let shared = self.offsets.iter().any(|offset| other.offsets.contains(offset));
                assert!(!shared, "{layout:?} and {other_layout:?}");
            }
            Overlap::Yes { first, second } => {
                assert_eq!(self.at(&first), other.at(&second), "{layout:?} and {other_layout:?}");
            }
            Overlap::TooHard => {}
        }
    }
}
