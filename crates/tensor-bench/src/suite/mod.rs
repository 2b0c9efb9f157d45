//! Benchmark suites: cases from a file.
//!
//! A suite is a JSON list. A copy case has `group`, `id`, `dtype`, `base` (a dense row-major array)
//! and `ops` (view operations on it: permute, slice, flip, expand, select, view, unfold,
//! as_strided). An elementwise case has `op`, `out_dtype` and `operands`,
//! each with `dtype`, `base` and `ops`. A reduction has `dims` as well, the dimensions that it
//! reduces. All may state the layout of a view (`shape`, `strides`, `offset`, in elements) and are
//! refused if it differs. The result of every case is row-major.

mod by_bytes;
mod candidates;
mod group_stats;
mod judge;
mod kernel;
mod measure;
mod op;
mod parse;
mod path;
mod peers;
mod race;
mod ready;
mod record;
mod reduction;
mod regret;
mod size;
mod summary;
mod text;
mod verdict;
mod work;
mod write;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tensor_kernels::{DType, DimVec};

use crate::cases::operand::Operand;
pub use candidates::{Candidates, times as candidate_times, with_candidates};
pub use judge::{NAIVE, judged};
pub use measure::{Setup, measure, verify};
pub use op::Op;
pub use parse::{case as parse, read, reduced_dims};
pub use path::{explanation, path, path_of_operation, plan};
pub use peers::render as render_peers;
pub use ready::{Ready, with_ready};
pub use record::{Record, SCHEMA};
pub use regret::{Regret, regrets, render as render_regret};
pub use size::{ElementClass, SizeClass};
pub use summary::render as summary;
pub use text::render;
pub(crate) use text::{BOUND, groups};
pub use verdict::{check, verdict};
pub use write::{document, write};

/// What a case is raced against, besides plain copies and the naive loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Against {
    /// Other ways to do the same.
    pub others: Others,
    /// Whether the bound of a copy or of an elementwise operation is measured: the time of the
    /// loads and stores that its layouts need, see `measure::bound`.
    pub bound: bool,
}

impl Against {
    /// Nothing else.
    pub const NAIVE: Against = Against { others: Others::None, bound: false };

    /// Other libraries.
    pub const PEERS: Against = Against { others: Others::Peers, bound: false };
}

/// Other ways to do the work of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// None.
    None,
    /// Other libraries.
    Peers,
    /// For copies, the copy by bytes.
    Bytes,
}

/// One case of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The group: means are over the cases of a group.
    pub group: String,
    /// The name within the group.
    pub id: String,
    /// The operation.
    pub op: Op,
    /// The element type of the result.
    pub out: DType,
    /// The operands, all of one shape.
    pub operands: Vec<Operand>,
    /// The dimensions that a reduction reduces, from 0; none for other operations.
    pub dims: Vec<usize>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.id)
    }
}

impl Case {
    /// The bytes that bandwidths refer to: the result of a copy; operands and result of any other
    /// operation.
    pub fn bytes(&self) -> u64 {
        match self.op {
            Op::Copy => self.result_bytes(),
            _ => self.operands.iter().map(Operand::stored_bytes).sum::<u64>() + self.result_bytes(),
        }
    }

    /// The same with contiguous operands of full size.
    pub fn contiguous_bytes(&self) -> u64 {
        match self.op {
            Op::Copy => self.result_bytes(),
            _ => self.operands.iter().map(Operand::result_bytes).sum::<u64>() + self.result_bytes(),
        }
    }

    /// The same if operands are made contiguous first, the results of those copies included.
    pub fn copy_then_compute_bytes(&self) -> u64 {
        let copied = self.operands.iter().filter(|operand| !operand.layout.is_contiguous());
        copied.map(Operand::result_bytes).sum::<u64>() + self.contiguous_bytes()
    }

    /// The bytes of the result.
    pub fn result_bytes(&self) -> u64 {
        (self.shape().iter().product::<usize>() * self.out.size()) as u64
    }

    /// The bytes that a plain copy is timed with and that the size of the work is judged by: those
    /// of the result, or of the operand of a reduction.
    pub fn full_bytes(&self) -> u64 {
        let read = if self.op.is_reduction() { self.operand_bytes() } else { 0 };
        read.max(self.result_bytes())
    }

    /// The bytes of the first operand as a contiguous array.
    fn operand_bytes(&self) -> u64 {
        self.operands.first().map_or(0, Operand::result_bytes)
    }

    /// The shape of the result.
    pub fn shape(&self) -> DimVec<usize> {
        let full = self.operands.first().map_or(&[][..], |operand| operand.layout.shape());
        let kept = full.iter().enumerate().filter(|(dim, _)| !self.dims.contains(dim));
        kept.map(|(_, &size)| size).collect()
    }

    /// The most memory that measuring this case takes: the base arrays; the preallocated result,
    /// the allocated one, those of the naive loop and of each peer, the expected one; source and
    /// target of the plain copies; a contiguous copy of every operand unless this is a copy, and
    /// two of a reduction's; for the bound another array and result of each operand, and lists of
    /// its steps.
    pub fn memory(&self, against: Against) -> u128 {
        let peers = match against.others {
            Others::None | Others::Bytes => 0,
            Others::Peers => crate::measure::peers::COUNT as u128,
        };
        let bound = u128::from(against.bound && !self.op.is_reduction());
        let bases = self.operands.iter().map(|operand| u128::from(operand.base_bytes()));
        let operands = self.operands.iter().map(|operand| u128::from(operand.result_bytes()));
        let copies = match self.op {
            Op::Copy => 0,
            op if op.is_reduction() => 2,
            _ => 1,
        };
        (1 + bound) * bases.sum::<u128>()
            + copies * operands.sum::<u128>()
            + (4 + peers + 2 * bound * self.operands.len() as u128)
                * u128::from(self.result_bytes())
            + 2 * u128::from(self.full_bytes())
    }
}

