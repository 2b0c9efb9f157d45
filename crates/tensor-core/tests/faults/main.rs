//! What can be asked wrongly, and the answer: an error that names the values, never a panic, never memory that is not ours.
//!
//! | file | mistakes |
//! |---|---|
//! | `numbers` | sizes, strides and offsets that overflow or reach out of the buffer |
//! | `requests` | operations that do not fit their input |
//! | `writes` | writing where two indices meet, or where somebody else reads or writes |
//! | `threads` | what may cross threads and what may not |
//! | `texts` | printing tensors too large to print |

mod numbers;
mod operands;
mod requests;
mod texts;
mod threads;
mod writes;
