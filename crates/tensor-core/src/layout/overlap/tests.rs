//! Every `Yes` is verified with its witness, every `No` by enumeration or by construction.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;

use super::equation::{Term, solve};
use super::search::{Budget, first_multiple_within};
use super::{Lattice, Overlap, pair_overlap, self_overlap};

/// Enough for every layout that tensor operations make; one or two milliseconds for the others.
const WORK_BUDGET: u64 = 1 << 15;

/// An owned [`Lattice`].
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
}

fn case<const R: usize>(shape: [usize; R], strides: [isize; R], offset: usize) -> Case {
    Case { shape: shape.into(), strides: strides.into(), offset }
}

impl Case {
    fn lattice(&self) -> Lattice<'_> {
        Lattice { shape: &self.shape, strides: &self.strides, offset: self.offset }
    }

    /// The address of an index, which is checked against the shape.
    fn address(&self, index: &[usize]) -> i128 {
        assert_eq!(index.len(), self.shape.len(), "{index:?} into {self:?}");
        assert!(index.iter().zip(&self.shape).all(|(i, n)| i < n), "{index:?} into {self:?}");
        let steps = index.iter().zip(&self.strides).map(|(&i, &s)| i as i128 * s as i128);
        self.offset as i128 + steps.sum::<i128>()
    }

    fn indices(&self) -> Vec<Vec<usize>> {
        self.shape.iter().fold(vec![vec![]], |prefixes, &size| {
            let longer = |prefix: Vec<usize>| (0..size).map(move |i| [&prefix[..], &[i]].concat());
            prefixes.into_iter().flat_map(longer).collect()
        })
    }

    fn addresses(&self) -> Vec<i128> {
        self.indices().iter().map(|index| self.address(index)).collect()
    }

    fn collides_by_enumeration(&self) -> bool {
        let mut addresses = self.addresses();
        addresses.sort_unstable();
        addresses.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn shares_by_enumeration(&self, other: &Case) -> bool {
        let addresses: BTreeSet<i128> = self.addresses().into_iter().collect();
        other.addresses().iter().any(|address| addresses.contains(address))
    }
}

/// Whether two indices overlap, `None` for [`Overlap::TooHard`]. Checks the witness.
fn self_verdict(a: &Case, budget: u64) -> Option<bool> {
    match self_overlap(a.lattice(), budget) {
        Overlap::No => Some(false),
        Overlap::TooHard => None,
        Overlap::Yes { first, second } => {
            assert_ne!(first, second, "{a:?}");
            assert_eq!(a.address(&first), a.address(&second), "{a:?}: {first:?} and {second:?}");
            Some(true)
        }
    }
}

/// As [`self_verdict`], for two layouts, in both orders.
fn pair_verdict(a: &Case, b: &Case, budget: u64) -> Option<bool> {
    let [verdict, swapped] =
        [(a, b), (b, a)].map(|(a, b)| match pair_overlap(a.lattice(), b.lattice(), budget) {
            Overlap::No => Some(false),
            Overlap::TooHard => None,
            Overlap::Yes { first, second } => {
                let (first_at, second_at) = (a.address(&first), b.address(&second));
                assert_eq!(first_at, second_at, "{a:?} at {first:?}, {b:?} at {second:?}");
                Some(true)
            }
        });
    if let (Some(verdict), Some(swapped)) = (verdict, swapped) {
        assert_eq!(verdict, swapped, "{a:?} and {b:?}");
    }
    verdict.or(swapped)
}

#[track_caller]
fn assert_self(a: &Case, budget: u64, expected: bool) {
    assert_eq!(self_verdict(a, budget), Some(expected), "{a:?}");
}

#[track_caller]
fn assert_pair(a: &Case, b: &Case, budget: u64, expected: bool) {
    assert_eq!(pair_verdict(a, b, budget), Some(expected), "{a:?} and {b:?}");
}

