//! Strides as a storage format: the effect of permuting, broadcasting and slicing, and the limits
//! of the storage.

use tensor_kernels::{Error, Layout, Tensor, TensorExt, s};

use crate::{arange, counting::bytes_allocated_by, header, storage_of};

fn t() -> Tensor<i64> {
    arange(24, &[1, 2, 3, 4])
}

fn third_column() -> Tensor<i64> {
    t().index(s![.., .., .., 2]).unwrap()
}

#[test]
fn e1_the_offset_of_an_element_is_a_formula() {
    const ROWS: usize = 3;
    const COLUMNS: usize = 4;
    let row_major = Layout::contiguous([ROWS, COLUMNS]).unwrap();
    let column_major = Layout::fortran([ROWS, COLUMNS]).unwrap();
    let shifted = Layout::new([ROWS, COLUMNS], [-8, 2], 30).unwrap();
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            assert_eq!(row_major.offset_of(&[i, j]), Ok(i * COLUMNS + j));
            assert_eq!(column_major.offset_of(&[i, j]), Ok(j * ROWS + i));
            assert_eq!(shifted.offset_of(&[i, j]), Ok(30 - 8 * i + 2 * j));
        }
    }
}

#[test]
fn e2_strides_follow_from_the_shape_only_in_a_compact_tensor() {
    let compact = Layout::contiguous([3, 4]).unwrap();
    let part = compact.narrow(1, 0, 2).unwrap();
    assert_eq!((part.shape(), part.strides()), (&[3, 2][..], compact.strides()));
    assert_eq!(Layout::contiguous([3, 0, 4]).unwrap().strides(), [4, 4, 1]);
}

#[test]
fn e3_a_reshaped_range_has_row_major_strides() {
    let t = arange(24, &[24]).reshape([1, 2, 3, 4]).unwrap();
    assert_eq!(header(&t), (&[1, 2, 3, 4][..], &[24, 12, 4, 1][..], true));
}

/// A view with an offset has fewer elements of the storage after its first one.
#[test]
fn e4_nothing_is_read_past_the_end_of_the_storage() {
    let view = third_column();
    let storage = view.storage();
    let skipped = view.data_ptr().addr() - storage.as_ptr().addr();
    assert_eq!((storage.bytes(), skipped), (24 * 8, 2 * 8));
    assert_eq!(storage_of(&view).len(), 24);

    let behind = Layout::new([22], [1], view.storage_offset()).unwrap();
    assert_eq!(view.with_layout(behind).unwrap().to_vec().unwrap(), (2..24).collect::<Vec<_>>());
    for len in [23, 24] {
        let beyond = Layout::new([len], [1], view.storage_offset()).unwrap();
        assert!(matches!(view.with_layout(beyond), Err(Error::OutOfBounds { available: 192, .. })));
    }
}

#[test]
fn e5_permuting_a_dimension_of_size_one_keeps_contiguity() {
    let moved = t().permute([1, 2, 3, 0]).unwrap();
    assert_eq!(header(&moved), (&[2, 3, 4, 1][..], &[12, 4, 1, 24][..], true));
    assert_eq!(storage_of(&moved), (0..24).collect::<Vec<_>>());
}

#[test]
fn e6_permuted_strides_are_not_those_of_the_new_shape() {
    let moved = t().permute([1, 2, 3, 0]).unwrap();
    assert_eq!(Layout::contiguous(moved.shape()).unwrap().strides(), [12, 4, 1, 1]);
    assert_eq!(moved.strides(), [12, 4, 1, 24]);
    let canonical = moved.contiguous_canonical().unwrap();
    assert_eq!(canonical.strides(), [12, 4, 1, 1]);
    assert!(canonical.same_storage(&moved));
}

#[test]
fn e7_broadcasting_copies_nothing() {
    let t = t();
    let wide = t.broadcast_to([2, 2, 3, 4]).unwrap();
    assert_eq!(header(&wide), (&[2, 2, 3, 4][..], &[0, 12, 4, 1][..], false));
    assert_eq!((wide.numel(), wide.storage().bytes()), (48, 24 * 8));
    assert!(wide.same_storage(&t));
    assert_eq!(bytes_allocated_by(|| t.broadcast_to([2, 2, 3, 4]).unwrap()), 0);
}

