//! A pattern applied to a shape: which sizes its axes have, and the steps from the layout of the
//! input to that of the result.
//!
//! The steps are those of einops: each dimension of the input is split into its axes; the axes are
//! permuted to the order of the result, those to reduce at the end; new axes are inserted; axes
//! are merged to the dimensions of the result. Only the last step can need a copy.

#[cfg(feature = "reductions")]
use tensor_core::AnyTensorBase;
use tensor_core::{
    DimVec, Element, Error, Layout, PatternRule, Result, TensorBase, TensorViewBase,
};

use super::{
    parse::{Checked, Dim, Refusal, Span},
    pattern::{Pattern, Place},
};

/// The steps of one call.
#[derive(Debug)]
pub(super) struct Steps {
    /// The sizes of the axes of the input, in its order.
    split: DimVec<usize>,
    /// The axes of the input in the order of the result, those to reduce at the end.
    order: DimVec<usize>,
    /// The number of axes to reduce.
    pub(super) reduced: usize,
    /// The positions of new axes among the axes of the result.
    new: DimVec<usize>,
    /// The sizes of the axes of the result.
    pub(super) axes: DimVec<usize>,
    /// The sizes of the dimensions of the result.
    pub(super) merged: DimVec<usize>,
}

/// What the steps are applied to.
pub(in crate::api) trait Strided: Clone {
    fn shape(&self) -> &[usize];
    fn view(&self, sizes: &[isize]) -> Result<Self>;
    fn permute(&self, dims: &[isize]) -> Result<Self>;
    fn unsqueeze(&self, dim: isize) -> Result<Self>;
    fn broadcast_to(&self, shape: &[usize]) -> Result<Self>;
}

macro_rules! strided {
    ($($impl:tt)*) => {
        $($impl)* {
            fn shape(&self) -> &[usize] {
                self.shape()
            }

            fn view(&self, sizes: &[isize]) -> Result<Self> {
                self.view(sizes)
            }

            fn permute(&self, dims: &[isize]) -> Result<Self> {
                self.permute(dims)
            }

            fn unsqueeze(&self, dim: isize) -> Result<Self> {
                self.unsqueeze(dim)
            }

            fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
                self.broadcast_to(shape)
            }
        }
    };
}

