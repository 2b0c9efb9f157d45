//! Operations that do not fit their input: the error text begins with PyTorch's and contains the
//! values.

use tensor_core::{
    Error, Index, Layout, NewAxis, Slice, Tensor, broadcast_shapes, broadcast_two, s,
};

fn cube() -> Layout {
    Layout::contiguous([2, 3, 4]).unwrap()
}

fn scalar() -> Layout {
    Layout::contiguous(()).unwrap()
}

#[track_caller]
fn check<T: std::fmt::Debug>(table: impl IntoIterator<Item = (Result<T, Error>, &'static str)>) {
    for (row, (result, expected)) in table.into_iter().enumerate() {
        let text = result.expect_err(expected).to_string();
        assert!(text.starts_with(expected), "row {row}: {text:?}, not {expected:?}");
    }
}

#[test]
fn fault_dimensions_out_of_range_are_refused() {
    let of_three = "Dimension out of range (expected to be in range of [-3, 2], but got ";
    check([
        (cube().transpose(0, 3), of_three),
        (cube().transpose(-4, 0), of_three),
        (cube().permute([0, 1, 3]), of_three),
        (cube().movedim([3], [0]), of_three),
        (cube().movedim([0], [-4]), of_three),
        (cube().flip([3]), of_three),
        (cube().narrow(3, 0, 1), of_three),
        (cube().select(isize::MIN, 0), of_three),
        (cube().select(isize::MAX, 0), of_three),
        (cube().slice(-4, ..), of_three),
        (cube().squeeze_dim(3), of_three),
        (cube().flatten(0, 3), of_three),
        (cube().unflatten(3, [1]), of_three),
        (cube().diagonal(0, 0, 3), of_three),
        (cube().unfold(3, 1, 1), of_three),
        (
            cube().unsqueeze(4),
            "Dimension out of range (expected to be in range of [-4, 3], but got 4)",
        ),
    ]);
    check([
        (cube().split(1, 3), of_three),
        (cube().chunk(1, -4), of_three),
        (cube().unbind(3), of_three),
    ]);
}

#[test]
fn fault_a_scalar_has_no_dimension_to_restrict() {
    let of_one = "Dimension out of range (expected to be in range of [-1, 0], but got 1)";
    check([
        (scalar().narrow(0, 0, 1), "narrow() cannot be applied to a 0-dim tensor."),
        (scalar().select(0, 0), "select() cannot be applied to a 0-dim tensor."),
        (scalar().slice(0, ..), "slice() cannot be applied to a 0-dim tensor."),
        (scalar().diagonal(0, 0, 1), of_one),
        (scalar().diagonal(0, 0, 0), "diagonal dimensions cannot be identical 0, 0"),
        (scalar().transpose(0, 1), of_one),
        (scalar().flip([1]), of_one),
        (scalar().unflatten(0, [1]), "Dimension specified as 0 but tensor has no dimensions"),
        (scalar().unfold(0, 2, 1), "maximum size for tensor at dimension 0 is 1 but size is 2"),
    ]);
    check([
        (scalar().split(1, 0), "split expects at least a 1-dimensional tensor"),
        (scalar().chunk(1, 0), "chunk expects at least a 1-dimensional tensor"),
        (scalar().unbind(0), "Dimension specified as 0 but tensor has no dimensions"),
    ]);
}

#[test]
fn fault_a_permutation_names_every_dimension_once() {
    check([
        (cube().permute([0, 1, 1]), "permute(): duplicate dims are not allowed."),
        (cube().permute([0, -3, 1]), "permute(): duplicate dims are not allowed."),
        (
            cube().permute([0, 1]),
            "permute: number of dimensions in the tensor input does not match the length of the \
             desired ordering of dimensions \
             i.e. input.dim() = 3 is not equal to len(dims) = 2",
        ),
        (cube().movedim([0, 0], [1, 2]), "movedim: repeated dim in `source` ([0, 0])"),
        (cube().movedim([0, 1], [2, -1]), "movedim: repeated dim in `destination` ([2, -1])"),
        (
            cube().movedim([0], [1, 2]),
            "movedim: Invalid source or destination dims: source ([0] dims) should contain the \
             same number of dims as destination ([1, 2] dims)",
        ),
        (cube().flip([0, -3]), "dim 0 appears multiple times in the list of dims"),
        (cube().t(), "t() expects a tensor with <= 2 dimensions, but self is 3D"),
        (cube().diagonal(0, 0, -3), "diagonal dimensions cannot be identical 0, -3"),
        (cube().flatten(2, 1), "flatten() has invalid args: start_dim cannot come after end_dim"),
    ]);
}

#[test]
fn fault_view_needs_the_same_number_of_elements_and_at_most_one_inferred_size() {
    let empty = Layout::contiguous([0, 3]).unwrap();
    check([
        (cube().view([5, 5]), "shape '[5, 5]' is invalid for input of size 24"),
        (cube().view([5, -1]), "shape '[5, -1]' is invalid for input of size 24"),
        (cube().view([0, -1]), "shape '[0, -1]' is invalid for input of size 24"),
        (cube().view(()), "shape '[]' is invalid for input of size 24"),
        (
            cube().view([1_isize << 40, 1_isize << 40]),
            "shape '[1099511627776, 1099511627776]' is invalid",
        ),
        (cube().view([-1, -1]), "only one dimension can be inferred"),
        (cube().view([-2, 12]), "invalid shape dimension -2 at index 0 of shape [-2, 12]"),
        (
            empty.view([-1, 0]),
            "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified \
             dimension size -1 can be any value and is ambiguous",
        ),
        (cube().unflatten(2, ()), "unflatten: sizes must be non-empty"),
        (
            cube().unflatten(2, [3, -1]),
            "unflatten: Provided sizes [3, -1] don't multiply up to the size of dim 2 (4) in the \
             input tensor",
        ),
        (cube().unflatten(2, [-1, -1]), "only one dimension can be inferred"),
    ]);
}

#[test]
fn fault_a_view_never_copies() {
    let transposed = cube().transpose(0, 2).unwrap();
    let refused = "view size is not compatible with input tensor's size and stride (at least one \
         dimension spans across two contiguous \
                   subspaces). Use .reshape(...) instead.";
    check([
        (transposed.view([24]), refused),
        (transposed.view([-1]), refused),
        (transposed.flatten(0, -1), refused),
        (transposed.flatten(1, 2), refused),
        (cube().narrow(1, 0, 2).unwrap().view([16]), refused),
        (cube().expand([2, 2, 3, 4]).unwrap().view([48]), refused),
    ]);
}

#[test]
fn fault_a_refused_view_names_the_dimensions_that_are_not_adjacent() {
    let refused = cube().narrow(1, 0, 2).unwrap().view([16]).unwrap_err();
    let expected = Error::NotViewable {
        shape: vec![2, 2, 4],
        strides: vec![12, 4, 1],
        target: vec![16],
        seam: 1,
        expected: 8,
    };
    assert_eq!(refused, expected);
    assert!(refused.to_string().ends_with(
        "[size [2, 2, 4] stride [12, 4, 1] as [16]: dimensions 0 and 1 are not adjacent in \
         memory: stride of dimension 0 is 12, but 8 would be needed; without a copy: \
         .view(&[2, 8])]"
    ));
}

#[test]
fn fault_shapes_that_do_not_broadcast_are_both_named() {
    let refused = broadcast_two("add", &[8], &[3]).unwrap_err().to_string();
    assert!(refused.starts_with(
        "The size of tensor a (8) must match the size of tensor b (3) at non-singleton dimension 0"
    ));
    assert!(refused.contains("[8]") && refused.contains("[3]"), "{refused}");

    for (a, b) in [(&[2, 0][..], &[2, 3][..]), (&[0], &[2]), (&[4, 3], &[3, 4])] {
        assert!(broadcast_shapes(&[a, b]).is_err(), "{a:?} {b:?}");
    }
    for (a, b, common) in [
        (&[0][..], &[1][..], &[0][..]),
        (&[2, 0], &[1], &[2, 0]),
        (&[], &[2, 3], &[2, 3]),
        (&[3, 1], &[4], &[3, 4]),
    ] {
        assert_eq!(broadcast_shapes(&[a, b]).unwrap().as_slice(), common, "{a:?} {b:?}");
    }
    let long = [1 << 40, 1];
    assert!(matches!(broadcast_shapes(&[&long, &[1 << 40]]), Err(Error::TooLarge { .. })));
}

#[test]
fn fault_only_sizes_of_one_expand() {
    let column = || Layout::contiguous([3, 1]).unwrap();
    check([
        (
            column().expand([4, 2]),
            "The expanded size of the tensor (4) must match the existing size (3) at \
             non-singleton dimension 0.  \
             Output sizes: [4, 2].  Tensor sizes: [3, 1]",
        ),
        (
            column().expand([0, 2]),
            "The expanded size of the tensor (0) must match the existing size (3)",
        ),
        (
            column().expand([3, -2]),
            "The expanded size of the tensor (-2) must match the existing size (1)",
        ),
        (
            column().expand([-1, 3, 1]),
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing \
             dimension 0",
        ),
        (
            column().broadcast_to([usize::MAX, 3, 1]),
            "Storage size calculation overflowed with sizes=",
        ),
        (column().expand([3, isize::MAX]), "Storage size calculation overflowed with sizes="),
    ]);
    let fewer = column().expand([3]).unwrap_err().to_string();
    assert!(fewer.contains(
        "the number of sizes provided (1) must be greater or equal to the number of dimensions in \
         the tensor (2)"
    ));
    let one = Layout::contiguous([1]).unwrap();
    assert_eq!(one.expand([isize::MAX]).unwrap().numel(), isize::MAX as usize);
    assert_eq!(one.expand([0]).unwrap().shape(), [0]);
    for size in [isize::MAX as usize + 1, usize::MAX - 1, usize::MAX] {
        let refused = one.broadcast_to([size]);
        let expected = Error::TooLarge { what: "a size", shape: vec![size], strides: vec![] };
        assert_eq!(refused, Err(expected));
        assert!(matches!(scalar().broadcast_to([size]), Err(Error::TooLarge { .. })));
        assert!(matches!(one.broadcast_to([0, size]), Err(Error::TooLarge { .. })));
    }
}

#[test]
fn fault_ranges_lie_within_the_dimension() {
    check([
        (
            cube().narrow(0, 3, 0),
            "start out of range (expected to be in range of [-2, 2], but got 3)",
        ),
        (cube().narrow(0, isize::MIN, 0), "start out of range (expected to be in range of [-2, 2]"),
        (cube().narrow(0, 1, 5), "start (1) + length (5) exceeds dimension size (2)."),
        (cube().narrow(0, 1, usize::MAX), "start (1) + length (18446744073709551615) exceeds"),
        (cube().narrow(0, -2, 3), "start (0) + length (3) exceeds dimension size (2)."),
        (
            cube().select(0, 5),
            "select(): index 5 out of range for tensor of size [2, 3, 4] at dimension 0",
        ),
        (cube().select(0, isize::MIN), "select(): index -9223372036854775808 out of range"),
        (cube().slice(0, Slice::ALL.step_by(0)), "slice step cannot be zero"),
        (cube().index(s![0, 5]), "index 5 is out of bounds for dimension 1 with size 3"),
        (cube().index(s![NewAxis, 0, -4]), "index -4 is out of bounds for dimension 1 with size 3"),
        (cube().index(s![0, 0, 0, 0]), "too many indices for tensor of dimension 3"),
        (cube().index(s![.., .., .., ..]), "too many indices for tensor of dimension 3"),
        (cube().index(s![..., 0, ...]), "an index can only have a single ellipsis ('...')"),
        (cube().unfold(0, 3, 1), "maximum size for tensor at dimension 0 is 2 but size is 3"),
        (
            cube().unfold(0, usize::MAX, 1),
            "maximum size for tensor at dimension 0 is 2 but size is",
        ),
        (cube().unfold(0, 1, 0), "step is 0 but must be > 0"),
    ]);
    check([
        (
            cube().split(0, 0),
            "split_size can only be 0 if dimension size is 0, but got dimension size of 2",
        ),
        (cube().chunk(0, 0), "chunk expects `chunks` to be greater than 0, got: 0"),
    ]);
}

#[test]
fn fault_slices_are_clamped_and_their_offset_stays_within_the_end() {
    let row = Layout::contiguous([5]).unwrap();
    for (start, end, step, len, offset) in [
        (Some(3), Some(2), 1, 0, 3),
        (Some(2), Some(9), 1, 3, 2),
        (Some(isize::MIN), Some(isize::MAX), 1, 5, 0),
        (Some(isize::MAX), None, 1, 0, 5),
        (Some(5), None, 1, 0, 5),
        (None, Some(isize::MIN), 1, 0, 0),
        (None, None, isize::MAX, 1, 0),
        (None, None, isize::MIN, 1, 4),
        (Some(isize::MIN), None, -1, 0, 0),
        (Some(isize::MAX), Some(isize::MIN), -1, 5, 4),
        (None, None, -2, 3, 4),
    ] {
        let slice = row.slice(0, Slice::new(start, end, step)).unwrap();
        assert_eq!((slice.numel(), slice.offset()), (len, offset), "{start:?}:{end:?}:{step}");
    }
    assert!(row.index(&[Index::Slice(Slice::ALL.step_by(isize::MIN))]).is_ok());
}

#[test]
fn fault_as_strided_stays_within_the_storage() {
    let tensor = Tensor::arange(0i64, 6, 1).unwrap();
    check([
        (
            tensor.as_strided([2, 3], [1, 2], Some(1)),
            "sizes [2, 3] with strides [1, 2] and storage offset 1 reach beyond the end of the \
             storage: 56 bytes needed, 48 there [8 bytes an element]",
        ),
        (
            tensor.as_strided([2, 3], [2, -1], None),
            "as_strided: Negative strides are not supported at the moment, got strides: [2, -1]",
        ),
        (tensor.as_strided([2, 3], [1], None), "mismatch in length of strides and shape"),
        (
            tensor.as_strided([2, 1_usize << 62], [1_isize << 62, 4], None),
            "Storage size calculation overflowed with sizes=[2, 4611686018427387904]",
        ),
    ]);
    assert!(tensor.as_strided([2, 3], [1, 2], None).is_ok());
}

#[test]
fn fault_element_access_needs_one_index_per_dimension() {
    let tensor = Tensor::arange(0i64, 6, 1).unwrap().view([2, 3]).unwrap();
    check([
        (tensor.get(&[2, 0]), "index 2 is out of bounds for dimension 0 with size 2"),
        (
            tensor.get(&[0, usize::MAX]),
            "index 9223372036854775807 is out of bounds for dimension 1",
        ),
        (tensor.get(&[0]), "an element of a tensor of dimension 2 needs 2 indices, but got 1"),
        (tensor.get(&[0, 0, 0]), "too many indices for tensor of dimension 2"),
    ]);
    assert!(tensor.set(&[0, 3], 9).is_err());
    assert_eq!(tensor.to_vec(), Ok(vec![0, 1, 2, 3, 4, 5]));
}

#[test]
fn fault_arange_refuses_steps_that_do_not_reach_the_end() {
    check([
        (Tensor::arange(1i32, 0, 1), "upper bound and lower bound inconsistent with step sign"),
        (Tensor::arange(0i32, 1, -1), "upper bound and lower bound inconsistent with step sign"),
        (Tensor::arange(0i32, 1, 0), "step must be nonzero"),
    ]);
    check([
        (Tensor::arange(0.0, f64::INFINITY, 1.0), "start, end and step must be finite"),
        (Tensor::arange(0.0, f64::NAN, 1.0), "start, end and step must be finite"),
        (Tensor::arange(0.0, f64::MAX, f64::MIN_POSITIVE), "too many values"),
    ]);
    assert_eq!(Tensor::arange(i8::MIN, i8::MAX, 127).unwrap().to_vec(), Ok(vec![-128, -1, 126]));
}
