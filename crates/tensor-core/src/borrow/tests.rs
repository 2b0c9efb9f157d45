use proptest::prelude::*;

use super::*;

fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(shape, strides, offset).unwrap()
}

/// A storage that holds every layout of `any_layout`.
const STORAGE: usize = 700;

/// The bytes of all elements.
fn bytes(layout: &Layout, width: usize) -> Vec<bool> {
    let mut taken = vec![false; STORAGE];
    let mut index = vec![0; layout.ndim()];
    for _ in 0..layout.numel() {
        let start = layout.offset_of(&index).unwrap() * width;
        taken[start..start + width].fill(true);
        for d in (0..index.len()).rev() {
            index[d] += 1;
            if index[d] < layout.shape()[d] {
                break;
            }
            index[d] = 0;
        }
    }
    taken
}

fn any_layout() -> impl Strategy<Value = (Layout, usize)> {
    let dims = prop::collection::vec((0usize..5, -6isize..7), 0..4);
    (dims, prop::sample::select(vec![1usize, 2, 4])).prop_map(|(dims, width)| {
        let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        // Strides of -6 reach 72 elements below.
        (layout(&shape, &strides, 80), width)
    })
}

proptest! {
    #[test]
    fn a_region_has_the_bytes_of_all_elements((layout, width) in any_layout()) {
        let taken = bytes(&layout, width);
        let span = Span::of(&layout, width);
        for region in [Region::elements(&layout, width), span.map(Region::from)] {
            let Some(region) = region else {
                prop_assert!(!taken.contains(&true));
                continue;
            };
            for byte in (0..STORAGE).filter(|&byte| taken[byte]) {
                let one = Layout::new([1], [1], byte).unwrap();
                let byte = Span::of(&one, 1).unwrap();
                    let one = Region::from(byte);
                    prop_assert!(region.meets(&one) && one.meets(&region), "{region:?}, {byte:?}");
                    prop_assert!(region.meets_span(byte), "{region:?}, {byte:?}");
            }
        }
    }

    #[test]
    fn regions_that_share_a_byte_meet(a in any_layout(), b in any_layout()) {
        let shared = bytes(&a.0, a.1).iter().zip(bytes(&b.0, b.1)).any(|(&a, b)| a && b);
        let regions = [a, b].map(|(layout, width)| Region::elements(&layout, width));
        if let [Some(a), Some(b)] = regions {
            prop_assert!(!shared || a.meets(&b) && b.meets(&a), "{a:?}, {b:?}");
        } else {
            prop_assert!(!shared);
        }
    }

    #[test]
    fn parts_along_any_dimension_do_not_meet(
        shape in prop::collection::vec(2usize..5, 1..4),
        dim in 0usize..3,
        at in 1usize..4,
        width in prop::sample::select(vec![1usize, 2, 4]),
    ) {
        let dim = dim % shape.len();
        let (whole, at) = (Layout::contiguous(&shape).unwrap(), at.min(shape[dim] - 1));
        let first = whole.narrow(dim, 0, at).unwrap();
        let rest = whole.narrow(dim, at, shape[dim] - at).unwrap();
        let [a, b] = [&first, &rest].map(|part| Region::elements(part, width).unwrap());
        prop_assert!(!a.meets(&b) && !b.meets(&a), "{a:?}, {b:?}");
    }
}

#[test]
fn every_second_row_and_column_of_either_parity_do_not_meet() {
    for (dim, flipped) in [(0, false), (1, false), (1, true)] {
        let whole = Layout::contiguous([6, 8]).unwrap();
        let part = |start: usize| {
            let slice = crate::Slice::new(Some(start as isize), None, 2);
            let part = whole.slice(dim, slice).unwrap();
            if flipped { part.flip([1]).unwrap() } else { part }
        };
        let [even, odd] = [0, 1].map(|start| Region::elements(&part(start), 4).unwrap());
        assert!(!even.meets(&odd) && even.meets(&even), "{even:?}, {odd:?}");
    }
}

/// Two columns of 4, of 3 rows.
fn columns(from: usize) -> Layout {
    Layout::contiguous([3, 4]).unwrap().narrow(1, from, 2).unwrap()
}

