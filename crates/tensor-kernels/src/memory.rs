//! What every layer knows of memory: the cache line, and the ways in which a result is stored.

/// Bytes of a cache line, and of the largest SIMD register.
pub(crate) const CACHE_LINE: usize = 64;

/// How results reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stores {
    /// Through the cache.
    Plain,
    /// Through the cache, by 128-bit stores at any length, for results out of cache of which little
    /// is read: 64 MiB of one row again and again take 7.3 ms so, 9.0 by stores of 64 bytes, and
    /// 10.5 by the C library.
    Narrow,
    /// Past the cache, in whole lines; visible to other threads after a fence (`Isa::fence`).
    NonTemporal,
}
