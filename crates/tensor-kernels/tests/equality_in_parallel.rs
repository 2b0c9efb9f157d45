//! Comparisons of tensors on several threads: what they find, and that they stop at it.

#![cfg(all(feature = "rayon", feature = "reductions"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{
    cell::Cell,
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use bytemuck::NoUninit;
use common::on_threads;
use tensor_kernels::{
    AnyTensor, AnyTensorExt, DType, Error, Exec, Tensor, TensorExt, Tolerance, ops,
};

const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Of several parts, in the order of memory and not; sizes that are no multiples of anything.
fn pairs() -> Vec<[Tensor<f32>; 2]> {
    let x = Tensor::arange(0.0f32, 1001.0 * 703.0, 1.0).unwrap();
    let of = |x: Tensor<f32>| {
        let y = x.contiguous().unwrap().deep_clone().unwrap();
        [x, y]
    };
    let cube = x.narrow(0, 0, 7 * 1001 * 100).unwrap().view([7, 1001, 100]).unwrap();
    vec![
        of(x.clone()),
        of(x.view([1001, 703]).unwrap().t().unwrap()),
        of(cube.permute([2, 0, 1]).unwrap()),
        of(x.view([1001, 703]).unwrap().flip([0]).unwrap()),
    ]
}

fn all_equal(x: &Tensor<f32>, y: &Tensor<f32>) -> [bool; 5] {
    let (any_x, any_y) = (AnyTensor::from(x.clone()), AnyTensor::from(y.clone()));
    [
        x == y,
        y == x,
        any_x.equal(&any_y).unwrap(),
        x.allclose(y, Tolerance { rtol: 0.0, atol: 0.0, equal_nan: false }).unwrap(),
        any_x.allclose(&any_y, Tolerance { rtol: 0.0, atol: 0.0, equal_nan: false }).unwrap(),
    ]
}

#[test]
fn one_different_element_anywhere_is_found_on_any_number_of_threads() {
    for [x, y] in &pairs() {
        let flat = y.view([-1]).unwrap();
        for threads in THREADS {
            on_threads(threads, || {
                assert_eq!(all_equal(x, y), [true; 5], "{:?} {threads}", x.layout());
                for at in [0, 300_001, flat.numel() - 1] {
                    let before = flat.get(&[at]).unwrap();
                    for other in [-1.0, f32::NAN] {
                        flat.set(&[at], other).unwrap();
                        assert_eq!(all_equal(x, y), [false; 5], "{:?} {at}", x.layout());
                    }
                    flat.set(&[at], before).unwrap();
                }
            });
        }
    }
}

#[test]
fn nan_equals_nothing_but_may_be_close_to_itself() {
    let x = Tensor::full([900, 1100], f32::NAN).unwrap();
    let close = |equal_nan| {
        let tolerance = Tolerance { equal_nan, ..Tolerance::default() };
        [
            x.allclose(&x, tolerance),
            x.allclose(x.t().unwrap().contiguous().unwrap().t().unwrap(), tolerance),
        ]
        .map(Result::unwrap)
    };
    for threads in THREADS {
        on_threads(threads, || {
            assert!(x != x.clone());
            assert_eq!([close(true), close(false)], [[true; 2], [false; 2]]);
        });
    }
}

/// Numbers that every dtype has, so that any two of them are compared exactly.
#[test]
fn one_different_element_anywhere_is_found_whatever_the_dtypes() {
    let exactly = Tolerance { rtol: 0.0, atol: 0.0, equal_nan: false };
    let numbers = Tensor::arange(0u32, 701 * 503, 1).unwrap().view([701, 503]).unwrap();
    let numbers = AnyTensor::from(numbers.map(|x| (x % 101) as u8).unwrap());
    let dtypes = [DType::U8, DType::I64, DType::F16, DType::Bf16, DType::F32, DType::F64];
    for (i, first) in dtypes.into_iter().enumerate() {
        for second in dtypes.iter().skip(i + 1).step_by(2) {
            let x = numbers.to_dtype(first).unwrap();
            let y = numbers.t().unwrap().contiguous().unwrap().to_dtype(*second).unwrap();
            let y = y.deep_clone().unwrap().t().unwrap();
            for threads in [1, 2] {
                on_threads(threads, || {
                    let close =
                        || [(&x, &y), (&y, &x)].map(|(a, b)| a.allclose(b, exactly).unwrap());
                    assert_eq!(close(), [true; 2], "{first} {second} {threads}");
                    for at in [[0, 0], [700, 502]] {
                        let before = y.get(&at).unwrap();
                        y.set(&at, 103).unwrap();
                        assert_eq!(close(), [false; 2], "{first} {second} {threads} {at:?}");
                        y.set(&at, before).unwrap();
                    }
                });
            }
        }
    }
}

