//! The crate ndarray.

use ndarray::{Array, Array2, ArrayD, Ix0, Ix1, Ix2, IxDyn, ShapeBuilder, arr2, s};
use proptest::prelude::*;
use tensor_core::{Layout, Tensor, TensorView, TensorViewMut, interchange::InterchangeError};

use crate::common::{numbers, views};

/// The numbers 0 to 5 as two rows, in memory column by column.
fn columns() -> Array2<i32> {
    Array2::from_shape_vec((2, 3).f(), vec![0, 3, 1, 4, 2, 5]).unwrap()
}

proptest! {
    #[test]
    fn views_have_the_same_elements_and_memory_both_ways((shape, layout) in views()) {
        let memory = numbers(&shape);
        let view = TensorView::new(&memory, layout).unwrap();
        let array = view.to_ndarray::<IxDyn>().unwrap();
        prop_assert_eq!(array.shape(), view.shape());
        prop_assert_eq!(array.iter().copied().collect::<Vec<_>>(), view.to_vec());
        for (dim, &size) in view.shape().iter().enumerate().filter(|&(_, &size)| size > 1) {
            let is_empty = view.numel() == 0;
            prop_assert!(is_empty || array.strides()[dim] == view.strides()[dim], "{}", size);
        }
        let back: TensorView<'_, i32> = array.clone().try_into().unwrap();
        prop_assert_eq!(back.shape(), view.shape());
        prop_assert_eq!(back.to_vec(), view.to_vec());
        if let (Some(a), Some(b)) = (back.iter().next(), array.first()) {
            prop_assert_eq!(a, *b);
            let first = back.base_ptr().wrapping_add(back.storage_offset());
            prop_assert_eq!(first, array.as_ptr());
        }
    }

    #[test]
    fn a_write_through_one_library_is_seen_by_the_other((shape, layout) in views()) {
        let mut memory = numbers(&shape);
        let before = TensorView::new(&memory, layout.clone()).unwrap().to_vec();
        let expected: Vec<i32> = before.iter().map(|x| x * 2 + 1).collect();
        let Ok(view) = TensorViewMut::new(&mut memory, layout.clone()) else { return Ok(()) };
        let mut array = match view.into_ndarray_mut::<IxDyn>() {
            Err(InterchangeError::Interleaved { .. }) => return Ok(()),
            array => array.unwrap(),
        };
        array *= 2;
        let mut view = TensorViewMut::from_ndarray_mut(array).unwrap();
        view.iter_mut().for_each(|x| *x += 1);
        let after = TensorView::new(&memory, layout).unwrap().to_vec();
        prop_assert_eq!(after, expected);
    }

    #[test]
    fn arrays_and_tensors_take_over_each_others_memory((shape, layout) in views()) {
        let tensor = Tensor::from_vec(numbers(&shape), &shape[..]).unwrap();
        let (start, bytes) = (tensor.storage().as_ptr(), tensor.storage().bytes());
        let tensor = { tensor }.with_layout(layout.clone()).unwrap();
        let elements = tensor.to_vec().unwrap();
        let array = tensor.into_ndarray::<IxDyn>().unwrap();
        prop_assert_eq!(array.iter().copied().collect::<Vec<_>>(), elements.clone());
        let is_whole = layout.is_dense_signed() && layout.numel() * 4 == bytes && bytes > 0;
        let lowest = array.iter().map(std::ptr::from_ref).min();
        prop_assert_eq!(is_whole, lowest.is_some_and(|lowest| lowest.cast() == start));

        let again = Tensor::from_ndarray(array).unwrap();
        prop_assert_eq!(again.to_vec().unwrap(), elements);
        prop_assert!(lowest.is_none_or(|lowest| again.storage().as_ptr() <= lowest.cast()));
    }
}

