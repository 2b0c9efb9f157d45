//! The source of the decisions of a case: each one is a number below a bound.
//!
//! The numbers are recorded. Lower numbers mean simpler decisions, and zeros follow the end of a
//! list. So a failing case is shrunk by shortening and lowering its list, without knowledge of the
//! meaning of the numbers.

/// A source of decisions, with a record of them.
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
    /// Decisions from a seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { source: Source::Seeded(seed), made: Vec::new() }
    }

    /// Recorded decisions.
    pub(crate) fn listed(numbers: &'b [u32]) -> Self {
        Self { source: Source::Listed(numbers), made: Vec::new() }
    }

    /// The first numbers of a seed, before reduction to a bound. As a list they give the same
    /// decisions.
    pub(crate) fn numbers(mut seed: u64, len: usize) -> Vec<u32> {
        let next = || {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            mixed(seed) as u32
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    /// Decisions from a fuzzer's bytes.
    pub(crate) fn bytes(bytes: &'b [u8]) -> Self {
        Self { source: Source::Bytes(bytes), made: Vec::new() }
    }

    /// The decisions so far.
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

    /// True with probability 1/n; false is simpler.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.draw(n) == n - 1
    }

    /// One of the values; the first is the simplest.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.draw(from.len())]
    }
}

/// A number from as many bytes as the bound needs; zero at the end of the bytes.
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
