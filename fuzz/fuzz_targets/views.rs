//! Any chain of views of a small array, at every SIMD level: the copy of a view and a sum with it are what element-by-element reading says, and a
//! refused view is an error, never a panic.

#![no_main]

use libfuzzer_sys::{arbitrary::Arbitrary, fuzz_target};
use tensor_kernels::{
    Exec, Result, SimdLevel, Slice, Tensor, TensorView, TensorViewMut, copy_into, ops,
};

#[derive(Debug, Arbitrary)]
struct Input {
    sizes: [u8; 4],
    views: Vec<View>,
    /// Small enough that most plans stream.
    stream: bool,
}

#[derive(Debug, Arbitrary)]
enum View {
    Transpose(i8, i8),
    Narrow(i8, i8, u8),
    Slice(i8, Option<i8>, Option<i8>, i8),
    Flip(i8),
    Unsqueeze(i8),
    Expand(i8, u8),
    Diagonal(i8, i8, i8),
    Unfold(i8, u8, u8),
    Flatten(i8, i8),
}

impl View {
    fn of(&self, x: &Tensor<u16>) -> Result<Tensor<u16>> {
        match *self {
            View::Transpose(a, b) => x.transpose(a.into(), b.into()),
            View::Narrow(dim, start, len) => x.narrow(dim.into(), start.into(), len.into()),
            View::Slice(dim, start, end, step) => {
                let slice = Slice::new(start.map(Into::into), end.map(Into::into), step.into());
                x.slice(dim.into(), slice)
            }
            View::Flip(dim) => x.flip(&[dim.into()]),
            View::Unsqueeze(dim) => x.unsqueeze(dim.into()),
            View::Expand(dim, size) => {
                let mut sizes = vec![-1; x.ndim()];
                let len = sizes.len().max(1);
                if let Some(place) = sizes.get_mut(dim.unsigned_abs() as usize % len) {
                    *place = isize::from(size % 40);
                }
                x.expand(&sizes)
            }
            View::Diagonal(offset, a, b) => x.diagonal(offset.into(), a.into(), b.into()),
            View::Unfold(dim, size, step) => x.unfold(dim.into(), size.into(), step.into()),
            View::Flatten(a, b) => x.flatten(a.into(), b.into()),
        }
    }
}

fuzz_target!(|input: Input| {
    let sizes = input.sizes.map(|size| usize::from(size % 24));
    let Ok(base) = Tensor::from_fn(&sizes, |i| i.iter().fold(1u16, |x, &i| x.wrapping_mul(31) + i as u16 % 7)) else {
        return;
    };
    let mut view = base;
    for step in input.views.iter().take(8) {
        view = step.of(&view).unwrap_or(view);
        if view.numel() > 1 << 18 || view.ndim() > 12 {
            return;
        }
    }
    check(&view, input.stream).expect("a view that was accepted can be copied and added");
});

fn check(view: &Tensor<u16>, stream: bool) -> Result<()> {
    let guard = view.read()?;
    let from = guard.as_view();
    let expected: Vec<u16> = from.iter().copied().collect();
    let doubled: Vec<u16> = expected.iter().map(|x| x.wrapping_add(*x)).collect();
    for level in SimdLevel::available() {
        let mut exec = Exec::from_env()?.serial().with_simd(level)?;
        if stream {
            exec.machine.stream = 256;
        }
        let copy = |out: &mut TensorViewMut<'_, u16>| copy_into(&exec, &from, out);
        assert_eq!(result(&from, copy)?, expected, "copied at {level}: {:?}", from.layout());
        let add = |out: &mut TensorViewMut<'_, u16>| ops::add_into(&exec, &from, &from, out);
        assert_eq!(result(&from, add)?, doubled, "added at {level}: {:?}", from.layout());
    }
    Ok(())
}

fn result(
    like: &TensorView<'_, u16>,
    work: impl FnOnce(&mut TensorViewMut<'_, u16>) -> Result<()>,
) -> Result<Vec<u16>> {
    let out = Tensor::full(like.shape(), 0xAAAA)?;
    work(&mut out.write()?.as_view_mut()?)?;
    out.to_vec()
}
