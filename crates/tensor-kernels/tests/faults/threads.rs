//! Inside rayon in every way, and where no thread can start: the same results, and nothing stuck.

use rayon::{
    ThreadPool, ThreadPoolBuilder,
    iter::{IntoParallelIterator, ParallelIterator},
};
use tensor_kernels::{Exec, Layout, Machine, Slice, Tensor, TensorExt, ops};

use crate::common::child::{again, again_limited, is_child, printed};

/// Large enough to be cut, not contiguous.
fn turned() -> Tensor<u32> {
    Tensor::arange(0, 80_000, 1).unwrap().view(&[320, 250]).unwrap().t().unwrap()
}

/// A copy and a computation that both use the pool, checked.
fn work() {
    let x = turned();
    let copy = x.contiguous().unwrap();
    assert!(copy.is_contiguous() && copy == x);
    let sum = x.add(&copy).unwrap();
    assert_eq!(sum.get(&[249, 319]).unwrap(), 2 * 79_999);
    assert_eq!(sum.get(&[1, 0]).unwrap(), 2);
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
            rayon::join(work, || rayon::join(work, work));
            rayon::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|_| work());
                }
                work();
            });
            (0..4).into_par_iter().for_each(|_| work());
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
    // Large enough that the outer operation is cut, too.
    let inner = turned();
    let outer = Tensor::full(&[200_000], 1u8).unwrap();
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

#[test]
fn fault_in_a_pool_of_the_calling_thread() {
    for threads in [1, 2] {
        // A thread can become part of one pool only.
        std::thread::spawn(move || {
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
    let x = turned();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(x.contiguous().unwrap(), x));
        }
    });
}

/// Threads have small stacks, those of rayon too, and unoptimised code is generous with them.
#[test]
fn fault_a_small_stack_is_enough() {
    let test = "threads::fault_a_small_stack_is_enough";
    if !is_child() {
        // An overflow is the end of the process.
        printed(again(test));
        return;
    }
    let every_path = || {
        for (shape, order) in
            [([40, 50, 60], [2, 1, 0]), ([3, 200, 200], [1, 2, 0]), ([200, 200, 3], [2, 0, 1])]
        {
            let layout = Layout::contiguous(&shape).unwrap().permute(&order).unwrap();
            every_width(&layout);
            every_width(&layout.flip(&[2]).unwrap());
        }
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(every_path).unwrap().join().unwrap();
}

/// A thread that waits for half of a reduction takes up another one, and waits in that, too: what each of them holds must not lie on the stack.
#[test]
fn fault_reductions_inside_each_other_need_little_of_the_stack() {
    let test = "threads::fault_reductions_inside_each_other_need_little_of_the_stack";
    if !is_child() {
        printed(again(test));
        return;
    }
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 1 << 10, ..Machine::REFERENCE };
    // Too few columns to be cut, too many sums of halves for a small room.
    let x = Tensor::full(&[1024, 120], 1.0f64).unwrap();
    let columns = |_| {
        assert_eq!(ops::sum(&exec, &x, 0).unwrap().get(&[119]), Ok(1024.0));
        assert_eq!(ops::argmax(&exec, &x, 0).unwrap().get(&[119]), Ok(0));
    };
    // Unoptimised, a thread that waits in rayon has kilobytes on its stack for each half.
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
        let x = Tensor::full(&[1024, 512], 1.0f64).unwrap();
        let every_other = x.slice(1, Slice::ALL.step_by(2)).unwrap();
        for x in [x.clone(), x.t().unwrap(), every_other, x.view(&[-1, 4]).unwrap()] {
            for d in [0, 1] {
                let count = x.shape()[d as usize] as f64;
                assert_eq!(x.sum(d).unwrap().get(&[0]), Ok(count));
                assert_eq!(x.argmin(d).unwrap().get(&[0]), Ok(0));
            }
            assert_eq!((x.max_all(), x.argmax_all()), (Ok(1.0), Ok(0)));
        }
    };
    let thread = std::thread::Builder::new().stack_size(96 << 10);
    thread.spawn(every_path).unwrap().join().unwrap();
}

fn every_width(layout: &Layout) {
    let [words, bytes] = [4, 1].map(|factor| factor * layout.numel());
    let copied =
        |result: tensor_kernels::Result<usize>| assert_eq!(result.unwrap(), layout.numel());
    let word = Tensor::from_vec_with_layout(vec![1u32; words], layout.clone()).unwrap();
    copied(word.contiguous().map(|x| x.numel()));
    copied(word.add(&word.contiguous().unwrap()).map(|x| x.numel()));
    let byte = Tensor::from_vec_with_layout(vec![1u8; bytes], layout.clone()).unwrap();
    copied(byte.contiguous().map(|x| x.numel()));
    let wide = Tensor::from_vec_with_layout(vec![1u128; words], layout.clone()).unwrap();
    copied(wide.contiguous().map(|x| x.numel()));
    copied(wide.map(|x| x as f32).map(|x| x.numel()));
}

/// The address space is too small for the stack of any thread; then work is done where it is asked for.
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
    let started = std::thread::Builder::new().spawn(|| ());
    assert!(started.is_err(), "the limit keeps threads from starting");
    work();
    work();
}
