//! Operations with one, two and three inputs of different widths: into given results, into newly
//! allocated ones, and in place.

use proptest::{prelude::*, test_runner::TestCaseResult};
use tensor_kernels::{
    Exec, Layout, Number, Result, Tensor, TensorView, TensorViewMut, broadcast_shapes, map,
    map_inplace, map_into, ops, zip, zip_inplace, zip_into, zip3, zip3_into,
};

use super::layouts::{Input, Setting, arrangements, config, inputs, settings, shapes};
use crate::common::{Memory, Sample, broadcast_offsets, extent};

/// Elements to compute with: numbers whose results are never NaN, so that results can be compared
/// bit for bit.
trait Operand: Sample {
    fn number(n: usize) -> Self;
}

macro_rules! operands {
    ($($type:ty),*) => {$(
        impl Operand for $type {
            fn number(n: usize) -> Self {
                n.wrapping_mul(0x9E37_79B9) as $type
            }
        }
    )*};
}

operands!(u8, i16, u32, u64);

impl Operand for f32 {
    fn number(n: usize) -> Self {
        [-0.0, f32::MAX, f32::MIN_POSITIVE / 7.0, n as f32 * 0.37 - 60.0][n % 4]
    }
}

impl Operand for f64 {
    fn number(n: usize) -> Self {
        f32::number(n).into()
    }
}

/// An input: its memory and its layout.
struct TestOperand<T> {
    memory: Memory<T>,
    layout: Layout,
}

impl<T: Operand> TestOperand<T> {
    fn new(layout: Layout, skew: usize) -> Self {
        let mut memory = Memory::<T>::canaries(extent(&layout), skew);
        for (n, element) in memory.elements_mut().iter_mut().enumerate() {
            *element = T::number(n);
        }
        Self { memory, layout }
    }

    fn view(&self) -> TensorView<'_, T> {
        self.memory.view(&self.layout)
    }

    /// The elements, broadcast to a shape, in logical order.
    fn values(&self, shape: &[usize]) -> impl Iterator<Item = T> {
        broadcast_offsets(&self.layout, shape)
            .into_iter()
            .map(|offset| self.memory.elements()[offset])
    }
}

/// The shape that layouts broadcast to.
fn common_shape(layouts: &[&Layout]) -> Vec<usize> {
    let shapes: Vec<_> = layouts.iter().map(|layout| layout.shape()).collect();
    broadcast_shapes(&shapes).unwrap().to_vec()
}

