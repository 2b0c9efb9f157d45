//! The same elements under another layout: tensors share their storage, views are copied.

use tensor_kernels::{CopyReason, CopyScope, Error, Layout, MemoryFormat, Result, TensorExt};

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
    each_operand!(NUMBERS, |x| x.zeros_like());
    each_operand!(NUMBERS, |x| x.ones_like());
    assert_eq!(each_operand!(NUMBERS, |x| x.full_like(7)).1, [7; 6]);
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
fn results_of_views_own_their_memory_and_the_ledger_says_so() {
    let x = tensor(NUMBERS);
    let guard = x.read().unwrap();
    let view = guard.as_view();
    let (results, ledger) = COPIES.count(|| {
        let contiguous = view.contiguous().unwrap();
        let reshaped = view.reshape([3, 2]).unwrap();
        let transposed = view.rearrange("a b -> b a", &[]).unwrap();
        assert!(reshaped.copied() && transposed.copied());
        [contiguous, reshaped.into_tensor(), transposed.into_tensor()]
    });
    assert!(results.iter().all(|result| !result.same_storage(&x)));
    assert_eq!(ledger.count(), 3);
    for entry in ledger.entries() {
        assert_eq!((entry.reason, entry.bytes), (CopyReason::OfView, 24));
        assert!(entry.location.file().ends_with("shapes.rs"), "{}", entry.location);
    }
    let (_, ledger) = COPIES.count(|| (x.contiguous().unwrap(), x.reshape([3, 2]).unwrap()));
    assert_eq!(ledger.count(), 0);
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
