//! Contiguous means that logical order is memory order: a 3 × 4 matrix is contiguous, its transpose
//! is not.

use tensor_kernels::{Layout, Tensor, TensorExt};

use crate::{NOT_VIEWABLE, arange, assert_refused, storage_of};

fn t() -> Tensor<i64> {
    arange(12, &[3, 4])
}

fn t2() -> Tensor<i64> {
    t().transpose(0, 1).unwrap()
}

const COLUMNS: [i64; 12] = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11];

#[test]
fn a1_a_matrix_prints_in_aligned_columns() {
    let text = "tensor([[ 0,  1,  2,  3],\n        [ 4,  5,  6,  7],\n        [ 8,  9, 10, 11]])";
    assert_eq!(t().to_string(), text);
}

#[test]
fn a2_flatten_of_a_contiguous_tensor_is_a_view() {
    let t = t();
    let flat = t.flattened(0, -1).unwrap();
    assert!(!flat.copied() && flat.same_storage(&t));
    assert_eq!(flat.to_vec().unwrap(), (0..12).collect::<Vec<_>>());
    assert!(t.flatten(0, -1).is_ok());
}

#[test]
fn a3_strides_are_the_distances_between_neighbours() {
    assert_eq!(Layout::contiguous([3, 4]).unwrap().strides(), [4, 1]);
    let column_major = Layout::fortran([3, 4]).unwrap();
    assert_eq!(column_major.strides(), [1, 3]);
    let place = |index: [usize; 2]| column_major.offset_of(&index).unwrap();
    assert_eq!((place([0, 1]) - place([0, 0]), place([1, 0]) - place([0, 0])), (3, 1));
}

#[test]
fn a4_transpose_swaps_sizes_and_strides() {
    let t2 = t2();
    assert_eq!((t2.shape(), t2.strides()), (&[4, 3][..], &[1, 4][..]));
    assert_eq!(t2.to_vec().unwrap(), COLUMNS);
}

#[test]
fn a5_transpose_shares_memory_and_is_not_contiguous() {
    let t = t();
    let t2 = t.transpose(0, 1).unwrap();
    assert_eq!(t.data_ptr(), t2.data_ptr());
    assert_eq!((t.is_contiguous(), t2.is_contiguous()), (true, false));
}

#[test]
fn a6_a_transpose_cannot_be_viewed_flat() {
    assert_refused(t2().view([-1]), NOT_VIEWABLE);
}

#[test]
fn a7_logical_order_changes_and_storage_order_does_not() {
    assert_eq!(t2().to_vec().unwrap(), COLUMNS);
    assert_eq!(storage_of(&t2()), (0..12).collect::<Vec<_>>());
}

#[test]
fn a8_contiguous_copies_into_new_memory_in_logical_order() {
    let t2 = t2();
    let t3 = t2.contiguous().unwrap();
    assert_eq!(t3, t2);
    assert_ne!(t3.data_ptr(), t2.data_ptr());
    assert_eq!((t3.strides(), t3.is_contiguous()), (&[3, 1][..], true));
    assert_eq!(storage_of(&t3), COLUMNS);
    assert_eq!(t3.view([-1]).unwrap().to_vec().unwrap(), COLUMNS);
}

/// `stride[i] == stride[i+1] · size[i+1]` for all i is neither sufficient nor necessary.
#[test]
fn a9_contiguity_needs_a_last_stride_of_one_and_ignores_dimensions_of_size_one() {
    for (shape, strides, recurrence_holds, is_contiguous) in [
        (&[3, 4][..], &[4, 1][..], true, true),
        (&[3, 4], &[8, 2], true, false),
        (&[2, 3, 4, 1], &[12, 4, 1, 24], false, true),
        (&[0, 4], &[9, 9], false, true),
        (&[4, 3], &[1, 4], false, false),
    ] {
        let layout = Layout::new(shape, strides, 0).unwrap();
        let recurrence = (1..shape.len()).all(|i| strides[i - 1] == strides[i] * shape[i] as isize);
        assert_eq!(
            (recurrence, layout.is_contiguous()),
            (recurrence_holds, is_contiguous),
            "{layout:?}"
        );
    }
}

#[test]
fn a10_the_check_can_be_traced() {
    for (tensor, expected) in [
        (
            t(),
            "stride=(4, 1) size=torch.Size([3, 4])\n\
             dim 1 stride is 1, next stride should be 1 x 4\n\
             dim 0 stride is 4, next stride should be 4 x 3\n\
             True",
        ),
        (
            t2(),
            "stride=(1, 4) size=torch.Size([4, 3])\n\
             dim 1 is not contiguous. stride is 4, but expected 1\n\
             False",
        ),
    ] {
        assert_eq!(tensor.layout().contiguity_trace().to_string(), expected);
    }
}

#[test]
fn a10_a_tensor_without_elements_is_contiguous() {
    let empty = Layout::new([4, 0], [1, 4], 0).unwrap();
    assert!(empty.is_contiguous());
    assert!(empty.contiguity_trace().to_string().ends_with("\nTrue"));
}

#[test]
fn a11_reshape_tries_a_view_first() {
    let t = t();
    let left = t.narrow(1, 0, 2).unwrap();
    assert!(!left.is_contiguous());
    let viewed = left.reshape([3, 2, 1]).unwrap();
    assert!(!viewed.copied() && viewed.same_storage(&t));
    let copied = left.reshape([6]).unwrap();
    assert!(copied.copied() && !copied.same_storage(&t));
    assert_eq!(copied.to_vec().unwrap(), [0, 1, 4, 5, 8, 9]);
}

#[test]
fn a12_view_needs_less_than_contiguity() {
    let t2 = t2();
    for (sizes, strides) in
        [(&[2, 2, 3][..], &[2, 1, 4][..]), (&[4, 1, 3], &[1, 12, 4]), (&[4, 3, 1], &[1, 4, 4])]
    {
        let view = t2.view(sizes).unwrap();
        assert!(view.same_storage(&t2));
        assert_eq!(view.strides(), strides, "{sizes:?}");
        assert_eq!(view.to_vec().unwrap(), COLUMNS);
    }
    assert_refused(t2.view([3, 4]), NOT_VIEWABLE);
}

#[test]
fn a13_strides_in_bytes_are_numpy_s() {
    assert_eq!(t().layout().strides_in_bytes(8).unwrap().as_slice(), [32, 8]);
    assert_eq!(t2().layout().strides_in_bytes(8).unwrap().as_slice(), [8, 32]);
    assert_eq!(
        Layout::contiguous([2, 3, 4]).unwrap().strides_in_bytes(4).unwrap().as_slice(),
        [48, 16, 4]
    );
}
