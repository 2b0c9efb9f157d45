//! What goes wrong, and the right answer: a typed error or the closure's own panic, nothing half written that should not be, nothing stuck.

#[path = "../common/mod.rs"]
mod common;
mod extremes;
mod numbers;
mod panics;
mod refusals;
mod shapes;
mod sharing;
mod sizes;
mod tails;
#[cfg(feature = "rayon")]
mod threads;
