//! What contiguity costs and what it buys, measured on the machine at hand.
//!
//! The crate is a library and a thin program around it, so that every way of measuring — the command line, criterion, callgrind — shares one
//! table of cases and one way of taking time. Data flows in one direction:
//!
//! - [`case`] says what is measured: a dense base array and the view operations on it; [`cases`] is the table of layouts people meet, [`suite`]
//!   reads such cases from a file, [`npy`] reads real arrays, [`chain`] reads `arange(24).reshape(2, 3, 4)[:, 1]`;
//! - [`pool`] and [`memory`] refuse work the machine cannot carry before it starts; [`input`] reads files, [`output`] writes them whole or not at all;
//! - [`strided`] is a view as code outside of the library is given it: [`naive`], the loop that a programmer writes by hand, and [`peers`], other
//!   libraries;
//! - [`mod@reference`] says what the right answer is, element by element;
//! - [`engine`] takes the times, contenders in turn, and [`roof`] is the contender everything is measured against;
//! - [`track`] keeps what a build does, times and counts, and holds one build against another;
//! - [`report`] shows what layouts cost, [`advise`] answers for one view whether to copy it;
//! - [`cmd`] holds one module for each command, [`mod@render`] the tables, [`document`] the JSON, [`mod@env`] the card of the machine.

pub mod advise;
pub mod case;
pub mod cases;
pub mod chain;
pub mod cli;
pub mod cmd;
pub mod document;
pub mod engine;
pub mod env;
pub mod failure;
pub mod input;
pub mod memory;
pub mod naive;
pub mod npy;
pub mod output;
pub mod peers;
pub mod picture;
pub mod pool;
pub mod progress;
pub mod reads;
pub mod reference;
pub mod render;
pub mod report;
pub mod roof;
pub mod sample;
pub mod setting;
pub mod stats;
pub mod strided;
pub mod suite;
pub mod text;
pub mod track;
pub mod viewargs;
pub mod viewop;

pub use failure::{Failure, Result};
