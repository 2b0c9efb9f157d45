//! Results that no memory holds, and tensors without elements.

use tensor_kernels::{
    Error, Exec, Layout, Result, Tensor, TensorExt, TensorView, TensorViewMut, copy_into, map_into,
};

/// More bytes than any machine has, and fewer than an address can name.
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
    let one = Tensor::full(&[1, 1], 7u8).unwrap();
    let wide = one.expand(&[1 << 30, 1 << 30]).unwrap();
    let (column, row) = (one.expand(&[1 << 30, 1]).unwrap(), one.expand(&[1, 1 << 30]).unwrap());
    assert_out_of_memory(Tensor::<u8>::zeros(&[HUGE]), "zeros");
    assert_out_of_memory(Tensor::full(&[HUGE], 7u8), "full");
    assert_out_of_memory(wide.contiguous(), "contiguous");
    assert_out_of_memory(wide.deep_clone(), "deep_clone");
    assert_out_of_memory(wide.reshape_copy(&[-1]), "reshape_copy");
    assert_out_of_memory(wide.map(|x| x), "map");
    assert_out_of_memory(wide.neg(), "neg");
    assert_out_of_memory(wide.cast::<u16>(), "cast");
    assert_out_of_memory(column.add(&row), "add");
    assert_out_of_memory(column.mul_add(&row, &one), "mul_add");
    assert_out_of_memory(one.repeat(&[1 << 30, 1 << 30]), "repeat");
}

#[test]
fn fault_a_result_too_large_for_an_address_is_an_error() {
    let one = Tensor::full(&[1, 1], 7.0f64).unwrap();
    let wide = one.expand(&[1 << 31, 1 << 31]).unwrap();
    let too_large = |result: Result<()>| matches!(result, Err(Error::TooLarge { .. }));
    assert!(too_large(wide.contiguous().map(drop)));
    assert!(too_large(wide.map(|x| x).map(drop)));
    assert!(too_large(one.repeat(&[1 << 31, 1 << 31]).map(drop)));
    assert!(too_large(one.repeat(&[1 << 32, 1 << 32]).map(drop)));
    let (column, row) = (one.expand(&[1 << 40, 1]).unwrap(), one.expand(&[1, 1 << 40]).unwrap());
    assert!(column.add(&row).is_err());
}

#[test]
fn fault_no_elements_are_no_work() {
    for shape in [&[0][..], &[3, 0], &[0, 1 << 40], &[2, 0, 5]] {
        let x = Tensor::<f32>::zeros(shape).unwrap();
        let reversed: Vec<isize> = (0..shape.len() as isize).rev().collect();
        let turned = x.permute(&reversed).unwrap();
        assert_eq!(turned.contiguous().unwrap().numel(), 0);
        assert_eq!(turned.deep_clone().unwrap().shape(), turned.shape());
        let panicking = |_: f32| -> f32 { panic!("there is no element") };
        assert_eq!(turned.map(panicking).unwrap().shape(), turned.shape());
        turned.map_inplace(panicking).unwrap();
        turned.fill(1.0).unwrap();
        turned.copy_from(&Tensor::zeros(turned.shape()).unwrap()).unwrap();
        assert_eq!(turned.add(&turned).unwrap().numel(), 0);
    }
}

/// A view of no elements may be anywhere, even where there is no memory.
#[test]
fn fault_no_elements_far_away_are_no_work_either() {
    let far = Layout::new(&[4, 0], &[-(1 << 61), 3], isize::MAX as usize).unwrap();
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
