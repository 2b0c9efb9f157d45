//! Elementwise operations on one, two and three inputs, in each of their forms.

use std::collections::HashMap;

use bytemuck::bytes_of;
use tensor_kernels::{Element, Error, Exec, Layout, Result, Tensor, TensorViewMut};

use super::{
    Case, Outcome,
    check::{TestOperand, Unchanged, gives, near, refuses, writes},
    layouts::{Use, common_shape, shape},
    setting::Setting,
    values::{Value, ValueKind},
};

/// The reference for the results.
pub(crate) enum Oracle<F> {
    /// This function.
    Native(F),
    /// The operation itself, applied to one element at the scalar level, up to a number of units in
    /// the last place.
    Itself(u32),
}

type Into1<A, R> = fn(&Exec, &TestOperand<A>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Allocating1<A, R> = fn(&Exec, &TestOperand<A>) -> Result<Tensor<R>>;
type Inplace1<A> = fn(&Exec, &mut TensorViewMut<'_, A>) -> Result<()>;
type Into2<A, B, R> =
    fn(&Exec, &TestOperand<A>, &TestOperand<B>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Allocating2<A, B, R> = fn(&Exec, &TestOperand<A>, &TestOperand<B>) -> Result<Tensor<R>>;
type Inplace2<A, B> = fn(&Exec, &mut TensorViewMut<'_, A>, &TestOperand<B>) -> Result<()>;
type Into3<A, B, C, R> = fn(
    &Exec,
    &TestOperand<A>,
    &TestOperand<B>,
    &TestOperand<C>,
    &mut TensorViewMut<'_, R>,
) -> Result<()>;
type Allocating3<A, B, C, R> =
    fn(&Exec, &TestOperand<A>, &TestOperand<B>, &TestOperand<C>) -> Result<Tensor<R>>;
type Inplace3<A, B, C> =
    fn(&Exec, &mut TensorViewMut<'_, A>, &TestOperand<B>, &TestOperand<C>) -> Result<()>;

pub(crate) struct Unary<A, R: Element> {
    pub(crate) name: &'static str,
    pub(crate) into: Into1<A, R>,
    pub(crate) allocating: Allocating1<A, R>,
    pub(crate) inplace: Option<Inplace1<A>>,
    pub(crate) oracle: Oracle<fn(A) -> R>,
}

pub(crate) struct Binary<A, B, R: Element> {
    pub(crate) name: &'static str,
    pub(crate) into: Into2<A, B, R>,
    pub(crate) allocating: Allocating2<A, B, R>,
    pub(crate) inplace: Option<Inplace2<A, B>>,
    pub(crate) oracle: Oracle<fn(A, B) -> R>,
    /// Whether a divisor is refused.
    pub(crate) refused_divisor: Option<fn(B) -> bool>,
}

pub(crate) struct Ternary<A, B, C, R: Element> {
    pub(crate) name: &'static str,
    pub(crate) into: Into3<A, B, C, R>,
    pub(crate) allocating: Allocating3<A, B, C, R>,
    pub(crate) inplace: Option<Inplace3<A, B, C>>,
    pub(crate) oracle: Oracle<fn(A, B, C) -> R>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Into,
    Inplace,
    Allocating,
}

impl Form {
    fn draw(case: &mut Case<'_>, name: &str, has_inplace: bool) -> Self {
        let form = match case.choices.draw(8) {
            5 | 6 if has_inplace => Self::Inplace,
            7 => Self::Allocating,
            _ => Self::Into,
        };
        let suffix = match form {
            Self::Into => "into a given result",
            Self::Inplace => "in place",
            Self::Allocating => "newly allocated",
        };
        case.note("operation", format_args!("{name}, {suffix}"));
        form
    }
}

impl<F> Oracle<F> {
    /// The kind and the number of different values of operands: few if the reference is computed by
    /// the operation itself.
    fn values(&self, few: usize) -> (ValueKind, usize) {
        match self {
            Self::Native(_) => (ValueKind::Any, usize::MAX),
            Self::Itself(_) => (ValueKind::Any, few),
        }
    }

    /// The tolerance in units in the last place, for levels other than the scalar one.
    fn ulps(&self, setting: &Setting) -> u32 {
        match self {
            Self::Itself(ulps) if setting.exec.simd() != Setting::plain().exec.simd() => *ulps,
            _ => 0,
        }
    }
}

/// A cache of results of the operation itself, by the bytes of its operands.
struct CachedResults<R>(HashMap<Vec<u8>, R>);

impl<R: Value> CachedResults<R> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn get(
        &mut self,
        operands: &[&[u8]],
        compute: impl FnOnce(&Exec, &mut TensorViewMut<'_, R>) -> Result<()>,
    ) -> R {
        *self.0.entry(operands.concat()).or_insert_with(|| {
            let mut result = [R::of(0, ValueKind::Any)];
            let mut view = one_mut(&mut result);
            compute(&Setting::plain().exec, &mut view).expect("one element can be computed");
            result[0]
        })
    }
}

fn one_mut<T: Value>(value: &mut [T; 1]) -> TensorViewMut<'_, T> {
    let layout = Layout::contiguous([1]).expect("a small layout");
    TensorViewMut::new(value, layout).expect("one element")
}

/// Converts values between two types that are the same.
fn same_type<R: Value, A: Value>(values: &[R]) -> Vec<A> {
    values.iter().map(|&value| bytemuck::checked::cast(value)).collect()
}

pub(crate) fn unary<A: Value, R: Value>(case: &mut Case<'_>, op: &Unary<A, R>) -> Outcome {
    let form = Form::draw(case, op.name, op.inplace.is_some());
    let setting = case.setting();
    let sizes = shape(&mut case.choices, &[size_of::<R>(), size_of::<A>()]);
    let (values, ulps) = (op.oracle.values(64), op.oracle.ulps(&setting));
    let usage = if form == Form::Inplace { Use::Written } else { Use::Read };
    let a = TestOperand::<A>::of_shape(case, "a", &sizes, usage, values);
    let mut references = CachedResults::new();
    let result = |x: A| match &op.oracle {
        Oracle::Native(function) => function(x),
        Oracle::Itself(_) => {
            references.get(&[bytes_of(&x)], |exec, out| (op.into)(exec, &a.one(x), out))
        }
    };
    let expected: Vec<R> = a.values(&sizes).into_iter().map(result).collect();
    let unchanged = Unchanged::new("a", &a);
    match (form, op.inplace) {
        (Form::Inplace, Some(inplace)) => {
            return writes(&a, &setting, near(&same_type(&expected), ulps), inplace);
        }
        (Form::Allocating, _) => {
            let result = setting.run(|exec| (op.allocating)(exec, &a));
            gives(&sizes, result, near(&expected, ulps))?;
        }
        _ => {
            let out = TestOperand::output(case, "result", &sizes);
            writes(&out, &setting, near(&expected, ulps), |exec, out| (op.into)(exec, &a, out))?;
        }
    }
    unchanged.check()
}

pub(crate) fn binary<A: Value, B: Value, R: Value>(
    case: &mut Case<'_>,
    op: &Binary<A, B, R>,
) -> Outcome {
    let form = Form::draw(case, op.name, op.inplace.is_some());
    let setting = case.setting();
    let sizes = shape(&mut case.choices, &[size_of::<R>(), size_of::<A>(), size_of::<B>()]);
    let (values, ulps) = (op.oracle.values(16), op.oracle.ulps(&setting));
    let a = first::<A>(case, form, &sizes, values);
    let mut b = TestOperand::<B>::input(case, "b", &sizes, values);
    let sizes = common_shape(&[&a.at.shape, &b.at.shape]);
    let refused = replace_zeros(case, op.refused_divisor, &mut b) && !sizes.contains(&0);
    let mut references = CachedResults::new();
    let mut result = |(x, y): (A, B)| match &op.oracle {
        Oracle::Native(function) => function(x, y),
        Oracle::Itself(_) => references.get(&[bytes_of(&x), bytes_of(&y)], |exec, out| {
            (op.into)(exec, &a.one(x), &b.one(y), out)
        }),
    };
    let mut expected: Vec<R> = Vec::new();
    if !refused {
        expected.extend(a.values(&sizes).into_iter().zip(b.values(&sizes)).map(&mut result));
    }
    let unchanged = (Unchanged::new("a", &a), Unchanged::new("b", &b));
    match (form, op.inplace) {
        (Form::Inplace, Some(inplace)) => {
            let work = |exec: &Exec, x: &mut TensorViewMut<'_, A>| inplace(exec, x, &b);
            if refused {
                return refuses(&a, &setting, is_division_by_zero, work);
            }
            writes(&a, &setting, near(&same_type(&expected), ulps), work)?;
            return unchanged.1.check();
        }
        (Form::Allocating, _) => {
            let result = setting.run(|exec| (op.allocating)(exec, &a, &b));
            match result {
                Err(error) if refused && is_division_by_zero(&error) => {}
                Ok(_) if refused => return Err("not refused".to_owned()),
                result => gives(&sizes, result, near(&expected, ulps))?,
            }
        }
        _ => {
            let out = TestOperand::output(case, "result", &sizes);
            let work = |exec: &Exec, out: &mut TensorViewMut<'_, R>| (op.into)(exec, &a, &b, out);
            if refused {
                refuses(&out, &setting, is_division_by_zero, work)?;
            } else {
                writes(&out, &setting, near(&expected, ulps), work)?;
            }
        }
    }
    unchanged.0.check()?;
    unchanged.1.check()
}

fn is_division_by_zero(error: &Error) -> bool {
    matches!(error, Error::DivisionByZero { .. })
}

/// Replaces zeros in most cases, if they are refused; returns whether a zero remains.
fn replace_zeros<B: Value>(
    case: &mut Case<'_>,
    is_refused: Option<fn(B) -> bool>,
    divisors: &mut TestOperand<B>,
) -> bool {
    let Some(is_zero) = is_refused else { return false };
    if case.choices.draw(4) != 3 {
        let one = B::of(1, ValueKind::Moderate);
        let elements = divisors.memory.elements_mut().iter_mut();
        elements.filter(|element| is_zero(**element)).for_each(|element| *element = one);
    }
    divisors.values(&divisors.at.shape.clone()).into_iter().any(is_zero)
}

/// The first operand, which is not broadcast if the operation is in place.
fn first<A: Value>(
    case: &mut Case<'_>,
    form: Form,
    sizes: &[usize],
    values: (ValueKind, usize),
) -> TestOperand<A> {
    match form {
        Form::Inplace => TestOperand::of_shape(case, "a", sizes, Use::Written, values),
        Form::Into | Form::Allocating => TestOperand::input(case, "a", sizes, values),
    }
}

pub(crate) fn ternary<A: Value, B: Value, C: Value, R: Value>(
    case: &mut Case<'_>,
    op: &Ternary<A, B, C, R>,
) -> Outcome {
    let form = Form::draw(case, op.name, op.inplace.is_some());
    let setting = case.setting();
    let all = [size_of::<R>(), size_of::<A>(), size_of::<B>(), size_of::<C>()];
    let sizes = shape(&mut case.choices, &all);
    let (values, ulps) = (op.oracle.values(8), op.oracle.ulps(&setting));
    let a = first::<A>(case, form, &sizes, values);
    let b = TestOperand::<B>::input(case, "b", &sizes, values);
    let c = TestOperand::<C>::input(case, "c", &sizes, values);
    let sizes = common_shape(&[&a.at.shape, &b.at.shape, &c.at.shape]);
    let mut references = CachedResults::new();
    let result = |((x, y), z): ((A, B), C)| match &op.oracle {
        Oracle::Native(function) => function(x, y, z),
        Oracle::Itself(_) => references
            .get(&[bytes_of(&x), bytes_of(&y), bytes_of(&z)], |exec, out| {
                (op.into)(exec, &a.one(x), &b.one(y), &c.one(z), out)
            }),
    };
    let pairs = a.values(&sizes).into_iter().zip(b.values(&sizes));
    let expected: Vec<R> = pairs.zip(c.values(&sizes)).map(result).collect();
    let unchanged = (Unchanged::new("a", &a), Unchanged::new("b", &b), Unchanged::new("c", &c));
    match (form, op.inplace) {
        (Form::Inplace, Some(inplace)) => {
            writes(&a, &setting, near(&same_type(&expected), ulps), |exec, x| {
                inplace(exec, x, &b, &c)
            })?;
        }
        (Form::Allocating, _) => {
            let result = setting.run(|exec| (op.allocating)(exec, &a, &b, &c));
            gives(&sizes, result, near(&expected, ulps))?;
        }
        _ => {
            let out = TestOperand::output(case, "result", &sizes);
            writes(&out, &setting, near(&expected, ulps), |exec, out| {
                (op.into)(exec, &a, &b, &c, out)
            })?;
        }
    }
    unchanged.0.check()?;
    unchanged.1.check()?;
    unchanged.2.check()
}

pub(crate) fn check(case: &mut Case<'_>) -> Outcome {
    case.choices.pick(super::operations::ALL)(case)
}
