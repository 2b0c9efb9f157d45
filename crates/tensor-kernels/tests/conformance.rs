//! Every path, for every element width, on every instruction set, serial and on threads: all
//! against one oracle, bit for bit.
//!
//! Sources hold signalling NaNs where the type has them. Destinations start as canaries, so a store
//! into a gap, before the first element or after the last one shows. With `TENSOR_SIMD` set only
//! that level is tested, and must be the active one; unset, all that this CPU has.

mod common;

use std::collections::BTreeSet;

use common::{Memory, Sample, Way, levels, strided, ways};
use tensor_kernels::{
    CopyPlan, Exec, Layout, Machine, Ordered, SimdLevel, TensorView, TensorViewMut, copy_into,
    elementwise_path, map_into, zip_into,
};

/// `fn test<T>()` for an element type of every width: each power of two up to 16 twice, as a number
/// and as bytes of any alignment, and others.
macro_rules! for_every_width {
    ($($test:ident),*) => {$(
        mod $test {
            #[test]
            fn width_1() { super::$test::<u8>(); }
            #[test]
            fn width_2() { super::$test::<i16>(); }
            #[test]
            fn width_3() { super::$test::<[u8; 3]>(); }
            #[test]
            fn width_4() { super::$test::<f32>(); }
            #[test]
            fn width_6() { super::$test::<[u8; 6]>(); }
            #[test]
            fn width_8() { super::$test::<f64>(); }
            #[test]
            fn width_12() { super::$test::<[f32; 3]>(); }
            #[test]
            fn width_16() { super::$test::<u128>(); }
            #[test]
            fn width_16_unaligned() { super::$test::<[u8; 16]>(); }
            #[cfg(feature = "complex")]
            #[test]
            fn width_16_complex() { super::$test::<num_complex::Complex<f64>>(); }
            #[test]
            fn width_24() { super::$test::<[u64; 3]>(); }
        }
    )*};
}

for_every_width! { every_path, every_length_of_a_run, every_extent_of_a_transpose, every_elementwise_path }

/// What is copied: a shape, the strides of the source and those of the destination.
struct Case(&'static str, &'static [usize], &'static [isize], &'static [isize]);

