//! The parts of a random case: shapes, layouts and the configurations to run it in.

use proptest::{collection::vec, prelude::*, sample::Index};
use tensor_kernels::{Layout, Overlap};

use crate::common::{RunConfig, levels, strided};

/// Runs `cases` cases, unless `PROPTEST_CASES` is set. Failures are shrunk and printed, not saved
/// to a file.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

/// The largest number of elements.
const MAX_ELEMENTS: usize = 3000;

/// The largest number of dimensions.
const MAX_RANK: usize = 6;

/// Many dimensions of size up to 9, or a few that exceed a register and a block.
pub(crate) fn shapes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![3 => Just(1usize), 1 => Just(0), 40 => 2..10usize, 4 => 10..200usize];
    let shape = prop_oneof![3 => vec(size, 0..=MAX_RANK), 2 => vec(10..80usize, 1..=3)];
    shape.prop_map(|mut shape| {
        let mut budget = MAX_ELEMENTS;
        for size in &mut shape {
            *size = (*size).min(budget);
            budget /= (*size).max(1);
        }
        shape
    })
}

/// How the stride of a dimension differs from the dense one.
#[derive(Clone, Copy, Debug)]
struct DimStride {
    /// The factor of the dense stride.
    step: usize,
    /// Elements added to the dense stride.
    gap: usize,
    flipped: bool,
    /// Stride 0.
    repeated: bool,
    /// An arbitrary stride, which replaces the dense one.
    arbitrary: Option<isize>,
}

const DENSE: DimStride =
    DimStride { step: 1, gap: 0, flipped: false, repeated: false, arbitrary: None };

/// A recipe for the strides of a shape: the order of the dimensions and their [`DimStride`]s.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    /// Sort keys of the dimensions; the lowest is the fastest in memory.
    order: Vec<u8>,
    dim_strides: Vec<DimStride>,
    lead: usize,
}

/// Dense and other strides, in row-major and in any order.
pub(crate) fn arrangements() -> impl Strategy<Value = Arrangement> {
    let order = prop_oneof![Just((0..MAX_RANK as u8).rev().collect()), vec(any::<u8>(), MAX_RANK)];
    let stride_kind = (
        prop_oneof![6 => Just(1usize), 1 => 2..5usize],
        prop_oneof![6 => Just(0usize), 1 => 1..5usize],
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.12),
        prop::option::weighted(0.08, 1..20isize),
    );
    let stride_kind = stride_kind.prop_map(|(step, gap, flipped, repeated, arbitrary)| DimStride {
        step,
        gap,
        flipped,
        repeated,
        arbitrary,
    });
    let dim_strides = prop_oneof![Just(vec![DENSE; MAX_RANK]), vec(stride_kind, MAX_RANK)];
    (order, dim_strides, 0..4usize).prop_map(|(order, dim_strides, lead)| Arrangement {
        order,
        dim_strides,
        lead,
    })
}

impl Arrangement {
    /// A layout to read, without restrictions.
    pub(crate) fn source(&self, shape: &[usize]) -> Layout {
        self.layout(shape, |stride_kind, nested| match stride_kind.arbitrary {
            _ if stride_kind.repeated => 0,
            Some(stride) => stride,
            None => nested,
        })
    }

    /// A layout to write: the same, or a dense one if two indices would overlap.
    pub(crate) fn destination(&self, shape: &[usize]) -> Layout {
        let arbitrary =
            self.layout(shape, |stride_kind, nested| stride_kind.arbitrary.unwrap_or(nested));
        match arbitrary.self_overlap() {
            Overlap::No => arbitrary,
            _ => self.layout(shape, |_, nested| nested),
        }
    }

    fn layout(&self, shape: &[usize], stride: impl Fn(&DimStride, isize) -> isize) -> Layout {
        let mut dims: Vec<usize> = (0..shape.len()).collect();
        dims.sort_by_key(|&d| self.order[d]);
        let mut strides = vec![0; shape.len()];
        let mut inside = 1;
        for d in dims {
            let stride_kind = &self.dim_strides[d];
            let nested = inside * stride_kind.step + stride_kind.gap;
            inside = nested * shape[d].max(1);
            strides[d] =
                stride(stride_kind, nested as isize) * if stride_kind.flipped { -1 } else { 1 };
        }
        strided(shape, &strides, self.lead)
    }
}

/// A layout that broadcasts to a shape: some sizes are 1 and some leading dimensions are missing.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    ones: Vec<bool>,
    without: Index,
    arrangement: Arrangement,
}

pub(crate) fn inputs() -> impl Strategy<Value = Input> {
    let ones = prop_oneof![Just(vec![false; MAX_RANK]), vec(prop::bool::weighted(0.3), MAX_RANK)];
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

/// The SIMD level of a case, and the distances of source and destination from the start of a cache
/// line.
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
    /// One SIMD level: serial, and on 1, 2 and 7 threads.
    pub(crate) fn run_configs(&self) -> Vec<RunConfig> {
        let level = *self.level.get(&levels());
        let threaded = [1, 2, 7].map(|threads| RunConfig::threaded(level, self.streamed, threads));
        std::iter::once(RunConfig::serial(level, self.streamed)).chain(threaded).collect()
    }
}
