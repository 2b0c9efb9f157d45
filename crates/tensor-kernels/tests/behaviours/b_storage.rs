//! A tensor is a header over a storage: views make new headers, `contiguous()` makes a new storage.

use tensor_kernels::{Layout, Tensor, TensorExt};

use crate::{
    NOT_VIEWABLE, arange, assert_refused, counting::bytes_allocated_by, from_one, header,
    storage_of,
};

/// The address of every element, in logical order.
fn addresses(t: &Tensor<i64>) -> Vec<usize> {
    let base = t.storage().as_ptr().addr();
    t.layout().offsets().map(|offset| base + 8 * offset).collect()
}

fn matrix() -> Tensor<i64> {
    from_one(12, &[3, 4])
}

#[test]
fn b1_elements_of_a_contiguous_tensor_lie_eight_bytes_apart() {
    let t = arange(24, &[2, 3, 4]);
    assert!(t.is_contiguous());
    let base = t.data_ptr().addr();
    assert_eq!(addresses(&t), (0..24).map(|i| base + 8 * i).collect::<Vec<_>>());
    for [i, j, k] in [[0, 0, 1], [0, 2, 3], [1, 0, 0], [1, 2, 3]] {
        let [at_i, at_j, at_k] = [i, j, k].map(|at| at as isize);
        let element = t.select(0, at_i).unwrap().select(0, at_j).unwrap().select(0, at_k).unwrap();
        assert_eq!(element.data_ptr().addr(), base + 8 * (12 * i + 4 * j + k));
    }
}

#[test]
fn b2_a_stride_is_the_product_of_the_sizes_after_it() {
    for (shape, strides) in
        [(&[2, 3, 4][..], &[12, 4, 1][..]), (&[2, 0, 3], &[3, 3, 1]), (&[5], &[1]), (&[], &[])]
    {
        assert_eq!(Layout::contiguous(shape).unwrap().strides(), strides, "{shape:?}");
    }
}

#[test]
fn b3_a_transposition_makes_a_new_header_only() {
    let t = matrix();
    let transposed = t.transpose(0, 1).unwrap();
    assert!(transposed.same_storage(&t));
    assert_eq!((t.shape(), transposed.shape()), (&[3, 4][..], &[4, 3][..]));
    let element = |t: &Tensor<i64>, row, column| {
        let element = t.select(0, row).unwrap().select(0, column).unwrap();
        (element.get(&[]).unwrap(), element.data_ptr())
    };
    assert_eq!(element(&t, 2, 2), element(&transposed, 2, 2));
    assert_eq!(element(&t, 2, 1), element(&transposed, 1, 2));
    assert_eq!(bytes_allocated_by(|| t.transpose(0, 1).unwrap()), 0);
}

#[test]
fn b4_the_rows_of_a_transpose_jump_through_memory() {
    let transposed = matrix().transpose(0, 1).unwrap();
    assert_eq!(transposed.strides(), [1, 4]);
    assert_eq!(transposed.to_vec().unwrap(), [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]);
    let addresses = addresses(&transposed);
    assert!(addresses.chunks(3).all(|row| row.windows(2).all(|pair| pair[1] - pair[0] == 32)));
    let row_starts: Vec<usize> = addresses.iter().copied().step_by(3).collect();
    assert!(row_starts.windows(2).all(|pair| pair[1] - pair[0] == 8));
}

#[test]
fn b5_a_contiguous_copy_can_be_viewed() {
    let transposed = matrix().transpose(0, 1).unwrap();
    let packed = transposed.contiguous().unwrap();
    assert_eq!(header(&packed), (&[4, 3][..], &[3, 1][..], true));
    assert!(!packed.same_storage(&transposed));
    assert!(addresses(&packed).windows(2).all(|pair| pair[1] - pair[0] == 8));
    let text = "tensor([[ 1,  5,  9,  2],\n        [ 6, 10,  3,  7],\n        [11,  4,  8, 12]])";
    assert_eq!(packed.view([3, 4]).unwrap().to_string(), text);
}

#[test]
fn b6_contiguous_of_a_contiguous_tensor_is_the_tensor() {
    let t = matrix();
    let holders = t.storage().ref_count();
    let same = t.contiguous().unwrap();
    assert_eq!((same.data_ptr(), same.layout()), (t.data_ptr(), t.layout()));
    assert_eq!(t.storage().ref_count(), holders + 1);
    assert_eq!(bytes_allocated_by(|| t.contiguous().unwrap()), 0);
}

#[test]
fn b7_the_refusal_says_what_to_use() {
    assert_refused(matrix().transpose(0, 1).unwrap().view([3, 4]), NOT_VIEWABLE);
}

#[test]
fn b8_the_order_in_memory_is_whatever_the_strides_say() {
    let column_major = Layout::fortran([2, 3]).unwrap();
    let t: Tensor<i64> =
        Tensor::from_vec_with_layout(vec![1, 4, 2, 5, 3, 6], column_major).unwrap();
    assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(storage_of(&t), [1, 4, 2, 5, 3, 6]);
    assert!(t.layout().is_fortran() && t.layout().is_dense() && !t.is_contiguous());
}
