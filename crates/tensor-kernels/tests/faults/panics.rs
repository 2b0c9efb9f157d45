//! A closure that panics: the caller receives its payload, all elements of the result are valid, no
//! borrow remains, and the pool still works.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use tensor_kernels::{
    Exec, Layout, Machine, Tensor, TensorExt, TensorMutExt, TensorViewMut, map, map_inplace,
    map_into, zip_into, zip3_inplace, zip3_into,
};

use crate::common::on_threads;

/// The payload of the panics. They do not use `panic!`, whose message would be printed.
#[derive(Debug, PartialEq)]
struct OnPurpose(u32);

fn panic_on_purpose(at: u32) -> ! {
    resume_unwind(Box::new(OnPurpose(at)))
}

fn payload(caught: Box<dyn Any + Send>) -> OnPurpose {
    *caught.downcast().expect("the closure's own payload")
}

const LEN: u32 = 3000;

/// An input of every second element of a range, and a configuration that splits work finely.
fn setting() -> (Tensor<u32>, Exec) {
    let x = Tensor::arange(0, 2 * LEN, 1).unwrap().view([LEN as isize, 2]).unwrap();
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 64, ..Machine::REFERENCE };
    (x.select(1, 0).unwrap(), exec)
}

/// A machine on which all results are streamed.
const STREAMING: Machine =
    Machine { l1: 1 << 10, l2: 8 << 10, stream: 0, grain: 64, ..Machine::REFERENCE };

fn streaming() -> Exec {
    let mut exec = *Exec::current().unwrap();
    exec.machine = STREAMING;
    exec
}

/// Runs on one thread and on several, without and with a pool, with regular and with non-temporal
/// stores.
fn in_every_configuration(run: impl Fn(&Exec) + Sync) {
    let (_, exec) = setting();
    for exec in [exec, streaming()] {
        run(&exec.serial());
        for threads in [1, 2, 7] {
            on_threads(threads, || run(&exec));
            // The pool still works.
            let sum = on_threads(threads, || setting().0.map(|x| x + 1).unwrap());
            assert_eq!(sum.get(&[LEN as usize - 1]).unwrap(), 2 * LEN - 1);
        }
    }
}

/// The indices that panic: the first, one after the first block, one in the middle, the last.
const INDICES: [u32; 4] = [0, 65, LEN / 2, LEN - 1];

#[test]
fn fault_into_a_given_result() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let (x, _) = setting();
            let out = Tensor::full([LEN as usize], u64::MAX).unwrap();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let (from, mut to) = (x.read().unwrap(), out.write().unwrap());
                map_into(exec, from.as_view(), &mut to.as_view_mut().unwrap(), |x| {
                    if x == 2 * index { panic_on_purpose(index) } else { u64::from(x) }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            assert_valid(&out, index, |at| u64::from(2 * at));
        }
    });
}

/// Asserts that every element is the old or the new one, that the one that panicked is old, and
/// that no borrow remains.
fn assert_valid(out: &Tensor<u64>, index: u32, new: impl Fn(u32) -> u64) {
    for (at, value) in (0..).zip(out.to_vec().unwrap()) {
        assert!(value == u64::MAX || (at != index && value == new(at)), "{value} at {at}");
    }
    out.fill(1).unwrap();
    assert_eq!(*out, Tensor::full([LEN as usize], 1).unwrap());
}

#[test]
fn fault_in_place() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let (x, _) = setting();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let mut guard = x.write().unwrap();
                map_inplace(exec, &mut guard.as_view_mut().unwrap(), |x| {
                    if x == 2 * index { panic_on_purpose(index) } else { x + 1 }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            for (at, value) in (0..).zip(x.to_vec().unwrap()) {
                assert!(value == 2 * at || (at != index && value == 2 * at + 1), "{value} at {at}");
            }
            x.fill(0).unwrap();
        }
    });
}

#[test]
fn fault_into_a_new_result() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let (x, _) = setting();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                map::<u32, u32, ()>(exec, &x.read().unwrap().as_view(), |x| {
                    if x == 2 * index { panic_on_purpose(index) } else { x }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            x.fill(0).unwrap();
        }
    });
}

