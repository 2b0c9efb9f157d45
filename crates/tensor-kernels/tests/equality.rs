//! Equality of tensors, whatever the order of their elements in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tensor_kernels::{Layout, Tensor, TensorExt, TensorView, TensorViewMut};

/// Shapes below and above the size of the parts that are compared.
const SHAPES: [[usize; 3]; 5] = [[3, 4, 5], [1, 70, 300], [40, 50, 60], [7, 1, 9000], [2, 260, 65]];

#[test]
fn one_different_element_anywhere_is_found_in_any_order() {
    for shape in SHAPES {
        let count: usize = shape.iter().product();
        let sizes = shape.map(|n| n as isize);
        let x = Tensor::arange(0, count as i32, 1).unwrap().view(sizes).unwrap();
        for dims in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let x = x.permute(dims).unwrap();
            let y = x.contiguous().unwrap().deep_clone().unwrap();
            assert!(x == y, "{shape:?} {dims:?}");
            assert!(y == x, "{shape:?} {dims:?}");
            for at in [0, count / 3, count - 1] {
                let flat = y.view([-1]).unwrap();
                let before = flat.get(&[at]).unwrap();
                flat.set(&[at], -1).unwrap();
                assert!(x != y, "{shape:?} {dims:?} {at}");
                assert!(y != x, "{shape:?} {dims:?} {at}");
                flat.set(&[at], before).unwrap();
            }
        }
    }
}

#[test]
fn nan_equals_nothing_and_zeros_are_equal() {
    let x = Tensor::full([200, 300], 0.0f32).unwrap();
    let y = Tensor::full([300, 200], -0.0f32).unwrap().t().unwrap();
    assert!(x == y);
    x.set(&[199, 299], f32::NAN).unwrap();
    y.set(&[199, 299], f32::NAN).unwrap();
    assert!(x != y);
    assert!(x != x.clone());
}

#[test]
fn other_shapes_and_empty_tensors() {
    let row = Tensor::full([1, 6], 1u8).unwrap();
    assert!(row != row.t().unwrap());
    let empty = Tensor::full([0, 6], 1u8).unwrap();
    assert!(empty == Tensor::full([6, 0], 2u8).unwrap().t().unwrap());
    assert!(empty != Tensor::full([6, 0], 1u8).unwrap());
    let expanded = Tensor::full([1], 3u16).unwrap().expand([500, 400]).unwrap();
    assert!(expanded == Tensor::full([400, 500], 3u16).unwrap().t().unwrap());
}

/// Views take the kernels of tensors: parts are compared in the order of memory.
#[test]
fn views_are_compared_as_tensors_are() {
    for shape in SHAPES {
        let count: usize = shape.iter().product();
        let rows = Layout::contiguous(shape).unwrap();
        let columns = rows.permute([2, 1, 0]).unwrap();
        let numbers: Vec<u16> = (0..count).map(|i| i as u16).collect();
        let x = TensorView::new(&numbers, columns.clone()).unwrap();
        let mut other = x.to_vec();
        let dense = Layout::contiguous(columns.shape()).unwrap();
        for at in [0, count / 3, count - 1] {
            let mut y = TensorViewMut::new(&mut other, dense.clone()).unwrap();
            assert_eq!([x == y, y == x, x == y.as_view(), y.as_view() == x], [true; 4]);
            y.as_slice_mut().unwrap()[at] ^= 1;
            let equal = [x == y, y == x, x == y.as_view(), y.as_view() == x];
            assert_eq!(equal, [false; 4], "{shape:?} {at}");
            y.as_slice_mut().unwrap()[at] ^= 1;
        }
    }
}
