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

/// The bytes of a way of a first-level cache, after which addresses share a set again: a page, on
/// nearly every CPU.
pub(crate) const FIRST_LEVEL_WAY: usize = 4096;

/// The most cache lines of some rows of `bytes` bytes, `pitch` bytes apart, that share a set of a
/// first-level cache.
pub(crate) fn most_lines_in_a_set(pitch: usize, rows: usize, bytes: usize) -> usize {
    let mut lines = [0; FIRST_LEVEL_WAY / CACHE_LINE];
    for row in 0..rows {
        let first = row * (pitch % FIRST_LEVEL_WAY) / CACHE_LINE;
        (first..first + bytes.div_ceil(CACHE_LINE)).for_each(|line| lines[line % lines.len()] += 1);
    }
    lines.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_rows_are_counted_by_set() {
        assert_eq!(most_lines_in_a_set(4096, 16, 64), 16, "all in one set");
        assert_eq!(most_lines_in_a_set(2048, 16, 64), 8, "in two");
        assert_eq!(most_lines_in_a_set(2050, 16, 64), 8, "nearly so");
        assert_eq!(most_lines_in_a_set(4096 + 64, 16, 64), 1, "each in its own");
        assert_eq!(most_lines_in_a_set(64, 64, 128), 2, "each in two");
        assert_eq!(most_lines_in_a_set(4096, 0, 64), 0);
    }
}
