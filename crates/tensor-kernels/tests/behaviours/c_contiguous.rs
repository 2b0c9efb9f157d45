//! What `contiguous()` does, and which operations give a tensor that needs it.

use tensor_kernels::{Layout, Tensor, TensorExt, s};

use crate::{
    NOT_VIEWABLE, arange, assert_refused, counting::bytes_allocated_by, from_one, header,
    storage_of,
};

fn aaa() -> Tensor<i64> {
    from_one(6, &[2, 3])
}

fn bbb() -> Tensor<i64> {
    aaa().transpose(0, 1).unwrap()
}

#[test]
fn c1_a_window_of_a_batch_of_one_is_contiguous() {
    for (batch, is_contiguous) in [(1, true), (2, false)] {
        let ids = arange(batch * 1000, &[batch as usize, 1000]);
        for start in [0, 7, 8] {
            let window = ids.index(s![.., start..start + 10]).unwrap();
            assert_eq!(header(&window), (&[batch as usize, 10][..], &[1000, 1][..], is_contiguous));
            assert_eq!(window.storage_offset(), start);
            assert_eq!(window.contiguous().unwrap().same_storage(&ids), is_contiguous);
        }
    }
}

#[test]
fn c2_narrow_view_expand_and_transpose_share_memory() {
    let x = arange(6, &[2, 3]);
    let views = [
        x.narrow(1, 0, 2).unwrap(),
        x.view([3, 2]).unwrap(),
        x.expand([2, 3]).unwrap(),
        x.transpose(0, 1).unwrap(),
    ];
    x.set(&[0, 0], 42).unwrap();
    for y in &views {
        assert_eq!(y.get(&[0, 0]), Ok(42), "{y:?}");
    }
}

#[test]
fn c3_a_new_tensor_is_contiguous() {
    assert_eq!(header(&aaa()), (&[2, 3][..], &[3, 1][..], true));
}

#[test]
fn c4_a_transpose_is_not() {
    assert_eq!(header(&bbb()), (&[3, 2][..], &[1, 3][..], false));
}

#[test]
fn c5_narrow_keeps_the_strides() {
    let ccc = aaa().narrow(1, 1, 2).unwrap();
    assert_eq!(header(&ccc), (&[2, 2][..], &[3, 1][..], false));
    assert_eq!(ccc.layout(), aaa().index(s![.., 1..3]).unwrap().layout());
    assert_eq!(ccc.to_vec().unwrap(), [2, 3, 5, 6]);
}

