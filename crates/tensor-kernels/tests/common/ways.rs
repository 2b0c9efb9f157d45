//! The ways to run an operation: every instruction set, on one thread and on several, through the
//! caches and past them.

use std::fmt;

use tensor_kernels::{Exec, Machine, SimdLevel};

/// The levels to test: all that this CPU has, or the one that `TENSOR_SIMD` asks for, which then
/// must be the active one.
pub(crate) fn levels() -> Vec<SimdLevel> {
    let active = Exec::current().expect("TENSOR_SIMD names a level of this CPU").simd();
    match std::env::var("TENSOR_SIMD") {
        Ok(forced) => {
            assert_eq!(active.to_string(), forced, "the level that TENSOR_SIMD forces is active");
            vec![active]
        }
        Err(_) => SimdLevel::available(),
    }
}

/// One way to run an operation.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    exec: Exec,
    threads: Option<usize>,
}

impl Way {
    /// On the calling thread, with stores as large results get them or small ones.
    pub(crate) fn serial(simd: SimdLevel, streamed: bool) -> Self {
        Self { exec: exec(simd, streamed).serial(), threads: None }
    }

    /// In a pool of so many threads, the work cut into as many pieces as they can get.
    pub(crate) fn threaded(simd: SimdLevel, streamed: bool, threads: usize) -> Self {
        Self { exec: exec(simd, streamed), threads: Some(threads) }
    }

    pub(crate) fn run<R: Send>(&self, operation: impl FnOnce(&Exec) -> R + Send) -> R {
        match self.threads {
            None => operation(&self.exec),
            Some(threads) => on_threads(threads, || operation(&self.exec)),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stores = if self.exec.machine.stream == 0 { "streamed" } else { "plain" };
        match self.threads {
            None => write!(f, "{}, serial, {stores}", self.exec.simd()),
            Some(threads) => write!(f, "{}, {threads} threads, {stores}", self.exec.simd()),
        }
    }
}

/// All levels, each serial and with 2 and 7 threads, plain and streamed.
pub(crate) fn ways() -> Vec<Way> {
    let of_level = |simd| {
        [
            Way::serial(simd, false),
            Way::serial(simd, true),
            Way::threaded(simd, true, 2),
            Way::threaded(simd, false, 7),
        ]
    };
    levels().into_iter().flat_map(of_level).collect()
}

/// A machine that finds every tensor large enough for threads, and large enough or too small for
/// stores past the caches.
fn exec(simd: SimdLevel, streamed: bool) -> Exec {
    let stream = if streamed { 0 } else { usize::MAX };
    let mut exec =
        Exec::current().and_then(|exec| exec.with_simd(simd)).expect("an available level");
    // Caches so small that a few thousand elements are several blocks.
    exec.machine = Machine { l1: 1 << 10, l2: 8 << 10, stream, grain: 16 };
    exec
}

/// Runs in a pool of so many threads.
#[cfg(feature = "rayon")]
pub(crate) fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::{
        collections::BTreeMap,
        sync::{Arc, Mutex},
    };

    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let started = || ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let mut pools = POOLS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let pool = Arc::clone(pools.entry(threads).or_insert_with(|| Arc::new(started())));
    drop(pools);
    pool.install(run)
}

/// Without the feature every way is serial.
#[cfg(not(feature = "rayon"))]
pub(crate) fn on_threads<R: Send>(_threads: usize, run: impl FnOnce() -> R + Send) -> R {
    run()
}
