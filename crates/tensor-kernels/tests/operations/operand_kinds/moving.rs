//! Copies, and the operations that move elements.

use std::mem::MaybeUninit;

use tensor_kernels::{
    CopyPlan, Error, Exec, Layout, Machine, MemoryFormat, PadMode, Simd, Tensor, TensorExt,
    TensorMutExt, TensorViewMut, TensorViewMutExt, copy_between, copy_into, copy_into_uninit,
    copy_to_layout, fill, ops, repeat, tensor as tensor_of, to_contiguous, to_format, to_vec,
};

use super::kinds::{SHAPE, tensor};

const NUMBERS: [i32; 6] = [5, 3, 8, 1, 9, 2];

fn exec() -> &'static Exec {
    Exec::current().unwrap()
}

macro_rules! moving {
    ($($name:ident $into:ident($($arg:expr),*);)*) => {$(
        #[test]
        fn $name() {
            let index = tensor_of![[1i64, 0, 1], [0, 1, 1]];
            let row = tensor_of![1i64, 0];
            let _ = (&index, &row);
            $crate::operand_kinds::moving::moving! { @body $name $into, index, row, ($($arg),*) }
        }
    )*};
    (@body $name:ident $into:ident, $index:ident, $row:ident, ($($arg:expr),*)) => {
        let expected = each_operand!(NUMBERS, |x| ops::$name(exec(), x, $($arg),*));
        assert_eq!(each_operand!(NUMBERS, |x| x.$name($($arg),*)), expected);
        let x = tensor(NUMBERS);
        each_output!(expected.clone(), |out| ops::$into(exec(), &x, $($arg,)* out));
        each_output!(expected.clone(), |out| x.$into($($arg,)* out));
        let guard = x.read().unwrap();
        each_output!(expected, |out| guard.as_view().$into($($arg,)* out));
    };
}
use moving;

moving! {
    pad pad_into([1, 0], PadMode::Constant(7));
    roll roll_into([1], [1]);
    tril tril_into(0);
    triu triu_into(0);
    repeat_interleave repeat_interleave_into(2, 0);
    repeat_interleave_each repeat_interleave_each_into(2i64, 0);
}

#[test]
fn indices_of_any_kind() {
    let x = tensor(NUMBERS);
    let index = [1i64, 0, 1, 0, 1, 1];
    let gathered = each_operand!(NUMBERS, |x| x.gather(0, tensor(index)));
    assert_eq!(each_operand!(index, |index| x.gather(0, index)), gathered);
    assert_eq!(each_operand!(index, |index| ops::gather(exec(), &x, 0, index)), gathered);
    let index = tensor(index);
    each_output!(gathered.clone(), |out| ops::gather_into(exec(), &x, 0, &index, out));
    each_output!(gathered.clone(), |out| x.gather_into(0, &index, out));
    each_output!(gathered.clone(), |out| x.take_along_dim_into(&index, 0, out));
    assert_eq!(each_operand!(NUMBERS, |x| x.take_along_dim(&index, 0)), gathered);
    each_output!(gathered, |out| ops::take_along_dim_into(exec(), &x, &index, 0, out));
    let taken = each_operand!(NUMBERS, |x| x.take(&index));
    each_output!(taken.clone(), |out| ops::take_into(exec(), &x, &index, out));
    each_output!(taken, |out| x.take_into(&index, out));
    let rows = index.select(0, 1).unwrap();
    let selected = each_operand!(NUMBERS, |x| x.index_select(0, &rows));
    assert_eq!(each_operand!(NUMBERS, |x| ops::index_select(exec(), x, 0, &rows)), selected);
    each_output!(selected.clone(), |out| ops::index_select_into(exec(), &x, 0, &rows, out));
    each_output!(selected, |out| x.index_select_into(0, &rows, out));
    let times = tensor_of![2i64, 1];
    each_operand!(NUMBERS, |x| x.repeat_interleave_each(&times, 0));
    each_operand!(NUMBERS, |x| x.repeat_interleave(2, 1));
    each_operand!(NUMBERS, |x| x.repeat_interleave(2, x.ndim() - 1));
    each_operand!(NUMBERS, |x| x.repeat_interleave(2, Some(-1)));
    each_operand!(NUMBERS, |x| x.repeat_interleave(2, None));
}

#[test]
fn scattering() {
    let (index, src) = (tensor([0i64; 6]), tensor([1, 2, 3, 1, 2, 3]));
    let scattered = each_operand!(NUMBERS, |x| x.scatter(0, &index, &src));
    assert_eq!(each_operand!(NUMBERS, |x| ops::scatter(exec(), x, 0, &index, &src)), scattered);
    let x = tensor(NUMBERS);
    each_output!(scattered.clone(), |out| ops::scatter_into(exec(), &x, 0, &index, &src, out));
    each_output!(scattered.clone(), |out| x.scatter_into(0, &index, &src, out));
    let layout = Layout::contiguous(SHAPE).unwrap();
    let mut numbers = NUMBERS;
    let mut view = TensorViewMut::new(&mut numbers, layout).unwrap();
    view.scatter_inplace(0, &index, &src).unwrap();
    assert_eq!(numbers[..], scattered.1);
    let x = tensor(NUMBERS);
    x.scatter_inplace(0, &index, &src).unwrap();
    assert_eq!(x.to_vec().unwrap(), scattered.1);
}

