//! Attention with softmax, without a copy: queries, keys and values are views of the projection,
//! keys are transposed by their strides, and each head writes its part of the merged result.
//!
//! The library has no products of matrices. The one below is three plain loops, which is slow;
//! crates such as `matrixmultiply` and `gemm` take a pointer and two strides for each matrix, so
//! that they need no copies of these views either.
//!
//! ```sh
//! cargo run --release -p examples --bin attention
//! ```
//!
//! ```text
//! keys: shape [2, 2, 4, 3] strides [72, 4, 1, 24], a view of the projection
//! weights of head 0: tensor([[0.3313, 0.3333, 0.3353],
//!         [0.3181, 0.3331, 0.3488],
//!         [0.3051, 0.3325, 0.3624]])
//! 0 copies
//! heads merged by reshape: 1 copy of 192 bytes
//! ```

use tensor_kernels::{
    Result, Tensor, TensorExt, TensorMutExt, TensorView, TensorViewMut, Tolerance, count_copies, s,
};

const BATCH: usize = 2;
const TOKENS: usize = 3;
const HEADS: usize = 2;
const SIZE: usize = 4;

fn main() -> Result<()> {
    // As a fused projection gives it: for each token its query, its key and its value.
    let projection = Tensor::from_fn([BATCH, TOKENS, 3, HEADS, SIZE], |at| {
        ((at[0] + at[1]) * (at[2] + 1)) as f32 / 10.0 + (at[3] + at[4]) as f32 / 100.0
    })?;
    let (merged, copies) = count_copies(|| attention(&projection));
    let merged = merged?;
    println!("{} copies", copies.count());

    // The usual way merges the heads at the end, by a reshape that has to copy.
    let heads = merged.view([BATCH, TOKENS, HEADS, SIZE])?.transpose(1, 2)?.contiguous()?;
    let reshape = || heads.transpose(1, 2)?.reshape([BATCH, TOKENS, HEADS * SIZE]);
    let (again, copies) = count_copies(reshape);
    assert!(again?.equal(&merged)?);
    let ledger = copies.to_string();
    println!("heads merged by reshape: {}", ledger.lines().next().unwrap_or_default());
    Ok(())
}

/// `softmax(q · kᵀ / √size) · v` of each head, as `[batch, tokens, heads · size]`.
fn attention(projection: &Tensor<f32>) -> Result<Tensor<f32>> {
    // [batch, heads, tokens, size] each.
    let part = |index: usize| projection.select(2, index)?.transpose(1, 2);
    let (queries, keys, values) = (part(0)?, part(1)?.transpose(2, 3)?, part(2)?);
    assert!(keys.same_storage(projection));
    let (shape, strides) = (keys.shape(), keys.strides());
    println!("keys: shape {shape:?} strides {strides:?}, a view of the projection");

    let scores = Tensor::zeros([BATCH, HEADS, TOKENS, TOKENS])?;
    products(&queries, &keys, &scores)?;
    scores.mul_inplace(1.0 / (SIZE as f32).sqrt())?;
    let weights = scores.softmax(-1)?;
    println!("weights of head 0: {}", weights.index(s![0, 0])?);
    assert!(weights.sum(-1)?.isclose(1.0, Tolerance::default())?.all_all()?);

    // The heads of the result are a view of it: what is written there is merged already.
    let merged = Tensor::zeros([BATCH, TOKENS, HEADS * SIZE])?;
    let heads = merged.view([BATCH, TOKENS, HEADS, SIZE])?.transpose(1, 2)?;
    products(&weights, &values, &heads)?;
    Ok(merged)
}

/// The product of the two matrices of each head of the batch.
fn products(a: &Tensor<f32>, b: &Tensor<f32>, out: &Tensor<f32>) -> Result<()> {
    let (a, b, mut out) = (a.read()?, b.read()?, out.write()?);
    for (batch, out) in out.as_view_mut()?.unbind_mut(0)?.into_iter().enumerate() {
        for (head, out) in out.unbind_mut(0)?.into_iter().enumerate() {
            let index = s![batch, head];
            product(&a.as_view().index(index)?, &b.as_view().index(index)?, out)?;
        }
    }
    Ok(())
}

fn product(
    a: &TensorView<'_, f32>,
    b: &TensorView<'_, f32>,
    mut out: TensorViewMut<'_, f32>,
) -> Result<()> {
    for (i, row) in a.unbind(0)?.iter().enumerate() {
        for (j, column) in b.unbind(1)?.iter().enumerate() {
            *out.get_mut(&[i, j])? = row.iter().zip(column.iter()).map(|(x, y)| x * y).sum();
        }
    }
    Ok(())
}
