//! Statistics of the samples of one operation.

use serde::{Deserialize, Serialize};

/// Times that differ by less are equal, even if the samples scatter less: one run does not show the
/// noise between runs.
const NOISE: f64 = 0.03;

/// The time of one operation, in nanoseconds, from many samples.
///
/// Compare the best: noise only adds time. Median and spread show how noisy the samples are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The smallest sample.
    pub best_ns: f64,
    /// The median of the samples.
    pub median_ns: f64,
    /// The interquartile range, relative to the median.
    pub spread: f64,
    /// How many samples were taken.
    pub samples: usize,
    /// How many operations one sample timed together.
    pub batch: u64,
}

impl Timing {
    /// From samples of nanoseconds per operation; `None` if there are none.
    pub fn of(mut samples: Vec<f64>, batch: u64) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        let best_ns = *samples.first()?;
        let at = |share: f64| samples[((samples.len() - 1) as f64 * share).round() as usize];
        let median_ns = at(0.5);
        let spread = (at(0.75) - at(0.25)) / median_ns;
        Some(Timing { best_ns, median_ns, spread, samples: samples.len(), batch })
    }

    /// Whether this time is longer by more than the noise of both.
    pub fn surely_longer_than(&self, other: &Timing) -> bool {
        let noise = self.spread.max(other.spread).max(NOISE);
        self.best_ns > other.best_ns * (1.0 + noise)
    }
}

/// The geometric mean; `None` without ratios.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

/// The smallest ratio: the worst case of a group.
pub fn worst(ratios: &[f64]) -> Option<f64> {
    ratios.iter().copied().min_by(f64::total_cmp)
}

/// The value that a share of all values lies below, interpolated between two as NumPy does; `None`
/// without values. The values are sorted.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = sorted.len().checked_sub(1)? as f64 * share.clamp(0.0, 1.0);
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timing_keeps_best_median_and_spread() {
        let timing = Timing::of(vec![30.0, 10.0, 20.0, 50.0, 40.0], 7).unwrap();
        assert_eq!(
            (timing.best_ns, timing.median_ns, timing.samples, timing.batch),
            (10.0, 30.0, 5, 7)
        );
        assert_eq!(timing.spread, 20.0 / 30.0);
    }

    #[test]
    fn longer_is_longer_than_the_noise_of_both() {
        let timing =
            |best_ns, spread| Timing { best_ns, median_ns: best_ns, spread, samples: 9, batch: 1 };
        let longer = |a, b| Timing::surely_longer_than(&a, &b);
        assert!(longer(timing(104.0, 0.0), timing(100.0, 0.0)));
        assert!(!longer(timing(102.0, 0.0), timing(100.0, 0.0)));
        assert!(!longer(timing(104.0, 0.05), timing(100.0, 0.0)));
        assert!(!longer(timing(104.0, 0.0), timing(100.0, 0.05)));
        assert!(!longer(timing(50.0, 0.0), timing(100.0, 0.0)));
    }

    #[test]
    fn nothing_measured_is_no_timing() {
        assert_eq!(Timing::of(vec![], 1), None);
        assert_eq!((geometric_mean(&[]), worst(&[])), (None, None));
    }

    #[test]
    fn a_quantile_is_interpolated_between_the_values_beside_it() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let at = |share| quantile(&values, share).unwrap();
        assert_eq!([0.0, 0.05, 0.5, 0.875, 1.0].map(at), [1.0, 1.2, 4.0, 12.0, 16.0]);
        assert_eq!((quantile(&[3.0], 0.05), quantile(&[], 0.5)), (Some(3.0), None));
    }

    #[test]
    fn twice_as_fast_and_half_as_fast_average_to_equal() {
        assert!((geometric_mean(&[2.0, 0.5]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(worst(&[2.0, 0.5]), Some(0.5));
    }
}