/// At least one for each path, with edges that no register and no block divides.
const CASES: &[Case] = &[
    Case("no elements", &[3, 0, 2], &[1, 1, 1], &[0, 2, 1]),
    Case("one element", &[], &[], &[]),
    Case("one element of rank 3", &[1, 1, 1], &[7, -9, 0], &[1, 1, 1]),
    Case("adjacent", &[7, 91], &[91, 1], &[91, 1]),
    Case("adjacent in one order", &[7, 3, 31], &[1, 217, 7], &[1, 217, 7]),
    Case("flipped alike", &[501], &[-1], &[-1]),
    Case("rows out of wider ones", &[9, 37], &[50, 1], &[37, 1]),
    Case("rows into wider ones", &[9, 37], &[37, 1], &[40, 1]),
    Case("rows in another order", &[5, 6, 33], &[33, 165, 1], &[198, 33, 1]),
    Case("rows of a pair", &[19, 6, 2], &[2, 38, 1], &[12, 2, 1]),
    Case("rows of three", &[19, 6, 3], &[3, 57, 1], &[18, 3, 1]),
    Case("rows flipped", &[9, 70], &[-70, 1], &[70, 1]),
    Case("many short rows out of wider ones", &[701, 3], &[5, 1], &[3, 1]),
    Case("many short rows into wider ones", &[701, 3], &[3, 1], &[4, 1]),
    Case("many short rows, backwards into wider ones", &[701, 4], &[-6, 1], &[-5, 1]),
    Case("many short rows that overlap", &[701, 3], &[1, 1], &[3, 1]),
    Case("a short row for many", &[701, 3], &[0, 1], &[3, 1]),
    Case("a short row for many, twice", &[2, 331, 3], &[9, 0, 1], &[993, 3, 1]),
    Case("one for each short row", &[701, 3], &[2, 0], &[3, 1]),
    Case("one for each short row, backwards into wider ones", &[701, 4], &[-1, 0], &[7, 1]),
    Case("windows that overlap", &[40, 9], &[1, 1], &[9, 1]),
    Case("one for all", &[613], &[0], &[1]),
    Case("one for a row", &[13, 71], &[1, 0], &[71, 1]),
    Case("one for a row, with gaps", &[13, 71], &[-3, 0], &[80, 1]),
    Case("a row for all", &[13, 71], &[0, 1], &[71, 1]),
    Case("transpose", &[71, 67], &[1, 71], &[67, 1]),
    Case("transpose into columns", &[71, 67], &[67, 1], &[1, 71]),
    Case("transpose with gaps on both sides", &[35, 67], &[1, 41], &[72, 1]),
    Case("transpose of power-of-two rows", &[64, 40], &[1, 256], &[256, 1]),
    Case("transpose, source columns flipped", &[35, 67], &[1, -41], &[67, 1]),
    Case("transpose, source rows flipped", &[35, 67], &[-1, 41], &[67, 1]),
    Case("transpose, destination flipped", &[35, 67], &[1, 41], &[67, -1]),
    Case("transpose into long rows", &[9, 1100], &[1, 9], &[1100, 1]),
    Case("transpose of several blocks", &[140, 131], &[1, 140], &[131, 1]),
    Case("three channels apart", &[3, 211], &[1, 3], &[211, 1]),
    Case("three channels together", &[211, 3], &[1, 211], &[3, 1]),
    Case("four channels apart", &[4, 130], &[1, 4], &[130, 1]),
    Case("four channels together", &[130, 4], &[1, 130], &[4, 1]),
    Case("channels last to first", &[3, 5, 6, 7], &[210, 1, 35, 5], &[210, 42, 7, 1]),
    Case("channels first to last", &[3, 6, 7, 5], &[210, 7, 1, 42], &[210, 35, 5, 1]),
    Case("batched transpose", &[4, 33, 18], &[594, 1, 33], &[594, 18, 1]),
    Case("axes of rank 3 reversed", &[9, 10, 11], &[1, 9, 90], &[110, 11, 1]),
    Case(
        "axes of rank 8 reversed",
        &[2, 3, 2, 2, 3, 2, 2, 3],
        &[1, 2, 6, 12, 24, 72, 144, 288],
        &[432, 144, 72, 36, 12, 6, 3, 1],
    ),
    Case("backwards", &[501], &[-1], &[1]),
    Case("rows backwards", &[7, 70], &[70, -1], &[70, 1]),
    Case("every second", &[300], &[2], &[1]),
    Case("every second of each row", &[7, 70], &[140, 2], &[70, 1]),
    Case("every third, backwards", &[7, 70], &[210, -3], &[70, 1]),
    Case("every fifth", &[150], &[5], &[1]),
    Case("every seventh, backwards", &[150], &[-7], &[1]),
    Case("to every second", &[300], &[1], &[2]),
    Case("to every third of each row", &[7, 70], &[70, 1], &[210, 3]),
    Case("to every fifth, backwards", &[150], &[1], &[-5]),
    Case("every second to every third", &[301], &[2], &[3]),
    Case("every second, transposed", &[71, 67], &[2, 142], &[67, 1]),
    Case("transposed to every second", &[71, 67], &[1, 71], &[134, 2]),
    Case("every third, transposed to every second", &[35, 67], &[3, 105], &[134, 2]),
    Case("interleaved without nesting", &[3, 2], &[1, 3], &[2, 3]),
    Case("one very long row of columns", &[2, 3000], &[1, 2], &[3000, 1]),
];

impl Case {
    fn layouts(&self, lead: [usize; 2]) -> [Layout; 2] {
        [strided(self.1, self.2, lead[0]), strided(self.1, self.3, lead[1])]
    }
}

/// Copies between two layouts in every given way, and compares all the memory around.
fn check_copy<T: Sample>(from: &Layout, to: &Layout, skew: [usize; 2], ways: &[Way], what: &str) {
    let source = Memory::<T>::samples(common::extent(from), skew[0]);
    let blank = Memory::<T>::room_for(to, skew[1]);
    let expected = blank.with(to, &source.values(from));
    for way in ways {
        let mut result = blank.clone();
        way.run(|exec| copy_into(exec, &source.view(from), &mut result.view_mut(to))).unwrap();
        result.assert_is(&expected, || format!("{what}, {from:?} to {to:?}, {way}"));
    }
}

/// Where the first elements lie: both at the start of a line, and each at the next element or byte.
const LEADS: [[usize; 2]; 3] = [[0, 0], [1, 0], [0, 1]];

fn every_path<T: Sample>() {
    let ways = ways();
    for case in CASES {
        for lead in LEADS {
            let [from, to] = case.layouts(lead);
            check_copy::<T>(&from, &to, lead, &ways, case.0);
        }
    }
}

