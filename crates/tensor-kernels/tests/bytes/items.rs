//! Items in test memory, and the oracle.

use std::mem::MaybeUninit;

use tensor_kernels::{ByteView, ByteViewMut, Layout};

use crate::common::{Case, Memory, offsets_of};

/// Items of `size` bytes at the offsets of `layout`, each offset `pitch` bytes after the one
/// before, in a buffer of `len` bytes.
#[derive(Clone)]
pub(crate) struct Items {
    pub(crate) size: usize,
    pub(crate) pitch: usize,
    pub(crate) layout: Layout,
}

impl Items {
    /// The source and the destination of a case, `pad` bytes between their items.
    pub(crate) fn of_case(case: &Case, size: usize, pad: [usize; 2]) -> [Self; 2] {
        let [from, to] = case.layouts([1, 0]);
        [(from, pad[0]), (to, pad[1])].map(|(layout, pad)| Self { size, pitch: size + pad, layout })
    }

    fn byte_strides(&self) -> Vec<isize> {
        self.layout.strides().iter().map(|stride| stride * self.pitch as isize).collect()
    }

    /// The bytes that the items need from the start of a buffer.
    pub(crate) fn extent(&self) -> usize {
        self.layout.bounds().map_or(0, |(_, highest)| highest * self.pitch + self.size)
    }

    /// Where items start, in logical order.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        offsets_of(&self.layout).into_iter().map(|offset| offset * self.pitch)
    }

    /// A view by the layout where there is no gap between offsets, by byte strides otherwise.
    pub(crate) fn view<'a>(&self, bytes: &'a [u8]) -> ByteView<'a> {
        let offset = self.layout.offset() * self.pitch;
        match self.pitch == self.size {
            true => ByteView::new(bytes, self.size, self.layout.clone()),
            false => {
                let strides = self.byte_strides();
                ByteView::strided(bytes, self.size, self.layout.shape(), strides, offset)
            }
        }
        .expect("a buffer for the items")
    }

    pub(crate) fn view_mut<'a>(&self, bytes: &'a mut [u8]) -> ByteViewMut<'a> {
        let offset = self.layout.offset() * self.pitch;
        match self.pitch == self.size {
            true => ByteViewMut::new(bytes, self.size, self.layout.clone()),
            false => {
                let strides = self.byte_strides();
                ByteViewMut::strided(bytes, self.size, self.layout.shape(), strides, offset)
            }
        }
        .expect("a buffer for the items")
    }

    pub(crate) fn view_uninit<'a>(
        &self,
        bytes: &'a mut [MaybeUninit<u8>],
    ) -> ByteViewMut<'a, MaybeUninit<u8>> {
        let (strides, offset) = (self.byte_strides(), self.layout.offset() * self.pitch);
        ByteViewMut::strided(bytes, self.size, self.layout.shape(), strides, offset)
            .expect("a buffer for the items")
    }
}

/// Test bytes, `skew` bytes after the start of a cache line.
pub(crate) fn samples(items: &Items, skew: usize) -> Memory<u8> {
    Memory::samples(items.extent(), skew)
}

/// The oracle: what is in `blank` after the items of `source` have been copied into it.
pub(crate) fn copied(
    [from, to]: [&Items; 2],
    source: &Memory<u8>,
    blank: &Memory<u8>,
) -> Memory<u8> {
    let mut expected = blank.clone();
    for (at_from, at_to) in from.starts().zip(to.starts()) {
        let item = &source.elements()[at_from..][..from.size];
        expected.elements_mut()[at_to..][..to.size].copy_from_slice(item);
    }
    expected
}
