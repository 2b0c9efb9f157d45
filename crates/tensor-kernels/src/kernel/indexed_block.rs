//! The operands of a block whose rows and columns lie at offsets of tables.

use super::transpose_block::Residency;

/// A block of elements. Element (u, v) of the source lies `columns[u][1] + rows[v][1]` bytes from
/// `src`; it is written `columns[u][0] + rows[v][0]` bytes from `dst`.
///
/// A destination row is all `u` at one `v`; a source row is all `v` at one `u`. Transposes require
/// adjacent rows: `columns[u][0]` is `u` elements more than `columns[0][0]`, and `rows[v][1]` is
/// `v` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedBlock<'t, L> {
    pub(super) src: *const L,
    pub(super) dst: *mut L,
    /// The offsets along `u` in destination and source.
    pub(super) columns: &'t [[isize; 2]],
    /// The offsets along `v` in destination and source.
    pub(super) rows: &'t [[isize; 2]],
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        allow(dead_code, reason = "the portable kernels prefetch nothing")
    )]
    pub(super) residency: Residency,
}
