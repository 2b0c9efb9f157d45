//! Sizes, strides and offsets: overflow and elements outside of the buffer are refused, the largest
//! values that fit are accepted.

use tensor_core::{
    Error, Index, Layout, MemoryFormat, Slice, Tensor, TensorView, TensorViewMut, Uninit, s,
};

const MAX: usize = isize::MAX as usize;
const HUGE: isize = 1 << 62;

fn is_too_large<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::TooLarge { .. }))
}

#[test]
fn fault_a_product_of_sizes_beyond_isize_is_refused_however_it_wraps() {
    for shape in [
        &[1 << 33, 1 << 33][..],
        &[MAX + 1],
        &[usize::MAX],
        &[MAX, 2],
        &[(1 << 63) + 2, 2],
        &[1 << 32, 1 << 32, 1 << 32],
        &[3, MAX / 3 + 1],
    ] {
        assert!(is_too_large(&Layout::contiguous(shape)), "{shape:?}");
        assert!(is_too_large(&Layout::fortran(shape)), "{shape:?}");
        assert!(is_too_large(&Layout::new(shape, vec![0; shape.len()], 0)), "{shape:?}");
        assert!(is_too_large(&Tensor::<f32>::zeros(shape)), "{shape:?}");
        assert!(is_too_large(&Tensor::full(shape, 1u8)), "{shape:?}");
        assert!(is_too_large(&Tensor::from_vec(vec![1u8; 2], shape)), "{shape:?}");
        assert!(is_too_large(&Tensor::<u8>::from_fn(shape, |_| unreachable!())), "{shape:?}");
    }
}

#[test]
fn fault_the_largest_number_of_elements_is_a_layout() {
    for shape in [&[MAX, 1][..], &[1, MAX], &[MAX / 2, 2]] {
        assert!(Layout::contiguous(shape).is_ok(), "{shape:?}");
    }
}

#[test]
fn fault_a_size_in_bytes_beyond_isize_is_refused() {
    let shape = [MAX / 4 + 1];
    assert!(Layout::contiguous(shape).is_ok());
    assert!(is_too_large(&Tensor::<f32>::zeros(shape)));
    assert!(is_too_large(&Tensor::full(shape, 0f32)));
    assert!(is_too_large(&Tensor::<[u64; 3]>::from_fn(&shape, |_| unreachable!())));
}

#[test]
fn fault_sizes_of_zero_do_not_hide_sizes_that_overflow() {
    for shape in [&[0, usize::MAX][..], &[1 << 62, 4, 0], &[1 << 40, 0, 1 << 40]] {
        assert!(is_too_large(&Layout::contiguous(shape)), "{shape:?}");
    }
    assert!(Layout::contiguous([0, 1_isize << 62]).is_ok());
    assert!(Tensor::<f64>::zeros([1_usize << 62, 0]).is_ok());
}

#[test]
fn fault_allocation_failure_is_an_error() {
    let shape = [1_usize << 50];
    let refused = |error| assert_eq!(error, Some(Error::OutOfMemory { bytes: 8 << 50 }));
    refused(Tensor::<f64>::zeros(shape).err());
    refused(Tensor::full(shape, 1u64).err());
    refused(Tensor::<u64>::from_fn(&shape, |_| unreachable!()).err());
    refused(Tensor::arange(0u64, 1 << 50, 1).err());
    let expanded = Tensor::full([1], 7u64).unwrap().broadcast_to(shape).unwrap();
    refused(expanded.to_vec().err());
    refused(expanded.read().unwrap().as_view().try_to_vec().err());
}

#[test]
fn fault_a_scalar_has_one_element() {
    let scalar = Tensor::from_vec(vec![7], ()).unwrap();
    assert_eq!((scalar.numel(), scalar.get(&[]), scalar.to_vec()), (1, Ok(7), Ok(vec![7])));
    assert_eq!(scalar.get(&[0]), Err(Error::TooManyIndices { ndim: 0, given: 1 }));
}

#[test]
fn fault_there_is_no_largest_rank() {
    let mut shape = vec![1; 1000];
    shape[500] = 3;
    let tensor = Tensor::from_vec(vec![1, 2, 3], &shape).unwrap();
    assert_eq!(tensor.squeeze().unwrap().to_vec(), Ok(vec![1, 2, 3]));
    let order: Vec<isize> = (0..1000).rev().collect();
    assert_eq!(tensor.permute(&order).unwrap().shape()[499], 3);
}

