//! Results that exceed memory, tensors without elements, and elements of size zero.

use tensor_kernels::{
    CopyPlan, Error, Exec, Layout, Machine, Result, SimdLevel, Tensor, TensorExt, TensorMutExt,
    TensorView, TensorViewMut, copy_into, fill, map_into, zip_into,
};

use crate::common::{
    child::{again, is_child, printed},
    levels, run_configs,
};

/// More elements than fit into the memory of any machine, but not into an address.
const HUGE: usize = 1 << 60;

#[track_caller]
fn assert_out_of_memory<T>(result: Result<T>, what: &str) {
    match result {
        Err(Error::OutOfMemory { bytes }) => assert!(bytes >= HUGE, "{what}: {bytes}"),
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: such a result cannot be"),
    }
}

#[test]
fn fault_a_result_too_large_for_memory_is_an_error() {
    let one = Tensor::full([1, 1], 7u8).unwrap();
    let wide = one.expand([1 << 30, 1 << 30]).unwrap();
    let (column, row) = (one.expand([1 << 30, 1]).unwrap(), one.expand([1, 1 << 30]).unwrap());
    assert_out_of_memory(Tensor::<u8>::zeros([HUGE]), "zeros");
    assert_out_of_memory(Tensor::full([HUGE], 7u8), "full");
    assert_out_of_memory(wide.contiguous(), "contiguous");
    assert_out_of_memory(wide.deep_clone(), "deep_clone");
    assert_out_of_memory(wide.reshape_copy([-1]), "reshape_copy");
    assert_out_of_memory(wide.map(|x| x), "map");
    assert_out_of_memory(wide.neg(), "neg");
    assert_out_of_memory(wide.cast::<u16>(), "cast");
    assert_out_of_memory(column.add(&row), "add");
    assert_out_of_memory(column.mul_add(&row, &one), "mul_add");
    assert_out_of_memory(one.repeat([1 << 30, 1 << 30]), "repeat");
}

#[test]
fn fault_a_result_too_large_for_an_address_is_an_error() {
    let one = Tensor::full([1, 1], 7.0f64).unwrap();
    let wide = one.expand([1_usize << 31, 1_usize << 31]).unwrap();
    let too_large = |result: Result<()>| matches!(result, Err(Error::TooLarge { .. }));
    assert!(too_large(wide.contiguous().map(drop)));
    assert!(too_large(wide.map(|x| x).map(drop)));
    assert!(too_large(one.repeat([1_usize << 31, 1_usize << 31]).map(drop)));
    assert!(too_large(one.repeat([1_usize << 32, 1_usize << 32]).map(drop)));
    let (column, row) =
        (one.expand([1_usize << 40, 1]).unwrap(), one.expand([1, 1_usize << 40]).unwrap());
    assert!(column.add(&row).is_err());
}

/// Layouts alone have no memory, so their offsets may exceed every address.
#[test]
#[cfg(feature = "reductions")]
fn fault_layouts_beyond_every_address_are_not_planned() {
    use tensor_kernels::{DType, explain_elementwise, explain_operation};

    let exec = Exec::current().unwrap();
    let near = Layout::contiguous([64, 64]).unwrap().t().unwrap();
    let at_the_end = Layout::new([64, 64], [64, 1], 1_usize << 61).unwrap();
    let apart = Layout::new([64, 64], [1_isize << 55, 1], 0).unwrap();
    let too_large = |result: Result<()>| matches!(result, Err(Error::TooLarge { .. }));
    for far in [&at_the_end, &apart] {
        for layouts in [[far, &near], [&near, far]] {
            assert!(too_large(explain_operation(exec, "neg", DType::F64, layouts).map(drop)));
            assert!(too_large(explain_elementwise(exec, layouts, [8, 8]).map(drop)));
            let [to, from] = layouts;
            assert!(too_large(CopyPlan::new(from, to, 8, &exec.machine).map(drop)));
        }
    }
    assert!(explain_operation(exec, "neg", DType::F64, [&near, &near]).is_ok());
}

