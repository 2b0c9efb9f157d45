//! Copies of layouts in which indices share elements.

use proptest::{array, prelude::*};
use tensor_kernels::{Exec, Layout, TensorView};

/// Windows that begin at every element have two dimensions of one stride.
#[test]
fn windows_of_equal_strides_are_copied() {
    for (shape, strides) in [
        (&[16, 25, 16][..], &[80, 2, 2][..]),
        (&[23, 39, 17], &[3, 33, 3]),
        (&[17, 13, 65], &[2, 2, -26]),
        (&[40, 3, 50, 3], &[7, 300, 7, 2]),
    ] {
        check_overlapping(shape, strides);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Such windows in any order, with any other dimension.
    #[test]
    fn overlapping_dimensions_are_copied(
        sizes in array::uniform3(2usize..70),
        step in 1isize..8,
        other in prop_oneof![1isize..40, -40isize..-1],
        order in Just(vec![0, 1, 2]).prop_shuffle(),
    ) {
        let strides = [step, step, other];
        let shape: Vec<usize> = order.iter().map(|&d| sizes[d]).collect();
        let strides: Vec<isize> = order.iter().map(|&d| strides[d]).collect();
        check_overlapping(&shape, &strides);
    }
}

/// Compares copies of words and of bytes with the elements one by one.
fn check_overlapping(shape: &[usize], strides: &[isize]) {
    let exec = Exec::current().unwrap().serial();
    let lowest = shape
        .iter()
        .zip(strides)
        .map(|(&len, &stride): (&usize, &isize)| (len - 1) * stride.min(0).unsigned_abs());
    let layout = Layout::new(shape, strides, lowest.sum::<usize>()).unwrap();
    let (_, highest) = layout.bounds().unwrap();
    let memory: Vec<u32> = (0..=highest as u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let expected: Vec<u32> = layout.offsets().map(|offset| memory[offset]).collect();
    let view = TensorView::new(&memory, layout.clone()).unwrap();
    assert_eq!(tensor_kernels::to_vec(&exec, &view).unwrap(), expected, "{layout:?}");
    let bytes: Vec<u8> = memory.iter().map(|&word| word as u8).collect();
    let view = TensorView::new(&bytes, layout.clone()).unwrap();
    let expected: Vec<u8> = expected.iter().map(|&word| word as u8).collect();
    assert_eq!(tensor_kernels::to_vec(&exec, &view).unwrap(), expected, "{layout:?}");
}