#[test]
fn values_and_broadcast_operands_of_other_dtypes_are_close() {
    let rows = AnyTensor::full([900, 700], 2, DType::I32).unwrap();
    let column = AnyTensor::full([900, 1], 2, DType::F64).unwrap();
    let close = |a: &AnyTensor, b: &AnyTensor| a.allclose(b, Tolerance::default()).unwrap();
    assert!(close(&rows, &column) && close(&column, &rows));
    let two = AnyTensor::full((), 2, DType::F32).unwrap();
    assert!(close(&rows, &two) && close(&two, &rows));
    assert!(rows.allclose(2.0, Tolerance::default()).unwrap());
    assert!(!rows.allclose(2.1, Tolerance::default()).unwrap());
    column.set(&[899, 0], 2.1).unwrap();
    assert!(!close(&rows, &column) && !close(&column, &rows));
    let empty = AnyTensor::zeros([0, 3], DType::U8).unwrap();
    assert!(
        empty.allclose(AnyTensor::zeros([3], DType::F32).unwrap(), Tolerance::default()).unwrap()
    );
    let negative = Tolerance { rtol: -1.0, ..Tolerance::default() };
    for (a, b) in [(&rows, &column), (&empty, &two)] {
        assert!(matches!(a.allclose(b, negative), Err(Error::Movement(_))));
    }
    let other = AnyTensor::zeros([7, 3], DType::F32).unwrap();
    assert!(matches!(rows.allclose(&other, Tolerance::default()), Err(Error::Broadcast { .. })));
    assert!(
        rows.allclose(AnyTensor::zeros([900, 700], DType::C64).unwrap(), Tolerance::default())
            .is_err()
    );
}

#[test]
fn large_operands_are_broadcast_and_values_are_close() {
    let exec = Exec::current().unwrap();
    let (rows, column) =
        (Tensor::full([1200, 800], 2.0f64).unwrap(), Tensor::full([1200, 1], 2.0f64).unwrap());
    for threads in THREADS {
        on_threads(threads, || {
            let close = |a: &Tensor<f64>, b: &Tensor<f64>| {
                ops::allclose(exec, a, b, Tolerance::default()).unwrap()
            };
            assert!(close(&rows, &column) && close(&column, &rows));
            assert!(ops::allclose(exec, &rows, 2.0, Tolerance::default()).unwrap());
            column.set(&[1199, 0], 2.1).unwrap();
            assert!(!close(&rows, &column) && !close(&column, &rows));
            column.set(&[1199, 0], 2.0).unwrap();
        });
    }
    let other = Tensor::<f64>::zeros([7, 3]).unwrap();
    let refused = ops::allclose(exec, &rows, &other, Tolerance::default());
    assert!(matches!(refused, Err(Error::Broadcast { .. })), "{refused:?}");
}

/// An element whose comparisons are counted, by thread.
#[derive(Clone, Copy, Debug, NoUninit)]
#[repr(transparent)]
struct Counted(u32);

static COMPARED: AtomicUsize = AtomicUsize::new(0);
static BY: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

thread_local! {
    static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// Long enough for any machine. Only a failing test waits this long.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The threads that have compared something.
fn threads() -> usize {
    BY.lock().unwrap().as_ref().map_or(0, HashSet::len)
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        let before = COMPARED.fetch_add(1, Ordering::Relaxed);
        if !IS_KNOWN.replace(true) {
            BY.lock().unwrap().get_or_insert_default().insert(thread::current().id());
        }
        // The first thread waits for the second, which may be late on a busy machine.
        if before == 100_000 {
            let late = Instant::now() + TIMEOUT;
            while threads() < 2 && Instant::now() < late {
                thread::yield_now();
            }
        }
        self.0 == other.0
    }
}

#[test]
fn several_threads_compare_and_stop_at_the_first_difference() {
    let count = 3_000_000;
    let of = |at: usize, value: u32| {
        let mut values = vec![Counted(7); count];
        values[at] = Counted(value);
        Tensor::from_vec(values, [count]).unwrap()
    };
    let (x, y) = (of(0, 7), of(0, 7));
    on_threads(2, || assert!(x == y));
    // A few are compared again, which were compared before the other thread was asked.
    let compared = COMPARED.swap(0, Ordering::Relaxed);
    assert!((count..count + count / 100).contains(&compared), "{compared}");
    assert_eq!(threads(), 2);
    on_threads(2, || assert!(x != of(1, 8)));
    assert!(COMPARED.swap(0, Ordering::Relaxed) < count / 100);
    // The other thread has compared some parts by then.
    on_threads(2, || assert!(x != of(100_000, 8)));
    assert!(COMPARED.load(Ordering::Relaxed) < count * 3 / 4, "{COMPARED:?}");
}
