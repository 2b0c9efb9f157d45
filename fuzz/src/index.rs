//! Index tuples as the `s!` macro makes them, and their meaning as Python defines it.

use std::ops::RangeInclusive;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use tensor_kernels::{Index, NewAxis, Slice, s};

use crate::{Naive, Ruled, Stop, draw};

/// An entry of an index tuple: the library's value, and its meaning.
#[derive(Clone, Debug)]
pub struct Item {
    given: Index,
    meaning: Meaning,
}

/// An entry in plain numbers, before clamping and wrapping.
#[derive(Clone, Debug)]
enum Meaning {
    At(i128),
    Range(Option<i128>, Option<i128>, i128),
    NewAxis,
    Ellipsis,
}

/// The indices `first`, `first + step`, … of a dimension.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    first: i128,
    step: i128,
    /// The number of indices.
    pub len: usize,
}

impl Selection {
    /// `range(size)[start:end:step]`, by Python's `slice.indices`; none for a step of 0.
    pub fn of(
        size: usize,
        start: Option<i128>,
        end: Option<i128>,
        step: i128,
    ) -> Option<Selection> {
        let size = size as i128;
        let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let from_end = |bound: i128| if bound < 0 { bound + size } else { bound };
        let bound = |bound: i128| from_end(bound).max(lowest).min(highest);
        let (nearest, farthest) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let (first, last) = (start.map_or(nearest, bound), end.map_or(farthest, bound));
        let distance = if step > 0 { last - first } else { first - last };
        let len = (step != 0).then(|| (distance.max(0) + step.abs() - 1) / step.abs())?;
        Some(Selection { first, step, len: len as usize })
    }

    /// The selected index number `at`.
    pub fn at(self, at: usize) -> usize {
        (self.first + at as i128 * self.step) as usize
    }
}

/// A tuple for a tensor of a rank, of every form that the macro takes.
///
/// # Errors
/// Only those of `arbitrary`.
pub fn tuple(u: &mut Unstructured<'_>, rank: usize) -> Result<Vec<Item>> {
    draw::list(u, rank + 2, item)
}

/// The entries as values of the library.
pub fn as_given(items: &[Item]) -> Vec<Index> {
    items.iter().map(|item| item.given).collect()
}

fn item(u: &mut Unstructured<'_>) -> Result<Item> {
    let (given, meaning) = match u.int_in_range(0..=15)? {
        0 => (s![...], Meaning::Ellipsis),
        1 => (s![NewAxis], Meaning::NewAxis),
        2 => return at(u),
        3 => (s![..], Meaning::Range(None, None, 1)),
        4 => {
            let Slice { start, end, step, .. } = draw::slice(u)?;
            let wide = |bound: Option<isize>| bound.map(|bound| bound as i128);
            let meaning = Meaning::Range(wide(start), wide(end), step as i128);
            return Ok(Item { given: s![Slice::new(start, end, step)][0], meaning });
        }
        5..=8 => return signed_range(u),
        9..=12 => return short_range(u),
        _ => return unsigned_range(u),
    };
    Ok(Item { given: given[0], meaning })
}

fn at(u: &mut Unstructured<'_>) -> Result<Item> {
    let number = draw::number(u)?;
    let (given, number) = match u.int_in_range(0..=2)? {
        0 => (Index::from(number), number as i128),
        1 => (Index::from(number as i32), (number as i32).into()),
        _ => (Index::from(number as usize), number as usize as i128),
    };
    Ok(Item { given, meaning: Meaning::At(number) })
}

/// Ranges of one type of number, each with and without a step.
macro_rules! ranges {
    ($name:ident, $int:ty) => {
        fn $name(u: &mut Unstructured<'_>) -> Result<Item> {
            let (a, b) = (draw::number(u)? as $int, draw::number(u)? as $int);
            let (start, end) = (Some(a as i128), Some(b as i128));
            let step = if u.arbitrary()? { Some(draw::number(u)?) } else { None };
            macro_rules! item {
                        ($range:expr, $first:expr, $last:expr) => {{
                            let given: &[Index] = match step {
                                Some(step) => s![$range; step],
                                None => s![$range],
                            };
                            let meaning = Meaning::Range($first, $last, step.unwrap_or(1) as i128);
                            Ok(Item { given: given[0], meaning })
                        }};
                    }
            match u.int_in_range(0..=4)? {
                0 => item!(a..b, start, end),
                1 => item!(a.., start, None),
                2 => item!(..b, None, end),
                3 => item!(RangeInclusive::new(a, b), start, beyond(b as i128, step)),
                _ => item!(..=b, None, beyond(b as i128, step)),
            }
        }
    };
}

