//! Chains of transforms: the offsets of a transformed layout are those of a [`Naive`] tensor that
//! is transformed index by index.

use proptest::prelude::*;
use tensor_core::{Layout, Result, Slice};

use crate::naive::{Naive, layouts};

type Pair = (Layout, Naive);

/// A transform of both, or `None` if the layout has no dimension for it or strides cannot express
/// it.
type Transform = fn(&Layout, &Naive, &mut Arguments<'_>) -> Option<Pair>;

const TRANSFORMS: [Transform; 16] = [
    transpose,
    permute,
    movedim,
    flip,
    narrow,
    select,
    slice,
    unsqueeze,
    squeeze,
    squeeze_dim,
    expand,
    diagonal,
    unfold,
    split,
    flatten,
    view,
];

/// A source of random arguments within given bounds; zeros after its numbers are used up.
struct Arguments<'a>(std::slice::Iter<'a, u32>);

impl Arguments<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.0.next().map_or(0, |&number| number as usize % end)
    }

    fn between(&mut self, lowest: isize, highest: isize) -> isize {
        lowest + self.below(highest.abs_diff(lowest) + 1) as isize
    }

    fn dim(&mut self, naive: &Naive) -> Option<usize> {
        let rank = naive.shape.len();
        (rank > 0).then(|| self.below(rank))
    }

    fn bound(&mut self) -> Option<isize> {
        (self.below(3) > 0).then(|| self.between(-7, 7))
    }
}

/// A dimension, or a number of elements, as an argument of the layout's methods.
fn signed(number: usize) -> isize {
    number as isize
}

fn pair(layout: Result<Layout>, naive: Naive) -> Option<Pair> {
    Some((layout.expect("arguments that make sense"), naive))
}

fn transpose(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let (a, b) = (arguments.dim(naive)?, arguments.dim(naive)?);
    let mut order: Vec<usize> = (0..layout.ndim()).collect();
    order.swap(a, b);
    let from_end = signed(b) - signed(layout.ndim());
    pair(layout.transpose(signed(a), from_end), naive.reordered(&order))
}

fn permute(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let mut order: Vec<usize> = (0..layout.ndim()).collect();
    order.sort_by_cached_key(|_| arguments.below(100));
    let dims: Vec<isize> = order.iter().copied().map(signed).collect();
    pair(layout.permute(&dims), naive.reordered(&order))
}

fn movedim(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let (from, to) = (arguments.dim(naive)?, arguments.dim(naive)?);
    let mut order: Vec<usize> = (0..layout.ndim()).filter(|&d| d != from).collect();
    order.insert(to, from);
    pair(layout.movedim([signed(from)], [signed(to)]), naive.reordered(&order))
}

fn flip(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let dims: Vec<usize> = (0..layout.ndim()).filter(|_| arguments.below(2) == 0).collect();
    let flipped = dims.iter().fold(naive.clone(), |naive, &d| {
        let indices: Vec<usize> = (0..naive.shape[d]).rev().collect();
        naive.selected(d, &indices)
    });
    let dims: Vec<isize> = dims.into_iter().map(signed).collect();
    pair(layout.flip(&dims), flipped)
}

fn narrow(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let d = arguments.dim(naive)?;
    let start = arguments.below(naive.shape[d] + 1);
    let len = arguments.below(naive.shape[d] - start + 1);
    let indices: Vec<usize> = (start..start + len).collect();
    pair(layout.narrow(signed(d), signed(start), len), naive.selected(d, &indices))
}

fn select(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let d = arguments.dim(naive)?;
    let mut shape = naive.shape.clone();
    let at = (shape.remove(d) > 0).then(|| arguments.below(naive.shape[d]))?;
    let rest = naive.rearranged(shape, |index| [&index[..d], &[at], &index[d..]].concat());
    pair(layout.select(signed(d), signed(at)), rest)
}

