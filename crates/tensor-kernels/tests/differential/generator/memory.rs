//! Test memory of which every byte is compared: elements at any address, surrounded by guard bytes.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut, checked};
use tensor_kernels::{TensorView, TensorViewMut};

use super::{layouts::Strided, values::Value};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// The number of guard bytes before and after the elements.
const MARGIN: usize = 256;

/// Elements with a margin on both sides; the first one lies `skew` bytes after the start of a cache
/// line.
#[derive(Clone)]
pub(crate) struct Memory<T> {
    lines: Vec<CacheLine>,
    first: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Value> Memory<T> {
    pub(crate) fn new(len: usize, skew: usize, mut element: impl FnMut(usize) -> T) -> Self {
        let (first, bytes) = (MARGIN + skew, len * size_of::<T>());
        let lines = vec![CacheLine::zeroed(); (first + bytes + MARGIN).div_ceil(64)];
        let mut memory = Self { lines, first, len, element: PhantomData };
        for (i, place) in memory.elements_mut().iter_mut().enumerate() {
            *place = element(i);
        }
        let all = cast_slice_mut::<_, u8>(&mut memory.lines);
        let guards = (0..first).chain(first + bytes..all.len());
        guards.for_each(|i| all[i] = (i * 29 + 101) as u8);
        memory
    }

    pub(crate) fn elements(&self) -> &[T] {
        checked::cast_slice(&self.bytes()[self.first..][..self.len * size_of::<T>()])
    }

    pub(crate) fn elements_mut(&mut self) -> &mut [T] {
        let (first, bytes) = (self.first, self.len * size_of::<T>());
        checked::cast_slice_mut(&mut cast_slice_mut::<_, u8>(&mut self.lines)[first..][..bytes])
    }

    pub(crate) fn view(&self, layout: &Strided) -> TensorView<'_, T> {
        TensorView::new(self.elements(), layout.layout()).expect("elements for the layout")
    }

    pub(crate) fn view_mut(&mut self, layout: &Strided) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.elements_mut(), layout.layout()).expect("an injective layout")
    }

    /// All bytes, guards included.
    pub(crate) fn bytes(&self) -> &[u8] {
        cast_slice(&self.lines)
    }

    /// A description of the first byte that differs.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.bytes() == other.bytes() {
            return None;
        }
        let at = self.bytes().iter().zip(other.bytes()).position(|(a, b)| a != b)?;
        let (byte, width) = (at as isize - self.first as isize, size_of::<T>() as isize);
        let element = byte.div_euclid(width);
        let (found, expected) = (self.bytes()[at], other.bytes()[at]);
        Some(format!(
            "byte {byte} (of the element at offset {element} of {}) is {found:#04x}, \
             it was {expected:#04x}",
            self.len
        ))
    }
}
