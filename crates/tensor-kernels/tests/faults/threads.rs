//! Nested use of rayon, and processes in which threads cannot start: the same results, and no
//! deadlocks.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread::{self, Scope},
};

use rayon::{
    ThreadPool, ThreadPoolBuilder,
    iter::{IntoParallelIterator, ParallelIterator},
};
use tensor_kernels::{
    AnyTensor, CopyPlan, Error, Exec, Layout, Machine, Nest, Reshaped, Result, Simd, SimdLevel,
    Slice, Tensor, TensorExt, TensorMutExt, copy_between, ops,
};

use crate::common::child::{again, again_limited, is_child, printed};

/// A transposed tensor that is large enough to be split.
fn transposed() -> Tensor<u32> {
    Tensor::arange(0, 80_000, 1).unwrap().view([320, 250]).unwrap().t().unwrap()
}

/// Checks a copy and a computation that both use the pool.
fn work() {
    let x = transposed();
    let copy = x.contiguous().unwrap();
    assert!(copy.is_contiguous() && copy == x);
    let sum = x.add(&copy).unwrap();
    assert_eq!(sum.get(&[249, 319]).unwrap(), 2 * 79_999);
    assert_eq!(sum.get(&[1, 0]).unwrap(), 2);
}

/// As [`work`], with few elements that are split nevertheless, for use in loops.
fn small_work() {
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 256, ..Machine::REFERENCE };
    let x = Tensor::arange(0u32, 2000, 1).unwrap().view([40, 50]).unwrap().t().unwrap();
    let copy = Tensor::full([50, 40], 0).unwrap();
    copy_between(&exec, &x, &copy).unwrap();
    assert_eq!(copy, x);
    let sum = ops::add(&exec, &x, &copy).unwrap();
    assert_eq!((sum.get(&[49, 39]), sum.get(&[1, 0])), (Ok(2 * 1999), Ok(2)));
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn fault_in_the_global_pool_and_in_ones_of_any_size() {
    work();
    for threads in [1, 2, 7] {
        pool(threads).install(work);
    }
}

#[test]
fn fault_inside_join_scope_and_parallel_iterators() {
    for threads in [1, 3] {
        pool(threads).install(|| {
            rayon::join(work, || rayon::join(small_work, small_work));
            rayon::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|_| small_work());
                }
                small_work();
            });
            (0..4).into_par_iter().for_each(|_| small_work());
        });
    }
}

#[test]
fn fault_inside_a_closure_of_another_operation() {
    let rows = Tensor::arange(0u32, 4, 1).unwrap();
    let counted = pool(2).install(|| {
        rows.map(|row| {
            work();
            row + 1
        })
    });
    assert_eq!(counted.unwrap().to_vec().unwrap(), (1..5).collect::<Vec<_>>());
    // Large enough that the outer operation is split too.
    let inner = transposed();
    let outer = Tensor::full([200_000], 1u8).unwrap();
    let nested = |x: u8| if x == 1 { 2 } else { inner.contiguous().unwrap().numel() as u8 };
    outer.set(&[100_000], 3).unwrap();
    let result = pool(2).install(|| outer.map(nested)).unwrap();
    assert_eq!(result.get(&[100_000]).unwrap(), (80_000 % 256) as u8);
}

#[test]
fn fault_inside_one_pool_from_another() {
    let (outer, inner) = (pool(2), pool(1));
    outer.install(|| rayon::join(|| inner.install(work), || inner.install(work)));
}

/// Each closure works in the other pool, whose closures work in the first one.
#[test]
fn fault_pools_that_call_each_other_do_not_deadlock() {
    let (a, b) = (pool(2), pool(2));
    let rows = Tensor::arange(0u32, 3, 1).unwrap();
    let innermost = |row: u32| {
        small_work();
        row + 1
    };
    let inner = || rows.map(innermost).unwrap().sum_all().unwrap();
    let sums = || rows.map(|row| row + b.install(|| a.install(inner)) as u32);
    let sums = a.install(|| rayon::join(sums, sums));
    for sums in [sums.0, sums.1] {
        assert_eq!(sums.unwrap().to_vec().unwrap(), [6, 7, 8]);
    }
}

