//! Benchmark suites: cases in a file, so that anyone can bring the shapes they care about.
//!
//! A suite is a JSON list. A copy case has `group`, `id`, `dtype`, `base` (a dense row-major array) and `ops` (view operations on it); an
//! elementwise case has `op`, `out_dtype` and `operands`, each of which has `dtype`, `base` and `ops`. Both may state the layout that
//! results — `shape`, `strides`, `offset`, in elements — and are refused if it is another. The work of a copy case is a row-major copy; of an
//! elementwise case, the row-major result.

mod contest;
mod form;
mod group_stats;
mod kernel;
mod measure;
mod op;
mod path;
mod peers;
mod ready;
mod record;
mod summary;
mod text;
mod verdict;
mod work;

use std::fmt;

use serde::{Deserialize, Serialize};
use tensor_kernels::DType;

use crate::cases::operand::Operand;
pub use form::read;
pub use measure::{Setup, measure, verify};
pub use op::Op;
pub use path::{path, plan};
pub use peers::render as render_peers;
pub use ready::{Ready, with_ready};
pub use record::{Record, SCHEMA};
pub use summary::render as summary;
pub use text::render;
pub use verdict::{check, verdict};

/// Who is raced beside our own work and its roof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The naive loop.
    Naive,
    /// The naive loop and other libraries.
    Peers,
}

/// One case of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Cases of one group are averaged together.
    pub group: String,
    /// The name within the group.
    pub id: String,
    /// The work.
    pub op: Op,
    /// The element type of the result.
    pub out: DType,
    /// What the work is done on; all of one shape.
    pub operands: Vec<Operand>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.id)
    }
}

impl Case {
    /// The bytes of the figures: the result's for a copy, the operands' and the result's for anything else.
    pub fn bytes(&self) -> u64 {
        match self.op {
            Op::Copy => self.result_bytes(),
            _ => self.operands.iter().map(Operand::stored_bytes).sum::<u64>() + self.result_bytes(),
        }
    }

    /// The same if every operand is contiguous and of full size.
    pub fn contiguous_bytes(&self) -> u64 {
        match self.op {
            Op::Copy => self.result_bytes(),
            _ => self.operands.iter().map(Operand::result_bytes).sum::<u64>() + self.result_bytes(),
        }
    }

    /// The same if every operand is made contiguous first: the results of those copies, and what is then done on them.
    pub fn copy_then_compute_bytes(&self) -> u64 {
        let copied = self.operands.iter().filter(|operand| !operand.layout.is_contiguous());
        copied.map(Operand::result_bytes).sum::<u64>() + self.contiguous_bytes()
    }

    /// The bytes of the result.
    pub fn result_bytes(&self) -> u64 {
        (self.numel() * self.out.size()) as u64
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        self.operands.first().map_or(&[], |operand| operand.layout.shape())
    }

    /// The elements of the result.
    pub fn numel(&self) -> usize {
        self.operands.first().map_or(0, |operand| operand.layout.numel())
    }

    /// What measuring this case allocates at most: the bases; results of our own, into and fresh, of the naive loop and each peer, and as
    /// they should be; source and
    /// target of the roof; and for elementwise work every operand once more, contiguous.
    pub fn memory(&self, against: Against) -> u128 {
        let peers = match against {
            Against::Naive => 0,
            Against::Peers => crate::measure::peers::COUNT as u128,
        };
        let bases = self.operands.iter().map(|operand| u128::from(operand.base_bytes()));
        let contiguous = match self.op {
            Op::Copy => 0,
            _ => self.operands.iter().map(|operand| u128::from(operand.result_bytes())).sum(),
        };
        bases.sum::<u128>() + contiguous + (6 + peers) * u128::from(self.result_bytes())
    }
}

/// The figures of one case with one number of threads; the fields of a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case's group.
    pub group: String,
    /// Its name.
    pub id: String,
    /// The work.
    pub op: String,
    /// The element type of the result.
    pub dtype: String,
    /// The threads that were there to use.
    pub threads: usize,
    /// [`Case::bytes`].
    pub bytes: u64,
    /// Into a result that is there already, planning included.
    #[serde(rename = "into_ns")]
    pub preallocated_ns: f64,
    /// Into a fresh result each time, which is dropped; elementwise results are laid out as the library does.
    #[serde(rename = "alloc_ns")]
    pub allocating_ns: f64,
    /// The naive loop, into a result that is there already, on one thread.
    pub naive_ns: f64,
    /// Was `into` slower than the naive loop, by more than the samples scatter?
    pub slower_than_naive: bool,
    /// The fastest plain copy of the bytes of the result.
    #[serde(rename = "roof_ns")]
    pub plain_copy_ns: f64,
    /// The same work, into, with every operand contiguous and of full size. Copies have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contiguous_ns: Option<f64>,
    /// The strategy the plan chose.
    pub path: String,
    /// Other libraries, on one thread; nobody unless they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerTimes>,
}

/// What another library takes for a case; `None` for what it cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerTimes {
    /// Its name on crates.io.
    pub name: String,
    /// Into a result that is there already.
    #[serde(rename = "into_ns")]
    pub preallocated_ns: Option<f64>,
    /// Into a fresh result each time.
    #[serde(rename = "fresh_ns")]
    pub allocating_ns: Option<f64>,
}

impl Row {
    /// Copies have no contiguous case of their own beside them: that is the roof.
    pub fn is_copy(&self) -> bool {
        self.contiguous_ns.is_none()
    }

    /// How well the case does, 1 being as well as can be: a copy's share of the roof, anything else's share of the speed it has on contiguous
    /// operands.
    pub fn score(&self) -> f64 {
        self.contiguous_ns.unwrap_or(self.plain_copy_ns) / self.preallocated_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small copy in group `g`, on one thread, without peers.
    pub(super) fn row(id: &str) -> Row {
        Row {
            group: "g".to_owned(),
            id: id.to_owned(),
            op: "copy".to_owned(),
            dtype: "f32".to_owned(),
            threads: 1,
            bytes: 1024,
            preallocated_ns: 100.0,
            allocating_ns: 200.0,
            naive_ns: 400.0,
            slower_than_naive: false,
            plain_copy_ns: 80.0,
            contiguous_ns: None,
            path: "tile".to_owned(),
            peers: Vec::new(),
        }
    }

    #[test]
    fn expanded_operands_and_copies_made_first_move_more_bytes_than_the_view() {
        let suite = r#"[
            {"group": "g", "id": "transposed", "dtype": "f32", "base": [8, 4], "ops": [["permute", [1, 0]]]},
            {"group": "g", "id": "bias", "op": "add", "out_dtype": "f32", "operands": [
                {"dtype": "f32", "base": [8, 4], "ops": []},
                {"dtype": "f32", "base": [4], "ops": [["expand", [8, 4]]]}]}]"#;
        let cases = read(suite).unwrap();
        let bytes =
            |case: &Case| [case.bytes(), case.contiguous_bytes(), case.copy_then_compute_bytes()];
        assert_eq!(bytes(&cases[0]), [128, 128, 256]);
        assert_eq!(bytes(&cases[1]), [128 + 16 + 128, 3 * 128, 4 * 128]);
    }
}
