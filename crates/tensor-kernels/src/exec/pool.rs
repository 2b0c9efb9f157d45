//! The threads that work is shared among: the caller's rayon pool, or none.

#[cfg(not(feature = "rayon"))]
pub(crate) use serial::{join, threads};
#[cfg(feature = "rayon")]
pub(crate) use threaded::{join, threads};

#[cfg(feature = "rayon")]
mod threaded {
    use std::{error::Error, sync::OnceLock};

    /// The threads of the current pool.
    pub(crate) fn threads() -> usize {
        if rayon::current_thread_index().is_some() || global_pool_works() {
            rayon::current_num_threads()
        } else {
            1
        }
    }

    /// Starts the global pool if nobody has. Asking for it where threads cannot start would panic,
    /// so then it is never asked for.
    fn global_pool_works() -> bool {
        static WORKS: OnceLock<bool> = OnceLock::new();
        *WORKS.get_or_init(|| match rayon::ThreadPoolBuilder::new().build_global() {
            Ok(()) => true,
            Err(refused) => refused.source().is_none(),
        })
    }

    pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
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
