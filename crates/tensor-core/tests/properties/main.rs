//! Properties of all layouts, checked on random ones against slow and simple definitions.
//!
//! | file | compares |
//! |---|---|
//! | `chains` | chains of transforms with lists of offsets that are rearranged index by index |
//! | `questions` | the queries of a layout with an enumeration of its offsets |
//! | `refusals` | why a view or contiguity is refused, and each way out, with such enumerations |
//! | `lints` | findings about strides with the cache lines, sets and pages that offsets lie in |
//! | `extremes` | layouts of arbitrary numbers with 128-bit arithmetic; no operation panics |

mod chains;
mod extremes;
mod lints;
mod naive;
mod questions;
mod refusals;
