//! Parsing of callgrind profiles.
//!
//! The file lists functions. After `fn=NAME` come lines with a position and one number for each
//! event of the line `events:`; after `calls=TIMES …` comes the inclusive cost of the called
//! function. The sum over the lines of a function is its inclusive cost.

use serde::{Deserialize, Serialize};

use super::counted::MARK;
use crate::{Failure, Result};

/// The counts of one subject. They are the same in every run of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Planning alone. `None` for operations on layouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Cost>,
    /// With a preallocated result, planning included.
    pub run: Cost,
    /// With a newly allocated result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "fresh")]
    pub allocating: Option<Cost>,
    /// Instructions of the allocator, in all parts together.
    pub allocator: u64,
}

/// The counts of one part, with simulated caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions executed.
    pub instructions: u64,
    /// Misses of the first-level caches.
    pub l1_misses: u64,
    /// Misses of all caches.
    pub ll_misses: u64,
    /// The estimate of callgrind: instructions + 10 × L1 misses + 100 × LL misses.
    pub cycles: u64,
}

/// The allocator functions of C.
const ALLOCATOR: &[&str] =
    &["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "free"];

impl Counts {
    /// The parts, by name.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, Cost)> {
        let parts = [("plan", self.plan), ("run", Some(self.run)), ("fresh", self.allocating)];
        parts.into_iter().filter_map(|(name, cost)| Some((name, cost?)))
    }

    /// Whether a part has no instructions.
    pub fn lack_some(&self) -> bool {
        self.parts().any(|(_, cost)| cost.instructions == 0)
    }

    /// Parses a profile without compressed names and positions.
    ///
    /// # Errors
    /// A file that is not a profile, or one without counts.
    pub fn read(text: &str) -> Result<Counts> {
        let events = text.lines().find_map(|line| line.strip_prefix("events:"));
        let events = events.ok_or_else(|| Failure::work("callgrind wrote no profile"))?;
        let events: Vec<&str> = events.split_whitespace().collect();
        let part = |name: &str| {
            let sums = inclusive(text, &format!("{MARK}{name}"), events.len())?;
            Some(Cost::of(&events, &sums))
        };
        let run = part("run").filter(|cost| cost.instructions > 0).ok_or_else(|| {
            Failure::work(
                "callgrind counted no instruction: it finds functions by their names, \
                 so the program must not be stripped of its symbols",
            )
        })?;
        let allocator = allocator(text);
        Ok(Counts { plan: part("plan"), run, allocating: part("allocating"), allocator })
    }
}

impl Cost {
    fn of(events: &[&str], sums: &[u64]) -> Cost {
        let sum = |names: &[&str]| {
            let chosen = events.iter().zip(sums).filter(|(event, _)| names.contains(event));
            chosen.fold(0u64, |total, (_, sum)| total.saturating_add(*sum))
        };
        let instructions = sum(&["Ir"]);
        let l1_misses = sum(&["I1mr", "D1mr", "D1mw"]);
        let ll_misses = sum(&["ILmr", "DLmr", "DLmw"]);
        let misses = |count: u64, cycles: u64| count.saturating_mul(cycles);
        let cycles = instructions
            .saturating_add(misses(l1_misses, 10))
            .saturating_add(misses(ll_misses, 100));
        Cost { instructions, l1_misses, ll_misses, cycles }
    }
}

/// The inclusive cost of the functions whose name contains `name`; `None` if there is none.
fn inclusive(text: &str, name: &str, events: usize) -> Option<Vec<u64>> {
    let (mut sums, mut inside) = (None, false);
    for line in text.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            inside = function.contains(name);
        } else if inside && line.starts_with(|c: char| c.is_ascii_digit()) {
            let sums = sums.get_or_insert_with(|| vec![0; events]);
            // Trailing zeros are omitted.
            let costs = line.split_whitespace().skip(1).filter_map(|cost| cost.parse().ok());
            for (sum, cost) in sums.iter_mut().zip(costs) {
                *sum = u64::saturating_add(*sum, cost);
            }
        }
    }
    sums
}

/// The instructions of all calls of the allocator. The number of calls is not used: it includes
/// calls outside of the marks.
fn allocator(text: &str) -> u64 {
    let (mut sum, mut called, mut below) = (0u64, false, false);
    for line in text.lines() {
        if below {
            let cost = line.split_whitespace().nth(1).and_then(|cost| cost.parse().ok());
            sum = sum.saturating_add(cost.unwrap_or(0));
        }
        below = called && line.starts_with("calls=");
        if let Some(function) = line.strip_prefix("cfn=") {
            called = ALLOCATOR.contains(&function);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "\
# callgrind format
version: 1
positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
fn=bench::track::counted::counted_part_run
0 4 1 1
cfn=bench::track::counted::work::{closure}
calls=1 0 
0 1000 100 50 1 20 3 0 5 1

fn=bench::track::counted::work::{closure}
0 990 100 50 1 20 3 0 5 1
cfn=malloc
calls=2 0 
0 10
cfn=_int_malloc
calls=9 0 
0 10
fn=bench::track::counted::counted_part_plan
0 7
totals: 1011
";

    #[test]
    fn a_part_costs_what_is_below_its_mark() {
        let counts = Counts::read(PROFILE).unwrap();
        let run = Cost { instructions: 1004, l1_misses: 24, ll_misses: 6, cycles: 1844 };
        assert_eq!(counts.run, run);
        assert_eq!(counts.plan.map(|cost| cost.instructions), Some(7));
        assert_eq!((counts.allocating, counts.allocator), (None, 10));
    }

    #[test]
    fn nothing_counted_is_a_failure() {
        let stripped = PROFILE.replace("counted_part_run", "0x00000000000012345");
        let error = Counts::read(&stripped).unwrap_err().to_string();
        assert!(error.contains("stripped of its symbols"), "{error}");
        assert!(Counts::read("").is_err());
    }

    #[test]
    fn fault_counts_beyond_any_number_stay_the_largest_number() {
        let most = u64::MAX.to_string();
        let huge =
            PROFILE.replace(" 1000 ", &format!(" {most} ")).replace("0 10", &format!("0 {most}"));
        let counts = Counts::read(&huge).unwrap();
        assert_eq!((counts.run.instructions, counts.run.cycles), (u64::MAX, u64::MAX));
        assert_eq!(counts.allocator, u64::MAX);
    }
}
