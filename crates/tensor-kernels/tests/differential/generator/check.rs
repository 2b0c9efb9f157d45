//! Operands in guarded memory, and the comparison of all written memory with the expected one.

use bytemuck::bytes_of;
use tensor_kernels::{
    AsOperand, Error, Exec, Layout, Operand, Tensor, TensorView, TensorViewMut, ViewRef,
};

use super::{
    Case, Outcome,
    layouts::{Strided, Use, broadcast_shape, index_of},
    memory::Memory,
    setting::Setting,
    values::{Value, ValueKind},
};

/// An operand: its memory and its layout.
#[derive(Clone)]
pub(crate) struct TestOperand<T> {
    pub(crate) memory: Memory<T>,
    pub(crate) at: Strided,
    layout: Layout,
    /// Named operations get the single element as a value, not as a view.
    is_value: bool,
}

/// An offset from the start of a cache line, in bytes, that is aligned for the type.
fn skew<T>(case: &mut Case<'_>) -> usize {
    case.choices.draw(64_usize.div_ceil(align_of::<T>())) * align_of::<T>()
}

impl<T: Value> TestOperand<T> {
    /// An input that broadcasts to `shape`, with at most `distinct` different values.
    pub(crate) fn input(
        case: &mut Case<'_>,
        name: &str,
        shape: &[usize],
        (kind, distinct): (ValueKind, usize),
    ) -> Self {
        let is_value = case.choices.once_in(8);
        let shape = if is_value { Vec::new() } else { broadcast_shape(&mut case.choices, shape) };
        let operand = Self::of_shape(case, name, &shape, Use::Read, (kind, distinct));
        if is_value {
            case.note(name, "given as a value");
        }
        Self { is_value, ..operand }
    }

    /// An output of this shape.
    pub(crate) fn output(case: &mut Case<'_>, name: &str, shape: &[usize]) -> Self {
        Self::of_shape(case, name, shape, Use::Written, (ValueKind::Any, usize::MAX))
    }

    pub(crate) fn of_shape(
        case: &mut Case<'_>,
        name: &str,
        shape: &[usize],
        usage: Use,
        (kind, distinct): (ValueKind, usize),
    ) -> Self {
        let at = match &case.last {
            Some(last) if last.shape == shape && case.choices.draw(3) == 2 => {
                Strided::like(&mut case.choices, last)
            }
            _ => Strided::draw(&mut case.choices, shape, size_of::<T>(), usage),
        };
        case.last = Some(at.clone());
        let skew = skew::<T>(case);
        let bits = case.bits();
        case.note(name, format_args!("{} {at}, slice at {skew} of a cache line", T::NAME));
        let value = |i: usize| {
            let number = if distinct == usize::MAX { i } else { bits(i) as usize % distinct };
            T::of(bits(number), kind)
        };
        Self {
            memory: Memory::new(at.extent(), skew, value),
            layout: at.layout(),
            at,
            is_value: false,
        }
    }

    pub(crate) fn view(&self) -> TensorView<'_, T> {
        self.memory.view(&self.at)
    }

    /// One value without a view.
    pub(crate) fn value(value: T) -> Self {
        let at = Strided { shape: Vec::new(), strides: Vec::new(), offset: 0 };
        Self { memory: Memory::new(1, 0, |_| value), layout: at.layout(), at, is_value: true }
    }

    /// One element; without a view where this operand has none, as a value may be given another
    /// operation: a power of 2 is a square.
    pub(crate) fn one(&self, value: T) -> Self {
        if self.is_value {
            return Self::value(value);
        }
        let at = Strided { shape: vec![1], strides: vec![1], offset: 0 };
        Self { memory: Memory::new(1, 0, |_| value), layout: at.layout(), at, is_value: false }
    }

    /// The elements, broadcast to a shape, in logical order.
    pub(crate) fn values(&self, shape: &[usize]) -> Vec<T> {
        let elements = self.memory.elements();
        self.at.offsets_as(shape).into_iter().map(|offset| elements[offset]).collect()
    }
}

impl<T: Value> AsOperand<T> for &TestOperand<T> {
    fn as_operand(&self) -> Operand<'_, T> {
        match self.is_value {
            true => Operand::Value(self.values(&[])[0]),
            false => {
                let elements = ViewRef::new(self.memory.elements(), &self.layout);
                elements.expect("elements for the layout").into()
            }
        }
    }
}

/// Inputs that an operation must not change.
pub(crate) struct Unchanged<'m, T> {
    name: &'static str,
    memory: &'m Memory<T>,
    before: Memory<T>,
}

impl<'m, T: Value> Unchanged<'m, T> {
    pub(crate) fn new(name: &'static str, operand: &'m TestOperand<T>) -> Self {
        Self { name, memory: &operand.memory, before: operand.memory.clone() }
    }

    pub(crate) fn check(self) -> Outcome {
        match self.memory.difference(&self.before) {
            None => Ok(()),
            Some(difference) => Err(format!("the input {} was changed: {difference}", self.name)),
        }
    }
}