#[test]
fn ranks_are_checked_and_ixdyn_takes_any() {
    let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2]).unwrap();
    let guard = tensor.read().unwrap();
    let view = guard.as_view();
    assert!(view.to_ndarray::<Ix2>().is_ok() && view.to_ndarray::<IxDyn>().is_ok());
    let refused = view.to_ndarray::<Ix1>().unwrap_err();
    assert!(matches!(refused, InterchangeError::Rank { expected: 1, found: 2 }), "{refused}");
    assert!(view.to_ndarray::<Ix0>().is_err());
    assert_eq!(
        refused.to_string(),
        "an array type of 1 dimensions cannot hold a tensor of 2 [IxDyn holds any number]"
    );
    drop(guard);
    assert!(tensor.clone().into_ndarray::<Ix1>().is_err());
    let scalar = Tensor::from_vec(vec![5], ()).unwrap();
    assert_eq!(scalar.into_ndarray::<Ix0>().unwrap().into_scalar(), 5);
}

#[test]
fn slices_with_negative_steps_and_fortran_order_are_views() {
    let array = columns();
    let mirrored = TensorView::from_ndarray(array.slice(s![..;-1, ..;-2])).unwrap();
    assert_eq!((mirrored.strides(), mirrored.to_vec()), (&[-1, -4][..], vec![5, 3, 2, 0]));
    assert_eq!(mirrored.to_ndarray::<Ix2>().unwrap(), arr2(&[[5, 3], [2, 0]]));
}

#[test]
fn a_broadcast_array_is_a_view_of_stride_0() {
    let array = columns();
    let broadcast = array.broadcast((4, 2, 3)).unwrap();
    let view = TensorView::from_ndarray(broadcast).unwrap();
    assert_eq!(view.strides(), [0, 1, 2]);
    assert_eq!(view.to_vec(), [0, 1, 2, 3, 4, 5].repeat(4));
}

/// No two of its indices share an element, so it is mutable here. ndarray's rule is narrower.
#[test]
fn mutable_views_whose_axes_interleave_are_refused() {
    let mut memory = [0; 8];
    let layout = Layout::new([3, 2], [2, 3], 0).unwrap();
    let view = TensorViewMut::new(&mut memory, layout).unwrap();
    assert_eq!(view.as_view().to_ndarray::<Ix2>().unwrap().strides(), [2, 3]);
    let refused = view.into_ndarray_mut::<Ix2>().unwrap_err();
    assert!(matches!(refused, InterchangeError::Interleaved { .. }), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("shape [3, 2] strides [2, 3]") && text.contains("to_ndarray"), "{text}");
}

#[test]
fn arrays_without_elements_keep_their_shape() {
    for shape in [vec![0], vec![3, 0, 2], vec![0, 1 << 40]] {
        let array = ArrayD::<f64>::from_shape_vec(&shape[..], Vec::new()).unwrap();
        let tensor = Tensor::from_ndarray(array).unwrap();
        assert_eq!(tensor.shape(), shape);
        let guard = tensor.read().unwrap();
        let flipped = guard.as_view().flip([0]).unwrap();
        assert_eq!(flipped.to_ndarray::<IxDyn>().unwrap().shape(), shape);
        drop(flipped);
        drop(guard);
        assert_eq!(tensor.into_ndarray::<IxDyn>().unwrap().shape(), shape);
    }
}

#[test]
fn what_others_share_is_copied() {
    let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2]).unwrap();
    let other = tensor.clone();
    let array = tensor.into_ndarray::<Ix2>().unwrap();
    assert_ne!(array.as_ptr(), other.data_ptr());
    let only = other.data_ptr();
    assert_eq!(other.into_ndarray::<Ix2>().unwrap().as_ptr(), only);
}

#[test]
fn an_array_whose_first_element_is_not_the_first_of_its_memory() {
    let mut array = Array::from_vec(vec![0, 1, 2, 3, 4, 5]);
    array.slice_collapse(s![1..5;-2]);
    let expected = array.to_vec();
    let tensor = Tensor::<i32>::try_from(array).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), expected);
}
