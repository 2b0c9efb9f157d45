//! Layouts of arbitrary numbers: a constructor accepts exactly the layouts that are valid in
//! 128-bit arithmetic, and every transform of an accepted layout is a layout within its bounds or
//! an error.

use proptest::prelude::*;
use tensor_core::{Index, Layout, MemoryFormat, Remedy, Slice};

const MAX: i128 = isize::MAX as i128;

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..4,
        2 => (0u32..64).prop_map(|bit| 1 << bit),
        1 => any::<usize>(),
        1 => Just(isize::MAX as usize),
    ]
}

fn numbers() -> impl Strategy<Value = isize> {
    prop_oneof![
        4 => -4isize..5,
        2 => (0u32..63, any::<bool>()).prop_map(|(bit, up)| if up { 1 << bit } else { -1 << bit }),
        1 => any::<isize>(),
        1 => Just(isize::MIN),
        1 => Just(isize::MAX),
        1 => Just(-isize::MAX),
    ]
}

fn raw() -> impl Strategy<Value = (Vec<usize>, Vec<isize>, usize)> {
    let dims = prop::collection::vec((sizes(), numbers()), 0..4);
    (dims, sizes()).prop_map(|(dims, offset)| {
        let (shape, strides) = dims.into_iter().unzip();
        (shape, strides, offset)
    })
}

/// The rule for valid layouts, in saturating 128-bit arithmetic.
fn is_addressable(shape: &[usize], strides: &[isize], offset: usize) -> bool {
    let counted = shape.iter().filter(|&&size| size > 0);
    let numel = counted.fold(1i128, |numel, &size| numel.saturating_mul(size as i128));
    let reach = |part: fn(i128) -> i128| {
        shape.iter().zip(strides).fold(offset as i128, |sum, (&size, &stride)| {
            sum.saturating_add(part((size as i128 - 1) * stride as i128))
        })
    };
    let numbers_fit = numel <= MAX && offset as i128 <= MAX && !strides.contains(&isize::MIN);
    let offsets_fit = || reach(|step| step.min(0)) >= 0 && reach(|step| step.max(0)) <= MAX;
    numbers_fit && (shape.contains(&0) || offsets_fit())
}

/// Every transform, with arbitrary arguments.
fn transforms(layout: &Layout, [a, b, c]: [isize; 3]) -> Vec<tensor_core::Result<Layout>> {
    let (size, step) = (b.unsigned_abs(), c.unsigned_abs());
    let slice = Slice::new(Some(b), Some(c), a);
    let mut results = vec![
        layout.transpose(a, b),
        layout.t(),
        layout.permute([a, b, c]),
        layout.movedim([a, b], [b, c]),
        layout.flip([a, b]),
        layout.flip([a]),
        layout.narrow(a, b, step),
        layout.select(a, b),
        layout.slice(a, Slice::new(Some(b), None, c)),
        layout.slice(a, Slice::new(None, Some(b), c)),
        layout.index(&[Index::At(a), Index::NewAxis, Index::Slice(slice), Index::Ellipsis]),
        layout.index(&[Index::Ellipsis, Index::Slice(slice)]),
        layout.unsqueeze(a),
        layout.squeeze(),
        layout.squeeze_dim(a),
        layout.view([a, b, c]),
        layout.view([-1, b]),
        layout.view([-1]),
        layout.flatten(a, b),
        layout.flatten(0, -1),
        layout.unflatten(a, [b, c]),
        layout.unflatten(a, [-1, c]),
        layout.diagonal(a, b, c),
        layout.diagonal(a, 0, 1),
        layout.unfold(a, size, step),
        layout.unfold(a, 1, step),
        layout.expand([a, b, c]),
        layout.expand([a, -1, -1]),
        layout.broadcast_to([size, step]),
    ];
    for parts in splits(layout, a, size, step) {
        results.extend(parts.unwrap_or_default().into_iter().take(9).map(Ok));
    }
    results
}

/// The transforms with several results. Numbers of results are excluded that fit into memory but
/// take too long.
fn splits(
    layout: &Layout,
    dim: isize,
    size: usize,
    chunks: usize,
) -> Vec<tensor_core::Result<Vec<Layout>>> {
    let longest = layout.shape().iter().copied().max().unwrap_or(0);
    let is_quick = |count: usize| !(1 << 10..1 << 42).contains(&count);
    let mut results = vec![layout.chunk(chunks.min(9), dim)];
    if is_quick(longest) {
        results.push(layout.unbind(dim));
    }
    if is_quick(longest / size.max(1)) {
        results.push(layout.split(size, dim));
    }
    results
}

/// Transforms whose result may lie outside of the layout's bounds; they must not panic.
fn enlargements(layout: &Layout, [a, b, c]: [isize; 3]) -> Vec<tensor_core::Result<Layout>> {
    let (size, offset) = (b.unsigned_abs(), c.unsigned_abs());
    vec![
        layout.as_strided([size], [a], Some(offset)),
        layout.preserved(),
        Layout::elementwise(&[layout, layout]),
        layout.view_as_width(4, 1),
        layout.view_as_width(1, 8),
        Layout::contiguous(layout.shape()),
        Layout::fortran(layout.shape()),
        Layout::with_format(layout.shape(), MemoryFormat::ChannelsLast),
    ]
}

/// The shape with its sizes of 1 replaced, and leading dimensions added.
fn expanded(shape: &[usize], sizes: &[usize]) -> Vec<usize> {
    let (own, lead) = sizes.split_at(sizes.len().min(shape.len()));
    let own = own.iter().chain(std::iter::repeat(&1)).zip(shape);
    let own = own.map(|(&asked, &size)| if size == 1 { asked } else { size });
    lead.iter().copied().chain(own).collect()
}

