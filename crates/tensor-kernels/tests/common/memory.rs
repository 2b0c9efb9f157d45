//! Test memory of which every byte is compared: elements, the gaps between them, and a margin on
//! both sides.

use std::{any::type_name, fmt::Debug, marker::PhantomData};

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use tensor_kernels::{Layout, TensorView, TensorViewMut};

use super::{extent, offsets_of};

/// An element type with a sequence of test values. Those of floats are signalling NaNs with
/// different payloads, which a copy must not change.
pub(crate) trait Sample: Pod + PartialEq + Debug + Send + Sync {
    fn nth(n: usize) -> Self;
}

/// Pseudo-random bits for a number.
fn scrambled(n: usize) -> u64 {
    let n = (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

macro_rules! plain_samples {
    ($($type:ty),*) => {$(
        impl Sample for $type {
            fn nth(n: usize) -> Self {
                let (mut value, bits) = (Self::zeroed(), scrambled(n));
                for (i, byte) in bytemuck::bytes_of_mut(&mut value).iter_mut().enumerate() {
                    *byte = (bits >> (8 * (i % 7))) as u8 ^ i as u8;
                }
                value
            }
        }
    )*};
}

plain_samples!([u8; 3], [u8; 6], [u8; 12], [u8; 16], [u64; 3]);

macro_rules! integer_samples {
    ($($type:ty),*) => {$(
        impl Sample for $type {
            fn nth(n: usize) -> Self {
                scrambled(n) as $type
            }
        }
    )*};
}

integer_samples!(u8, i16, u16, u32, u64);

impl Sample for u128 {
    fn nth(n: usize) -> Self {
        u128::from(scrambled(n)) << 64 | u128::from(scrambled(!n))
    }
}

impl Sample for f32 {
    fn nth(n: usize) -> Self {
        f32::from_bits(0x7F80_0001 | (n as u32 & 0x1F_FFFF) << 1)
    }
}

impl Sample for f64 {
    fn nth(n: usize) -> Self {
        f64::from_bits(0xFFF0_0000_0000_0001 | (n as u64) << 1)
    }
}

impl Sample for [f32; 3] {
    fn nth(n: usize) -> Self {
        [0, 1, 2].map(|i| f32::nth(3 * n + i))
    }
}

#[cfg(feature = "complex")]
impl Sample for num_complex::Complex<f64> {
    fn nth(n: usize) -> Self {
        Self { re: f64::nth(2 * n), im: f64::nth(2 * n + 1) }
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// Elements in the middle of a buffer, the first one `skew` elements past the start of a cache
/// line.
#[derive(Clone)]
pub(crate) struct Memory<T> {
    lines: Vec<CacheLine>,
    first: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Sample> Memory<T> {
    /// Memory for `len` elements; every byte is a canary.
    pub(crate) fn canaries(len: usize, skew: usize) -> Self {
        let (first, bytes) = (64 + skew * align_of::<T>(), len * size_of::<T>());
        let mut lines = vec![CacheLine::zeroed(); (first + bytes).div_ceil(64) + 1];
        let canaries: [u8; 256] = std::array::from_fn(|i| (i * 29 + 101) as u8);
        for part in cast_slice_mut::<_, u8>(&mut lines).chunks_mut(canaries.len()) {
            part.copy_from_slice(&canaries[..part.len()]);
        }
        Self { lines, first, len, element: PhantomData }
    }

    /// Elements with the test values of [`Sample`].
    pub(crate) fn samples(len: usize, skew: usize) -> Self {
        let mut memory = Self::canaries(len, skew);
        for (n, element) in memory.elements_mut().iter_mut().enumerate() {
            *element = T::nth(n);
        }
        memory
    }

    /// Memory for a layout; every byte is a canary.
    pub(crate) fn for_layout(layout: &Layout, skew: usize) -> Self {
        Self::canaries(extent(layout), skew)
    }

    pub(crate) fn elements(&self) -> &[T] {
        cast_slice(&self.bytes()[self.first..][..self.len * size_of::<T>()])
    }

    pub(crate) fn elements_mut(&mut self) -> &mut [T] {
        let (first, bytes) = (self.first, self.len * size_of::<T>());
        cast_slice_mut(&mut cast_slice_mut::<_, u8>(&mut self.lines)[first..][..bytes])
    }

    pub(crate) fn view(&self, layout: &Layout) -> TensorView<'_, T> {
        TensorView::new(self.elements(), layout.clone()).expect("memory for the layout")
    }

    pub(crate) fn view_mut(&mut self, layout: &Layout) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.elements_mut(), layout.clone()).expect("an injective layout")
    }

    /// The elements of a layout, in logical order.
    pub(crate) fn values(&self, layout: &Layout) -> Vec<T> {
        let elements = self.elements();
        offsets_of(layout).into_iter().map(|offset| elements[offset]).collect()
    }

    /// The same memory after `values` have been written to the elements of a layout, in logical
    /// order.
    pub(crate) fn with(&self, layout: &Layout, values: &[T]) -> Self {
        let mut written = self.clone();
        let offsets = offsets_of(layout);
        assert_eq!(offsets.len(), values.len());
        let elements = written.elements_mut();
        for (offset, &value) in offsets.into_iter().zip(values) {
            elements[offset] = value;
        }
        written
    }

    /// All bytes, margins and gaps included.
    fn bytes(&self) -> &[u8] {
        cast_slice(&self.lines)
    }

    /// Fails, with the first byte that differs, unless this memory is `expected` bit for bit.
    pub(crate) fn assert_is(&self, expected: &Self, what: impl Fn() -> String) {
        if self.bytes() == expected.bytes() {
            return;
        }
        let differs = |(a, b): (&u8, &u8)| a != b;
        let at = self.bytes().iter().zip(expected.bytes()).position(differs).unwrap_or_default();
        let byte = at as isize - self.first as isize;
        let element = byte.div_euclid(size_of::<T>() as isize);
        panic!(
            "{}: {} number {element} (byte {byte}) of {} differs",
            what(),
            type_name::<T>(),
            self.len
        );
    }
}
