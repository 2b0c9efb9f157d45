//! The commands, one module each: arguments in, text or JSON out.

pub mod convert;
pub mod explain;
pub mod peers;
pub mod report;
pub mod suite;
