//! A subject: what is measured under one name.

use std::fmt;

use tensor_kernels::Exec;

use super::metadata::Operation;
use crate::{
    Result,
    suite::{self, Against, Case},
};

/// A case of a suite, or an operation on a layout alone.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A copy or an elementwise operation.
    Work(Case),
    /// An operation that moves no elements.
    Metadata(Operation),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Work(case) => case.fmt(f),
            Subject::Metadata(operation) => write!(f, "layout/{}", operation.name),
        }
    }
}

impl Subject {
    /// The operation.
    pub fn op(&self) -> &'static str {
        match self {
            Subject::Work(case) => case.op.name(),
            Subject::Metadata(_) => "metadata",
        }
    }

    /// The element type of the result, if there is one.
    pub fn dtype(&self) -> Option<&'static str> {
        match self {
            Subject::Work(case) => Some(case.out.name()),
            Subject::Metadata(_) => None,
        }
    }

    /// [`Case::bytes`]; an operation on a layout moves none.
    pub fn bytes(&self) -> u64 {
        match self {
            Subject::Work(case) => case.bytes(),
            Subject::Metadata(_) => 0,
        }
    }

    /// The most memory that measuring it takes.
    pub fn memory(&self) -> u128 {
        match self {
            Subject::Work(case) => case.memory(Against::NAIVE),
            Subject::Metadata(_) => 0,
        }
    }

    /// The name of its path.
    ///
    /// # Errors
    /// Those of [`suite::path`].
    pub fn path(&self, exec: &Exec) -> Result<&'static str> {
        match self {
            Subject::Work(case) => suite::path(exec, case),
            Subject::Metadata(_) => Ok("view"),
        }
    }

    /// The plan in words.
    ///
    /// # Errors
    /// Those of [`suite::plan`].
    pub fn plan(&self, exec: &Exec) -> Result<String> {
        match self {
            Subject::Work(case) => suite::plan(exec, case),
            Subject::Metadata(operation) => Ok(operation.call.to_owned()),
        }
    }
}
