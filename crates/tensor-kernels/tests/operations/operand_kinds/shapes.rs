//! The same elements under another layout: views where possible, and copies that are said to be.

use tensor_kernels::{
    CopyReason, CopyScope, Error, Layout, MemoryFormat, ReshapedView, Result, Tensor, TensorExt,
};

use super::kinds::tensor;

const NUMBERS: [i32; 6] = [5, 3, 8, 1, 9, 2];

/// Other tests copy at the same time, on other threads.
const COPIES: CopyScope = CopyScope::ThisThread;

#[test]
fn views_have_the_methods_of_tensors() {
    each_operand!(NUMBERS, |x| x.contiguous());
    each_operand!(NUMBERS, |x| x.to_contiguous(MemoryFormat::Contiguous));
    each_operand!(NUMBERS, |x| x.contiguous_canonical());
    each_operand!(NUMBERS, |x| x.deep_clone());
    each_operand!(NUMBERS, |x| x.reshape([3, 2]));
    each_operand!(NUMBERS, |x| x.reshape_copy([-1]));
    each_operand!(NUMBERS, |x| x.flattened(0, -1));
    each_operand!(NUMBERS, |x| x.rearrange("a b -> b a", &[]));
    each_operand!(NUMBERS, |x| x.rearrange("a b -> (b a)", &[]));
    each_operand!(NUMBERS, |x| x.repeat_axes("a b -> a b 2", &[]));
    let x = &mut tensor(NUMBERS);
    let like = |zeros: Result<Tensor<i32>>, ones: Result<Tensor<i32>>, sevens: Result<_>| {
        [zeros, ones, sevens].map(|like| like.unwrap().to_vec().unwrap())
    };
    let expected = [[0; 6], [1; 6], [7; 6]];
    assert_eq!(like(x.zeros_like(), x.ones_like(), x.full_like(7)), expected);
    let mut guard = x.write().unwrap();
    let view = guard.as_view_mut().unwrap();
    assert_eq!(like(view.zeros_like(), view.ones_like(), view.full_like(7)), expected);
    let view = view.as_view();
    assert_eq!(like(view.zeros_like(), view.ones_like(), view.full_like(7)), expected);
}

/// What a list of any integers says, of layouts as of tensors.
#[test]
fn layouts_take_sizes_and_dimensions_of_any_integer() -> Result<()> {
    let (rows, columns) = (2_usize, 3_usize);
    let matrix = Layout::contiguous([rows, columns])?;
    assert_eq!(Layout::contiguous(vec![2_i64, 3])?, matrix);
    assert_eq!(Layout::new([2_u8, 3], [3, 1], 0)?, matrix);
    let turned = matrix.permute([1_usize, 0])?;
    assert_eq!((turned.clone(), turned.t()?), (matrix.transpose(0_u32, -1)?, matrix.clone()));
    assert_eq!(matrix.view([rows * columns])?, matrix.view([-1])?);
    assert_eq!(matrix.expand([4, -1, 3])?.broadcast_to([4_usize, 2, 3])?.strides(), [0, 3, 1]);
    assert_eq!(matrix.narrow(1_usize, columns - 2, 2)?.select(0_u8, 1)?.offset(), 4);
    let refused = Layout::contiguous([2, -3]).unwrap_err().to_string();
    assert!(refused.contains("-3"), "{refused}");
    assert!(matches!(Layout::contiguous([u64::MAX]), Err(Error::TooLarge { .. })));
    assert!(matches!(matrix.broadcast_to([usize::MAX, 2, 3]), Err(Error::TooLarge { .. })));
    Ok(())
}

#[test]
fn contiguous_results_of_views_own_their_memory_and_the_ledger_says_so() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    let view = guard.as_view();
    let (contiguous, ledger) = COPIES.count(|| view.contiguous().unwrap());
    assert!(!contiguous.same_storage(&x));
    let [entry] = ledger.entries() else { panic!("{ledger}") };
    assert_eq!((entry.reason, entry.bytes), (CopyReason::OfView, 24));
    assert!(entry.location.file().ends_with("shapes.rs"), "{}", entry.location);
    let (_, ledger) = COPIES.count(|| (x.contiguous().unwrap(), x.reshape([3, 2]).unwrap()));
    assert_eq!(ledger.count(), 0);
}

