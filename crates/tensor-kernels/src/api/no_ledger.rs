//! What operations tell the ledger of copies, in a build without it: nothing is kept, nothing is
//! looked at.

use std::panic::Location;

use tensor_core::{Layout, Result};

use super::copy_reason::CopyReason;
use crate::exec::Exec;

/// A copy that is about to be made.
#[derive(Clone, Copy)]
pub(crate) struct Purpose;

impl Purpose {
    #[inline]
    pub(crate) fn new(_op: &'static str, _reason: CopyReason) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn requested(_op: &'static str) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn contiguous(_op: &'static str) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn record_contiguous(self, _: &Exec, _width: usize, _from: &Layout) -> Result<()> {
        Ok(())
    }

    #[inline]
    pub(crate) fn record(self, _: &Exec, _width: usize, _: &Layout, _: &Layout) -> Result<()> {
        Ok(())
    }

    #[inline]
    pub(crate) fn record_at(
        self,
        _: &'static Location<'static>,
        _: &Exec,
        _width: usize,
        _: [&Layout; 2],
    ) -> Result<()> {
        Ok(())
    }
}

#[inline]
pub(crate) fn record_vector(_op: &'static str, _width: usize, _from: &Layout) -> Result<()> {
    Ok(())
}
