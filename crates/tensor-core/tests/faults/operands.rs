//! Operands in the storage of the output: overlap is decided exactly, for different element widths
//! and for arbitrary strides of dimensions of size 1.

use tensor_core::{Aliasing, Layout, Operand, Output, Overlap, Tensor};

const HUGE: isize = isize::MAX / 4;

/// How a layout of `u64` in a storage of 64 bytes and the bytes from 32 on alias, in both roles.
fn relations(layout: &Layout) -> [Aliasing; 2] {
    let all = Tensor::<u64>::zeros([8]).unwrap();
    let words = all.with_layout(layout.clone()).unwrap();
    let tail = all.view_dtype::<u8>().unwrap().narrow(0, 32, 32).unwrap();
    let forwards = Operand::from(&words).relation(&Output::from(&tail));
    let backwards = Operand::from(&tail).relation(&Output::from(&words));
    [forwards, backwards]
}

#[test]
fn fault_unused_strides_do_not_make_disjoint_operands_overlap() {
    for (shape, strides, offset) in [
        (&[4_usize][..], &[1_isize][..], 0),
        (&[1, 4], &[HUGE, 1], 0),
        (&[4, 1], &[1, -HUGE], 0),
        (&[1, 1], &[isize::MAX, -isize::MAX], 3),
        (&[isize::MAX as usize], &[0], 3),
        (&[1 << 40, 4], &[0, 1], 0),
        (&[0], &[1], 0),
        (&[0, 4], &[HUGE, 1], 0),
        (&[0, 1 << 62], &[HUGE, HUGE], 0),
        (&[0], &[1], isize::MAX as usize),
    ] {
        let layout = Layout::new(shape, strides, offset).unwrap();
        let [forwards, backwards] = relations(&layout);
        assert_eq!((forwards, backwards), (Aliasing::Apart, Aliasing::Apart), "{layout:?}");
    }
}

#[test]
fn fault_overlapping_operands_of_other_widths_report_their_indices() {
    for (shape, strides, offset) in [
        (&[5_usize][..], &[1_isize][..], 0),
        (&[1, 5], &[HUGE, 1], 0),
        (&[1 << 40, 1], &[0, HUGE], 4),
        (&[2, 2], &[-4, 1], 4),
    ] {
        let layout = Layout::new(shape, strides, offset).unwrap();
        for (relation, is_forwards) in relations(&layout).into_iter().zip([true, false]) {
            let Aliasing::Overlap(Overlap::Yes { first, second }) = relation else {
                panic!("{layout:?}: {relation:?}")
            };
            let (word, byte) = if is_forwards { (first, second) } else { (second, first) };
            let word = layout.offset_of(&word).unwrap();
            assert_eq!(word, (32 + byte[0]) / 8, "{layout:?}: word {word}, byte {byte:?}");
        }
    }
}
