//! What every layer knows about memory: the cache line, and the kinds of stores.

/// Bytes of a cache line, which are also those of the widest SIMD register.
pub(crate) const CACHE_LINE: usize = 64;

/// Bytes of a lane: SIMD registers consist of one or more.
pub(crate) const LANE_BYTES: usize = 16;

/// How results reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stores {
    /// Through the cache.
    Plain,
    /// Through the cache, with 128-bit stores, for large results of which little is read. 64 MiB of
    /// one repeated row take 7.3 ms this way, 9.0 ms with 64-byte stores, and 10.5 ms with the C
    /// library.
    Narrow,
    /// Past the cache, in whole lines. Visible to other threads only after a fence (`Isa::fence`).
    NonTemporal,
}