/// Each power of two must reach every path; other widths are runs of smaller units, which stay
/// runs.
#[test]
fn the_cases_reach_every_path() {
    for width in [1, 2, 4, 8, 16] {
        let path = |case: &Case| {
            let [from, to] = case.layouts([0, 0]);
            CopyPlan::new(&from, &to, width, &Machine::REFERENCE).unwrap().path()
        };
        let reached: BTreeSet<_> = CASES.iter().map(path).collect();
        let missed: Vec<_> = CopyPlan::paths().filter(|path| !reached.contains(path)).collect();
        assert!(missed.is_empty(), "add a case for each of {missed:?} (width {width})");
    }
}

/// All lengths up to two of the widest registers and one, some where streaming and the library's
/// copy begin, and every place in a line.
fn every_length_of_a_run<T: Sample>() {
    let register = 64 / size_of::<T>().min(64);
    let around = |bytes: usize| {
        let len = bytes / size_of::<T>();
        [len.saturating_sub(1), len, len + 1]
    };
    let lengths = (0..=2 * register + 1).chain([256, 1024, 4096].into_iter().flat_map(around));
    let places = (64 / align_of::<T>()).max(1);
    for (turn, len) in lengths.enumerate() {
        check_runs::<T>(len, [turn % places, turn * 7 % places]);
    }
    for place in 0..places {
        for len in [register + 1, 300 / size_of::<T>() + 1] {
            check_runs::<T>(len, [(place + 1) % places, place]);
        }
    }
}

/// Everything that walks one loop: adjacent, one for all, and picked from or spread to steps of
/// either sign.
fn check_runs<T: Sample>(len: usize, skew: [usize; 2]) {
    let ways = serial_ways();
    for [from, to] in [[1, 1], [0, 1], [-1, 1], [2, 1], [-3, 1], [5, 1], [1, 2], [1, -3]] {
        let (from, to) = (strided(&[len], &[from], 0), strided(&[len], &[to], 0));
        check_copy::<T>(&from, &to, skew, &ways, "a run");
    }
}

fn serial_ways() -> Vec<Way> {
    let plain_and_streamed = |simd| [Way::serial(simd, false), Way::serial(simd, true)];
    levels().into_iter().flat_map(plain_and_streamed).collect()
}

/// One more and one less than every register and block that a transpose may be cut into, against
/// each other.
fn every_extent_of_a_transpose<T: Sample>() {
    const EXTENTS: [usize; 15] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 63, 64, 67];
    let ways = serial_ways();
    for (turn, u) in EXTENTS.into_iter().enumerate() {
        for v in EXTENTS {
            // Rows that are padded or not, so that whole lines occur on either side, and do not.
            let [src, dst] = [[v, u], [v + 1, u], [v, u + 3], [64, 128]][turn % 4];
            let from = strided(&[v, u], &[1, src as isize], 0);
            let to = strided(&[v, u], &[dst as isize, 1], 0);
            let skew = [turn % 3, (turn + v) % 5];
            check_copy::<T>(&from, &to, skew, &ways, "a transpose");
        }
    }
}

/// The identity as an elementwise operation is a copy, by another road.
fn every_elementwise_path<T: Sample>() {
    let ways = ways();
    let mut reached = BTreeSet::new();
    for case in CASES {
        let [from, to] = case.layouts([1, 0]);
        reached.insert(elementwise_path([&to, &from], [size_of::<T>(); 2]).unwrap());
        let source = Memory::<T>::samples(common::extent(&from), 1);
        let blank = Memory::<T>::room_for(&to, 0);
        let expected = blank.with(&to, &source.values(&from));
        for way in &ways {
            let mut result = blank.clone();
            let (a, mut out) = (source.view(&from), result.view_mut(&to));
            way.run(|exec| map_into(exec, &a, &mut out, |x| x)).unwrap();
            result.assert_is(&expected, || format!("{}, {from:?} to {to:?}, {way}", case.0));
        }
    }
    let paths = ["lanes", "rows_of_lanes", "tiled_lanes", "picked_lanes", "tiled_and_picked_lanes"];
    let has_kernels = matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16);
    let paths = paths.into_iter().chain(has_kernels.then_some("packed_lanes"));
    assert_eq!(reached, paths.collect(), "cases for every elementwise path");
}

