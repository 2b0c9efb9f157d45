//! The copy ledger: what is recorded, where, by whom, and what is refused.

#![cfg(all(feature = "ledger", feature = "reductions"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use tensor_kernels::{
    AnyTensor, AnyTensorExt, CopyReason, CopyScope, DType, Error, Exec, MemoryFormat, Tensor,
    TensorExt, copy_into, copy_to_layout, count_copies, forbid_copies, ops, rearrange, repeat,
    to_contiguous, to_format, to_vec,
};

/// Scopes over all threads see the copies of other tests, so only one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn matrix() -> Tensor<f32> {
    Tensor::arange(0.0, 12.0, 1.0).unwrap().view([3, 4]).unwrap()
}

#[test]
fn each_operation_that_copies_is_recorded_with_its_reason_and_place() {
    let _alone = alone();
    let t = matrix().t().unwrap();
    let exec = Exec::current().unwrap();
    type Run<'a> = Box<dyn Fn() + 'a>;
    let cases: Vec<(&str, CopyReason, usize, Run<'_>)> = vec![
        (
            "contiguous",
            CopyReason::NotContiguous { dim: 1 },
            48,
            Box::new(|| {
                t.contiguous().unwrap();
            }),
        ),
        (
            "reshape",
            CopyReason::NotViewable { dim: 1 },
            48,
            Box::new(|| {
                t.reshape([12]).unwrap();
            }),
        ),
        (
            "flattened",
            CopyReason::NotViewable { dim: 1 },
            48,
            Box::new(|| {
                t.flattened(0, 1).unwrap();
            }),
        ),
        (
            "reshape_copy",
            CopyReason::Requested,
            48,
            Box::new(|| {
                t.reshape_copy([12]).unwrap();
            }),
        ),
        (
            "deep_clone",
            CopyReason::Requested,
            48,
            Box::new(|| {
                t.deep_clone().unwrap();
            }),
        ),
        (
            "repeat",
            CopyReason::Requested,
            96,
            Box::new(|| {
                t.repeat([2, 1]).unwrap();
            }),
        ),
        (
            "repeat",
            CopyReason::Requested,
            96,
            Box::new(|| {
                repeat::<f32, ()>(exec, &t.read().unwrap().as_view(), &[2, 1]).unwrap();
            }),
        ),
        (
            "to_vec",
            CopyReason::Requested,
            48,
            Box::new(|| {
                t.to_vec().unwrap();
            }),
        ),
        (
            "to_vec",
            CopyReason::Requested,
            48,
            Box::new(|| {
                to_vec(exec, &t).unwrap();
            }),
        ),
        (
            "to_vec",
            CopyReason::Requested,
            48,
            Box::new(|| {
                t.read().unwrap().as_view().to_vec();
            }),
        ),
        (
            "to_vec",
            CopyReason::Requested,
            48,
            Box::new(|| {
                let mut guard = t.write().unwrap();
                guard.as_view_mut().unwrap().try_to_vec().unwrap();
            }),
        ),
        (
            "to_vec",
            CopyReason::Requested,
            48,
            Box::new(|| {
                let guard = t.read().unwrap();
                let flat = rearrange(exec, &guard.as_view(), "h w -> w h", &[]).unwrap();
                flat.to_vec().unwrap();
            }),
        ),
        (
            "into_vec",
            CopyReason::NotContiguous { dim: 1 },
            48,
            Box::new(|| {
                t.clone().into_vec().unwrap();
            }),
        ),
        (
            "into_vec",
            CopyReason::NotOwned,
            24,
            Box::new(|| {
                Tensor::from_vec(vec![1.0f32; 12], [2, 6])
                    .unwrap()
                    .narrow(0, 1, 1)
                    .unwrap()
                    .into_vec()
                    .unwrap();
            }),
        ),
        (
            "repeat_axes",
            CopyReason::NotContiguous { dim: 2 },
            96,
            Box::new(|| {
                t.repeat_axes("a b -> (c a) b", &[("c", 2)]).unwrap();
            }),
        ),
        (
            "to_contiguous",
            CopyReason::NotInFormat(MemoryFormat::ChannelsLast),
            48,
            Box::new(|| {
                let image = matrix().view([1, 3, 2, 2]).unwrap();
                image.to_contiguous(MemoryFormat::ChannelsLast).unwrap();
            }),
        ),
        (
            "to_contiguous",
            CopyReason::NotContiguous { dim: 1 },
            48,
            Box::new(|| {
                to_contiguous::<f32, ()>(exec, &t.read().unwrap().as_view()).unwrap();
            }),
        ),
        (
            "to_format",
            CopyReason::Requested,
            48,
            Box::new(|| {
                let guard = t.read().unwrap();
                to_format::<f32, ()>(exec, &guard.as_view(), MemoryFormat::Contiguous).unwrap();
            }),
        ),
        (
            "copy_to_layout",
            CopyReason::Requested,
            48,
            Box::new(|| {
                let guard = t.read().unwrap();
                copy_to_layout::<f32, ()>(exec, &guard.as_view(), t.layout().clone()).unwrap();
            }),
        ),
        (
            "add",
            CopyReason::OverlapsResult,
            64,
            Box::new(|| {
                let x = Tensor::arange(0.0f32, 16.0, 1.0).unwrap().view([4, 4]).unwrap();
                ops::add_inplace(&exec.copying_first(), &x, x.t().unwrap()).unwrap();
            }),
        ),
    ];
    for (op, reason, bytes, run) in cases {
        let ((), ledger) = count_copies(run);
        let [entry] = ledger.entries() else { panic!("{op}: {ledger}") };
        assert_eq!((entry.op, entry.reason), (op, reason), "{ledger}");
        assert_eq!((ledger.count(), ledger.bytes()), (1, bytes), "{ledger}");
        assert!(entry.location.file().ends_with("ledger.rs"), "{ledger}");
        assert_eq!(entry.thread, thread::current().id());
    }
}