#[test]
fn a_reader_takes_the_gaps_that_nobody_writes() {
    let borrows = Borrows::new();
    let reader = borrows.read(&columns(0), 1).unwrap();
    assert!(reader.gaps == Gaps::Readable && borrows.write(&columns(2), 1).is_err());
    drop(reader);
    let writer = borrows.write(&columns(2), 1).unwrap();
    let reader = borrows.read(&columns(0), 1).unwrap();
    assert!(reader.gaps == Gaps::Unreadable && borrows.read(&columns(1), 1).is_err());
    drop(writer);
    assert!(borrows.write(&columns(2), 1).is_ok(), "the gaps have not been borrowed");
    assert!(borrows.write(&columns(0), 1).is_err());
}

#[test]
fn readers_of_shared_parts_leave_the_gaps() {
    let borrows = Borrows::new();
    let reader = borrows.read(&columns(0), 1).unwrap();
    assert!(borrows.share_parts().is_err(), "gaps are being read");
    drop(reader);
    let dense = borrows.read(&layout(&[3], &[1], 0), 1).unwrap();
    assert!(dense.gaps == Gaps::Readable && borrows.share_parts().is_ok());
    drop(dense);
    let reader = borrows.read(&columns(0), 1).unwrap();
    assert!(reader.gaps == Gaps::Unreadable);
    assert!(borrows.write(&columns(2), 1).is_ok() && borrows.write(&columns(1), 1).is_err());
    assert!(borrows.read(&layout(&[12], &[1], 0), 1).unwrap().gaps == Gaps::Readable);
}

#[test]
fn who_reads_beside_a_writer_takes_its_own_elements() {
    let borrows = Borrows::new();
    let writer = borrows.write(&columns(2), 1).unwrap();
    let other = borrows.write(&layout(&[1], &[1], 1), 1).unwrap();
    assert!(borrows.read_beside(&columns(0), 1, &writer).is_err(), "another writes one of them");
    drop(other);
    assert!(borrows.read_beside(&columns(0), 1, &writer).unwrap().gaps == Gaps::Unreadable);
    // A part of all is taken for whole if nothing repeats: its gaps may be the writer's.
    let whole = layout(&[2, 2], &[3, 4], 0);
    assert!(borrows.read_beside(&whole, 1, &writer).unwrap().gaps == Gaps::Unreadable);
}

/// Blocks of the rows and columns of each of some matrices, and blocks of these.
#[test]
fn blocks_along_several_dimensions_do_not_meet() {
    let whole = Layout::contiguous([3, 4, 4, 4]).unwrap();
    let half = |layout: &Layout, dim, from| layout.narrow(dim, from, 2).unwrap();
    let blocks: Vec<_> = (0..8)
        .map(|at: usize| {
            (0..3).fold(whole.clone(), |part, d| half(&part, d + 1, (at >> d & 1) << 1))
        })
        .collect();
    for (i, a) in blocks.iter().enumerate() {
        for (j, b) in blocks.iter().enumerate() {
            let [a, b] = [a, b].map(|block| Region::elements(block, 4).unwrap());
            assert_eq!(a.meets(&b), i == j, "{a:?}, {b:?}");
        }
    }
}

#[test]
fn steps_that_differ_meet_where_they_share_a_divisor() {
    let every = |step, from| Region::elements(&layout(&[20], &[step], from), 2).unwrap();
    assert!(!every(2, 0).meets(&every(4, 1)) && !every(4, 1).meets(&every(2, 0)));
    assert!(!every(6, 3).meets(&every(4, 2)) && every(6, 2).meets(&every(4, 0)));
    assert!(every(2, 0).meets(&every(3, 1)));
}

#[test]
fn more_borrows_than_fit_end_in_any_order() {
    let borrows = Borrows::new();
    let part = |at: usize| layout(&[2], &[1], 2 * at);
    let mut writers: Vec<_> = (0..20).map(|at| borrows.write(&part(at), 8).unwrap()).collect();
    assert!((0..20).all(|at| borrows.read(&part(at), 8).is_err()));
    for at in [13, 0, 5] {
        drop(writers.remove(at));
    }
    assert_eq!((0..20).filter(|&at| borrows.write(&part(at), 8).is_ok()).count(), 3);
    drop(writers);
    assert!(borrows.write(&layout(&[40], &[1], 0), 8).is_ok());
}

#[test]
fn nothing_meets_an_empty_layout() {
    let borrows = Borrows::new();
    let all = borrows.write(&layout(&[9], &[1], 0), 4);
    let empty = borrows.write(&layout(&[3, 0], &[1, 1], 2), 4);
    assert!(all.is_ok() && empty.is_ok());
}
