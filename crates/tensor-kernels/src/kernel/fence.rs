//! The fence after non-temporal stores.
//!
//! Non-temporal stores are not ordered with the stores that follow. If an ordinary store tells
//! another thread that a result is complete, that thread may read the result before the
//! non-temporal stores have reached memory. So code that uses non-temporal stores holds a
//! [`FenceOnDrop`], which fences when the scope ends, also when a panic unwinds.

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
};
use crate::exec::SimdLevel;

/// Makes the non-temporal stores of a level visible before any store that follows the drop.
pub(crate) struct FenceOnDrop(pub(crate) SimdLevel);

impl Drop for FenceOnDrop {
    fn drop(&mut self) {
        dispatch(self.0, Fence);
    }
}

struct Fence;

impl Kernel for Fence {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        isa.fence();
    }
}
