//! A failed allocation is an error with its size, or makes no difference, whichever allocation
//! fails: inputs are unchanged, results are right, and nothing leaks. A test program of its own,
//! because its allocator fails on demand.
//!
//! Each allocation of copies, elementwise operations and reductions fails, alone and with all later
//! ones, on one thread and in a pool. Some of the operations need scratch memory. `memory` counts
//! the allocations of operations that need only one.
//!
//! Only allocations of at least 4 KiB fail: those that grow with the number of elements. Smaller
//! ones are handles and the state of threads, without which libraries abort.

#![cfg(feature = "reductions")]

mod allocator;

use std::{
    sync::{Mutex, atomic::Ordering::Relaxed},
    thread,
};

use allocator::{ACCOUNT, Account, LARGE_BYTES};
use tensor_kernels::{
    Element, Error, Exec, Layout, Machine, Result, Simd, SimdLevel, Slice, Tensor, TensorExt,
    TensorMutExt, copy_between, copy_to_layout, ops, set_memory_cache_limit, zip_into,
};

/// A configuration to run an operation in.
#[derive(Clone, Copy, Debug)]
struct RunConfig {
    exec: Exec,
    threads: usize,
}

/// Configurations with caches so small that a few thousand elements are many blocks, some of which
/// use scratch.
fn run_configs() -> Vec<RunConfig> {
    let config = |simd: SimdLevel, stream, threads| {
        let mut exec = Exec::current().and_then(|exec| exec.with_simd(simd)).unwrap();
        exec.machine =
            Machine { l1: 16 << 10, l2: 64 << 10, stream, grain: 1 << 10, ..exec.machine };
        RunConfig { exec: if threads == 1 { exec.serial() } else { exec }, threads }
    };
    let best = Exec::current().unwrap().simd();
    vec![
        config(SimdLevel::Scalar, usize::MAX, 1),
        config(best, usize::MAX, 1),
        config(best, 0, 1),
        config(best, usize::MAX, 3),
        config(best, 0, 3),
    ]
}

/// Runs on a new thread, which has no cached scratch memory, and frees it at its end.
fn on_new_thread<R: Send>(account: &'static Account, work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let spent = || {
            ACCOUNT.set(Some(account));
            work()
        };
        scope.spawn(spent).join().unwrap()
    })
}

