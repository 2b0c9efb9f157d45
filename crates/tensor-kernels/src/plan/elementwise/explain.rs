//! What a plan of an elementwise operation is made of, for people: how each operand is accessed,
//! the blocks, the stores, and the bytes that are moved.

use super::{Access, ElementwiseWork};

impl<const N: usize> ElementwiseWork<N> {
    /// How operand `k` is accessed. Operand 0 is the result.
    pub(crate) fn access_text(&self, k: usize) -> &'static str {
        match (self.block.area(k).is_some(), self.block.access()[k]) {
            (true, _) if k == 0 && self.stream => "computed in scratch, then streamed to memory",
            (true, _) if k == 0 => "computed in scratch, then copied to its places",
            (true, _) if self.tile.is_some() => "copied to scratch, tile by tile",
            (true, Access::Transposed) => "transposed into scratch, block by block",
            (true, Access::ShortRows) => "short rows, packed into long ones in scratch",
            (true, Access::BroadcastRow) => "the same short row for all, repeated in scratch",
            (true, Access::SplatPerRow) => "one element for each short row, repeated in scratch",
            (true, Access::Gather) => "gathered into scratch, block by block",
            (true, Access::UnitStride) => "copied to scratch, block by block",
            (true | false, Access::Scalar) => "in place, one element for a whole row",
            (false, _) => "in place, adjacent elements",
        }
    }

    /// What is computed at a time.
    pub(crate) fn blocks_text(&self) -> String {
        if let Some(tile) = &self.tile {
            let counts = self.outer.iter().zip(&tile.counts).map(|(l, &count)| {
                if tile.leaves_out(l) { format!("{} equal", l.len) } else { count.to_string() }
            });
            let counts: Vec<String> = counts.collect();
            let columns = self.block.columns();
            return format!("tiles of {} iterations, rows of {columns}", counts.join(" x "));
        }
        let (rows, columns) = (self.block.rows(), self.block.columns());
        match self.block.uses_scratch() {
            true => format!("{rows} x {columns} elements"),
            false => format!("none, row by row of {columns} elements"),
        }
    }

    /// The kind of stores.
    pub(crate) fn stores_text(&self) -> &'static str {
        match self.stream {
            true => "non-temporal, past the caches",
            false => "plain, through the caches",
        }
    }

    /// The bytes of the distinct elements of each operand: what is broadcast counts once.
    pub(crate) fn operand_bytes(&self) -> [usize; N] {
        std::array::from_fn(|k| {
            let moves = |l: &&crate::nest::Loop<N>| l.strides[k] != 0 || l.len == 0;
            let loops = self.outer.iter().chain([&self.rows, &self.columns]).filter(moves);
            loops.fold(self.widths[k], |bytes, l| bytes.saturating_mul(l.len))
        })
    }
}
