//! Elementwise operations: on the views, on contiguous operands, on operands that are made
//! contiguous first, and plain `memcpy` of the bytes of the result, or of a reduction's operand.
//! The difference between the first two is the cost of the layout; the third is the alternative,
//! copy, then compute.

mod common;

use common::{bench_bytes, bench_memcpy, cases, criterion, group, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{
    Failure,
    measure::setting::Setting,
    suite::{Case, Op, Setup, with_ready},
};

fn operations(criterion: &mut Criterion) {
    let setting = setting();
    for case in cases(|case| case.op != Op::Copy) {
        operation(criterion, &setting, &case)
            .unwrap_or_else(|failure| panic!("{}", failure.at(format!("case {case}"))));
    }
}

fn operation(criterion: &mut Criterion, setting: &Setting, case: &Case) -> Result<(), Failure> {
    let mut group = group(criterion, case.op.name(), case);
    let [bytes, dense, copied] =
        [case.bytes(), case.contiguous_bytes(), case.copy_then_compute_bytes()];
    with_ready(setting, case, Setup::Verify, &mut |ready| {
        bench_bytes(&mut group, "view", bytes, || ready.preallocated());
        bench_bytes(&mut group, "contiguous operands", dense, || {
            ready.contiguous().unwrap_or(Ok(()))
        });
        bench_bytes(&mut group, "copy, then compute", copied, || ready.copy_then_compute());
        Ok(())
    })?;
    bench_memcpy(&mut group, case.full_bytes(), 2 * case.full_bytes())?;
    group.finish();
    Ok(())
}

criterion_group! { name = benches; config = criterion(); targets = operations }
criterion_main!(benches);
