//! How times are taken, and what they are compared with.
//!
//! [`engine`] races contenders and [`stats`] condenses their samples; [`setting`] says with which
//! instruction set, threads and time budget. [`mod@reference`] has the right results. Every
//! measurement is compared with [`copy_bandwidth`], the fastest plain copy of the same bytes, and
//! with [`naive_loop`], [`naive_reduce`] or [`naive_sum`], loops without tiles or SIMD intrinsics;
//! [`peers`] are other libraries. `bound` has the loads and stores of a layout, without a copy's
//! shuffles. [`lint_cost`] compares a layout with itself, padded;
//! [`thresholds`] compares operations with themselves, planned for another machine.

pub(crate) mod bound;
pub mod copy_bandwidth;
pub mod engine;
pub mod lint_cost;
pub mod naive_loop;
pub mod naive_reduce;
pub mod naive_sum;
pub mod peers;
pub mod reference;
pub mod setting;
pub mod stats;
pub mod thresholds;
