//! Views that reach beyond their memory, overlap, or overflow; sizes that differ; no items.

use std::ptr::NonNull;

use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Error, Exec, Layout, Machine, copy_bytes, copy_bytes_uninit,
    to_byte_vec,
};

fn contiguous(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

#[test]
fn fault_items_of_no_bytes() {
    let is_refused = |error: Error| error.to_string() == "elements have at least 1 byte, not 0";
    assert!(is_refused(ByteView::new(&[1], 0, contiguous(&[1])).unwrap_err()));
    assert!(is_refused(ByteView::strided(&[1], 0, [1], [1], 0).unwrap_err()));
    assert!(is_refused(ByteViewMut::new(&mut [1u8], 0, contiguous(&[0])).unwrap_err()));
    let first = NonNull::dangling();
    // SAFETY: there are no items.
    assert!(is_refused(unsafe { ByteView::from_raw_parts(first, 0, [0], [1]) }.unwrap_err()));
    let huge = usize::MAX;
    assert!(matches!(ByteView::new(&[1], huge, contiguous(&[1])), Err(Error::TooLarge { .. })));
}

#[test]
fn fault_items_beyond_the_buffer() {
    let bytes = [0u8; 23];
    let mut other = bytes;
    let beyond = |result: Result<ByteView<'_>, Error>| {
        matches!(result, Err(Error::TooFewElements { needed: 24, given: 23, .. }))
    };
    assert!(beyond(ByteView::new(&bytes, 4, contiguous(&[2, 3]))));
    assert!(beyond(ByteView::strided(&bytes, 4, [2, 3], [12, 4], 0)));
    assert!(beyond(ByteView::strided(&bytes, 4, [6], [-4], 20)));
    assert!(beyond(ByteView::strided(&bytes, 4, [2], [7], 13)));
    assert!(ByteView::strided(&bytes, 4, [2], [7], 12).is_ok());
    assert!(matches!(
        ByteViewMut::strided(&mut other, 4, [2], [7], 13),
        Err(Error::TooFewElements { .. })
    ));
    let below = ByteView::strided(&bytes, 4, [2], [-7], 6);
    assert!(matches!(below, Err(Error::BelowStorage { .. })));
    assert!(ByteView::strided(&bytes, 4, [2], [-7], 7).is_ok());
    let lengths = ByteView::strided(&bytes, 4, [2, 3], [4], 0);
    assert!(matches!(lengths, Err(Error::StridesLength { .. })));
}

#[test]
fn fault_destinations_that_overlap() {
    let mut bytes = [0u8; 64];
    let mut overlaps = |size, shape: &[usize], strides: &[isize]| {
        let view = ByteViewMut::strided(&mut bytes, size, shape, strides, 0);
        matches!(view, Err(Error::WriteOverlap { .. }))
    };
    assert!(overlaps(4, &[2], &[0]) && overlaps(4, &[2], &[3]) && overlaps(2, &[3, 3], &[5, 4]));
    assert!(!overlaps(4, &[2], &[4]) && !overlaps(4, &[2], &[5]) && !overlaps(2, &[3, 3], &[2, 6]));
    assert!(!overlaps(4, &[1], &[0]), "a stride of one item has no meaning");
    let layout = Layout::new([2, 2], [1, 1], 0).unwrap();
    let view = ByteViewMut::new(&mut bytes, 4, layout);
    assert!(matches!(view, Err(Error::WriteOverlap { .. })));
}

