//! Errors of a command. The kind decides the exit code; the text goes to standard error.

use std::{fmt, io};

/// What a function of this crate returns.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command has no result.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong: a malformed file, an unknown name, a thread count of zero. Exit code 2.
    Input(String),
    /// The work failed: a view that an array does not have, a wrong result, too little memory. Exit
    /// code 1.
    Work(String),
    /// The output could not be written. Exit code 1; 0 and no message if the reader closed the
    /// pipe.
    Output(io::Error),
}

impl Failure {
    /// Wrong input.
    pub fn input(text: impl fmt::Display) -> Self {
        Failure::Input(text.to_string())
    }

    /// Failed work.
    pub fn work(text: impl fmt::Display) -> Self {
        Failure::Work(text.to_string())
    }

    /// The same failure, prefixed with where it happened.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        match self {
            Failure::Input(text) => Failure::Input(format!("{place}: {text}")),
            Failure::Work(text) => Failure::Work(format!("{place}: {text}")),
            Failure::Output(error) => Failure::Output(error),
        }
    }

    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Output(_) if self.is_closed_pipe() => 0,
            Failure::Work(_) | Failure::Output(_) => 1,
        }
    }

    /// Whether the reader of the output closed the pipe; that needs no message.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(text) | Failure::Work(text) => f.write_str(text),
            Failure::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<tensor_kernels::Error> for Failure {
    fn from(error: tensor_kernels::Error) -> Self {
        Failure::work(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_decides_the_exit_code() {
        let closed = Failure::Output(io::ErrorKind::BrokenPipe.into());
        let full = Failure::Output(io::ErrorKind::StorageFull.into());
        let codes = [Failure::input("x"), Failure::work("x"), closed, full].map(|f| f.exit_code());
        assert_eq!(codes, [2, 1, 0, 1]);
    }
}
