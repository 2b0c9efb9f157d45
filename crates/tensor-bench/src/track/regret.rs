//! The regret of the planner over the random copies of a record: how far the plans that it chooses
//! are from the fastest ones.
//!
//! The named cases say whether their plans became slower. Whether the planner chooses well is seen
//! only beside the plans that it did not choose, on layouts that nobody chose. The figure is a
//! ratio of two times of one pass, so it is the same on a machine that is busy.

use serde::{Deserialize, Serialize};

use super::timing::Pass;
use crate::measure::stats::quantile;

/// The fewest copies that have a 95th percentile.
const MIN_CASES: usize = 20;

/// The regret over the random copies of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regret {
    /// How many copies.
    pub cases: usize,
    /// Nineteen in twenty of them have less; from the best times of all passes.
    pub p95: f64,
    /// The same of each pass, in order.
    pub passes: Vec<f64>,
    /// The copy of the largest regret.
    pub worst: String,
    /// Its regret.
    pub worst_regret: f64,
}

/// The best times of the candidates of one copy, the chosen one first, in each pass.
struct Copy<'a> {
    name: String,
    passes: Vec<&'a [f64]>,
}

impl Regret {
    /// Of the subjects that have times of candidates; `None` if they are too few for a percentile.
    pub fn of<'a>(subjects: impl Iterator<Item = (String, &'a [Pass])>) -> Option<Regret> {
        let copy = |(name, passes): (String, &'a [Pass])| {
            let passes = passes.iter().map(Pass::candidates).collect::<Option<Vec<_>>>()?;
            Some(Copy { name, passes })
        };
        let copies: Vec<Copy<'_>> = subjects.filter_map(copy).collect();
        if copies.len() < MIN_CASES {
            return None;
        }
        let passes = copies.iter().map(|copy| copy.passes.len()).min()?;
        let overall: Vec<f64> = copies.iter().map(Copy::regret).collect();
        let worst = (0..copies.len()).max_by(|a, b| overall[*a].total_cmp(&overall[*b]))?;
        let of_pass = |pass| p95(copies.iter().map(|copy| copy.regret_in(pass)).collect());
        Some(Regret {
            cases: copies.len(),
            worst: copies[worst].name.clone(),
            worst_regret: overall[worst],
            passes: (0..passes).map(of_pass).collect::<Option<_>>()?,
            p95: p95(overall)?,
        })
    }

    /// Whether no regret is below 1, as a candidate cannot be slower than itself.
    pub fn is_regret(&self) -> bool {
        let all = self.passes.iter().chain([&self.p95, &self.worst_regret]);
        self.cases > 0 && all.into_iter().all(|regret| *regret >= 1.0)
    }
}

fn p95(mut regrets: Vec<f64>) -> Option<f64> {
    regrets.sort_by(f64::total_cmp);
    quantile(&regrets, 0.95)
}

impl Copy<'_> {
    fn regret(&self) -> f64 {
        self.best(0) / self.best(self.fastest())
    }

    /// In one pass. The candidate that it is compared with is the same in every pass, or the
    /// figure would grow with the number of candidates by noise alone.
    fn regret_in(&self, pass: usize) -> f64 {
        let times = self.passes[pass];
        (times[0] / times[self.fastest()]).max(1.0)
    }

    fn fastest(&self) -> usize {
        let plans = self.passes.iter().map(|times| times.len()).min().unwrap_or(0);
        let by_time = |a: &usize, b: &usize| self.best(*a).total_cmp(&self.best(*b));
        (0..plans).min_by(by_time).unwrap_or(0)
    }

    /// The best time of a candidate in all passes.
    fn best(&self, plan: usize) -> f64 {
        self.passes.iter().map(|times| times[plan]).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(copies: &[Vec<Vec<f64>>]) -> Option<Regret> {
        let passes = |times: &Vec<Vec<f64>>| -> Vec<Pass> {
            times.iter().map(|times| Pass::of_candidates(times.clone())).collect()
        };
        let passes: Vec<Vec<Pass>> = copies.iter().map(passes).collect();
        Regret::of(passes.iter().enumerate().map(|(at, p)| (format!("c{at}"), p.as_slice())))
    }

    /// Twenty copies of two passes whose chosen plan is the fastest, and one more.
    fn with(last: [[f64; 3]; 2]) -> Regret {
        let mut copies = vec![vec![vec![10.0, 20.0], vec![11.0, 21.0]]; 20];
        copies.push(last.map(Vec::from).to_vec());
        of(&copies).unwrap()
    }

    #[test]
    fn the_plan_that_would_have_been_faster_is_found_over_all_passes() {
        // The third candidate is the fastest in both passes together, the second one in the second.
        let regret = with([[30.0, 20.0, 10.0], [33.0, 11.0, 12.0]]);
        assert_eq!((regret.cases, regret.worst.as_str(), regret.worst_regret), (21, "c20", 3.0));
        assert_eq!((regret.p95, regret.passes.as_slice()), (1.0, &[1.0, 1.0][..]));
        let mut copies = vec![vec![vec![30.0, 20.0, 10.0], vec![33.0, 11.0, 12.0]]; 20];
        copies.push(vec![vec![1.0]; 2]);
        let regret = of(&copies).unwrap();
        assert_eq!((regret.p95, regret.passes.as_slice()), (3.0, &[3.0, 2.75][..]));
        assert!(regret.is_regret());
    }

    #[test]
    fn a_percentile_needs_enough_copies_with_candidates() {
        assert_eq!(of(&vec![vec![vec![1.0, 2.0]]; 19]), None);
        assert!(of(&vec![vec![vec![1.0, 2.0]]; 20]).is_some());
    }
}
