//! Any chain of views of a small array, at every SIMD level: copying a view and adding it to itself
//! agree with iteration over the elements.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Unstructured},
    fuzz_target,
};
use tensor_fuzz::{Call, draw};
use tensor_kernels::{Exec, Result, SimdLevel, Tensor, TensorView, TensorViewMut, copy_into, ops};

/// The largest number of elements that is copied and added.
const MAX_ELEMENTS: usize = 1 << 16;

/// The size of results from which they are streamed, in the cases that test streaming.
const STREAMED_BYTES: usize = 256;

fuzz_target!(|bytes: &[u8]| {
    let _ = views(&mut Unstructured::new(bytes));
});

fn views(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let stream = u.arbitrary()?;
    let shape = draw::list(u, 4, |u| u.int_in_range(0..=24))?;
    let element =
        |index: &[usize]| index.iter().fold(1, |x: u16, &i| x.wrapping_mul(31) ^ i as u16);
    let Ok(mut view) = Tensor::from_fn(&shape, element) else { return Ok(()) };
    for _ in 0..u.int_in_range(0..=8)? {
        let layout = Call::draw(u, view.layout())?.apply(view.layout());
        let Ok(next) = layout.and_then(|layout| view.with_layout(layout)) else { continue };
        if next.numel() <= MAX_ELEMENTS && next.ndim() <= 12 {
            view = next;
        }
    }
    check(&view, stream).expect("a view that was accepted can be copied and added");
    Ok(())
}

fn check(view: &Tensor<u16>, stream: bool) -> Result<()> {
    let guard = view.read()?;
    let from = guard.as_view();
    let expected: Vec<u16> = from.iter().collect();
    let doubled: Vec<u16> = expected.iter().map(|x| x.wrapping_add(*x)).collect();
    for level in SimdLevel::available() {
        let mut exec = Exec::from_env()?.serial().with_simd(level)?;
        if stream {
            exec.machine.stream = STREAMED_BYTES;
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
