//! `CopyPlan::explain`: loops, candidates with the terms of their costs, and the text, on a fixed
//! machine.

use proptest::prelude::*;
use tensor_kernels::{
    CopyExplanation, CopyPlan, CostTerm, Exec, Layout, Loop, Machine, Par, Result, Tensor,
};

/// The reference machine, on one thread: the same everywhere.
fn reference() -> Exec {
    let mut exec = *Exec::current().expect("kernels");
    (exec.machine, exec.par) = (Machine::REFERENCE, Par::Serial);
    exec
}

fn explained(from: &Layout, width: usize) -> CopyExplanation {
    let to = Layout::contiguous(from.shape()).expect("a shape of these tests");
    let exec = reference();
    CopyPlan::new(from, &to, width, &exec.machine).expect("a plan").explain(&exec)
}

fn permuted(base: &[usize], dims: &[isize]) -> Layout {
    Layout::contiguous(base).and_then(|base| base.permute(dims)).expect("a permutation")
}

/// Do lines end before column 100, do costs add up, and are candidates those of `candidates()`?
fn check(from: &Layout, width: usize) {
    let to = Layout::contiguous(from.shape()).unwrap();
    let explained = explained(from, width);
    let text = explained.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(explained.rank(), Some(0), "{text}");
    let expected = CopyPlan::candidates(from, &to, width, &Machine::REFERENCE).unwrap();
    assert_eq!(explained.candidates().len(), expected.len());
    for (candidate, expected) in explained.candidates().iter().zip(&expected) {
        assert_eq!(candidate.plan(), &expected.plan);
        assert_eq!(candidate.predicted_ns(), expected.predicted_ns);
        let sum: f64 = candidate.costs().map(|(_, ns)| ns).sum();
        let difference = (sum - candidate.predicted_ns()).abs();
        assert!(difference <= 1e-9 * sum, "{text}");
        assert!(candidate.costs().all(|(_, ns)| ns >= 0.0), "{text}");
        assert!(text.contains(candidate.plan().path()), "{text}");
    }
    let least = explained.bytes() as f64 / 64.0;
    assert!(explained.cache_lines()[0] >= 0.99 * least, "{text}");
    assert_eq!(explained.dims().iter().map(|l| l.len).product::<usize>(), from.numel());
    assert_eq!(explained.loops().iter().map(|l| l.len).product::<usize>(), from.numel());
}

#[test]
fn a_small_copy_is_explained_in_full() {
    let text = explained(&permuted(&[64, 9, 40], &[2, 0, 1]), 4).to_string();
    let expected = "\
copy         23040 elements of 4 bytes, 92160 bytes
dims         40 x [576, 1], 64 x [9, 360], 9 x [1, 40] (length x [stride of the result, of the
             source])
fused loops  40 x [576, 1], 576 x [1, 40]
";
    assert!(text.starts_with(expected), "{text}");
    let titles = ["plan", "blocks", "stores", "threads", "cache lines", "candidates", "why"];
    for title in titles {
        assert!(text.lines().any(|line| line.starts_with(title)), "{title}: {text}");
    }
    assert!(text.contains("one task; another pays from 131072 bytes on"), "{text}");
    assert!(text.contains("candidates   *   1.3 us  transpose of "), "{text}");
    assert!(text.contains("why          than the next one it takes "), "{text}");
}

#[test]
fn dimensions_become_fused_loops() {
    let explained = explained(&permuted(&[8, 3, 5], &[2, 0, 1]), 4);
    let loops = |of: &[(usize, [isize; 2])]| -> Vec<Loop<2>> {
        of.iter().map(|&(len, strides)| Loop { len, strides }).collect()
    };
    assert_eq!(explained.dims(), loops(&[(5, [24, 1]), (8, [3, 15]), (3, [1, 5])]));
    assert_eq!(explained.loops(), loops(&[(5, [24, 1]), (24, [1, 5])]));
    assert_eq!(explained.chosen().plan(), explained.plan());
}

#[test]
fn what_is_far_larger_than_caches_is_streamed_and_touches_each_line_once() {
    let explained = explained(&permuted(&[4096, 4096], &[1, 0]), 4);
    assert_eq!(explained.stores(), "non-temporal, past the caches");
    assert_eq!(explained.cache_lines(), [f64::from(1u32 << 20); 2]);
    assert!(explained.to_string().contains("streamed without a comparison"), "{explained}");
    let costs: Vec<_> = explained.chosen().costs().collect();
    let of = |wanted: CostTerm| costs.iter().find(|(term, _)| *term == wanted).unwrap().1;
    assert!(of(CostTerm::Memory) > 0.0 && of(CostTerm::NonTemporal) > 0.0);
    assert_eq!(of(CostTerm::PartialLines), 0.0);
}