#[test]
fn a_conversion_to_the_dtype_of_the_target_is_recorded() {
    let _alone = alone();
    let (target, from) =
        (Tensor::<f32>::zeros([3, 4]).unwrap(), Tensor::<i64>::zeros([4]).unwrap());
    let (target, from) = (AnyTensor::from(target), AnyTensor::from(from));
    let (result, ledger) = count_copies(|| target.copy_from(&from));
    result.unwrap();
    let [entry] = ledger.entries() else { panic!("{ledger}") };
    let reason = CopyReason::Converted { from: DType::I64, to: DType::F32 };
    assert_eq!((entry.op, entry.reason, entry.bytes), ("copy_from", reason, 16));
}

#[test]
fn a_vector_that_owns_all_of_its_memory_is_handed_over() {
    let _alone = alone();
    let whole = Tensor::from_vec(vec![1.0f32; 12], [3, 4]).unwrap();
    assert_eq!(forbid_copies(|| whole.into_vec()).unwrap().len(), 12);
    let refused = forbid_copies(|| matrix().t().unwrap().to_vec()).unwrap_err();
    assert!(matches!(refused, Error::CopyForbidden { op: "to_vec", .. }), "{refused}");
}

#[test]
fn views_comparisons_and_computed_results_are_not_recorded() {
    let _alone = alone();
    let ((), ledger) = count_copies(|| {
        let x = matrix();
        x.contiguous().unwrap();
        assert!(!x.t().unwrap().unsqueeze(0).unwrap().reshape([4, 3]).unwrap().copied());
        let sum = &x + &x;
        let (from, mut to) = (x.read().unwrap(), sum.write().unwrap());
        copy_into(Exec::current().unwrap(), from.as_view(), &mut to.as_view_mut().unwrap())
            .unwrap();
        let view = from.as_view();
        assert!(view != view.transpose(0, 1).unwrap() && view == view.clone());
    });
    assert_eq!(ledger.to_string(), "no copies");
}

#[test]
fn copies_at_one_place_are_one_entry_and_print_as_a_line() {
    let _alone = alone();
    let t = matrix().t().unwrap();
    let (line, ledger) = count_copies(|| {
        for _ in 0..3 {
            t.contiguous().unwrap();
        }
        line!() - 2
    });
    let [entry] = ledger.entries() else { panic!("{ledger}") };
    assert_eq!((entry.count, entry.bytes, entry.location.line()), (3, 144, line));
    let place = entry.location;
    assert_eq!(
        ledger.to_string(),
        format!(
            "3 copies of 144 bytes in all\n  3 times contiguous at {place}: 144 bytes by {}\n    \
             because the input is not contiguous at dimension 1",
            entry.path
        )
    );
}

#[test]
fn copies_of_other_threads_are_recorded_only_in_scopes_over_all_threads() {
    let _alone = alone();
    let copy_elsewhere = || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| matrix().t().unwrap().contiguous().unwrap());
            }
        });
    };
    let (own, all) = count_copies(|| CopyScope::ThisThread.count(copy_elsewhere).1);
    assert_eq!((own.count(), all.count(), all.bytes()), (0, 4, 4 * 48));
    let threads: std::collections::HashSet<_> = all.entries().iter().map(|e| e.thread).collect();
    assert_eq!(threads.len(), 4);
    CopyScope::ThisThread.forbid(copy_elsewhere);
}

