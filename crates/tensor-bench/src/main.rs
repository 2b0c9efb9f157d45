//! The program. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tensor_bench::cli::main(std::env::args_os())
}
