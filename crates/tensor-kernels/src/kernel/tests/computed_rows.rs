//! Rows of results, beside or in place of an input, at every level and length.

use super::levels;
use crate::{
    kernel::{Function1, Function2, Map, Operation, RowBlock, Zip},
    math::FmaMode,
};

/// Functions of a kind each: they compute much or not, and check their arguments or not. What is
/// computed twice differs.
struct Plain;
struct Much;
struct Checked;

macro_rules! functions {
    ($($name:ident { $($constant:tt)* })*) => {$(
        impl Function1<f32> for $name {
            type Output = f32;
            $($constant)*
            fn call<M: FmaMode>(&self, a: f32) -> f32 {
                1.5 * a + 1.0
            }
        }

        impl Function2<f32, f32> for $name {
            type Output = f32;
            $($constant)*
            fn call<M: FmaMode>(&self, a: f32, b: f32) -> f32 {
                1.5 * a + b
            }
        }
    )*};
}

functions! {
    Plain {}
    Much { const COMPUTES_MUCH: bool = true; }
    Checked { const HAS_LARGE_ARGUMENT_PATH: bool = true; }
}

const ROWS: usize = 3;

/// Computes rows of `len` of as many inputs as there are, which all are the same array; in place
/// of it, or beside it. Returns the array and the results.
fn computed<const N: usize>(
    operation: &dyn Operation<N>,
    level: crate::SimdLevel,
    len: usize,
    in_place: bool,
) -> (Vec<f32>, Vec<f32>) {
    let gap = 2;
    let mut input: Vec<f32> = (0..ROWS * (len + gap)).map(|n| n as f32).collect();
    let mut beside = vec![-1.0; input.len()];
    let (from, to) = (input.as_mut_ptr().cast::<u8>(), beside.as_mut_ptr().cast::<u8>());
    let mut ptrs = [from; N];
    ptrs[0] = if in_place { from } else { to };
    let row_strides = [((len + gap) * size_of::<f32>()) as isize; N];
    let block = RowBlock { ptrs, row_strides, is_scalar: [false; N], rows: ROWS, len };
    // SAFETY: both arrays have these rows; the result is the input or shares no element with it.
    unsafe { operation.compute(level, &block) };
    (input, beside)
}

fn check<const N: usize>(operation: &dyn Operation<N>, expected: impl Fn(f32) -> f32) {
    for level in levels() {
        for len in (1..150).chain([255, 256, 1023, 1040, 2056]) {
            let expected = |gap: fn(f32) -> f32| -> Vec<f32> {
                let of =
                    |n: usize| if n % (len + 2) < len { expected(n as f32) } else { gap(n as f32) };
                (0..ROWS * (len + 2)).map(of).collect()
            };
            let (_, beside) = computed(operation, level, len, false);
            assert_eq!(beside, expected(|_| -1.0), "{len} at {level:?}");
            let (input, _) = computed(operation, level, len, true);
            assert_eq!(input, expected(|n| n), "{len} in place at {level:?}");
        }
    }
}

fn map<F: Function1<f32, Output = f32>>(function: F) {
    let map = Map::<F, f32>::new(function);
    check(map.of_types::<f32>().any(), |n| 1.5 * n + 1.0);
}

fn zip<F: Function2<f32, f32, Output = f32>>(function: F) {
    let zip = Zip::<F, f32, f32>::new(function);
    check(zip.of_types::<f32>().any(), |n| 2.5 * n);
}

#[test]
fn no_element_is_computed_from_a_result() {
    map(Plain);
    map(Much);
    map(Checked);
    zip(Plain);
    zip(Much);
    zip(Checked);
}
