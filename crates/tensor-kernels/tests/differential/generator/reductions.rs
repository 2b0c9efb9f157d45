//! Reductions over any dimensions.

use tensor_kernels::{
    Element, Error, Exec, ReduceDims, Result, Tensor, TensorView, TensorViewMut, ops,
};

use super::{
    Case, Check, Outcome,
    check::{TestOperand, Unchanged, gives, near, refuses, writes},
    layouts::{Use, for_each_index, shape},
    setting::Setting,
    values::{Number, Value, ValueKind, Wide},
};

struct Reduction<A, R: Element> {
    name: &'static str,
    into: fn(&Exec, &TensorView<'_, A>, ReduceDims, &mut TensorViewMut<'_, R>) -> Result<()>,
    allocating: fn(&Exec, &TensorView<'_, A>, ReduceDims) -> Result<Tensor<R>>,
    all: fn(&Exec, &TensorView<'_, A>) -> Result<R>,
    oracle: fn(&[A]) -> Expected<R>,
    /// Whether the reduction of no elements has a value.
    has_empty: bool,
    kind: ValueKind,
}

/// The expected result of the reduction of some elements.
enum Expected<R> {
    Exactly(R),
    /// Any: another order of the same operations overflows.
    Anything,
    /// Each part within `distance` of this number.
    Near {
        parts: [f64; 2],
        distance: f64,
    },
}

macro_rules! reductions {
    ($(
        $name:ident $into:ident $all:ident: $a:ty => $r:ty, $empty:expr, $kind:ident, $oracle:expr;
    )*) => {
        &[$(|case| reduce::<$a, $r>(case, &Reduction {
            name: concat!(stringify!($name), " of ", stringify!($a)),
            into: |exec, a, over, out| ops::$into(exec, a, over, out),
            allocating: |exec, a, over| ops::$name(exec, a, over),
            all: |exec, a| ops::$all(exec, a),
            oracle: $oracle,
            has_empty: $empty,
            kind: ValueKind::$kind,
        })),*]
    };
}

const ALL: &[&[Check]] = &[
    EXACT,
    ROUNDED,
    #[cfg(feature = "half")]
    HALVES,
    #[cfg(feature = "complex")]
    COMPLEX,
];

const EXACT: &[Check] = reductions! {
    sum sum_into sum_all: u8 => i64, true, Any, wrapping_sum;
    sum sum_into sum_all: bool => i64, true, Any, wrapping_sum;
    sum sum_into sum_all: i32 => i64, true, Any, wrapping_sum;
    sum sum_into sum_all: u64 => u64, true, Any, wrapping_sum;
    prod prod_into prod_all: i16 => i64, true, NearOne, wrapping_product;
    prod prod_into prod_all: u64 => u64, true, Any, wrapping_product;
    min min_into min_all: u8 => u8, false, Any, |x| best(x, |a, b| a < b);
    min min_into min_all: f64 => f64, false, Any, |x| best(x, |a, b| a < b);
    max max_into max_all: f32 => f32, false, Any, |x| best(x, |a, b| a > b);
    max max_into max_all: i16 => i16, false, Any, |x| best(x, |a, b| a > b);
    max max_into max_all: bool => bool, false, Any, |x| best(x, |a, b| a > b);
    argmin argmin_into argmin_all: f64 => i64, false, Any, |x| first_best(x, |a, b| a < b);
    argmin argmin_into argmin_all: u8 => i64, false, Any, |x| first_best(x, |a, b| a < b);
    argmax argmax_into argmax_all: f32 => i64, false, Any, |x| first_best(x, |a, b| a > b);
    argmax argmax_into argmax_all: i64 => i64, false, Any, |x| first_best(x, |a, b| a > b);
    argmax argmax_into argmax_all: u16 => i64, false, Any, |x| first_best(x, |a, b| a > b);
};

const ROUNDED: &[Check] = reductions! {
    sum sum_into sum_all: f32 => f32, true, Moderate, |x| near_sum(x, SINGLE, SINGLE);
    sum sum_into sum_all: f64 => f64, true, Moderate, |x| near_sum(x, DOUBLE, DOUBLE);
    mean mean_into mean_all: f32 => f32, true, Moderate, |x| near_mean(x, SINGLE, SINGLE);
    mean mean_into mean_all: f64 => f64, true, Moderate, |x| near_mean(x, DOUBLE, DOUBLE);
    prod prod_into prod_all: f32 => f32, true, NearOne, |x| near_product(x, SINGLE);
    prod prod_into prod_all: f64 => f64, true, NearOne, |x| near_product(x, DOUBLE);
};

#[cfg(feature = "half")]
const HALVES: &[Check] = reductions! {
    sum sum_into sum_all: half::f16 => half::f16, true, Moderate, |x| near_sum(x, SINGLE, HALF);
    mean mean_into mean_all: half::bf16 => half::bf16, true, Moderate,
        |x| near_mean(x, SINGLE, BRAIN);
    min min_into min_all: half::f16 => half::f16, false, Any, |x| best(x, |a, b| a < b);
    argmax argmax_into argmax_all: half::bf16 => i64, false, Any, |x| first_best(x, |a, b| a > b);
};

#[cfg(feature = "complex")]
const COMPLEX: &[Check] = reductions! {
    sum sum_into sum_all: Complex32 => Complex32, true, Moderate, |x| near_sum(x, SINGLE, SINGLE);
    mean mean_into mean_all: Complex64 => Complex64, true, Moderate,
        |x| near_mean(x, DOUBLE, DOUBLE);
};

#[cfg(feature = "complex")]
type Complex32 = num_complex::Complex<f32>;
#[cfg(feature = "complex")]
type Complex64 = num_complex::Complex<f64>;

/// Units of rounding: half the distance from 1 to the next number.
const DOUBLE: f64 = f64::EPSILON / 2.0;
const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
#[cfg(feature = "half")]
const HALF: f64 = 1.0 / 2048.0;
#[cfg(feature = "half")]
const BRAIN: f64 = 1.0 / 256.0;

fn integer(value: impl Number) -> i128 {
    match value.wide() {
        Wide::Int(value) => value,
        _ => unreachable!("an integer"),
    }
}

fn wrapping_sum<A: Number, R: Number>(elements: &[A]) -> Expected<R> {
    let sum = elements.iter().fold(0i128, |sum, &x| sum.wrapping_add(integer(x)));
    Expected::Exactly(R::narrow(Wide::Int(sum)))
}

fn wrapping_product<A: Number, R: Number>(elements: &[A]) -> Expected<R> {
    let product = elements.iter().fold(1i128, |product, &x| product.wrapping_mul(integer(x)));
    Expected::Exactly(R::narrow(Wide::Int(product)))
}

/// Adds to a double-double number, the sum of `high` and `low`.
fn add_exactly((high, low): (f64, f64), x: f64) -> (f64, f64) {
    let sum = high + x;
    let of_x = sum - high;
    (sum, low + ((high - (sum - of_x)) + (x - of_x)))
}

/// The sum, and the sum of magnitudes, of the real or the imaginary parts.
fn sums<A: Number>(elements: &[A], part: fn(Wide) -> f64) -> (f64, f64) {
    let parts = elements.iter().map(|x| part(x.wide()));
    let (high, low) = parts.clone().fold((0.0, 0.0), add_exactly);
    (high + low, parts.map(f64::abs).sum())
}

/// The documented bound for sums, with the units of rounding of the summation (`unit`) and of the
/// result's type (`last`).
fn near_sum<A: Number, R>(elements: &[A], unit: f64, last: f64) -> Expected<R> {
    let (re, im) = (sums(elements, Wide::real), sums(elements, Wide::imaginary));
    let magnitude = re.1.max(im.1);
    let bound = (128.0 + (elements.len().max(1) as f64).log2()) * unit * magnitude;
    let rounding = if last > unit { last * (re.0.abs().max(im.0.abs()) + bound) } else { 0.0 };
    // The subnormal numbers of half precision are not negligible here.
    let least = if last > unit { 1e-7 } else { 0.0 };
    Expected::Near { parts: [re.0, im.0], distance: bound + rounding + least }
}

fn near_mean<A: Number, R: Value>(elements: &[A], unit: f64, last: f64) -> Expected<R> {
    let count = elements.len() as f64;
    match near_sum::<A, R>(elements, unit, last) {
        Expected::Near { parts, distance } if count > 0.0 => {
            let parts = parts.map(|part| part / count);
            let magnitude = parts[0].abs().max(parts[1].abs());
            Expected::Near { parts, distance: distance / count * 1.01 + 2.0 * last * magnitude }
        }
        _ => Expected::Near { parts: [f64::NAN; 2], distance: 0.0 },
    }
}

/// The error of n − 1 rounded products. Where the product is subnormal, any bit of it may be lost.
/// Of elements that are repeated often, those above 1 may overflow before others make the product
/// small again.
fn near_product<A: Number, R>(elements: &[A], unit: f64) -> Expected<R> {
    let greatest: f64 = if unit == DOUBLE { f64::MAX } else { f32::MAX.into() };
    let exponents = elements.iter().map(|x| x.wide().real().abs().log2());
    if exponents.filter(|&exponent| exponent > 0.0).sum::<f64>() > greatest.log2() - 1.0 {
        return Expected::Anything;
    }
    let product: f64 = elements.iter().map(|x| x.wide().real()).product();
    let roundings = elements.len() as f64 * (unit + DOUBLE) * 1.01;
    let least_normal = if unit == DOUBLE { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    let lost = if product.abs() < least_normal { least_normal } else { 0.0 };
    Expected::Near { parts: [product, 0.0], distance: product.abs() * roundings + lost }
}

fn is_nan<A: Number>(x: A) -> bool {
    x.wide().real().is_nan()
}

/// The index of the first NaN, or of the first element that no other precedes in the order.
fn arg_best<A: Number + PartialOrd>(elements: &[A], before: fn(&A, &A) -> bool) -> usize {
    let nan = elements.iter().position(|&x| is_nan(x));
    nan.unwrap_or_else(|| {
        (1..elements.len())
            .fold(0, |best, i| if before(&elements[i], &elements[best]) { i } else { best })
    })
}

fn best<A: Number + PartialOrd>(elements: &[A], before: fn(&A, &A) -> bool) -> Expected<A> {
    let best = elements[arg_best(elements, before)];
    match best.wide() {
        // Either zero may be returned.
        Wide::Real(0.0) => Expected::Near { parts: [0.0; 2], distance: 0.0 },
        _ => Expected::Exactly(best),
    }
}

fn first_best<A: Number + PartialOrd>(elements: &[A], before: fn(&A, &A) -> bool) -> Expected<i64> {
    Expected::Exactly(arg_best(elements, before) as i64)
}

impl<R: Number> Expected<R> {
    fn refused(&self, found: R) -> Option<String> {
        match *self {
            Self::Anything => None,
            Self::Exactly(expected) => {
                (!found.agrees(expected, 0)).then(|| format!("{expected:?}"))
            }
            Self::Near { parts, distance } => {
                let found = [found.wide().real(), found.wide().imaginary()];
                let is_near = |(&found, &expected): (&f64, &f64)| {
                    (found - expected).abs() <= distance
                        || found.is_nan() && expected.is_nan()
                        || found.is_infinite() && overflows_to::<R>(expected, distance) == found
                };
                let all = if parts[0].is_nan() { 1 } else { 2 };
                let near = found[..all].iter().zip(&parts).all(is_near);
                (!near).then(|| format!("{parts:?} ± {distance:e}"))
            }
        }
    }
}

/// The infinity that the largest accepted number rounds to, if it overflows.
fn overflows_to<R: Number>(expected: f64, distance: f64) -> f64 {
    let farthest = Wide::Real(expected + distance.copysign(expected));
    R::narrow(farthest).wide().real()
}

/// The elements of each result in row-major order, and the shape of the result.
pub(super) fn groups<A>(
    sizes: &[usize],
    values: Vec<A>,
    reduced: &[bool],
    keepdim: bool,
) -> (Vec<Vec<A>>, Vec<usize>) {
    let kept = |d: usize| if reduced[d] { 1 } else { sizes[d] };
    let all: Vec<usize> = (0..sizes.len()).map(kept).collect();
    let mut groups: Vec<Vec<A>> = (0..all.iter().product()).map(|_| Vec::new()).collect();
    let mut values = values.into_iter();
    for_each_index(sizes, |index| {
        let along = index
            .iter()
            .zip(&all)
            .fold(0, |at, (&i, &size)| at * size + if size == 1 { 0 } else { i });
        groups[along].extend(values.next());
    });
    let stays = |d: &usize| keepdim || !reduced[*d];
    let shape = (0..sizes.len()).filter(stays).map(|d| all[d]).collect();
    (groups, shape)
}

fn reduce<A: Value, R: Number>(case: &mut Case<'_>, op: &Reduction<A, R>) -> Outcome {
    let setting = case.setting();
    let sizes = shape(&mut case.choices, &[size_of::<A>()]);
    let a = TestOperand::<A>::of_shape(case, "a", &sizes, Use::Read, (op.kind, usize::MAX));
    let (dims, reduced) = dims(case, sizes.len());
    let keepdim = case.choices.draw(2) == 1;
    let over =
        if keepdim { ReduceDims::from(&dims[..]).keepdim() } else { ReduceDims::from(&dims[..]) };
    case.note("operation", format_args!("{} over {dims:?}, keepdim {keepdim}", op.name));
    let (groups, shape) = groups(&sizes, a.values(&sizes), &reduced, keepdim);
    let empty = (0..sizes.len()).any(|d| reduced[d] && sizes[d] == 0);
    if empty && !op.has_empty {
        let out = TestOperand::output(case, "result", &shape);
        return refuses(&out, &setting, is_empty, |exec, out| {
            (op.into)(exec, &a.view(), over.clone(), out)
        });
    }
    let expected: Vec<Expected<R>> = groups.iter().map(|group| (op.oracle)(group)).collect();
    let agrees = |number: usize, found: R| expected[number].refused(found);
    let unchanged = Unchanged::new("a", &a);
    let plain = Setting::plain();
    let allocate =
        |setting: &Setting| setting.run(|exec| (op.allocating)(exec, &a.view(), over.clone()));
    let plainly = allocate(&plain);
    gives(&shape, plainly.clone(), agrees).map_err(|why| format!("serial, portable: {why}"))?;
    let plainly = plainly.and_then(|plainly| plainly.to_vec()).map_err(|why| why.to_string())?;
    match case.choices.draw(4) {
        0 | 1 => {
            let out = TestOperand::output(case, "result", &shape);
            let mut plain_out = out.clone();
            let mut view = plain_out.memory.view_mut(&out.at);
            (op.into)(&plain.exec, &a.view(), over.clone(), &mut view)
                .map_err(|why| why.to_string())?;
            let plainly = plain_out.values(&shape);
            writes(&out, &plain, agrees, |exec, out| {
                (op.into)(exec, &a.view(), over.clone(), out)
            })?;
            writes(&out, &setting, near(&plainly, 0), |exec, out| {
                (op.into)(exec, &a.view(), over.clone(), out)
            })?;
        }
        3 if shape.iter().product::<usize>() == 1 && reduced.iter().all(|&reduced| reduced) => {
            let all = setting.run(|exec| (op.all)(exec, &a.view()));
            let all = all.map_err(|refused| refused.to_string())?;
            if !all.agrees(plainly[0], 0) {
                return Err(format!("as a value: expected {:?}, found {all:?}", plainly[0]));
            }
        }
        _ => gives(&shape, allocate(&setting), near(&plainly, 0))?,
    }
    unchanged.check()
}

fn is_empty(error: &Error) -> bool {
    matches!(error, Error::ReduceEmpty { .. })
}

/// The dimensions to reduce, and for each dimension whether it is reduced.
pub(super) fn dims(case: &mut Case<'_>, rank: usize) -> (Vec<isize>, Vec<bool>) {
    let mut dims = Vec::new();
    let one = case.choices.draw(rank.max(1));
    let several = case.choices.draw(3) == 2;
    for d in 0..rank {
        if if several { case.choices.draw(2) == 1 } else { d == one } {
            let from_the_end = case.choices.draw(2) == 1;
            dims.push(d as isize - if from_the_end { rank as isize } else { 0 });
        }
    }
    if case.choices.once_in(6) {
        dims.clear();
    }
    let is_named = |d: usize| dims.iter().any(|&dim| dim.rem_euclid(rank as isize) == d as isize);
    let reduced = (0..rank).map(|d| dims.is_empty() || is_named(d)).collect();
    (dims, reduced)
}

pub(crate) fn check(case: &mut Case<'_>) -> Outcome {
    let group = case.choices.pick(ALL);
    case.choices.pick(group)(case)
}