#[test]
fn views_are_reshaped_as_views_where_strides_can_express_it() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    let (view, columns) = (guard.as_view(), guard.as_view().t().unwrap());
    let (results, ledger) = COPIES.count(|| {
        [
            view.reshape([3, 2]).unwrap(),
            view.flattened(0, 1).unwrap(),
            view.rearrange("a b -> b a", &[]).unwrap(),
            columns.rearrange("a b -> (b a)", &[]).unwrap(),
            view.repeat_axes("a b -> a 2 b", &[]).unwrap(),
        ]
    });
    assert_eq!(ledger.to_string(), "no copies");
    for result in &results {
        let ReshapedView::View(part) = result else { panic!("{result:?}") };
        assert!(!result.copied());
        assert_eq!(part.base_ptr(), view.base_ptr());
    }
    let strides: Vec<_> = results.iter().map(ReshapedView::strides).collect();
    assert_eq!(strides, [&[2, 1][..], &[1], &[1, 3], &[1], &[3, 0, 1]]);
    // The results outlive the handle of the view that they are made of.
    let kept = { view.clone().rearrange("a b -> b a", &[]).unwrap() };
    assert_eq!(kept.to_vec().unwrap(), [5, 1, 3, 9, 8, 2]);
    drop((results, kept));
    drop(guard);
    let guard = &mut x.write().unwrap();
    let mutable = guard.as_view_mut().unwrap();
    assert!(!mutable.rearrange("a b -> b a", &[]).unwrap().copied());
    assert!(!mutable.reshape([6]).unwrap().copied());
}

#[test]
fn views_are_copied_once_where_strides_cannot_express_the_result() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    let columns = guard.as_view().t().unwrap();
    let viewable = CopyReason::NotViewable { dim: 1 };
    let contiguous = CopyReason::NotContiguous { dim: 1 };
    type Run<'r> = Box<dyn Fn() -> ReshapedView<'r, i32> + 'r>;
    let cases: [(&str, CopyReason, Run<'_>); 4] = [
        ("reshape", viewable, Box::new(|| columns.reshape([6]).unwrap())),
        ("flattened", viewable, Box::new(|| columns.flattened(0, 1).unwrap())),
        ("rearrange", contiguous, Box::new(|| columns.rearrange("a b -> (a b)", &[]).unwrap())),
        ("repeat_axes", contiguous, Box::new(|| columns.repeat_axes("a b -> (a b)", &[]).unwrap())),
    ];
    for (op, reason, run) in cases {
        let (result, ledger) = COPIES.count(run);
        assert!(result.copied());
        assert_eq!(result.to_vec().unwrap(), [5, 1, 3, 9, 8, 2]);
        let [entry] = ledger.entries() else { panic!("{ledger}") };
        assert_eq!((entry.op, entry.reason, entry.bytes), (op, reason, 24));
        assert!(entry.location.file().ends_with("shapes.rs"), "{}", entry.location);
        // A copy is a tensor: what is made of it shares its storage.
        let (again, ledger) = COPIES.count(|| result.reshape([3, 2]).unwrap());
        let (ReshapedView::Copy(first), ReshapedView::Copy(second)) = (&result, &again) else {
            panic!("{again:?}")
        };
        assert!(first.same_storage(second) && ledger.count() == 0);
        assert!(result.contiguous().unwrap().same_storage(first));
        assert_eq!(result.as_tensor().map(Tensor::numel), Some(6));
    }
}

/// Whatever they are, they have the methods of tensors and views.
#[test]
fn reshaped_views_have_the_methods_of_views() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    for columns in [
        guard.as_view().rearrange("a b -> b a", &[]).unwrap(),
        guard
            .as_view()
            .t()
            .unwrap()
            .rearrange("b a -> (b a)", &[])
            .unwrap()
            .reshape([3, 2])
            .unwrap(),
    ] {
        assert_eq!(columns.shape(), [3, 2]);
        assert_eq!(columns.sum(0).unwrap().to_vec().unwrap(), [16i64, 12]);
        assert_eq!(columns.add(&columns).unwrap().to_vec().unwrap(), [10, 2, 6, 18, 16, 4]);
        let rows = columns.rearrange("a b -> b a", &[]).unwrap();
        assert_eq!(rows.to_vec().unwrap(), NUMBERS);
        let sums = columns.reduce_with("a b -> b", &[], |x, over| x.sum(over)).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [16, 12]);
    }
}

#[test]
fn fault_refusals_of_views_come_before_the_copy() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    let view = guard.as_view();
    let (_, ledger) = COPIES.count(|| {
        let of_view = view.reshape([4, 2]).unwrap_err();
        assert_eq!(of_view, x.reshape([4, 2]).unwrap_err());
        assert_eq!(view.flattened(1, 0).unwrap_err(), x.flattened(1, 0).unwrap_err());
        assert_eq!(view.reshape_copy([5]).unwrap_err(), x.reshape_copy([5]).unwrap_err());
    });
    assert_eq!(ledger.count(), 0);
}