ranges!(signed_range, isize);
ranges!(short_range, i32);
ranges!(unsigned_range, usize);

/// The exclusive bound for an inclusive one, in the direction of the step. After −1, the last
/// index, and before 0 for a negative step, it is the end of the dimension.
fn beyond(last: i128, step: Option<isize>) -> Option<i128> {
    match step {
        Some(step) if step < 0 => (last != 0).then_some(last - 1),
        _ => (last != -1).then_some(last + 1),
    }
}

/// A dimension of the result: some indices of one of the tensor's, or a new one.
enum Dim {
    Of(usize, Selection),
    New,
}

/// The selection of a tuple: fixed indices, and the dimensions that remain.
#[derive(Default)]
struct Selected {
    fixed: Vec<(usize, usize)>,
    dims: Vec<Dim>,
    /// The next dimension of the tensor.
    next: usize,
}

/// The elements of a tensor that a tuple selects.
///
/// # Errors
/// Too many entries, two ellipses, an index out of range, a step of 0.
pub fn index(naive: &Naive, items: &[Item]) -> Ruled {
    let named = |item: &&Item| matches!(item.meaning, Meaning::At(_) | Meaning::Range(..));
    let is_ellipsis = |item: &&Item| matches!(item.meaning, Meaning::Ellipsis);
    let unnamed = naive.rank().checked_sub(items.iter().filter(named).count());
    let unnamed = unnamed.ok_or(Stop::Refused)?;
    if items.iter().filter(is_ellipsis).count() > 1 {
        return Err(Stop::Refused);
    }
    let mut selected = Selected::default();
    for item in items {
        selected.take(naive, &item.meaning, unnamed).ok_or(Stop::Refused)?;
    }
    selected.take_whole(naive, naive.rank() - selected.next);
    selected.elements(naive)
}

impl Selected {
    /// Adds one entry; `None` if it is invalid.
    fn take(&mut self, naive: &Naive, meaning: &Meaning, unnamed: usize) -> Option<()> {
        match *meaning {
            Meaning::At(at) => {
                let size = naive.shape[self.next] as i128;
                let at = if at < 0 { at + size } else { at };
                let at = (0..size).contains(&at).then_some(at as usize)?;
                self.fixed.push((self.next, at));
                self.next += 1;
            }
            Meaning::Range(start, end, step) => {
                let selection = Selection::of(naive.shape[self.next], start, end, step)?;
                self.dims.push(Dim::Of(self.next, selection));
                self.next += 1;
            }
            Meaning::NewAxis => self.dims.push(Dim::New),
            Meaning::Ellipsis => self.take_whole(naive, unnamed),
        }
        Some(())
    }

    /// Adds the next `count` dimensions unchanged.
    fn take_whole(&mut self, naive: &Naive, count: usize) {
        for _ in 0..count {
            let selection = Selection { first: 0, step: 1, len: naive.shape[self.next] };
            self.dims.push(Dim::Of(self.next, selection));
            self.next += 1;
        }
    }

    fn elements(&self, naive: &Naive) -> Ruled {
        let size = |dim: &Dim| match dim {
            Dim::Of(_, selection) => selection.len,
            Dim::New => 1,
        };
        naive.rearranged(self.dims.iter().map(size).collect(), |index| {
            let mut source = vec![0; naive.rank()];
            self.fixed.iter().for_each(|&(d, at)| source[d] = at);
            for (dim, &i) in self.dims.iter().zip(index) {
                if let Dim::Of(d, selection) = dim {
                    source[*d] = selection.at(i);
                }
            }
            source
        })
    }
}
