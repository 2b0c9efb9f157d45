//! What runs under valgrind: some subjects, one after the other, the parts of each between two marks that callgrind knows.
//!
//! The counts are those of serial work, of the fixed machine [`Machine::REFERENCE`] (the CPU that valgrind imitates has made-up caches), and of the
//! best SIMD level that valgrind lets through, which has no AVX-512. Everything has run once before it is counted, so nothing is counted that happens
//! once in a process.
//!
//! Each subject has a thread, and callgrind writes a profile for each thread: so a start of valgrind, half a second, serves many, and yet a subject's
//! stack and heap are its own, whoever came before. The thread of a subject starts that of the next and waits for it: one that had ended would give
//! its number to another, and two that run at once would take the caches from each other in no fixed order. What the waiting thread does until it waits
//! is such a case, too: a few lines of code that may come before, between or after the parts. So a thread begins with a pause.

use std::{hint::black_box, thread, time::Duration};

use tensor_kernels::{Exec, Machine};

use super::{Subject, metadata::Operation};
use crate::{
    Failure, Result,
    measure::{
        engine::Budget,
        setting::{self, Setting},
    },
    suite::{self, Case, Setup, with_ready},
};

/// The names of all marks begin with this; no other function's name has it.
pub const MARK: &str = "counted_part_";

/// As large as a main thread's.
const STACK_BYTES: usize = 8 << 20;

/// After so long whoever has started a thread waits for its end, on a busy machine, too.
const SETTLE_TIME: Duration = Duration::from_millis(30);

/// Twice the largest cache that [`counting`](super::counting) has callgrind imitate.
const SWEEP_BYTES: usize = 2 << 20;

type Part<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Bodies differ, and something follows the call, so that the compiler neither merges these functions nor leaves them before they end.
macro_rules! marks {
    ($($mark:ident $name:literal)*) => {$(
        #[inline(never)]
        fn $mark(part: Part<'_>) -> Result<()> {
            let done = part();
            black_box($name);
            done
        }
    )*};
}

marks! {
    counted_part_plan "plan"
    counted_part_run "run"
    counted_part_allocating "allocating"
}

/// How everything that is counted runs.
///
/// # Errors
/// A SIMD level that was asked for and is not there.
pub fn exec() -> Result<Exec> {
    let mut exec = setting::exec()?.serial();
    exec.machine = Machine::REFERENCE;
    Ok(exec)
}

/// Does every part of the subjects twice, the second time between marks. The first subject has the second thread of the process, and so on.
///
/// # Errors
/// Too little memory, no thread.
pub fn perform(subjects: &[&Subject]) -> Result<()> {
    let Some((first, others)) = subjects.split_first() else { return Ok(()) };
    let here = || {
        thread::sleep(SETTLE_TIME);
        parts(first).map_err(|failure| failure.at(format!("case {first}")))?;
        perform(others)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, here);
        let thread =
            thread.map_err(|error| Failure::work(format!("cannot start a thread: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Failure::work("a case panicked")))
    })
}

fn parts(subject: &Subject) -> Result<()> {
    match subject {
        Subject::Work(case) => work(case),
        Subject::Metadata(operation) => metadata(operation),
    }
}

fn work(case: &Case) -> Result<()> {
    let setting = Setting { exec: exec()?, budget: Budget::QUICK, threads: 1 };
    let mut plan = || suite::path(&setting.exec, case).map(|path| _ = black_box(path));
    twice(counted_part_plan, &mut plan)?;
    with_ready(&setting, case, Setup::Minimal, &mut |ready| {
        twice(counted_part_run, &mut || ready.preallocated())?;
        twice(counted_part_allocating, &mut || ready.allocating())
    })
}

fn metadata(operation: &Operation) -> Result<()> {
    twice(counted_part_run, &mut || operation.run())
}

/// Once to have it warm, once to be counted, from caches in which nothing is left of what was before.
fn twice(mark: fn(Part<'_>) -> Result<()>, part: Part<'_>) -> Result<()> {
    sweep();
    part()?;
    mark(part)
}

/// Reads more than the caches hold.
fn sweep() {
    let lines = vec![0u8; SWEEP_BYTES];
    black_box(lines.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>());
}