#[test]
fn fault_an_empty_tensor_has_every_view_and_no_element() {
    for shape in [&[0][..], &[3, 0, 2], &[0, 0]] {
        let huge = vec![HUGE; shape.len()];
        for layout in [Layout::contiguous(shape), Layout::new(shape, &huge, MAX)] {
            let empty = Tensor::from_vec_with_layout(Vec::<u16>::new(), layout.unwrap()).unwrap();
            assert_eq!((empty.numel(), empty.layout().bounds()), (0, None));
            assert!(empty.is_contiguous());
            let all: Vec<isize> = (0..shape.len() as isize).collect();
            let views = [
                empty.flip(&all),
                empty.permute(&all),
                empty.unsqueeze(0),
                empty.view([0, 5]),
                empty.slice(0, Slice::new(None, None, -1)),
                empty.unfold(0, 0, 7),
                empty.expand([&[2][..], &vec![-1; shape.len()]].concat()),
            ];
            for view in views {
                let view = view.unwrap();
                assert_eq!(view.to_vec(), Ok(vec![]), "{view:?}");
                assert_eq!(view.write().unwrap().as_view_mut().unwrap().iter_mut().count(), 0);
            }
        }
    }
}

/// PyTorch counts a size of 0 as 1 in row-major strides, and as 0 in any other order.
#[test]
fn fault_empty_tensors_have_pytorch_s_strides() {
    let row_major = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let channels_last = Layout::with_format([5, 0, 4, 1], MemoryFormat::ChannelsLast).unwrap();
    let permuted = row_major(&[4, 0, 6, 1]).permute([0, 2, 1, 3]).unwrap();
    let moved = row_major(&[5, 0, 4]).permute([2, 0, 1]).unwrap();
    let sum = |a: &Layout, b: &Layout| Layout::elementwise(&[a, b]).unwrap();
    for (layout, expected) in [
        (row_major(&[2, 0, 3]), &[3, 3, 1][..]),
        (row_major(&[3, 0]), &[1, 1]),
        (channels_last, &[0, 1, 0, 0]),
        (sum(&row_major(&[3, 1]), &row_major(&[3, 0])), &[1, 1]),
        (sum(&row_major(&[0, 3]).t().unwrap(), &row_major(&[3, 1])), &[1, 3]),
        (sum(&permuted, &row_major(&[6, 0, 1])), &[0, 1, 6, 1]),
        (sum(&moved, &row_major(&[4, 5, 1])), &[1, 0, 4]),
    ] {
        assert_eq!(layout.strides(), expected, "{:?}", layout.shape());
    }
}

#[test]
fn fault_a_buffer_must_hold_every_element() {
    for (len, shape, strides, offset, fits) in [
        (12, &[3, 4][..], &[4, 1][..], 0, true),
        (11, &[3, 4], &[4, 1], 0, false),
        (12, &[3, 4], &[4, 1], 1, false),
        (10, &[3, 2], &[4, 1], 0, true),
        (9, &[3, 2], &[4, 1], 0, false),
        (5, &[], &[], 4, true),
        (5, &[], &[], 5, false),
        (5, &[0], &[1], 5, true),
        (5, &[1], &[9], 5, false),
        (5, &[1], &[9], 4, true),
        (0, &[0, 7], &[7, 1], 0, true),
        (0, &[], &[], 0, false),
        (5, &[2], &[0], 4, true),
    ] {
        let layout = Layout::new(shape, strides, offset).unwrap();
        let mut buffer = vec![0u8; len];
        let too_short =
            |e: &Error| matches!(e, Error::TooFewElements { given, .. } if *given == len);
        let refused = |result: Option<Error>| {
            assert_eq!(result.is_none(), fits, "{layout:?} in {len}");
            assert!(result.iter().all(too_short), "{layout:?} in {len}: {result:?}");
        };
        refused(TensorView::new(&buffer, layout.clone()).err());
        refused(Tensor::from_vec_with_layout(buffer.clone(), layout.clone()).err());
        let tensor = Tensor::from_vec(buffer.clone(), [len]).unwrap();
        let beyond =
            |e: &Error| matches!(e, Error::OutOfBounds { available, .. } if *available == len);
        let moved = tensor.with_layout(layout.clone()).err();
        assert_eq!(moved.is_none(), fits, "{layout:?} in {len}");
        assert!(moved.iter().all(beyond), "{layout:?} in {len}: {moved:?}");
        if !strides.contains(&0) {
            refused(TensorViewMut::new(&mut buffer, layout.clone()).err());
        }
    }
}

