//! Refused views: the groups, the border that is named, and every way out, applied to an
//! enumeration of the offsets.

use proptest::prelude::*;
use tensor_core::{DimGroup, Error, Layout, Remedy};

use crate::{
    naive::{Naive, indices, layouts},
    printed_calls::results_of_text,
    questions::{any_layout, is_consecutive, reshaped, strides_for},
};

/// Layouts with dimensions that repeat their elements, outside of others or between them.
fn expanded_layouts() -> impl Strategy<Value = Layout> {
    let dims = prop::collection::vec((1usize..5, prop::bool::weighted(0.4)), 1..4);
    (dims, layouts()).prop_map(|(dims, layout)| {
        let (mut shape, mut strides) = (layout.shape().to_vec(), layout.strides().to_vec());
        for (at, (size, is_first)) in dims.into_iter().enumerate() {
            let at = if is_first { 0 } else { (at * 2).min(shape.len()) };
            if shape.iter().product::<usize>() <= 256 {
                shape.insert(at, size);
                strides.insert(at, 0);
            }
        }
        Layout::new(&shape, &strides, layout.offset()).expect("no other offsets")
    })
}

fn refusable_layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![any_layout(), expanded_layouts()]
}

fn signed(sizes: &[usize]) -> Vec<isize> {
    sizes.iter().map(|&size| size as isize).collect()
}

/// The elements of a remedy's result, as offsets in the original storage.
fn result_of(remedy: &Remedy, layout: &Layout) -> Naive {
    let result = Naive::of(&remedy.apply(layout).expect("a remedy works"));
    let copied = Naive::of(&remedy.copied(layout).expect("a part of the layout")).offsets;
    match copied.is_empty() {
        true => result,
        false => Naive {
            offsets: result.offsets.iter().map(|&offset| copied[offset as usize]).collect(),
            ..result
        },
    }
}

/// Does the printed text, as calls, give the same as the way out itself? For blocks: does it give
/// each block, in the order of the result, with what repeats only once?
fn check_text(layout: &Layout, remedy: &Remedy) -> Result<(), TestCaseError> {
    let results = results_of_text(remedy, layout);
    match remedy {
        Remedy::CopyBlock { dims, block_shape, blocks: count, repeated, .. } if *count > 1 => {
            prop_assert_eq!(results.len(), *count);
            prop_assert!(results.iter().all(|result| result.shape == *block_shape));
            let once = repeated.iter().try_fold(layout.clone(), |part, &d| part.narrow(d, 0, 1));
            let expected = blocks(&Naive::of(&once.unwrap()), dims);
            let found: Vec<_> = results.into_iter().map(|result| result.offsets).collect();
            prop_assert_eq!(found, expected, "{:?}: {}", layout, remedy);
        }
        _ => prop_assert_eq!(&results, &[result_of(remedy, layout)], "{:?}: {}", layout, remedy),
    }
    Ok(())
}

/// Do the groups cover all dimensions, is each equivalent to one dimension, and no two of them?
fn check_groups(layout: &Layout, groups: &[DimGroup]) -> Result<(), TestCaseError> {
    let naive = Naive::of(layout);
    let is_one_dim = |dims: std::ops::Range<usize>| {
        let first = |d: usize| if dims.contains(&d) { layout.shape()[d] } else { 1 };
        let shape: Vec<usize> = (0..layout.ndim()).map(first).collect();
        let part = naive.rearranged(shape, <[usize]>::to_vec);
        strides_for(&part.offsets, &[part.offsets.len()])
    };
    let mut next = 0;
    for group in groups {
        prop_assert_eq!(group.dims().start, next);
        next = group.dims().end;
        prop_assert_eq!(group.numel(), layout.shape()[group.dims()].iter().product::<usize>());
        let stride = is_one_dim(group.dims()).map(|strides| strides[0]);
        let expected = if group.numel() > 1 { group.stride() as i128 } else { 0 };
        prop_assert_eq!(stride, Some(expected), "{:?} {}", layout, group);
    }
    prop_assert_eq!(next, layout.ndim());
    for pair in groups.windows(2) {
        let both = pair[0].dims().start..pair[1].dims().end;
        prop_assert_eq!(is_one_dim(both), None, "{:?}", layout);
    }
    Ok(())
}

/// The dimensions of the target that belong to the dimensions of a block, without those of size 1.
fn target_dims(layout: &Layout, dims: &[usize], target: &[usize]) -> Vec<usize> {
    let behind = |sizes: &[usize], d: usize| sizes[d + 1..].iter().product::<usize>();
    let is_inside = |&t: &usize| {
        let low = behind(target, t);
        let covers = |&&d: &&usize| {
            let start = behind(layout.shape(), d);
            start < low * target[t] && low < start * layout.shape()[d]
        };
        target[t] > 1 && dims.iter().find(covers).is_some()
    };
    (0..target.len()).filter(is_inside).collect()
}

/// The offsets of all indices of some dimensions, for each index of the others.
fn blocks(naive: &Naive, dims: &[usize]) -> Vec<Vec<i128>> {
    let sizes_of = |inside: bool| -> Vec<usize> {
        let size = |(d, &size)| if dims.contains(&d) == inside { size } else { 1 };
        naive.shape.iter().enumerate().map(size).collect()
    };
    let sum = |a: &[usize], b: &[usize]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
    let of_index = |outer: Vec<usize>| {
        indices(&sizes_of(true)).iter().map(|inner| naive.at(&sum(&outer, inner))).collect()
    };
    indices(&sizes_of(false)).into_iter().map(of_index).collect()
}