/// Elements that are larger or more aligned than any scratch memory, brought to each other in every
/// elementwise way.
fn large_elements_meet<T: bytemuck::Pod + PartialEq + Send + Sync>(nth: fn(u8) -> T) {
    let shape = [3, 5];
    let source: Vec<T> = (0..60).map(nth).collect();
    for strides in [[5, 1], [1, 3], [10, 2], [-5, -1], [0, 1], [1, 0], [2, 7]] {
        for out in [[5, 1], [1, 3], [10, 2], [2, 7]] {
            let (from, to) = (strided(&shape, &strides, 2), strided(&shape, &out, 1));
            let mut result = vec![nth(99); 60];
            let mut expected = result.clone();
            for (to, from) in common::places(&to).into_iter().zip(common::places(&from)) {
                expected[to] = source[from];
            }
            let a = TensorView::new(&source, from).unwrap();
            for way in ways() {
                let mut view = TensorViewMut::new(&mut result, to.clone()).unwrap();
                way.run(|exec| zip_into(exec, &a, &a, &mut view, |x, _| x)).unwrap();
                assert!(result == expected, "{strides:?} to {out:?}, {way}");
                result.fill(nth(99));
            }
        }
    }
}

#[test]
fn fault_elements_larger_than_scratch_memory() {
    large_elements_meet::<[u8; 20_000]>(|n| [n; 20_000]);
    large_elements_meet::<[u64; 9]>(|n| [n.into(); 9]);
}

#[test]
fn fault_elements_more_aligned_than_scratch_memory() {
    #[derive(Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(256))]
    struct Aligned([u8; 256]);
    large_elements_meet(|n| Aligned([n; 256]));
}

/// The values on which instruction sets are known to differ: NaN on either side, zeros and
/// infinities of either sign, subnormals.
const DELICATE: [f32; 12] = [
    f32::NAN,
    -f32::NAN,
    0.0,
    -0.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MIN_POSITIVE / 3.0,
    -f32::MIN_POSITIVE / 5.0,
    f32::MAX,
    1.0 / 3.0,
    -7.25,
    16_777_217.0,
];

/// The named operations of one or more inputs, as functions of views.
mod named {
    use tensor_kernels::{Exec, TensorView, TensorViewMut, ops};

    pub(super) type Operation = fn(
        &Exec,
        [&TensorView<'_, f32>; 3],
        &mut TensorViewMut<'_, f32>,
    ) -> tensor_kernels::Result<()>;

    pub(super) const ALL: [(&str, Operation); 9] = [
        ("add", |exec, [a, b, _], out| ops::add_into(exec, a, b, out)),
        ("sub", |exec, [a, b, _], out| ops::sub_into(exec, a, b, out)),
        ("mul", |exec, [a, b, _], out| ops::mul_into(exec, a, b, out)),
        ("div", |exec, [a, b, _], out| ops::div_into(exec, a, b, out)),
        ("neg", |exec, [a, _, _], out| ops::neg_into(exec, a, out)),
        ("relu", |exec, [a, _, _], out| ops::relu_into(exec, a, out)),
        ("sqrt", |exec, [a, _, _], out| ops::sqrt_into(exec, a, out)),
        ("exp", |exec, [a, _, _], out| ops::exp_into(exec, a, out)),
        ("mul_add", |exec, [a, b, c], out| ops::mul_add_into(exec, a, b, c, out)),
    ];
}

/// A NaN stays one, but which of two it is, and its sign, is nobody's promise; all else is the same
/// bits.
fn bits(value: f32) -> Option<u32> {
    (!value.is_nan()).then_some(value.to_bits())
}

#[test]
fn fault_every_level_computes_the_same_bits() {
    let n = DELICATE.len();
    let shape = [n, n, n, 3];
    let all = |strides: [isize; 4]| strided(&shape, &strides, 0);
    let inputs = [all([1, 0, 0, 0]), all([0, 1, 0, 0]), all([0, 0, 1, 0])];
    let [a, b, c] = inputs.map(|layout| TensorView::new(&DELICATE, layout).unwrap());
    for (name, operation) in named::ALL {
        let compute = |exec: &Exec| {
            let mut out = vec![0.5f32; a.numel()];
            let layout = Layout::contiguous(&shape).unwrap();
            let mut view = TensorViewMut::new(&mut out, layout).unwrap();
            operation(exec, [&a, &b, &c], &mut view).unwrap();
            out.into_iter().map(bits).collect::<Vec<_>>()
        };
        let expected = Way::serial(SimdLevel::Scalar, false).run(compute);
        for way in ways() {
            assert!(way.run(compute) == expected, "{name}, {way}");
        }
    }
}

#[test]
fn fault_relu_keeps_nan_and_negative_zero() {
    let relu = |x: f32| Ordered::or_zero(x).to_bits();
    for x in [f32::NAN, -f32::NAN, -0.0, 0.0, f32::INFINITY, f32::MIN_POSITIVE] {
        assert_eq!(relu(x), x.to_bits(), "{x}");
    }
    for x in [-f32::MIN_POSITIVE, -1.0, f32::NEG_INFINITY] {
        assert_eq!(relu(x), 0, "{x}");
    }
}
