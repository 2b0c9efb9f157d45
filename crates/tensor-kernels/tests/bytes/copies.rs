//! Every item size from 1 to 70 bytes, on every path, at changing alignments of both buffers.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::MaybeUninit,
};

use proptest::prelude::*;
use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Exec, Layout, Machine, Result, TensorView, TensorViewMut,
    copy_bytes, copy_bytes_uninit, copy_into, to_byte_vec,
};

use crate::{
    common::{CASES, Case, Memory, RunConfig, extent, run_configs, strided},
    items::{Items, copied, samples},
};

const MAX_ITEM_BYTES: usize = 70;

/// Copies between items in a configuration: by a plan made meanwhile, by one made before, by the
/// same without short cuts, and into a vector.
fn check([from, to]: [&Items; 2], skew: [usize; 2], config: RunConfig, what: &str) {
    let source = samples(from, skew[0]);
    let blank = Memory::<u8>::canaries(to.extent(), skew[1]);
    let expected = copied([from, to], &source, &blank);
    let about =
        || format!("{what}, {} bytes in {:?} to {:?}, {config}", from.size, from.pitch, to.pitch);
    let read = || from.view(source.elements());
    let mut result = blank.clone();
    config.run(|exec| copy_bytes(exec, &read(), &mut to.view_mut(result.elements_mut()))).unwrap();
    result.assert_is(&expected, || format!("copied, {}", about()));
    result = blank.clone();
    config.run(|exec| by_plan(exec, &read(), &mut to.view_mut(result.elements_mut()))).unwrap();
    result.assert_is(&expected, || format!("planned, {}", about()));
    result = blank.clone();
    config.run(|exec| as_planned(exec, &read(), &mut to.view_mut(result.elements_mut()))).unwrap();
    result.assert_is(&expected, || format!("without short cuts, {}", about()));
    let vector = config.run(|exec| to_byte_vec(exec, &read())).unwrap();
    let items = from.starts().flat_map(|start| &source.elements()[start..][..from.size]);
    assert!(vector.iter().eq(items), "vector, {}", about());
}

fn by_plan(exec: &Exec, from: &ByteView<'_>, to: &mut ByteViewMut<'_>) -> Result<()> {
    CopyPlan::for_bytes(from, to, &exec.machine)?.run_bytes(exec, from, to)
}

fn as_planned(exec: &Exec, from: &ByteView<'_>, to: &mut ByteViewMut<'_>) -> Result<()> {
    let plan = CopyPlan::for_bytes(from, to, &exec.machine)?;
    plan.without_short_cuts().run_bytes(exec, from, to)
}

/// The cases for an item size, with their numbers: all for the sizes of a few element types, for
/// others one for each path that they take, in turn.
fn cases(size: usize) -> Vec<(usize, &'static Case)> {
    if [1, 2, 3, 4, 8, 12, 16].contains(&size) {
        return CASES.iter().enumerate().collect();
    }
    let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (number, case) in CASES.iter().enumerate() {
        let [from, to] = case.layouts([0, 0]);
        let plan = CopyPlan::new(&from, &to, size, &Machine::REFERENCE).unwrap();
        by_path.entry(plan.path()).or_default().push((number, case));
    }
    by_path.into_values().map(|cases| cases[size % cases.len()]).collect()
}

/// Each case of each item size runs in one of all configurations, at one of all alignments, which
/// change from one to the next.
fn every_case(pads: impl Fn(usize) -> [usize; 2]) {
    let configs = run_configs();
    for size in 1..=MAX_ITEM_BYTES {
        for (number, case) in cases(size) {
            let [from, to] = Items::of_case(case, size, pads(size + number));
            let skew = [(size * 5 + number) % 64, (size + number * 11) % 64];
            let config = configs[(size * 7 + number) % configs.len()];
            check([&from, &to], skew, config, case.0);
        }
    }
}

#[test]
fn every_item_size_on_every_path() {
    every_case(|_| [0, 0]);
}

