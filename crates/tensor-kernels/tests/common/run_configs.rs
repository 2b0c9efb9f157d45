//! Configurations to run an operation in: every SIMD level, on one thread and on several, with
//! regular and with non-temporal stores.

use std::fmt;

use tensor_kernels::{Exec, Machine, SimdLevel};

/// The levels to test: all that this CPU has, or the one that `TENSOR_SIMD` sets, which must be the
/// active one.
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

/// One configuration to run an operation in.
#[derive(Clone, Copy)]
pub(crate) struct RunConfig {
    exec: Exec,
    threads: Option<usize>,
}

impl RunConfig {
    /// On the calling thread, with non-temporal stores if `streamed`.
    pub(crate) fn serial(simd: SimdLevel, streamed: bool) -> Self {
        Self { exec: exec(simd, streamed).serial(), threads: None }
    }

    /// In a pool of `threads` threads, with the work split as finely as possible.
    pub(crate) fn threaded(simd: SimdLevel, streamed: bool, threads: usize) -> Self {
        Self { exec: exec(simd, streamed), threads: Some(threads) }
    }

    /// The machine that is planned for.
    #[allow(dead_code, reason = "not every test program asks")]
    pub(crate) fn machine(&self) -> Machine {
        self.exec.machine
    }

    pub(crate) fn run<R: Send>(&self, operation: impl FnOnce(&Exec) -> R + Send) -> R {
        let (mut operation, mut result) = (Some(operation), None);
        self.run_erased(&mut |exec| result = operation.take().map(|operation| operation(exec)));
        result.expect("the operation ran")
    }

    fn run_erased(&self, operation: &mut (dyn FnMut(&Exec) + Send)) {
        match self.threads {
            None => operation(&self.exec),
            Some(threads) => on_threads(threads, || operation(&self.exec)),
        }
    }
}

impl fmt::Display for RunConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stores = if self.exec.machine.stream == 0 { "streamed" } else { "plain" };
        match self.threads {
            None => write!(f, "{}, serial, {stores}", self.exec.simd()),
            Some(threads) => write!(f, "{}, {threads} threads, {stores}", self.exec.simd()),
        }
    }
}

/// All levels, each serial and with 2 and 7 threads, with regular and non-temporal stores.
pub(crate) fn run_configs() -> Vec<RunConfig> {
    let of_level = |simd| {
        [
            RunConfig::serial(simd, false),
            RunConfig::serial(simd, true),
            RunConfig::threaded(simd, true, 2),
            RunConfig::threaded(simd, false, 7),
        ]
    };
    levels().into_iter().flat_map(of_level).collect()
}

/// A machine on which every tensor is large enough for threads, and either every or no tensor is
/// large enough for non-temporal stores.
fn exec(simd: SimdLevel, streamed: bool) -> Exec {
    let stream = if streamed { 0 } else { usize::MAX };
    let mut exec =
        Exec::current().and_then(|exec| exec.with_simd(simd)).expect("an available level");
    // Caches so small that a few thousand elements are several blocks.
    exec.machine = Machine { l1: 1 << 10, l2: 8 << 10, stream, grain: 16, ..exec.machine };
    exec
}

/// Runs in a pool of `threads` threads.
pub(crate) fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let (mut run, mut result) = (Some(run), None);
    on_threads_erased(threads, &mut || result = run.take().map(|run| run()));
    result.expect("the pool ran it")
}

/// Of one type: rayon compiles some fifty functions for each type of closure.
#[cfg(feature = "rayon")]
fn on_threads_erased(threads: usize, run: &mut (dyn FnMut() + Send)) {
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
    pool.install(run);
}

/// Without the feature every configuration is serial.
#[cfg(not(feature = "rayon"))]
fn on_threads_erased(_threads: usize, run: &mut (dyn FnMut() + Send)) {
    run();
}