#[test]
fn masks() {
    let mask = [true, false, false, true, true, false];
    let x = tensor(NUMBERS);
    let filled = each_operand!(NUMBERS, |x| x.masked_fill(tensor(mask), 7));
    assert_eq!(each_operand!(mask, |mask| x.masked_fill(mask, 7)), filled);
    each_output!(filled.clone(), |out| ops::masked_fill_into(exec(), &x, tensor(mask), 7, out));
    each_output!(filled.clone(), |out| x.masked_fill_into(tensor(mask), 7, out));
    each_in_place!(
        NUMBERS,
        filled,
        |x| ops::masked_fill_inplace(exec(), x, tensor(mask), 7),
        |x| x.masked_fill_inplace(tensor(mask), 7)
    );
    let selected = each_operand!(NUMBERS, |x| x.masked_select(tensor(mask)));
    assert_eq!(selected.1, [5, 1, 9]);
    assert_eq!(each_operand!(mask, |mask| ops::masked_select(exec(), &x, mask)), selected);
    each_output!(selected.clone(), |out| ops::masked_select_into(exec(), &x, tensor(mask), out));
    each_output!(selected, |out| x.masked_select_into(tensor(mask), out));
}

#[test]
fn joining() {
    let joined = each_operand!(NUMBERS, |x| ops::cat(exec(), [x.operand(), x.operand()], 0));
    let x = tensor(NUMBERS);
    each_output!(joined.clone(), |out| ops::cat_into(exec(), [&x, &x], 0, out));
    each_output!(joined.clone(), |out| Tensor::cat_into(&[&x, &x], 0, out));
    let by_value = ops::cat(exec(), [x.clone(), x.clone()], 0).unwrap();
    assert_eq!((by_value.shape(), by_value.to_vec().unwrap()), (&joined.0[..], joined.1.clone()));
    let guard = x.read().unwrap();
    let view = guard.as_view();
    let cat = tensor_kernels::TensorView::cat(&[&view, &view], 0).unwrap();
    assert_eq!((cat.shape(), cat.to_vec().unwrap()), (&joined.0[..], joined.1));
    let stacked = each_operand!(NUMBERS, |x| ops::stack(exec(), [x.operand(), x.operand()], 0));
    each_output!(stacked.clone(), |out| ops::stack_into(exec(), [&x, &x], 0, out));
    each_output!(stacked, |out| tensor_kernels::TensorView::stack_into(&[&view, &view], 0, out));
}

#[test]
fn copies() {
    let copied = (SHAPE.to_vec(), NUMBERS.to_vec());
    let x = tensor(NUMBERS);
    let plan = |x: &Layout| CopyPlan::new(x, x, 4, &Machine::REFERENCE).unwrap();
    each_output!(copied.clone(), |out| copy_into(exec(), &x, out));
    each_output!(copied.clone(), |out| x.copy_into(out));
    each_output!(copied.clone(), |out| plan(x.layout()).run(exec(), &x, out).map_err(|refused| {
        let (got, expected) = (Vec::new(), Vec::new());
        let shape = Error::OutputShape { op: "copy", got, expected };
        if matches!(refused, Error::NotPlanned { .. }) { shape } else { refused }
    }));
    let mut numbers = [0; 6];
    CopyPlan::measured(exec(), &x, &mut numbers).unwrap();
    assert_eq!(numbers, NUMBERS);
    assert_eq!(each_operand!(NUMBERS, |x| to_contiguous::<_, Simd>(exec(), x)), copied);
    let channels_last = MemoryFormat::Contiguous;
    assert_eq!(each_operand!(NUMBERS, |x| to_format::<_, Simd>(exec(), x, channels_last)), copied);
    let fortran = || Layout::fortran(SHAPE).unwrap();
    assert_eq!(each_operand!(NUMBERS, |x| copy_to_layout::<_, Simd>(exec(), x, fortran())), copied);
    let repeated = each_operand!(NUMBERS, |x| repeat::<_, Simd>(exec(), x, [1, 2]));
    assert_eq!(each_operand!(NUMBERS, |x| x.repeat([1, 2])), repeated);
    assert_eq!(to_vec(exec(), x.read().unwrap().as_view()).unwrap(), NUMBERS);
    let mut memory = [MaybeUninit::uninit(); 6];
    let to = TensorViewMut::new(&mut memory, Layout::contiguous(SHAPE).unwrap()).unwrap();
    assert_eq!(copy_into_uninit(exec(), &x, to).unwrap().to_vec(), NUMBERS);
}

#[test]
fn copies_that_broadcast() {
    let row = tensor_of![1, 2, 3];
    let expected = (SHAPE.to_vec(), vec![1, 2, 3, 1, 2, 3]);
    each_in_place!(
        NUMBERS,
        expected.clone(),
        |x| copy_between(exec(), row.expand(SHAPE).unwrap(), x),
        |x| x.copy_from(&row)
    );
    let x = tensor(NUMBERS);
    copy_between(exec(), row.read().unwrap().as_view(), &x).unwrap();
    assert_eq!(x.to_vec().unwrap(), expected.1);
    let sevens = (SHAPE.to_vec(), vec![7; 6]);
    each_in_place!(NUMBERS, sevens, |x| fill(exec(), x, 7), |x| x.fill(7));
    // A tensor whose rows share elements is read, not written.
    let shared = tensor_of![1, 2].expand([2, 2]).unwrap();
    assert!(matches!(shared.fill(0), Err(Error::WriteOverlap { .. })));
}