/// Runs an operation in every configuration on memory of this layout, and compares all of it.
fn writes<R: Sample>(
    before: &Memory<R>,
    layout: &Layout,
    setting: &Setting,
    expected: &[R],
    operation: impl Fn(&Exec, &mut TensorViewMut<'_, R>) -> Result<()> + Sync,
) {
    let expected = before.with(layout, expected);
    for config in setting.run_configs() {
        let mut memory = before.clone();
        config.run(|exec| operation(exec, &mut memory.view_mut(layout))).unwrap();
        memory.assert_is(&expected, || format!("{config}"));
    }
}

/// Runs an operation in every configuration; each newly allocated result must have PyTorch's layout
/// and these elements.
fn gives<R: Sample>(
    operands: &[&Layout],
    setting: &Setting,
    expected: &[R],
    operation: impl Fn(&Exec) -> Result<Tensor<R>> + Sync,
) -> TestCaseResult {
    let layout = Layout::elementwise(operands).unwrap();
    for config in setting.run_configs() {
        let result = config.run(&operation).unwrap();
        prop_assert_eq!(result.layout(), &layout);
        let (values, expected) =
            (result.to_vec().unwrap(), bytemuck::cast_slice::<_, u8>(expected));
        prop_assert!(bytemuck::cast_slice::<_, u8>(&values) == expected, "{}", config);
    }
    Ok(())
}

/// A named operation on two inputs.
type Named<T> =
    fn(&Exec, &TensorView<'_, T>, &TensorView<'_, T>, &mut TensorViewMut<'_, T>) -> Result<()>;

/// `a + b`, by name and as a closure: wrapping for integers.
fn sums<T: Operand + Number>(
    a: &Input,
    b: &Input,
    shape: &[usize],
    setting: &Setting,
    to: &impl Fn(&[usize]) -> Layout,
) -> TestCaseResult {
    let a = TestOperand::<T>::new(a.layout(shape), setting.skew[0]);
    let b = TestOperand::<T>::new(b.layout(shape), setting.skew[1]);
    let shape = common_shape(&[&a.layout, &b.layout]);
    let sums: Vec<T> = a.values(&shape).zip(b.values(&shape)).map(|(a, b)| a.plus(b)).collect();
    let to = to(&shape);
    let blank = Memory::for_layout(&to, setting.skew[0]);
    let add: Named<T> = |exec, a, b, out| ops::add_into(exec, a, b, out);
    writes(&blank, &to, setting, &sums, |exec, out| add(exec, &a.view(), &b.view(), out));
    gives(&[&a.layout, &b.layout], setting, &sums, |exec| zip(exec, a.view(), b.view(), T::plus))
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn one_input(
        shape in shapes(), a in arrangements(), to in arrangements(), setting in settings(),
    ) {
        let a = TestOperand::<u8>::new(a.source(&shape), setting.skew[0]);
        let f = |x: u8| u32::from(x) << 9 | 5;
        let expected: Vec<u32> = a.values(&shape).map(f).collect();
        let to = to.destination(&shape);
        let blank = Memory::for_layout(&to, setting.skew[1]);
        writes(&blank, &to, &setting, &expected, |exec, out| map_into(exec, a.view(), out, f));
        gives(&[&a.layout], &setting, &expected, |exec| map(exec, a.view(), f))?;
    }

    #[test]
    fn two_inputs(
        shape in shapes(), a in inputs(), b in inputs(), to in arrangements(),
        setting in settings(), dtype in 0..4,
    ) {
        let to = |shape: &[usize]| to.destination(shape);
        match dtype {
            0 => sums::<u8>(&a, &b, &shape, &setting, &to)?,
            1 => sums::<f32>(&a, &b, &shape, &setting, &to)?,
            2 => sums::<i16>(&a, &b, &shape, &setting, &to)?,
            _ => sums::<f64>(&a, &b, &shape, &setting, &to)?,
        }
    }

    #[test]
    fn two_inputs_of_different_widths(
        shape in shapes(), a in inputs(), b in inputs(), to in arrangements(),
        setting in settings(),
    ) {
        let a = TestOperand::<u8>::new(a.layout(&shape), setting.skew[0]);
        let b = TestOperand::<f64>::new(b.layout(&shape), setting.skew[1]);
        let shape = common_shape(&[&a.layout, &b.layout]);
        let f = |a: u8, b: f64| f32::from(a) - b as f32;
        let pairs = a.values(&shape).zip(b.values(&shape));
        let expected: Vec<f32> = pairs.map(|(a, b)| f(a, b)).collect();
        let to = to.destination(&shape);
        let blank = Memory::for_layout(&to, setting.skew[1]);
        writes(&blank, &to, &setting, &expected, |exec, out| {
            zip_into(exec, a.view(), b.view(), out, f)
        });
        gives(&[&a.layout, &b.layout], &setting, &expected, |exec| {
            zip(exec, a.view(), b.view(), f)
        })?;
    }

    #[test]
    fn three_inputs(
        shape in shapes(), a in inputs(), b in inputs(), c in inputs(), to in arrangements(),
        setting in settings(),
    ) {
        let [a, b] = [a, b].map(|input| {
            TestOperand::<f32>::new(input.layout(&shape), setting.skew[0])
        });
        let c = TestOperand::<u32>::new(c.layout(&shape), setting.skew[1]);
        let layouts = [&a.layout, &b.layout, &c.layout];
        let shape = common_shape(&layouts);
        let f = |a: f32, b: f32, c: u32| a.mul_add(b, c as f32);
        let ab = a.values(&shape).zip(b.values(&shape));
        let expected: Vec<f32> = ab.zip(c.values(&shape)).map(|((a, b), c)| f(a, b, c)).collect();
        let to = to.destination(&shape);
        let blank = Memory::for_layout(&to, setting.skew[1]);
        writes(&blank, &to, &setting, &expected, |exec, out| {
            zip3_into(exec, a.view(), b.view(), c.view(), out, f)
        });
        gives(&layouts, &setting, &expected, |exec| {
            zip3(exec, a.view(), b.view(), c.view(), f)
        })?;
    }

    #[test]
    fn in_place(shape in shapes(), x in arrangements(), b in inputs(), setting in settings()) {
        let x = TestOperand::<u32>::new(x.destination(&shape), setting.skew[0]);
        let b = TestOperand::<u64>::new(b.layout(&shape), setting.skew[1]);
        let alone = |x: u32| x.rotate_left(9) ^ 0x55;
        let expected: Vec<u32> = x.values(&shape).map(alone).collect();
        writes(&x.memory, &x.layout, &setting, &expected, |exec, x| map_inplace(exec, x, alone));
        let with = |x: u32, b: u64| x.wrapping_mul(3).wrapping_sub(b as u32);
        let pairs = x.values(&shape).zip(b.values(&shape));
        let expected: Vec<u32> = pairs.map(|(x, b)| with(x, b)).collect();
        writes(&x.memory, &x.layout, &setting, &expected, |exec, x| {
            zip_inplace(exec, x, b.view(), with)
        });
    }
}
