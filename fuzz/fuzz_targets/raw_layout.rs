//! Arbitrary sizes, strides and offsets: a constructor accepts exactly the layouts that are valid
//! in 128-bit arithmetic, a view of a slice exactly those that lie in it, and no call on an
//! accepted layout panics or leaves its bounds.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};
use tensor_fuzz::{Call, LIMIT, Naive, draw, is_addressable};
use tensor_kernels::{Layout, MemoryFormat, TensorView, TensorViewMut};

/// The longest slice that is viewed.
const ELEMENTS: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let _ = raw(&mut Unstructured::new(bytes));
});

fn raw(u: &mut Unstructured<'_>) -> Result<()> {
    let (shape, strides, offset) = if u.arbitrary()? { draw::raw(u)? } else { draw::small(u)? };
    dense(&shape);
    let made = Layout::new(&shape, &strides, offset);
    let expected = is_addressable(&shape, &strides, offset);
    assert_eq!(made.is_ok(), expected, "{shape:?} {strides:?} {offset}: {made:?}");
    let Ok(layout) = made else { return Ok(()) };
    let (len, itemsize) = (draw::size(u)?, draw::size(u)?);
    let within = bounds(&layout).is_none_or(|(_, highest)| highest < len as i128);
    assert_eq!(layout.check_within(len, itemsize).is_ok(), within, "{layout:?} in {len}");
    let bytes = layout.numel() as i128 * itemsize as i128 <= isize::MAX as i128;
    assert_eq!(layout.dense_bytes(itemsize).is_ok(), bytes, "{layout:?} of {itemsize} bytes");
    views(&layout, u.int_in_range(0..=ELEMENTS)?);
    questions(&layout, itemsize, &draw::list(u, shape.len() + 1, draw::size)?);
    calls(u, layout)
}

/// The lowest and the highest offset; `None` without elements.
fn bounds(layout: &Layout) -> Option<(i128, i128)> {
    let bounds = layout.bounds().map(|(low, high)| (low as i128, high as i128));
    let (mut low, mut high) = (layout.offset() as i128, layout.offset() as i128);
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        let reach = (size as i128 - 1) * stride as i128;
        (low, high) = (low + reach.min(0), high + reach.max(0));
    }
    let expected = (layout.numel() > 0).then_some((low, high));
    assert_eq!(bounds, expected, "{layout:?}");
    expected
}

/// Dense layouts of the sizes: accepted exactly if the number of elements does not overflow.
fn dense(shape: &[usize]) {
    let countable = is_addressable(shape, &vec![0; shape.len()], 0);
    assert_eq!(Layout::contiguous(shape).is_ok(), countable, "{shape:?}");
    assert_eq!(Layout::fortran(shape).is_ok(), countable, "{shape:?}");
    let formats = [(MemoryFormat::ChannelsLast, 4), (MemoryFormat::ChannelsLast3d, 5)];
    for (format, rank) in formats {
        let accepted = Layout::with_format(shape, format).is_ok();
        assert_eq!(accepted, countable && shape.len() == rank, "{format:?} {shape:?}");
    }
}

/// Views of a slice of `len` elements: an accepted layout can be read, and written if no two
/// indices share an element.
fn views(layout: &Layout, len: usize) {
    let mut elements: Vec<u16> = (0..len as u16).collect();
    let within = bounds(layout).is_none_or(|(_, highest)| highest < len as i128);
    let naive = Naive::strided(layout.shape(), layout.strides(), layout.offset()).ok();
    match TensorView::new(&elements, layout.clone()) {
        Ok(view) => {
            assert!(within, "{layout:?} in {len}");
            if let Some(naive) = &naive {
                let read = view.to_vec();
                assert!(read.iter().map(|&x| i128::from(x)).eq(naive.offsets.iter().copied()));
            }
        }
        Err(refused) => assert!(!within, "{layout:?} in {len}: {refused}"),
    }
    let injective = naive.as_ref().map(|naive| within && naive.is_injective());
    match TensorViewMut::new(&mut elements, layout.clone()) {
        Ok(mut view) => {
            // With more elements than the slice has, two indices share one.
            assert!(within && injective != Some(false) && layout.numel() <= len, "{layout:?}");
            view.iter_mut().for_each(|element| *element = !*element);
        }
        Err(refused) => assert_ne!(injective, Some(true), "{layout:?} in {len}: {refused}"),
    }
}

/// The queries that do not enumerate the layout.
fn questions(layout: &Layout, itemsize: usize, index: &[usize]) {
    let below = |(&i, &size): (&usize, &usize)| i < size;
    let is_in_range = index.len() == layout.ndim() && index.iter().zip(layout.shape()).all(below);
    assert_eq!(layout.offset_of(index).is_ok(), is_in_range, "{layout:?} at {index:?}");
    let _ = layout.strides_in_bytes(itemsize);
    let _ = layout.contiguity_trace().to_string();
    let _ = layout.suggest_memory_format();
    let _ = layout.self_overlap_within(1000);
    assert_eq!(layout.offsets().len(), layout.numel());
    let preserved = layout.preserved().expect("a dense layout of a shape that was accepted");
    assert_eq!(preserved.shape(), layout.shape());
    let widths = [(1, 2), (8, 4), (itemsize, 1), (1, itemsize)];
    for (from, to) in widths {
        let _ = layout.view_as_width(from, to);
    }
}

/// A chain of calls, each result of which lies within the bounds of the previous layout.
fn calls(u: &mut Unstructured<'_>, mut layout: Layout) -> Result<()> {
    while !u.is_empty() {
        let call = Call::draw(u, &layout)?;
        let Ok(next) = call.apply(&layout) else { continue };
        assert!(is_addressable(next.shape(), next.strides(), next.offset()), "{next:?}");
        let inner = bounds(&next);
        let inside = match (bounds(&layout), inner) {
            (Some((low, high)), Some((from, to))) => low <= from && to <= high,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        assert!(inside || call.leaves_the_view(), "{call:?} of {layout:?}: {next:?}");
        let _ = layout.overlap_within(&next, 1000);
        if next.shape().iter().all(|&size| size <= LIMIT) || layout.numel() == 0 {
            layout = next;
        }
    }
    Ok(())
}
