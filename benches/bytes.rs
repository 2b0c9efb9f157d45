//! Copies by bytes, for callers who know the size of an item at run time only: beside the copy of a
//! type, planned in each call and by a plan that is kept. The three should take the same time.

mod common;

use common::{bench_bytes, cases, criterion, group, setting};
use criterion::{Criterion, criterion_group, criterion_main};
use tensor_bench::{
    Failure,
    measure::setting::Setting,
    suite::{Case, Op, Setup, with_ready},
};
use tensor_kernels::{ByteView, ByteViewMut, CopyPlan, Layout, Tensor, copy_bytes};

fn copies(criterion: &mut Criterion) {
    let setting = setting();
    for case in cases(|case| case.op == Op::Copy) {
        copy(criterion, &setting, &case)
            .unwrap_or_else(|failure| panic!("{}", failure.at(format!("case {case}"))));
    }
}

fn copy(criterion: &mut Criterion, setting: &Setting, case: &Case) -> Result<(), Failure> {
    let mut group = group(criterion, "bytes", case);
    let (moved, exec) = (case.bytes(), &setting.exec);
    with_ready(setting, case, Setup::Verify, &mut |ready| {
        bench_bytes(&mut group, "typed", moved, || ready.preallocated());
        Ok(())
    })?;
    let [operand] = &case.operands[..] else {
        return Err(Failure::work("a copy has one operand"));
    };
    let item_size = operand.dtype.size();
    // In memory of tensors, so that it is aligned as that of the typed copy. Memory that was never
    // written is one page of zeros, which stays in the cache.
    let [source, result] = [operand.base_bytes(), operand.result_bytes()]
        .map(|bytes| Tensor::<u8>::full([bytes as usize], 1));
    let (source, result) = (source?, result?);
    let (source, mut result) = (source.read()?, result.write()?);
    let (source, mut result) = (source.as_view(), result.as_view_mut()?);
    let from = source.as_slice().expect("it is contiguous");
    let to = result.as_slice_mut().expect("it is contiguous");
    let from = ByteView::new(from, item_size, operand.layout.clone())?;
    let mut to = ByteViewMut::new(to, item_size, Layout::contiguous(operand.layout.shape())?)?;
    let plan = CopyPlan::for_bytes(&from, &to, &exec.machine)?;
    bench_bytes(&mut group, "by bytes", moved, || Ok(copy_bytes(exec, &from, &mut to)?));
    bench_bytes(&mut group, "by bytes, a kept plan", moved, || {
        Ok(plan.run_bytes(exec, &from, &mut to)?)
    });
    group.finish();
    Ok(())
}

criterion_group! { name = benches; config = criterion(); targets = copies }
criterion_main!(benches);
