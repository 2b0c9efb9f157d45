//! Pseudorandom numbers that are the same on every machine, for ever.
//!
//! Only integers are used: logarithms of the C library differ in the last place from one system to
//! the next, and one such place would change a case. The generator is SplitMix64 (Steele, Lea,
//! Flood 2014), which passes BigCrush and whose whole state is one number. Where sizes are spread
//! evenly over their magnitudes, the logarithm is that of the line between powers of two, which is
//! at most 0.09 octaves off.

/// Fractional bits of a logarithm.
const FRACTION_BITS: u32 = 32;

/// A stream of pseudorandom numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A stream for these numbers: different numbers, or another order, give another stream.
    pub(super) fn new(seeds: &[u64]) -> Self {
        let mut random = Random(0);
        for &seed in seeds {
            random.0 = random.next() ^ seed;
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `count`; 0 if that is 0. The bias is at most `count` in 2⁶⁴.
    fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below((high.max(low) - low) as u64 + 1) as usize
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several values.
    pub(super) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// One of several values, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, values: &[(T, u64)]) -> T {
        let mut place = self.below(values.iter().map(|(_, weight)| weight).sum());
        let chosen = values.iter().find(|(_, weight)| match place.checked_sub(*weight) {
            Some(rest) => {
                place = rest;
                false
            }
            None => true,
        });
        chosen.unwrap_or(&values[0]).0
    }

    /// `0..len` in some order.
    pub(super) fn order(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for last in (1..len).rev() {
            order.swap(last, self.between(0, last));
        }
        order
    }

    /// `0..len` in some other order than that, for a `len` of at least 2.
    pub(super) fn other_order(&mut self, len: usize) -> Vec<usize> {
        loop {
            let order = self.order(len);
            if len < 2 || !order.is_sorted() {
                return order;
            }
        }
    }

    /// A number from `low` to `high`, all magnitudes equally likely.
    pub(super) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (from, to) = (log2(low), log2(high.max(low)));
        exp2(from + self.below(to - from + 1)).clamp(low, high.max(low))
    }

    /// Sizes of `dims` dimensions whose product is about `elements`, each at least 2.
    pub(super) fn sizes(&mut self, dims: usize, elements: u64) -> Vec<usize> {
        let weights: Vec<u64> = (0..dims).map(|_| self.weight()).collect();
        let sum: u64 = weights.iter().sum();
        let all = u128::from(log2(elements));
        let share = |weight: u64| (all * u128::from(weight) / u128::from(sum.max(1))) as u64;
        weights.iter().map(|&weight| exp2(share(weight)).max(2) as usize).collect()
    }

    /// Mostly of one magnitude, sometimes far from it.
    fn weight(&mut self) -> u64 {
        let weight = self.below(1000);
        let weight = if self.chance(50) { weight * weight / 1000 } else { weight };
        weight + 50
    }
}

/// The binary logarithm, interpolated between powers of two; 0 for 0.
fn log2(x: u64) -> u64 {
    let power = x.max(1).ilog2();
    let above = u128::from(x.max(1)) - (1 << power);
    (u64::from(power) << FRACTION_BITS) + ((above << FRACTION_BITS) >> power) as u64
}

/// The inverse of [`log2`], rounded; for logarithms below 63.
fn exp2(log: u64) -> u64 {
    let power = 1u128 << (log >> FRACTION_BITS);
    let fraction = u128::from(log & ((1 << FRACTION_BITS) - 1));
    let above = (fraction * power + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
    (power + above) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_one_that_was_published() {
        // The first numbers of SplitMix64 from state 1234567.
        let mut random = Random(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.next(), random.next()], expected);
    }

    #[test]
    fn other_seeds_or_another_order_of_seeds_give_another_stream() {
        let first = |seeds: &[u64]| Random::new(seeds).next();
        assert_eq!(first(&[1, 2]), first(&[1, 2]));
        assert!(first(&[1, 2]) != first(&[2, 1]) && first(&[0]) != first(&[0, 0]));
    }

    #[test]
    fn a_power_of_two_has_a_whole_logarithm_and_every_logarithm_an_inverse() {
        for power in 0..62 {
            assert_eq!(log2(1 << power), power << FRACTION_BITS);
        }
        for x in (1..5000).chain([999_999, 123_456_789]) {
            assert_eq!(exp2(log2(x)), x);
        }
        assert_eq!((log2(0), log2(3) >> (FRACTION_BITS - 1)), (0, 3));
    }

    #[test]
    fn magnitudes_are_within_their_bounds_and_equally_likely() {
        let mut random = Random::new(&[5]);
        let drawn: Vec<u64> = (0..3000).map(|_| random.magnitude(16, 1 << 16)).collect();
        assert!(drawn.iter().all(|x| (16..=1 << 16).contains(x)));
        let below = |bound: u64| drawn.iter().filter(|&&x| x < bound).count();
        assert!((900..1100).contains(&below(256)) && (1900..2100).contains(&below(4096)));
        assert_eq!(random.magnitude(7, 7), 7);
    }

    #[test]
    fn values_are_drawn_as_often_as_their_weights_say() {
        let mut random = Random::new(&[6]);
        let drawn: Vec<char> =
            (0..4000).map(|_| random.weighted(&[('a', 1), ('b', 3), ('c', 0)])).collect();
        let a = drawn.iter().filter(|&&c| c == 'a').count();
        assert!((900..1100).contains(&a) && !drawn.contains(&'c'), "{a}");
    }

    #[test]
    fn the_product_of_sizes_is_near_what_was_asked_for() {
        let mut random = Random::new(&[7]);
        for dims in 1..=6 {
            let sizes = random.sizes(dims, 1 << 20);
            let product = sizes.iter().product::<usize>() as f64 / f64::from(1 << 20);
            assert!(sizes.len() == dims && (0.5..2.0).contains(&product), "{sizes:?}");
        }
    }

    #[test]
    fn an_order_has_every_dimension_once_and_another_order_is_another() {
        let mut random = Random::new(&[8]);
        for len in 0..7 {
            let mut order = random.order(len);
            order.sort_unstable();
            assert_eq!(order, (0..len).collect::<Vec<_>>());
        }
        assert!((0..50).all(|_| random.other_order(2) == [1, 0]));
        assert_eq!(random.other_order(1), [0]);
    }
}
