//! Copies and fills, of every width.

use std::mem::MaybeUninit;

use proptest::{prelude::*, test_runner::TestCaseResult};
use tensor_kernels::{
    CopyPlan, Layout, Tensor, TensorViewMut, copy_into, copy_into_uninit, copy_to_layout, fill,
    to_contiguous, to_vec,
};

use super::layouts::{Setting, arrangements, config, settings, shapes};
use crate::common::{Memory, RunConfig, Sample, extent};

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_copy_and_a_fill_write_what_the_oracle_writes(
        shape in shapes(), from in arrangements(), to in arrangements(), setting in settings(),
        width in 0..8usize,
    ) {
        let check = [
            into_given::<u8>,
            into_given::<u16>,
            into_given::<[u8; 3]>,
            into_given::<u32>,
            into_given::<[u8; 6]>,
            into_given::<u64>,
            into_given::<[u8; 12]>,
            into_given::<u128>,
        ][width];
        check(&from.source(&shape), &to.destination(&shape), &setting);
    }

    /// A thread keeps the plans of its copies and, of those that it repeats, the source offsets.
    #[test]
    fn a_repeated_copy_writes_what_the_first_one_wrote(
        shape in shapes(), from in arrangements(), setting in settings(), width in 0..6usize,
    ) {
        let check = [
            repeated::<u8>,
            repeated::<u16>,
            repeated::<[u8; 3]>,
            repeated::<u32>,
            repeated::<u64>,
            repeated::<u128>,
        ][width];
        check(&from.source(&shape), &setting);
    }

    #[test]
    fn a_new_copy_has_the_layout_and_the_elements(
        shape in shapes(), from in arrangements(), setting in settings(), width in 0..4usize,
    ) {
        let check = [into_new::<u8>, into_new::<[u8; 3]>, into_new::<u64>, into_new::<u128>][width];
        check(&from.source(&shape), &setting)?;
    }
}

fn into_given<T: Sample>(from: &Layout, to: &Layout, setting: &Setting) {
    let source = Memory::<T>::samples(extent(from), setting.skew[0]);
    let blank = Memory::<T>::for_layout(to, setting.skew[1]);
    let value = T::nth(7);
    let copied = blank.with(to, &source.values(from));
    let filled = blank.with(to, &vec![value; to.numel()]);
    for config in setting.run_configs() {
        let mut result = blank.clone();
        config.run(|exec| copy_into(exec, source.view(from), &mut result.view_mut(to))).unwrap();
        result.assert_is(&copied, || format!("copy, {config}"));
        config.run(|exec| fill(exec, &mut result.view_mut(to), value)).unwrap();
        result.assert_is(&filled, || format!("fill, {config}"));
    }
}

/// Copies the same shape and strides three times from other offsets, on one thread.
fn repeated<T: Sample>(from: &Layout, setting: &Setting) {
    let to = Layout::contiguous(from.shape()).unwrap();
    let blank = Memory::<T>::for_layout(&to, setting.skew[1]);
    let moved = |by| Layout::new(from.shape(), from.strides(), from.offset() + by).unwrap();
    for config in setting.run_configs().into_iter().take(1) {
        for (repetition, from) in [moved(0), moved(5), moved(2)].iter().enumerate() {
            let source = Memory::<T>::samples(extent(from), setting.skew[0] + repetition);
            let expected = blank.with(&to, &source.values(from));
            let mut result = blank.clone();
            config
                .run(|exec| copy_into(exec, source.view(from), &mut result.view_mut(&to)))
                .unwrap();
            result.assert_is(&expected, || format!("repetition {repetition}, {config}"));
        }
    }
}

fn into_new<T: Sample>(from: &Layout, setting: &Setting) -> TestCaseResult {
    let source = Memory::<T>::samples(extent(from), setting.skew[0]);
    let (values, preserved) = (source.values(from), from.preserved().unwrap());
    for config in setting.run_configs() {
        let copy = |config: RunConfig| -> [Tensor<T>; 2] {
            config
                .run(|exec| {
                    let view = source.view(from);
                    [to_contiguous(exec, &view), copy_to_layout(exec, &view, preserved.clone())]
                })
                .map(Result::unwrap)
        };
        let [contiguous, in_order] = copy(config);
        prop_assert_eq!(contiguous.layout(), &Layout::contiguous(from.shape()).unwrap());
        prop_assert_eq!(in_order.layout(), &preserved);
        prop_assert!(contiguous.to_vec().unwrap() == values, "contiguous, {}", config);
        prop_assert!(in_order.to_vec().unwrap() == values, "in order, {}", config);
        let vector = config.run(|exec| to_vec(exec, source.view(from))).unwrap();
        prop_assert!(vector == values, "vector, {}", config);
        prop_assert!(source.view(from).to_vec() == values, "vector of the view");
        let (view, reading) = (source.view(from), contiguous.read().unwrap());
        prop_assert!(view == reading.as_view() && reading.as_view() == view, "{}", config);
        drop(reading);
        prop_assert!(in_order == contiguous, "{}", config);
        prop_assert!(contiguous == in_order, "{}", config);
        let mut memory = vec![MaybeUninit::uninit(); extent(&preserved)];
        let to = TensorViewMut::new(&mut memory, preserved.clone()).unwrap();
        let written = config.run(|exec| copy_into_uninit(exec, source.view(from), to)).unwrap();
        let written: Vec<T> = written.as_view().iter().collect();
        prop_assert!(written == values, "uninitialised memory, {}", config);
        for short_cuts in [true, false] {
            let mut memory = vec![MaybeUninit::uninit(); extent(&preserved)];
            let to = TensorViewMut::new(&mut memory, preserved.clone()).unwrap();
            let written = config.run(|exec| {
                let plan = CopyPlan::new(from, &preserved, size_of::<T>(), &exec.machine)?;
                let plan = if short_cuts { plan } else { plan.without_short_cuts() };
                plan.run_uninit(exec, source.view(from), to)
            });
            let written: Vec<T> = written.unwrap().as_view().iter().collect();
            prop_assert!(written == values, "by a plan, short cuts {}, {}", short_cuts, config);
        }
    }
    Ok(())
}
