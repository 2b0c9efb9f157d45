//! Extreme values: rank 64, no elements, `isize::MAX` elements, and the stride `isize::MIN`, which
//! cannot be negated.

use tensor_core::{
    Aliasing, Error, Index, Layout, MemoryFormat, Operand, Output, Overlap, Result, Slice, Tensor,
    TensorView, ViewRef, broadcast_shapes, s,
};

const MAX: usize = isize::MAX as usize;

/// 64 dimensions of sizes 2 and 1, 64 elements: 0 to 63 in row-major order.
fn of_rank_64() -> Tensor<u8> {
    let shape: Vec<usize> =
        (0..64).map(|dim| if dim % 10 == 0 && dim < 60 { 2 } else { 1 }).collect();
    Tensor::from_vec((0..64).collect(), &shape).unwrap()
}

#[test]
fn fault_rank_64_supports_every_operation() {
    let tensor = of_rank_64();
    let sorted = |view: &Tensor<u8>| {
        let mut elements = view.to_vec().unwrap();
        elements.sort_unstable();
        elements
    };
    let all: Vec<isize> = (0..64).collect();
    let reversed: Vec<isize> = (0..64).rev().collect();
    let each = [Index::At(-1); 64];
    let flipped = tensor.flip(&all).unwrap();
    assert_eq!(flipped.to_vec(), Ok((0..64).rev().collect()));
    assert_eq!(flipped.layout().bounds(), Some((0, 63)));
    assert_eq!(tensor.index(&each).unwrap().to_vec(), Ok(vec![63]));
    assert_eq!(tensor.get(&[0; 64]), Ok(0));
    assert_eq!(tensor.squeeze().unwrap().shape(), [2; 6]);
    for view in [
        tensor.permute(&reversed),
        tensor.movedim(&all, &reversed),
        tensor.transpose(0, -1),
        tensor.view([-1]),
        tensor.flatten(0, -1),
        tensor.unsqueeze(64),
        tensor.unfold(0, 2, 1),
        tensor.expand(vec![-1; 64]),
        tensor.index(s![..., 0..1]),
        tensor.permute(&reversed).and_then(|view| view.permute(&reversed)),
    ] {
        let view = view.unwrap();
        assert_eq!(sorted(&view), (0..64).collect::<Vec<_>>(), "{view:?}");
        assert_eq!(view.layout().self_overlap(), Overlap::No);
        assert_eq!(view.write().unwrap().as_view_mut().unwrap().iter_mut().count(), 64);
        assert!(view.to_string().starts_with("tensor(["));
    }
    assert!(matches!(tensor.get(&[0; 63]), Err(Error::TooFewIndices { ndim: 64, given: 63 })));
}

#[test]
fn fault_64_dimensions_of_size_two_overflow_and_62_do_not() {
    let one = Tensor::full((), 7u8).unwrap();
    assert!(matches!(one.expand([2; 64]), Err(Error::TooLarge { .. })));
    assert!(matches!(one.expand([2; 63]), Err(Error::TooLarge { .. })));
    assert!(matches!(broadcast_shapes(&[&[2; 64]]), Err(Error::TooLarge { .. })));
    let most = one.expand([2; 62]).unwrap();
    assert_eq!((most.numel(), most.layout().bounds()), (1 << 62, Some((0, 0))));
    assert_eq!(most.get(&[1; 62]), Ok(7));
    let backwards: Vec<isize> = (0..62).rev().collect();
    assert_eq!(most.permute(&backwards).unwrap().get(&[1; 62]), Ok(7));
    assert!(matches!(most.write().unwrap().as_view_mut(), Err(Error::WriteOverlap { .. })));
    assert!(most.to_string().ends_with("elements)"));

    let strides: Vec<isize> = (0..62).map(|bit| 1 << bit).collect();
    let bits = Layout::new([2; 62], &strides, 0).unwrap();
    assert_eq!(bits.bounds(), Some((0, (1 << 62) - 1)));
    assert_eq!(bits.self_overlap(), Overlap::No);
    let flipped = bits.flip([0, 61]).unwrap();
    let Overlap::Yes { first, second } = bits.overlap(&flipped) else { panic!("the same offsets") };
    assert_eq!(bits.offset_of(&first), flipped.offset_of(&second));
    assert!(matches!(one.with_layout(bits), Err(Error::OutOfBounds { .. })));
}

