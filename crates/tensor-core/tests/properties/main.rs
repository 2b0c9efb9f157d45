//! Properties of all layouts, checked on random ones against slow and simple definitions.
//!
//! | file | compares |
//! |---|---|
//! | `chains` | chains of transforms with lists of offsets that are rearranged index by index |
//! | `questions` | the queries of a layout with an enumeration of its offsets |
//! | `refusals` | why a view or contiguity is refused, and each way out, with such enumerations |
//! | `printed_calls` | the calls that the ways out print, made one after another (for `refusals`) |
//! | `lints` | findings about strides with the cache lines, sets and pages that offsets lie in |
//! | `extremes` | layouts of arbitrary numbers with 128-bit arithmetic; no operation panics |

mod chains;
mod extremes;
mod lints;
mod naive;
mod printed_calls;
mod questions;
mod refusals;
