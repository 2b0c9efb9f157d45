//! Reductions by example: values, types, shapes, special values, given results, and errors with
//! PyTorch's messages. The test program `random` covers arbitrary layouts.

use tensor_kernels::{
    Error, Exec, ReduceDims, Result, Slice, Tensor, TensorExt, TensorMutExt, TensorView, ops,
};

fn exec() -> Exec {
    *Exec::current().unwrap()
}

fn grid() -> Tensor<f32> {
    Tensor::from_vec(vec![3.0, -1.0, 4.0, 1.0, -5.0, 9.0], [2, 3]).unwrap()
}

fn elements<T: tensor_kernels::Element>(x: &Tensor<T>) -> Vec<T> {
    x.to_vec().unwrap()
}

#[test]
fn over_each_dimension_and_all() {
    let x = grid();
    assert_eq!(elements(&x.sum(0).unwrap()), [4.0, -6.0, 13.0]);
    assert_eq!(elements(&x.sum(-1).unwrap()), [6.0, 5.0]);
    assert_eq!(elements(&x.prod(1).unwrap()), [-12.0, -45.0]);
    assert_eq!(elements(&x.mean(1).unwrap()), [2.0, 5.0 / 3.0]);
    assert_eq!(elements(&x.min(0).unwrap()), [1.0, -5.0, 4.0]);
    assert_eq!(elements(&x.max(1).unwrap()), [4.0, 9.0]);
    assert_eq!(elements(&x.argmin(1).unwrap()), [1, 1]);
    assert_eq!(elements(&x.argmax(0).unwrap()), [0, 0, 1]);
    let all = (x.sum_all(), x.prod_all(), x.mean_all(), x.min_all(), x.max_all());
    assert_eq!(all, (Ok(11.0), Ok(540.0), Ok(11.0 / 6.0), Ok(-5.0), Ok(9.0)));
    assert_eq!((x.argmin_all(), x.argmax_all()), (Ok(4), Ok(5)));
}

#[test]
fn shapes() {
    let x = Tensor::<i32>::zeros([2, 3, 4]).unwrap();
    assert_eq!(x.sum(1).unwrap().shape(), [2, 4]);
    assert_eq!(x.sum([2, 0]).unwrap().shape(), [3]);
    assert_eq!(x.sum(ReduceDims::from(&[2, 0]).keepdim()).unwrap().shape(), [1, 3, 1]);
    assert_eq!(x.sum(ReduceDims::ALL.keepdim()).unwrap().shape(), [1, 1, 1]);
    assert_eq!(x.sum(..).unwrap().shape(), [0usize; 0]);
    assert_eq!(x.sum(()).unwrap().shape(), [0usize; 0]);
    assert!(x.permute([2, 0, 1]).unwrap().sum(1).unwrap().is_contiguous());
}

#[test]
fn a_tensor_without_dimensions_has_one_to_reduce() {
    let x = Tensor::full((), 3.5).unwrap();
    for over in [ReduceDims::ALL, 0.into(), (-1).into(), ReduceDims::from(0).keepdim()] {
        assert_eq!(x.sum(over.clone()).unwrap().get(&[]), Ok(3.5));
        assert_eq!(x.argmax(over).unwrap().get(&[]), Ok(0));
    }
    assert!(matches!(x.sum(1), Err(Error::DimOutOfRange { range: 1, .. })));
}

#[test]
fn the_types_of_results() {
    let bytes = Tensor::full([300], 200u8).unwrap();
    assert_eq!(bytes.sum_all(), Ok(60_000i64));
    assert_eq!(Tensor::full([5], -100i8).unwrap().prod_all(), Ok(-10_000_000_000i64));
    assert_eq!(Tensor::full([70], true).unwrap().sum_all(), Ok(70i64));
    assert_eq!(Tensor::full([2], u64::MAX / 2).unwrap().sum_all(), Ok(u64::MAX - 1));
    assert_eq!(Tensor::full([2], i64::MAX).unwrap().sum_all(), Ok(-2));
    let flags = Tensor::from_vec(vec![false, true, false], [3]).unwrap();
    assert_eq!(
        (flags.min_all(), flags.max_all(), flags.argmax_all()),
        (Ok(false), Ok(true), Ok(1))
    );
}

#[cfg(feature = "half")]
#[test]
fn halves_are_summed_in_f32() {
    use half::{bf16, f16};
    let x = Tensor::full([4096], f16::ONE).unwrap();
    assert_eq!(x.sum_all(), Ok(f16::from_f32(4096.0)));
    let far = [65504.0, 65504.0, -65504.0].map(f16::from_f32);
    assert_eq!(Tensor::from_slice(&far, [3]).unwrap().sum_all(), Ok(far[0]));
    assert_eq!(
        Tensor::full([1000], bf16::from_f32(3.0)).unwrap().mean_all(),
        Ok(bf16::from_f32(3.0))
    );
}

