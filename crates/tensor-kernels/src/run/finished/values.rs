//! Operands of one element, as registers read them.

use super::REGISTER_BYTES;

/// An element repeated for a register.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Value(pub(super) [u8; REGISTER_BYTES]);

/// Those of up to two operands.
pub(super) struct Values(pub(super) [Value; 2]);

impl Default for Values {
    fn default() -> Self {
        Self([Value([0; REGISTER_BYTES]); 2])
    }
}

impl Value {
    /// # Safety
    /// `width` bytes can be read at `value`.
    pub(super) unsafe fn fill(&mut self, value: *const u8, width: usize) {
        let (first, rest) = self.0.split_at_mut(width);
        for (at, byte) in first.iter_mut().enumerate() {
            // SAFETY: readable by this function's contract.
            *byte = unsafe { value.wrapping_add(at).read() };
        }
        for copy in rest.chunks_exact_mut(width) {
            copy.copy_from_slice(first);
        }
    }
}
