//! Copies by packing the source into scratch first: see `plan::copy::packed_source`.

use smallvec::SmallVec;
use tensor_core::sort::sort_by_key;

use super::{
    copy::run_at,
    operands::OperandPtrs,
    regions::Region,
    tile_plans,
    workspace::{Hold, RESERVE_BYTES, Scratch, with_reserve, with_scratch},
};
use crate::{
    exec::SimdLevel,
    nest::Loop,
    plan::{Comparison, Work, source_order, source_tile},
};

/// Copies by tiles of at most `elements` units. The operands are those of C1 for `work`.
pub(super) fn copy(simd: SimdLevel, work: &Work, elements: usize, operands: OperandPtrs<'_, 2>) {
    let task = Task { simd, work, operands };
    let with = |scratch: Scratch<'_>| task.all_tiles(elements, scratch);
    if with_scratch(elements * work.unit, Hold::Leaf, with).is_none() {
        let fewer = elements.min(RESERVE_BYTES / work.unit);
        with_reserve(fewer * work.unit, |scratch| task.all_tiles(fewer, scratch));
    }
}

/// The copy, for one thread.
///
/// Invariant C1: the work was planned for the layouts of the operands, so M1 to M3 hold for the
/// elements that its loops visit.
#[derive(Clone, Copy)]
struct Task<'a> {
    simd: SimdLevel,
    work: &'a Work,
    operands: OperandPtrs<'a, 2>,
}

impl Task<'_> {
    fn all_tiles(self, elements: usize, mut scratch: Scratch<'_>) {
        let Work { unit, starts, outer, .. } = self.work;
        let OperandPtrs([to, from]) = self.operands;
        let counts = source_tile(outer, elements, *unit);
        Region::for_each(outer, &counts, |region| {
            let tile = PackedTile::new(&region.tile, *unit, self.simd);
            let packed = scratch.start(tile.elements * unit);
            region.for_tiles(|corner| {
                let at = |k: usize| starts[k].wrapping_add(corner[k] * *unit as isize);
                let dst = to.base.wrapping_offset(at(0));
                let src = from.base.cast_const().wrapping_offset(at(1));
                let gaps_readable = from.gaps_readable;
                // SAFETY: C1 for the source elements of a tile; `start` has checked that scratch
                // holds them.
                unsafe { run_at(self.simd, &tile.pack, packed, src, gaps_readable) };
                // SAFETY: all elements of the tile have just been written to scratch; C1 for those
                // of the destination.
                unsafe { run_at(self.simd, &tile.unpack, dst, packed.cast_const(), true) };
            });
        });
    }
}

/// The two copies of a tile, wherever it lies.
struct PackedTile {
    elements: usize,
    /// From the source to scratch.
    pack: Work,
    /// From scratch to the destination.
    unpack: Work,
}

impl PackedTile {
    /// The copies of the tile that these loops visit, in units of `unit` bytes.
    fn new(loops: &[Loop<2>], unit: usize, simd: SimdLevel) -> Self {
        let (dense, elements) = dense_strides(loops);
        let with_dense = || loops.iter().zip(&dense);
        let mut pack: SmallVec<[Loop<2>; 6]> = with_dense()
            .filter(|(_, dense)| **dense != 0)
            .map(|(l, &dense)| Loop { len: l.len, strides: [dense, l.strides[1]] })
            .collect();
        sort_by_key(&mut pack, |l| std::cmp::Reverse(l.strides[0]));
        let unpack =
            with_dense().map(|(l, &dense)| Loop { len: l.len, strides: [l.strides[0], dense] });
        let vector = simd.vector_bytes();
        Self {
            elements,
            pack: tile_plans::plan(pack.iter().copied(), unit, Comparison::Full, vector),
            unpack: tile_plans::plan(unpack, unit, Comparison::Full, vector),
        }
    }
}

/// The strides of the elements without gaps, in the order of the source, and their number. Along a
/// loop that repeats a source element there is one.
fn dense_strides(loops: &[Loop<2>]) -> (SmallVec<[isize; 6]>, usize) {
    let mut strides: SmallVec<[isize; 6]> = loops.iter().map(|_| 0).collect();
    let mut elements = 1;
    for at in source_order(loops) {
        strides[at] = elements as isize;
        elements *= loops[at].len;
    }
    (strides, elements)
}
