//! Copies of items whose size is known at run time, against an oracle that copies byte by byte.

#[path = "../common/mod.rs"]
mod common;

mod allocations;
mod copies;
mod faults;
mod items;
