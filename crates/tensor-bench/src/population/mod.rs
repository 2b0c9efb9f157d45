//! Random layouts, drawn from families: what named cases cannot show.
//!
//! A suite of chosen cases says how fast those are. Which layouts are slow is only seen on layouts
//! that nobody chose. [`draw`] makes any number of them from a seed; [`sweep()`] makes transposes
//! of squares of all sizes. Both give cases of a suite, which are measured and saved as any other.
//!
//! Each case has a stream of pseudorandom numbers of its own, made of the seed, the kind of work,
//! the family and the number of the case in it. So a case stays what it is when more cases are
//! drawn or other families are left out; only the bounds of sizes and the element types change it.

mod elementwise;
mod family;
mod markdown;
mod random;
mod reduction;
mod summary;
mod sweep;
mod text;

#[cfg(test)]
mod tests;

use clap::ValueEnum;
use tensor_kernels::DType;

use crate::{
    Failure, Result,
    cases::{operand::Operand, view_op::ViewOp},
    suite::{Case, Op, SizeClass},
};
pub use family::Family;
pub use markdown::markdown;
use random::Random;
pub use summary::{BoundQuantiles, Class, Quantiles, SlowerThan, Slowest, Summary, summaries};
pub use sweep::{Sweep, sweep};
pub use text::{LEGEND, render};

/// The kind of work. Its position in the list is part of what cases are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Kind {
    /// Copies to row-major order
    Copy,
    /// Elementwise operations
    Elementwise,
    /// Sums, maxima and the like, over any dimensions
    Reduce,
}

impl Kind {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Copy => "copy",
            Kind::Elementwise => "elementwise",
            Kind::Reduce => "reduce",
        }
    }

    /// The families that are drawn if none is named.
    pub fn families(self) -> impl Iterator<Item = Family> {
        Family::value_variants().iter().copied().filter(move |&family| self.has(family))
    }

    /// Only operations of several operands can have them in several orders, and only a reduction of
    /// a contiguous array is not the same for all of them.
    fn has(self, family: Family) -> bool {
        match family {
            Family::Mixed => self == Kind::Elementwise,
            Family::Contiguous => self == Kind::Reduce,
            _ => true,
        }
    }

    /// The element types that are drawn if none is named, with their weights.
    fn dtypes(self) -> &'static [(DType, u64)] {
        use DType::{C128, F16, F32, F64, I32, U8, U16};
        match self {
            Kind::Copy => &[(U8, 4), (U16, 2), (F32, 8), (F64, 4), (C128, 1)],
            Kind::Elementwise => &[(F32, 1)],
            Kind::Reduce => &[(F32, 6), (F64, 2), (U8, 1), (I32, 1), (F16, 1)],
        }
    }
}

/// The bytes of a result, or of the operand of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No fewer than these.
    pub low: u64,
    /// No more than these.
    pub high: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { low: 200, high: 48_000_000 }
    }
}

/// What to draw.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The kind of work.
    pub kind: Kind,
    /// Other seeds give other cases.
    pub seed: u64,
    /// How many cases.
    pub count: usize,
    /// The families, drawn in turn; all that the kind has if there are none.
    pub families: Vec<Family>,
    /// The bytes of results or of operands, all magnitudes equally likely.
    pub bounds: Bounds,
    /// The element types, each as often; the usual mixture of the kind if there are none.
    pub dtypes: Vec<DType>,
}

/// A case and the family it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The family.
    pub family: Family,
    /// The case, in the group of its size.
    pub case: Case,
}

/// Draws that are thrown away, such as contiguous views, before a case counts as impossible.
const ATTEMPTS: u64 = 1000;

/// A view may skip so much of its array: eight bytes of the array for each of the largest result.
const ARRAY_BYTES_PER_RESULT_BYTE: u64 = 8;

/// Draws the cases: family by family in turn.
///
/// # Errors
/// [`Failure::Input`] for a family or an element type that the kind of work does not have, and for
/// bounds that leave nothing to draw.
pub fn draw(spec: &Spec) -> Result<Vec<Drawn>> {
    let families = families(spec)?;
    let cases = (0..spec.count).map(|at| {
        let family = families[at % families.len()];
        let case = spec.case(family, at / families.len())?;
        Ok(Drawn { family, case })
    });
    cases.collect()
}

fn families(spec: &Spec) -> Result<Vec<Family>> {
    if spec.families.is_empty() {
        return Ok(spec.kind.families().collect());
    }
    match spec.families.iter().find(|&&family| !spec.kind.has(family)) {
        None => Ok(spec.families.clone()),
        Some(family) => {
            let has: Vec<_> = spec.kind.families().map(Family::name).collect();
            let (kind, family, has) = (spec.kind.name(), family.name(), has.join(", "));
            Err(Failure::input(format!("{kind} has no family {family}: expected one of {has}")))
        }
    }
}

impl Spec {
    /// The case of this number in a family.
    fn case(&self, family: Family, number: usize) -> Result<Case> {
        let seeds = [self.seed, self.kind as u64, family as u64, number as u64];
        let id = format!("{}_{number}", family.name());
        for attempt in 0..ATTEMPTS {
            let mut random = Random::new(&[&seeds[..], &[attempt]].concat());
            if let Some(case) = self.attempt(&mut random, family, &id)? {
                return Ok(case);
            }
        }
        let Bounds { low, high } = self.bounds;
        let what = if self.kind == Kind::Reduce { "an operand" } else { "a result" };
        Err(Failure::input(format!("found no case {id} with {what} of {low} to {high} bytes")))
    }

    /// `None` for a draw that is not wanted.
    fn attempt(&self, random: &mut Random, family: Family, id: &str) -> Result<Option<Case>> {
        let dtype = match self.dtypes.as_slice() {
            [] => random.weighted(self.kind.dtypes()),
            dtypes => random.one_of(dtypes),
        };
        let width = dtype.size() as u64;
        let bytes = random.magnitude(self.bounds.low, self.bounds.high);
        let view = family.draw(random, (bytes / width).max(4));
        let Some(operand) = self.operand(dtype, view) else { return Ok(None) };
        let case = match self.kind {
            Kind::Copy => Some(copy(operand)),
            Kind::Elementwise => Some(elementwise::case(random, family, operand)?),
            Kind::Reduce => reduction::case(random, operand),
        };
        let Some(mut case) = case else { return Ok(None) };
        case.group = SizeClass::of(&case).name().to_owned();
        case.id = match self.kind {
            Kind::Copy => id.to_owned(),
            // Cases of several kinds can be put into one file.
            _ => format!("{}_{id}", case.op.name()),
        };
        Ok(Some(case))
    }

    /// `None` for a view out of bounds, and for a contiguous one unless it is reduced: a copy of it
    /// is a plain copy.
    fn operand(&self, dtype: DType, (base, ops): (Vec<usize>, Vec<ViewOp>)) -> Option<Operand> {
        let operand = Operand::new(dtype, base, ops).ok()?;
        let Bounds { low, high } = self.bounds;
        let fits = (low..=high).contains(&operand.result_bytes())
            && operand.base_bytes() <= high.saturating_mul(ARRAY_BYTES_PER_RESULT_BYTE);
        let wanted = self.kind == Kind::Reduce || !operand.layout.is_contiguous();
        (fits && wanted).then_some(operand)
    }
}

fn copy(operand: Operand) -> Case {
    let out = operand.dtype;
    Case {
        group: String::new(),
        id: String::new(),
        op: Op::Copy,
        out,
        operands: vec![operand],
        dims: vec![],
    }
}
