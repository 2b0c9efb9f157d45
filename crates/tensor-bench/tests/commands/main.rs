//! The commands of the program, each run as a user runs it: what it prints and writes, and its exit
//! code. The test program `faults` has the faults that several commands share.

#[path = "../common/mod.rs"]
mod common;

mod advise;
mod convert;
mod explain;
mod population;
mod record;
mod report;
mod results;
mod suite;
mod usage;