#[test]
fn fault_offsets_beyond_the_address_space() {
    let far = isize::MAX;
    let too_large = |result: Result<ByteView<'_>, Error>| {
        matches!(result, Err(Error::TooLarge { .. } | Error::TooFewElements { .. }))
    };
    for (shape, strides) in [
        (vec![2_isize], vec![far]),
        (vec![3], vec![far / 2 + 1]),
        (vec![far, far], vec![1, 1]),
        (vec![far], vec![4]),
        (vec![2, 2], vec![far, far]),
    ] {
        assert!(too_large(ByteView::strided(&[0; 8], 4, &shape, &strides, 0)), "{shape:?}");
        // SAFETY: it is refused, or not used.
        let raw = unsafe { ByteView::from_raw_parts(NonNull::dangling(), 4, &shape, &strides) };
        assert!(matches!(raw, Err(Error::TooLarge { .. })), "{shape:?} {strides:?}");
    }
    for stride in [-far, isize::MIN] {
        let raw = ByteView::strided(&[0; 8], 4, [3], [stride], usize::MAX);
        assert!(raw.is_err());
        // SAFETY: it is refused.
        let raw = unsafe { ByteView::from_raw_parts(NonNull::dangling(), 4, [3], [stride]) };
        assert!(raw.is_err(), "{stride}");
    }
    let wide = Layout::new([2], [far / 2], 0).unwrap();
    assert!(too_large(ByteView::new(&[0; 8], 4, wide)));
    assert!(too_large(ByteView::strided(&[0; 8], far as usize, [1], [1], 1)));
}

/// Strides of a dimension of one item, and all strides where there are no items, have no meaning.
#[test]
fn fault_strides_without_a_meaning() {
    let exec = Exec::current().unwrap();
    let bytes = [1u8, 2, 3, 4, 5, 6];
    for stride in [0, 7, -3, isize::MAX, -isize::MAX, isize::MIN] {
        let view = ByteView::strided(&bytes, 2, [1, 3, 1], [stride, 2, stride], 0);
        if stride == isize::MIN {
            assert!(matches!(view, Err(Error::StrideMin { .. })));
            continue;
        }
        let view = view.unwrap();
        assert_eq!(to_byte_vec(exec, &view).unwrap(), bytes);
        // Copied between units of other sizes.
        let mut result = [0u8; 8];
        let mut to = ByteViewMut::strided(&mut result, 2, [1, 3, 1], [stride, 3, 1], 0).unwrap();
        copy_bytes(exec, &view, &mut to).unwrap();
        assert_eq!(result, [1, 2, 0, 3, 4, 0, 5, 6]);
        let none = ByteView::strided(&[], 2, [3, 0], [stride, stride], 9).unwrap();
        assert!(to_byte_vec(exec, &none).unwrap().is_empty());
    }
}

#[test]
fn fault_no_items_at_any_address() {
    let exec = Exec::current().unwrap();
    for address in [1, 3, usize::MAX] {
        let start = NonNull::without_provenance(address.try_into().unwrap());
        // SAFETY: there are no items.
        let from = unsafe { ByteView::from_raw_parts(start, 4, [0, 5], [-9, 3]) }.unwrap();
        // SAFETY: there are no items.
        let mut to: ByteViewMut<'_> =
            unsafe { ByteViewMut::from_raw_parts(start, 4, [0, 5], [0, 0]) }.unwrap();
        copy_bytes(exec, &from, &mut to).unwrap();
        assert_eq!((from.numel(), from.as_slice()), (0, Some(&[][..])));
        assert_eq!(to.as_slice_mut(), Some(&mut [][..]));
    }
}

#[test]
fn fault_raw_parts_that_descend() {
    let exec = Exec::current().unwrap();
    let bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let mut result = [0u8; 8];
    let last = NonNull::from(&bytes[5]);
    // SAFETY: the items at bytes 5, 3 and 1 lie in the array. The pointer of one byte is not used
    // for the others: it is made from the whole array.
    let last = unsafe {
        NonNull::from(&bytes).cast::<u8>().add(last.as_ptr() as usize - bytes.as_ptr() as usize)
    };
    // SAFETY: as above.
    let from = unsafe { ByteView::from_raw_parts(last, 2, [3], [-2]) }.unwrap();
    // SAFETY: an offset in the array.
    let last = unsafe { NonNull::from(&mut result).cast::<u8>().add(6) };
    // SAFETY: the items at bytes 6, 3 and 0 lie in the array, which is not used meanwhile.
    let mut to = unsafe { ByteViewMut::from_raw_parts(last, 2, [3], [-3]) }.unwrap();
    copy_bytes(exec, &from, &mut to).unwrap();
    assert_eq!(result, [2, 3, 0, 4, 5, 0, 6, 7]);
}