fn slice(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let d = arguments.dim(naive)?;
    let (start, end) = (arguments.bound(), arguments.bound());
    let step = [-3, -2, -1, 1, 2, 3][arguments.below(6)];
    let indices = python_range(naive.shape[d], start, end, step);
    pair(layout.slice(signed(d), Slice::new(start, end, step)), naive.selected(d, &indices))
}

fn unsqueeze(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let at = arguments.below(layout.ndim() + 1);
    let mut shape = naive.shape.clone();
    shape.insert(at, 1);
    pair(layout.unsqueeze(signed(at)), naive.with_shape(shape))
}

fn squeeze(layout: &Layout, naive: &Naive, _: &mut Arguments<'_>) -> Option<Pair> {
    let shape = naive.shape.iter().copied().filter(|&size| size != 1).collect();
    pair(layout.squeeze(), naive.with_shape(shape))
}

fn squeeze_dim(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let d = arguments.dim(naive)?;
    let mut shape = naive.shape.clone();
    if shape[d] == 1 {
        shape.remove(d);
    }
    pair(layout.squeeze_dim(signed(d)), naive.with_shape(shape))
}

fn expand(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let mut shape = naive.shape.clone();
    shape.iter_mut().filter(|size| **size == 1).for_each(|size| *size = arguments.below(4));
    let lead = arguments.below(2);
    (0..lead).for_each(|_| shape.insert(0, arguments.below(4)));
    let expanded = naive.rearranged(shape.clone(), |index| {
        let own = index[lead..].iter().zip(&naive.shape);
        own.map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
    });
    pair(layout.broadcast_to(&shape), expanded)
}

fn diagonal(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let (a, b) = (arguments.dim(naive)?, arguments.dim(naive)?);
    let offset = arguments.between(-3, 3);
    (a != b).then(|| {
        pair(layout.diagonal(offset, signed(a), signed(b)), naive.diagonal(offset, a, b))
    })?
}

fn unfold(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let d = arguments.dim(naive)?;
    let (window, step) = (arguments.below(naive.shape[d] + 1), 1 + arguments.below(3));
    let mut shape = naive.shape.clone();
    shape[d] = (0..).take_while(|i| i * step + window <= naive.shape[d]).count();
    shape.push(window);
    let windows = naive.rearranged(shape, |index| {
        let (within, outer) = index.split_last().expect("the window is a dimension");
        let mut source = outer.to_vec();
        source[d] = outer[d] * step + within;
        source
    });
    pair(layout.unfold(signed(d), window, step), windows)
}

fn split(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let (d, size) = (arguments.dim(naive)?, 1 + arguments.below(3));
    let all: Vec<usize> = (0..naive.shape[d]).collect();
    let chunks: Vec<&[usize]> = if all.is_empty() { vec![&[]] } else { all.chunks(size).collect() };
    let parts = layout.split(size, signed(d)).expect("arguments that make sense");
    assert_eq!(parts.len(), chunks.len());
    let which = arguments.below(chunks.len());
    Some((parts[which].clone(), naive.selected(d, chunks[which])))
}

fn flatten(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let (a, b) = (arguments.dim(naive)?, arguments.dim(naive)?);
    let (start, end) = (a.min(b), a.max(b));
    let merged = naive.shape[start..=end].iter().product();
    let shape = [&naive.shape[..start], &[merged], &naive.shape[end + 1..]].concat();
    Some((layout.flatten(signed(start), signed(end)).ok()?, naive.with_shape(shape)))
}

fn view(layout: &Layout, naive: &Naive, arguments: &mut Arguments<'_>) -> Option<Pair> {
    let mut remaining = naive.offsets.len();
    let mut shape = Vec::new();
    for _ in 0..arguments.below(4) {
        let divisors: Vec<usize> =
            (1..=remaining).filter(|&size| remaining.is_multiple_of(size)).collect();
        shape.push(divisors.get(arguments.below(divisors.len().max(1))).copied().unwrap_or(3));
        remaining /= shape[shape.len() - 1];
    }
    shape.push(remaining);
    let sizes: Vec<isize> = shape.iter().copied().map(signed).collect();
    Some((layout.view(&sizes).ok()?, naive.with_shape(shape)))
}

