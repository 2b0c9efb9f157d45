//! Multi-threaded operations: every element is computed once, and large work runs on more than one
//! thread.
//!
//! The unit tests of `partition` check that the parts of a plan make up the plan.
#![cfg(all(feature = "elementwise", feature = "rayon"))]

mod common;

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    thread::ThreadId,
    time::Duration,
};

use common::{on_threads, strided};
use tensor_kernels::{
    Exec, Layout, Machine, TensorView, TensorViewMut, map_inplace, map_into, zip_into,
};

/// Shapes with the strides of an input and of the result, for every elementwise path, with sizes
/// around those of blocks.
const PAIRS: &[(&[usize], &[isize], &[isize])] = &[
    (&[1000], &[1], &[1]),
    (&[65], &[1], &[1]),
    (&[7, 130], &[140, 1], &[130, 1]),
    (&[65, 66], &[1, 65], &[66, 1]),
    (&[130, 65], &[2, 260], &[65, 1]),
    (&[33, 129], &[1, 33], &[258, 2]),
    (&[5, 6, 7, 8], &[1, 5, 30, 210], &[336, 56, 8, 1]),
    (&[2, 3000], &[3000, 1], &[3000, 1]),
    (&[3000, 2], &[1, 3000], &[2, 1]),
];

/// A configuration that splits any work among all threads.
fn eager() -> Exec {
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 1, ..Machine::REFERENCE };
    exec
}

#[test]
fn every_element_is_computed_once() {
    let exec = eager();
    for &(shape, from, to) in PAIRS {
        let (from, to) = (strided(shape, from, 0), strided(shape, to, 0));
        let numbers: Vec<u32> = (0..common::extent(&from) as u32).collect();
        let a = TensorView::new(&numbers, from.clone()).unwrap();
        for threads in [1, 2, 7, 16] {
            let times: Vec<AtomicU8> = numbers.iter().map(|_| AtomicU8::new(0)).collect();
            let count = |n: u32| times[n as usize].fetch_add(1, Ordering::Relaxed);
            let mut result = vec![9u8; common::extent(&to)];
            let mut out = TensorViewMut::new(&mut result, to.clone()).unwrap();
            on_threads(threads, || map_into(&exec, &a, &mut out, count)).unwrap();
            let once = a.iter().all(|n| times[n as usize].load(Ordering::Relaxed) == 1);
            assert!(once, "{from:?} to {to:?} on {threads} threads");
        }
    }
}

/// Blocks the first thread that calls it until a second thread does.
struct Rendezvous {
    first: Mutex<Option<ThreadId>>,
    met: Condvar,
}

/// Long enough for any machine. Only a failing test waits this long.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Rendezvous {
    const fn new() -> Self {
        Self { first: Mutex::new(None), met: Condvar::new() }
    }

    /// Called by every thread for every element.
    fn attend(&self) {
        let me = std::thread::current().id();
        let mut first = self.first.lock().unwrap();
        match *first {
            None => {
                *first = Some(me);
                let alone = |first: &mut Option<ThreadId>| *first == Some(me);
                let waited = self.met.wait_timeout_while(first, TIMEOUT, alone).unwrap();
                assert!(!waited.1.timed_out(), "nobody else works");
            }
            Some(other) if other != me => {
                // Releases the waiting thread, as `first` is another thread now.
                *first = Some(me);
                self.met.notify_all();
            }
            Some(_) => {}
        }
    }
}

/// Work that is large enough for two threads runs on two, for any shape.
#[test]
fn large_work_is_shared() {
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine::REFERENCE;
    for shape in
        [&[200_000][..], &[2, 100_000], &[100_000, 2], &[64, 4000], &[400, 500], &[40, 50, 100]]
    {
        let rows = Layout::contiguous(shape).unwrap();
        let last = *shape.last().unwrap();
        let mut strides = vec![0; shape.len()];
        strides[shape.len() - 1] = 1;
        let (a, row) = (vec![1.0f32; rows.numel()], vec![2.0f32; last]);
        let a = TensorView::new(&a, rows.clone()).unwrap();
        let row = TensorView::new(&row, strided(shape, &strides, 0)).unwrap();
        let mut result = vec![0.0f32; rows.numel()];
        let mut out = TensorViewMut::new(&mut result, rows).unwrap();
        let rendezvous = Rendezvous::new();
        let sum = |a: f32, b: f32| {
            rendezvous.attend();
            a + b
        };
        on_threads(2, || zip_into(&exec, &a, &row, &mut out, sum)).unwrap();
        assert!(result.iter().all(|&sum| sum == 3.0), "{shape:?}");
    }
}

/// Work that is too small for two threads, or is asked to be serial, runs on the calling thread.
#[test]
fn small_and_serial_work_stays_on_its_thread() {
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine::REFERENCE;
    for (exec, numel) in [(exec, 4000), (exec.serial(), 1 << 20)] {
        let here = std::thread::current().id();
        let stays = |x: u8| x + u8::from(std::thread::current().id() == here);
        let mut values = vec![0u8; numel];
        let mut x = TensorViewMut::new(&mut values, Layout::contiguous([numel]).unwrap()).unwrap();
        map_inplace(&exec, &mut x, stays).unwrap();
        assert!(values.iter().all(|&x| x == 1));
    }
}
