//! What the user gives: files, `.npy` arrays, chains of calls, view options of the command line.

pub mod chain;
pub mod file;
pub mod npy;
pub mod parse;
pub mod view_args;