/// Refused before the address is used, which is that of no memory.
#[test]
fn fault_raw_parts_that_are_refused() {
    let first = NonNull::<u8>::dangling();
    let both = |size: usize, shape: &[isize], strides: &[isize]| {
        // SAFETY: it is refused.
        let read = unsafe { ByteView::from_raw_parts(first, size, shape, strides) };
        // SAFETY: it is refused.
        let write = unsafe { ByteViewMut::from_raw_parts(first, size, shape, strides) };
        [read.map(|_| ()), write.map(|_: ByteViewMut<'_>| ())].map(Result::unwrap_err)
    };
    for error in both(4, &[2, -1], &[1, 1]) {
        assert!(matches!(error, Error::InvalidSize { .. }), "{error}");
    }
    for error in both(4, &[2, 3], &[4]) {
        assert!(matches!(error, Error::StridesLength { .. }), "{error}");
    }
    for error in both(0, &[2], &[4]) {
        assert!(matches!(error, Error::ByteStride { .. }), "{error}");
    }
    // SAFETY: it is refused.
    let overlap = unsafe { ByteViewMut::from_raw_parts(first, 4, [2, 2], [0, 4]) };
    assert!(matches!(overlap, Err(Error::WriteOverlap { .. })));
}

#[test]
fn fault_sizes_that_differ() {
    let exec = Exec::current().unwrap();
    let bytes = [0u8; 24];
    let mut result = [9u8; 24];
    let from = ByteView::new(&bytes, 4, contiguous(&[2, 3])).unwrap();
    let packed = ByteView::strided(&bytes, 4, [2, 2], [11, 5], 0).unwrap();
    let differ = |error| matches!(error, Error::OutputShape { .. } | Error::ItemSize { .. });
    for (size, shape) in [(4, [3, 2]), (2, [2, 3]), (8, [1, 3]), (2, [4, 3])] {
        let mut to = ByteViewMut::new(&mut result, size, contiguous(&shape)).unwrap();
        assert!(differ(copy_bytes(exec, &from, &mut to).unwrap_err()), "{size} {shape:?}");
        assert!(differ(copy_bytes(exec, &packed, &mut to).unwrap_err()), "{size} {shape:?}");
        assert!(differ(CopyPlan::for_bytes(&from, &to, &exec.machine).unwrap_err()));
    }
    let mut pairs = ByteViewMut::new(&mut result, 2, contiguous(&[2, 3])).unwrap();
    let error = copy_bytes(exec, &from, &mut pairs).unwrap_err();
    assert_eq!(error.to_string(), "items of 4 bytes cannot be copied into items of 2 bytes");
    assert_eq!(result, [9; 24], "nothing is written");
    let mut memory = Vec::with_capacity(24);
    let to = ByteViewMut::new(memory.spare_capacity_mut(), 4, contiguous(&[3, 2])).unwrap();
    assert!(differ(copy_bytes_uninit(exec, &from, to).unwrap_err()));
    assert_eq!(memory, [0u8; 0]);
}

#[test]
fn fault_a_plan_for_something_else() {
    let exec = Exec::current().unwrap();
    let (bytes, mut result) = ([0u8; 24], [9u8; 24]);
    let (from, to) = (contiguous(&[3, 2]).t().unwrap(), contiguous(&[2, 3]));
    let plan = CopyPlan::new(&from, &to, 4, &Machine::REFERENCE).unwrap();
    let mut run = |view: ByteView<'_>, to: &Layout| {
        let mut to = ByteViewMut::new(&mut result, view.item_size(), to.clone()).unwrap();
        plan.run_bytes(exec, &view, &mut to)
    };
    assert!(run(ByteView::new(&bytes, 4, from.clone()).unwrap(), &to).is_ok());
    for view in [
        ByteView::new(&bytes, 2, from.clone()),
        ByteView::new(&bytes, 4, to.clone()),
        ByteView::strided(&bytes, 4, [2, 3], [3, 8], 0),
    ] {
        let error = run(view.unwrap(), &to).unwrap_err();
        assert!(matches!(error, Error::NotPlanned { .. }), "{error}");
    }
}
