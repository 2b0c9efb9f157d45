//! What PyTorch answered, replayed: each recorded result must come out the same, and each recorded
//! refusal must be an error.
//!
//! The records are tensor-core's `tests/data/*.jsonl`, or those in the folder that the environment
//! variable `TENSOR_GOLDEN` names; a larger set of the same form needs no change here. Every line
//! of a file is replayed before the test fails, and the failures name their lines. With
//! `--nocapture` each test prints how much it checked and which error texts are not PyTorch's.
//!
//! | test | record | what is compared |
//! |---|---|---|
//! | `golden_views` | `views.jsonl` | chains of operations: sizes, strides, offset, flags, sharing and elements after each step |
//! | `golden_overlap` | `overlap.jsonl` | whether two layouts, or two indices of one, meet in an element |
//! | `golden_broadcast` | `broadcast.jsonl` | the shape that shapes broadcast to |
//! | `golden_binary` | `binary.jsonl` | the layout of the fresh result of an addition |
//! | `golden_display` | `display.jsonl` | the text of a tensor |

mod display;
mod operation;
mod pairs;
mod record;
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
