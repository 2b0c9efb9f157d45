//! The reductions of a case for one element type.

use half::f16;
use tensor_kernels::{Accumulate, Compare, Inexact, Number, Result, ops};

use super::kernel::{Dims, Kernel};
use crate::{
    cases::{sample::Sample, strided::Strided},
    measure::naive_reduce::{Steps, reduce},
};

/// An element type whose reductions are measured.
pub(super) trait Reduced:
    Sample + PartialOrd + Compare + Accumulate<Sum: Sample, Partial: Copy>
{
    /// How far two sums in different orders may differ, for each element: the mean magnitude of a
    /// sample is a half.
    const TOLERANCE: f64;

    /// Half a unit in the last place of 1, of the type in which sums are added: by so much of the
    /// sum each addition of the naive loop is off at most.
    const ROUNDING: f64;
}

macro_rules! reduced {
    ($($type:ty: $tolerance:expr, $rounding:expr;)*) => {
        $(impl Reduced for $type {
            const TOLERANCE: f64 = $tolerance;
            const ROUNDING: f64 = $rounding;
        })*
    };
}

reduced! {
    u8: 0.0, 0.0;
    i32: 0.0, 0.0;
    f16: 1e-4, 0.5 * f32::EPSILON as f64;
    f32: 1e-4, 0.5 * f32::EPSILON as f64;
    f64: 1e-12, f64::EPSILON / 2.0;
}

pub(super) fn sum<T: Reduced>() -> Kernel<T, <T as Accumulate>::Sum> {
    Kernel {
        preallocated: |exec, a, dims, out| ops::sum_into(exec, &a[0], dims, out),
        allocating: |exec, a, dims| ops::sum(exec, &a[0], dims),
        naive: |a, dims, out| {
            let steps = Steps {
                start: <T as Accumulate>::EMPTY_SUM,
                step: |sum, x: T, _| Number::plus(sum, x.to_partial()),
                finish: <T as Accumulate>::rounded_sum,
            };
            fold(a, dims, out, steps);
        },
        peers: Vec::new(),
        planned: None,
        bounded: false,
        one: |terms| T::rounded_sum(pairwise_sum(terms)),
        same: |a, b, terms| near(a, b, T::TOLERANCE * terms as f64),
        naive_same: |a, b, terms| {
            let terms = terms as f64;
            near(a, b, (T::TOLERANCE + T::ROUNDING * terms) * terms)
        },
    }
}

pub(super) fn mean<T: Reduced + Inexact>() -> Kernel<T, T> {
    Kernel {
        preallocated: |exec, a, dims, out| ops::mean_into(exec, &a[0], dims, out),
        allocating: |exec, a, dims| ops::mean(exec, &a[0], dims),
        naive: |a, dims, out| {
            let count = a[0].layout().numel() / out.len().max(1);
            let steps = Steps {
                start: <T as Accumulate>::EMPTY_SUM,
                step: |sum, x: T, _| Number::plus(sum, x.to_partial()),
                finish: |sum| <T as Inexact>::mean(sum, count),
            };
            fold(a, dims, out, steps);
        },
        peers: Vec::new(),
        planned: None,
        bounded: false,
        one: |terms| T::mean(pairwise_sum(terms), terms.len()),
        same: |a, b, _| near(a, b, T::TOLERANCE),
        naive_same: |a, b, terms| near(a, b, T::TOLERANCE + T::ROUNDING * terms as f64),
    }
}

pub(super) fn max<T: Reduced>() -> Kernel<T, T> {
    Kernel {
        preallocated: |exec, a, dims, out| ops::max_into(exec, &a[0], dims, out),
        allocating: |exec, a, dims| ops::max(exec, &a[0], dims),
        naive: |a, dims, out| {
            let steps = Steps {
                start: None,
                step: |most, x: T, _| greatest(most, x),
                finish: |most: Option<T>| most.unwrap_or_else(|| T::sample(0)),
            };
            fold(a, dims, out, steps);
        },
        peers: Vec::new(),
        planned: None,
        bounded: false,
        one: |terms| {
            terms.iter().copied().fold(terms[0], |most, x| if x > most { x } else { most })
        },
        same: |a, b, _| a == b,
        naive_same: |a, b, _| a == b,
    }
}

pub(super) fn argmax<T: Reduced>() -> Kernel<T, i64> {
    Kernel {
        preallocated: |exec, a, dims, out| ops::argmax_into(exec, &a[0], dims, out),
        allocating: |exec, a, dims| ops::argmax(exec, &a[0], dims),
        naive: |a, dims, out| {
            let steps = Steps {
                start: None,
                step: |best: Option<(T, usize)>, x, at| match best {
                    Some((most, _)) if x <= most => best,
                    _ => Some((x, at)),
                },
                finish: |best: Option<(T, usize)>| best.map_or(-1, |(_, at)| at as i64),
            };
            fold(a, dims, out, steps);
        },
        peers: Vec::new(),
        planned: None,
        bounded: false,
        one: |terms| {
            let later = |best: usize, at: usize| if terms[at] > terms[best] { at } else { best };
            (0..terms.len()).fold(0, later) as i64
        },
        same: |a, b, _| a == b,
        naive_same: |a, b, _| a == b,
    }
}

/// The expected sum: by halves, because rounding errors of equal terms added one by one do not
/// cancel. 30,000 times 0.77 in f32 would be wrong by 10.
fn pairwise_sum<T: Reduced>(terms: &[T]) -> T::Partial {
    match terms {
        [] => T::EMPTY_SUM,
        [term] => term.to_partial(),
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            Number::plus(pairwise_sum(left), pairwise_sum(right))
        }
    }
}

fn greatest<T: Copy + PartialOrd>(most: Option<T>, x: T) -> Option<T> {
    match most {
        Some(most) if most >= x => Some(most),
        _ => Some(x),
    }
}

/// The naive reduction. Dimensions were checked when the case was made.
fn fold<T: Copy, S: Copy, R>(
    a: &[Strided<'_, T>],
    dims: Dims<'_>,
    out: &mut [R],
    steps: Steps<S, impl Fn(S, T, usize) -> S, impl Fn(S) -> R>,
) {
    let done: Result<()> = reduce(a[0], dims, out, steps);
    debug_assert!(done.is_ok(), "{done:?}");
}

/// Equal up to rounding and to what another order of additions changes.
fn near<R: Sample>(a: R, b: R, tolerance: f64) -> bool {
    let number = |x: R| R::number(x.term());
    a.close(b) || (number(a) - number(b)).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_sum_of_many_equal_terms_is_not_off_by_their_rounding_errors() {
        let terms = vec![0.77_f32; 30_000];
        let one_by_one: f32 = terms.iter().sum();
        assert!((f64::from(one_by_one) - 23_100.0).abs() > 3.0);
        assert!((f64::from(pairwise_sum(&terms)) - 23_100.0).abs() < 0.01);
    }
}
