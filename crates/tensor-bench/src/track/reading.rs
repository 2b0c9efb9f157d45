//! Methods of tensors that read every element without a plan that the caller sees: to a vector, in
//! a comparison, by an iterator. They must not fall back to going element by element.

use std::hint::black_box;

use tensor_kernels::{Tensor, TensorExt};

use crate::Result;

/// Rows and columns of what is read: 48 KiB, within a second-level cache and on one thread.
const SHAPE: [usize; 2] = [96, 128];

/// A method called on one tensor.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The name in a record.
    pub name: &'static str,
    /// The call.
    pub call: &'static str,
    tensors: Tensors,
    run: fn(&Tensors) -> Result<(), tensor_kernels::Error>,
}

/// Equal elements in different orders.
#[derive(Clone, Debug)]
struct Tensors {
    rows: Tensor<f32>,
    columns: Tensor<f32>,
}

impl Tensors {
    fn new() -> Result<Self, tensor_kernels::Error> {
        let [height, width] = SHAPE;
        let rows = Tensor::arange(0.0, (height * width) as f32, 1.0)?.view(SHAPE)?;
        let columns = rows.t()?.contiguous()?.t()?;
        Ok(Self { rows, columns })
    }
}

impl Reading {
    /// Runs it once.
    ///
    /// # Errors
    /// Too little memory.
    pub fn run(&self) -> Result<()> {
        Ok((self.run)(black_box(&self.tensors))?)
    }

    /// The bytes that are read.
    pub fn bytes(&self) -> u64 {
        (self.tensors.rows.numel() * size_of::<f32>()) as u64
    }
}

macro_rules! readings {
    ($($name:literal => |$on:ident| $call:expr;)*) => {
        /// All readings.
        ///
        /// # Errors
        /// Too little memory.
        pub fn readings() -> Result<Vec<Reading>> {
            let tensors = Tensors::new()?;
            Ok(vec![$(Reading {
                name: $name,
                call: stringify!($call),
                tensors: tensors.clone(),
                run: |$on| {
                    black_box($call?);
                    Ok(())
                },
            }),*])
        }
    };
}

readings! {
    "to_vec_rows" => |on| on.rows.to_vec();
    "to_vec_columns" => |on| on.columns.to_vec();
    "equal_rows" => |on| on.rows.equal(&on.rows);
    "equal_columns" => |on| on.rows.equal(&on.columns);
    "iter_rows" => |on| on.rows.iter().map(Iterator::sum::<f32>);
    "iter_columns" => |on| on.columns.iter().map(Iterator::sum::<f32>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_succeeds_and_the_orders_have_equal_elements() {
        let all = readings().unwrap();
        assert!(all.iter().all(|reading| reading.run().is_ok() && reading.bytes() == 48 << 10));
        let Tensors { rows, columns } = &all[0].tensors;
        assert!(rows.equal(columns).unwrap() && !columns.is_contiguous());
        assert_eq!((all[1].name, all[1].call), ("to_vec_columns", "on.columns.to_vec()"));
    }
}
