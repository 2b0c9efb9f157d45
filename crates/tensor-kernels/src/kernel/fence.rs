//! Streamed stores and who may see them.
//!
//! Non-temporal stores are not ordered with the stores that follow. Another thread that is told, by
//! an ordinary store, that a result is there might read it before it has arrived. So whoever stores
//! past the caches holds a [`FenceOnDrop`]: it fences on the way out, also where a panic unwinds.

use super::{
    dispatch::dispatch,
    isa::{Isa, Kernel},
};
use crate::exec::SimdLevel;

/// Makes the streamed stores of a level visible before any store that follows its end.
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
