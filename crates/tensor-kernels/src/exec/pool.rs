//! The threads that share work: the caller's rayon pool, or none.

#[cfg(not(feature = "rayon"))]
pub(crate) use serial::{join, threads};
#[cfg(feature = "rayon")]
pub(crate) use threaded::{join, threads};

#[cfg(feature = "rayon")]
mod threaded {
    use std::{env, error::Error, sync::OnceLock};

    use rayon::ThreadPoolBuilder;

    /// The most threads that are started, whatever `RAYON_NUM_THREADS` says. From some ten thousand
    /// threads on the process is aborted, without an error that could be handled.
    const MOST_THREADS: usize = 1024;

    /// The number of threads that `RAYON_NUM_THREADS` asks for, at most [`MOST_THREADS`]. 0 if it
    /// is not set, which leaves the number to rayon.
    fn threads_asked() -> usize {
        let asked = env::var("RAYON_NUM_THREADS").ok().and_then(|asked| asked.parse().ok());
        asked.map_or(0, |asked: usize| asked.min(MOST_THREADS))
    }

    /// The threads of the current pool.
    pub(crate) fn threads() -> usize {
        if rayon::current_thread_index().is_some() || global_pool_works() {
            rayon::current_num_threads()
        } else {
            1
        }
    }

    /// Starts the global pool if nobody has, and returns whether it works. Using rayon's implicit
    /// global pool would panic where threads cannot be started.
    fn global_pool_works() -> bool {
        static WORKS: OnceLock<bool> = OnceLock::new();
        *WORKS.get_or_init(|| {
            let pool = ThreadPoolBuilder::new().num_threads(threads_asked());
            match pool.build_global() {
                Ok(()) => true,
                Err(refused) => refused.source().is_none(),
            }
        })
    }

    /// Runs both, the second on another thread if one is idle.
    pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        let (mut a, mut b) = (Some(a), Some(b));
        join_erased(&mut || call_once(&mut a), &mut || call_once(&mut b));
    }

    /// Takes the closure out and calls it.
    fn call_once(function: &mut Option<impl FnOnce()>) {
        if let Some(function) = function.take() {
            function();
        }
    }

    /// Of one pair of types: rayon compiles some fifty functions for each pair.
    fn join_erased(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        rayon::join(a, b);
    }
}

#[cfg(not(feature = "rayon"))]
mod serial {
    pub(crate) fn threads() -> usize {
        1
    }

    pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        a();
        b();
    }
}
