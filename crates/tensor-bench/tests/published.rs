//! The files in `benches/suite`: what they are said to be.

use std::path::Path;

use tensor_bench::{
    cases::view_op::ViewOp,
    suite::{Against, Case, Op, read},
};

fn suite(name: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/suite");
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    read(&text).unwrap_or_else(|failure| panic!("{name}: {failure}"))
}

#[test]
fn every_suite_is_one() {
    for name in ["copy", "elementwise", "tracked", "population", "ttc", "ttc_10mb"] {
        assert!(suite(&format!("{name}.json")).len() >= 40, "{name}");
    }
}

#[test]
fn the_form_in_the_documentation_is_one() {
    let document = include_str!("../../../docs/tracking.md");
    let (_, after) = document.split_once("```json\n").expect("an example");
    let cases = read(after.split("```").next().unwrap()).expect("a suite");
    let shapes: Vec<_> =
        cases.iter().map(|case| case.operands[0].layout.shape().to_vec()).collect();
    assert_eq!(shapes[1..3], [vec![98, 400], vec![256]]);
    assert_eq!(cases[3].shape().as_slice(), [8, 64]);
}

/// The commonest augmentation is among them.
#[test]
fn images_are_mirrored_on_the_way_to_planes() {
    let cases = suite("images.json");
    for dtype in ["u8", "f32"] {
        let named = |case: &&Case| case.to_string() == format!("{dtype}/hwc_to_chw_mirrored");
        let operand = &cases.iter().find(named).expect("the case is there").operands[0];
        assert_eq!(operand.layout.shape(), [32, 3, 256, 256]);
        assert_eq!(operand.layout.strides(), [256 * 256 * 3, 1, 256 * 3, -3]);
    }
}

/// `p021_368x384x384`: the permutation and the sizes in column-major order.
fn published(case: &Case) -> (Vec<usize>, Vec<usize>) {
    let (permutation, sizes) = case.id[1..].split_once('_').expect("a name of two parts");
    let digits = permutation.chars().map(|digit| digit.to_digit(10).unwrap() as usize);
    (digits.collect(), sizes.split('x').map(|size| size.parse().unwrap()).collect())
}

/// Dimension `i` of the result is dimension `permutation[i]` of the array, and the first one is
/// contiguous.
#[test]
fn the_permutations_of_ttc_are_those_of_their_names() {
    let cases = suite("ttc.json");
    assert_eq!(cases.len(), 57);
    for case in &cases {
        let (permutation, sizes) = published(case);
        let operand = &case.operands[0];
        assert_eq!((case.op, case.group.clone()), (Op::Copy, format!("{}d", sizes.len())));
        assert_eq!(operand.base, sizes.iter().rev().copied().collect::<Vec<_>>(), "{case}");
        let strides: Vec<isize> =
            (0..sizes.len()).map(|dim| sizes[..dim].iter().product::<usize>() as isize).collect();
        let expected: Vec<isize> = permutation.iter().rev().map(|&dim| strides[dim]).collect();
        assert_eq!(operand.layout.strides(), expected, "{case}");
        let mb = case.result_bytes() as f64 / 1e6;
        assert!((200.0..245.0).contains(&mb), "{case}: {mb} MB");
        assert!(case.memory(Against::PEERS) < 3 << 30, "{case}");
    }
    let ranks = (2..=6).map(|rank| cases.iter().filter(|c| c.shape().len() == rank).count());
    assert_eq!(ranks.collect::<Vec<_>>(), [3, 9, 15, 15, 15]);
}

/// The longest dimension is halved until the array has no more than 10 MB.
#[test]
fn the_small_permutations_of_ttc_are_the_published_ones_halved() {
    let (full, small) = (suite("ttc.json"), suite("ttc_10mb.json"));
    assert_eq!(full.len(), small.len());
    for (full, small) in full.iter().zip(&small) {
        assert_eq!((&full.group, &full.id), (&small.group, &small.id));
        assert_eq!(full.operands[0].ops, small.operands[0].ops);
        assert!(matches!(full.operands[0].ops[..], [ViewOp::Permute(_)]));
        // In the order in which sizes are published.
        let mut sizes: Vec<usize> = full.operands[0].base.iter().rev().copied().collect();
        while sizes.iter().product::<usize>() * 4 > 10_000_000 {
            let longest = sizes.iter().copied().max().unwrap();
            let dim = sizes.iter().position(|&size| size == longest).unwrap();
            sizes[dim] = longest.div_ceil(2);
        }
        sizes.reverse();
        assert_eq!(small.operands[0].base, sizes, "{small}");
    }
}
