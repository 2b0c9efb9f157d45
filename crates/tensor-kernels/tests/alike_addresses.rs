//! Transposes whose loads and stores have the same low address bits: rows are one element longer
//! than a multiple of a power of two, and both buffers start at the same place in a page, or nearly
//! so. Every candidate of the copy at every level, and operations that are computed on the way.

mod common;

use common::{extent, levels, offsets_of};
use tensor_kernels::{CopyPlan, Element, Exec, Layout, TensorView, TensorViewMut, ops};

/// The bytes from one row to the next, without those of an element.
const PERIOD_BYTES: usize = 4096;

const PAGE_BYTES: usize = 4096;

/// Matrices with the edges of tiles, more than one span of tiles among them.
const SHAPES: [[usize; 2]; 5] = [[64, 64], [65, 190], [130, 67], [33, 257], [16, 16]];

/// A transposed matrix and the place of its result, whose address is that of the source and `apart`
/// elements more, but for whole pages.
struct Case<T> {
    source: Vec<T>,
    from: Layout,
    memory: Vec<T>,
    to: Layout,
}

impl<T: Element> Case<T> {
    fn new([rows, columns]: [usize; 2], apart: usize, nth: fn(usize) -> T) -> Self {
        let (page, step) = (PAGE_BYTES / size_of::<T>(), PERIOD_BYTES / size_of::<T>() + 1);
        let from = Layout::new([rows, columns], [1, step as isize], 0).unwrap();
        let to = Layout::new([rows, columns], [step as isize, 1], 0).unwrap();
        let source: Vec<T> = (0..extent(&from)).map(nth).collect();
        let memory = vec![nth(7); extent(&to) + page];
        let place = |buffer: &[T]| buffer.as_ptr().addr() / size_of::<T>() % page;
        let start = (page + place(&source) + apart - place(&memory)) % page;
        let to = Layout::new(to.shape(), to.strides(), start).unwrap();
        Self { source, from, memory, to }
    }

    /// Writes by `write`, and compares all of the memory, gaps included.
    fn check(
        &mut self,
        result: impl Fn(T) -> T,
        what: &str,
        write: impl FnOnce(&TensorView<'_, T>, &mut TensorViewMut<'_, T>),
    ) where
        T: PartialEq,
    {
        let fill = self.source[7];
        self.memory.fill(fill);
        let mut expected = self.memory.clone();
        for (to, from) in offsets_of(&self.to).into_iter().zip(offsets_of(&self.from)) {
            expected[to] = result(self.source[from]);
        }
        let source = TensorView::new(&self.source, self.from.clone()).unwrap();
        let mut out = TensorViewMut::new(&mut self.memory, self.to.clone()).unwrap();
        write(&source, &mut out);
        assert!(self.memory == expected, "{what}, from {:?} to {:?}", self.from, self.to);
    }
}

/// Every level.
fn execs() -> impl Iterator<Item = Exec> {
    let exec = |level| Exec::current().unwrap().with_simd(level).unwrap().serial();
    levels().into_iter().map(exec)
}

fn cases<T: Element>(nth: fn(usize) -> T) -> impl Iterator<Item = Case<T>> {
    let places = [0, 1, PAGE_BYTES / size_of::<T>() - 3, 250];
    SHAPES.into_iter().flat_map(move |shape| places.map(|apart| Case::new(shape, apart, nth)))
}

fn check_copies<T: Element + PartialEq>(nth: fn(usize) -> T) {
    for mut case in cases(nth) {
        for exec in execs() {
            let (from, to) = (&case.from, &case.to);
            let candidates = CopyPlan::candidates(from, to, size_of::<T>(), &exec.machine).unwrap();
            for plan in candidates.into_iter().map(|candidate| candidate.plan) {
                let what = format!("{}, {plan}", exec.simd());
                case.check(|x| x, &what, |source, out| plan.run(&exec, source, out).unwrap());
            }
        }
    }
}

macro_rules! widths {
    ($($name:ident: $nth:expr;)*) => {$(
        #[test]
        fn $name() {
            check_copies($nth);
        }
    )*};
}

widths! {
    bytes: |at| at as u8;
    two_bytes: |at| at as u16;
    four_bytes: |at| at as u32;
    eight_bytes: |at| at as u64;
    sixteen_bytes: |at| [at as u64, !at as u64];
}

#[test]
fn operations_are_computed_on_the_way() {
    for mut case in cases(|at| at as f32) {
        for exec in execs() {
            let what = exec.simd().to_string();
            case.check(|x| -x, &what, |x, out| ops::neg_into(&exec, x, out).unwrap());
            case.check(|x| x + x, &what, |x, out| ops::add_into(&exec, x, x, out).unwrap());
        }
    }
    for mut case in cases(|at| at as f64) {
        for exec in execs() {
            let what = exec.simd().to_string();
            case.check(|x| -x, &what, |x, out| ops::neg_into(&exec, x, out).unwrap());
        }
    }
}
