//! Contiguity by example: the small tensors of the usual explanations, with the expected results.
//!
//! The name of a test begins with the number of its example:
//!
//! | group | examples |
//! |---|---|
//! | `a` | what contiguous means: a 3 × 4 matrix and its transpose |
//! | `b` | header and storage: addresses, strides, what a transposition touches |
//! | `c` | what `contiguous()` does, and which operations leave a tensor contiguous |
//! | `d` | views, transposes and reshapes that share their elements |
//! | `e` | strides as a format: permuting, broadcasting, slicing |

mod a_meaning;
mod b_storage;
mod c_contiguous;
mod counting;
mod d_views;
mod e_strides;

use tensor_kernels::{Element, Layout, Tensor};

const NOT_VIEWABLE: &str = "view size is not compatible with input tensor's size and stride (at \
     least one dimension spans across two \
                            contiguous subspaces). Use .reshape(...) instead.";

/// PyTorch: `torch.arange(end).reshape(shape)`.
fn arange(end: i64, shape: &[usize]) -> Tensor<i64> {
    Tensor::from_vec((0..end).collect(), shape).expect("as many values as elements")
}

/// PyTorch: `torch.arange(1, end + 1).reshape(shape)`.
fn from_one(end: i64, shape: &[usize]) -> Tensor<i64> {
    Tensor::from_vec((1..=end).collect(), shape).expect("as many values as elements")
}

/// All elements of the storage, in memory order (PyTorch: `t.untyped_storage()`).
fn storage_of<T: Element>(t: &Tensor<T>) -> Vec<T> {
    let len = t.storage().bytes() / size_of::<T>();
    let all = t.with_layout(Layout::contiguous([len]).expect("a size in memory"));
    all.and_then(|all| all.to_vec()).expect("nobody writes")
}

/// Shape, strides and contiguity.
fn header<T: Element>(t: &Tensor<T>) -> (&[usize], &[isize], bool) {
    (t.shape(), t.strides(), t.is_contiguous())
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: tensor_kernels::Result<T>, expected: &str) {
    let text = result.expect_err(expected).to_string();
    assert!(text.starts_with(expected), "{text}");
}