strided! { impl<T: Element, K> Strided for TensorBase<T, K> }
strided! { impl<T: Copy, K> Strided for TensorViewBase<'_, T, K> }
#[cfg(feature = "reductions")]
strided! { impl<K> Strided for AnyTensorBase<K> }

impl Steps {
    /// The input with an axis for each dimension: those of the result in their order, then those
    /// to reduce.
    pub(super) fn arranged<V: Strided>(&self, input: &V) -> Result<V> {
        // `view` normalises the strides of dimensions of size 1 even if the shape is the same.
        let is_split = input.shape() == &self.split[..];
        let mut arranged =
            if is_split { input.clone() } else { input.view(&signed(&self.split))? };
        if !self.order.iter().copied().eq(0..self.order.len()) {
            arranged = arranged.permute(&signed(&self.order))?;
        }
        if self.new.is_empty() {
            return Ok(arranged);
        }
        for &position in &self.new {
            arranged = arranged.unsqueeze(position as isize)?;
        }
        arranged.broadcast_to(&self.axes)
    }

    /// The axes of the result, in its order, merged to its dimensions.
    pub(super) fn merged<V: Strided>(&self, axes: V) -> Result<Merged<V>> {
        if axes.shape() == &self.merged[..] {
            return Ok(Merged::View(axes));
        }
        match axes.view(&signed(&self.merged)) {
            Ok(view) => Ok(Merged::View(view)),
            Err(Error::NotViewable { .. }) => Ok(Merged::NeedsCopy(axes)),
            Err(refused) => Err(refused),
        }
    }

    /// As [`merged`](Self::merged), of a contiguous tensor, which never needs a copy.
    pub(super) fn merged_copy<T: Element, K>(
        &self,
        axes: &TensorBase<T, K>,
    ) -> Result<TensorBase<T, K>> {
        axes.view(signed(&self.merged))
    }
}

/// What strides can express of a result.
pub(super) enum Merged<V> {
    /// The result.
    View(V),
    /// Its axes only: a copy of them in their order is the result.
    NeedsCopy(V),
}

/// Sizes of a layout, or positions of dimensions: at most `isize::MAX`.
fn signed(numbers: &[usize]) -> DimVec<isize> {
    numbers.iter().map(|&n| n as isize).collect()
}

/// The product, or `usize::MAX` if it is larger.
fn product(sizes: impl IntoIterator<Item = usize>) -> usize {
    sizes.into_iter().fold(1, usize::saturating_mul)
}

impl Pattern {
    /// The steps for an input of a shape, with sizes that are given for axes.
    pub(super) fn steps(&self, shape: &[usize], sizes: &[(&str, usize)]) -> Result<Steps> {
        let resolved = Resolver::new(self, shape, sizes);
        let steps = resolved.map_err(|refusal| self.refused(refusal))?.steps();
        if shape.contains(&0) {
            // Sizes that are given for axes of an empty input can be too large for a layout.
            Layout::contiguous(&steps.split)?;
        }
        Ok(steps)
    }
}

/// The sizes of all axes.
struct Resolver<'p> {
    pattern: &'p Pattern,
    /// The sizes of the axes, by their numbers.
    sizes: DimVec<usize>,
    /// The sizes of the dimensions of the ellipsis.
    ellipsis: &'p [usize],
    /// The number of axes on the left side before the ellipsis.
    before_ellipsis: usize,
}

impl<'p> Resolver<'p> {
    fn new(pattern: &'p Pattern, shape: &'p [usize], given: &[(&str, usize)]) -> Checked<Self> {
        let count = pattern.ellipsis_rank(shape)?;
        let mut known = pattern.known_sizes(given)?;
        let mut dims = shape;
        let (mut ellipsis, mut before_ellipsis) = (&[][..], pattern.left_axes);
        let mut passed = 0;
        for dim in &pattern.left {
            match dim {
                Dim::Ellipsis(_) => {
                    (ellipsis, dims) = dims.split_at(count);
                    before_ellipsis = passed;
                }
                Dim::Axes(axes, at) => {
                    let input = (shape.len() - dims.len(), dims[0]);
                    pattern.infer(axes, at, input, &mut known)?;
                    dims = &dims[1..];
                    passed += axes.len();
                }
            }
        }
        Ok(Self { pattern, sizes: pattern.all_known(&known)?, ellipsis, before_ellipsis })
    }

    /// The position of an axis of the left side among the axes of the input.
    fn position(&self, axis: usize) -> usize {
        if axis < self.before_ellipsis { axis } else { axis + self.ellipsis.len() }
    }

    fn steps(&self) -> Steps {
        let left = &self.sizes[..self.pattern.left_axes];
        let (before, after) = left.split_at(self.before_ellipsis);
        let mut steps = Steps {
            split: [before, self.ellipsis, after].into_iter().flatten().copied().collect(),
            order: DimVec::new(),
            reduced: 0,
            new: DimVec::new(),
            axes: DimVec::new(),
            merged: DimVec::new(),
        };
        for dim in &self.pattern.right {
            self.place(dim, &mut steps);
        }
        let removed = |position: &usize| !steps.order.contains(position);
        let reduced: DimVec<usize> = (0..steps.split.len()).filter(removed).collect();
        steps.reduced = reduced.len();
        steps.order.extend(reduced);
        steps
    }

