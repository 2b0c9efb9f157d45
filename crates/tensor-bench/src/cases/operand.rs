//! One array of a case: a dense base array and the view operations on it.

use tensor_kernels::{DType, Index, Layout, Result, Slice, Tensor};

use crate::{
    cases::{
        sample::Sample,
        view_op::{ViewOp, apply_all},
    },
    output::render::tuple,
};

/// A view of a dense row-major array.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The element type.
    pub dtype: DType,
    /// The shape of the dense array.
    pub base: Vec<usize>,
    /// The view operations, in order.
    pub ops: Vec<ViewOp>,
    /// The layout of the view.
    pub layout: Layout,
}

impl Operand {
    /// Computes the layout.
    ///
    /// # Errors
    /// An invalid view operation, a layout that is out of bounds of the base.
    pub fn new(dtype: DType, base: Vec<usize>, ops: Vec<ViewOp>) -> Result<Self> {
        let dense = Layout::contiguous(&base)?;
        dense.dense_bytes(dtype.size())?;
        let len = dense.numel();
        let layout = apply_all(&ops, dense)?;
        layout.check_within(len, dtype.size())?;
        layout.dense_bytes(dtype.size())?;
        Ok(Operand { dtype, base, ops, layout })
    }

    /// The same shape as a contiguous array.
    ///
    /// # Errors
    /// None that [`Operand::new`] would not have returned.
    pub fn to_contiguous(&self) -> Result<Self> {
        Operand::new(self.dtype, self.layout.shape().to_vec(), vec![])
    }

    /// The view as a chain that `explain` reads: `zeros(4, 6)[:, 1:3].permute(1, 0)`. The element
    /// type is not part of it.
    pub fn notation(&self) -> String {
        let base = format!("zeros{}", tuple(&self.base));
        self.ops.iter().fold(base, |chain, op| chain + &as_index(op).to_string())
    }

    /// The bytes of the dense array.
    pub fn base_bytes(&self) -> u64 {
        (self.base.iter().product::<usize>() * self.dtype.size()) as u64
    }

    /// The bytes of a row-major copy of the view.
    pub fn result_bytes(&self) -> u64 {
        (self.layout.numel() * self.dtype.size()) as u64
    }

    /// The bytes of the distinct elements of the view: an expanded dimension counts once, and all
    /// of them are in the array.
    pub fn stored_bytes(&self) -> u64 {
        let sizes = self.layout.shape().iter().zip(self.layout.strides());
        let different = sizes.map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size });
        ((different.product::<usize>() * self.dtype.size()) as u64).min(self.base_bytes())
    }

    /// The dense array as one dimension, filled with pseudorandom values. Arrays of different seeds
    /// differ.
    ///
    /// # Errors
    /// No memory.
    pub fn filled<T: Sample>(&self, seed: usize) -> Result<Tensor<T>> {
        let seed = seed.wrapping_mul(0x0123_4567_89AB);
        Tensor::from_fn(&[self.base.iter().product::<usize>()], |i| {
            T::sample(i[0].wrapping_add(seed))
        })
    }
}

/// A slice of one dimension as an index of all dimensions up to it; other operations as they are.
fn as_index(op: &ViewOp) -> ViewOp {
    match op {
        ViewOp::Slice(dim, slice) if *dim >= 0 => {
            let all = (0..*dim).map(|_| Index::Slice(Slice::new(None, None, 1)));
            ViewOp::Index(all.chain([Index::Slice(*slice)]).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expanded_operand_is_stored_once() {
        let operand =
            Operand::new(DType::F32, vec![64, 1], vec![ViewOp::Expand(vec![64, 8])]).unwrap();
        assert_eq!(
            (operand.base_bytes(), operand.stored_bytes(), operand.result_bytes()),
            (256, 256, 2048)
        );
    }

    #[test]
    fn a_view_beyond_its_base_is_refused() {
        let beyond = ViewOp::AsStrided(vec![5], vec![2], None);
        assert!(Operand::new(DType::U8, vec![8], vec![beyond]).is_err());
    }

    #[test]
    fn a_view_is_noted_as_the_chain_that_makes_it() {
        let ops = vec![
            ViewOp::Slice(1, Slice::new(Some(1), Some(7), 2)),
            ViewOp::Flip(vec![0]),
            ViewOp::Permute(vec![1, 0]),
        ];
        let operand = Operand::new(DType::F32, vec![4, 8], ops).unwrap();
        assert_eq!(operand.notation(), "zeros(4, 8)[:, 1:7:2].flip(0).permute(1, 0)");
    }

    #[test]
    fn a_filled_base_takes_the_layout_of_the_view() {
        let operand = Operand::new(DType::I32, vec![2, 3], vec![ViewOp::T]).unwrap();
        let tensor = operand.filled::<i32>(0).unwrap().with_layout(operand.layout).unwrap();
        let expected = [0, 3, 1, 4, 2, 5].map(i32::sample);
        assert_eq!((tensor.shape(), tensor.to_vec().unwrap()), (&[3, 2][..], expected.to_vec()));
    }
}
