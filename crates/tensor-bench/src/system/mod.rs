//! The machine: what it is, how much memory is available, how many threads may be started.

pub mod machine;
pub mod memory;
pub mod pool;