/// Every operation that makes a layout of a given shape.
fn of_shape(layout: &Layout, shape: &[usize]) -> Vec<tensor_core::Result<Layout>> {
    let signed = |&size: &usize| isize::try_from(size).ok();
    let sizes: Option<Vec<isize>> = shape.iter().map(signed).collect();
    let zeros = vec![0; shape.len()];
    let mut results = vec![
        layout.broadcast_to(shape),
        layout.as_strided(shape, &zeros, None),
        Layout::new(shape, &zeros, 0),
        Layout::contiguous(shape),
        Layout::fortran(shape),
        Layout::with_format(shape, MemoryFormat::ChannelsLast),
        Layout::with_format(shape, MemoryFormat::ChannelsLast3d),
    ];
    if let Some(sizes) = sizes {
        results.extend([layout.expand(&sizes), layout.view(&sizes)]);
    }
    results
}

/// Calls every query, which must not panic; `questions` checks the answers.
fn query(layout: &Layout) {
    let _ = (layout.is_dense_signed(), layout.is_fortran(), layout.suggest_memory_format());
    let _ = (layout.contiguity_trace().to_string(), layout.bounds(), layout.contiguity_break());
    let _ = (layout.strides_in_bytes(8), layout.dense_bytes(8), layout.check_within(100, 8));
    let _ = (layout.self_overlap_within(64), layout.offset_of(&vec![0; layout.ndim()]));
    let _ = (layout.offsets().take(3).count(), layout.runs().take(3).count());
    explain(layout);
}

/// Calls every explanation, which must not panic, and applies each way out; `refusals` and `lints`
/// check what they say.
fn explain(layout: &Layout) {
    let reversed = layout.shape().iter().rev().map(|&size| size as isize);
    for sizes in [vec![-1], vec![2, -1], vec![-1, 2, 1], reversed.collect()] {
        let Ok(Some(why)) = layout.why_not_view(&sizes) else { continue };
        let works = |remedy: &Remedy| remedy.apply(layout).is_ok() && remedy.copied(layout).is_ok();
        assert!(why.remedies().iter().all(works), "{why}");
        let _ = why.in_bytes(usize::MAX).to_string();
    }
    if let Some(why) = layout.why_not_contiguous() {
        let works = |remedy: &Remedy| remedy.apply(layout).is_ok_and(|l| l.is_contiguous());
        assert!(why.remedies().iter().all(works), "{why}");
        let _ = why.in_bytes(usize::MAX).to_string();
    }
    for itemsize in [0, 1, 8, 12, usize::MAX, 1 << 63] {
        for lint in layout.lints(itemsize) {
            assert_eq!(lint.padded().map_or(layout.numel(), Layout::numel), layout.numel());
            let _ = (lint.to_string(), lint.padded_stride());
        }
    }
}

fn is_within(part: &Layout, whole: &Layout) -> bool {
    match (part.bounds(), whole.bounds()) {
        (None, _) => true,
        (Some(part), Some(whole)) => whole.0 <= part.0 && part.1 <= whole.1,
        (Some(_), None) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_layout_is_accepted_exactly_if_every_offset_fits(
        (shape, strides, offset) in raw(),
    ) {
        let accepted = Layout::new(&shape, &strides, offset);
        prop_assert_eq!(accepted.is_ok(), is_addressable(&shape, &strides, offset));
    }

    #[test]
    fn shapes_and_strides_of_different_lengths_are_refused(
        (shape, mut strides, offset) in raw(),
        extra in numbers(),
    ) {
        strides.push(extra);
        prop_assert!(Layout::new(&shape, &strides, offset).is_err());
        strides.truncate(shape.len().saturating_sub(1));
        prop_assert!(shape.is_empty() || Layout::new(&shape, &strides, offset).is_err());
    }

    #[test]
    fn a_requested_shape_is_returned_or_refused(
        (shape, strides, offset) in raw(),
        asked in prop::collection::vec(sizes(), 0..5),
        is_expansion in any::<bool>(),
    ) {
        let Ok(layout) = Layout::new(&shape, &strides, offset) else { return Ok(()) };
        let asked = if is_expansion { expanded(&shape, &asked) } else { asked };
        for given in of_shape(&layout, &asked).into_iter().flatten() {
            prop_assert_eq!(given.shape(), &asked, "of {:?}", layout);
        }
    }

    #[test]
    fn transforms_stay_within_the_layout_or_are_refused(
        (shape, strides, offset) in raw(),
        arguments in prop::collection::vec([numbers(), numbers(), numbers()], 1..4),
    ) {
        let Ok(mut layout) = Layout::new(&shape, &strides, offset) else { return Ok(()) };
        for arguments in arguments {
            query(&layout);
            for derived in enlargements(&layout, arguments).into_iter().flatten() {
                query(&derived);
            }
            let derived = transforms(&layout, arguments).into_iter().flatten();
            let derived: Vec<Layout> = derived.collect();
            for part in &derived {
                prop_assert!(is_within(part, &layout), "{:?} of {:?}", part, layout);
                query(part);
            }
            let next = derived.len() / 2;
            layout = derived.into_iter().nth(next).unwrap_or(layout);
        }
    }

    #[test]
    fn overlap_of_any_two_layouts_does_not_panic(a in raw(), b in raw()) {
        let layouts = Layout::new(&a.0, &a.1, a.2).ok().zip(Layout::new(&b.0, &b.1, b.2).ok());
        if let Some((a, b)) = layouts {
            let _ = a.overlap_within(&b, 64);
        }
    }
}