#[cfg(feature = "complex")]
#[test]
fn complex_numbers_are_summed_multiplied_and_averaged() {
    use num_complex::Complex;
    let x =
        Tensor::from_vec(vec![Complex::new(1.0f32, 2.0), Complex::new(3.0, -1.0)], [2]).unwrap();
    assert_eq!(x.sum_all(), Ok(Complex::new(4.0, 1.0)));
    assert_eq!(x.prod_all(), Ok(Complex::new(5.0, 5.0)));
    assert_eq!(x.mean_all(), Ok(Complex::new(2.0, 0.5)));
}

#[test]
fn fault_nan_is_min_and_max_and_the_first_nan_is_found() {
    for at in [0, 1, 63, 64, 500, 998] {
        let mut row = vec![1.0f32; 1000];
        (row[at], row[999]) = (f32::NAN, f32::NAN);
        for shape in [[1000, 1], [1, 1000], [10, 100], [100, 10]] {
            let x = Tensor::from_slice(&row, shape).unwrap();
            assert!(x.min_all().unwrap().is_nan() && x.max_all().unwrap().is_nan());
            assert!(x.sum_all().unwrap().is_nan() && x.prod_all().unwrap().is_nan());
            assert_eq!((x.argmin_all(), x.argmax_all()), (Ok(at as i64), Ok(at as i64)));
        }
    }
}

#[test]
fn fault_a_nan_in_any_of_a_few_rows_is_min_and_max_of_its_column_alone() {
    for (rows, columns) in (1..=17).flat_map(|rows| [1, 3, 20, 70].map(|columns| (rows, columns))) {
        for nan in 0..rows {
            let element = |i: usize| match (i / columns == nan, i % columns % 3) {
                (true, 0) => f32::NAN,
                _ => (i % 7) as f32,
            };
            let x = Tensor::from_vec((0..rows * columns).map(element).collect(), [rows, columns]);
            let x = x.unwrap();
            for (down, along) in [(x.clone(), 0), (x.t().unwrap(), 1)] {
                for found in [down.min(along).unwrap(), down.max(along).unwrap()] {
                    for (column, value) in elements(&found).into_iter().enumerate() {
                        let place = format!("{rows} x {columns}, row {nan}, column {column}");
                        assert_eq!(value.is_nan(), column % 3 == 0, "{place}: {value}");
                    }
                }
            }
        }
    }
}

#[test]
fn fault_infinities_and_zeros() {
    let x = Tensor::from_vec(vec![f64::NEG_INFINITY; 100], [100]).unwrap();
    assert_eq!((x.max_all(), x.min_all()), (Ok(f64::NEG_INFINITY), Ok(f64::NEG_INFINITY)));
    assert_eq!((x.argmax_all(), x.argmin_all()), (Ok(0), Ok(0)));
    let zeros = Tensor::from_vec(vec![-0.0f64, 0.0, -0.0], [3]).unwrap();
    assert_eq!((zeros.argmax_all(), zeros.argmin_all()), (Ok(0), Ok(0)));
    // As in PyTorch, a sum starts at +0, so the sum of −0 is +0.
    assert_eq!(zeros.narrow(0, 0, 1).unwrap().sum_all().unwrap().to_bits(), 0);
}

#[test]
fn the_first_true_and_the_first_false_are_found() {
    for len in [1, 7, 64, 65, 300, 9000] {
        for at in [0, len / 3, len - 1] {
            let flags: Vec<bool> = (0..len).map(|i| i == at || i > at && i % 5 == 0).collect();
            let row = Tensor::from_vec(flags, [1, len]).unwrap();
            let column = row.logical_not().unwrap();
            for x in [row.clone(), row.t().unwrap(), row.flip([0]).unwrap()] {
                assert_eq!(x.argmax_all(), Ok(at as i64), "{len}");
            }
            for x in [column.clone(), column.t().unwrap()] {
                assert_eq!(x.argmin_all(), Ok(at as i64), "{len}");
            }
            let rows = row.expand([20, len]).unwrap();
            assert_eq!(elements(&rows.argmax(1).unwrap()), [at as i64; 20], "{len}");
            assert_eq!(elements(&rows.t().unwrap().argmax(0).unwrap()), [at as i64; 20], "{len}");
        }
    }
}

#[test]
fn of_equal_elements_the_first_in_logical_order_is_found() {
    let x = Tensor::full([300, 7, 90], 2u8).unwrap();
    let back = x.flip([0, 1, 2]).unwrap();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        for view in [x.permute(order).unwrap(), back.permute(order).unwrap()] {
            assert_eq!((view.argmax_all(), view.argmin_all()), (Ok(0), Ok(0)));
            for d in 0..3 {
                assert_eq!(view.argmax(d).unwrap().max_all(), Ok(0));
            }
            assert_eq!(view.argmin([0, 2]).unwrap().max_all(), Ok(0));
        }
    }
}

#[test]
fn indices_over_several_dimensions_are_row_major() {
    let x = Tensor::<i32>::zeros([2, 3, 4]).unwrap();
    x.select(0, 1).unwrap().select(1, 2).unwrap().fill(5).unwrap();
    assert_eq!(elements(&x.argmax([2, 0]).unwrap()), [6, 6, 6]);
    assert_eq!(x.argmax_all(), Ok(14));
}