/// Runs an operation on an output, and compares all of its memory.
pub(crate) fn writes<R: Value>(
    out: &TestOperand<R>,
    setting: &Setting,
    agrees: impl Fn(usize, R) -> Option<String>,
    operation: impl FnOnce(&Exec, &mut TensorViewMut<'_, R>) -> tensor_kernels::Result<()> + Send,
) -> Outcome {
    let (done, written) = written_by(out, setting, &mut only_once(operation));
    done.map_err(|refused| format!("refused: {refused}"))?;
    all_agree(out, &written, &agrees)
}

// The following functions are compiled once for each element type, not for each operation.

/// An operation that writes to an output.
type Writes<'f, R> =
    dyn FnMut(&Exec, &mut TensorViewMut<'_, R>) -> tensor_kernels::Result<()> + Send + 'f;

fn only_once<R: Value>(
    operation: impl FnOnce(&Exec, &mut TensorViewMut<'_, R>) -> tensor_kernels::Result<()> + Send,
) -> impl FnMut(&Exec, &mut TensorViewMut<'_, R>) -> tensor_kernels::Result<()> + Send {
    let mut operation = Some(operation);
    move |exec, view| operation.take().expect("an operation is called once")(exec, view)
}

/// The return value of an operation, and the copy of the output's memory that it has written to.
fn written_by<R: Value>(
    out: &TestOperand<R>,
    setting: &Setting,
    operation: &mut Writes<'_, R>,
) -> (tensor_kernels::Result<()>, Memory<R>) {
    let mut written = out.memory.clone();
    let done = setting.run(|exec| operation(exec, &mut written.view_mut(&out.at)));
    (done, written)
}

/// Checks that every element agrees and that nothing else was written.
fn all_agree<R: Value>(
    out: &TestOperand<R>,
    written: &Memory<R>,
    agrees: &dyn Fn(usize, R) -> Option<String>,
) -> Outcome {
    let mut expected = out.memory.clone();
    let (found, target) = (written.elements(), expected.elements_mut());
    for (number, offset) in out.at.offsets().into_iter().enumerate() {
        compare(&out.at.shape, number, found[offset], agrees)?;
        target[offset] = found[offset];
    }
    match written.difference(&expected) {
        None => Ok(()),
        Some(difference) => Err(format!("outside of the result: {difference}")),
    }
}

/// Compares a newly allocated result.
pub(crate) fn gives<R: Value>(
    shape: &[usize],
    result: tensor_kernels::Result<Tensor<R>>,
    agrees: impl Fn(usize, R) -> Option<String>,
) -> Outcome {
    all_elements_agree(shape, result, &agrees)
}

fn all_elements_agree<R: Value>(
    shape: &[usize],
    result: tensor_kernels::Result<Tensor<R>>,
    agrees: &dyn Fn(usize, R) -> Option<String>,
) -> Outcome {
    let result = result.map_err(|refused| format!("refused: {refused}"))?;
    if result.shape() != shape {
        return Err(format!("the result's shape is {:?}, not {shape:?}", result.shape()));
    }
    let values = result.to_vec().map_err(|refused| refused.to_string())?;
    let mut numbered = values.into_iter().enumerate();
    numbered.try_for_each(|(number, found)| compare(shape, number, found, agrees))
}

fn compare<R: Value>(
    shape: &[usize],
    number: usize,
    found: R,
    agrees: &dyn Fn(usize, R) -> Option<String>,
) -> Outcome {
    let Some(expected) = agrees(number, found) else { return Ok(()) };
    let index = index_of(shape, number);
    Err(format!("at index {index:?}: expected {expected}, found {found:?}"))
}

/// Accepts these elements, up to `ulps` units in the last place.
pub(crate) fn near<R: Value>(
    expected: &[R],
    ulps: u32,
) -> impl Fn(usize, R) -> Option<String> + Send + Sync {
    move |number, found| {
        let expected = expected[number];
        (!found.agrees(expected, ulps)).then(|| format!("{expected:?}"))
    }
}

/// Accepts these elements, bit for bit.
pub(crate) fn exactly<R: Value>(
    expected: &[R],
) -> impl Fn(usize, R) -> Option<String> + Send + Sync {
    move |number, found| {
        let expected = expected[number];
        (bytes_of(&found) != bytes_of(&expected))
            .then(|| format!("{expected:?} (bytes {:02x?})", bytes_of(&expected)))
    }
}

/// Checks that an operation is refused with the right error and writes nothing.
pub(crate) fn refuses<R: Value>(
    out: &TestOperand<R>,
    setting: &Setting,
    is_right: impl Fn(&Error) -> bool,
    operation: impl FnOnce(&Exec, &mut TensorViewMut<'_, R>) -> tensor_kernels::Result<()> + Send,
) -> Outcome {
    let (done, written) = written_by(out, setting, &mut only_once(operation));
    match done {
        Ok(()) => return Err("not refused".to_owned()),
        Err(error) if !is_right(&error) => {
            return Err(format!("refused for another reason: {error}"));
        }
        Err(_) => {}
    }
    match written.difference(&out.memory) {
        None => Ok(()),
        Some(difference) => Err(format!("refused, but written: {difference}")),
    }
}