#[test]
fn scopes_nest_and_end_with_their_closures() {
    let _alone = alone();
    let t = matrix().t().unwrap();
    let (inner, outer) = count_copies(|| {
        t.contiguous().unwrap();
        count_copies(|| t.contiguous().unwrap()).1
    });
    assert_eq!((inner.count(), outer.count()), (1, 2));
    assert!(catch_unwind(AssertUnwindSafe(|| forbid_copies(|| panic!("in the closure")))).is_err());
    t.contiguous().unwrap();
}

#[test]
fn a_forbidden_copy_is_an_error_that_names_place_and_reason_and_changes_nothing() {
    let _alone = alone();
    let t = matrix().t().unwrap();
    let place = line!() + 1;
    let refused = forbid_copies(|| t.contiguous()).unwrap_err();
    let file = file!();
    assert_eq!(
        refused.to_string(),
        format!(
            "contiguous at {file}:{place}:38 would copy 48 bytes by transpose: the input is not \
             contiguous at dimension 1 [copies are forbidden here]"
        )
    );
    let x = Tensor::arange(0.0f32, 16.0, 1.0).unwrap().view([4, 4]).unwrap();
    let exec = Exec::current().unwrap().copying_first();
    let refused = forbid_copies(|| ops::add_inplace(&exec, &x, x.t().unwrap())).unwrap_err();
    assert!(matches!(refused, Error::CopyForbidden { op: "add", bytes: 64, .. }), "{refused}");
    assert_eq!(x.get(&[1, 0]).unwrap(), 4.0);
    forbid_copies(|| t.unsqueeze(0)?.reshape([4, 3])).unwrap();
}

#[test]
fn patterns_copy_once_and_at_the_caller() {
    let _alone = alone();
    let x = matrix();
    let (copied, ledger) = count_copies(|| x.rearrange("h w -> (w h)", &[]).unwrap().copied());
    let [entry] = ledger.entries() else { panic!("{ledger}") };
    assert_eq!((entry.op, entry.count, entry.location.line()), ("rearrange", 1, line!() - 2));
    assert!(copied);
    let guard = x.read().unwrap();
    let (exec, view) = (Exec::current().unwrap(), guard.as_view());
    let (_, ledger) = count_copies(|| rearrange(exec, &view, "h w -> (w h)", &[]).unwrap());
    assert_eq!((ledger.count(), ledger.bytes()), (1, 48));
    assert!(ledger.entries()[0].location.file().ends_with("ledger.rs"));
    let (_, ledger) = count_copies(|| x.rearrange("(h p) w -> p h w", &[("p", 3)]).unwrap());
    assert_eq!(ledger.count(), 0);
}

#[test]
fn the_ledger_in_the_readme_is_real() {
    let _alone = alone();
    let images = Tensor::<u8>::zeros([32, 224, 224, 3]).unwrap();
    let (_, copies) =
        count_copies(|| images.permute([0, 3, 1, 2]).unwrap().reshape([32, -1]).unwrap().copied());
    let place = copies.entries()[0].location.to_string();
    let text = copies.to_string().replace(&place, "src/main.rs:5:73");
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&format!("```text\n{text}\n```")), "{text}");
}

#[test]
fn operands_that_an_operation_copies_are_recorded_at_its_call() {
    let _alone = alone();
    let exec = Exec::current().unwrap();
    let t = matrix().t().unwrap();
    let index = Tensor::from_vec(vec![1i64, 0, 1], [3]).unwrap();
    let dim = t.ndim() - 2;
    type Run<'a> = Box<dyn Fn() + 'a>;
    let cases: Vec<(&str, Run<'_>)> = vec![
        ("roll", Box::new(|| drop(t.roll([5], ()).unwrap()))),
        ("roll", Box::new(|| drop(ops::roll(exec, &t, [5], ()).unwrap()))),
        ("repeat_interleave", Box::new(|| drop(t.repeat_interleave(1, None).unwrap()))),
        ("index_select", Box::new(|| drop(ops::index_select(exec, &t, dim, &index).unwrap()))),
    ];
    for (op, run) in cases {
        let ((), ledger) = count_copies(run);
        assert!(!ledger.entries().is_empty(), "{op}");
        for entry in ledger.entries() {
            assert_eq!(entry.op, op, "{ledger}");
            assert!(entry.location.file().ends_with("ledger.rs"), "{ledger}");
        }
        assert_eq!(ledger.entries()[0].reason, CopyReason::NotContiguous { dim: 1 }, "{ledger}");
    }
    let flat = matrix().view([-1]).unwrap();
    let (_, ledger) = count_copies(|| flat.roll([5], ()).unwrap());
    assert_eq!(ledger.count(), 0);
}