#[test]
fn fault_an_expanded_input_counts_each_time() {
    let row = Tensor::arange(0i32, 50, 1).unwrap();
    let x = row.expand([1000, 50]).unwrap();
    assert_eq!(x.sum_all(), Ok(1_225_000));
    assert_eq!(x.sum(0).unwrap().get(&[7]), Ok(7000));
    assert_eq!(elements(&x.sum(1).unwrap()), vec![1225; 1000]);
    assert_eq!(x.argmax_all(), Ok(49));
    let one = Tensor::full([1, 1], 0.5f32).unwrap().expand([700, 900]).unwrap();
    assert_eq!((one.sum_all(), one.argmax_all()), (Ok(315_000.0), Ok(0)));
    assert_eq!(elements(&one.mean(0).unwrap()), vec![0.5; 900]);
}

#[test]
fn fault_no_elements() {
    let none = Tensor::<f32>::zeros([2, 0, 3]).unwrap();
    assert_eq!(elements(&none.sum(1).unwrap()), [0.0; 6]);
    assert_eq!((none.sum_all(), none.prod_all()), (Ok(0.0), Ok(1.0)));
    assert!(none.mean([0, 1]).unwrap().to_vec().unwrap().iter().all(|mean| mean.is_nan()));
    // Without results nothing is refused.
    assert_eq!(none.max(0).unwrap().shape(), [0, 3]);
    assert_eq!(none.argmin(2).unwrap().shape(), [2, 0]);
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, words: &str) {
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with(words), "{text}");
}

#[test]
fn fault_refusals() {
    let (x, none) = (grid(), Tensor::<f32>::zeros([2, 0, 3]).unwrap());
    refused(x.sum(2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    refused(
        x.argmax(-3),
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    );
    refused(x.mean([0, 0]), "dim 0 appears multiple times in the list of dims [mean]");
    refused(x.min([1, -1]), "dim 1 appears multiple times in the list of dims [min]");
    let of_none = "max(): Expected reduction dim 1 to have non-zero size. [shape [2, 0, 3]: no \
         elements have no max]";
    refused(none.max(1), of_none);
    refused(none.argmin([0, 1]), "argmin(): Expected reduction dim 1 to have non-zero size.");
    refused(
        none.argmax_all(),
        "argmax(): Expected reduction dim to be specified for input.numel() == 0.",
    );
    refused(none.min(..), "min(): Expected reduction dim to be specified for input.numel() == 0.");
    let out = Tensor::zeros([3]).unwrap();
    refused(ops::sum_into(&exec(), &x, 1, &out), "output with shape [3] doesn't match");
    refused(ops::max_into(&exec(), &none, 1, &Tensor::zeros([2, 3]).unwrap()), &of_none[..40]);
}

#[test]
fn into_a_given_result() {
    let out = Tensor::full([6], 7.0f32).unwrap();
    let every_other = out.slice(0, Slice::new(None, None, -2)).unwrap();
    ops::sum_into(&exec(), grid(), 0, &every_other).unwrap();
    assert_eq!(elements(&out), [7.0, 13.0, 7.0, -6.0, 7.0, 4.0]);
    let x = [1u8, 5, 2];
    let view = TensorView::new(&x, tensor_kernels::Layout::contiguous([3]).unwrap()).unwrap();
    assert_eq!(ops::max_all(&exec(), &view), Ok(5));
    assert_eq!(ops::sum_all(&exec(), 4.5), Ok(4.5));
}

#[test]
fn fault_a_result_within_the_input() {
    let x = grid();
    let row = x.select(0, 0).unwrap();
    let met = ops::sum_into(&exec(), &x, 0, &row);
    let Err(Error::ReadWriteOverlap { op: "sum", operand: "a", .. }) = met else {
        panic!("{met:?}")
    };
    assert_eq!(x, grid());
    ops::sum_into(&exec().copying_first(), &x, 0, &row).unwrap();
    assert_eq!(elements(&row), [4.0, -6.0, 13.0]);
    // Disjoint parts of one storage.
    ops::max_into(
        &exec(),
        x.select(0, 1).unwrap(),
        0,
        &x.select(0, 0).unwrap().select(0, 2).unwrap(),
    )
    .unwrap();
    assert_eq!(x.get(&[0, 2]), Ok(9.0));
    // A reduction over dimensions of size 1, into the input itself.
    let all = x.view([1, 6]).unwrap();
    ops::prod_into(&exec(), &all, ReduceDims::from(0).keepdim(), &all).unwrap();
    assert_eq!(elements(&all), [4.0, -6.0, 9.0, 1.0, -5.0, 9.0]);
    let many = row.expand([2, 3]).unwrap();
    let itself = ops::sum_into(&exec(), Tensor::<f32>::zeros([4, 2, 3]).unwrap(), 0, &many);
    assert!(matches!(itself, Err(Error::WriteOverlap { .. })), "{itself:?}");
}