    /// Adds a dimension of the result, or several if it is an ellipsis.
    fn place(&self, dim: &Dim<Place>, steps: &mut Steps) {
        let start = steps.axes.len();
        match dim {
            Dim::Ellipsis(_) => {
                self.place_axis(Place::Ellipsis, steps);
                steps.merged.extend_from_slice(self.ellipsis);
            }
            Dim::Axes(axes, _) => {
                axes.iter().for_each(|&axis| self.place_axis(axis, steps));
                steps.merged.push(product(steps.axes[start..].iter().copied()));
            }
        }
    }

    fn place_axis(&self, axis: Place, steps: &mut Steps) {
        match axis {
            Place::Ellipsis => {
                let start = self.before_ellipsis;
                steps.order.extend(start..start + self.ellipsis.len());
                steps.axes.extend_from_slice(self.ellipsis);
            }
            Place::Axis(axis) => {
                if axis < self.pattern.left_axes {
                    steps.order.push(self.position(axis));
                } else {
                    steps.new.push(steps.axes.len());
                }
                steps.axes.push(self.sizes[axis]);
            }
        }
    }
}

impl Pattern {
    /// The sizes of axes that are numbers or given.
    fn known_sizes(&self, given: &[(&str, usize)]) -> Checked<DimVec<Option<usize>>> {
        let mut known: DimVec<_> = self.axes.iter().map(|axis| axis.size).collect();
        for &(name, size) in given {
            let unknown = || PatternRule::UnknownAxis { name: name.to_owned() };
            let axis = self.axis(name);
            let axis = axis.ok_or_else(|| Refusal { at: self.span(), rule: unknown() })?;
            if let Some(first) = known[axis].replace(size) {
                let rule = PatternRule::SizeTwice { name: name.to_owned(), first, second: size };
                return Err(self.at_axis(axis, rule));
            }
        }
        Ok(known)
    }

    /// The number of dimensions of the ellipsis.
    fn ellipsis_rank(&self, shape: &[usize]) -> Checked<usize> {
        let is_axes = |dim: &&Dim<usize>| matches!(dim, Dim::Axes(..));
        let expected = self.left.iter().filter(is_axes).count();
        let at_least = expected < self.left.len();
        match shape.len().checked_sub(expected) {
            Some(count) if at_least || count == 0 => Ok(count),
            _ => {
                let rule = PatternRule::Rank { expected, at_least, shape: shape.to_vec() };
                Err(Refusal { at: self.left_span.clone(), rule })
            }
        }
    }

    /// Infers the size of at most one of the axes of dimension `dim`, of size `size`.
    fn infer(
        &self,
        axes: &[usize],
        at: &Span,
        (dim, size): (usize, usize),
        known: &mut [Option<usize>],
    ) -> Checked<()> {
        let product = product(axes.iter().filter_map(|&axis| known[axis]));
        let unknown: DimVec<usize> =
            axes.iter().copied().filter(|&axis| known[axis].is_none()).collect();
        let name = |axis: usize| self.text(&self.axes[axis].span).to_owned();
        let rule = match unknown[..] {
            [] if product == size => return Ok(()),
            [] => PatternRule::Mismatch { dim, size, product },
            [axis] if product > 0 && size % product == 0 => {
                known[axis] = Some(size / product);
                return Ok(());
            }
            [axis] => PatternRule::NotDivisible { dim, size, product, name: name(axis) },
            _ => PatternRule::NotInferable { names: unknown.iter().map(|&a| name(a)).collect() },
        };
        Err(Refusal { at: at.clone(), rule })
    }

    /// The sizes of all axes, after those of the left side have been inferred.
    fn all_known(&self, known: &[Option<usize>]) -> Checked<DimVec<usize>> {
        let size = |(axis, size): (usize, &Option<usize>)| {
            let name = || self.text(&self.axes[axis].span).to_owned();
            size.ok_or_else(|| self.at_axis(axis, PatternRule::NoSize { name: name() }))
        };
        known.iter().enumerate().map(size).collect()
    }

    fn at_axis(&self, axis: usize, rule: PatternRule) -> Refusal {
        Refusal { at: self.axes[axis].span.clone(), rule }
    }
}
