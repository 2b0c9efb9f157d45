//! Transposes of one and two bytes whose source rows share few sets of a first-level cache: parts
//! of these are buffered. Every SIMD level, rows that lie a power of two apart and nearly so, in
//! both directions; blocks that are cut short on each side; results that start anywhere in a line,
//! with gaps between their rows; in one part and in several.

mod common;

use common::{levels, on_threads, values_of};
use tensor_kernels::{CopyPlan, Element, Exec, Layout, Machine, TensorView, TensorViewMut};

/// The part of a printed plan that says so.
const BUFFERED: &str = "buffered lines";

/// A machine whose caches are small enough for a few hundred rows to be a large transpose.
fn exec(simd: tensor_kernels::SimdLevel) -> Exec {
    let mut exec = Exec::current().unwrap().with_simd(simd).unwrap();
    exec.machine =
        Machine { l1: 4 << 10, l2: 64 << 10, stream: 1 << 20, grain: 8 << 10, ..exec.machine };
    exec
}

/// A transpose: the numbers of source rows and of their elements, and the bytes from one row to the
/// next. Result rows have `gap` elements between them, and start `offset` elements behind a cache
/// line.
#[derive(Clone, Copy, Debug)]
struct Case {
    extents: [usize; 2],
    pitch: usize,
    descends: bool,
    gap: usize,
    offset: usize,
}

fn check<T: Element + PartialEq>(case: Case, nth: fn(usize) -> T) {
    let Case { extents: [rows, columns], pitch, descends, gap, offset } = case;
    let (pitch, line) = (pitch / size_of::<T>(), 64 / size_of::<T>());
    let source: Vec<T> = (0..rows * pitch).map(nth).collect();
    let mut from = Layout::new([columns, rows], [1, pitch], 0).unwrap();
    if descends {
        from = from.flip([1]).unwrap();
    }
    let expected = values_of(&source, &from);
    let mut memory = vec![nth(1); columns * (rows + gap) + 2 * line];
    let start = memory.as_ptr().align_offset(64) + offset;
    let to = Layout::new([columns, rows], [rows + gap, 1], start).unwrap();
    let view = TensorView::new(&source, from.clone()).unwrap();
    for simd in levels() {
        let exec = exec(simd);
        let candidates = CopyPlan::candidates(&from, &to, size_of::<T>(), &exec.machine).unwrap();
        let is_buffered = |plan: &CopyPlan| plan.to_string().contains(BUFFERED);
        let plan = candidates.into_iter().map(|c| c.plan).find(is_buffered);
        let plan = plan.unwrap_or_else(|| panic!("{case:?} is buffered"));
        for threads in [1, 3] {
            memory.fill(nth(1));
            let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
            match threads {
                1 => plan.run(&exec.serial(), &view, &mut into).unwrap(),
                _ => on_threads(threads, || plan.run(&exec, &view, &mut into).unwrap()),
            }
            assert!(values_of(&memory, &to) == expected, "{case:?}, {simd}, {threads} threads");
            let others = |elements: &[T]| elements.iter().filter(|x| **x != nth(1)).count();
            assert_eq!(others(&memory), others(&expected), "{case:?}, {simd}: gaps");
        }
    }
}

/// Source rows around the 512 bytes that are written at once, columns around multiples of the 256
/// that are buffered.
fn check_all<T: Element + PartialEq>(nth: fn(usize) -> T) {
    let least = 512 / size_of::<T>();
    let rows = [least, least + 1, 2 * least + 65];
    let columns = [512, 513, 1030];
    let skew = size_of::<T>();
    let pitches = [4096, 4096 + skew, 8192, 8192 + 4096];
    for (at, (rows, columns)) in rows.iter().flat_map(|&u| columns.map(|v| (u, v))).enumerate() {
        for (nth_pitch, pitch) in pitches.into_iter().enumerate() {
            let (rows, columns) = (rows.max(128 * 1024 / columns / size_of::<T>()), columns);
            let case = Case {
                extents: [rows, columns],
                pitch,
                descends: (at + nth_pitch) % 3 == 0,
                gap: [0, 3, 32][(at + nth_pitch) % 3],
                offset: [0, 1, 17, 31][(at + nth_pitch) % 4],
            };
            check(case, nth);
        }
    }
}

#[test]
fn single_bytes() {
    check_all(|i| (i * 7 % 251) as u8);
}

#[test]
fn two_bytes() {
    check_all(|i| (i * 7 % 65_521) as u16);
}

/// A tile of wider elements has few rows, and rows that lie in all sets need no buffer.
#[test]
fn others_are_not_buffered() {
    let is_buffered = |ways: usize, width: usize, pitch: usize| {
        let from = Layout::new([512, 1000], [1, pitch / width], 0).unwrap();
        let to = Layout::contiguous([512, 1000]).unwrap();
        let machine = Machine { l1: ways * 4096, ..exec(levels()[0]).machine };
        let plans = CopyPlan::candidates(&from, &to, width, &machine).unwrap();
        plans.iter().any(|candidate| candidate.plan.to_string().contains(BUFFERED))
    };
    let layouts = [(1, 4096), (2, 4096), (4, 4096), (1, 1088), (1, 1024)];
    let found = |ways| layouts.map(|(width, pitch)| is_buffered(ways, width, pitch));
    assert_eq!(found(8), [true, true, false, false, false]);
    assert_eq!(found(12), [true, false, false, false, false]);
}
