//! The thread pool of a run.
//!
//! Rayon's global pool panics if threads cannot be started, and tens of thousands of threads abort
//! the process. So every run checks the size, builds a pool of its own and works inside it.

use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Failure, Result};

/// The largest number of threads, whatever the number of cores.
const MAX_THREADS: usize = 1024;

/// The number of hardware threads.
pub fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The largest thread count accepted: four per core, at most 1024.
pub fn max_threads() -> usize {
    (4 * cores()).min(MAX_THREADS)
}

/// Checks a thread count.
pub fn check(threads: usize) -> Result<usize> {
    match threads {
        0 => Err(Failure::input("0 threads: give at least 1")),
        n if n > max_threads() => Err(Failure::input(format!(
            "{n} threads are more than the {} allowed here (four for each of {} cores, at most \
             {MAX_THREADS})",
            max_threads(),
            cores(),
        ))),
        n => Ok(n),
    }
}

/// A pool of exactly that many threads.
pub fn build(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(check(threads)?)
        .thread_name(|i| format!("tensor-bench-{i}"))
        .build()
        .map_err(|error| Failure::work(format!("cannot start {threads} threads: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_has_the_size_asked_for() {
        assert_eq!(build(2).unwrap().current_num_threads(), 2);
    }

    #[test]
    fn counts_out_of_range_are_refused_with_the_limit() {
        assert_eq!(check(0).unwrap_err().exit_code(), 2);
        let error = check(70_000).unwrap_err();
        assert!(error.to_string().contains(&max_threads().to_string()), "{error}");
    }
}
