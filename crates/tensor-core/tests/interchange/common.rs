//! Random views, as programs of view operations on a row-major array.

use proptest::prelude::*;
use tensor_core::{
    AnyTensor, AnyValue, BuiltIn, Category, DType, Layout, Result, Slice, Tensor, with_tensor,
};

/// One view operation; dimensions are taken modulo the rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Transpose(usize, usize),
    Flip(usize),
    Slice(usize, usize, usize),
    Unsqueeze(usize),
    Expand(usize),
}

impl Step {
    /// The layout after this step; the same one where the step does not apply.
    pub(crate) fn apply(self, layout: &Layout) -> Result<Layout> {
        let rank = layout.ndim();
        if rank == 0 && !matches!(self, Self::Unsqueeze(_)) {
            return Ok(layout.clone());
        }
        match self {
            Self::Transpose(a, b) => layout.transpose((a % rank) as isize, (b % rank) as isize),
            Self::Flip(dim) => layout.flip([(dim % rank) as isize]),
            Self::Slice(dim, start, step) => {
                let dim = dim % rank;
                let start = start.min(layout.shape()[dim]) as isize;
                layout.slice(dim as isize, Slice::from(start..).step_by(step as isize))
            }
            Self::Unsqueeze(dim) => layout.unsqueeze((dim % (rank + 1)) as isize),
            Self::Expand(dim) => {
                let mut shape = layout.shape().to_vec();
                let size = &mut shape[dim % rank];
                *size = if *size == 1 { 3 } else { *size };
                layout.broadcast_to(&shape)
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..5usize, 0..5usize).prop_map(|(a, b)| Step::Transpose(a, b)),
        (0..5usize).prop_map(Step::Flip),
        (0..5usize, 0..3usize, 1..4usize)
            .prop_map(|(dim, start, step)| { Step::Slice(dim, start, step) }),
        (0..5usize).prop_map(Step::Unsqueeze),
        (0..5usize).prop_map(Step::Expand),
    ]
}

/// A row-major shape of at most 1024 elements, and a layout that views make of it.
pub(crate) fn views() -> impl Strategy<Value = (Vec<usize>, Layout)> {
    let shapes = proptest::collection::vec(0..5usize, 0..5);
    (shapes, proptest::collection::vec(step(), 0..6)).prop_map(|(shape, steps)| {
        let mut layout = Layout::contiguous(&shape).expect("a small shape");
        for step in steps {
            layout = step.apply(&layout).expect("a step that fits the layout");
        }
        (shape, layout)
    })
}

/// As many numbers as a shape has elements.
pub(crate) fn numbers(shape: &[usize]) -> Vec<i32> {
    (0..).take(shape.iter().product()).collect()
}

/// A file that another library wrote; see scripts/interchange_fixtures.py.
pub(crate) fn fixture(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interchange").join(name)
}

/// The dtypes of this build.
pub(crate) fn all_dtypes() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|&dtype| AnyTensor::zeros([1], dtype).is_ok())
}

/// The element with a number, as the fixtures have it.
pub(crate) fn element(dtype: DType, number: usize) -> AnyValue {
    match dtype.category() {
        Category::Bool => AnyValue::Bool(number % 2 == 1),
        Category::Integer => AnyValue::Int(number as i128),
        Category::Float => AnyValue::Float(number as f64),
        Category::Complex => AnyValue::Complex(number as f64, -2.0 * number as f64),
    }
}

/// Two rows of three elements, with their numbers.
pub(crate) fn sample(dtype: DType) -> AnyTensor {
    let tensor = AnyTensor::zeros([2, 3], dtype).expect("a dtype of this build");
    for number in 0..6 {
        let index = [number / 3, number % 3];
        tensor.set(&index, element(dtype, number)).expect("an index within the shape");
    }
    tensor
}

/// Same dtype, shape and elements?
pub(crate) fn same(a: &AnyTensor, b: &AnyTensor) -> bool {
    fn equal<T: BuiltIn>(a: &AnyTensor, b: &AnyTensor) -> bool {
        let (a, b) = (a.typed::<T>(), b.typed::<T>());
        matches!((a, b), (Some(a), Some(b)) if a.equal(b).expect("no tensor is being written"))
    }
    fn of<T: BuiltIn>(_: &Tensor<T>) -> fn(&AnyTensor, &AnyTensor) -> bool {
        equal::<T>
    }
    with_tensor!(a, tensor => of(tensor))(a, b)
}
