//! Shapes that do not fit, results that overlap themselves, storages that are borrowed: refused
//! before a byte is written.

use tensor_kernels::{
    Error, Exec, Layout, Result, Slice, Tensor, TensorExt, TensorMutExt, TensorView, TensorViewMut,
    copy_into, map_into, zip_into, zip3_into,
};

fn table() -> Tensor<i32> {
    Tensor::arange(0, 12, 1).unwrap().view([3, 4]).unwrap()
}

/// Runs an operation on a result of this shape, which must be refused and remain unchanged.
fn refused_into(
    shape: &[usize],
    operation: impl Fn(&Exec, &mut TensorViewMut<'_, i32>) -> Result<()>,
) -> Error {
    let mut output = [-7; 100];
    let mut out = TensorViewMut::new(&mut output, Layout::contiguous(shape).unwrap()).unwrap();
    let refused = operation(Exec::current().unwrap(), &mut out).unwrap_err();
    assert_eq!(output, [-7; 100]);
    refused
}

#[test]
fn fault_a_result_of_another_shape_is_refused() {
    let elements: Vec<i32> = (0..12).collect();
    let a = TensorView::new(&elements, Layout::contiguous([3, 4]).unwrap()).unwrap();
    let row = TensorView::new(&elements[..4], Layout::contiguous([4]).unwrap()).unwrap();
    for shape in [&[3, 3][..], &[3, 5], &[4, 3], &[12], &[1, 3, 4], &[3, 4, 1], &[], &[0]] {
        let refusals = [
            refused_into(shape, |exec, out| copy_into(exec, &a, out)),
            refused_into(shape, |exec, out| map_into(exec, &a, out, |a| a)),
            refused_into(shape, |exec, out| zip_into(exec, &a, &row, out, |a, b| a + b)),
            refused_into(shape, |exec, out| {
                zip3_into(exec, &row, &a, &row, out, |a, b, c| a + b + c)
            }),
        ];
        for refusal in refusals {
            let Error::OutputShape { got, expected, .. } = &refusal else { panic!("{refusal}") };
            assert_eq!((got.as_slice(), expected.as_slice()), (shape, &[3, 4][..]));
            let text =
                format!("output with shape {shape:?} doesn't match the broadcast shape [3, 4]");
            assert!(refusal.to_string().starts_with(&text), "{refusal}");
        }
    }
}

#[test]
fn fault_inputs_that_do_not_broadcast_are_refused_with_both_shapes() {
    let elements = [1; 12];
    let of =
        |shape: &[usize]| TensorView::new(&elements, Layout::contiguous(shape).unwrap()).unwrap();
    let refusal =
        refused_into(&[3, 4], |exec, out| zip_into(exec, of(&[3, 4]), of(&[3]), out, |a, _| a));
    assert_eq!(
        refusal.to_string(),
        "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1 \
         [zip: shapes [3, 4] and [3]]"
    );
    let (a, b) = (table(), Tensor::full([3], 1).unwrap());
    assert!(matches!(a.add(&b), Err(Error::Broadcast { .. })));
    assert!(matches!(a.zip_inplace(&b, |a, b| a + b), Err(Error::Broadcast { .. })));
    assert!(matches!(a.copy_from(&b), Err(Error::Expand { .. })));
    // An in-place operation does not broadcast its result.
    assert!(matches!(
        b.view([3, 1]).unwrap().zip_inplace(&a, |b, _| b),
        Err(Error::OutputShape { .. })
    ));
    assert_eq!(a, table());
}

#[test]
fn fault_an_expanded_tensor_is_refused_as_a_result() {
    let column = Tensor::from_vec(vec![1, 2, 3], [3, 1]).unwrap();
    let expanded = column.expand([3, 4]).unwrap();
    let refusals = [
        expanded.copy_from(table()),
        expanded.fill(9),
        expanded.map_inplace(|x| x + 1),
        expanded.zip_inplace(&table(), |x, y| x + y),
        expanded.copy_from(&expanded),
        expanded.zip_inplace(&expanded, |x, y| x + y),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap_err();
        assert!(matches!(refusal, Error::WriteOverlap { .. }), "{refusal}");
        assert!(refusal.to_string().starts_with(
            "unsupported operation: more than one element of the written-to tensor refers to a \
             single memory location. \
             Please deep_clone() the tensor before performing the operation; clone() would share \
             its elements."
        ));
    }
    assert_eq!(column.to_vec().unwrap(), [1, 2, 3]);
    // As the error advises.
    let own = expanded.deep_clone().unwrap();
    own.fill(9).unwrap();
    assert_eq!((own.to_vec().unwrap(), column.to_vec().unwrap()), (vec![9; 12], vec![1, 2, 3]));
}

#[test]
fn fault_windows_that_overlap_are_refused_as_a_result() {
    let signal = Tensor::arange(0, 10, 1).unwrap();
    assert!(matches!(signal.unfold(0, 4, 2).unwrap().fill(0), Err(Error::WriteOverlap { .. })));
    assert_eq!(signal, Tensor::arange(0, 10, 1).unwrap());
    signal.unfold(0, 3, 3).unwrap().fill(0).unwrap();
    assert_eq!(signal.to_vec().unwrap(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
}

/// Asserts that operations on the elements of `x` fail because they are borrowed.
fn assert_borrowed(x: &Tensor<i32>, what: &str, results: &[Result<()>]) {
    for result in results {
        assert!(matches!(result, Err(Error::Borrowed { .. })), "{what} {x:?}: {result:?}");
    }
}

#[test]
fn fault_a_reader_blocks_writers_and_admits_readers() {
    let x = table();
    let transposed = x.t().unwrap();
    let guard = transposed.read().unwrap();
    let writes = [
        x.fill(1),
        x.copy_from(Tensor::full([4], 1).unwrap()),
        x.map_inplace(|x| x + 1),
        x.zip_inplace(&Tensor::full([4], 1).unwrap(), |x, y| x + y),
        x.zip_inplace(&x, |x, y| x + y),
        x.copy_from(x.flip([0]).unwrap()),
    ];
    assert_borrowed(&x, "writing", &writes);
    assert_eq!(x.t().unwrap().contiguous().unwrap().shape(), [4, 3]);
    assert_eq!(x.add(&x).unwrap().get(&[2, 3]).unwrap(), 22);
    drop(guard);
    assert_eq!(x, table());
    x.fill(1).unwrap();
}

#[test]
fn fault_a_writer_blocks_all_access() {
    let (x, other) = (table(), Tensor::full([4, 3], 1).unwrap());
    let transposed = x.t().unwrap();
    let mut guard = x.write().unwrap();
    let results = [
        transposed.contiguous().map(drop),
        transposed.reshape([12]).map(drop),
        transposed.deep_clone().map(drop),
        transposed.cast::<f32>().map(drop),
        transposed.add(&other).map(drop),
        other.add(&transposed).map(drop),
        transposed.repeat([2, 2]).map(drop),
        transposed.fill(0),
        transposed.map_inplace(|x| x),
        transposed.copy_from(&other),
        other.copy_from(&transposed),
        other.zip_inplace(&transposed, |x, _| x),
    ];
    assert_borrowed(&x, "using", &results);
    // View operations do not access elements.
    assert!(x.contiguous().is_ok() && transposed.flip([0]).is_ok());
    *guard.as_view_mut().unwrap().get_mut(&[0, 0]).unwrap() = 100;
    drop(guard);
    assert_eq!(transposed.contiguous().unwrap().get(&[0, 0]).unwrap(), 100);
    assert_eq!(other, Tensor::full([4, 3], 1).unwrap());
}

#[test]
fn fault_a_closure_that_borrows_the_output_gets_an_error() {
    let x = Tensor::full([1000], 1).unwrap();
    let first = x.narrow(0, 0, 1).unwrap();
    x.map_inplace(|value| {
        assert!(matches!(first.get(&[0]), Err(Error::Borrowed { .. })));
        assert!(matches!(first.fill(7), Err(Error::Borrowed { .. })));
        value + 1
    })
    .unwrap();
    let doubled = x.map(|value| value + first.get(&[0]).unwrap()).unwrap();
    assert_eq!(doubled, Tensor::full([1000], 4).unwrap());
}

#[test]
fn fault_steps_and_flips_are_written_correctly() {
    let x = Tensor::full([3, 6], 0).unwrap();
    let odd = x.slice(1, Slice::new(None, None, -2)).unwrap();
    odd.copy_from(Tensor::arange(0, 9, 1).unwrap().view([3, 3]).unwrap()).unwrap();
    assert_eq!(
        x.to_vec().unwrap(),
        [0, 2, 0, 1, 0, 0, 0, 5, 0, 4, 0, 3, 0, 8, 0, 7, 0, 6],
        "the last column comes first"
    );
}
