//! Properties of all layouts, checked on random ones against slow and simple definitions.
//!
//! | file | compares |
//! |---|---|
//! | `chains` | chains of transforms with lists of offsets that are rearranged index by index |
//! | `questions` | the queries of a layout with an enumeration of its offsets |
//! | `extremes` | layouts of arbitrary numbers with 128-bit arithmetic; no operation panics |

mod chains;
mod extremes;
mod naive;
mod questions;
