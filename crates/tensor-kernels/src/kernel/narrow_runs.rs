//! The operands of a transpose that keeps runs of a few bytes together.

use super::transpose_block::{Residency, TransposeBlock};
use crate::{memory::LANE_BYTES, nest::Loop};

/// The longest run that is transposed in registers: two make a lane.
pub(crate) const MAX_NARROW_RUN_BYTES: usize = LANE_BYTES / 2;

/// A transpose whose elements are runs.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable kernels copy run by run")
)]
pub(crate) struct NarrowRuns {
    /// The rows, of runs in place of elements. Those of the destination have no gaps.
    pub(super) block: TransposeBlock,
    /// The bytes of a run, 2 to [`MAX_NARROW_RUN_BYTES`].
    pub(super) bytes: usize,
    /// Bytes from one run of a source row to the next, which may lie at a lower address. As many
    /// runs as a lane has words lie within a lane.
    pub(super) step: isize,
}

/// The loops along which runs of `len` units of `unit` bytes follow each other in the destination
/// and in the source, if the runs are narrow, and long rows of them are transposed. Strides are in
/// units.
#[inline(always)]
pub(crate) fn transposed([a, b]: [Loop<2>; 2], len: usize, unit: usize) -> Option<[Loop<2>; 2]> {
    let bytes = len.saturating_mul(unit);
    if !(2..=MAX_NARROW_RUN_BYTES).contains(&bytes) {
        return None;
    }
    let in_lane = LANE_BYTES / bytes.next_power_of_two();
    let follow = |columns: Loop<2>, rows: Loop<2>| {
        let step = rows.strides[1].unsigned_abs();
        let lie_in_lane = (in_lane - 1) * step.min(LANE_BYTES) * unit + bytes <= LANE_BYTES;
        columns.strides[0] == len as isize && (len..=LANE_BYTES).contains(&step) && lie_in_lane
    };
    // A source row holds a lane, a destination row the runs of one.
    let holds_lane = a.len.min(b.len).saturating_mul(bytes) >= LANE_BYTES;
    match (follow(a, b), follow(b, a)) {
        _ if !holds_lane => None,
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
        residency: Residency,
    ) -> Option<Self> {
        let [columns, rows] = transposed(loops, bytes, 1)?;
        let ([_, src_step], [dst_step, step]) = (columns.strides, rows.strides);
        let (nu, nv) = (columns.len, rows.len);
        let block = TransposeBlock { src, src_step, dst, dst_step, nu, nv, residency };
        Some(Self { block, bytes, step })
    }
}
