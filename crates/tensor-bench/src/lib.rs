//! What non-contiguous memory costs, and when a contiguous copy is worth it, on this machine.
//!
//! The crate is a library and a small program around it. The command line, criterion and callgrind
//! therefore share one table of cases and one way of timing.
//!
//! - [`cases`]: what is measured, a dense base array and the view operations on it;
//! - [`input`]: files, `.npy` arrays, chains such as `arange(24).reshape(2, 3, 4)[:, 1]`;
//! - [`measure`]: timing, the reference results, copy bandwidth, the naive loop, other libraries;
//! - [`system`]: the machine, its memory, the thread pool;
//! - [`suite`]: cases from a file, raced against the naive loop and other libraries;
//! - [`population`]: random cases for a suite, and squares of all sizes;
//! - [`track`]: records of a build (paths, times, instruction counts), their comparison and
//!   history;
//! - [`report`]: what common layouts cost; [`advise`]: whether to copy one view;
//! - [`explain`]: what each call of a chain does to a layout, in words and drawn;
//! - [`output`]: tables, JSON documents, files;
//! - [`cli`] and [`cmd`]: the command line, one module for each command.

pub mod advise;
pub mod cases;
pub mod cli;
pub mod cmd;
pub mod explain;
mod failure;
pub mod input;
pub mod measure;
pub mod output;
pub mod population;
pub mod report;
pub mod suite;
pub mod system;
pub mod track;

pub use failure::{Failure, Result};
