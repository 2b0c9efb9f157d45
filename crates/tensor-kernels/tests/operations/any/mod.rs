//! Tensors of run-time dtypes: PyTorch's promotion and results, recorded in `data/promotion.jsonl`,
//! the constructors, recorded in `data/construct.jsonl`, and the methods that have no promotion.

mod construct;
mod forms;
mod golden;
mod methods;
mod operations;
mod scalars;