/// Strides in bytes that are no multiples of the item size, in one operand or in both.
#[test]
fn every_item_size_between_gaps_of_any_size() {
    every_case(|n| [[1, 0], [0, 1], [2, 3], [4, 4], [5, 8]][n % 5]);
}

/// The sizes that kernels are compiled for, at each alignment of either buffer within a cache line.
#[test]
fn every_alignment_of_both_buffers() {
    let configs = run_configs();
    let transpose = |size: usize| {
        let [shape, strides] = [[37, 41], [1, 37]];
        let from = strided(&shape, &strides.map(|stride| stride as isize), 0);
        let to = Layout::contiguous(shape).unwrap();
        [from, to].map(|layout| Items { size, pitch: size, layout })
    };
    let rows = |size: usize| {
        let [from, to] = [[50, 1], [37, 1]].map(|strides| strided(&[9, 37], &strides, 0));
        [from, to].map(|layout| Items { size, pitch: size, layout })
    };
    for size in [1, 2, 4, 8, 16, 12] {
        for skew in 0..64 {
            for (what, [from, to]) in [("transpose", transpose(size)), ("rows", rows(size))] {
                let config = configs[skew % configs.len()];
                check([&from, &to], [skew, 0], config, what);
                check([&from, &to], [0, skew], config, what);
                check([&from, &to], [skew, 63 - skew], config, what);
            }
        }
    }
}

/// The path of a copy, and the width of the units that kernels move.
type Kernel = (&'static str, usize);

/// The kernel, and how far a buffer lies behind the start of a cache line.
type Alignment = (Kernel, usize);

/// The smallest case for each kernel that items of this size take. A unit is the widest power of
/// two that divides an item, up to the widest that kernels move.
fn smallest_cases(size: usize) -> BTreeMap<Kernel, &'static Case> {
    let elements = |case: &Case| case.1.iter().product::<usize>();
    let unit = (1 << size.trailing_zeros()).min(16);
    let mut smallest = BTreeMap::new();
    for case in CASES {
        let [from, to] = case.layouts([0, 0]);
        let plan = CopyPlan::new(&from, &to, size, &Machine::REFERENCE).unwrap();
        let least = smallest.entry((plan.path(), unit)).or_insert(case);
        if elements(case) < elements(least) {
            *least = case;
        }
    }
    smallest
}

/// Alignments that are tested, of which the item sizes that take one kernel share all 64.
struct Alignments {
    /// For each kernel the item sizes that take it.
    sizes: BTreeMap<Kernel, Vec<usize>>,
    /// The alignments of source and destination that have been tested.
    tested: [BTreeSet<Alignment>; 2],
}

impl Alignments {
    fn new() -> Self {
        let mut sizes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for size in 1..=MAX_ITEM_BYTES {
            smallest_cases(size)
                .into_keys()
                .for_each(|key| sizes.entry(key).or_default().push(size));
        }
        Self { sizes, tested: Default::default() }
    }

    /// Those of source and destination for a size.
    fn of(&self, kernel: Kernel, size: usize) -> impl Iterator<Item = [usize; 2]> + use<> {
        let sharing = &self.sizes[&kernel];
        let nth = sharing.iter().position(|&other| other == size).expect("it takes the kernel");
        (nth..64).step_by(sharing.len()).map(|skew| [skew, (skew * 11 + 7) % 64])
    }
}

