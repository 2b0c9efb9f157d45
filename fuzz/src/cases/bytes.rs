//! Copies by bytes: items of 1 to 70 bytes at any byte strides, in slices that may be too short. A
//! view is accepted exactly if its items lie in the slice, a copy is right or refused, and no byte
//! around the items changes.

use std::mem::MaybeUninit;

use tensor_kernels::{
    ByteView, ByteViewMut, CopyPlan, Exec, Result, SimdLevel, copy_bytes, copy_bytes_uninit,
    to_byte_vec,
};

use super::Input;

const MAX_ITEM_BYTES: usize = 70;

/// The longest slice.
const MAX_BYTES: usize = 1 << 16;

/// Items in a slice.
#[derive(Debug)]
struct Items {
    size: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    /// The bytes of the slice.
    len: usize,
}

impl Items {
    /// Strides of any kind, or those of adjacent items; most slices are long enough.
    fn draw(input: &mut Input<'_>, size: usize, shape: &[usize]) -> Self {
        let is_dense = input.below(2) == 1;
        let (mut strides, mut adjacent) = (vec![0; shape.len()], size as isize);
        // Dimensions in one of two orders, so that there are transposes.
        let from_front = input.below(2) == 1;
        for nth in 0..shape.len() {
            let d = if from_front { nth } else { shape.len() - 1 - nth };
            let given = input.signed();
            let gap = if is_dense { 0 } else { given.unsigned_abs() as isize % 4 };
            strides[d] = match given {
                ..-100 if !is_dense => given % 80,
                0 if !is_dense => 0,
                ..0 => -(adjacent + gap),
                _ => adjacent + gap,
            };
            adjacent = (adjacent + gap) * shape[d].max(1) as isize;
        }
        let mut items = Self { size, shape: shape.to_vec(), strides, offset: 0, len: 0 };
        let (low, high) = items.reach();
        items.offset = low.unsigned_abs() + input.below(9);
        let needed = items.offset + high as usize + size;
        let spare = input.below(16);
        items.len = if input.once_in(8) { needed.saturating_sub(spare) } else { needed + spare };
        items
    }

    /// The lowest and the highest offset from the first item, whether or not there are items.
    fn reach(&self) -> (isize, isize) {
        self.shape.iter().zip(&self.strides).fold((0, 0), |(low, high), (&size, &stride)| {
            let along = (size.max(1) - 1) as isize * stride;
            (low + along.min(0), high + along.max(0))
        })
    }

    /// The offsets of all items, in order.
    fn starts(&self) -> Vec<isize> {
        let mut starts = vec![self.offset as isize];
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let along = |start| (0..size as isize).map(move |i| start + i * stride);
            starts = starts.into_iter().flat_map(along).collect();
        }
        starts
    }

    fn is_within(&self) -> bool {
        let end = |start: isize| start as usize + self.size;
        self.starts().iter().all(|&start| start >= 0 && end(start) <= self.len)
    }

    /// Whether two items share a byte.
    fn overlaps(&self) -> bool {
        let mut starts = self.starts();
        starts.sort_unstable();
        starts.windows(2).any(|pair| pair[1] - pair[0] < self.size as isize)
    }

    fn view<'a>(&self, bytes: &'a [u8]) -> Result<ByteView<'a>> {
        ByteView::strided(bytes, self.size, &self.shape, &self.strides, self.offset)
    }

    fn view_mut<'a, B: tensor_kernels::Byte>(
        &self,
        bytes: &'a mut [B],
    ) -> Result<ByteViewMut<'a, B>> {
        ByteViewMut::strided(bytes, self.size, &self.shape, &self.strides, self.offset)
    }
}

