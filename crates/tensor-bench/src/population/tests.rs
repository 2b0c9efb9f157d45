use super::*;
use crate::{
    input::chain::Chain,
    suite::{document, parse},
};

fn spec(kind: Kind, seed: u64, count: usize) -> Spec {
    Spec { kind, seed, count, families: vec![], bounds: Bounds::default(), dtypes: vec![] }
}

fn cases(spec: &Spec) -> Vec<Case> {
    draw(spec).unwrap().into_iter().map(|drawn| drawn.case).collect()
}

/// A case in a line: name, operation, and each operand with its element type.
fn line(case: &Case) -> String {
    let operands = case.operands.iter().map(|o| format!(" {} {}", o.dtype, o.notation()));
    let over = if case.dims.is_empty() { String::new() } else { format!(" over {:?}", case.dims) };
    format!("{case} {} {}{}{over}", case.op.name(), case.out, operands.collect::<String>())
}

const KINDS: [Kind; 3] = [Kind::Copy, Kind::Elementwise, Kind::Reduce];

/// A seed gives the same cases for ever: figures are published with it. If this fails, the drawing
/// has changed, and the change must be undone.
#[test]
fn a_seed_gives_the_cases_it_has_always_given() {
    let drawn = KINDS.map(|kind| cases(&spec(kind, 1, 30))).concat();
    let drawn: String = drawn.iter().map(|case| line(case) + "\n").collect();
    let golden = include_str!("../../tests/data/drawn.txt");
    for (drawn, golden) in drawn.lines().zip(golden.lines()) {
        assert_eq!(drawn, golden);
    }
    assert_eq!(drawn.lines().count(), golden.lines().count());
}

#[test]
fn a_case_stays_what_it_is_when_more_are_drawn_or_other_families_left_out() {
    for kind in KINDS {
        let many = cases(&spec(kind, 7, 60));
        assert_eq!(cases(&spec(kind, 7, 20)), many[..20]);
        let flips = Spec { families: vec![Family::Flip], ..spec(kind, 7, 3) };
        let among = many.iter().filter(|case| case.id.contains("flip_")).take(3);
        assert_eq!(cases(&flips), among.cloned().collect::<Vec<_>>());
    }
}

#[test]
fn another_seed_gives_other_cases() {
    let drawn = [1, 2].map(|seed| cases(&spec(Kind::Copy, seed, 9)));
    assert!(drawn[0].iter().zip(&drawn[1]).all(|(a, b)| a.operands != b.operands));
}

#[test]
fn results_are_within_their_bounds_and_their_groups() {
    let bounds = Bounds { low: 20_000, high: 3_000_000 };
    for kind in KINDS {
        for case in cases(&Spec { bounds, ..spec(kind, 3, 90) }) {
            let bytes = case.operands[0].result_bytes();
            assert!((bounds.low..=bounds.high).contains(&bytes), "{case}: {bytes}");
            assert_eq!(case.group, SizeClass::of(&case).name());
        }
    }
}

#[test]
fn every_case_is_one_that_a_suite_file_can_have() {
    for kind in KINDS {
        for case in cases(&spec(kind, 5, 100)) {
            assert_eq!(parse(&document(&case).unwrap()).unwrap(), case);
        }
    }
}

#[test]
fn the_notation_of_a_case_is_read_as_its_layout() {
    for kind in KINDS {
        for operand in cases(&spec(kind, 6, 60)).iter().flat_map(|case| &case.operands) {
            let chain = Chain::parse(&operand.notation()).unwrap();
            let ops = chain.view_ops().unwrap();
            let read = Operand::new(operand.dtype, chain.shape, ops).unwrap();
            assert_eq!(read.layout, operand.layout, "{}", operand.notation());
        }
    }
}

