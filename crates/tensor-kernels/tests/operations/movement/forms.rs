//! Results in given memory: of any layout, beside their operands, over their operands.

use tensor_kernels::{
    Error, Exec, Layout, PadMode, Result, Scalar, Tensor, TensorView, TensorViewMut, Tolerance,
    ops, tensor,
};

/// `into` writes the same as `new`, to a contiguous result, to every second column of a larger one
/// and to a transposed one; it refuses another shape, and leaves the rest of the memory alone.
fn check<T: Scalar + std::fmt::Debug>(
    new: &Tensor<T>,
    other: T,
    into: impl Fn(&Exec, &Tensor<T>) -> Result<()>,
) {
    let exec = Exec::current().unwrap();
    let shape = new.shape();
    let dense = Tensor::full(shape, other).unwrap();
    into(exec, &dense).unwrap();
    assert_eq!(&dense, new);
    let mut wide = shape.to_vec();
    *wide.last_mut().unwrap() *= 2;
    let wide = Tensor::full(&wide, other).unwrap();
    let last = shape.len() as isize - 1;
    let every_second = wide.slice(last, tensor_kernels::Slice::new(None, None, 2)).unwrap();
    into(exec, &every_second).unwrap();
    assert_eq!(&every_second, new);
    let between = wide.slice(last, tensor_kernels::Slice::new(Some(1), None, 2)).unwrap();
    assert!(between.to_vec().unwrap().iter().all(|&x| x == other));
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let order: Vec<isize> = (0..=last).rev().collect();
    let transposed = Tensor::full(&reversed, other).unwrap().permute(&order).unwrap();
    into(exec, &transposed).unwrap();
    assert_eq!(&transposed, new);
    let refused = into(exec, &Tensor::full([7, 11, 13], other).unwrap());
    assert!(matches!(refused, Err(Error::OutputShape { .. })), "{refused:?}");
}

fn x() -> Tensor<i64> {
    Tensor::arange(0, 24, 1).unwrap().view([2, 3, 4]).unwrap().transpose(0, 2).unwrap()
}

fn floats() -> Tensor<f64> {
    Tensor::linspace(-2.0, 3.0, 24).unwrap().view([2, 3, 4]).unwrap().transpose(0, 2).unwrap()
}

#[test]
fn results_of_joins_pads_and_shifts_in_any_layout() {
    let exec = Exec::current().unwrap();
    let (x, y) = (x(), x().select(0, 0).unwrap());
    let cat = ops::cat(exec, [&x, &x], 1).unwrap();
    check(&cat, -1, |exec, out| ops::cat_into(exec, [&x, &x], 1, out));
    let stack = ops::stack(exec, [&y, &y], -1).unwrap();
    check(&stack, -1, |exec, out| ops::stack_into(exec, [&y, &y], -1, out));
    for mode in [PadMode::Constant(5), PadMode::Reflect, PadMode::Replicate, PadMode::Circular] {
        let padded = ops::pad(exec, &x, [1, 1, 2, 0], mode).unwrap();
        check(&padded, -1, |exec, out| ops::pad_into(exec, &x, [1, 1, 2, 0], mode, out));
    }
    let rolled = ops::roll(exec, &x, [5], ()).unwrap();
    check(&rolled, -1, |exec, out| ops::roll_into(exec, &x, [5], (), out));
    let rolled = ops::roll(exec, &x, [1, -1], [0, 2]).unwrap();
    check(&rolled, -1, |exec, out| ops::roll_into(exec, &x, [1, -1], [0, 2], out));
}