impl Naive {
    /// The same elements in the same order.
    fn with_shape(&self, shape: Vec<usize>) -> Self {
        Self { shape, offsets: self.offsets.clone() }
    }

    fn diagonal(&self, offset: isize, a: usize, b: usize) -> Self {
        let (down, right) = (offset.min(0).unsigned_abs(), offset.max(0).unsigned_abs());
        let len =
            (0..).take_while(|i| i + down < self.shape[a] && i + right < self.shape[b]).count();
        let others: Vec<usize> = (0..self.shape.len()).filter(|&d| d != a && d != b).collect();
        let shape = others.iter().map(|&d| self.shape[d]).chain([len]).collect();
        self.rearranged(shape, |index| {
            let (along, outer) = index.split_last().expect("the diagonal is a dimension");
            let mut source = vec![0; self.shape.len()];
            others.iter().zip(outer).for_each(|(&d, &i)| source[d] = i);
            (source[a], source[b]) = (along + down, along + right);
            source
        })
    }
}

/// `list(range(size)[start:end:step])`, as Python's `slice.indices` defines it.
fn python_range(size: usize, start: Option<isize>, end: Option<isize>, step: isize) -> Vec<usize> {
    let (size, step) = (size as i128, step as i128);
    let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |bound: isize| {
        let bound = if bound < 0 { bound as i128 + size } else { bound as i128 };
        bound.max(lowest).min(highest)
    };
    let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let (mut at, end) = (start.map_or(first, bound), end.map_or(last, bound));
    let mut indices = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        indices.push(at as usize);
        at += step;
    }
    indices
}

fn assert_same((layout, naive): &Pair) -> Result<(), TestCaseError> {
    prop_assert_eq!(layout.shape(), &naive.shape);
    let offsets: Vec<i128> = layout.offsets().map(|offset| offset as i128).collect();
    prop_assert_eq!(&offsets, &naive.offsets);
    prop_assert_eq!(layout.offsets().len(), offsets.len());
    prop_assert_eq!(layout.numel(), offsets.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn transforming_a_layout_transforms_its_offsets(
        start in layouts(),
        steps in prop::collection::vec(
            (0..TRANSFORMS.len(), prop::collection::vec(any::<u32>(), 0..12)),
            1..7,
        ),
    ) {
        let mut now = (start.clone(), Naive::of(&start));
        for (transform, numbers) in &steps {
            let mut arguments = Arguments(numbers.iter());
            if let Some(next) = TRANSFORMS[*transform](&now.0, &now.1, &mut arguments) {
                assert_same(&next)?;
                // Expanding and unfolding add elements; keep them few enough to enumerate.
                now = if next.1.offsets.len() < 600 { next } else { now };
            }
        }
    }

    #[test]
    fn offset_of_agrees_with_enumeration(layout in layouts()) {
        let naive = Naive::of(&layout);
        for (index, &expected) in crate::naive::indices(layout.shape()).iter().zip(&naive.offsets) {
            prop_assert_eq!(layout.offset_of(index).map(|offset| offset as i128), Ok(expected));
        }
        prop_assert!(layout.offset_of(layout.shape()).is_err() || layout.ndim() == 0);
    }

    #[test]
    fn slices_agree_with_python(
        size in 0usize..9,
        start in prop::option::of(prop_oneof![-12isize..13, Just(isize::MIN), Just(isize::MAX)]),
        end in prop::option::of(prop_oneof![-12isize..13, Just(isize::MIN), Just(isize::MAX)]),
        step in prop_oneof![-4isize..5, Just(isize::MIN), Just(isize::MAX)],
    ) {
        let row = Layout::contiguous([size]).unwrap();
        match row.slice(0, Slice::new(start, end, step)) {
            Err(refused) => prop_assert!(step == 0, "{}", refused),
            Ok(slice) => {
                let offsets: Vec<usize> = slice.offsets().collect();
                prop_assert_eq!(offsets, python_range(size, start, end, step));
                prop_assert!(slice.offset() <= size);
            }
        }
    }
}