/// Are the blocks of the layout, viewed as the block's shape, the blocks of the result?
fn check_blocks(layout: &Layout, target: &[usize], remedy: &Remedy) -> Result<(), TestCaseError> {
    let Remedy::CopyBlock { dims, block_shape, blocks: count, .. } = remedy else {
        return Ok(());
    };
    let wanted = target_dims(layout, dims, target);
    let sizes: Vec<usize> = wanted.iter().map(|&t| target[t]).collect();
    let wide: Vec<usize> = block_shape.iter().copied().filter(|&size| size > 1).collect();
    prop_assert_eq!(sizes, wide, "{:?} as {:?}", layout, target);
    let source = Naive::of(layout);
    let result = Naive { shape: target.to_vec(), offsets: source.offsets.clone() };
    prop_assert_eq!(blocks(&source, dims), blocks(&result, &wanted));
    let copied = remedy.copied(layout).unwrap().numel();
    prop_assert_eq!(copied, count * block_shape.iter().product::<usize>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_refused_view_is_explained_and_each_way_out_works(
        layout in refusable_layouts(),
        cuts in prop::collection::vec(1usize..7, 0..5),
    ) {
        if layout.numel() == 0 {
            return Ok(());
        }
        let naive = Naive::of(&layout);
        let target = reshaped(layout.numel(), &cuts);
        let sizes = signed(&target);
        let why = layout.why_not_view(&sizes).expect("the number of elements fits");
        prop_assert_eq!(why.is_none(), layout.view(&sizes).is_ok());
        let Some(why) = why else { return Ok(()) };

        check_groups(&layout, why.groups())?;
        let at = why.stride_break();
        prop_assert_ne!(at.found(), at.expected());
        prop_assert_eq!(at.found(), layout.strides()[at.dim()]);
        prop_assert!(why.groups().iter().any(|group| group.dims().end == at.dim() + 1));
        let text = why.to_string();
        prop_assert_eq!(text.lines().count(), 4 + why.remedies().len());

        let mut least = 0;
        for remedy in why.remedies() {
            let result = result_of(remedy, &layout);
            match remedy {
                Remedy::View { shape } => {
                    let expected = Naive { shape: shape.clone(), offsets: naive.offsets.clone() };
                    prop_assert_eq!(result, expected, "{}", remedy);
                }
                Remedy::Permute { .. } => {
                    let mut offsets = [naive.offsets.clone(), result.offsets];
                    offsets.iter_mut().for_each(|list| list.sort_unstable());
                    prop_assert_eq!(&offsets[0], &offsets[1], "{}", remedy);
                    prop_assert_eq!(&result.shape, &target);
                }
                _ => {
                    let expected = Naive { shape: target.clone(), offsets: naive.offsets.clone() };
                    prop_assert_eq!(result, expected, "{:?}: {}", layout, remedy);
                }
            }
            check_blocks(&layout, &target, remedy)?;
            check_text(&layout, remedy)?;
            let copied = remedy.copied(&layout).unwrap().numel();
            prop_assert!(copied >= least, "{}", text);
            least = copied;
        }
        prop_assert_eq!(least, layout.numel(), "the last one copies everything");
    }

    #[test]
    fn the_error_of_a_refused_view_names_a_view_that_works(
        layout in refusable_layouts(),
        cuts in prop::collection::vec(1usize..7, 0..5),
    ) {
        if layout.numel() == 0 {
            return Ok(());
        }
        let sizes = signed(&reshaped(layout.numel(), &cuts));
        let Err(error) = layout.view(&sizes) else { return Ok(()) };
        let why = layout.why_not_view(&sizes).unwrap().expect("it was refused");
        let Error::NotViewable { seam, expected, .. } = error else { panic!("{error}") };
        let at = why.stride_break();
        prop_assert_eq!((seam, expected), (at.dim() + 1, at.expected()));
        let end = format!("; without a copy: {}]", why.remedies()[0]);
        let text = error.to_string();
        prop_assert!(text.ends_with(&end), "{}", text);
    }

    #[test]
    fn what_is_not_contiguous_is_explained_and_each_way_out_is(layout in refusable_layouts()) {
        let why = layout.why_not_contiguous();
        prop_assert_eq!(why.is_none(), layout.is_contiguous());
        let Some(why) = why else { return Ok(()) };
        check_groups(&layout, why.groups())?;
        let (at, naive) = (why.stride_break(), Naive::of(&layout));
        prop_assert_eq!(Some(at.dim()), layout.contiguity_break());
        prop_assert_eq!(at.found(), layout.strides()[at.dim()]);
        let after: usize = layout.shape()[at.dim() + 1..].iter().product();
        prop_assert_eq!(at.expected() as usize, after);
        for remedy in why.remedies() {
            prop_assert!(remedy.apply(&layout).unwrap().is_contiguous(), "{}", remedy);
            check_text(&layout, remedy)?;
            let result = result_of(remedy, &layout);
            match remedy {
                Remedy::Permute { .. } => prop_assert!(is_consecutive(&result.offsets)),
                _ => prop_assert_eq!(result, naive.clone()),
            }
        }
        prop_assert_eq!(why.remedies().len() == 2, layout.is_dense());
    }
}