#[test]
fn fault_an_offset_beyond_isize_is_refused() {
    for shape in [&[][..], &[0], &[1]] {
        let strides = vec![1; shape.len()];
        assert!(is_too_large(&Layout::new(shape, &strides, usize::MAX)));
        assert!(is_too_large(&Layout::new(shape, &strides, MAX + 1)));
        assert!(Layout::new(shape, &strides, MAX).is_ok());
    }
    let tensor = Tensor::from_vec(vec![0u8; 4], [4]).unwrap();
    assert!(is_too_large(&tensor.as_strided([1], [1], Some(usize::MAX))));
    assert!(matches!(tensor.as_strided([1], [1], Some(MAX)), Err(Error::OutOfBounds { .. })));
}

#[test]
fn fault_negative_strides_may_reach_the_first_element_and_not_below() {
    let reversed = Layout::new([3, 4], [-4, -1], 11).unwrap();
    assert_eq!(reversed.bounds(), Some((0, 11)));
    for offset in [10, 0] {
        let refused = Layout::new([3, 4], [-4, -1], offset);
        assert!(matches!(refused, Err(Error::BelowStorage { .. })), "{offset}");
    }
    let min = Layout::new([1], [isize::MIN], 0);
    assert_eq!(min, Err(Error::StrideMin { dim: 0 }));
    assert!(is_too_large(&Layout::new([3], [-isize::MAX], MAX)));
    assert!(Layout::new([2], [-isize::MAX], MAX).is_ok());
    assert!(is_too_large(&Layout::new([2, 2], [isize::MAX, 1], 0)));
}

#[test]
fn fault_what_is_derived_from_a_huge_stride_does_not_overflow() {
    assert!(is_too_large(&Layout::new([5], [HUGE], 0)));
    let wide = Layout::new([2], [HUGE], 0).unwrap();
    assert_eq!(wide.flip([0]).unwrap().offset(), HUGE as usize);
    assert!(matches!(wide.check_within(1 << 10, 1), Err(Error::OutOfBounds { .. })));

    let buffer = [7u8; 1 << 10];
    let single = TensorView::new(&buffer, Layout::new([1, 2], [HUGE, 1], 0).unwrap()).unwrap();
    for view in [
        single.slice(0, Slice::new(None, None, 3)),
        single.slice(0, Slice::new(None, None, isize::MAX)),
        single.slice(0, Slice::new(None, None, isize::MIN)),
        single.flip([0]),
        single.flip([0]).unwrap().flip([0]),
        single.view([2, 1, 1]),
        single.flatten(0, 1),
        single.unsqueeze(0),
        single.unsqueeze(1),
        single.unfold(0, 1, 3),
        single.unfold(0, 1, usize::MAX),
        single.diagonal(0, 0, 1),
        single.expand([3, 1, 2]),
        single.narrow(0, 1, 0),
        single.transpose(0, 1),
        single.layout().view_as_width(2, 1).and_then(|_| single.squeeze()),
    ] {
        let view = view.unwrap();
        assert!(view.iter().all(|element| element == 7), "{view:?}");
    }
}

#[test]
fn fault_strides_of_dimensions_of_size_one_are_ignored() {
    for (shape, strides) in [
        (&[1, 3][..], &[-9, 1][..]),
        (&[3, 1], &[1, HUGE]),
        (&[1, 1, 1], &[0, 0, 0]),
        (&[2, 1, 3], &[3, 77, 1]),
    ] {
        let layout = Layout::new(shape, strides, 0).unwrap();
        assert!(layout.is_contiguous() && layout.is_dense(), "{layout:?}");
    }
}

#[test]
fn fault_shape_and_strides_have_equal_lengths() {
    for (shape, strides) in [(&[2, 3][..], &[1][..]), (&[], &[1]), (&[2], &[])] {
        let (shape_vec, strides_vec) = (shape.to_vec(), strides.to_vec());
        let expected = Error::StridesLength { shape: shape_vec, strides: strides_vec };
        assert_eq!(Layout::new(shape, strides, 0), Err(expected));
    }
}

#[test]
fn fault_the_number_of_values_must_match_the_shape() {
    for given in [0, 5, 7] {
        let expected = Error::ElementCount { shape: vec![2, 3], needed: 6, given };
        assert_eq!(Tensor::from_vec(vec![0u8; given], [2, 3]).err(), Some(expected.clone()));
        assert_eq!(Tensor::from_slice(&vec![0u8; given], [2, 3]).err(), Some(expected));
    }
}

