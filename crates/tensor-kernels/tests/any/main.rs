//! Tensors of run-time dtypes: PyTorch's promotion and results, recorded in `data/promotion.jsonl`,
//! the constructors, recorded in `data/construct.jsonl`, and the methods that have no promotion.

#![cfg(feature = "reductions")]

#[macro_use]
#[path = "../common/named_operations.rs"]
mod named_operations;

mod construct;
mod forms;
mod golden;
mod methods;
mod operations;
