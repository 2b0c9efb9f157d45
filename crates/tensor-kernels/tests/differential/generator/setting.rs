//! The configuration of a case: SIMD level, machine and threads.

use std::fmt;

use tensor_kernels::{Exec, Machine, SimdLevel};

use super::choices::Choices;

/// The configuration of a case.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) exec: Exec,
    /// The size of the pool; `None` runs on the calling thread.
    threads: Option<usize>,
}

impl Setting {
    pub(crate) fn draw(choices: &mut Choices<'_>) -> Self {
        let threads = choices.pick(&[None, Some(2), Some(4), Some(3), Some(1)]);
        let mut exec = at_level(choices.pick(&levels()));
        exec.machine = machine(choices);
        let exec = if threads.is_none() { exec.serial() } else { exec };
        Self { exec, threads }
    }

    /// The reference configuration: the scalar level on the calling thread.
    pub(crate) fn plain() -> Self {
        let mut exec = at_level(levels()[0]).serial();
        exec.machine = Machine::REFERENCE;
        Self { exec, threads: None }
    }

    pub(crate) fn run<R: Send>(&self, work: impl FnOnce(&Exec) -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        let mut once = || result = work.take().map(|work| work(&self.exec));
        match self.threads {
            None => once(),
            Some(threads) => on_threads(threads, &mut once),
        }
        result.expect("the work was done")
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { l1, l2, stream, keeps_transposes, grain, vector, channel } =
            self.exec.machine;
        write!(f, "{}, ", self.exec.simd())?;
        match self.threads {
            None => write!(f, "serial")?,
            Some(threads) => write!(f, "pool of {threads}")?,
        }
        write!(f, ", Machine {{ l1: {l1}, l2: {l2}, stream: {stream}, ")?;
        write!(f, "keeps_transposes: {keeps_transposes}, grain: {grain}, ")?;
        write!(f, "vector: {vector}, channel: {channel} }}")
    }
}

fn at_level(level: SimdLevel) -> Exec {
    let current = Exec::current().expect("TENSOR_SIMD names a level of this CPU");
    current.with_simd(level).expect("an available level")
}

/// All levels of this CPU, or the one that `TENSOR_SIMD` sets.
fn levels() -> Vec<SimdLevel> {
    match std::env::var_os("TENSOR_SIMD") {
        None => SimdLevel::available(),
        Some(_) => vec![Exec::current().expect("TENSOR_SIMD names a level of this CPU").simd()],
    }
}

/// Sometimes a real machine; mostly one on which a few thousand elements are many blocks.
fn machine(choices: &mut Choices<'_>) -> Machine {
    let drawn = choices.draw(16);
    let mut machine = match drawn {
        0 => return Machine::REFERENCE,
        1 => return Machine::detect(),
        _ => Machine { l1: 256 << choices.draw(8), ..Machine::REFERENCE },
    };
    machine.l2 = (1024 << choices.draw(10)).max(machine.l1);
    machine.stream = if choices.draw(3) == 0 { usize::MAX } else { 1024 << choices.draw(6) };
    machine.keeps_transposes = choices.draw(2) == 0;
    machine.grain = 64 << choices.draw(12);
    machine.vector = 16 << choices.draw(3);
    machine.channel = [0, 64, 128, 512][choices.draw(4)];
    machine
}

/// Runs in a pool of 1 to 4 threads, which lives as long as the process. Not generic over the work:
/// the code of the pool would be a quarter of this program.
#[cfg(feature = "rayon")]
fn on_threads(threads: usize, work: &mut (dyn FnMut() + Send)) {
    use std::sync::OnceLock;

    static POOLS: [OnceLock<rayon::ThreadPool>; 4] = [const { OnceLock::new() }; 4];
    let started = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    POOLS[threads - 1].get_or_init(started).install(work);
}

#[cfg(not(feature = "rayon"))]
fn on_threads(_threads: usize, work: &mut (dyn FnMut() + Send)) {
    work();
}
