//! `explain_elementwise` and `explain_reduction`: loops, paths, blocks and bytes, and the text, on
//! a fixed machine.

#![cfg(feature = "reductions")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::offsets_of;
use proptest::prelude::*;
use tensor_kernels::{
    DType, DTypeError, ElementwiseExplanation, Error, Exec, Layout, Loop, Machine, Par, ReduceDims,
    ReductionExplanation, Slice, elementwise_path, explain_elementwise, explain_operation,
    explain_reduction,
};

/// The reference machine, on one thread: the same everywhere.
fn reference() -> Exec {
    let mut exec = *Exec::current().unwrap();
    (exec.machine, exec.par) = (Machine::REFERENCE, Par::Serial);
    exec
}

fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

fn permuted(base: &[usize], dims: &[isize]) -> Layout {
    dense(base).permute(dims).unwrap()
}

/// The number of distinct elements of a layout.
fn distinct(layout: &Layout) -> usize {
    let mut offsets = offsets_of(layout);
    offsets.sort_unstable();
    offsets.dedup();
    offsets.len()
}

fn assert_lines_are_short(text: &str) {
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// Of floats: the explanation, after the checks that hold for each.
fn elementwise<const N: usize>(layouts: [&Layout; N]) -> ElementwiseExplanation<N> {
    let explained = explain_elementwise(&reference(), layouts, [4; N]).unwrap();
    let text = explained.to_string();
    assert_lines_are_short(&text);
    assert_eq!(explained.path(), elementwise_path(layouts, [4; N]).unwrap(), "{text}");
    let numel = layouts[0].numel();
    assert_eq!(explained.dims().iter().map(|l| l.len).product::<usize>(), numel);
    assert_eq!(explained.loops().iter().map(|l| l.len).product::<usize>(), numel);
    let goes_through_scratch = (0..N).any(|k| explained.access(k).contains("scratch"));
    assert_eq!(explained.scratch_bytes() > 0, goes_through_scratch, "{text}");
    assert_eq!(explained.tasks(), 1);
    for (k, (layout, bytes)) in layouts.into_iter().zip(explained.operand_bytes()).enumerate() {
        assert_eq!(bytes, 4 * distinct(layout), "operand {k}: {text}");
    }
    explained
}

#[test]
fn an_elementwise_operation_is_explained_in_full() {
    let (pixels, means) = (dense(&[64, 9, 3]), dense(&[3]));
    let text = elementwise([&pixels, &pixels, &means]).to_string();
    let expected = "\
elementwise  1728 elements of [4, 4, 4] bytes, the result's first
dims         64 x [27, 27, 0], 9 x [3, 3, 0], 3 x [1, 1, 1] (length x [stride of the result, of each
             input])
fused loops  576 x [3, 3, 0], 3 x [1, 1, 1]
plan         packed_rows: 576 x [3, 3, 0], 3 x [1, 1, 1], operands [UnitStride, UnitStride,
             BroadcastRow]
result       in place, adjacent elements
input 1      in place, adjacent elements
input 2      the same short row for all, repeated in scratch
";
    assert!(text.starts_with(expected), "{text}");
    for title in ["blocks", "scratch", "stores", "threads", "bytes"] {
        assert!(text.lines().any(|line| line.starts_with(title)), "{title}: {text}");
    }
    assert!(text.contains("bytes        6912 written, 6924 read"), "{text}");
}

#[test]
fn each_access_of_an_operand_is_named() {
    let rows = dense(&[512, 256]);
    let every_second = dense(&[512, 512]).slice(1, Slice::ALL.step_by(2)).unwrap();
    let column = dense(&[512, 1]);
    let of_input = |input: &Layout| {
        let explained = elementwise([&rows, input]);
        (explained.path(), explained.access(1))
    };
    assert_eq!(of_input(&rows), ("contiguous", "in place, adjacent elements"));
    let transposed = "transposed into scratch, block by block";
    assert_eq!(of_input(&dense(&[256, 512]).t().unwrap()), ("transposed", transposed));
    let gathered = "gathered into scratch, block by block";
    assert_eq!(of_input(&every_second), ("gathered", gathered));
    let scalars = elementwise([&rows, &rows, &column]);
    assert_eq!(scalars.access(2), "in place, one element for a whole row");
    let equal = elementwise([&rows, &column]);
    assert_eq!(equal.access(0), "computed in scratch, then copied to its places");
    assert_eq!(equal.blocks(), "tiles of 512 x 256 equal iterations, rows of 512");
    let pixels = elementwise([&dense(&[900, 3]), &dense(&[900, 1])]);
    assert_eq!(pixels.access(1), "one element for each short row, repeated in scratch");
    let window = dense(&[900, 4]).narrow(1, 0, 3).unwrap();
    let short = elementwise([&dense(&[900, 3]), &window]);
    assert_eq!(short.access(1), "short rows, packed into long ones in scratch");
    let reversed = permuted(&[12, 13, 14, 15], &[3, 2, 1, 0]);
    let tiled = elementwise([&dense(reversed.shape()), &reversed]);
    assert_eq!((tiled.path(), tiled.access(1)), ("tiled", "copied to scratch, tile by tile"));
    assert!(tiled.blocks().starts_with("tiles of "), "{}", tiled.blocks());
}

#[test]
fn transposed_blocks_have_rows_of_whole_lines_of_the_source() {
    for (shape, blocks) in [([107, 411], "16 x 411 elements"), ([200, 151], "48 x 151 elements")] {
        let columns = dense(&[shape[1], shape[0]]).t().unwrap();
        let explained = elementwise([&dense(&shape), &columns]);
        assert_eq!((explained.path(), explained.blocks()), ("transposed", blocks.to_owned()));
    }
}

#[test]
fn tiles_of_functions_that_compute_much_are_stored_through_the_caches() {
    let reversed = permuted(&[60, 70, 80, 90], &[3, 2, 1, 0]);
    let layouts = [&dense(reversed.shape()), &reversed];
    let stores = |op| explain_operation(&reference(), op, DType::F32, layouts).unwrap().stores();
    assert_eq!(stores("exp"), "plain, through the caches");
    assert_eq!(stores("floor"), "non-temporal, past the caches");
}

#[test]
fn large_results_are_streamed_and_the_bytes_of_a_broadcast_count_once() {
    let rows = dense(&[4096, 4096]);
    let columns = rows.t().unwrap();
    let exec = reference();
    let explained = explain_elementwise(&exec, [&rows, &columns, &rows], [4; 3]).unwrap();
    assert_eq!(explained.stores(), "non-temporal, past the caches");
    assert!(explained.access(0).contains("streamed"), "{explained}");
    let one = dense(&[1, 4096]);
    let explained = explain_elementwise(&exec, [&rows, &rows, &one], [4, 8, 2]).unwrap();
    assert_eq!(explained.operand_bytes(), [64 << 20, 128 << 20, 8192]);
    assert_eq!(explained.stores(), "plain, through the caches");
    let refused = explain_elementwise(&exec, [&one, &rows], [4, 4]).unwrap_err();
    assert!(matches!(refused, Error::Expand { .. }), "{refused}");
}

/// The second operand lies as the result does.
#[test]
fn large_transposes_of_few_channels_are_computed_in_registers() {
    let path = |channels: usize, op| {
        let pixels = permuted(&[400, 1001, channels], &[2, 0, 1]);
        let planes = dense(pixels.shape());
        let layouts = [&planes, &pixels, &planes];
        explain_operation(&reference(), op, DType::F32, layouts).unwrap().path()
    };
    const { assert!(4 * 4 * 400 * 1001 > Machine::REFERENCE.stream) };
    for channels in [4, 7] {
        assert_eq!(path(channels, "add"), "in_registers", "{channels}");
    }
    assert_ne!(path(8, "add"), "in_registers", "more rows");
}

#[test]
fn extreme_operands_are_explained() {
    let empty = dense(&[3, 0, 2]);
    assert_eq!(elementwise([&empty, &empty]).operand_bytes(), [0, 0]);
    elementwise([&Layout::SCALAR, &Layout::SCALAR, &Layout::SCALAR]);
    let huge = dense(&[1]).expand([1_isize << 62]).unwrap();
    let explained = explain_elementwise(&reference(), [&huge, &huge], [16; 2]).unwrap();
    assert_lines_are_short(&explained.to_string());
}

/// Of floats: the explanation, after the checks that hold for each.
fn reduction(
    op: &'static str,
    input: &Layout,
    over: impl Into<ReduceDims> + Clone,
) -> ReductionExplanation {
    let explained = explain_reduction(&reference(), op, DType::F32, input, over.clone()).unwrap();
    let text = explained.to_string();
    assert_lines_are_short(&text);
    let reduced = input.reduced(op, over).unwrap();
    assert_eq!(explained.results(), reduced.shape().iter().product::<usize>(), "{text}");
    assert_eq!(explained.bytes(), 4 * input.numel(), "{text}");
    for loops in [explained.dims(), explained.loops()] {
        assert_eq!(loops.iter().map(|l| l.len).product::<usize>(), input.numel(), "{text}");
    }
    let of = format!("{op} of {} elements of 4 bytes", input.numel());
    assert!(text.contains(&of) && text.contains(explained.path()), "{text}");
    assert_eq!(explained.tasks(), 1);
    explained
}

#[test]
fn a_reduction_is_explained_in_full() {
    let explained = reduction("sum", &dense(&[8, 125, 800]), 2);
    let loops = [(1000, [800, 1]), (800, [1, 0])].map(|(len, strides)| Loop { len, strides });
    assert_eq!(explained.loops(), loops);
    let text = explained.to_string();
    let expected = "\
reduction    sum of 800000 elements of 4 bytes to 1000 of 4 bytes, accumulators of 4 bytes
dims         8 x [100000, 125], 125 x [800, 1], 800 x [1, 0] (length x [stride of the input, of the
             result])
fused loops  1000 x [800, 1], 800 x [1, 0]
path         direct
plan         kept rows, reduced columns, UnitStride: 1000 x [800, 1, 0], 800 x [1, 0, 0], in blocks
             of 1000 x 800
scratch      0 bytes of elements
";
    assert!(text.starts_with(expected), "{text}");
    for title in ["plan", "scratch", "threads", "bytes", "in place", "why"] {
        assert!(text.lines().any(|line| line.starts_with(title)), "{title}: {text}");
    }
    assert!(text.contains("bytes        3200000 read, 4000 written"), "{text}");
}

/// The four paths, whose names and plans are those that run.
#[test]
fn each_path_of_a_reduction_is_explained() {
    let paths = [
        reduction("sum", &dense(&[1000, 800]), 1),
        reduction("sum", &permuted(&[10, 4, 2, 20], &[3, 0, 1, 2]), [0, 2]),
        reduction("max", &dense(&[4, 5]), 0),
        reduction("sum", &dense(&[50_000, 4]), 0),
    ];
    let of: Vec<_> = paths.iter().map(ReductionExplanation::path).collect();
    assert_eq!(of, ["direct", "copied", "listed", "two_stages"]);
    let works: Vec<_> = paths.iter().map(|explained| explained.works().len()).collect();
    assert_eq!(works, [1, 1, 0, 1]);
    assert_eq!(paths[0].scratch_bytes(), 0);
    assert!(paths[1].scratch_bytes() >= 4 * 10 * 4 * 2 * 20, "{}", paths[1]);
    assert!(paths.iter().all(|explained| explained.direct_ns() > 0.0));
}

#[test]
fn reductions_are_known_by_name_and_dtype() {
    let (exec, rows) = (reference(), dense(&[300, 200]));
    let explained = |op, dtype, over: isize| explain_reduction(&exec, op, dtype, &rows, over);
    let text = |op, dtype| explained(op, dtype, 0).unwrap().to_string();
    assert!(text("sum", DType::U8).contains("of 1 bytes to 200 of 8 bytes"));
    assert!(text("mean", DType::F64).contains("of 8 bytes to 200 of 8 bytes"));
    assert!(text("argmax", DType::F32).contains("accumulators of 16 bytes"));
    assert!(text("any", DType::I64).contains("to 200 of 1 bytes"));
    let unsupported = |op, dtype| Error::from(DTypeError::Unsupported { op, dtype });
    assert_eq!(explained("mean", DType::I64, 0).unwrap_err(), unsupported("mean", DType::I64));
    assert_eq!(explained("median", DType::F32, 0).unwrap_err(), unsupported("median", DType::F32));
    assert!(matches!(explained("sum", DType::F32, 2), Err(Error::DimOutOfRange { .. })));
}

#[cfg(feature = "rayon")]
#[test]
fn threads_are_named() {
    let mut exec = reference();
    exec.par = Par::Auto;
    let (rows, columns) = (dense(&[2000, 1000]), permuted(&[1000, 2000], &[1, 0]));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let texts = [
            explain_elementwise(&exec, [&rows, &columns], [4; 2]).unwrap().to_string(),
            explain_reduction(&exec, "sum", DType::F32, &rows, 0).unwrap().to_string(),
        ];
        for text in texts {
            assert!(text.contains("8 tasks for 2 threads"), "{text}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn explanations_of_random_operands_add_up(
        dims in prop::collection::vec((1usize..20, any::<u32>(), 0u8..6, any::<bool>()), 1..5),
    ) {
        let mut order: Vec<isize> = (0..dims.len() as isize).collect();
        order.sort_by_key(|&d| dims[d as usize].1);
        let base: Vec<usize> = dims.iter().map(|dim| dim.0).collect();
        let x = permuted(&base, &order);
        let (mut flipped, mut over) = (Vec::new(), Vec::new());
        let mut bias = x.clone();
        for (d, dim) in dims.iter().enumerate() {
            match dim.2 {
                0 => flipped.push(d as isize),
                1 => bias = bias.narrow(d as isize, 0, 1).unwrap(),
                _ => {}
            }
            if dim.3 {
                over.push(d as isize);
            }
        }
        let x = x.flip(&flipped).unwrap();
        elementwise([&dense(x.shape()), &x, &bias]);
        reduction("sum", &x, &over[..]);
        reduction("argmin", &x, &over[..]);
    }
}
