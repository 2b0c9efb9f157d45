//! Tracking: what a build does, kept as a record, so that another build can be held against it.
//!
//! Times on shared machines are noise; people learn to ignore them. So a record keeps, beside the times, what is the same in every run — the path
//! that each layout takes, instructions, cache lines — and it is these that decide whether a build has become worse. Times are kept
//! with how far they scatter, and beside the fastest copy of the same run.
//!
//! - [`table`] is the one table of cases: a [`Subject`] each, work on a layout or an operation on layouts alone. The command line, criterion and
//!   callgrind measure it;
//! - [`timing`] takes the times in passes over the whole table, [`counting`] runs each subject under valgrind, where [`counted`] is what runs;
//! - [`record`] is the document; [`mod@build`] and the machine's card say what it is a record of;
//! - [`compare`] holds one record against another, [`history`] many.

pub mod build;
pub mod compare;
pub mod counted;
pub mod counting;
pub mod history;
pub mod metadata;
pub mod profile;
pub mod record;
pub mod subject;
pub mod table;
pub mod timing;

pub use record::{Entry, Record};
pub use subject::Subject;