#[test]
fn c6_repeat_copies_along_each_dimension() {
    let aaa = aaa();
    let ddd = aaa.repeat([2, 1]).unwrap();
    assert_eq!(header(&ddd), (&[4, 3][..], &[3, 1][..], true));
    assert!(!ddd.same_storage(&aaa));
    assert_eq!(ddd.to_vec().unwrap(), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn c7_expand_has_stride_zero() {
    let column = aaa().unsqueeze(2).unwrap();
    assert_eq!(header(&column), (&[2, 3, 1][..], &[3, 1, 1][..], true));
    let eee = column.expand([2, 3, 3]).unwrap();
    assert_eq!(header(&eee), (&[2, 3, 3][..], &[3, 1, 0][..], false));
    assert_eq!(eee.layout(), column.expand([-1, -1, 3]).unwrap().layout());
    let led = column.expand([4, 2, 3, 3]).unwrap();
    assert_eq!(header(&led), (&[4, 2, 3, 3][..], &[0, 3, 1, 0][..], false));
}

#[test]
fn c8_repeat_is_always_contiguous_and_so_can_be_viewed() {
    let repeated = aaa().unsqueeze(2).unwrap().repeat([1, 1, 8]).unwrap();
    let fff = repeated.view([2, -1, 2]).unwrap();
    assert_eq!(header(&fff), (&[2, 12, 2][..], &[24, 2, 1][..], true));
    let from_transpose = bbb().repeat([1, 1]).unwrap();
    assert_eq!(header(&from_transpose), (&[3, 2][..], &[2, 1][..], true));
}

#[test]
fn c9_a_transpose_is_viewed_after_contiguous() {
    assert_refused(bbb().view([-1, 3]), NOT_VIEWABLE);
    let viewed = bbb().contiguous().unwrap().view([-1, 3]).unwrap();
    assert_eq!(viewed.to_string(), "tensor([[1, 4, 2],\n        [5, 3, 6]])");
}

/// Sharing is a question about storages: `narrow` gives another `data_ptr` and the same storage.
#[test]
fn c10_contiguity_and_sharing_by_operation() {
    let x = arange(6, &[3, 2]);
    let narrowed = x.narrow(0, 1, 2).unwrap();
    assert_eq!(narrowed.data_ptr(), x.data_ptr().wrapping_add(2));
    let reversed = x.flip([0]).unwrap();
    for (name, result, is_contiguous, shares) in [
        ("transpose", x.transpose(0, 1).unwrap(), false, true),
        ("narrow", narrowed, true, true),
        ("permute", x.permute([1, 0]).unwrap(), false, true),
        ("view", x.view([2, 3]).unwrap(), true, true),
        ("reshape", x.reshape([6, 1]).unwrap().into_tensor(), true, true),
        ("expand", x.expand([2, -1, -1]).unwrap(), false, true),
        ("flip, a view here", reversed.clone(), false, true),
        ("flip as PyTorch has it", reversed.contiguous().unwrap(), true, false),
    ] {
        assert_eq!(
            (result.is_contiguous(), result.same_storage(&x)),
            (is_contiguous, shares),
            "{name}"
        );
    }
    let expanded = x.expand([2, -1, -1]).unwrap();
    assert_eq!((expanded.shape(), expanded.strides()), (&[2, 3, 2][..], &[0, 2, 1][..]));
    assert_eq!(reversed.contiguous().unwrap().to_vec().unwrap(), [4, 5, 2, 3, 0, 1]);
}

#[test]
fn c11_three_ways_to_flatten_a_transpose() {
    let y = arange(6, &[2, 3]).transpose(0, 1).unwrap();
    assert_refused(y.view([6]), NOT_VIEWABLE);
    let expected = [0, 3, 1, 4, 2, 5];
    assert_eq!(y.reshape([6]).unwrap().to_vec().unwrap(), expected);
    assert_eq!(y.contiguous().unwrap().view([6]).unwrap().to_vec().unwrap(), expected);
    assert!(y.reshape([6]).unwrap().copied());
}

#[test]
fn c12_strides_count_elements_not_bytes() {
    fn strides<T: tensor_kernels::Element + Default>() -> Vec<isize> {
        Tensor::full([3, 4], T::default()).unwrap().strides().to_vec()
    }
    assert_eq!(strides::<u8>(), [4, 1]);
    assert_eq!(strides::<i64>(), [4, 1]);
}

#[test]
fn c13_a_transpose_is_column_major_until_it_is_copied() {
    let transposed = arange(12, &[3, 4]).t().unwrap();
    assert_eq!(transposed.strides(), [1, 4]);
    assert!(transposed.layout().is_fortran());
    let packed = transposed.contiguous().unwrap();
    assert_eq!(packed.strides(), [3, 1]);
    assert!(!packed.layout().is_fortran());
}

/// The same 2 × 2 tensor stored as 1 2 3 4, as 1 3 2 4 and as 1 _ 2 _ 3 _ 4.
#[test]
fn c14_contiguous_and_dense_are_two_questions() {
    for (stored, strides, is_contiguous, is_dense) in [
        (&[1, 2, 3, 4][..], &[2, 1][..], true, true),
        (&[1, 3, 2, 4], &[1, 2], false, true),
        (&[1, 0, 2, 0, 3, 0, 4], &[4, 2], false, false),
    ] {
        let layout = Layout::new([2, 2], strides, 0).unwrap();
        let t: Tensor<i64> = Tensor::from_vec_with_layout(stored.to_vec(), layout).unwrap();
        assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4]);
        assert_eq!(
            (t.is_contiguous(), t.layout().is_dense()),
            (is_contiguous, is_dense),
            "{stored:?}"
        );
    }
}

#[test]
fn c15_contiguous_means_that_memory_order_is_logical_order() {
    for t in [aaa(), bbb(), bbb().contiguous().unwrap(), aaa().expand([2, 2, 3]).unwrap()] {
        assert_eq!(t.is_contiguous(), storage_of(&t) == t.to_vec().unwrap(), "{t:?}");
    }
}

#[test]
fn c16_an_expanded_hidden_state_is_made_contiguous() {
    let lstmh = arange(5, &[1, 1, 5]).squeeze_dim(0).unwrap();
    let expanded = lstmh.expand([1, 3, 5]).unwrap();
    assert_eq!(header(&expanded), (&[1, 3, 5][..], &[0, 0, 1][..], false));
    let packed = expanded.contiguous().unwrap();
    assert_eq!(header(&packed), (&[1, 3, 5][..], &[15, 5, 1][..], true));
    assert_eq!(packed.to_vec().unwrap(), [0, 1, 2, 3, 4].repeat(3));
    assert!(lstmh.expand([1, 1, 5]).unwrap().is_contiguous(), "one row needs no copy");
}

#[test]
fn c17_contiguous_of_a_contiguous_tensor_costs_nothing() {
    let t = Tensor::<f32>::zeros([256, 256]).unwrap();
    assert_eq!(bytes_allocated_by(|| t.contiguous().unwrap()), 0);
    let bytes = bytes_allocated_by(|| t.t().unwrap().contiguous().unwrap());
    assert!(bytes >= t.storage().bytes(), "{bytes}");
}
