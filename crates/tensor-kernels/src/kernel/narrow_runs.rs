//! The operands of a transpose that keeps runs of a few bytes together.

use crate::{memory::LANE_BYTES, nest::Loop};

/// The longest run that is transposed in registers: two make a lane.
pub(crate) const MAX_NARROW_RUN_BYTES: usize = LANE_BYTES / 2;

/// `nu` source rows of `nv` runs without gaps; they become `nv` destination rows of `nu` runs
/// without gaps. All steps are in bytes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernels copy run by run")
)]
pub(crate) struct NarrowRuns {
    /// Run (0, 0) of the source.
    pub(super) src: *const u8,
    /// From one source row to the next.
    pub(super) src_step: isize,
    /// Run (0, 0) of the destination.
    pub(super) dst: *mut u8,
    /// From one destination row to the next.
    pub(super) dst_step: isize,
    /// Source rows, destination columns.
    pub(super) nu: usize,
    /// Source columns, destination rows.
    pub(super) nv: usize,
    /// The bytes of a run, 2 to [`MAX_NARROW_RUN_BYTES`].
    pub(super) bytes: usize,
    /// Do the runs of a source row lie at falling addresses?
    pub(super) descending: bool,
    /// How far ahead source rows are prefetched; 0 for not at all.
    pub(super) ahead: isize,
}

/// The loops along which runs of `len` units and `bytes` bytes follow each other in the destination
/// and in the source, if the runs are narrow, and long rows of them are transposed. Strides are in
/// units.
#[inline(always)]
pub(crate) fn transposed([a, b]: [Loop<2>; 2], len: usize, bytes: usize) -> Option<[Loop<2>; 2]> {
    let follow = |columns: Loop<2>, rows: Loop<2>| {
        columns.strides[0] == len as isize && rows.strides[1].unsigned_abs() == len
    };
    // A source row holds a lane, a destination row the runs of one.
    let holds_lane = a.len.min(b.len).saturating_mul(bytes) >= LANE_BYTES;
    let is_narrow = (2..=MAX_NARROW_RUN_BYTES).contains(&bytes);
    match (follow(a, b), follow(b, a)) {
        _ if !is_narrow || !holds_lane => None,
        (true, _) => Some([a, b]),
        (_, true) => Some([b, a]),
        _ => None,
    }
}

impl NarrowRuns {
    /// The runs of two loops with strides in bytes, if they are narrow and transposed.
    #[inline(always)]
    pub(super) fn new(
        src: *const u8,
        dst: *mut u8,
        bytes: usize,
        loops: [Loop<2>; 2],
        ahead: isize,
    ) -> Option<Self> {
        let [columns, rows] = transposed(loops, bytes, bytes)?;
        let ([_, src_step], [dst_step, step]) = (columns.strides, rows.strides);
        let (nu, nv, descending) = (columns.len, rows.len, step < 0);
        Some(Self { src, src_step, dst, dst_step, nu, nv, bytes, descending, ahead })
    }
}
