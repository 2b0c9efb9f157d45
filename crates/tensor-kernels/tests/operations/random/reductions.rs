//! Reductions of every element type, over random dimensions of random layouts, into given results
//! and into newly allocated ones.
//!
//! The elements are chosen so that sums and products do not depend on the order. The last test
//! checks that the order is the same in every configuration.

use std::fmt::Debug;

use proptest::{prelude::*, sample::subsequence};
use tensor_kernels::{
    Accumulate, Compare, Element, Equality, Error, Exec, Inexact, Layout, Number, ReduceDims,
    Result, Tensor, TensorView, TensorViewMut, ops,
};

use super::layouts::{Arrangement, Setting, arrangements, config, settings, shapes};
use crate::common::{extent, offsets_of};

/// Test values whose sums (`small`) and products (`factor`) are exact, and special values.
trait Value: Equality + Debug {
    fn small(n: usize) -> Self;
    fn factor(n: usize) -> Self {
        Self::small(n)
    }
    fn special(n: usize) -> Self {
        Self::small(n)
    }
}

fn mixed(n: usize) -> usize {
    (n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 40
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn small(n: usize) -> Self { mixed(n) as $type }
            fn special(n: usize) -> Self {
                [<$type>::MIN, <$type>::MAX, mixed(n) as $type][mixed(n) % 3]
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Value for bool {
    fn small(n: usize) -> Self {
        !mixed(n).is_multiple_of(5)
    }
}

macro_rules! floats {
    ($($type:ty: |$x:ident| $from:expr),*) => {$(
        impl Value for $type {
            fn small(n: usize) -> Self {
                let $x = (mixed(n) % 17) as f32 - 8.0;
                $from
            }
            fn factor(n: usize) -> Self {
                let two_or_one = if n % 64 == 0 { 2.0 } else { 1.0 };
                let $x = [1.0f32, -1.0, 1.0, two_or_one][mixed(n) % 4];
                $from
            }
            fn special(n: usize) -> Self {
                const SPECIAL: [f32; 5] = [1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -3.0];
                let choices = if n % 7 == 0 { SPECIAL.len() } else { 1 };
                let $x = SPECIAL[mixed(n) / 8 % choices] * (1.0 + (mixed(n) % 5) as f32);
                $from
            }
        }
    )*};
}

floats!(f32: |x| x, f64: |x| x.into());
#[cfg(feature = "half")]
floats!(half::f16: |x| half::f16::from_f32(x), half::bf16: |x| half::bf16::from_f32(x));
#[cfg(feature = "complex")]
floats!(
    num_complex::Complex<f32>: |x| num_complex::Complex::new(x, 0.0),
    num_complex::Complex<f64>: |x| num_complex::Complex::new(x.into(), 0.0)
);

/// A case: the input, the reduced dimensions, and the layout of the result.
#[derive(Clone, Debug)]
struct Case {
    input: Layout,
    dims: Vec<isize>,
    keepdim: bool,
    to: Arrangement,
    setting: Setting,
}

fn cases() -> impl Strategy<Value = Case> {
    let parts =
        (shapes(), arrangements(), arrangements(), settings(), any::<bool>(), any::<[bool; 6]>());
    parts.prop_flat_map(|(shape, input, to, setting, keepdim, from_end)| {
        let (rank, input) = (shape.len(), input.source(&shape));
        subsequence((0..rank as isize).collect::<Vec<_>>(), 0..=rank).prop_shuffle().prop_map(
            move |mut dims| {
                for dim in &mut dims {
                    *dim -= if from_end[*dim as usize] { rank as isize } else { 0 };
                }
                let (input, to, setting) = (input.clone(), to.clone(), setting.clone());
                Case { input, dims, keepdim, to, setting }
            },
        )
    })
}

type Into<T, R> =
    fn(&Exec, &TensorView<'_, T>, ReduceDims, &mut TensorViewMut<'_, R>) -> Result<()>;
type Allocating<T, R> = fn(&Exec, &TensorView<'_, T>, ReduceDims) -> Result<Tensor<R>>;

impl Case {
    fn over(&self) -> ReduceDims {
        let over = ReduceDims::from(&self.dims[..]);
        if self.keepdim { over.keepdim() } else { over }
    }

    fn is_reduced(&self, d: usize) -> bool {
        let rank = self.input.ndim() as isize;
        self.dims.is_empty() || self.dims.iter().any(|dim| (dim + rank) % rank == d as isize)
    }

    /// Does a reduced dimension have size 0?
    fn reduces_nothing(&self) -> bool {
        (0..self.input.ndim()).any(|d| self.is_reduced(d) && self.input.shape()[d] == 0)
    }

    fn shape(&self) -> Vec<usize> {
        let size = |(d, &size)| match (self.is_reduced(d), self.keepdim) {
            (false, _) => Some(size),
            (true, true) => Some(1),
            (true, false) => None,
        };
        self.input.shape().iter().enumerate().filter_map(size).collect()
    }

    /// The oracle: the elements of each result, in row-major order.
    fn groups<T: Copy>(&self, elements: &[T]) -> Vec<Vec<T>> {
        let mut groups = vec![Vec::new(); self.shape().iter().product()];
        let mut index = vec![0; self.input.ndim()];
        for offset in offsets_of(&self.input) {
            let kept = (0..index.len()).filter(|&d| !self.is_reduced(d));
            let group = kept.fold(0, |group, d| group * self.input.shape()[d] + index[d]);
            groups[group].push(elements[offset]);
            for d in (0..index.len()).rev() {
                index[d] = (index[d] + 1) % self.input.shape()[d];
                if index[d] > 0 {
                    break;
                }
            }
        }
        groups
    }

    /// Runs the reduction in every configuration, into a given result, whose surrounding memory
    /// must not change, and into a newly allocated one.
    fn check<T: Element, R: Equality + Debug>(
        &self,
        what: &str,
        element: fn(usize) -> T,
        (into, allocating): (Into<T, R>, Allocating<T, R>),
        oracle: impl Fn(&[T]) -> Option<R>,
    ) {
        let elements: Vec<T> = (0..extent(&self.input)).map(element).collect();
        let input = TensorView::new(&elements, self.input.clone()).unwrap();
        let expected = match oracle(&[]) {
            // As PyTorch refuses it, even if the result has no elements.
            None if self.reduces_nothing() => None,
            _ => {
                self.groups(&elements).iter().map(|group| oracle(group)).collect::<Option<Vec<R>>>()
            }
        };
        let to = self.to.destination(&self.shape());
        let blank = vec![R::default(); extent(&to)];
        for config in self.setting.run_configs() {
            let mut memory = blank.clone();
            let mut out = TensorViewMut::new(&mut memory, to.clone()).unwrap();
            let result = config.run(|exec| into(exec, &input, self.over(), &mut out));
            let allocated = config.run(|exec| allocating(exec, &input, self.over()));
            let Some(expected) = &expected else {
                assert!(matches!(result, Err(Error::ReduceEmpty { .. })), "{what}: {result:?}");
                assert!(matches!(allocated, Err(Error::ReduceEmpty { .. })), "{what}");
                continue;
            };
            result.unwrap();
            let mut written = blank.clone();
            for (offset, &value) in offsets_of(&to).into_iter().zip(expected) {
                written[offset] = value;
            }
            same(&memory, &written, || format!("{what}, {config}"));
            let allocated = allocated.unwrap();
            assert_eq!(allocated.layout(), &Layout::contiguous(self.shape()).unwrap());
            let values = allocated.to_vec().unwrap();
            same(&values, expected, || format!("{what}, newly allocated, {config}"));
        }
    }
}

#[track_caller]
fn same<R: Equality + Debug>(got: &[R], expected: &[R], what: impl Fn() -> String) {
    for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        let equal = got.equals(expected) || got.is_not_a_number() && expected.is_not_a_number();
        assert!(equal, "{}: element {i} is {got:?}, not {expected:?}", what());
    }
}

/// The two functions of an operation on views.
macro_rules! forms {
    ($allocating:ident, $into:ident) => {
        (
            |exec, a, over, out| ops::$into(exec, a, over, out),
            |exec, a, over| ops::$allocating(exec, a, over),
        )
    };
}

fn summed<T: Accumulate<Sum: Debug> + Value>(case: &Case) {
    let join = |start: T::Partial, join: fn(T::Partial, T::Partial) -> T::Partial| {
        move |group: &[T]| {
            let partial = group.iter().fold(start, |sum, x| join(sum, x.to_partial()));
            Some(T::rounded_sum(partial))
        }
    };
    case.check("sum", T::small, forms!(sum, sum_into), join(T::EMPTY_SUM, T::Partial::plus));
    case.check(
        "prod",
        T::factor,
        forms!(prod, prod_into),
        join(T::EMPTY_PRODUCT, T::Partial::times),
    );
}

fn averaged<T: Inexact + Value>(case: &Case) {
    case.check("mean", T::small, forms!(mean, mean_into), |group| {
        let sum = group.iter().fold(T::EMPTY_SUM, |sum, x| sum.plus(x.to_partial()));
        Some(T::mean(sum, group.len()))
    });
}

fn compared<T: Compare + Value>(case: &Case) {
    /// The index of the first element that no other precedes in the order.
    fn first<T: Compare>(group: &[T], in_front: fn(T, T) -> bool) -> Option<usize> {
        let nan = group.iter().position(|x| x.is_not_a_number());
        let best = |best, i| if in_front(group[i], group[best]) { i } else { best };
        nan.or_else(|| (0..group.len()).reduce(best))
    }
    let (less, greater) = (|a: T, b: T| a.is_less(b), |a: T, b: T| b.is_less(a));
    case.check("min", T::special, forms!(min, min_into), |group| {
        first(group, less).map(|i| group[i])
    });
    case.check("max", T::special, forms!(max, max_into), |group| {
        first(group, greater).map(|i| group[i])
    });
    case.check("argmin", T::special, forms!(argmin, argmin_into), |group| {
        first(group, less).map(|i| i as i64)
    });
    case.check("argmax", T::special, forms!(argmax, argmax_into), |group| {
        first(group, greater).map(|i| i as i64)
    });
}

fn every_operation(case: &Case, dtype: usize) {
    macro_rules! discrete {
        ($($n:literal $type:ty),*) => {
            match dtype {
                $($n => {
                    summed::<$type>(case);
                    compared::<$type>(case);
                })*
                _ => {}
            }
        };
    }
    discrete!(0 bool, 1 u8, 2 u16, 3 u32, 4 u64, 5 i8, 6 i16, 7 i32, 8 i64, 9 f32, 10 f64);
    match dtype {
        9 => averaged::<f32>(case),
        10 => averaged::<f64>(case),
        _ => {}
    }
    #[cfg(feature = "half")]
    {
        discrete!(11 half::f16, 12 half::bf16);
        match dtype {
            11 => averaged::<half::f16>(case),
            12 => averaged::<half::bf16>(case),
            _ => {}
        }
    }
    #[cfg(feature = "complex")]
    match dtype {
        13 => {
            summed::<num_complex::Complex<f32>>(case);
            averaged::<num_complex::Complex<f32>>(case);
        }
        14 => {
            summed::<num_complex::Complex<f64>>(case);
            averaged::<num_complex::Complex<f64>>(case);
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(config(220))]

    #[test]
    fn over_any_dimensions_of_any_layout(case in cases(), dtype in 0..15usize) {
        every_operation(&case, dtype);
    }

    #[test]
    fn sums_are_the_same_bits_in_every_configuration(case in cases()) {
        let element = |n| (mixed(n) as f32).sqrt() - 2000.0;
        let elements: Vec<f32> = (0..extent(&case.input)).map(element).collect();
        let input = TensorView::new(&elements, case.input.clone()).unwrap();
        let bits = |exec: &Exec| {
            let sums: Tensor<f32> = ops::sum(exec, &input, case.over()).unwrap();
            sums.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let expected = bits(&Exec::current().unwrap().serial());
        for config in case.setting.run_configs() {
            prop_assert_eq!(&config.run(bits), &expected, "{}", config);
        }
    }
}
