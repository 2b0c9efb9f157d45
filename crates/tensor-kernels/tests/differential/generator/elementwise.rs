//! Elementwise operations on one, two and three inputs, in each of their forms.

use std::collections::HashMap;

use bytemuck::bytes_of;
use tensor_kernels::{Error, Exec, Layout, Result, Tensor, TensorViewMut};

use super::{
    Case, Outcome,
    check::{Given, Unchanged, gives, near, refuses, writes},
    layouts::{Use, common_shape, shape},
    setting::Setting,
    values::{Taste, Value},
};

/// What the results should be.
pub(crate) enum Oracle<F> {
    /// Those of this function.
    Native(F),
    /// Those of the operation itself, applied to one element at the portable level, up to so many
    /// units in the last place.
    Itself(u32),
}

type Into1<A, R> = fn(&Exec, &Given<A>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Fresh1<A, R> = fn(&Exec, &Given<A>) -> Result<Tensor<R>>;
type Inplace1<A> = fn(&Exec, &mut TensorViewMut<'_, A>) -> Result<()>;
type Into2<A, B, R> = fn(&Exec, &Given<A>, &Given<B>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Fresh2<A, B, R> = fn(&Exec, &Given<A>, &Given<B>) -> Result<Tensor<R>>;
type Inplace2<A, B> = fn(&Exec, &mut TensorViewMut<'_, A>, &Given<B>) -> Result<()>;
type Into3<A, B, C, R> =
    fn(&Exec, &Given<A>, &Given<B>, &Given<C>, &mut TensorViewMut<'_, R>) -> Result<()>;
type Fresh3<A, B, C, R> = fn(&Exec, &Given<A>, &Given<B>, &Given<C>) -> Result<Tensor<R>>;
type Inplace3<A, B, C> = fn(&Exec, &mut TensorViewMut<'_, A>, &Given<B>, &Given<C>) -> Result<()>;

pub(crate) struct Unary<A, R> {
    pub(crate) name: &'static str,
    pub(crate) into: Into1<A, R>,
    pub(crate) fresh: Fresh1<A, R>,
    pub(crate) inplace: Option<Inplace1<A>>,
    pub(crate) oracle: Oracle<fn(A) -> R>,
}

pub(crate) struct Binary<A, B, R> {
    pub(crate) name: &'static str,
    pub(crate) into: Into2<A, B, R>,
    pub(crate) fresh: Fresh2<A, B, R>,
    pub(crate) inplace: Option<Inplace2<A, B>>,
    pub(crate) oracle: Oracle<fn(A, B) -> R>,
    /// Is this divisor refused?
    pub(crate) refused_divisor: Option<fn(B) -> bool>,
}

pub(crate) struct Ternary<A, B, C, R> {
    pub(crate) name: &'static str,
    pub(crate) into: Into3<A, B, C, R>,
    pub(crate) fresh: Fresh3<A, B, C, R>,
    pub(crate) inplace: Option<Inplace3<A, B, C>>,
    pub(crate) oracle: Oracle<fn(A, B, C) -> R>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Into,
    Inplace,
    Fresh,
}

impl Form {
    fn draw(case: &mut Case<'_>, name: &str, has_inplace: bool) -> Self {
        let form = match case.choices.draw(8) {
            5 | 6 if has_inplace => Self::Inplace,
            7 => Self::Fresh,
            _ => Self::Into,
        };
        let suffix = match form {
            Self::Into => "into a given result",
            Self::Inplace => "in place",
            Self::Fresh => "newly allocated",
        };
        case.note("operation", format_args!("{name}, {suffix}"));
        form
    }
}

impl<F> Oracle<F> {
    /// How many different values operands have: few, if each result has to be asked for.
    fn values(&self, few: usize) -> (Taste, usize) {
        match self {
            Self::Native(_) => (Taste::Any, usize::MAX),
            Self::Itself(_) => (Taste::Any, few),
        }
    }

    /// Levels other than the portable one may differ in the last places.
    fn ulps(&self, setting: &Setting) -> u32 {
        match self {
            Self::Itself(ulps) if setting.exec.simd() != Setting::plain().exec.simd() => *ulps,
            _ => 0,
        }
    }
}

/// Results that are asked for once for each list of operands' bytes.
struct Asked<R>(HashMap<Vec<u8>, R>);

impl<R: Value> Asked<R> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn get(
        &mut self,
        operands: &[&[u8]],
        ask: impl FnOnce(&Exec, &mut TensorViewMut<'_, R>) -> Result<()>,
    ) -> R {
        *self.0.entry(operands.concat()).or_insert_with(|| {
            let mut result = [R::of(0, Taste::Any)];
            let mut view = one_mut(&mut result);
            ask(&Setting::plain().exec, &mut view).expect("one element can be computed");
            result[0]
        })
    }
}

fn one_mut<T: Value>(value: &mut [T; 1]) -> TensorViewMut<'_, T> {
    let layout = Layout::contiguous(&[1]).expect("a small layout");
    TensorViewMut::new(value, layout).expect("one element")
}

/// The same value where two types are one.
fn same_type<R: Value, A: Value>(values: &[R]) -> Vec<A> {
    values.iter().map(|&value| bytemuck::checked::cast(value)).collect()
}

pub(crate) fn unary<A: Value, R: Value>(case: &mut Case<'_>, op: &Unary<A, R>) -> Outcome {
    let form = Form::draw(case, op.name, op.inplace.is_some());
    let setting = case.setting();
    let sizes = shape(&mut case.choices, &[size_of::<R>(), size_of::<A>()]);
    let (values, ulps) = (op.oracle.values(64), op.oracle.ulps(&setting));
    let usage = if form == Form::Inplace { Use::Written } else { Use::Read };
    let a = Given::<A>::of_shape(case, "a", &sizes, usage, values);
    let mut asked = Asked::new();
    let result = |a: A| match &op.oracle {
        Oracle::Native(function) => function(a),
        Oracle::Itself(_) => {
            asked.get(&[bytes_of(&a)], |exec, out| (op.into)(exec, &Given::value(a), out))
        }
    };
    let expected: Vec<R> = a.values(&sizes).into_iter().map(result).collect();
    let unchanged = Unchanged::new("a", &a);
    match (form, op.inplace) {
        (Form::Inplace, Some(inplace)) => {
            return writes(&a, &setting, near(&same_type(&expected), ulps), inplace);
        }
        (Form::Fresh, _) => {
            let result = setting.run(|exec| (op.fresh)(exec, &a));
            gives(&sizes, result, near(&expected, ulps))?;
        }
        _ => {
            let out = Given::output(case, "result", &sizes);
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
    let mut b = Given::<B>::input(case, "b", &sizes, values);
    let sizes = common_shape(&[&a.at.shape, &b.at.shape]);
    let refused = replace_zeros(case, op.refused_divisor, &mut b) && !sizes.contains(&0);
    let mut asked = Asked::new();
    let mut result = |(a, b): (A, B)| match &op.oracle {
        Oracle::Native(function) => function(a, b),
        Oracle::Itself(_) => asked.get(&[bytes_of(&a), bytes_of(&b)], |exec, out| {
            (op.into)(exec, &Given::value(a), &Given::value(b), out)
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
        (Form::Fresh, _) => {
            let result = setting.run(|exec| (op.fresh)(exec, &a, &b));
            match result {
                Err(error) if refused && is_division_by_zero(&error) => {}
                Ok(_) if refused => return Err("not refused".to_owned()),
                result => gives(&sizes, result, near(&expected, ulps))?,
            }
        }
        _ => {
            let out = Given::output(case, "result", &sizes);
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

/// Where zeros are refused, mostly replaces them; is one left that an index reaches?
fn replace_zeros<B: Value>(
    case: &mut Case<'_>,
    is_refused: Option<fn(B) -> bool>,
    divisors: &mut Given<B>,
) -> bool {
    let Some(is_zero) = is_refused else { return false };
    if case.choices.draw(4) != 3 {
        let one = B::of(1, Taste::Moderate);
        let elements = divisors.memory.elements_mut().iter_mut();
        elements.filter(|element| is_zero(**element)).for_each(|element| *element = one);
    }
    divisors.values(&divisors.at.shape.clone()).into_iter().any(is_zero)
}

/// The operand that a result in place replaces is written and is not broadcast.
fn first<A: Value>(
    case: &mut Case<'_>,
    form: Form,
    sizes: &[usize],
    values: (Taste, usize),
) -> Given<A> {
    match form {
        Form::Inplace => Given::of_shape(case, "a", sizes, Use::Written, values),
        Form::Into | Form::Fresh => Given::input(case, "a", sizes, values),
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
    let b = Given::<B>::input(case, "b", &sizes, values);
    let c = Given::<C>::input(case, "c", &sizes, values);
    let sizes = common_shape(&[&a.at.shape, &b.at.shape, &c.at.shape]);
    let mut asked = Asked::new();
    let result = |((a, b), c): ((A, B), C)| match &op.oracle {
        Oracle::Native(function) => function(a, b, c),
        Oracle::Itself(_) => asked.get(&[bytes_of(&a), bytes_of(&b), bytes_of(&c)], |exec, out| {
            (op.into)(exec, &Given::value(a), &Given::value(b), &Given::value(c), out)
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
        (Form::Fresh, _) => {
            let result = setting.run(|exec| (op.fresh)(exec, &a, &b, &c));
            gives(&sizes, result, near(&expected, ulps))?;
        }
        _ => {
            let out = Given::output(case, "result", &sizes);
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