#[test]
fn one_layout() {
    let table = [
        (case([], [], 7), false),
        (case([1], [0], 0), false),
        (case([3], [0], 0), true),
        (case([0, 3], [1, 0], 0), false),
        (case([2, 3], [3, 1], 0), false),
        (case([2, 3], [-3, 1], 3), false),
        (case([2, 2], [1, 1], 0), true),
        (case([2, 2], [1, -1], 1), true),
        // Interleaved dims without overlap: 4·3 = 3·4 needs four steps of the first.
        (case([4, 4], [3, 4], 0), false),
        (case([5, 4], [3, 4], 0), true),
        (case([5, 4], [-3, 4], 12), true),
        (case([3, 2], [2, 3], 0), false),
        // Windows of three over ten elements (unfold), one and three apart.
        (case([8, 3], [1, 1], 0), true),
        (case([3, 3], [3, 1], 0), false),
        // The largest stride exceeds the reach of the others, which collide among themselves.
        (case([2, 5, 4], [100, 3, 4], 0), true),
        (case([9, 4, 4], [100, 3, 4], 0), false),
    ];
    for (a, expected) in &table {
        assert_self(a, WORK_BUDGET, *expected);
    }
}

#[test]
fn two_layouts() {
    let scalar = |offset| case([], [], offset);
    let table = [
        (scalar(3), scalar(3), true),
        (scalar(3), scalar(4), false),
        (case([0], [1], 3), scalar(3), false),
        (case([4, 0], [0, 1], 3), case([9], [1], 0), false),
        // Halves of a buffer; even and odd elements; a vector and its flip; broadcast elements.
        (case([4], [1], 0), case([4], [1], 4), false),
        (case([4], [1], 0), case([4], [1], 3), true),
        (case([4], [2], 0), case([4], [2], 1), false),
        (case([4], [1], 0), case([4], [-1], 3), true),
        (case([4], [2], 0), case([4], [-2], 7), false),
        (case([9], [0], 5), case([9], [2], 0), false),
        (case([9], [0], 6), case([9], [2], 0), true),
        // Left and right columns of a matrix; a matrix and its transpose; diagonals side by side.
        (case([4, 2], [4, 1], 0), case([4, 2], [4, 1], 2), false),
        (case([4, 3], [4, 1], 0), case([4, 2], [4, 1], 2), true),
        (case([4, 4], [4, 1], 0), case([4, 4], [1, 4], 0), true),
        (case([3], [5], 0), case([2], [5], 1), false),
        // Multiples of 3 and of 5 are equal at 15, if both reach it.
        (case([6], [3], 0), case([6], [5], 0), true),
        (case([5], [3], 1), case([3], [5], 0), true),
        (case([3], [3], 1), case([2], [5], 0), false),
    ];
    for (a, b, expected) in &table {
        assert_pair(a, b, WORK_BUDGET, *expected);
    }
}

#[test]
fn recorded_cases() {
    let lines = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/overlap.jsonl"));
    let mut verdicts = 0;
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let (a, b) = (recorded(&record["a"]), recorded(&record["b"]));
        assert_self(&a, WORK_BUDGET, record["a_self_overlaps"].as_bool().unwrap());
        assert_pair(&a, &b, WORK_BUDGET, record["shares"].as_bool().unwrap());
        verdicts += 1;
    }
    assert_eq!(verdicts, 1200);
}

