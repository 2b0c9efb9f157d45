//! The registers of x86-64.

#[cfg(feature = "elementwise")]
mod arithmetic;
pub(super) mod avx2;
#[cfg(feature = "avx512")]
pub(super) mod avx512;

/// Are non-temporal stores replaced by plain ones? The standard library has them as assembly, whose
/// writes MemorySanitizer does not see: it would report every result that is streamed.
const STREAMS_AS_PLAIN: bool = cfg!(tensor_streams_as_plain);