#[cfg(feature = "rayon")]
#[test]
fn threads_and_other_machines_are_named() {
    let from = permuted(&[2000, 1000], &[1, 0]);
    let to = Layout::contiguous([1000, 2000]).unwrap();
    let mut exec = reference();
    let plan = CopyPlan::new(&from, &to, 4, &exec.machine).unwrap();
    assert_eq!(plan.explain(&exec).tasks(), 1);
    exec.par = Par::Auto;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let explained = plan.explain(&exec);
        assert_eq!(explained.tasks(), 8);
        assert!(explained.to_string().contains("8 tasks for 2 threads"), "{explained}");
    });
    exec.machine = Machine { l1: 1 << 40, l2: 1 << 40, stream: usize::MAX, ..exec.machine };
    let elsewhere = plan.explain(&exec);
    assert_eq!(elsewhere.rank(), None);
    assert!(elsewhere.to_string().contains("it is not a candidate on this machine"));
}

#[test]
fn a_plan_chosen_by_measuring_is_compared_with_the_predicted_one() {
    let from = permuted(&[16, 15, 14, 13], &[3, 2, 1, 0]);
    let to = Layout::contiguous(from.shape()).unwrap();
    let exec = reference();
    let candidates = CopyPlan::candidates(&from, &to, 4, &exec.machine).unwrap();
    let last = candidates.last().unwrap().plan.explain(&exec);
    assert_eq!(last.rank(), Some(candidates.len() - 1));
    assert!(last.to_string().contains("chosen by measuring, not by prediction"), "{last}");
    assert!(last.to_string().contains(" more for "), "{last}");
}

#[test]
fn fault_extreme_layouts_are_explained() -> Result<()> {
    let one = Tensor::full((), 1u8)?;
    let shape: Vec<usize> = (0..64).map(|dim| if dim % 10 == 0 { 2 } else { 1 }).collect();
    let reversed: Vec<isize> = (0..64).rev().collect();
    for from in [
        Layout::SCALAR,
        Layout::contiguous([3, 0, 2])?.permute([2, 0, 1])?,
        permuted(&shape, &reversed),
        one.layout().expand([1_isize << 58])?,
        one.layout().expand([1 << 29, 1 << 29])?,
    ] {
        for width in [0, 1, 4, 12, 16] {
            check(&from, width);
        }
    }
    // No memory holds the elements of this destination, which all share one.
    let repeated = one.layout().expand([1_isize << 62])?;
    for width in [1, 8, 16] {
        let exec = reference();
        let plan = CopyPlan::new(&repeated, &repeated, width, &exec.machine)?;
        let mut parallel = exec;
        parallel.par = Par::Auto;
        assert!(plan.explain(&parallel).to_string().lines().count() > 8);
    }
    Ok(())
}

/// The output that README and the page for PyTorch users show is that of their examples.
#[test]
fn refusals_in_the_documentation_are_real_output() -> Result<()> {
    let readme = include_str!("../../../README.md");
    let heads = Tensor::<f32>::zeros([8, 512, 16, 64])?.transpose(1, 2)?;
    let why = heads.why_not_view([8, 16, -1])?.expect("rows of a head are not adjacent");
    assert!(readme.contains(&format!("```text\n{why}\n```")), "{why}");

    let page = include_str!("../../../docs/pytorch.md");
    let transposed = Tensor::arange(0i64, 12, 1)?.view([3, 4])?.t()?;
    let why = transposed.why_not_view([2, 6])?.expect("6 spans both dimensions");
    assert!(page.contains(&format!("\n\n{why}\n\n")), "{why}");
    let refused = transposed.view([2, 6]).expect_err("the same").to_string();
    assert!(page.replace('\n', " ").contains(&refused), "{refused}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn explanations_of_random_layouts_add_up(
        dims in prop::collection::vec((1usize..40, any::<u32>(), 0u8..6), 1..5),
        width in prop::sample::select(vec![1usize, 2, 4, 8, 12, 16]),
    ) {
        let mut order: Vec<isize> = (0..dims.len() as isize).collect();
        order.sort_by_key(|&d| dims[d as usize].1);
        let base: Vec<usize> = dims.iter().map(|dim| dim.0).collect();
        let flipped: Vec<isize> =
            (0..dims.len()).filter(|&d| dims[d].2 == 0).map(|d| d as isize).collect();
        check(&permuted(&base, &order).flip(&flipped).unwrap(), width);
    }
}
