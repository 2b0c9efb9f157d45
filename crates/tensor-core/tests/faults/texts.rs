//! Printing takes bounded time for any number of elements, and errors can be printed with any
//! values.

use std::time::{Duration, Instant};

use tensor_core::{Error, Tensor};

#[test]
fn fault_a_tensor_of_2_to_the_40_elements_is_summarised() {
    let one = Tensor::full([1], 1.5f32).unwrap();
    let started = Instant::now();
    for shape in [&[1_usize << 40][..], &[1 << 20, 1 << 20], &[1 << 10, 1, 1 << 20, 1 << 10]] {
        let text =
            one.expand(vec![1; shape.len()]).unwrap().broadcast_to(shape).unwrap().to_string();
        assert!(text.contains("...") && text.len() < 40_000, "{} characters", text.len());
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn fault_debug_shows_the_layout_and_a_few_elements() {
    let huge = Tensor::full([1], 1u8).unwrap().expand([1_usize << 50]).unwrap();
    let expected = "{ dtype: u8, shape: [1125899906842624], strides: [0], offset: 0, \
                    elements: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ..] }";
    assert_eq!(format!("{huge:?}"), format!("Tensor {expected}"));
    let guard = huge.read().unwrap();
    assert_eq!(format!("{:?}", guard.as_view()), format!("TensorView {expected}"));
}

/// A summary keeps six items per dimension, so it would print all 6^24 elements.
#[test]
fn fault_a_tensor_of_many_short_dimensions_is_cut_off_with_a_note() {
    let one = Tensor::full([1; 24], 1.5f32).unwrap();
    let started = Instant::now();
    let text = one.expand([6; 24]).unwrap().to_string();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(text.len() < 4 << 20, "{} characters", text.len());
    let elements = 6u64.pow(24);
    let note = format!("first 43690 of {elements} elements)");
    assert!(text.ends_with(&note), "{}", &text[text.len() - 200..]);
}

/// The fields are public, so users can construct errors that this crate never returns.
#[test]
fn fault_an_error_of_any_values_has_a_text() {
    let not_viewable = |seam| Error::NotViewable {
        shape: vec![2],
        strides: vec![],
        target: vec![],
        seam,
        expected: isize::MIN,
    };
    let of_transposed = |target| Error::NotViewable {
        shape: vec![2, 3],
        strides: vec![1, 2],
        target,
        seam: 1,
        expected: 6,
    };
    for error in [
        of_transposed(vec![5]),
        of_transposed(vec![]),
        of_transposed(vec![0, 7]),
        of_transposed(vec![usize::MAX, 3]),
        Error::NotViewable {
            shape: vec![2, 2],
            strides: vec![isize::MIN, -isize::MAX],
            target: vec![4],
            seam: 1,
            expected: 1,
        },
        not_viewable(0),
        not_viewable(usize::MAX),
        Error::DimOutOfRange { op: "flip", dim: isize::MIN, range: usize::MAX },
        Error::DimOutOfRange { op: "flip", dim: isize::MIN, range: isize::MAX as usize + 1 },
        Error::Expand { wanted: isize::MIN, size: 0, dim: 9, target: vec![], shape: vec![] },
        Error::NarrowStart { start: isize::MIN, dim: usize::MAX, size: usize::MAX },
        Error::OutOfMemory { bytes: usize::MAX },
    ] {
        assert!(error.to_string().len() > 20, "{error:?}");
    }
}
