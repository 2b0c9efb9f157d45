//! What the passes load and store, against the layouts element by element.

use proptest::prelude::*;
use tensor_kernels::{Layout, SimdLevel, Tensor};

use super::{
    block::{Accesses, Offsets, Table, WINDOW},
    bound_ns,
    kernel::{Run, Widest, dispatch},
    loops::Loops,
    walk::{Blocks, Kind, Order, Pass, Way, ways},
    with_bound,
};

/// Offset and width of each access, ascending.
fn accesses(offsets: &Offsets, widest: usize) -> Vec<(usize, usize)> {
    fn all<O: Copy + Into<u32>>(accesses: &Accesses<O>, widest: usize) -> Vec<(usize, usize)> {
        let at = |offset: &O| -> u32 { (*offset).into() };
        let narrow = accesses.narrow.iter().enumerate();
        let narrow = narrow.flat_map(|(log, all)| all.iter().map(move |o| (at(o), 1 << log)));
        let wide = accesses.wide.iter().map(|o| (at(o), widest));
        let mut all: Vec<_> = narrow.chain(wide).map(|(at, width)| (at as usize, width)).collect();
        all.sort_unstable();
        all
    }
    match offsets {
        Offsets::Near(accesses) => all(accesses, widest),
        Offsets::Far(accesses) => all(accesses, widest),
    }
}

/// How often each byte is covered.
fn coverage(len: usize, ranges: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut counts = vec![0; len];
    for (at, width) in ranges {
        counts[at..at + width].iter_mut().for_each(|count| *count += 1);
    }
    counts
}

/// The bytes that a layout has, of as many as it spans.
fn needed(layout: &Layout, width: usize, len: usize) -> Vec<bool> {
    let mut needed = vec![false; len];
    for at in layout.offsets() {
        needed[at * width..][..width].fill(true);
    }
    needed
}

fn blocks(loops: &Loops, to: usize, from: usize, widest: usize) -> Pass {
    let way = Way { blocks: Blocks::Sides { to, from }, order: Order::Result, streamed: false };
    Pass::new(loops, way, widest).expect("a copy of a few elements has blocks")
}

fn tables(pass: &Pass) -> &[Table] {
    match &pass.kind {
        Kind::Tables(tables) => tables,
        Kind::Row(_) => panic!("a pass of blocks has tables"),
    }
}

/// Checks all steps of a pass against the layout.
fn check(layout: &Layout, width: usize, pass: &Pass, widest: usize) {
    let loops = Loops::of(layout, width).unwrap();
    let (from_len, to_len) = (loops.span().1, layout.numel() * width);
    let (mut loads, mut runs) = (Vec::new(), Vec::new());
    for step in &pass.steps {
        let table = match &pass.kind {
            Kind::Tables(tables) => &tables[step.table as usize],
            Kind::Row(bytes) => {
                loads.push((step.from, *bytes));
                runs.push((step.to, *bytes));
                continue;
            }
        };
        let within = accesses(&table.loads, widest);
        assert!(within.iter().all(|(at, width)| at + width <= table.from_span), "{table:?}");
        loads.extend(within.iter().map(|(at, width)| (step.from + at, *width)));
        let run = |&(start, end): &(u32, u32)| (start as usize, (end - start) as usize);
        let of_runs = coverage(table.to_span, table.runs.iter().map(run));
        let stored = coverage(table.to_span, accesses(&table.stores, widest).into_iter());
        let same = of_runs.iter().zip(&stored).all(|(run, stores)| (*run > 0) == (*stores > 0));
        assert!(same, "stores are those of the runs: {table:?}");
        runs.extend(table.runs.iter().map(run).map(|(at, len)| (step.to + at, len)));
    }
    let loaded = coverage(from_len, loads.into_iter());
    let needed = needed(layout, width, from_len);
    assert!(loaded.iter().zip(&needed).all(|(loads, needed)| !needed || *loads > 0), "{pass:?}");
    let written = coverage(to_len, runs.into_iter());
    assert!(written.iter().all(|runs| *runs == 1), "each byte is in one run: {pass:?}");
}

/// A layout of up to four dimensions, with strides of any sign, gaps and repetitions.
fn layouts() -> impl Strategy<Value = Layout> {
    let dim = (1_usize..9, prop_oneof![-9_isize..10, Just(1), Just(0), Just(40)]);
    proptest::collection::vec(dim, 0..5).prop_map(|dims| {
        let (shape, strides): (Vec<usize>, Vec<isize>) = dims.into_iter().unzip();
        let reach = |(len, stride): (&usize, &isize)| stride.min(&0) * (*len as isize - 1);
        let below: isize = shape.iter().zip(&strides).map(reach).sum();
        Layout::new(shape, strides, below.unsigned_abs() + 3).unwrap()
    })
}

proptest! {
    #[test]
    fn every_way_loads_what_the_layout_has_and_stores_each_byte_of_the_result(
        layout in layouts(),
        width in prop_oneof![Just(1_usize), Just(2), Just(4), Just(8), Just(16)],
        widest in prop_oneof![Just(8_usize), Just(16), Just(32), Just(64)],
    ) {
        let loops = Loops::of(&layout, width).unwrap();
        for way in ways(&loops) {
            if let Some(pass) = Pass::new(&loops, way, widest) {
                check(&layout, width, &pass, widest);
            }
        }
        let blocks = Blocks::Sides { to: 8, from: 8 };
        let grouped = Way { blocks, order: Order::Grouped, streamed: false };
        if let Some(pass) = Pass::new(&loops, grouped, widest) {
            check(&layout, width, &pass, widest);
        }
    }
}

