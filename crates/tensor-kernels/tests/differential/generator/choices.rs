//! Where the decisions of a case come from: every one is a number below a bound.
//!
//! The numbers are recorded. Lower numbers mean simpler decisions, and a list that ends early goes
//! on with zeros; so a failing case is shrunk by shortening and lowering its list, without knowing
//! what the numbers decide.

/// A source of decisions, and those that were made.
pub(crate) struct Choices<'b> {
    source: Source<'b>,
    made: Vec<u32>,
}

enum Source<'b> {
    Seeded(u64),
    Listed(&'b [u32]),
    Bytes(&'b [u8]),
}

impl<'b> Choices<'b> {
    /// Decisions that depend on a seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { source: Source::Seeded(seed), made: Vec::new() }
    }

    /// Decisions that were recorded before.
    pub(crate) fn listed(numbers: &'b [u32]) -> Self {
        Self { source: Source::Listed(numbers), made: Vec::new() }
    }

    /// The first numbers of a seed, not yet below any bound: listed, they decide the same.
    pub(crate) fn numbers(mut seed: u64, len: usize) -> Vec<u32> {
        let next = || {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            mixed(seed) as u32
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    /// Decisions made from a fuzzer's bytes.
    pub(crate) fn bytes(bytes: &'b [u8]) -> Self {
        Self { source: Source::Bytes(bytes), made: Vec::new() }
    }

    /// The decisions that were made so far.
    pub(crate) fn made(&self) -> &[u32] {
        &self.made
    }

    /// A number below `bound`.
    pub(crate) fn draw(&mut self, bound: usize) -> usize {
        let number = match &mut self.source {
            Source::Seeded(state) => {
                *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                mixed(*state) as u32 as usize % bound
            }
            Source::Listed(numbers) => {
                let first = numbers.split_off_first();
                first.copied().unwrap_or(0) as usize % bound
            }
            Source::Bytes(bytes) => next_number(bytes, bound) % bound,
        };
        self.made.push(number as u32);
        number
    }

    /// True once in `n` times; false is simpler.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.draw(n) == n - 1
    }

    /// One of some values; the first is simplest.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.draw(from.len())]
    }
}

/// As many bytes as the bound needs; zero at the end.
fn next_number(bytes: &mut &[u8], bound: usize) -> usize {
    let mut number = 0;
    let mut reach = 1;
    while reach < bound {
        let byte = bytes.split_off_first().copied().unwrap_or(0);
        number = number << 8 | usize::from(byte);
        reach <<= 8;
    }
    number
}

/// The output function of SplitMix64.
pub(crate) fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
