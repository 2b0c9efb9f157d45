//! Golden tests: recorded results of PyTorch are reproduced, and recorded errors are errors here.
//!
//! The records are tensor-core's `tests/data/*.jsonl`, or those in the folder that the environment
//! variable `TENSOR_GOLDEN` names, which can be a larger set. Every line of a file is replayed
//! before the test fails, and the failures name their lines. With `--nocapture` each test prints
//! the number of checks, and the error texts that differ from PyTorch's.
//!
//! | test | record | what is compared |
//! |---|---|---|
//! | `golden_views` | `views.jsonl` | chains of operations: layout, flags, sharing and elements |
//! | `golden_overlap` | `overlap.jsonl` | overlap of two layouts, and of one with itself |
//! | `golden_broadcast` | `broadcast.jsonl` | the shape that shapes broadcast to |
//! | `golden_binary` | `binary.jsonl` | the layout of the new result of an addition |
//! | `golden_display` | `display.jsonl` | the text of a tensor |
//! | `golden_movement` | `movement.jsonl` | cat, pad, gather, …: shape, strides and elements |
//! | `golden_reductions` | `reductions.jsonl` | softmax, var, …: shape, strides and elements |

#![cfg(feature = "reductions")]

mod display;
mod movement;
mod operation;
mod pairs;
mod record;
mod reductions;
mod views;

#[test]
fn golden_views() {
    record::replay("views.jsonl", views::check);
}

#[test]
fn golden_overlap() {
    record::replay("overlap.jsonl", pairs::check_overlap);
}

#[test]
fn golden_broadcast() {
    record::replay("broadcast.jsonl", pairs::check_broadcast);
}

#[test]
fn golden_binary() {
    record::replay("binary.jsonl", pairs::check_binary);
}

#[test]
fn golden_display() {
    record::replay("display.jsonl", display::check);
}

#[test]
fn golden_movement() {
    record::replay("movement.jsonl", movement::check);
}

#[test]
fn golden_reductions() {
    record::replay("reductions.jsonl", reductions::check);
}
