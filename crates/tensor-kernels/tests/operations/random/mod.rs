//! Operations on random layouts, compared with the oracle: any order of dimensions, signed strides,
//! steps, gaps, broadcasting, overlapping windows, offsets.
//!
//! Each case runs at one random SIMD level: serial, and in pools of 1, 2 and 7 threads that split
//! the work down to a few bytes.

mod copies;
mod elementwise;
mod layouts;
mod reductions;