#[test]
fn e8_selecting_a_column_moves_the_offset() {
    let column = third_column();
    assert_eq!(header(&column), (&[1, 2, 3][..], &[24, 12, 4][..], false));
    assert_eq!(column.storage_offset(), 2);
    assert_eq!(column.to_string(), "tensor([[[ 2,  6, 10],\n         [14, 18, 22]]])");
}

#[test]
fn e9_a_dimension_of_size_one_keeps_its_stride() {
    assert_eq!(t().strides()[0], 24);
    assert_eq!(third_column().strides()[0], 24);
}

#[test]
fn e10_selecting_from_two_blocks() {
    let column = arange(48, &[2, 2, 3, 4]).index(s![.., .., .., 2]).unwrap();
    let text = "\
tensor([[[ 2,  6, 10],
         [14, 18, 22]],

        [[26, 30, 34],
         [38, 42, 46]]])";
    assert_eq!(column.to_string(), text);
}

#[test]
fn e11_an_index_of_integers_ranges_and_steps() {
    let part = arange(96, &[3, 4, 8]).index(s![2, 1..3, 1..6;3]).unwrap();
    assert_eq!(
        (part.shape(), part.strides(), part.storage_offset()),
        (&[2, 2][..], &[8, 3][..], 73)
    );
    assert_eq!(part.to_vec().unwrap(), [73, 76, 81, 84]);
}

#[test]
fn e12_the_storage_of_a_slice_is_the_whole_storage() {
    assert_eq!(storage_of(&third_column()), (0..24).collect::<Vec<_>>());
}

#[test]
fn e13_reshape_of_a_slice_is_a_view_if_strides_can_express_it() {
    let column = third_column();
    let flat = column.reshape([3, 2]).unwrap();
    assert!(!flat.copied() && flat.same_storage(&column));
    assert_eq!(flat.strides(), [8, 4]);
    assert_eq!(bytes_allocated_by(|| column.reshape([3, 2]).unwrap()), 0);
}

#[test]
fn e14_contiguous_packs_it() {
    let packed = third_column().reshape([3, 2]).unwrap().contiguous().unwrap();
    assert_eq!(header(&packed), (&[3, 2][..], &[2, 1][..], true));
    assert_eq!(storage_of(&packed), [2, 6, 10, 14, 18, 22]);
}

#[test]
fn e15_row_major_is_a_default_and_not_the_only_order() {
    use tensor_kernels::MemoryFormat::ChannelsLast;
    let image = arange(48, &[2, 2, 3, 4]);
    let packed = image.to_contiguous(ChannelsLast).unwrap();
    assert_eq!(packed.strides(), [24, 1, 8, 2]);
    assert!(packed.layout().is_channels_last() && !packed.is_contiguous());
    assert_eq!(packed, image);
    assert_eq!(storage_of(&packed)[..6], [0, 12, 1, 13, 2, 14]);
    assert!(packed.to_contiguous(ChannelsLast).unwrap().same_storage(&packed));
    assert!(Layout::fortran([3, 4]).unwrap().is_fortran());
}

#[test]
fn e16_views_ask_for_no_memory() {
    let t = arange(96, &[3, 4, 8]);
    let bytes = bytes_allocated_by(|| {
        let transposed = t.permute([2, 0, 1]).unwrap().unsqueeze(0).unwrap();
        let part = transposed.index(s![0, 1..6;3, .., -1]).unwrap().flip([0]).unwrap();
        let wide = part.unsqueeze(1).unwrap().expand([2, 5, 3]).unwrap();
        (t.view([-1, 2]).unwrap(), t.unfold(2, 3, 2).unwrap(), wide.diagonal(0, 1, 2).unwrap())
    });
    assert_eq!(bytes, 0);
}