/// Copies items of `N` bytes by bytes, and as elements of a type of that size.
fn as_typed<const N: usize>(alignments: &mut Alignments) {
    let configs = run_configs();
    for (kernel, case) in smallest_cases(N) {
        let [from, to] = &case.layouts([0, 0]);
        for skews in alignments.of(kernel, N) {
            let config = configs[(skews[1] + N) % configs.len()];
            let source = Memory::<u8>::samples(extent(from) * N, skews[0]);
            let blank = Memory::<u8>::canaries(extent(to) * N, skews[1]);
            let (mut expected, mut result) = (blank.clone(), blank);
            let elements = bytemuck::cast_slice::<_, [u8; N]>(source.elements());
            let output = bytemuck::cast_slice_mut::<_, [u8; N]>(expected.elements_mut());
            let view = TensorView::new(elements, from.clone()).unwrap();
            let mut target = TensorViewMut::new(output, to.clone()).unwrap();
            config.run(|exec| copy_into(exec, &view, &mut target)).unwrap();
            let view = ByteView::new(source.elements(), N, from.clone()).unwrap();
            let mut target = ByteViewMut::new(result.elements_mut(), N, to.clone()).unwrap();
            config.run(|exec| as_planned(exec, &view, &mut target)).unwrap();
            result.assert_is(&expected, || format!("{}, {N} bytes at {skews:?}, {config}", case.0));
            for (tested, skew) in alignments.tested.iter_mut().zip(skews) {
                tested.insert((kernel, skew));
            }
        }
    }
}

macro_rules! each_size_as_typed {
    ($alignments:expr, $($tens:literal)*) => {$(
        as_typed::<{ 10 * $tens + 1 }>($alignments);
        as_typed::<{ 10 * $tens + 2 }>($alignments);
        as_typed::<{ 10 * $tens + 3 }>($alignments);
        as_typed::<{ 10 * $tens + 4 }>($alignments);
        as_typed::<{ 10 * $tens + 5 }>($alignments);
        as_typed::<{ 10 * $tens + 6 }>($alignments);
        as_typed::<{ 10 * $tens + 7 }>($alignments);
        as_typed::<{ 10 * $tens + 8 }>($alignments);
        as_typed::<{ 10 * $tens + 9 }>($alignments);
        as_typed::<{ 10 * $tens + 10 }>($alignments);
    )*};
}

#[test]
fn every_item_size_on_every_path_at_every_alignment_is_the_typed_copy() {
    let mut alignments = Alignments::new();
    each_size_as_typed!(&mut alignments, 0 1 2 3 4 5 6);
    for tested in &alignments.tested {
        assert_eq!(tested.len(), 64 * alignments.sizes.len(), "all of each kernel");
    }
    let mut paths: Vec<_> = alignments.sizes.keys().map(|(path, _)| *path).collect();
    paths.dedup();
    assert!(paths.len() >= 12, "{paths:?}");
}

/// Uninitialised memory is written, and not read before. MemorySanitizer sees both: the comparison
/// reads every item.
#[test]
fn uninitialised_memory_is_written_before_it_is_read() {
    let configs = run_configs();
    for size in (1..=17).chain([24, 32, 33, 64, MAX_ITEM_BYTES]) {
        for (number, case) in cases(size) {
            let [from, to] = Items::of_case(case, size, [0, 0]);
            let source = samples(&from, number % 16);
            let config = configs[(size + number) % configs.len()];
            let items = || from.starts().flat_map(|start| &source.elements()[start..][..size]);
            for way in ["unplanned", "kept plan", "without short cuts"] {
                let mut memory = vec![MaybeUninit::uninit(); to.extent() + 16];
                let target = to.view_uninit(&mut memory[number % 16..]);
                let view = from.view(source.elements());
                let copy = |exec: &Exec| match way {
                    "unplanned" => copy_bytes_uninit(exec, &view, target),
                    _ => {
                        let plan = CopyPlan::for_bytes(&view, &target, &exec.machine)?;
                        let plan =
                            if way == "kept plan" { plan } else { plan.without_short_cuts() };
                        plan.run_bytes_uninit(exec, &view, target)
                    }
                };
                let written = config.run(copy).unwrap();
                let read =
                    to_byte_vec(&Exec::current().unwrap().serial(), &written.as_view()).unwrap();
                assert!(read.iter().eq(items()), "{}, {size} bytes, {way}, {config}", case.0);
            }
        }
    }
}

