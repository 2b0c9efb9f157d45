//! What goes wrong, and the right answer: a typed error or the closure's own panic, nothing half written that should not be, nothing stuck.

#[path = "../common/mod.rs"]
mod common;
mod numbers;
mod panics;
mod refusals;
mod sharing;
mod sizes;
#[cfg(feature = "rayon")]
mod threads;