/// Sums, means and elementary functions, whose last bits depend on the order of evaluation.
#[test]
fn fault_results_are_the_same_bits_in_pools_of_any_size() {
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 256, ..Machine::REFERENCE };
    let x = Tensor::from_fn(&[60, 110], |index| 0.1 + (index[0] * 7 + index[1] * 13 % 97) as f32);
    let x = x.unwrap();
    let bits = |results: [Tensor<f32>; 4]| {
        let bits = |x: Tensor<f32>| x.to_vec().unwrap().into_iter().map(f32::to_bits);
        results.into_iter().flat_map(bits).collect::<Vec<_>>()
    };
    for x in [x.t().unwrap(), x.slice(1, Slice::ALL.step_by(3)).unwrap(), x] {
        let compute = |exec: &Exec| {
            let sums = [ops::sum(exec, &x, 0), ops::mean(exec, &x, 1)];
            let [sums, means] = sums.map(Result::unwrap);
            bits([sums, means, ops::exp(exec, &x).unwrap(), ops::rsqrt(exec, &x).unwrap()])
        };
        let expected = compute(&exec.serial());
        for threads in [1, 2, 7] {
            assert!(pool(threads).install(|| compute(&exec)) == expected, "{threads} threads");
        }
        let nested = pool(2).install(|| pool(3).install(|| compute(&exec)));
        assert!(nested == expected, "a pool within a pool");
    }
}

#[test]
fn fault_in_a_pool_of_the_calling_thread() {
    for threads in [1, 2] {
        // A thread can join one pool only.
        thread::spawn(move || {
            let pool = ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
            let pool = pool.build().unwrap();
            work();
            pool.install(work);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn fault_many_threads_read_one_tensor() {
    let x = transposed();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(x.contiguous().unwrap(), x));
        }
    });
}

/// Spawns a thread with a stack small enough for a thousand of them.
fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let builder = thread::Builder::new().stack_size(512 << 10);
    builder.spawn_scoped(scope, work).expect("a thousand small threads");
}

/// Each write changes every element, so a partial or a lost write is detected.
#[test]
fn fault_a_thousand_threads_read_and_write_whole_results_or_get_an_error() {
    const THREADS: usize = 1000;
    let tensor = Tensor::full([24, 16], 0u32).unwrap();
    let transposed = tensor.t().unwrap();
    let written = AtomicUsize::new(0);
    let is_refused = |error: &Error| matches!(error, Error::Borrowed { .. });
    let read = || match (transposed.contiguous(), transposed.sum_all()) {
        (Ok(copy), Ok(sum)) => {
            let first = copy.get(&[0, 0]).unwrap();
            assert_eq!(copy, Tensor::full([16, 24], first).unwrap(), "half of a write");
            assert_eq!(sum % 384, 0, "half of a write");
        }
        (copy, sum) => {
            assert!(copy.err().is_none_or(|error| is_refused(&error)));
            assert!(sum.err().is_none_or(|error| is_refused(&error)));
        }
    };
    let write = |i| {
        let result = if i == 1 { transposed.add_inplace(1) } else { tensor.map_inplace(|x| x + 1) };
        match result {
            Ok(()) => _ = written.fetch_add(1, Relaxed),
            Err(error) => assert!(is_refused(&error), "{error}"),
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            spawn(scope, || {
                (0..4).for_each(|i| match i {
                    0 | 2 => read(),
                    _ => write(i),
                });
            });
        }
    });
    let written = written.into_inner();
    assert!(written > 0);
    assert_eq!(tensor, Tensor::full([24, 16], written as u32).unwrap());
}

/// Values, plans, machines and the results of methods are `Send` and `Sync`.
#[test]
fn fault_types_cross_threads() {
    fn both<T: Send + Sync>() {}
    both::<Exec>();
    both::<Machine>();
    both::<CopyPlan>();
    both::<SimdLevel>();
    both::<Nest<3>>();
    both::<Tensor<f32>>();
    both::<AnyTensor>();
    both::<Reshaped<f32, Simd>>();
    both::<Error>();
}

/// Threads, those of rayon too, have small stacks, and unoptimised code has large frames.
#[test]
fn fault_a_small_stack_is_enough() {
    let test = "threads::fault_a_small_stack_is_enough";
    if !is_child() {
        // A stack overflow aborts the process.
        printed(again(test));
        return;
    }
    let every_path = || {
        for (shape, order) in
            [([40, 50, 60], [2, 1, 0]), ([3, 200, 200], [1, 2, 0]), ([200, 200, 3], [2, 0, 1])]
        {
            let layout = Layout::contiguous(shape).unwrap().permute(order).unwrap();
            every_width(&layout);
            every_width(&layout.flip([2]).unwrap());
        }
    };
    let thread = thread::Builder::new().stack_size(1 << 20);
    thread.spawn(every_path).unwrap().join().unwrap();
}