/// All shapes of rank 1 to 4 of the sizes 0, 1 and 3 that contain a 0.
fn empty_shapes() -> Vec<Vec<usize>> {
    let longer = |shapes: Vec<Vec<usize>>| -> Vec<Vec<usize>> {
        let append = |shape: Vec<usize>| [0, 1, 3].map(|size| [&shape[..], &[size]].concat());
        shapes.into_iter().flat_map(append).collect()
    };
    let ranks = std::iter::successors(Some(vec![vec![]]), |shapes| Some(longer(shapes.clone())));
    ranks.take(5).flatten().filter(|shape: &Vec<usize>| shape.contains(&0)).collect()
}

/// Every view operation on a tensor, with `dim` as the only varying argument.
fn views(tensor: &Tensor<u32>, dim: isize) -> Vec<Result<Tensor<u32>>> {
    let all: Vec<isize> = (0..tensor.ndim() as isize).collect();
    let sizes: Vec<isize> = tensor.shape().iter().map(|&size| size as isize).collect();
    let expanded = [&[5, 2][..], &sizes].concat();
    let mut views = vec![
        tensor.transpose(dim, 0),
        tensor.permute(&all),
        tensor.movedim([dim], [0]),
        tensor.flip(&all),
        tensor.narrow(dim, 0, tensor.shape()[dim as usize]),
        tensor.slice(dim, Slice::new(None, None, -1)),
        tensor.slice(dim, Slice::new(Some(isize::MAX), Some(isize::MIN), isize::MIN)),
        tensor.index(&vec![Index::Slice(Slice::ALL.step_by(2)); all.len()]),
        tensor.unsqueeze(dim),
        tensor.squeeze(),
        tensor.squeeze_dim(dim),
        tensor.expand(&expanded),
        tensor.view([0]),
        tensor.view([7, 0, 9]),
        tensor.flatten(0, -1),
        tensor.flatten(dim, -1),
        tensor.unfold(dim, 0, 1),
        tensor.view_dtype::<i32>().and_then(|view| view.view_dtype()),
    ];
    for parts in [tensor.split(2, dim), tensor.chunk(2, dim), tensor.unbind(dim)] {
        views.extend(parts.unwrap().into_iter().map(Ok));
    }
    views
}

/// Checks every query and access of a tensor without elements.
fn check_empty(tensor: &Tensor<u32>) {
    let nothing = Layout::contiguous([0]).unwrap();
    assert_eq!((tensor.numel(), tensor.layout().bounds()), (0, None), "{tensor:?}");
    assert!(tensor.is_contiguous() && tensor.layout().is_dense() && tensor.layout().is_fortran());
    assert_eq!((tensor.layout().offsets().count(), tensor.layout().runs().count()), (0, 0));
    assert_eq!(tensor.layout().self_overlap(), Overlap::No);
    assert_eq!(tensor.layout().overlap(tensor.layout()), Overlap::No);
    assert_eq!(tensor.layout().preserved().unwrap().numel(), 0);
    assert!(tensor.layout().check_within(0, 4).is_ok());
    assert_eq!(tensor.to_vec(), Ok(vec![]));
    assert_eq!(tensor.equal(tensor), Ok(true));
    assert!(tensor.to_string().starts_with("tensor([], "), "{tensor}");
    assert!(matches!(
        tensor.get(&vec![0; tensor.ndim()]),
        Err(Error::IndexOutOfBounds { index: 0, .. })
    ));
    let guard = tensor.read().unwrap();
    assert_eq!(guard.as_view().as_slice(), Some(&[][..]));
    assert_eq!((guard.as_view().iter().count(), guard.as_view().runs().count()), (0, 0));
    drop(guard);
    let mut guard = tensor.write().unwrap();
    let mut view = guard.as_view_mut().unwrap();
    assert_eq!(
        (view.as_slice_mut().map(|slice| slice.len()), view.iter_mut().count()),
        (Some(0), 0)
    );
    drop(guard);
    assert!(ViewRef::new(&[0u32; 0], tensor.layout()).is_ok());
    assert!(TensorView::new(&[0u32; 0], tensor.layout().clone()).is_ok());
    assert!(tensor.with_layout(nothing).is_ok());
    let relation = Operand::from(tensor).relation(&Output::from(tensor));
    assert!(matches!(relation, Aliasing::Same), "{tensor:?}: {relation:?}");
}