#[test]
fn results_of_indices_masks_and_triangles_in_any_layout() {
    let exec = Exec::current().unwrap();
    let x = x();
    let index: Tensor<i64> = tensor![2, 0, 2];
    let selected = ops::index_select(exec, &x, 1, &index).unwrap();
    check(&selected, -1, |exec, out| ops::index_select_into(exec, &x, 1, &index, out));
    let taken = ops::take(exec, &x, &index).unwrap();
    check(&taken, -1, |exec, out| ops::take_into(exec, &x, &index, out));
    let places = Tensor::full([2, 3, 1], 1i64).unwrap();
    let gathered = ops::gather(exec, &x, 0, &places).unwrap();
    check(&gathered, -1, |exec, out| ops::gather_into(exec, &x, 0, &places, out));
    let along = ops::take_along_dim(exec, &x, &places, 0).unwrap();
    check(&along, -1, |exec, out| ops::take_along_dim_into(exec, &x, &places, 0, out));
    let mask = ops::gt(exec, &x, 11).unwrap();
    let filled = ops::masked_fill(exec, &x, &mask, 99).unwrap();
    check(&filled, -1, |exec, out| ops::masked_fill_into(exec, &x, &mask, 99, out));
    let lower = ops::tril(exec, &x, 0).unwrap();
    check(&lower, -1, |exec, out| ops::tril_into(exec, &x, 0, out));
    let upper = ops::triu(exec, &x, 1).unwrap();
    check(&upper, -1, |exec, out| ops::triu_into(exec, &x, 1, out));
}

#[test]
fn results_of_repeats_and_scattered_and_selected_elements_in_any_layout() {
    let exec = Exec::current().unwrap();
    let x = x();
    let repeated = tensor_kernels::repeat(exec, &x, [2, 1, 3, 2]).unwrap();
    check(&repeated, -1, |exec, out| ops::repeat_into(exec, &x, [2, 1, 3, 2], out));
    let repeats: Tensor<i64> = tensor![2, 0, 3];
    for dim in [Some(1), None] {
        let twice = ops::repeat_interleave(exec, &x, 2, dim).unwrap();
        check(&twice, -1, |exec, out| ops::repeat_interleave_into(exec, &x, 2, dim, out));
        let repeats = dim.map_or(repeats.narrow(0, 0, 1).unwrap(), |_| repeats.clone());
        let each = ops::repeat_interleave_each(exec, &x, &repeats, dim).unwrap();
        check(&each, -1, |exec, out| {
            ops::repeat_interleave_each_into(exec, &x, &repeats, dim, out)
        });
    }
    let places = Tensor::full([2, 3, 1], 1i64).unwrap();
    let scattered = ops::scatter(exec, &x, 0, &places, &x).unwrap();
    check(&scattered, -1, |exec, out| ops::scatter_into(exec, &x, 0, &places, &x, out));
    let mask = ops::gt(exec, &x, 11).unwrap();
    let selected = ops::masked_select(exec, &x, &mask).unwrap();
    check(&selected, -1, |exec, out| ops::masked_select_into(exec, &x, &mask, out));
    let floats = floats();
    let (far, tolerance) = (ops::add(exec, &floats, 1.0).unwrap(), Tolerance::default());
    let close = ops::isclose(exec, &floats, &far, tolerance).unwrap();
    check(&close, true, |exec, out| ops::isclose_into(exec, &floats, &far, tolerance, out));
}

#[test]
fn no_rows_repeated_however_often_are_no_rows() {
    let exec = Exec::current().unwrap();
    let none = Tensor::<f32>::zeros([0, 3]).unwrap();
    let times: Tensor<i64> = tensor![1 << 62];
    assert_eq!(ops::repeat_interleave_each(exec, &none, &times, 0).unwrap().shape(), [0, 3]);
    let one = Tensor::<f32>::zeros([1, 3]).unwrap();
    let too_many = ops::repeat_interleave_each(exec, &one, &times, 0).unwrap_err();
    assert!(matches!(too_many, Error::OutOfMemory { .. }), "{too_many:?}");
}

#[test]
fn the_error_of_a_result_of_another_length_names_the_needed_one() {
    let exec = Exec::current().unwrap();
    let (x, mask): (Tensor<i64>, _) = (tensor![3, 1, 4], tensor![true, false, true]);
    let needed = |result: Result<()>| match result.unwrap_err() {
        Error::OutputShape { expected, .. } => expected,
        other => panic!("{other}"),
    };
    let mut short = [0i64; 1];
    assert_eq!(needed(ops::masked_select_into(exec, &x, &mask, &mut short)), [2]);
    assert_eq!(needed(ops::repeat_into(exec, &x, [2], &mut short)), [6]);
    assert_eq!(needed(ops::repeat_interleave_into(exec, &x, 3, 0, &mut short)), [9]);
    assert_eq!(needed(ops::repeat_interleave_each_into(exec, &x, &x, 0, &mut short)), [8]);
    assert_eq!(needed(ops::scatter_into(exec, &x, 0, tensor![0], 5, &mut short)), [3]);
    assert_eq!(short, [0]);
}