#[test]
fn fault_of_three_operands() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let (x, _) = setting();
            let out = Tensor::full([LEN as usize], u64::MAX).unwrap();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let (from, mut to) = (x.read().unwrap(), out.write().unwrap());
                let (a, mut to) = (from.as_view(), to.as_view_mut().unwrap());
                zip3_into(exec, &a, &a, &a, &mut to, |x, y, z| {
                    if x == 2 * index { panic_on_purpose(index) } else { u64::from(x + y + z) }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            assert_valid(&out, index, |at| u64::from(6 * at));
        }
    });
}

#[test]
fn fault_of_three_operands_in_place() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let (x, _) = setting();
            let ones = Tensor::full([LEN as usize], 1).unwrap();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let (one, mut guard) = (ones.read().unwrap(), x.write().unwrap());
                let (one, mut x) = (one.as_view(), guard.as_view_mut().unwrap());
                zip3_inplace(exec, &mut x, &one, &one, |x, y, z| {
                    if x == 2 * index { panic_on_purpose(index) } else { x + y * z }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            for (at, value) in (0..).zip(x.to_vec().unwrap()) {
                assert!(value == 2 * at || (at != index && value == 2 * at + 1), "{value} at {at}");
            }
            x.fill(0).unwrap();
            ones.fill(0).unwrap();
        }
    });
}

#[test]
fn fault_while_an_operand_is_in_scratch() {
    in_every_configuration(|exec| {
        for index in INDICES {
            let transposed =
                Tensor::arange(0, LEN, 1).unwrap().view([60, 50]).unwrap().t().unwrap();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let mut out = vec![u32::MAX; LEN as usize];
                let layout = Layout::contiguous([50, 60]).unwrap();
                let mut to = TensorViewMut::new(&mut out, layout).unwrap();
                map_into(exec, transposed.read().unwrap().as_view(), &mut to, |x| {
                    if x == index { panic_on_purpose(index) } else { x }
                })
            }));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            // The scratch memory can be used again.
            assert_eq!(transposed.map(|x| x).unwrap(), transposed);
        }
    });
}

/// Blocks of a transposed operand are computed in scratch and streamed from there, row by row.
/// Other threads continue while one unwinds. All streamed stores are visible when the panic reaches
/// the caller.
#[test]
fn fault_while_results_are_streamed() {
    let (rows, columns) = (64, 96);
    let transposed =
        Tensor::arange(0, rows * columns, 1).unwrap().view([96, 64]).unwrap().t().unwrap();
    let exec = streaming();
    for threads in [1, 2, 7] {
        for index in [0, 1, rows * columns / 2, rows * columns - 1] {
            let mut out = vec![u64::MAX; (rows * columns) as usize];
            let layout = Layout::contiguous([64, 96]).unwrap();
            let mut to = TensorViewMut::new(&mut out, layout).unwrap();
            let guard = transposed.read().unwrap();
            let run = || {
                map_into(&exec, guard.as_view(), &mut to, |x| {
                    if x == index { panic_on_purpose(index) } else { u64::from(x) }
                })
            };
            let caught = catch_unwind(AssertUnwindSafe(|| on_threads(threads, run)));
            assert_eq!(payload(caught.unwrap_err()), OnPurpose(index));
            for (value, new) in out.into_iter().zip(guard.as_view().iter()) {
                let whole = value == u64::MAX || (new != index && value == u64::from(new));
                assert!(whole, "{value} where {new} belongs, {threads} threads");
            }
        }
    }
}

#[test]
fn fault_on_every_element_and_thread_at_once() {
    in_every_configuration(|exec| {
        let (x, _) = setting();
        let out = Tensor::full([LEN as usize], u64::MAX).unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let (from, mut to) = (x.read().unwrap(), out.write().unwrap());
            let from = from.as_view();
            zip_into(exec, &from, &from, &mut to.as_view_mut().unwrap(), |x, _| panic_on_purpose(x))
        }));
        assert_eq!(payload(caught.unwrap_err()).0 % 2, 0);
        assert_eq!(out, Tensor::full([LEN as usize], u64::MAX).unwrap());
    });
}

#[test]
fn fault_an_operator_panics_where_its_method_is_refused() {
    let (a, b) = (Tensor::full([3], 1).unwrap(), Tensor::full([4], 1).unwrap());
    let caught = catch_unwind(AssertUnwindSafe(|| &a + &b)).unwrap_err();
    let text = caught.downcast_ref::<String>().expect("a text");
    assert_eq!(*text, a.add(&b).unwrap_err().to_string());
}
