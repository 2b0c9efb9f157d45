//! Results in the storage of an operand: disjoint and identical ones are computed, overlapping ones
//! are refused before an element is written.

use tensor_kernels::{Error, Exec, Layout, Overlap, Result, Tensor, TensorExt, TensorMutExt, ops};

fn exec() -> Exec {
    *Exec::current().unwrap()
}

fn square() -> Tensor<i32> {
    Tensor::arange(1, 10, 1).unwrap().view([3, 3]).unwrap()
}

/// Asserts an error that names the operand, and an index of it and one of the result that share an
/// element; nothing has changed.
#[track_caller]
fn assert_refused(
    result: &Result<()>,
    which: &str,
    input: &Tensor<i32>,
    output: &Tensor<i32>,
    all: &Tensor<i32>,
) {
    let Err(Error::ReadWriteOverlap { operand, overlap, .. }) = &result else {
        panic!("{result:?}")
    };
    let Overlap::Yes { first, second } = &**overlap else { panic!("{overlap:?}") };
    assert_ne!(first, second, "an element at one index does no harm");
    assert_eq!(*operand, which);
    assert_eq!(
        input.layout().offset_of(first).unwrap(),
        output.layout().offset_of(second).unwrap()
    );
    let text = result.as_ref().unwrap_err().to_string();
    assert!(text.starts_with("unsupported operation: some elements of the input tensor"), "{text}");
    assert!(
        text.ends_with(&format!("operand {which} at {first:?} is the output at {second:?}]")),
        "{text}"
    );
    assert_eq!(*all, square());
}

#[test]
fn fault_a_matrix_plus_its_transpose_is_refused_in_every_form() {
    let x = square();
    let transposed = x.t().unwrap();
    assert_refused(&x.add_inplace(&transposed), "b", &transposed, &x, &x);
    assert_refused(&ops::add_into(&exec(), &transposed, &x, &x), "a", &transposed, &x, &x);
    assert_refused(&ops::mul_add_into(&exec(), &x, 2, &transposed, &x), "c", &transposed, &x, &x);
    assert_refused(&ops::neg_into(&exec(), &transposed, &x), "a", &transposed, &x, &x);
    assert_refused(&x.zip_inplace(&transposed, |a, b| a + b), "b", &transposed, &x, &x);
    assert_refused(&x.zip3_inplace(&x, &transposed, |a, _, c| a + c), "c", &transposed, &x, &x);
}

#[test]
fn copies_between_overlapping_views_are_made_first_on_request() {
    let copying = exec().copying_first();
    let shifted = |x: &Tensor<i32>| [x.narrow(0, 0, 5).unwrap(), x.narrow(0, 1, 5).unwrap()];
    let x = Tensor::arange(0, 6, 1).unwrap();
    let [low, high] = shifted(&x);
    assert!(tensor_kernels::copy_between(&exec(), &low, &high).is_err());
    assert!(tensor_kernels::copy_into(&exec(), &low, &high).is_err());
    assert_eq!(x.to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
    tensor_kernels::copy_between(&copying, &low, &high).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 0, 1, 2, 3, 4]);
    tensor_kernels::copy_into(&copying, &high, &low).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 1, 2, 3, 4, 4]);
    tensor_kernels::copy_between(&copying, x.flip([0]).unwrap(), &x).unwrap();
    assert_eq!(x.to_vec().unwrap(), [4, 4, 3, 2, 1, 0]);
    let square = Tensor::arange(0, 4, 1).unwrap().view([2, 2]).unwrap();
    tensor_kernels::copy_between(&copying, square.select(1, 1).unwrap(), &square).unwrap();
    assert_eq!(square.to_vec().unwrap(), [1, 3, 1, 3]);
}

#[test]
#[should_panic(expected = "copying_first(). [add: operand b at [0, 1] is the output at [1, 0]]")]
fn the_assignment_operator_panics_with_the_refusal() {
    let mut x = square();
    let transposed = x.t().unwrap();
    x += &transposed;
}

#[test]
fn fault_overlapping_operands_are_copied_first_on_request() {
    let copying = exec().copying_first();
    let sums = square().add(square().t().unwrap()).unwrap();
    let x = square();
    ops::add_inplace(&copying, &x, x.t().unwrap()).unwrap();
    assert_eq!(x, sums);
    let x = square();
    ops::add_into(&copying, x.t().unwrap(), x.flip([0]).unwrap(), &x).unwrap();
    assert_eq!(x, square().t().unwrap().add(square().flip([0]).unwrap()).unwrap());
    // A row is broadcast to all rows, one of which is the row itself.
    let x = square();
    ops::mul_add_inplace(&copying, &x, x.select(0, 1).unwrap(), x.t().unwrap()).unwrap();
    let y = square();
    assert_eq!(x, y.mul_add(y.select(0, 1).unwrap(), y.t().unwrap()).unwrap());
}