/// A thread that waits for a part of a reduction can steal another reduction and wait in that too.
/// So the scratch memory of a reduction must not be on the stack.
#[test]
fn fault_reductions_inside_each_other_need_little_of_the_stack() {
    let test = "threads::fault_reductions_inside_each_other_need_little_of_the_stack";
    if !is_child() {
        printed(again(test));
        return;
    }
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 1 << 10, ..Machine::REFERENCE };
    // Too few columns to split, too many partial sums for a small buffer.
    let x = Tensor::full([1024, 120], 1.0f64).unwrap();
    let columns = |_| {
        assert_eq!(ops::sum(&exec, &x, 0).unwrap().get(&[119]), Ok(1024.0));
        assert_eq!(ops::argmax(&exec, &x, 0).unwrap().get(&[119]), Ok(0));
    };
    // In unoptimised code each nested wait in rayon takes kilobytes of stack.
    let stack = if cfg!(debug_assertions) { 256 << 10 } else { 128 << 10 };
    let pool = ThreadPoolBuilder::new().num_threads(16).stack_size(stack).build().unwrap();
    pool.install(|| (0..500).into_par_iter().for_each(columns));
}

#[test]
fn fault_a_reduction_needs_little_of_the_stack() {
    let test = "threads::fault_a_reduction_needs_little_of_the_stack";
    if !is_child() {
        printed(again(test));
        return;
    }
    let every_path = || {
        let x = Tensor::full([1024, 512], 1.0f64).unwrap();
        let every_other = x.slice(1, Slice::ALL.step_by(2)).unwrap();
        for x in [x.clone(), x.t().unwrap(), every_other, x.view([-1, 4]).unwrap()] {
            for d in [0, 1] {
                let count = x.shape()[d as usize] as f64;
                assert_eq!(x.sum(d).unwrap().get(&[0]), Ok(count));
                assert_eq!(x.argmin(d).unwrap().get(&[0]), Ok(0));
            }
            assert_eq!((x.max_all(), x.argmax_all()), (Ok(1.0), Ok(0)));
        }
    };
    let thread = thread::Builder::new().stack_size(96 << 10);
    thread.spawn(every_path).unwrap().join().unwrap();
}

fn every_width(layout: &Layout) {
    let [words, bytes] = [4, 1].map(|factor| factor * layout.numel());
    let copied =
        |result: tensor_kernels::Result<usize>| assert_eq!(result.unwrap(), layout.numel());
    let word = Tensor::from_vec_with_layout(vec![1u32; words], layout.clone()).unwrap();
    copied(word.contiguous().map(|x| x.numel()));
    copied(word.add(word.contiguous().unwrap()).map(|x| x.numel()));
    let byte = Tensor::from_vec_with_layout(vec![1u8; bytes], layout.clone()).unwrap();
    copied(byte.contiguous().map(|x| x.numel()));
    let wide = Tensor::from_vec_with_layout(vec![1u128; words], layout.clone()).unwrap();
    copied(wide.contiguous().map(|x| x.numel()));
    copied(wide.map(|x| x as f32).map(|x| x.numel()));
}

/// With an address space that is too small for the stack of any thread, the caller does the work.
#[cfg(target_os = "linux")]
#[test]
fn fault_where_no_thread_can_start_the_caller_does_the_work() {
    let test = "threads::fault_where_no_thread_can_start_the_caller_does_the_work";
    if !is_child() {
        let mut child = again_limited("ulimit -v 1000000", test);
        child.env("RUST_MIN_STACK", (1usize << 30).to_string()).env("RAYON_NUM_THREADS", "4");
        printed(child);
        return;
    }
    let started = thread::Builder::new().spawn(|| ());
    assert!(started.is_err(), "the limit keeps threads from starting");
    work();
    work();
}

/// With an address space that is large enough for some of the threads only, the caller does the
/// work.
#[cfg(target_os = "linux")]
#[test]
fn fault_where_some_threads_cannot_start_the_caller_does_the_work() {
    let test = "threads::fault_where_some_threads_cannot_start_the_caller_does_the_work";
    if !is_child() {
        let mut child = again_limited("ulimit -v 3000000", test);
        child.env("RUST_MIN_STACK", (1usize << 28).to_string()).env("RAYON_NUM_THREADS", "64");
        printed(child);
        return;
    }
    assert!(thread::Builder::new().spawn(|| ()).is_ok(), "one thread starts");
    work();
    work();
}

/// Starting seventy thousand threads would abort the process.
#[test]
fn fault_more_threads_than_a_process_can_have_are_not_started() {
    let test = "threads::fault_more_threads_than_a_process_can_have_are_not_started";
    if !is_child() {
        let mut child = again(test);
        child.env("RAYON_NUM_THREADS", "70000");
        printed(child);
        return;
    }
    work();
    assert_eq!(rayon::current_num_threads(), 1024);
}

/// Zero threads means the default, as in rayon.
#[test]
fn fault_zero_threads_means_the_default() {
    let test = "threads::fault_zero_threads_means_the_default";
    if !is_child() {
        for wish in ["abc", "0", "-1", "", "1e3", "99999999999999999999999"] {
            let mut child = again(test);
            child.env("RAYON_NUM_THREADS", wish);
            printed(child);
        }
        return;
    }
    work();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(rayon::current_num_threads(), cores);
}