/// What a family is drawn for is in most of its cases.
#[test]
fn families_are_what_they_are_called() {
    let strides = |case: &Case| case.operands[0].layout.strides().to_vec();
    let shape = |case: &Case| case.operands[0].layout.shape().to_vec();
    let all = |family, holds: &dyn Fn(&Case) -> bool| {
        let drawn = cases(&Spec { families: vec![family], ..spec(Kind::Copy, 9, 40) });
        drawn.iter().filter(|case| holds(case)).count()
    };
    let dense = |case: &Case| case.operands[0].base_bytes() == case.result_bytes();
    assert_eq!(all(Family::Permuted, &dense), 40);
    assert!(
        all(Family::Skewed, &|case| {
            let mut sizes = shape(case);
            sizes.sort_unstable();
            sizes[..sizes.len() - 1].iter().all(|&size| size <= 13)
        }) >= 35
    );
    assert_eq!(all(Family::Square, &|case| strides(case)[0] == 1), 40);
    assert_eq!(all(Family::Window, &|case| !dense(case)), 40);
    assert_eq!(all(Family::Step, &|case| !dense(case)), 40);
    assert_eq!(all(Family::Flip, &|case| strides(case).iter().any(|&stride| stride < 0)), 40);
    assert_eq!(all(Family::Broadcast, &|case| strides(case).contains(&0)), 40);
    let short = |case: &Case| shape(case).iter().rev().take(2).any(|&size| size <= 13);
    assert_eq!(all(Family::ShortRows, &short), 40);
    assert_eq!(all(Family::Image, &|case| shape(case).len() == 4), 40);
}

#[test]
fn operands_of_a_mixed_case_have_orders_of_their_own() {
    let spec = Spec { families: vec![Family::Mixed], ..spec(Kind::Elementwise, 4, 30) };
    for case in cases(&spec) {
        assert!(case.operands.len() > 1, "{case}");
        assert!(case.operands.iter().all(|operand| !operand.layout.is_contiguous()), "{case}");
    }
}

#[test]
fn every_element_type_can_be_drawn() {
    let dtypes = [DType::Bool, DType::U8, DType::I32, DType::F16, DType::F64, DType::C64];
    for kind in [Kind::Copy, Kind::Elementwise] {
        for dtype in dtypes {
            let drawn = cases(&Spec { dtypes: vec![dtype], ..spec(kind, 2, 20) });
            assert!(drawn.iter().all(|case| case.operands[0].dtype == dtype));
        }
    }
}

#[test]
fn reductions_are_over_every_set_of_dimensions() {
    let drawn = cases(&spec(Kind::Reduce, 8, 200));
    let ndim = |case: &Case| case.operands[0].layout.ndim();
    assert!(drawn.iter().all(|case| !case.dims.is_empty() && case.dims.is_sorted()));
    let all = drawn.iter().filter(|case| case.dims.len() == ndim(case)).count();
    let last = drawn.iter().filter(|case| case.dims == [ndim(case) - 1]).count();
    let first = drawn.iter().filter(|case| case.dims == [0]).count();
    assert!([all, last, first].iter().all(|&count| count >= 10), "{all} {last} {first}");
    for op in ["sum", "mean", "max", "argmax"] {
        assert!(drawn.iter().any(|case| case.op.name() == op), "{op}");
    }
}

#[test]
fn fault_what_cannot_be_drawn_is_refused_with_the_reason() {
    let refusal = |spec: &Spec| {
        let failure = draw(spec).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        failure.to_string()
    };
    let mixed = Spec { families: vec![Family::Mixed], ..spec(Kind::Copy, 1, 5) };
    assert_eq!(
        refusal(&mixed),
        "copy has no family mixed: expected one of permuted, skewed, square, window, step, flip, \
         broadcast, short_rows, image"
    );
    let strings = Spec { dtypes: vec![DType::C64], ..spec(Kind::Reduce, 1, 1) };
    assert_eq!(
        refusal(&strings),
        "found no case permuted_0 with an operand of 200 to 48000000 bytes"
    );
    let tiny = Spec { bounds: Bounds { low: 1, high: 3 }, ..spec(Kind::Copy, 1, 5) };
    assert_eq!(refusal(&tiny), "found no case permuted_0 with a result of 1 to 3 bytes");
}
