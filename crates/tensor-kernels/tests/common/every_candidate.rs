//! Every plan that is considered for a copy, against the oracle.

use tensor_kernels::{CopyPlan, Element, Exec, Layout, TensorView, TensorViewMut};

use super::{offsets_of, values_of};

/// Runs every candidate of the copy of `source`, under layout `from`, into new memory. The result's
/// layout is `to`, moved so that its offset 0 lies at a cache line. `fill` is what the memory holds
/// before, and in the gaps of the result afterwards.
pub(crate) fn check_candidates<T: Element + PartialEq>(
    exec: &Exec,
    (source, from): (&[T], &Layout),
    to: &Layout,
    fill: T,
) {
    let extent = super::extent(to);
    let mut memory = vec![fill; extent + 2 * 64 / size_of::<T>()];
    let line = memory.as_ptr().align_offset(64);
    let to = Layout::new(to.shape(), to.strides(), line + to.offset()).unwrap();
    let mut expected = memory.clone();
    for (offset, value) in offsets_of(&to).into_iter().zip(values_of(source, from)) {
        expected[offset] = value;
    }
    let view = TensorView::new(source, from.clone()).unwrap();
    let candidates = CopyPlan::candidates(from, &to, size_of::<T>(), &exec.machine).unwrap();
    for plan in candidates.into_iter().map(|candidate| candidate.plan) {
        memory.fill(fill);
        let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
        plan.run(exec, &view, &mut into).unwrap();
        assert!(memory == expected, "{}, {plan}, into {to:?}", exec.simd());
    }
}
