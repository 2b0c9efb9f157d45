//! Axes: from numbers to coordinates.

/// Maps numbers from `low` to `high`, linearly or logarithmically, to coordinates from `from` to
/// `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) kind: ScaleKind,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScaleKind {
    Linear,
    Logarithmic,
}

impl Scale {
    /// The coordinate of a number, clamped to the ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let (value, low, high) = match self.kind {
            ScaleKind::Linear => (value, self.low, self.high),
            ScaleKind::Logarithmic => (value.ln(), self.low.ln(), self.high.ln()),
        };
        let part = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        self.from + part * (self.to - self.from)
    }

    /// Whether the number is beyond the upper end.
    pub(super) fn cuts(&self, value: f64) -> bool {
        value > self.high
    }

    /// Round numbers on the axis: equal steps, or 1, 2 and 5 times powers of ten, or only the
    /// powers if there are many.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.kind {
            ScaleKind::Linear => {
                let step = self.step();
                let count = ((self.high - self.low) / step + 1e-9).floor() as usize;
                (0..=count).map(|i| self.low + i as f64 * step).collect()
            }
            ScaleKind::Logarithmic => {
                let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
                let few = decades.clone().count() <= 4;
                let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let all =
                    decades.flat_map(|decade| steps.iter().map(move |s| s * 10f64.powi(decade)));
                let within = |tick: &f64| (self.low * 0.999..=self.high * 1.001).contains(tick);
                all.filter(within).collect()
            }
        }
    }

    /// A step of 1, 2 or 5 times a power of ten, for about five ticks.
    fn step(&self) -> f64 {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| round * power >= rough * 0.999);
        round.unwrap_or(10.0) * power
    }
}

/// Moves coordinates apart to a distance of at least `gap`. They keep their order.
pub(super) fn spread_apart(places: &[f64], gap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let mut moved = places.to_vec();
    for pair in order.windows(2) {
        moved[pair[1]] = moved[pair[1]].max(moved[pair[0]] + gap);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(low: f64, high: f64) -> Scale {
        Scale { kind: ScaleKind::Linear, low, high, from: 100.0, to: 200.0 }
    }

    fn logarithmic(low: f64, high: f64) -> Scale {
        Scale { kind: ScaleKind::Logarithmic, ..linear(low, high) }
    }

    #[test]
    fn numbers_have_places_and_those_beyond_the_ends_have_the_ends() {
        assert_eq!(
            [0.0, 2.0, 8.0, 9.0, -1.0].map(|v| linear(0.0, 8.0).at(v)),
            [100.0, 125.0, 200.0, 200.0, 100.0]
        );
        assert_eq!(
            [1.0, 10.0, 100.0].map(|v| logarithmic(1.0, 100.0).at(v)),
            [100.0, 150.0, 200.0]
        );
        assert!(linear(0.0, 8.0).cuts(8.1) && !linear(0.0, 8.0).cuts(8.0));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(linear(0.0, 8.0).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(linear(0.0, 3.0).ticks(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(logarithmic(1.0, 30.0).ticks(), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(logarithmic(1.0, 1e5).ticks(), [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0]);
    }

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        assert_eq!(spread_apart(&[30.0, 10.0, 12.0], 12.0), [34.0, 10.0, 22.0]);
        assert_eq!(spread_apart(&[10.0, 50.0], 12.0), [10.0, 50.0]);
    }
}