/// The same in a pool of new threads, which have ended when the function returns.
#[cfg(feature = "rayon")]
fn in_new_pool<R: Send>(
    account: &'static Account,
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> R {
    let mut started = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(|thread| {
        started.push(thread::Builder::new().spawn(move || {
            ACCOUNT.set(Some(account));
            thread.run();
        })?);
        Ok(())
    });
    let pool = pool.build().unwrap();
    let result = pool.install(work);
    drop(pool);
    started.into_iter().for_each(|thread| thread.join().unwrap());
    result
}

/// Without rayon every configuration is serial.
#[cfg(not(feature = "rayon"))]
fn in_new_pool<R: Send>(
    account: &'static Account,
    _threads: usize,
    work: impl FnOnce() -> R + Send,
) -> R {
    on_new_thread(account, work)
}

/// Runs an operation and returns whether the result is right.
type Operation<'a> = &'a (dyn Fn(&Exec) -> Result<bool> + Sync);

/// One run: its result, and whether an allocation has failed.
fn attempt(
    account: &'static Account,
    config: RunConfig,
    at: isize,
    is_lasting: bool,
    operation: Operation<'_>,
) -> (Result<bool>, bool) {
    account.before_failure.store(at, Relaxed);
    account.is_lasting.store(is_lasting, Relaxed);
    let work = || operation(&config.exec);
    let result = match config.threads {
        1 => on_new_thread(account, work),
        threads => in_new_pool(account, threads, work),
    };
    (result, account.has_failed())
}

/// Lets each large allocation fail in turn; returns the number of runs that ended with an error.
fn fails_cleanly(
    account: &'static Account,
    what: &str,
    config: RunConfig,
    is_lasting: bool,
    operation: Operation<'_>,
) -> usize {
    let mut errors = 0;
    for at in 0.. {
        let (result, has_failed) = attempt(account, config, at, is_lasting, operation);
        match result {
            Ok(true) => {}
            Err(Error::OutOfMemory { bytes }) if has_failed && bytes >= LARGE_BYTES => errors += 1,
            other => panic!("{what}, allocation {at}, {config:?}: {other:?}"),
        }
        assert_eq!(account.live.load(Relaxed), 0, "{what}, {at}, {config:?}: bytes are left");
        if !has_failed {
            break;
        }
    }
    errors
}

/// Runs [`fails_cleanly`] in every configuration; `errors` is the number of allocations without
/// which the operation fails.
#[track_caller]
fn needs(account: &'static Account, errors: usize, what: &str, operation: Operation<'_>) {
    for config in run_configs() {
        for is_lasting in [false, true] {
            let found = fails_cleanly(account, what, config, is_lasting, operation);
            assert_eq!(found, errors, "{what}, {config:?}");
        }
    }
}

/// Compares the elements of a tensor without an allocation.
fn holds<T: Element + PartialEq>(tensor: &Tensor<T>, elements: &[T]) -> Result<bool> {
    let guard = tensor.read()?;
    Ok(guard.as_view().iter().eq(elements.iter().copied()))
}

const ROWS: usize = 96;
const COLUMNS: usize = 80;

/// Inputs of one shape, with all kinds of layouts that use scratch, and one that does not.
fn inputs() -> Vec<Tensor<u32>> {
    let numbers = |shape: &[isize]| {
        let count = shape.iter().product::<isize>() as u32;
        Tensor::arange(1, count + 1, 1).unwrap().view(shape).unwrap()
    };
    let (rows, columns) = (ROWS as isize, COLUMNS as isize);
    let wide = numbers(&[rows, 2 * columns]);
    vec![
        numbers(&[rows, columns]),
        numbers(&[columns, rows]).t().unwrap(),
        wide.slice(1, Slice::new(None, None, -2)).unwrap(),
        numbers(&[columns, 2 * rows]).narrow(1, 5, ROWS).unwrap().t().unwrap(),
        numbers(&[1, columns]).expand([ROWS as isize, columns]).unwrap(),
        numbers(&[columns, 2 * rows]).slice(1, Slice::new(None, None, 2)).unwrap().t().unwrap(),
    ]
}

/// Runs `check` for every input, which must not change it.
fn for_every_input(check: impl Fn(&Tensor<u32>, &[u32])) {
    for input in inputs() {
        let elements = input.to_vec().unwrap();
        check(&input, &elements);
        assert_eq!(input.to_vec().unwrap(), elements, "the input");
    }
}

#[test]
fn fault_each_allocation_of_a_copy_that_fails_is_an_error_or_makes_no_difference() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    for_every_input(|x, elements| {
        let out = Tensor::full(x.shape(), 0u32).unwrap();
        let columns = Tensor::full([COLUMNS, ROWS], 0u32).unwrap().t().unwrap();
        needs(&ACCOUNT_OF_TEST, 1, "a new copy", &|exec| {
            let layout = Layout::contiguous(x.shape())?;
            holds(&copy_to_layout(exec, x.read()?.as_view(), layout)?, elements)
        });
        for out in [&out, &columns] {
            needs(&ACCOUNT_OF_TEST, 0, "a copy", &|exec| {
                out.fill(0)?;
                copy_between(exec, x, out)?;
                holds(out, elements)
            });
        }
    });
}

#[test]
fn fault_streamed_transposes_need_no_scratch() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    // Runs that a transpose keeps together, rows of a few channels, packed rows; with tables of
    // offsets.
    for (shape, order) in [
        ([96, 80, 3], [1, 0, 2]),
        ([48, 40, 12], [1, 0, 2]),
        ([70, 50, 8], [2, 0, 1]),
        ([60, 6, 50], [0, 2, 1]),
        ([6, 50, 60], [2, 1, 0]),
        ([33, 5, 20], [2, 1, 0]),
        ([600, 5, 1], [1, 0, 2]),
        ([1, 6, 700], [0, 2, 1]),
        ([25, 11, 70], [2, 1, 0]),
        ([5, 30, 300], [2, 1, 0]),
        ([13, 3, 301], [2, 1, 0]),
    ] {
        let numel = shape.iter().product::<isize>() as u16;
        let numbers = Tensor::arange(1, numel + 1, 1).unwrap().view(shape).unwrap();
        let x = numbers.permute(order).unwrap();
        let elements = x.to_vec().unwrap();
        let out = Tensor::full(x.shape(), 0u16).unwrap();
        needs(&ACCOUNT_OF_TEST, 0, &format!("a copy of {shape:?}"), &|exec| {
            out.fill(0)?;
            copy_between(exec, &x, &out)?;
            holds(&out, &elements)
        });
        let out = out.cast::<f32>().unwrap();
        let x = numbers.cast::<f32>().unwrap().permute(order).unwrap();
        let elements: Vec<f32> = elements.iter().map(|&x| -f32::from(x)).collect();
        needs(&ACCOUNT_OF_TEST, 0, &format!("minus {shape:?}"), &|exec| {
            out.fill(0.0)?;
            ops::neg_into(exec, &x, &out)?;
            holds(&out, &elements)
        });
    }
}