#[test]
fn fault_no_elements_are_no_work() {
    for shape in [&[0][..], &[3, 0], &[0, 1_usize << 40], &[2, 0, 5]] {
        let x = Tensor::<f32>::zeros(shape).unwrap();
        let reversed: Vec<isize> = (0..shape.len() as isize).rev().collect();
        let transposed = x.permute(&reversed).unwrap();
        assert_eq!(transposed.contiguous().unwrap().numel(), 0);
        assert_eq!(transposed.deep_clone().unwrap().shape(), transposed.shape());
        let panicking = |_: f32| -> f32 { panic!("there is no element") };
        assert_eq!(transposed.map(panicking).unwrap().shape(), transposed.shape());
        transposed.map_inplace(panicking).unwrap();
        transposed.fill(1.0).unwrap();
        transposed.copy_from(Tensor::zeros(transposed.shape()).unwrap()).unwrap();
        assert_eq!(transposed.add(&transposed).unwrap().numel(), 0);
    }
}

/// A view without elements can have any offset, even beyond the storage.
#[test]
fn fault_empty_views_at_huge_offsets_are_no_work() {
    let far = Layout::new([4, 0], [-(1_isize << 61), 3], isize::MAX as usize).unwrap();
    no_elements_at::<u64>(&far);
    no_elements_at::<[u8; 3]>(&far);
    no_elements_at::<[u64; 9]>(&far);
}

fn no_elements_at<T: tensor_kernels::Element>(far: &Layout) {
    let from = TensorView::<T>::new(&[], far.clone()).unwrap();
    let mut to = TensorViewMut::new(&mut [], far.clone()).unwrap();
    let exec = Exec::current().unwrap();
    copy_into(exec, &from, &mut to).unwrap();
    map_into(exec, &from, &mut to, |x| x).unwrap();
}

/// Elements of size zero, alone and with other operands, some of which are packed in blocks.
#[test]
fn fault_elements_of_no_size_are_no_work() {
    let shape = [70, 90];
    let layout = Layout::contiguous(shape).unwrap();
    let columns = Layout::fortran(shape).unwrap();
    let (nothing, mut output) = ([(); 6300], [(); 6300]);
    let numbers: Vec<u32> = (0..6300).collect();
    let number = TensorView::new(&numbers, columns.clone()).unwrap();
    for (from, to) in [(&layout, &columns), (&columns, &layout), (&layout, &layout)] {
        let a = TensorView::new(&nothing, from.clone()).unwrap();
        for config in run_configs() {
            let mut to = TensorViewMut::new(&mut output, to.clone()).unwrap();
            config.run(|exec| copy_into(exec, &a, &mut to)).unwrap();
            config.run(|exec| fill(exec, &mut to, ())).unwrap();
            config.run(|exec| map_into(exec, &a, &mut to, |()| ())).unwrap();
            config.run(|exec| zip_into(exec, &a, &number, &mut to, |(), _| ())).unwrap();
            let mut counted = vec![0; 6300];
            let mut out = TensorViewMut::new(&mut counted, layout.clone()).unwrap();
            config.run(|exec| zip_into(exec, &a, &number, &mut out, |(), n| n + 1)).unwrap();
            assert!(counted.iter().copied().eq(number.iter().map(|n| n + 1)), "{config}");
        }
    }
}

/// Plans are the same for every SIMD level, also for one that an emulator hides, if they are made
/// for one machine: a level changes nothing of the machine but the width of its vectors.
#[test]
fn fault_a_level_changes_the_vectors_of_a_machine_only() {
    let test = "sizes::fault_a_level_changes_the_vectors_of_a_machine_only";
    let rows = Layout::contiguous([700, 300]).unwrap();
    let columns = rows.t().unwrap();
    let dense = Layout::contiguous([300, 700]).unwrap();
    let exec = Exec::current().unwrap();
    let machine = Machine { vector: Machine::REFERENCE.vector, ..exec.machine };
    let plan = CopyPlan::new(&columns, &dense, 4, &machine).unwrap();
    let said = format!("{machine:?}, {plan:?}.");
    if is_child() {
        println!("{said} {}", exec.machine.vector);
        return;
    }
    for level in levels() {
        let vector = match level {
            SimdLevel::V4 => 64,
            SimdLevel::V3 => 32,
            SimdLevel::Scalar | SimdLevel::Neon => 16,
        };
        let mut child = again(test);
        child.env("TENSOR_SIMD", level.to_string());
        assert!(printed(child).contains(&format!("{said} {vector}\n")), "{level}");
        assert_eq!(exec.with_simd(level).unwrap().machine, Machine { vector, ..machine });
    }
}
