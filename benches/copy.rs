//! Copies to row-major order: from the view with a preallocated result, `contiguous()` with an
//! allocated one, from a contiguous source, and plain `memcpy` of the same bytes. The difference
//! between the first and the third is the cost of the layout. Then the methods that read every
//! element of a tensor.

mod common;

use common::{bench_bytes, bench_memcpy, cases, criterion, group, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{
    Failure,
    cases::operand::Operand,
    measure::setting::Setting,
    suite::{Case, Op, Setup, with_ready},
    track::reading,
};

fn copies(criterion: &mut Criterion) {
    let setting = setting();
    for case in cases(|case| case.op == Op::Copy) {
        copy(criterion, &setting, &case)
            .unwrap_or_else(|failure| panic!("{}", failure.at(format!("case {case}"))));
    }
}

fn copy(criterion: &mut Criterion, setting: &Setting, case: &Case) -> Result<(), Failure> {
    let mut group = group(criterion, "copy", case);
    let bytes = case.bytes();
    with_ready(setting, case, Setup::Verify, &mut |ready| {
        bench_bytes(&mut group, "preallocated", bytes, || ready.preallocated());
        bench_bytes(&mut group, "allocating, contiguous()", bytes, || ready.allocating());
        Ok(())
    })?;
    let dense = case.operands.iter().map(Operand::to_contiguous).collect::<Result<_, _>>()?;
    let dense = Case { operands: dense, ..case.clone() };
    with_ready(setting, &dense, Setup::Verify, &mut |ready| {
        bench_bytes(&mut group, "contiguous source", bytes, || ready.preallocated());
        Ok(())
    })?;
    bench_memcpy(&mut group, case.result_bytes(), bytes)?;
    group.finish();
    Ok(())
}

/// Methods that read all elements: to a vector, in a comparison, by an iterator.
fn readings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reading");
    for reading in reading::readings().expect("there is memory for 96 KiB") {
        bench_bytes(&mut group, reading.name, reading.bytes(), || reading.run());
    }
    group.finish();
}

criterion_group! { name = benches; config = criterion(); targets = copies, readings }
criterion_main!(benches);
