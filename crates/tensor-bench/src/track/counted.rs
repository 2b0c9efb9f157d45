//! What runs under valgrind: subjects one after the other. Each part of a subject runs inside a
//! function that callgrind counts, a mark.
//!
//! Work is serial, planned for [`Machine::REFERENCE`] because the CPU that valgrind simulates has
//! other caches, and at the best SIMD level that valgrind supports, which excludes AVX-512. Every
//! part runs once before it is counted, so one-time initialisation is not counted.
//!
//! Each subject has its own thread, and callgrind writes a profile per thread. So one start of
//! valgrind, half a second, serves many subjects, and each has its own stack and heap. The thread
//! of a subject starts that of the next one and waits for it: if it ended instead, its thread
//! number would be reused, and two threads at once would share the caches in no fixed order. Each
//! thread begins with a pause, so that the code with which the other thread begins to wait has run
//! before.

use std::{hint::black_box, thread, time::Duration};

use tensor_kernels::{Exec, Machine};

use super::Subject;
use crate::{
    Failure, Result,
    measure::{
        engine::Budget,
        setting::{self, Setting},
    },
    suite::{self, Case, Setup, with_ready},
};

/// The prefix of the names of all marks; no other function has it.
pub const MARK: &str = "counted_part_";

/// The usual stack size of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// After this time the starting thread waits for the end of the new one, on a busy machine too.
const SETTLE_TIME: Duration = Duration::from_millis(30);

/// Twice the largest cache that [`counting`](super::counting) lets callgrind simulate.
const SWEEP_BYTES: usize = 2 << 20;

type Part<'a> = &'a mut dyn FnMut() -> Result<()>;

/// The bodies differ, so that the compiler does not merge them, and code follows the call, so that
/// it is no tail call.
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

/// The setting of everything that is counted.
///
/// # Errors
/// A SIMD level in `TENSOR_SIMD` that is not available.
pub fn exec() -> Result<Exec> {
    let mut exec = setting::exec()?.serial();
    exec.machine = Machine::REFERENCE;
    Ok(exec)
}

/// Runs every part of the subjects twice, the second time inside its mark. The first subject has
/// the second thread of the process, and so on.
///
/// # Errors
/// Too little memory, a thread that cannot start.
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
        Subject::Metadata(operation) => twice(counted_part_run, &mut || operation.run()),
        Subject::Reading(reading) => twice(counted_part_run, &mut || reading.run()),
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

/// Runs a part once to warm up and once counted. The caches are swept first, so they do not depend
/// on earlier parts.
fn twice(mark: fn(Part<'_>) -> Result<()>, part: Part<'_>) -> Result<()> {
    sweep();
    part()?;
    mark(part)
}

/// Evicts the caches by reading more than they hold.
fn sweep() {
    let lines = vec![0u8; SWEEP_BYTES];
    black_box(lines.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>());
}
