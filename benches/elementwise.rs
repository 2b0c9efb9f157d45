//! Elementwise operations: on strided operands, on contiguous ones, on operands that are made contiguous first, and plain `memcpy` of the result's
//! bytes. What lies between the first two is what the layout costs; the third is what it costs to get rid of the layout.

mod common;

use common::{bench, bench_roof, cases, criterion, group, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{
    Failure,
    roof::Roof,
    setting::Setting,
    suite::{Care, Case, Op, with_ready},
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
    with_ready(setting, case, Care::Checked, &mut |ready| {
        bench(&mut group, "strided", || ready.strided());
        bench(&mut group, "contiguous", || ready.contiguous().unwrap_or(Ok(())));
        bench(&mut group, "contiguous() then compute", || ready.copied_first());
        Ok(())
    })?;
    let roof = Roof::new(case.result_bytes(), 1)?;
    let [memcpy, _] = roof.contenders();
    bench_roof(&mut group, "memcpy", memcpy);
    group.finish();
    Ok(())
}

criterion_group! { name = benches; config = criterion(); targets = operations }
criterion_main!(benches);
