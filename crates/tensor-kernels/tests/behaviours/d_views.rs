//! Views, transposes and reshapes: which of them share memory, and their strides.

use tensor_kernels::{Layout, Tensor, TensorExt};

use crate::{NOT_VIEWABLE, arange, assert_refused, from_one, header, storage_of};

/// The 2 × 6 tensor whose strides are (1, 2).
fn transposed() -> Tensor<i64> {
    from_one(12, &[6, 2]).transpose(0, 1).unwrap()
}

#[test]
fn d1_writes_through_a_view_are_seen_in_both_directions() {
    let x = from_one(12, &[12]);
    let y = x.view([4, 3]).unwrap();
    x.set(&[0], 100).unwrap();
    assert_eq!(y.get(&[0, 0]), Ok(100));
    y.set(&[3, 2], 1000).unwrap();
    assert_eq!(x.get(&[11]), Ok(1000));
}

#[test]
fn d2_the_last_dimension_moves_by_one() {
    assert_eq!(from_one(12, &[12]).view([6, 2]).unwrap().strides(), [2, 1]);
}

#[test]
fn d3_a_view_needs_as_many_elements_as_its_shape() {
    assert_refused(
        arange(11, &[11]).view([2, 2, 3]),
        "shape '[2, 2, 3]' is invalid for input of size 11",
    );
    assert!(arange(12, &[12]).view([2, 2, 3]).is_ok());
}

#[test]
fn d4_an_offset_is_the_sum_of_index_times_stride() {
    let x = arange(12, &[2, 2, 3]);
    assert_eq!(x.strides(), [6, 3, 1]);
    for (index, place) in
        [([0, 0, 0], 0), ([1, 0, 0], 6), ([0, 1, 0], 3), ([0, 0, 1], 1), ([1, 1, 1], 10)]
    {
        assert_eq!(x.layout().offset_of(&index), Ok(place));
        assert_eq!(x.get(&index), Ok(place as i64));
    }
}

#[test]
fn d5_transpose_of_the_outer_dimensions() {
    let y = arange(12, &[2, 2, 3]).transpose(0, 2).unwrap();
    assert_eq!((y.shape(), y.strides()), (&[3, 2, 2][..], &[1, 3, 6][..]));
    let text = "\
tensor([[[ 0,  6],
         [ 3,  9]],

        [[ 1,  7],
         [ 4, 10]],

        [[ 2,  8],
         [ 5, 11]]])";
    assert_eq!(y.to_string(), text);
}

#[test]
fn d6_a_write_through_a_transpose_is_seen_in_its_source() {
    let x = arange(12, &[2, 6]);
    let y = x.transpose(0, 1).unwrap();
    y.set(&[0, 0], 100).unwrap();
    assert_eq!((x.shape(), y.shape()), (&[2, 6][..], &[6, 2][..]));
    assert_eq!(x.to_vec().unwrap(), [100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(y.to_vec().unwrap(), [100, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]);
}

#[test]
fn d7_the_storage_of_a_transpose_keeps_its_order_and_size() {
    let x = arange(12, &[2, 6]);
    let y = x.transpose(0, 1).unwrap();
    assert_eq!(storage_of(&y), storage_of(&x));
    assert_eq!((y.storage().bytes(), y.storage().as_ptr()), (12 * 8, x.storage().as_ptr()));
}

#[test]
fn d8_contiguous_writes_the_transpose_out() {
    let x = from_one(12, &[2, 3, 2]);
    let y = x.transpose(0, 1).unwrap();
    let z = y.contiguous().unwrap();
    assert_eq!([x.strides(), y.strides(), z.strides()], [[6, 2, 1], [2, 6, 1], [4, 2, 1]]);
    assert_eq!(storage_of(&z), [1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12]);
}

#[test]
fn d9_descending_strides_are_not_contiguity() {
    for (shape, strides, descends, is_contiguous) in [
        (&[2, 3, 4][..], &[12, 4, 1][..], true, true),
        (&[2, 2], &[3, 1], true, false),
        (&[2, 3, 4, 1], &[12, 4, 1, 24], false, true),
        (&[3, 1], &[1, 1], false, true),
    ] {
        let layout = Layout::new(shape, strides, 0).unwrap();
        assert_eq!(strides.windows(2).all(|pair| pair[0] > pair[1]), descends);
        assert_eq!(layout.is_contiguous(), is_contiguous, "{layout:?}");
    }
}

#[test]
fn d10_reshape_of_a_contiguous_tensor_is_written_through() {
    let x = from_one(12, &[12]);
    let y = x.reshape([4, 3]).unwrap();
    assert!(!y.copied());
    y.set(&[0, 0], 100).unwrap();
    assert_eq!(x.get(&[0]), Ok(100));
}

#[test]
fn d10_reshape_that_must_copy_leaves_its_source_alone() {
    let x = transposed();
    assert_eq!(header(&x), (&[2, 6][..], &[1, 2][..], false));
    let y = x.reshape([4, 3]).unwrap();
    assert!(y.copied());
    assert_eq!(y.to_vec().unwrap(), [1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12]);
    y.set(&[0, 0], 100).unwrap();
    assert_eq!(x.get(&[0, 0]), Ok(1));
}

#[test]
fn d11_view_takes_what_is_not_contiguous_if_strides_can_express_it() {
    let split = transposed().view([2, 2, 3]).unwrap();
    assert_eq!(header(&split), (&[2, 2, 3][..], &[1, 6, 2][..], false));
    assert_eq!(split.to_vec().unwrap(), transposed().to_vec().unwrap());
}

#[test]
fn d12_view_refuses_where_reshape_copies() {
    assert_refused(transposed().view([4, 3]), NOT_VIEWABLE);
}
