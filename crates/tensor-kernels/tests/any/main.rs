//! Tensors of run-time dtypes: PyTorch's promotion and results, recorded in `data/promotion.jsonl`,
//! and the methods that have no promotion.

#![cfg(feature = "reductions")]

mod forms;
mod golden;
mod methods;
mod operations;