#[test]
fn fault_a_size_of_zero_in_any_dimension_means_no_elements() {
    let shapes = empty_shapes();
    assert_eq!(shapes.len(), (3 - 2) + (9 - 4) + (27 - 8) + (81 - 16));
    for shape in shapes {
        let tensors = [
            Tensor::from_vec(vec![], &shape),
            Tensor::from_slice(&[], &shape),
            Tensor::zeros(&shape),
            Tensor::full(&shape, 7),
            Tensor::from_fn(&shape, |_| unreachable!("there is no element")),
            Tensor::from_vec_with_layout(vec![], Layout::fortran(&shape).unwrap()),
        ];
        for tensor in tensors {
            let tensor = tensor.unwrap();
            check_empty(&tensor);
            for dim in 0..tensor.ndim() as isize {
                let views = views(&tensor, dim).into_iter().map(Result::unwrap);
                views.for_each(|view| check_empty(&view));
            }
        }
    }
}

#[test]
fn fault_isize_max_elements_have_every_view() {
    let one = Tensor::full([1], 7u8).unwrap();
    let most = one.expand([isize::MAX]).unwrap();
    let end = isize::MAX;
    let expect = |view: Result<Tensor<u8>>, shape: &[usize]| {
        let view = view.unwrap();
        assert_eq!((view.shape(), view.layout().bounds()), (shape, Some((0, 0))));
        let last: Vec<usize> = shape.iter().map(|size| size - 1).collect();
        assert_eq!(view.get(&last), Ok(7));
        assert_eq!(view.layout().offsets().len(), view.numel());
        assert!(
            view.read().unwrap().as_view().iter().take(3).eq([7; 3].into_iter().take(view.numel()))
        );
    };
    expect(most.narrow(0, end - 1, 1), &[1]);
    expect(most.narrow(0, -1, 1), &[1]);
    expect(most.narrow(0, 0, MAX), &[MAX]);
    expect(most.select(0, end - 1), &[]);
    expect(most.slice(0, Slice::new(Some(1), None, 2)), &[MAX / 2]);
    expect(most.slice(0, Slice::new(None, None, -1)), &[MAX]);
    expect(most.slice(0, Slice::new(None, None, isize::MIN)), &[1]);
    expect(most.slice(0, Slice::new(None, None, isize::MAX)), &[1]);
    expect(most.flip([0]), &[MAX]);
    expect(most.view([-1]), &[MAX]);
    expect(most.view([7, -1]), &[7, MAX / 7]);
    expect(most.unflatten(0, [-1, 7]), &[MAX / 7, 7]);
    expect(most.unsqueeze(0), &[1, MAX]);
    expect(most.unfold(0, MAX, 1), &[1, MAX]);
    expect(most.unfold(0, 1, MAX), &[1, 1]);
    expect(most.unfold(0, 1, usize::MAX), &[1, 1]);
    expect(most.broadcast_to([1, MAX]), &[1, MAX]);
    expect(most.unsqueeze(0).and_then(|row| row.diagonal(end - 1, 0, 1)), &[1]);
    expect(most.split(MAX - 1, 0).map(|parts| parts[1].clone()), &[1]);
    expect(most.chunk(2, 0).map(|parts| parts[1].clone()), &[MAX / 2]);
    for refused in [
        most.expand([2, -1]),
        most.unfold(0, 2, 1),
        most.broadcast_to([3, MAX]),
        most.view([2, -1]),
    ] {
        assert!(matches!(refused, Err(Error::TooLarge { .. } | Error::ShapeMismatch { .. })));
    }
    assert!(matches!(most.get(&[MAX]), Err(Error::IndexOutOfBounds { .. })));
    assert!(matches!(most.to_vec(), Err(Error::OutOfMemory { .. })));
    assert!(matches!(most.unbind(0), Err(Error::OutOfMemory { .. })));
    assert!(matches!(most.split(1, 0), Err(Error::OutOfMemory { .. })));
    assert!(matches!(Tensor::<u8>::zeros([MAX, 1]), Err(Error::OutOfMemory { bytes: MAX })));
    assert!(matches!(Tensor::<u16>::zeros([MAX / 2]), Err(Error::OutOfMemory { .. })));
    assert!(matches!(Tensor::<u16>::zeros([MAX / 2 + 1]), Err(Error::TooLarge { .. })));
}

