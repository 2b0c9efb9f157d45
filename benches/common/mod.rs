//! What the criterion benchmarks share: the table of cases, one thread, and a group per case with
//! the variants that are compared.

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use tensor_bench::{
    Failure,
    measure::{
        copy_bandwidth::PlainCopy,
        engine::Budget,
        setting::{self, Setting},
    },
    suite::Case,
    track::{Subject, table},
};

/// About 580 functions take 0.6 seconds each, and criterion another second to analyse and plot:
/// a quarter of an hour for all benchmarks.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(450))
        .configure_from_args()
}

/// Serial execution.
pub(crate) fn setting() -> Setting {
    let exec = setting::exec().expect("TENSOR_SIMD names a level of this CPU").serial();
    Setting { exec, budget: Budget::QUICK, threads: 1 }
}

/// The cases of the table for which `chosen` is true.
#[allow(dead_code, reason = "not every benchmark has cases")]
pub(crate) fn cases(chosen: fn(&Case) -> bool) -> Vec<Case> {
    let subjects = table::subjects().expect("the table of cases is right");
    let cases = subjects.into_iter().filter_map(|subject| match subject {
        Subject::Work(case) => Some(case),
        Subject::Metadata(_) | Subject::Reading(_) => None,
    });
    cases.filter(chosen).collect()
}

/// A group for one case.
#[allow(dead_code, reason = "not every benchmark has cases")]
pub(crate) fn group<'a>(
    criterion: &'a mut Criterion,
    kind: &str,
    case: &Case,
) -> BenchmarkGroup<'a, WallTime> {
    criterion.benchmark_group(format!("{kind} {case}"))
}

/// Times a variant that moves `bytes` bytes; variants of one group may differ in that.
#[allow(dead_code, reason = "not every benchmark has cases")]
pub(crate) fn bench_bytes(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    bytes: u64,
    work: impl FnMut() -> Result<(), Failure>,
) {
    group.throughput(Throughput::Bytes(bytes));
    bench(group, name, work);
}

/// Times a variant.
pub(crate) fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut work: impl FnMut() -> Result<(), Failure>,
) {
    group.bench_function(name, |bencher| bencher.iter(|| work().expect("it did before")));
}

/// Times plain `memcpy` of the same bytes; `throughput` counts bytes as that of the other variants
/// does.
#[allow(dead_code, reason = "not every benchmark has cases")]
pub(crate) fn bench_memcpy(
    group: &mut BenchmarkGroup<'_, WallTime>,
    bytes: u64,
    throughput: u64,
) -> Result<(), Failure> {
    let plain_copy = PlainCopy::new(bytes, 1)?;
    let mut memory = plain_copy.open()?;
    let mut plain = memory.views()?;
    let [mut memcpy, _] = plain.contenders()?;
    bench_bytes(group, "memcpy of the same bytes", throughput, || memcpy.once());
    Ok(())
}
