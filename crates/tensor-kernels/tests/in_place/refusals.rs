//! What is refused stays as it was.

use proptest::prelude::*;
use tensor_kernels::{Error, Exec, Layout, TensorViewMut, permute_bytes_inplace, permute_inplace};

use crate::{common::strided, runs::moved};

#[test]
fn fault_what_is_refused() {
    let exec = Exec::current().unwrap();
    let mut numbers = [1u32, 2, 3, 4, 5, 6];
    let mut refused = |layout: Layout, dims: &[isize]| {
        let view = TensorViewMut::new(&mut numbers, layout).unwrap();
        let error = permute_inplace(exec, view, dims).unwrap_err();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6], "{error}");
        error
    };
    let whole = Layout::contiguous([2, 3]).unwrap();
    let transposed = refused(whole.t().unwrap(), &[1, 0]);
    assert!(matches!(transposed, Error::NotDense { .. }), "{transposed}");
    let narrow = refused(whole.narrow(1, 0, 2).unwrap(), &[1, 0]);
    assert!(matches!(narrow, Error::NotDense { .. }), "{narrow}");
    assert!(matches!(refused(whole.clone(), &[0]), Error::PermuteLength { .. }));
    assert!(matches!(refused(whole.clone(), &[0, 0]), Error::PermuteTwice { .. }));
    assert!(matches!(refused(whole, &[0, 2]), Error::DimOutOfRange { .. }));
    let before: [u8; 12] = std::array::from_fn(|n| n as u8);
    let mut bytes = before;
    for (size, shape) in [(1, [2, 3]), (4, [2, 3]), (0, [2, 3]), (2, [3, 3])] {
        let error = permute_bytes_inplace(exec, &mut bytes, size, shape, [1, 0]).unwrap_err();
        assert!(matches!(error, Error::ElementCount { .. }), "{error}");
        assert_eq!(bytes, before, "{error}");
    }
    for (dims, name) in [([0, 0], "PermuteTwice"), ([0, 2], "DimOutOfRange")] {
        let error = permute_bytes_inplace(exec, &mut bytes, 2, [2, 3], dims).unwrap_err();
        assert!(format!("{error:?}").starts_with(name), "{error:?}");
        assert_eq!(bytes, before, "{error}");
    }
    let far = isize::MAX;
    let error = permute_bytes_inplace(exec, &mut bytes, 4, [far, 1], [1, 0]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(bytes, before, "{error}");
}

proptest! {
    /// Views of any strides, whose elements lie in other places than those of a contiguous one,
    /// with orders of dimensions that may be none.
    #[test]
    fn any_view_is_permuted_or_stays_as_it_was(
        dims in prop::collection::vec((0..5usize, -3..4isize, any::<bool>()), 0..4),
        order in prop::collection::vec(-4..4isize, 0..4),
        is_order in any::<bool>(),
        lead in 0..3usize,
    ) {
        let shape: Vec<usize> = dims.iter().map(|&(size, ..)| size).collect();
        let contiguous = Layout::contiguous(&shape).unwrap();
        let strides: Vec<isize> = contiguous.strides().iter().zip(&dims)
            .map(|(&stride, &(_, other, is_other))| if is_other { other * stride } else { stride })
            .collect();
        let layout = strided(&shape, &strides, lead);
        // Half of the orders are valid: the dimensions in the order of some numbers.
        let mut dims: Vec<isize> = (0..shape.len() as isize).collect();
        dims.sort_by_key(|&d| order.get(d as usize).copied());
        let order = if is_order { dims } else { order };
        let before: Vec<u16> = (0..2000).collect();
        let mut elements = before.clone();
        let start = layout.offset();
        let is_contiguous = layout.is_contiguous();
        let Ok(view) = TensorViewMut::new(&mut elements, layout) else { return Ok(()) };
        let result = permute_inplace(Exec::current().unwrap(), view, &order[..]);
        let mut expected = before.clone();
        if result.is_ok() {
            prop_assert!(is_contiguous);
            let order: Vec<usize> =
                order.iter().map(|d| d.rem_euclid(shape.len() as isize) as usize).collect();
            let permuted = moved(&before[start..][..contiguous.numel()], &shape, &order);
            expected[start..][..permuted.len()].copy_from_slice(&permuted);
        } else {
            prop_assert!(!is_contiguous || !is_order);
        }
        drop(result);
        prop_assert_eq!(elements, expected);
    }
}