#[test]
fn fault_the_largest_offset_is_computed_exactly() {
    let ends = Layout::new([2], [isize::MAX], 0).unwrap();
    assert_eq!(ends.offset_of(&[1]), Ok(MAX));
    assert_eq!(ends.flip([0]).unwrap().offsets().collect::<Vec<_>>(), [MAX, 0]);
    assert_eq!(ends.narrow(0, 1, 1).unwrap().bounds(), Some((MAX, MAX)));
    assert_eq!(ends.select(0, 1).unwrap().offset(), MAX);
    let too_far = ends.check_within(MAX, 8);
    assert!(matches!(too_far, Err(Error::OutOfBounds { needed, .. }) if needed == 8 << 63));
    assert!(ends.check_within(MAX + 1, 1).is_ok());
    assert!(matches!(ends.view_as_width(1, 2), Err(Error::ViewDType { .. })));
    let single = Layout::new([1], [1], MAX).unwrap();
    assert!(matches!(single.view_as_width(2, 1), Err(Error::TooLarge { .. })));
    assert!(matches!(single.expand([2, 1]).map(|two| two.bounds()), Ok(Some((MAX, MAX)))));
    assert!(matches!(Layout::new([2], [1], MAX), Err(Error::TooLarge { .. })));
    assert!(matches!(Layout::new([2, 2], [isize::MAX, -1], 0), Err(Error::BelowStorage { .. })));
    assert!(Layout::new([2, 2], [isize::MAX - 1, -1], 1).is_ok());
}

#[test]
fn fault_a_stride_of_isize_min_is_refused_and_never_derived() {
    for (shape, strides) in [
        (&[1][..], &[isize::MIN][..]),
        (&[0], &[isize::MIN]),
        (&[2], &[isize::MIN]),
        (&[0, 3], &[1, isize::MIN]),
        (&[1, 1, 1], &[1, isize::MIN, 1]),
    ] {
        let dim = strides.iter().position(|&stride| stride == isize::MIN).unwrap();
        for offset in [0, 1, MAX] {
            assert_eq!(Layout::new(shape, strides, offset), Err(Error::StrideMin { dim }));
        }
    }
    for stride in [-isize::MAX, isize::MAX, -(1 << 62), 1 << 62] {
        for shape in [&[1, 1][..], &[0, 1], &[1, 0], &[0, 0]] {
            let layout = Layout::new(shape, [stride, stride], MAX).unwrap();
            for derived in stride_arithmetic(&layout) {
                let derived = derived.unwrap();
                let is_safe = |stride: &isize| stride.checked_neg().is_some();
                assert!(derived.strides().iter().all(is_safe), "{derived:?} of {layout:?}");
                assert_eq!(
                    derived.flip([0, 1]).map(|flipped| flipped.numel()),
                    Ok(derived.numel())
                );
            }
        }
    }
}

/// Every transform that multiplies or adds strides, on a layout whose strides are arbitrary.
fn stride_arithmetic(layout: &Layout) -> Vec<Result<Layout>> {
    let steps = [isize::MIN, -3, -1, 1, 3, isize::MAX];
    let sliced = steps.map(|step| layout.slice(0, Slice::ALL.step_by(step)));
    let windows = [1, 3, MAX, usize::MAX].map(|step| layout.unfold(0, 0, step));
    let others = [
        layout.flip([0, 1]),
        layout.diagonal(0, 0, 1).and_then(|diagonal| diagonal.unsqueeze(0)),
        layout.unsqueeze(0),
        layout.unsqueeze(1),
        layout.preserved(),
        layout.transpose(0, 1),
        Layout::elementwise(&[layout, layout]),
        Layout::with_format([1, layout.shape()[0], 1, 1], MemoryFormat::ChannelsLast),
    ];
    sliced.into_iter().chain(windows).chain(others).collect()
}

/// A vector without elements may lie at any address, which must not matter.
#[test]
fn fault_an_empty_tensor_can_be_viewed_as_any_dtype() {
    let spare = {
        let mut bytes = vec![0u8; 9];
        bytes.clear();
        bytes
    };
    for bytes in [Vec::new(), spare] {
        let empty = Tensor::from_vec(bytes, [0, 32]).unwrap();
        assert_eq!(empty.view_dtype::<u16>().unwrap().shape(), [0, 16]);
        let wide = empty.view_dtype::<u128>().unwrap();
        assert_eq!((wide.shape(), wide.to_vec()), (&[0, 2][..], Ok(vec![])));
        assert_eq!(wide.write().unwrap().as_view_mut().unwrap().iter_mut().count(), 0);
    }
}