/// Runs the case of an input.
///
/// # Panics
/// If the library is wrong.
pub fn run(input: &[u8]) {
    let input = &mut Input(input);
    let size = 1 + input.below(MAX_ITEM_BYTES);
    let shape: Vec<usize> = (0..input.below(5)).map(|_| input.below(8)).collect();
    let from = Items::draw(input, size, &shape);
    // Sometimes other sizes or items, which are refused.
    let other = if input.once_in(16) { vec![input.below(4); shape.len()] } else { shape };
    let other_size = if input.once_in(16) { 3 } else { size };
    let to = Items::draw(input, other_size, &other);
    if from.len.max(to.len) > MAX_BYTES {
        return;
    }
    let source: Vec<u8> = (0..from.len).map(|at| (at ^ ((at >> 8) * 131)) as u8).collect();
    let Some(read) = accepted(&from, from.view(&source)) else { return };
    check_vector(&from, &read, &source);
    let mut before = vec![0xEE; to.len];
    let Some(target) = accepted(&to, to.view_mut(&mut before)) else { return };
    drop(target);
    assert!(!to.overlaps(), "{to:?} was accepted");
    let mut expected = before.clone();
    let is_copied = (from.size, &from.shape) == (to.size, &to.shape);
    if is_copied {
        for (read, write) in from.starts().into_iter().zip(to.starts()) {
            let item = &source[read as usize..][..size];
            expected[write as usize..][..size].copy_from_slice(item);
        }
    }
    for exec in execs() {
        for way in [copy_bytes, by_plan] {
            let mut result = before.clone();
            let copied = way(&exec, &read, &mut to.view_mut(&mut result).expect("as before"));
            assert_eq!(copied.is_ok(), is_copied, "{from:?} to {to:?}: {copied:?}");
            assert!(result == expected, "{from:?} to {to:?}, {}", exec.simd());
        }
        check_uninit(&exec, [&from, &to], &read, &expected, is_copied);
    }
}

fn by_plan(exec: &Exec, from: &ByteView<'_>, to: &mut ByteViewMut<'_>) -> Result<()> {
    CopyPlan::for_bytes(from, to, &exec.machine)?.without_short_cuts().run_bytes(exec, from, to)
}

/// Every level, with plain stores and with streamed ones.
fn execs() -> Vec<Exec> {
    let mut execs = Vec::new();
    for level in SimdLevel::available() {
        let exec = Exec::current().and_then(|exec| exec.serial().with_simd(level));
        let mut exec = exec.expect("an available level");
        execs.push(exec);
        exec.machine.stream = 0;
        execs.push(exec);
    }
    execs
}

/// A view, which is accepted if its items lie in the slice, and are not shared if it is mutable.
fn accepted<V>(items: &Items, view: Result<V>) -> Option<V> {
    match view {
        Ok(view) => {
            assert!(items.is_within(), "{items:?} was accepted");
            Some(view)
        }
        Err(refused) => {
            let is_valid = items.is_within() && !items.overlaps();
            assert!(!is_valid || items.starts().is_empty(), "{items:?}: {refused}");
            None
        }
    }
}

fn check_vector(from: &Items, read: &ByteView<'_>, source: &[u8]) {
    let starts = from.starts();
    let expected = starts.iter().flat_map(|&start| &source[start as usize..][..from.size]);
    let exec = Exec::current().expect("a level of this CPU");
    assert!(to_byte_vec(exec, read).expect("memory").iter().eq(expected), "{from:?}");
}

/// The same into memory that was never written, of which the items alone are read.
fn check_uninit(
    exec: &Exec,
    [from, to]: [&Items; 2],
    read: &ByteView<'_>,
    expected: &[u8],
    is_copied: bool,
) {
    let mut memory = vec![MaybeUninit::uninit(); to.len];
    let target = to.view_mut(&mut memory).expect("as before");
    let copied = copy_bytes_uninit(exec, read, target);
    assert_eq!(copied.is_ok(), is_copied, "{from:?} to {to:?}");
    if let Ok(written) = copied {
        let items = to_byte_vec(exec, &written.as_view()).expect("memory");
        let starts = to.starts();
        let expected = starts.iter().flat_map(|&start| &expected[start as usize..][..to.size]);
        assert!(items.iter().eq(expected), "uninitialised: {from:?} to {to:?}");
    }
}
