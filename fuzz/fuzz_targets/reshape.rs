//! `view`, `flatten` and `reshape` of any small view: a view exists exactly if strides can express
//! it; otherwise `reshape` copies and keeps the logical order.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};
use tensor_fuzz::{Call, Naive, draw};
use tensor_kernels::{Layout, Tensor, TensorExt};

fuzz_target!(|bytes: &[u8]| {
    let _ = reshape(&mut Unstructured::new(bytes));
});

fn reshape(u: &mut Unstructured<'_>) -> Result<()> {
    let Some((layout, naive)) = view(u)? else { return Ok(()) };
    let elements = naive.offsets.iter().max().map_or(0, |&highest| highest + 1);
    let values: Vec<u32> = (0..elements as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    let expected: Vec<u32> = naive.offsets.iter().map(|&offset| values[offset as usize]).collect();
    let tensor =
        Tensor::from_vec_with_layout(values, layout).expect("a storage that is long enough");
    for _ in 0..4 {
        check(&tensor, &naive, &expected, &draw::sizes(u, expected.len())?);
    }
    check_flatten(&tensor, &naive, &expected, draw::dim(u, naive.rank())?);
    Ok(())
}

/// A layout after a few calls.
fn view(u: &mut Unstructured<'_>) -> Result<Option<(Layout, Naive)>> {
    let (shape, strides, offset) = draw::small(u)?;
    let Ok(mut naive) = Naive::strided(&shape, &strides, offset) else { return Ok(None) };
    let mut layout = Layout::new(&shape, &strides, offset).expect("what the rule accepts");
    for _ in 0..u.int_in_range(0..=3)? {
        let call = Call::draw(u, &layout)?;
        if let (Ok(next), Ok(rule)) = (call.apply(&layout), call.rule(&naive, layout.offset())) {
            (layout, naive) = (next, rule);
        }
    }
    Ok(Some((layout, naive)))
}

/// Checks one shape, with the right number of elements or not.
fn check(tensor: &Tensor<u32>, naive: &Naive, expected: &[u32], sizes: &[isize]) {
    let of = || format!("{sizes:?} of {:?}", tensor.layout());
    let rule = Call::View(sizes.to_vec()).rule(naive, 0);
    let viewed = tensor.view(sizes);
    assert_eq!(viewed.is_ok(), rule.is_ok(), "view {}", of());
    let Ok(reshaped) = tensor.reshape(sizes) else {
        assert!(!fits(sizes, expected.len()), "reshape {} is refused", of());
        return;
    };
    assert_eq!(reshaped.copied(), rule.is_err(), "reshape {}", of());
    assert_eq!(reshaped.same_storage(tensor), rule.is_ok(), "reshape {}", of());
    assert_eq!(reshaped.to_vec().as_deref(), Ok(expected), "reshape {}", of());
    if let (Ok(view), Ok(naive)) = (viewed, rule) {
        naive.check(view.layout());
        assert_eq!(reshaped.layout(), view.layout(), "reshape {}", of());
    }
}

/// Is this a shape of `numel` elements? Then `reshape` succeeds.
fn fits(sizes: &[isize], numel: usize) -> bool {
    let contiguous = Naive { shape: vec![numel], offsets: (0..numel as i128).collect() };
    Call::View(sizes.to_vec()).rule(&contiguous, 0).is_ok()
}

fn check_flatten(tensor: &Tensor<u32>, naive: &Naive, expected: &[u32], start: isize) {
    let Ok(flat) = tensor.flatten(start, -1) else { return };
    let rule = Call::Flatten(start, -1).rule(naive, 0);
    assert_eq!(flat.to_vec().as_deref(), Ok(expected), "flatten {start} {:?}", tensor.layout());
    assert_eq!(flat.same_storage(tensor), rule.is_ok(), "flatten {start} {:?}", tensor.layout());
}