/// Loads and stores of all blocks together.
fn counts(layout: &Layout, width: usize, (to, from): (usize, usize), widest: usize) -> [usize; 2] {
    let pass = blocks(&Loops::of(layout, width).unwrap(), to, from, widest);
    let of = |table: &Table| [&table.loads, &table.stores].map(Offsets::count);
    let all = pass.steps.iter().map(|step| of(&tables(&pass)[step.table as usize]));
    all.fold([0, 0], |[loads, stores], [l, s]| [loads + l, stores + s])
}

#[test]
fn there_are_as_few_accesses_as_registers_allow() {
    let square = Layout::contiguous([64, 64]).unwrap().t().unwrap();
    let lines = 64 * 64 * 4 / 64;
    for sides in [(64, 64), (128, 128), (256, 64), (64, 256)] {
        assert_eq!(counts(&square, 4, sides, 64), [lines, lines], "{sides:?}");
        assert_eq!(counts(&square, 4, sides, 32), [2 * lines, 2 * lines], "{sides:?}");
    }
    // Every second column: a load covers the gaps.
    let thinned = Layout::new([32], [2], 0).unwrap();
    assert_eq!(counts(&thinned, 4, (128, 0), 64), [4, 2]);
    // Rows of 12 bytes: loads of 16, that of the last row begins in the gap before.
    let rows = Layout::new([3, 3], [100, 1], 0).unwrap();
    assert_eq!(counts(&rows, 4, (64, 64), 64), [3, 2]);
    // A single one: nothing else belongs to the block.
    let row = Layout::new([3], [1], 5).unwrap();
    assert_eq!(counts(&row, 4, (64, 64), 64), [2, 2]);
    // A value that is repeated is loaded once.
    let repeated = Layout::new([64], [0], 0).unwrap();
    assert_eq!(counts(&repeated, 8, (512, 64), 64), [1, 8]);
}

#[test]
fn a_pass_writes_the_whole_result_nothing_else_and_depends_on_all_of_the_source() {
    let layout = Layout::new([3, 5, 7], [1, -40, 4], 170).unwrap();
    let loops = Loops::of(&layout, 2).unwrap();
    let source_len = loops.span().1;
    let mut source: Vec<u8> = (0..source_len + WINDOW).map(|i| (i * 37 % 251) as u8).collect();
    let needed = needed(&layout, 2, source_len);
    let bytes = layout.numel() * 2;
    for level in SimdLevel::available() {
        let pass = blocks(&loops, 4096, 64, dispatch(level, Widest));
        let run = |source: &[u8], fill: u8| {
            let mut to = vec![fill; bytes + WINDOW];
            dispatch(level, Run { pass: &pass, from: source, to: &mut to, scratch: &mut [] });
            assert!(to[bytes..].iter().all(|byte| *byte == fill), "{level}");
            to.truncate(bytes);
            to
        };
        let result = run(&source, 0);
        assert_eq!(result, run(&source, 0xFF), "{level}");
        for at in (0..source_len).filter(|&at| needed[at]) {
            source[at] ^= 0x5A;
            assert_ne!(run(&source, 0), result, "{level}: byte {at}");
            source[at] ^= 0x5A;
        }
    }
}

#[test]
fn passes_are_found_for_any_copy() {
    let rows = Layout::contiguous([300, 200]).unwrap().narrow(1, 3, 150).unwrap();
    let layouts = [
        rows.clone(),
        rows.t().unwrap(),
        rows.flip([1]).unwrap(),
        Layout::contiguous([300, 200]).unwrap(),
        Layout::new((), (), 5).unwrap(),
        Layout::new([0, 3], [3, 1], 0).unwrap(),
    ];
    let elements = vec![7_u32; 300 * 200];
    for layout in &layouts {
        let source = (bytemuck::cast_slice(&elements), layout, 4);
        let passes =
            with_bound(SimdLevel::detect(), source, |bound| Ok(bound.contenders().count()));
        assert!(passes.unwrap() > 0, "{layout:?}");
    }
}

/// A reversed result as large as is written past the caches: rows long enough for that.
#[test]
fn long_rows_are_also_written_past_the_caches() {
    let layout = Layout::contiguous([300, 1000]).unwrap().flip([0, 1]).unwrap();
    let loops = Loops::of(&layout, 4).unwrap();
    let blocks = Blocks::Sides { to: 4096, from: 64 };
    let way = Way { blocks, order: Order::Result, streamed: true };
    let pass = Pass::new(&loops, way, 64).unwrap();
    check(&layout, 4, &pass, 64);
    let source = Tensor::<u8>::full([1_200_000 + WINDOW], 3).unwrap().to_vec().unwrap();
    let (mut to, mut scratch) = (vec![1; 1_200_000 + WINDOW], vec![9; pass.longest_run]);
    let run = Run { pass: &pass, from: &source, to: &mut to, scratch: &mut scratch };
    dispatch(SimdLevel::detect(), run);
    assert!(to[..1_200_000].iter().all(|byte| *byte != 1));
    assert!(to[1_200_000..].iter().all(|byte| *byte == 1));
}

#[test]
fn the_bound_is_no_faster_than_a_plain_copy_and_no_slower_than_a_copy_of_the_layout() {
    assert_eq!(bound_ns([20.0], 10.0, [50.0, 90.0]), 20.0);
    assert_eq!(bound_ns([5.0], 10.0, [50.0]), 10.0);
    assert_eq!(bound_ns([5.0, 30.0, 20.0], 10.0, [50.0]), 30.0, "of several inputs");
    assert_eq!(bound_ns([], 10.0, [50.0]), 10.0, "contiguous operands");
    assert_eq!(bound_ns([30.0], 10.0, [25.0, 90.0]), 25.0);
    assert_eq!(bound_ns([30.0], 10.0, [8.0]), 8.0);
}