fn recorded(record: &Value) -> Case {
    let entries = |name: &str| record[name].as_array().unwrap().iter();
    Case {
        shape: entries("shape").map(|n| n.as_u64().unwrap() as usize).collect(),
        strides: entries("strides").map(|s| s.as_i64().unwrap() as isize).collect(),
        offset: record["offset"].as_u64().unwrap() as usize,
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn large_common_views_need_few_nodes() {
    // About a microsecond.
    const FEW_NODES: u64 = 32;
    let half = 1 << 29;
    let columns = |from, count| case([4096, count], [4096, 1], from);
    let (n, c, h, w) = (32, 64, 224, 224);
    let [ci, hi, wi] = [c, h, w].map(|size| size as isize);
    let channels_first = |offset| case([n, c, h, w], [ci * hi * wi, hi * wi, wi, 1], offset);
    let channels_last = |offset| case([n, c, h, w], [hi * wi * ci, 1, wi * ci, ci], offset);
    let table = [
        (columns(0, 2048), columns(2048, 2048), false),
        (columns(0, 2049), columns(2048, 2048), true),
        (case([half], [2], 0), case([half], [2], 1), false),
        (case([half], [2], 0), case([half], [-2], 2 * half - 1), false),
        (case([half], [3], 0), case([half], [5], 1), true),
        (case([half], [6], 0), case([half], [15], 1), false),
        (channels_first(0), channels_last(1), true),
        (channels_first(0), channels_last(n * c * h * w), false),
        // One channel of each.
        (
            case([n, h, w], [ci * hi * wi, wi, 1], h * w),
            case([n, h, w], [hi * wi * ci, wi * ci, ci], 1),
            true,
        ),
        // Modulo the width, columns 0 to 99 of the one and column 100 of the other.
        (
            case([n, c, h, 100], [ci * hi * wi, hi * wi, wi, 1], 0),
            case([n, h, 50], [hi * wi * ci, wi * ci, 2 * wi], 100),
            false,
        ),
        // Rows of strides 1000 and 1001 over one buffer.
        (case([1 << 20, 10], [1000, 1], 0), case([1 << 20, 10], [1001, 1], 500), true),
        (case([400, 10], [1000, 1], 0), case([400, 10], [1001, 1], 500), false),
    ];
    for (a, b, expected) in &table {
        assert_pair(a, b, FEW_NODES, *expected);
    }
    assert_self(&channels_last(0), 0, false);
    // 3·2^30 = 2^30·3 takes 2^30 steps.
    assert_self(&case([1 << 30, 1 << 30], [3, 1 << 30], 0), FEW_NODES, false);
    assert_self(&case([(1 << 30) + 1, 1 << 30], [3, 1 << 30], 0), FEW_NODES, true);
    assert_self(&case([1 << 30, 1 << 30], [(1 << 30) + 1, 1 << 30], 0), FEW_NODES, false);
}

/// Sizes of two and strides of 40 bits without a common structure: a subset-sum problem.
#[cfg(target_pointer_width = "64")]
fn subset_sum(rank: usize) -> Case {
    let scramble =
        |state: &i64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    let states = std::iter::successors(Some(1), scramble).skip(1).take(rank);
    let strides = states.map(|state| (1 << 39) + (state as u64 >> 25) as isize).collect();
    Case { shape: vec![2; rank], strides, offset: 0 }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn an_exceeded_budget_is_reported() {
    let a = subset_sum(12);
    let disjoint = Case { offset: 1 << 39, ..a.clone() };
    let overlapping =
        Case { offset: (a.strides[1] + a.strides[8] - a.strides[3]) as usize, ..a.clone() };
    for budget in [0, 1, 100] {
        assert_eq!(self_verdict(&a, budget), None);
        assert_eq!(pair_verdict(&a, &disjoint, budget), None);
        assert_eq!(pair_verdict(&a, &overlapping, budget), None);
    }
    // Layouts with the same lowest address overlap there.
    assert_pair(&a, &a, 0, true);
    assert_self(&a, u64::MAX, a.collides_by_enumeration());
    assert_pair(&a, &disjoint, u64::MAX, a.shares_by_enumeration(&disjoint));
    assert_pair(&a, &overlapping, u64::MAX, true);
    assert_eq!(self_verdict(&subset_sum(20), WORK_BUDGET), None);
}

#[test]
fn strides_of_unit_dims_are_never_used() {
    let a = case([1, 3, 1, 2], [isize::MAX, 2, isize::MIN, 1], 5);
    let b = case([3, 1, 2], [2, isize::MIN + 1, 1], 11);
    assert_self(&a, WORK_BUDGET, false);
    assert_pair(&a, &b, WORK_BUDGET, false);
    assert_pair(&a, &Case { offset: 10, ..b }, WORK_BUDGET, true);
    let empty = case([isize::MAX as usize, 0, 5], [isize::MAX, isize::MIN, 0], 3);
    assert_self(&empty, WORK_BUDGET, false);
    assert_pair(&a, &empty, WORK_BUDGET, false);
}

#[test]
fn addresses_up_to_the_largest() {
    let top = isize::MAX;
    let (ends, flipped) = (case([2], [top], 0), case([2], [-top], top as usize));
    assert_self(&ends, WORK_BUDGET, false);
    assert_pair(&ends, &flipped, WORK_BUDGET, true);
    assert_pair(&ends, &case([], [], top as usize), WORK_BUDGET, true);
    assert_pair(&ends, &case([top as usize - 1], [1], 1), WORK_BUDGET, false);
    assert_pair(&ends, &case([top as usize], [1], 1), WORK_BUDGET, true);
    // top = 2^k − 1 is odd: the first has even addresses, the second odd ones.
    let half = top as usize / 2;
    assert_pair(&case([half], [2], 0), &case([half], [-2], top as usize), WORK_BUDGET, false);
    let third = top as usize / 3;
    assert_pair(&case([third], [3], 0), &case([half], [-2], top as usize), WORK_BUDGET, true);
    assert_self(&case([half, 2], [1, top - half as isize], 0), WORK_BUDGET, false);
    assert_self(&case([half + 1, half + 1], [1, 1], 0), WORK_BUDGET, true);
}

#[test]
fn first_multiple_within_agrees_with_enumeration() {
    for modulus in 1..=24 {
        for (step, low, high) in (0..30).flat_map(|step| {
            (0..modulus).flat_map(move |low| (low..modulus).map(move |high| (step, low, high)))
        }) {
            let fits = |k: &u64| (low..=high).contains(&(k * step % modulus));
            for limit in [0, 1, 2, 5, 11, 30] {
                let found = first_multiple_within(step, modulus, (low, high), limit);
                let name = format!("{step}·k mod {modulus} in {low}..={high}, k <= {limit}");
                assert_eq!(found, (0..=limit).find(fits), "{name}");
            }
        }
    }
}

/// Layouts of at most 256 elements, with an offset that makes the lowest address non-negative.
fn small_case() -> impl Strategy<Value = Case> {
    let dims = prop::collection::vec((0..=4_usize, -13..=13_isize), 0..=4);
    (dims, 0..40_usize).prop_map(|(dims, offset)| {
        let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let below = |(&n, &s): (&usize, &isize)| s.min(0).unsigned_abs() * n.saturating_sub(1);
        let offset = offset + shape.iter().zip(&strides).map(below).sum::<usize>();
        Case { shape, strides, offset }
    })
}

fn large_term() -> impl Strategy<Value = (Term, u64)> {
    (0..30_u32, 0..30_u32).prop_flat_map(|(c, n)| {
        ((1..=1_u64 << c), (0..=1_u64 << n)).prop_flat_map(|(coefficient, bound)| {
            (0..=bound).prop_map(move |value| (Term { coefficient, bound }, value))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn self_overlap_agrees_with_enumeration(a in small_case()) {
        assert_self(&a, u64::MAX, a.collides_by_enumeration());
    }

    #[test]
    fn pair_overlap_agrees_with_enumeration(a in small_case(), b in small_case()) {
        assert_pair(&a, &b, u64::MAX, a.shares_by_enumeration(&b));
    }

    #[test]
    fn a_small_budget_never_makes_a_wrong_answer(
        a in small_case(), b in small_case(), budget in 0..8_u64,
    ) {
        let (expected_self, expected_pair) =
            (a.collides_by_enumeration(), a.shares_by_enumeration(&b));
        prop_assert!(self_verdict(&a, budget).is_none_or(|verdict| verdict == expected_self));
        prop_assert!(pair_verdict(&a, &b, budget).is_none_or(|verdict| verdict == expected_pair));
    }

    #[test]
    fn exactly_the_sums_of_the_terms_are_solved(
        sizes in prop::collection::vec((1..=12_u64, 0..=3_u64), 0..=4),
    ) {
        let term = |&(coefficient, bound): &(u64, u64)| Term { coefficient, bound };
        let terms: Vec<Term> = sizes.iter().map(term).collect();
        let sums = terms.iter().fold(BTreeSet::from([0]), |sums, term| {
            let multiples = |&sum: &u64| (0..=term.bound).map(move |x| sum + term.coefficient * x);
            sums.iter().flat_map(multiples).collect()
        });
        for target in 0..=sums.last().unwrap() + 2 {
            let solved = solve(&terms, target, &mut Budget::new(u64::MAX)).unwrap().is_some();
            prop_assert_eq!(solved, sums.contains(&target), "{} from {:?}", target, terms);
        }
    }

    #[test]
    fn an_existing_solution_is_found(planted in prop::collection::vec(large_term(), 0..=7)) {
        let (terms, values): (Vec<Term>, Vec<u64>) = planted.into_iter().unzip();
        let sum = |values: &[u64]| -> u64 {
            terms.iter().zip(values).map(|(term, x)| term.coefficient * x).sum()
        };
        if let Ok(found) = solve(&terms, sum(&values), &mut Budget::new(1000)) {
            let found = found.expect("the planted values are a solution");
            prop_assert!(found.iter().zip(&terms).all(|(&x, term)| x <= term.bound));
            prop_assert_eq!(sum(&found), sum(&values));
        }
    }
}
