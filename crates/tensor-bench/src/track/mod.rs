//! Tracking: records of builds, and their comparison.
//!
//! Times on shared machines are noisy. So a record also has what is the same in every run: the path
//! of each layout, instruction counts, cache misses. By default only these decide whether a build
//! has a regression. Times are stored with their noise and with the fastest plain copy of the same
//! run.
//!
//! - [`table`] is the table of cases for the command line, criterion and callgrind. A [`Subject`]
//!   is a case of a suite, an operation on layouts alone, or a method that reads a tensor;
//! - [`timing`] takes times in passes over the whole table; [`counting`] starts valgrind, and
//!   [`counted`] is what runs in it;
//! - [`regret`] is how far the planner is from the fastest plans of random copies;
//! - [`record`] is the document; [`mod@build`] and the machine say what it belongs to;
//! - [`compare`] compares two records, [`history`] follows cases through many.

pub mod build;
mod changed_sources;
pub mod compare;
pub mod counted;
pub mod counting;
pub mod history;
pub mod metadata;
pub mod profile;
pub mod reading;
pub mod record;
pub mod regret;
pub mod subject;
pub mod table;
pub mod timing;

pub use record::{Entry, Record};
pub use subject::Subject;
