//! What holds for every layout, checked on random ones against definitions that are slow and plain.
//!
//! | file | what is compared with what |
//! |---|---|
//! | `chains` | chains of transforms with lists of places, moved index by index |
//! | `questions` | what a layout says of itself with an enumeration of its places |
//! | `extremes` | layouts of any numbers with arithmetic in 128 bits; whatever is asked of them, nothing panics |

mod chains;
mod extremes;
mod naive;
mod questions;
