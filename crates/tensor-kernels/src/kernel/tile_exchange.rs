//! How two tiles of a matrix are exchanged.

/// How two tiles of a cache line a row change places, each transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileExchange {
    /// Both are in registers before either is written. Units of 1 and 2 bytes are exchanged by
    /// buffers.
    Registers,
    /// By a buffer for each.
    Buffers,
}
