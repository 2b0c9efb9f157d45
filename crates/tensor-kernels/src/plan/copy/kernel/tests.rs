//! Which kernel the cost model expects for a step, and how much that moves.

use super::*;
use crate::{kernel::Residency, memory::Stores, nest::Loops};

fn gather(unit: usize, len: usize, step: isize, vector: usize) -> Kernel {
    let inner = Inner::Gather { len, step };
    let (starts, outer, stores) = ([0; 2], Loops::new(), Stores::Plain);
    let (residency, path) = (Residency::Cached, "gather");
    let work = Work { unit, starts, outer, inner, stores, residency, repeats: None, path };
    work.kernel_work(vector).kernel
}

#[test]
fn fewer_units_than_a_lane_are_gathered_one_by_one() {
    assert_eq!(gather(1, 15, -1, 64), Kernel::Units);
    assert_eq!(gather(1, 16, -1, 64), Kernel::Gather);
    assert_eq!(gather(8, 2, 2, 32), Kernel::Gather);
}

#[test]
fn steps_above_four_are_picked_by_wide_registers_only() {
    assert_eq!(gather(2, 33, 5, 64), Kernel::Gather);
    assert_eq!(gather(2, 32, 5, 64), Kernel::Units, "the last register reads past a gap");
    assert_eq!(gather(2, 33, 5, 32), Kernel::Units);
    assert_eq!(gather(2, 33, 9, 64), Kernel::Units);
}

#[test]
fn mirrored_pixels_are_pixels() {
    let side = |len: usize, stride: isize| Side { len, stride };
    let kernel = |u: Side, v: Side| tile(u, v, usize::MAX, 1, 64).kernel;
    for direction in [1, -1] {
        assert_eq!(kernel(side(151, 3 * direction), side(3, 13288)), Kernel::Pixels);
        assert_eq!(kernel(side(3, 13288), side(151, 3 * direction)), Kernel::Pixels);
    }
    assert_eq!(kernel(side(151, 3), side(2, 13288)), Kernel::Pixels);
    assert_ne!(kernel(side(151, -3), side(2, 13288)), Kernel::Pixels, "a gap");
}

#[test]
fn tiles_narrower_than_a_lane_are_copied_unit_by_unit() {
    let side = |len: usize, stride: isize| Side { len, stride };
    let kernel = |u, unit| tile(u, side(694, 72), usize::MAX, unit, 32).kernel;
    assert_eq!(kernel(side(8, 6246), 1), Kernel::UnitsOfTile);
    assert_eq!(kernel(side(8, 6246), 2), Kernel::NarrowTiles);
}

#[test]
fn tiles_are_as_wide_as_the_columns_hold() {
    let of = |register| [4, 8, 9, 13, 16, 17, 25].map(|nu| tile_of(nu, 48, 4, register));
    let [narrow, half, whole] = [(4, 16), (8, 4), (16, 4)];
    assert_eq!(of(16), [narrow, half, narrow, half, whole, whole, whole]);
    assert_eq!(of(4), [(4, 4), half, half, half, whole, whole, whole], "a lane is a register");
    assert_eq!(tile_of(5, 15, 4, 16), (4, 4), "rows are shorter than a register");
    assert_eq!(tile_of(9, 17, 4, 16), (8, 4), "two registers of rows, of which one repeats");
    // 19 columns are two tiles of 16; 5 rows are two of 4.
    assert_eq!(tile_bytes((19, 16), (5, 4), 4), f64::from(32 * 8 * 4));
}