#[test]
fn results_of_new_forms_that_share_elements_are_refused_or_computed_apart() {
    let exec = Exec::current().unwrap();
    let (x, index): (Tensor<i64>, Tensor<i64>) = (tensor![3, 1, 4], tensor![2, 0, 2]);
    let mask = tensor![true, true, true];
    let refuses = |result: Result<()>| {
        assert!(matches!(result, Err(Error::ReadWriteOverlap { .. })), "{result:?}");
    };
    refuses(ops::scatter_into(exec, &x, 0, &index, 7, &x));
    refuses(ops::scatter_into(exec, &x, 0, &index, 7, &index));
    refuses(ops::scatter_into(exec, &x, 0, tensor![0], &index, &index));
    refuses(ops::masked_select_into(exec, &x, &mask, &x));
    refuses(ops::repeat_into(exec, &x, [1], &x));
    refuses(ops::repeat_interleave_into(exec, &x, 1, 0, &x));
    refuses(ops::repeat_interleave_each_into(exec, &x, tensor![0, 3, 0], 0, &x));
    let first = exec.copying_first();
    ops::scatter_into(&first, &x, 0, &index, 7, &x).unwrap();
    assert_eq!(x.to_vec().unwrap(), [7, 1, 7]);
    ops::repeat_interleave_each_into(&first, &x, tensor![0, 3, 0], 0, &x).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1, 1, 1]);
    ops::scatter_into(&first, &x, 0, &index, 7, &index).unwrap();
    assert_eq!(index.to_vec().unwrap(), [7, 1, 7]);
}

#[test]
fn results_of_rows_in_any_layout() {
    let exec = Exec::current().unwrap();
    let x = floats();
    let softmax = ops::softmax(exec, &x, 1).unwrap();
    check(&softmax, -1.0, |exec, out| ops::softmax_into(exec, &x, 1, out));
    let logs = ops::log_softmax(exec, &x, 0).unwrap();
    check(&logs, -1.0, |exec, out| ops::log_softmax_into(exec, &x, 0, out));
    let sums = ops::logsumexp(exec, &x, 1).unwrap();
    check(&sums, -1.0, |exec, out| ops::logsumexp_into(exec, &x, 1, out));
    let var = ops::var(exec, &x, 0, 1.0).unwrap();
    check(&var, -1.0, |exec, out| ops::var_into(exec, &x, 0, 1.0, out));
    let std = ops::std(exec, &x, 2, 0.0).unwrap();
    check(&std, -1.0, |exec, out| ops::std_into(exec, &x, 2, 0.0, out));
    let norm = ops::norm(exec, &x, 1, 2.0).unwrap();
    check(&norm, -1.0, |exec, out| ops::norm_into(exec, &x, 1, 2.0, out));
    let running = ops::cumsum(exec, &x, 1).unwrap();
    check(&running, -1.0, |exec, out| ops::cumsum_into(exec, &x, 1, out));
    let any = ops::any(exec, &x, 1).unwrap();
    check(&any, false, |exec, out| ops::any_into(exec, &x, 1, out));
    let all = ops::all(exec, &x, 1).unwrap();
    check(&all, true, |exec, out| ops::all_into(exec, &x, 1, out));
}

#[test]
fn scatter_in_place_writes_any_layout() {
    let exec = Exec::current().unwrap();
    let (index, src): (Tensor<i64>, _) = (tensor![[2, 0], [1, 1]], tensor![[7i64, 8], [9, 10]]);
    let new = ops::scatter(exec, Tensor::zeros([3, 2]).unwrap(), 0, &index, &src).unwrap();
    assert_eq!(new.to_vec().unwrap(), [0, 8, 9, 10, 7, 0]);
    let transposed = Tensor::zeros([2, 3]).unwrap().t().unwrap();
    ops::scatter_inplace(exec, &transposed, 0, &index, &src).unwrap();
    assert_eq!(transposed, new);
}

