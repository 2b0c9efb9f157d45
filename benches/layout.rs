//! What moves no elements: operations on layouts, and planning, which is most of the time of small
//! cases.

mod common;

use common::{bench, criterion, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{suite::path, track::metadata};

fn operations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("layout");
    for operation in metadata::operations().expect("the table of operations is right") {
        bench(&mut group, operation.name, || operation.run());
    }
    group.finish();
}

fn planning(criterion: &mut Criterion) {
    let setting = setting();
    let mut group = criterion.benchmark_group("plan");
    for case in common::cases(|case| case.group == "small") {
        bench(&mut group, &case.id, || path(&setting.exec, &case).map(drop));
    }
    group.finish();
}

criterion_group! { name = benches; config = criterion(); targets = operations, planning }
criterion_main!(benches);