#[test]
fn fault_an_operand_that_is_the_result_is_computed_in_place() {
    for exec in crate::check::execs() {
        let x = Tensor::arange(0, 5000, 1).unwrap();
        ops::mul_add_into(&exec, &x, &x, &x, &x).unwrap();
        let expected: Vec<i32> = (0..5000).map(|n| n * n + n).collect();
        assert_eq!(x.to_vec().unwrap(), expected);
        let grid = Tensor::arange(0, 5000, 1).unwrap().view([50, 100]).unwrap();
        let transposed = grid.t().unwrap();
        ops::sub_into(&exec, 0, &transposed, &transposed).unwrap();
        assert_eq!(
            grid.view([-1]).unwrap().to_vec().unwrap(),
            (0..5000).map(|n| -n).collect::<Vec<i32>>()
        );
    }
}

#[test]
fn fault_strides_of_dimensions_of_size_one_are_ignored() {
    let x = Tensor::arange(0, 6, 1).unwrap().view([1, 6]).unwrap();
    let same = x.with_layout(Layout::new([1, 6], [99, 1], 0).unwrap()).unwrap();
    x.add_inplace(&same).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 2, 4, 6, 8, 10]);
}

#[test]
fn fault_disjoint_parts_of_one_storage_are_accepted() {
    let x = Tensor::arange(0, 12, 1).unwrap();
    let part = |at: isize| x.narrow(0, 4 * at, 4).unwrap();
    ops::mul_add_into(&exec(), part(0), part(1), part(0), &part(2)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 0, 6, 14, 24]);
}

#[test]
fn fault_a_result_that_overlaps_itself_is_refused() {
    let x = Tensor::full([1, 4], 1).unwrap();
    let rows = x.expand([3, 4]).unwrap();
    for result in [
        ops::add_into(&exec(), &rows, 1, &rows),
        rows.add_inplace(1),
        ops::neg_into(&exec().copying_first(), &rows, &rows),
    ] {
        assert!(matches!(result, Err(Error::WriteOverlap { .. })), "{result:?}");
    }
    assert_eq!(x.to_vec().unwrap(), [1; 4]);
}

#[test]
fn fault_results_of_another_type_in_the_same_bytes() {
    let x = Tensor::from_vec(vec![1.0f32, -2.0, 0.5], [3]).unwrap();
    let bits = x.view_dtype::<u32>().unwrap();
    ops::bitwise_and_into(&exec(), &bits, 0x7FFF_FFFF, &bits).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0, 2.0, 0.5]);
    // The same width, and the same bytes at each index: computed in place.
    ops::cast_into(&exec(), &x, &x.view_dtype::<i32>().unwrap()).unwrap();
    assert_eq!(x.view_dtype::<i32>().unwrap().to_vec().unwrap(), [1, 2, 0]);
    // With another width the elements overlap at different indices.
    let bytes = x.view_dtype::<u8>().unwrap().narrow(0, 4, 3).unwrap();
    let result = ops::cast_into(&exec(), &x, &bytes);
    let Err(Error::ReadWriteOverlap { overlap, .. }) = result else { panic!("{result:?}") };
    let Overlap::Yes { first, second } = *overlap else { panic!("{overlap:?}") };
    let (element, byte) = (x.layout().offset_of(&first), bytes.layout().offset_of(&second));
    assert_eq!(element.unwrap(), byte.unwrap() / 4);
}

#[test]
fn fault_a_guard_blocks_the_operation() {
    let x = square();
    let guard = x.read().unwrap();
    let view = guard.as_view();
    assert!(matches!(ops::add_into(&exec(), &view, 1, &x), Err(Error::Borrowed { .. })));
    assert!(matches!(x.add_inplace(1), Err(Error::Borrowed { .. })));
    drop(guard);
    let mut guard = x.write().unwrap();
    let result = ops::add_into(&exec(), &x, 1, &mut guard.as_view_mut().unwrap());
    assert!(matches!(result, Err(Error::Borrowed { .. })));
    drop(guard);
    assert_eq!(x, square());
}