#[test]
fn a_result_that_shares_elements_is_refused_or_computed_apart() {
    let exec = Exec::current().unwrap();
    let refuses = |result: Result<()>| {
        assert!(matches!(result, Err(Error::ReadWriteOverlap { .. })), "{result:?}");
    };
    let x = Tensor::arange(0i64, 6, 1).unwrap();
    let (head, tail) = (x.narrow(0, 0, 4).unwrap(), x.narrow(0, 2, 4).unwrap());
    refuses(ops::roll_into(exec, &head, [1], [0], &tail));
    refuses(ops::roll_into(exec, &x, [1], [0], &x));
    refuses(ops::cat_into(exec, [&head, &head], 0, &x));
    ops::roll_into(&exec.copying_first(), &head, [1], [0], &tail).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 1, 3, 0, 1, 2]);
    // Parts of one storage that share no element.
    let x = Tensor::arange(0i64, 6, 1).unwrap();
    let (head, tail) = (x.narrow(0, 0, 3).unwrap(), x.narrow(0, 3, 3).unwrap());
    ops::roll_into(exec, &head, [1], [0], &tail).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 1, 2, 2, 0, 1]);
    // Indices that are overwritten.
    let index: Tensor<i64> = tensor![1, 0, 1, 1, 2, 0];
    refuses(ops::take_into(exec, &x, &index, &index));
    ops::take_into(&exec.copying_first(), &x, &index, &index).unwrap();
    assert_eq!(index.to_vec().unwrap(), [1, 0, 1, 1, 2, 0]);
    refuses(ops::scatter_inplace(exec, &index, 0, &index, 5));
    ops::scatter_inplace(&exec.copying_first(), &index, 0, &index, 5).unwrap();
    assert_eq!(index.to_vec().unwrap(), [5, 5, 5, 1, 2, 0]);
    let y = Tensor::linspace(0.0f32, 1.0, 6).unwrap().view([2, 3]).unwrap();
    refuses(ops::softmax_into(exec, &y, 0, &y));
    refuses(ops::cumsum_into(exec, &y, 0, &y));
    let expected = ops::softmax(exec, &y, 0).unwrap();
    ops::softmax_into(&exec.copying_first(), &y, 0, &y).unwrap();
    assert_eq!(y, expected);
}

#[test]
fn operands_are_tensors_views_or_values() {
    let exec = Exec::current().unwrap();
    let memory = [1i64, 2, 3, 4];
    let view = TensorView::new(&memory, Layout::contiguous([2, 2]).unwrap()).unwrap();
    let tensor = x().select(2, 0).unwrap().narrow(0, 0, 2).unwrap().narrow(1, 0, 2).unwrap();
    let joined = ops::cat(exec, [tensor_kernels::Operand::from(&view), (&tensor).into()], 0);
    assert_eq!(joined.unwrap().shape(), [4, 2]);
    assert_eq!(ops::take(exec, 5i64, 0i64).unwrap().item().unwrap(), 5);
    assert_eq!(ops::softmax(exec, 5.0f32, 0).unwrap().item().unwrap(), 1.0);
    let mut out = [0i64; 4];
    let mut to = TensorViewMut::new(&mut out, Layout::contiguous([2, 2]).unwrap()).unwrap();
    ops::roll_into(exec, view.t().unwrap(), [1], [1], &mut to).unwrap();
    assert_eq!(out, [3, 1, 4, 2]);
}

/// The gaps between the elements of a view of a tensor that is being written cannot be read.
#[test]
fn views_without_readable_gaps() {
    let exec = Exec::current().unwrap();
    let x = Tensor::arange(0i64, 8, 1).unwrap();
    let even = x.slice(0, tensor_kernels::Slice::new(None, None, 2)).unwrap();
    let odd = x.slice(0, tensor_kernels::Slice::new(Some(1), None, 2)).unwrap();
    let index: Tensor<i64> = tensor![3, 0, 0, 1];
    ops::index_select_into(exec, &even, 0, &index, &odd).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 6, 2, 0, 4, 0, 6, 2]);
    ops::gather_into(exec, &even, 0, &index, &odd).unwrap();
    assert_eq!(odd.to_vec().unwrap(), [6, 0, 0, 2]);
}