#[test]
fn fault_each_allocation_of_an_operation_that_fails_is_an_error_or_makes_no_difference() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    for_every_input(|x, elements| {
        let row = Tensor::arange(1, COLUMNS as u32 + 1, 1).unwrap();
        let sums: Vec<u32> =
            elements.iter().zip((1..=COLUMNS as u32).cycle()).map(|(a, b)| a + b).collect();
        let wide: Vec<u64> = elements.iter().map(|&a| a.into()).collect();
        let columns = Tensor::full([COLUMNS, ROWS], 0u32).unwrap().t().unwrap();
        needs(&ACCOUNT_OF_TEST, 1, "add", &|exec| holds(&ops::add(exec, x, &row)?, &sums));
        needs(&ACCOUNT_OF_TEST, 1, "cast", &|exec| holds(&ops::cast::<u32, u64>(exec, x)?, &wide));
        needs(&ACCOUNT_OF_TEST, 0, "add_into", &|exec| {
            ops::add_into(exec, x, &row, &columns)?;
            holds(&columns, &sums)
        });
        needs(&ACCOUNT_OF_TEST, 0, "zip_into", &|exec| {
            let (a, b, mut to) = (x.read()?, row.read()?, columns.write()?);
            zip_into(exec, a.as_view(), b.as_view(), &mut to.as_view_mut()?, |a, b| a + b)?;
            drop(to);
            holds(&columns, &sums)
        });
    });
}

#[test]
fn fault_each_allocation_of_a_reduction_that_fails_is_an_error_or_makes_no_difference() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    for_every_input(|x, elements| {
        let over_rows: Vec<i64> = (0..COLUMNS)
            .map(|j| elements.iter().skip(j).step_by(COLUMNS).map(|&a| i64::from(a)).sum())
            .collect();
        let over_columns: Vec<i64> =
            elements.chunks(COLUMNS).map(|row| row.iter().map(|&a| i64::from(a)).sum()).collect();
        let (all, largest) = (over_rows.iter().sum::<i64>(), elements.iter().max().copied());
        needs(&ACCOUNT_OF_TEST, 0, "sum of columns", &|exec| {
            holds(&ops::sum(exec, x, 0)?, &over_rows)
        });
        needs(&ACCOUNT_OF_TEST, 0, "sum of rows", &|exec| {
            holds(&ops::sum(exec, x, 1)?, &over_columns)
        });
        needs(&ACCOUNT_OF_TEST, 0, "sum", &|exec| Ok(ops::sum_all::<u32>(exec, x)? == all));
        needs(&ACCOUNT_OF_TEST, 0, "max", &|exec| Ok(Some(ops::max_all(exec, x)?) == largest));
        needs(&ACCOUNT_OF_TEST, 0, "argmax", &|exec| {
            let at = ops::argmax_all(exec, x)? as usize;
            Ok(Some(elements[at]) == largest)
        });
    });
}

#[test]
fn fault_a_large_result_of_a_reduction_without_memory_is_an_error() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    let x = Tensor::arange(0, 4096u32, 1).unwrap().view([2048, 2]).unwrap();
    let sums: Vec<i64> = (0..2048).map(|n| 4 * n + 1).collect();
    let zeros = vec![0i64; 2048];
    needs(&ACCOUNT_OF_TEST, 1, "sum", &|exec| holds(&ops::sum(exec, &x, 1)?, &sums));
    needs(&ACCOUNT_OF_TEST, 1, "argmin", &|exec| holds(&ops::argmin(exec, &x, 1)?, &zeros));
}

/// Many short dimensions with large gaps are copied to scratch that has to be allocated. Without it
/// a sum is an error, as another order of additions would change its last bits; a maximum needs no
/// order.
#[test]
fn fault_scratch_of_many_short_dimensions_that_is_missing() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    let layout = Layout::new([17, 3, 28, 3, 6], [17_010, 27, 486, 9, 81], 0).unwrap();
    let numbers: Vec<i32> = (0..289_170).map(|at| at % 1009).collect();
    let x = Tensor::from_vec_with_layout(numbers, layout).unwrap();
    let elements = x.to_vec().unwrap();
    let of = |k: usize| elements.iter().skip(k).step_by(6);
    let sums: Vec<i64> = (0..6).map(|k| of(k).map(|&a| i64::from(a)).sum()).collect();
    let largest: Vec<i32> = (0..6).filter_map(|k| of(k).copied().max()).collect();
    let over = [0, 1, 2, 3];
    needs(&ACCOUNT_OF_TEST, 1, "sum", &|exec| holds(&ops::sum(exec, &x, over)?, &sums));
    needs(&ACCOUNT_OF_TEST, 0, "max", &|exec| holds(&ops::max(exec, &x, over)?, &largest));
}

