//! Operations that move elements, and reductions of rows: against loops over single elements, into
//! given results, and with arguments that no caller should pass. PyTorch's recorded answers are
//! replayed by the test `golden`.

mod accuracy;
mod faults;
mod forms;
mod naive;
mod random;
