//! What a random case is made of.

use proptest::{collection::vec, prelude::*, sample::Index};
use tensor_kernels::{Layout, Overlap};

use crate::common::{Way, levels, strided};

/// So many cases, unless `PROPTEST_CASES` says otherwise. No file is written for failures: the case
/// is shrunk and printed whole.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

/// Up to this many elements.
const LARGEST: usize = 3000;

/// Up to this many dimensions.
const RANK: usize = 6;

/// Many dimensions of up to 9, or a few that go beyond a register and a block.
pub(crate) fn shapes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![3 => Just(1usize), 1 => Just(0), 40 => 2..10usize, 4 => 10..200usize];
    let shape = prop_oneof![3 => vec(size, 0..=RANK), 2 => vec(10..80usize, 1..=3)];
    shape.prop_map(|mut shape| {
        let mut room = LARGEST;
        for size in &mut shape {
            *size = (*size).min(room);
            room /= (*size).max(1);
        }
        shape
    })
}

/// How a dimension lies in memory, apart from the order.
#[derive(Clone, Copy, Debug)]
struct Lie {
    /// Every so-manieth element of what lies inside.
    step: usize,
    /// Elements left free.
    gap: usize,
    flipped: bool,
    /// Stride 0.
    repeated: bool,
    /// A stride that has nothing to do with what lies inside.
    astray: Option<isize>,
}

const DENSE: Lie = Lie { step: 1, gap: 0, flipped: false, repeated: false, astray: None };

/// How the dimensions lie, and where the lowest element is.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    /// The dimension with the lowest one is the fastest in memory.
    order: Vec<u8>,
    lies: Vec<Lie>,
    lead: usize,
}

/// Some dense, some not; some row-major, some in any order.
pub(crate) fn arrangements() -> impl Strategy<Value = Arrangement> {
    let order = prop_oneof![Just((0..RANK as u8).rev().collect()), vec(any::<u8>(), RANK)];
    let lie = (
        prop_oneof![6 => Just(1usize), 1 => 2..5usize],
        prop_oneof![6 => Just(0usize), 1 => 1..5usize],
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.12),
        prop::option::weighted(0.08, 1..20isize),
    );
    let lie = lie.prop_map(|(step, gap, flipped, repeated, astray)| Lie {
        step,
        gap,
        flipped,
        repeated,
        astray,
    });
    let lies = prop_oneof![Just(vec![DENSE; RANK]), vec(lie, RANK)];
    (order, lies, 0..4usize).prop_map(|(order, lies, lead)| Arrangement { order, lies, lead })
}

impl Arrangement {
    /// A layout to read: anything goes.
    pub(crate) fn source(&self, shape: &[usize]) -> Layout {
        self.layout(shape, |lie, nested| match lie.astray {
            _ if lie.repeated => 0,
            Some(stride) => stride,
            None => nested,
        })
    }

    /// A layout to write: the same, unless two indices would meet.
    pub(crate) fn destination(&self, shape: &[usize]) -> Layout {
        let astray = self.layout(shape, |lie, nested| lie.astray.unwrap_or(nested));
        match astray.self_overlap() {
            Overlap::No => astray,
            _ => self.layout(shape, |_, nested| nested),
        }
    }

    fn layout(&self, shape: &[usize], stride: impl Fn(&Lie, isize) -> isize) -> Layout {
        let mut dims: Vec<usize> = (0..shape.len()).collect();
        dims.sort_by_key(|&d| self.order[d]);
        let mut strides = vec![0; shape.len()];
        let mut inside = 1;
        for d in dims {
            let lie = &self.lies[d];
            let nested = inside * lie.step + lie.gap;
            inside = nested * shape[d].max(1);
            strides[d] = stride(lie, nested as isize) * if lie.flipped { -1 } else { 1 };
        }
        strided(shape, &strides, self.lead)
    }
}

/// A layout that broadcasts to a shape: as it lies, with some sizes 1 and some of the first
/// dimensions left out.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    ones: Vec<bool>,
    without: Index,
    arrangement: Arrangement,
}

pub(crate) fn inputs() -> impl Strategy<Value = Input> {
    let ones = prop_oneof![Just(vec![false; RANK]), vec(prop::bool::weighted(0.3), RANK)];
    (ones, any::<Index>(), arrangements()).prop_map(|(ones, without, arrangement)| Input {
        ones,
        without,
        arrangement,
    })
}

impl Input {
    pub(crate) fn layout(&self, shape: &[usize]) -> Layout {
        let broadcast = self.ones.contains(&true);
        let without = if broadcast { self.without.index(shape.len() + 1) } else { 0 };
        let size = |(d, &size): (usize, &usize)| if self.ones[d] { 1 } else { size };
        let smaller: Vec<_> = shape.iter().enumerate().map(size).skip(without).collect();
        self.arrangement.source(&smaller)
    }
}

/// How a case runs, and how far the memory of source and destination is from the start of a line.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    level: Index,
    streamed: bool,
    pub(crate) skew: [usize; 2],
}

pub(crate) fn settings() -> impl Strategy<Value = Setting> {
    (any::<Index>(), any::<bool>(), [0..9usize, 0..9usize])
        .prop_map(|(level, streamed, skew)| Setting { level, streamed, skew })
}

impl Setting {
    /// One instruction set: serial, and on 1, 2 and 7 threads.
    pub(crate) fn ways(&self) -> Vec<Way> {
        let level = *self.level.get(&levels());
        let threaded = [1, 2, 7].map(|threads| Way::threaded(level, self.streamed, threads));
        std::iter::once(Way::serial(level, self.streamed)).chain(threaded).collect()
    }
}
