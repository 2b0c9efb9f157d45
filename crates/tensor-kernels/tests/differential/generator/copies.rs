//! Copies and fills, of every element width.

use tensor_kernels::{CopyPlan, Simd, copy_into, copy_to_layout, fill, repeat, to_contiguous};

use super::{
    Case, Check, Outcome,
    check::{TestOperand, Unchanged, exactly, gives, writes},
    layouts::{Strided, Use, for_each_index, shape},
    values::{Value, ValueKind},
};

const ANY: (ValueKind, usize) = (ValueKind::Any, usize::MAX);

const TYPES: [Check; 15] = [
    of::<u8>,
    of::<u32>,
    of::<u16>,
    of::<u64>,
    of::<u128>,
    of::<[u8; 3]>,
    of::<f32>,
    of::<[u32; 3]>,
    of::<[u16; 3]>,
    of::<[u8; 5]>,
    of::<[u8; 16]>,
    of::<[u64; 3]>,
    of::<[u64; 4]>,
    of::<[u64; 9]>,
    of::<bool>,
];

pub(crate) fn check(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(&TYPES)(case)
}

fn of<T: Value>(case: &mut Case<'_>) -> Outcome {
    match case.choices.draw(8) {
        0..4 => into_given::<T>(case),
        4 => planned::<T>(case),
        5 => filled::<T>(case),
        6 => into_new::<T>(case),
        _ => repeated::<T>(case),
    }
}

/// A source and a destination of one shape.
fn pair<T: Value>(case: &mut Case<'_>) -> (TestOperand<T>, TestOperand<T>) {
    let shape = shape(&mut case.choices, &[size_of::<T>()]);
    let from = TestOperand::of_shape(case, "from", &shape, Use::Read, ANY);
    (from, TestOperand::output(case, "to", &shape))
}

fn into_given<T: Value>(case: &mut Case<'_>) -> Outcome {
    case.note("operation", "copy_into");
    let setting = case.setting();
    let (from, to) = pair::<T>(case);
    let unchanged = Unchanged::new("from", &from);
    let expected = from.values(&from.at.shape);
    writes(&to, &setting, exactly(&expected), |exec, out| copy_into(exec, from.view(), out))?;
    unchanged.check()
}

/// Any plan that is considered for the copy.
fn planned<T: Value>(case: &mut Case<'_>) -> Outcome {
    case.note("operation", "CopyPlan::run");
    let setting = case.setting();
    let (from, to) = pair::<T>(case);
    let unchanged = Unchanged::new("from", &from);
    let expected = from.values(&from.at.shape);
    let machine = &setting.exec.machine;
    let (from_layout, to_layout) = (from.at.layout(), to.at.layout());
    let candidates = CopyPlan::candidates(&from_layout, &to_layout, size_of::<T>(), machine)
        .map_err(|refused| refused.to_string())?;
    let plan = &candidates[case.choices.draw(candidates.len())].plan;
    case.note("plan", plan.to_string());
    writes(&to, &setting, exactly(&expected), |exec, out| plan.run(exec, from.view(), out))?;
    unchanged.check()
}

fn filled<T: Value>(case: &mut Case<'_>) -> Outcome {
    case.note("operation", "fill");
    let setting = case.setting();
    let shape = shape(&mut case.choices, &[size_of::<T>()]);
    let to = TestOperand::output(case, "to", &shape);
    let value = T::of(case.bits()(0), ValueKind::Any);
    let expected = vec![value; shape.iter().product()];
    writes(&to, &setting, exactly(&expected), |exec, out| fill(exec, out, value))
}

/// Copies into newly allocated memory: contiguous, or dense with the dimensions in any order.
fn into_new<T: Value>(case: &mut Case<'_>) -> Outcome {
    let setting = case.setting();
    let shape = shape(&mut case.choices, &[size_of::<T>()]);
    let from = TestOperand::<T>::of_shape(case, "from", &shape, Use::Read, ANY);
    let unchanged = Unchanged::new("from", &from);
    let values = from.values(&shape);
    let expected = exactly(&values);
    if case.choices.draw(2) == 0 {
        case.note("operation", "to_contiguous");
        let copy = setting.run(|exec| to_contiguous::<T, Simd>(exec, &from.view()));
        gives(&shape, copy, &expected)?;
    } else {
        let to = Strided::dense_in_any_order(&mut case.choices, &shape);
        case.note("operation", format_args!("copy_to_layout, into {to}"));
        let copy = setting.run(|exec| copy_to_layout::<T, Simd>(exec, &from.view(), to.layout()));
        gives(&shape, copy, &expected)?;
    }
    unchanged.check()
}

fn repeated<T: Value>(case: &mut Case<'_>) -> Outcome {
    let setting = case.setting();
    let mut sizes = shape(&mut case.choices, &[size_of::<T>()]);
    sizes.truncate(4);
    let lead = case.choices.draw(2);
    let times: Vec<usize> =
        (0..lead + sizes.len()).map(|_| [1, 2, 1, 3, 0][case.choices.draw(5)]).collect();
    case.note("operation", format_args!("repeat {times:?}"));
    let from = TestOperand::<T>::of_shape(case, "from", &sizes, Use::Read, ANY);
    let unchanged = Unchanged::new("from", &from);
    let size = |d: usize| times[d] * d.checked_sub(lead).map_or(1, |own| sizes[own]);
    let whole: Vec<usize> = (0..times.len()).map(size).collect();
    let mut expected = Vec::new();
    let elements = from.memory.elements();
    for_each_index(&whole, |index| {
        let own = index[lead..].iter().zip(&sizes).map(|(&i, &size)| (i % size) as isize);
        let along: isize = own.zip(&from.at.strides).map(|(i, stride)| i * stride).sum();
        expected.push(elements[from.at.offset.wrapping_add_signed(along)]);
    });
    let copy = setting.run(|exec| repeat::<T, Simd>(exec, &from.view(), &times));
    gives(&whole, copy, exactly(&expected))?;
    unchanged.check()
}
