//! A subject: what is measured under one name.

use std::fmt;

use tensor_kernels::Exec;

use super::{metadata::Operation, reading::Reading};
use crate::{
    Result,
    suite::{self, Against, Case},
};

/// A case of a suite, an operation on a layout alone, or a method that reads a tensor.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A copy or an elementwise operation.
    Work(Case),
    /// An operation that moves no elements.
    Metadata(Operation),
    /// A method that reads all elements of a tensor.
    Reading(Reading),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Work(case) => case.fmt(f),
            Subject::Metadata(operation) => write!(f, "layout/{}", operation.name),
            Subject::Reading(reading) => write!(f, "reading/{}", reading.name),
        }
    }
}

impl Subject {
    /// The operation.
    pub fn op(&self) -> &'static str {
        match self {
            Subject::Work(case) => case.op.name(),
            Subject::Metadata(_) => "metadata",
            Subject::Reading(_) => "reading",
        }
    }

    /// The element type of the result, if there is one.
    pub fn dtype(&self) -> Option<&'static str> {
        match self {
            Subject::Work(case) => Some(case.out.name()),
            Subject::Metadata(_) => None,
            Subject::Reading(_) => Some("f32"),
        }
    }

    /// [`Case::bytes`]; an operation on a layout moves none, and other methods read them.
    pub fn bytes(&self) -> u64 {
        match self {
            Subject::Work(case) => case.bytes(),
            Subject::Metadata(_) => 0,
            Subject::Reading(reading) => reading.bytes(),
        }
    }

    /// The most memory that measuring it takes.
    pub fn memory(&self) -> u128 {
        match self {
            Subject::Work(case) => case.memory(Against::NAIVE),
            Subject::Metadata(_) => 0,
            // Two orders of the elements, and a vector of them.
            Subject::Reading(reading) => 3 * u128::from(reading.bytes()),
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
            Subject::Reading(_) => Ok("method"),
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
            Subject::Reading(reading) => Ok(reading.call.to_owned()),
        }
    }
}