/// The figures of one case with one number of threads, as printed by `suite --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The group of the case.
    pub group: String,
    /// The name of the case.
    pub id: String,
    /// The operation.
    pub op: String,
    /// The element type of the result.
    pub dtype: String,
    /// The number of threads.
    pub threads: usize,
    /// [`Case::bytes`].
    pub bytes: u64,
    /// With a preallocated result, planning included.
    #[serde(rename = "into_ns")]
    pub preallocated_ns: f64,
    /// With a newly allocated result each time, which is dropped. Elementwise results have the
    /// layout that the library chooses.
    #[serde(rename = "alloc_ns")]
    pub allocating_ns: f64,
    /// The naive loop, with a preallocated result, on one thread.
    pub naive_ns: f64,
    /// Whether the preallocated time is longer than that of the naive loop by more than the noise.
    pub slower_than_naive: bool,
    /// The naive loop and the libraries that were faster by over 5 % in two measurements. Unknown
    /// in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_than: Option<Vec<String>>,
    /// The fastest plain copy of the bytes of the result; of the operand for a reduction.
    #[serde(rename = "roof_ns")]
    pub plain_copy_ns: f64,
    /// The preallocated time with contiguous operands of full size; of a reduction, that of the
    /// faster order: reduced dimensions last, or first. `None` for copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contiguous_ns: Option<f64>,
    /// The bound of a copy or an elementwise operation; `None` without `--bound`. No more than the
    /// shortest time in which anybody did the same in the same race, and no less than that of the
    /// plain copy, or of the operation on contiguous operands, unless one of these is shorter
    /// still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_ns: Option<f64>,
    /// The path of the plan.
    pub path: String,
    /// Other libraries, on one thread; empty without `--peers`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerTimes>,
    /// The plans that are considered for a copy; `None` without `--candidates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Candidates>,
    /// The family that the case was drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The case as a suite file has it, if it was not read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Value>,
}

/// The times of another library; `None` for what it cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerTimes {
    /// Its name on crates.io.
    pub name: String,
    /// With a preallocated result.
    #[serde(rename = "into_ns")]
    pub preallocated_ns: Option<f64>,
    /// With a newly allocated result each time.
    #[serde(rename = "fresh_ns")]
    pub allocating_ns: Option<f64>,
}

impl Row {
    /// Whether this is a copy: it is compared with a plain copy, not with contiguous operands.
    pub fn is_copy(&self) -> bool {
        self.contiguous_ns.is_none()
    }

    /// The speed as a multiple of that of the naive loop.
    pub fn naive_speedup(&self) -> f64 {
        self.naive_ns / self.preallocated_ns
    }

    /// The size of the elements: of the first operand where the case is known, else of the result.
    /// `None` for an unknown type.
    pub fn elements(&self) -> Option<ElementClass> {
        let operand = self.case.as_ref().and_then(|case| case["operands"][0]["dtype"].as_str());
        let dtype = operand.unwrap_or(&self.dtype).parse::<DType>();
        dtype.ok().map(|dtype| ElementClass::of(dtype.size()))
    }

    /// Whether the naive loop or a library of this name ran the case, with a preallocated result.
    pub fn is_raced_by(&self, name: &str) -> bool {
        let able = |peer: &PeerTimes| peer.name == name && peer.preallocated_ns.is_some();
        name == NAIVE || self.peers.iter().any(able)
    }

    /// The kind of work.
    pub fn kind(&self) -> &'static str {
        match Op::named(&self.op) {
            Some(op) if op.is_reduction() => "reduction",
            _ if self.is_copy() => "copy",
            _ => "elementwise",
        }
    }

    /// What [`Row::score`] is a fraction of.
    pub fn score_name(&self) -> &'static str {
        if self.is_copy() { "% of copy bandwidth" } else { "efficiency" }
    }

    /// The fraction of its bound that it reaches; `None` without a bound.
    pub fn share_of_bound(&self) -> Option<f64> {
        Some(self.bound_ns? / self.preallocated_ns)
    }

    /// The fraction of copy bandwidth, or of the contiguous speed, that the bound reaches; `None`
    /// without a bound.
    pub fn bound_score(&self) -> Option<f64> {
        Some(self.contiguous_ns.unwrap_or(self.plain_copy_ns) / self.bound_ns?)
    }

    /// For a copy the fraction of copy bandwidth; otherwise the efficiency, the fraction of the
    /// speed on contiguous operands.
    pub fn score(&self) -> f64 {
        self.reference_ns() / self.preallocated_ns
    }

    /// The time that [`Row::score`] compares with.
    pub fn reference_ns(&self) -> f64 {
        self.contiguous_ns.unwrap_or(self.plain_copy_ns)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small copy in group `g`, on one thread, without peers.
    pub(crate) fn row(id: &str) -> Row {
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
            slower_than: Some(Vec::new()),
            plain_copy_ns: 80.0,
            contiguous_ns: None,
            bound_ns: None,
            path: "transpose".to_owned(),
            peers: Vec::new(),
            candidates: None,
            family: None,
            case: None,
        }
    }

    #[test]
    fn expanded_operands_and_copies_made_first_move_more_bytes_than_the_view() {
        let suite = r#"[
            {"group": "g", "id": "transposed", "dtype": "f32", "base": [8, 4],
                "ops": [["permute", [1, 0]]]},
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