/// Short dimensions without gaps are reduced in two stages, whose partial results need no memory.
#[test]
fn fault_two_stages_need_no_memory() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    // Kept memory is freed when an allocation fails: then by the threads of another test, whose
    // account it is not in.
    set_memory_cache_limit(0);
    let numbers: Vec<i32> = (0..3_000_000).map(|at| at % 1009).collect();
    let x = Tensor::from_vec(numbers, [1_000_000, 3]).unwrap();
    let elements = x.to_vec().unwrap();
    let of = |k: usize| elements.iter().skip(k).step_by(3).map(|&a| i64::from(a)).sum();
    let sums: Vec<i64> = (0..3).map(of).collect();
    needs(&ACCOUNT_OF_TEST, 0, "sum", &|exec| holds(&ops::sum(exec, &x, 0)?, &sums));
    // Here they are arranged.
    let x = x.view([3000, 125, 8]).unwrap();
    let of = |k: usize| elements.iter().enumerate().filter(move |(at, _)| at / 8 % 125 == k);
    let sums: Vec<i64> = (0..125).map(|k| of(k).map(|(_, &a)| i64::from(a)).sum()).collect();
    needs(&ACCOUNT_OF_TEST, 0, "sum", &|exec| holds(&ops::sum(exec, &x, [0, 2])?, &sums));
}

/// The copy of an operand is made before an element of the result is written.
#[test]
fn fault_an_operand_that_cannot_be_copied_first_leaves_the_result_as_it_was() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    let side = 72;
    let numbers: Vec<u32> = (0..(side * side) as u32).collect();
    let sums: Vec<u32> =
        (0..side * side).map(|at| (at + at % side * side + at / side) as u32).collect();
    for config in run_configs() {
        let x = Tensor::from_slice(&numbers, [side, side]).unwrap();
        let transposed = x.t().unwrap();
        let add = |exec: &Exec| {
            ops::add_inplace(&exec.copying_first(), &x, &transposed)?;
            holds(&x, &sums)
        };
        let (refused, _) = attempt(&ACCOUNT_OF_TEST, config, 0, true, &add);
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{config:?}: {refused:?}");
        assert_eq!(x.to_vec().unwrap(), numbers, "{config:?}");
        assert_eq!(
            attempt(&ACCOUNT_OF_TEST, config, isize::MAX, false, &add),
            (Ok(true), false),
            "{config:?}"
        );
        assert_eq!(ACCOUNT_OF_TEST.live.load(Relaxed), 0, "{config:?}");
    }
}

/// Tests the test: scratch memory is counted, and leaks are detected.
#[test]
fn fault_the_allocator_counts_scratch_and_leaks() {
    static ACCOUNT_OF_TEST: Account = Account::new();
    let (config, x) = (run_configs()[2], &inputs()[1]);
    let copy = |exec: &Exec| {
        let layout = Layout::contiguous(x.shape())?;
        Ok(copy_to_layout::<u32, Simd>(exec, &x.read()?.as_view(), layout)?.is_contiguous())
    };
    assert_eq!(attempt(&ACCOUNT_OF_TEST, config, isize::MAX, false, &copy), (Ok(true), false));
    assert_eq!(
        isize::MAX - ACCOUNT_OF_TEST.before_failure.load(Relaxed),
        2,
        "the result and scratch"
    );
    // Still reachable, so that a leak sanitizer does not report it.
    static LEFT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let leave = |_: &Exec| {
        *LEFT.lock().unwrap() = vec![0; 2 * LARGE_BYTES];
        Ok(true)
    };
    attempt(&ACCOUNT_OF_TEST, config, isize::MAX, false, &leave).0.unwrap();
    assert_eq!(ACCOUNT_OF_TEST.live.load(Relaxed), 2 * LARGE_BYTES as isize);
}

#[test]
fn a_list_of_borrows_that_cannot_grow_refuses_the_next_guard() {
    static OF_BORROWS: Account = Account::new();
    on_new_thread(&OF_BORROWS, || {
        let x = Tensor::<f32>::zeros([2, 3]).unwrap();
        let mut guards = Vec::with_capacity(1000);
        OF_BORROWS.is_lasting.store(true, Relaxed);
        OF_BORROWS.before_failure.store(0, Relaxed);
        let refused = (0..1000).find_map(|_| match x.read() {
            Ok(guard) => {
                guards.push(guard);
                None
            }
            Err(refused) => Some(refused),
        });
        assert!(matches!(refused, Some(Error::OutOfMemory { .. })), "{refused:?}");
        assert!(guards.iter().all(|guard| guard.as_view().get(&[1, 2]) == Ok(0.0)));
        guards.pop();
        assert!(x.read().is_ok(), "room for one");
        drop(guards);
        assert!(x.write().is_ok());
    });
}