/// The plan is that of elements of this width, and gives the same bytes as a copy of elements.
#[test]
fn items_are_planned_and_copied_as_elements_are() {
    let exec = Exec::current().unwrap();
    for case in CASES {
        let [from, to] = case.layouts([1, 0]);
        let source = Memory::<u32>::samples(extent(&from), 1);
        let blank = Memory::<u32>::for_layout(&to, 2);
        let mut expected = blank.clone();
        copy_into(exec, source.view(&from), &mut expected.view_mut(&to)).unwrap();
        let mut result = blank.clone();
        let bytes = bytemuck::cast_slice_mut(result.elements_mut());
        let view = ByteView::new(bytemuck::cast_slice(source.elements()), 4, from.clone()).unwrap();
        let mut target = ByteViewMut::new(bytes, 4, to.clone()).unwrap();
        copy_bytes(exec, &view, &mut target).unwrap();
        let plan = CopyPlan::new(&from, &to, 4, &Machine::REFERENCE).unwrap();
        assert_eq!(CopyPlan::for_bytes(&view, &target, &Machine::REFERENCE).unwrap(), plan);
        plan.run_bytes(exec, &view, &mut target).unwrap();
        result.assert_is(&expected, || case.0.to_owned());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any sizes, byte strides of either sign, and addresses.
    #[test]
    fn any_byte_strides(
        size in 1..40usize,
        dims in prop::collection::vec((0..7usize, -60..60isize, any::<bool>()), 0..4),
        order in any::<u64>(),
        skew in [0..64usize, 0..64usize],
        lead in [0..20usize, 0..20usize],
        config in 0..64usize,
    ) {
        let shape: Vec<usize> = dims.iter().map(|&(len, ..)| len).collect();
        let source_strides: Vec<isize> = dims.iter().map(|&(_, stride, _)| stride).collect();
        // Destination strides that do not overlap: some order of the dimensions, with odd gaps.
        let mut by_order: Vec<usize> = (0..dims.len()).collect();
        by_order.sort_by_key(|&d| (order >> (8 * d)) & 255);
        let (mut to_strides, mut reach) = (vec![0; dims.len()], size as isize);
        for d in by_order {
            let stride = reach + ((order >> (3 * d)) % 3) as isize;
            to_strides[d] = if dims[d].2 { -stride } else { stride };
            reach = stride * shape[d].max(1) as isize;
        }
        let [from, to] = [(&source_strides, lead[0]), (&to_strides, lead[1])]
            .map(|(strides, lead)| Bytes { layout: strided(&shape, strides, lead), size });
        let source = Memory::<u8>::samples(from.extent(), skew[0]);
        let blank = Memory::<u8>::canaries(to.extent(), skew[1]);
        let mut expected = blank.clone();
        let [reads, writes] = [&from, &to].map(|at| crate::common::offsets_of(&at.layout));
        for (read, write) in reads.into_iter().zip(writes) {
            let item = &source.elements()[read..][..size];
            expected.elements_mut()[write..][..size].copy_from_slice(item);
        }
        let configs = run_configs();
        let config = configs[config % configs.len()];
        let mut result = blank.clone();
        let view = ByteView::strided(
            source.elements(), size, &shape, &source_strides, from.layout.offset(),
        ).unwrap();
        let mut target = ByteViewMut::strided(
            result.elements_mut(), size, &shape, &to_strides, to.layout.offset(),
        ).unwrap();
        prop_assert_eq!(target.byte_strides(), &to_strides);
        config.run(|exec| copy_bytes(exec, &view, &mut target)).unwrap();
        result.assert_is(&expected, || format!("{config}"));
    }
}

/// Items at the offsets of a layout that counts in bytes.
struct Bytes {
    layout: Layout,
    size: usize,
}

impl Bytes {
    fn extent(&self) -> usize {
        self.layout.bounds().map_or(0, |(_, highest)| highest + self.size)
    }
}