#[test]
fn fault_view_dtype_needs_sizes_that_divide() {
    let bytes = |len: usize| Tensor::<u8>::zeros([len]).unwrap();
    assert_eq!(bytes(8).view_dtype::<f32>().unwrap().to_vec(), Ok(vec![0.0, 0.0]));
    assert_eq!(bytes(0).view_dtype::<f32>().unwrap().numel(), 0);
    let refused = |tensor: &Tensor<u8>| tensor.view_dtype::<f32>().unwrap_err().to_string();
    for (tensor, expected) in [
        (bytes(7), "self.size(-1) must be divisible by 4"),
        (bytes(9).narrow(0, 1, 8).unwrap(), "self.storage_offset() must be divisible by 4"),
        (bytes(16).slice(0, Slice::ALL.step_by(2)).unwrap(), "self.stride(-1) must be 1"),
        (bytes(8).select(0, 4).unwrap(), "self.dim() cannot be 0"),
        (bytes(16).flip([0]).unwrap(), "self.stride(-1) must be 1"),
    ] {
        assert!(refused(&tensor).starts_with(expected), "{}", refused(&tensor));
    }
    let rows = bytes(10).view([2, 5]).unwrap().narrow(1, 0, 4).unwrap();
    assert!(refused(&rows).starts_with("self.stride(0) must be divisible by 4"));
}

/// An alignment of 4 MiB, above that of the huge pages of large buffers.
#[derive(Clone, Copy, bytemuck::NoUninit, bytemuck::Zeroable)]
#[repr(C, align(4194304))]
struct Aligned([u8; 4 << 20]);

#[test]
fn fault_buffers_are_aligned_for_their_element_type() {
    let align = align_of::<Aligned>();
    let zeros = [1, 2, 2, 3].map(|len| Tensor::<Aligned>::zeros([len]).unwrap());
    assert!(zeros.iter().all(|tensor| tensor.data_ptr().addr().is_multiple_of(align)));
    let layout = |len| Layout::contiguous([len]).unwrap();
    let mut buffers = [1, 2, 2, 3].map(|len| Uninit::<Aligned>::new(layout(len)).unwrap());
    let mut addresses =
        buffers.iter_mut().map(|buffers| buffers.as_view_mut().base_mut_ptr().addr());
    assert!(addresses.all(|address| address.is_multiple_of(align)));
}

/// `a..=b` selects the indices of `a..b`, and `b` if the steps reach it, in either direction.
#[test]
fn fault_an_inclusive_range_takes_its_last_index_in_either_direction() {
    let row = Tensor::arange(0i64, 6, 1).unwrap();
    let taken = |index: &[Index]| row.index(index).unwrap().to_vec().unwrap();
    assert_eq!(taken(s![2..=4]), [2, 3, 4]);
    assert_eq!(taken(s![4..=2; -1]), [4, 3, 2]);
    assert_eq!(taken(s![5..=1; -2]), [5, 3, 1]);
    assert_eq!(taken(s![4..=0; -1]), [4, 3, 2, 1, 0]);
    assert_eq!(taken(s![-1..=-3; -1]), [5, 4, 3]);
    assert_eq!(taken(s![..=-1]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(taken(s![..=-1; -1]), [5]);
    assert_eq!(taken(s![..=isize::MIN; -1]), [5, 4, 3, 2, 1, 0]);
    assert_eq!(taken(s![..=isize::MAX]), [0, 1, 2, 3, 4, 5]);
    assert!(taken(s![..=isize::MAX; -1]).is_empty());
    assert!(taken(s![1..=2; -1]).is_empty());
}

#[test]
fn fault_a_slice_that_is_too_short_is_refused_in_words_of_elements() {
    let layout = Layout::new([2, 3], [1, 2], 1).unwrap();
    let text = "shape [2, 3] with strides [1, 2] and offset 1 needs 7 elements, but 6 were given";
    let mut elements = [0u64; 7];
    let refused = [
        TensorView::new(&elements[..6], layout.clone()).err(),
        TensorViewMut::new(&mut elements[..6], layout.clone()).err(),
        Tensor::from_vec_with_layout(vec![0u64; 6], layout.clone()).err(),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap().to_string(), text);
    }
    assert!(TensorViewMut::new(&mut elements, layout).is_ok());
}
