//! Copies of ndarray's views and elementwise work on them, by ndarray and by `tensor_kernels`.

use ndarray::{Array, ArrayD, ArrayViewD};
use tensor_kernels::{
    Element, Exec, TensorView, TensorViewMut, copy_into, interchange::InterchangeError, to_vec,
    zip_into,
};

/// A view in row-major order as a new array, by ndarray.
pub fn theirs<T: Element>(view: &ArrayViewD<'_, T>) -> ArrayD<T> {
    view.as_standard_layout().into_owned()
}

/// The same by a strided copy.
pub fn ours<T: Element>(
    exec: &Exec,
    view: &ArrayViewD<'_, T>,
) -> Result<ArrayD<T>, InterchangeError> {
    let elements = to_vec(exec, &TensorView::from_ndarray(view.view())?)?;
    Ok(Array::from_shape_vec(view.raw_dim(), elements).expect("as many elements as the view"))
}

/// `to.assign(view)` by a strided copy.
pub fn assign<T: Element>(
    exec: &Exec,
    view: &ArrayViewD<'_, T>,
    to: &mut ArrayD<T>,
) -> Result<(), InterchangeError> {
    let mut to = TensorViewMut::from_ndarray_mut(to.view_mut())?;
    Ok(copy_into(exec, &TensorView::from_ndarray(view.view())?, &mut to)?)
}

/// `Zip::from(out).and(a).and(b)`, with `f` of each two elements.
pub fn zip(
    exec: &Exec,
    a: &ArrayViewD<'_, f32>,
    b: &ArrayViewD<'_, f32>,
    out: &mut ArrayD<f32>,
    f: impl Fn(f32, f32) -> f32 + Copy + Send + Sync,
) -> Result<(), InterchangeError> {
    let (a, b) = (TensorView::from_ndarray(a.view())?, TensorView::from_ndarray(b.view())?);
    let mut out = TensorViewMut::from_ndarray_mut(out.view_mut())?;
    Ok(zip_into(exec, &a, &b, &mut out, f)?)
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, Ix2, IxDyn, ShapeBuilder, Slice, Zip};
    use tensor_kernels::{Tensor, count_copies};

    use super::*;

    const SHAPES: [&[usize]; 9] =
        [&[], &[0], &[7], &[1, 9], &[5, 3], &[17, 33], &[3, 4, 5], &[2, 0, 3], &[3, 2, 5, 7]];

    /// Different elements, in row-major or in column-major order.
    fn array(shape: &[usize], columns: bool) -> ArrayD<i32> {
        let elements = (0..shape.iter().product::<usize>() as i32).collect();
        Array::from_shape_vec(IxDyn(shape).set_f(columns), elements).unwrap()
    }

    /// The array itself, and with axes reversed or rotated, mirrored, or of every second element.
    fn views<T>(array: &ArrayD<T>) -> Vec<ArrayViewD<'_, T>> {
        let mut rotated: Vec<usize> = (0..array.ndim()).collect();
        rotated.rotate_left(1.min(array.ndim()));
        let mut views = vec![array.view(), array.t(), array.view().permuted_axes(rotated)];
        for axis in (0..array.ndim()).map(Axis) {
            for step in [-1, 2, -2] {
                let mut view = array.view();
                view.slice_axis_inplace(axis, Slice::new(0, None, step));
                views.extend([view.clone(), view.reversed_axes()]);
            }
        }
        views
    }

    fn arrays() -> impl Iterator<Item = ArrayD<i32>> {
        SHAPES.iter().flat_map(|shape| [array(shape, false), array(shape, true)])
    }

    fn execs() -> [Exec; 2] {
        let current = *Exec::current().unwrap();
        [current, current.serial()]
    }

    fn assert_copied<T: Element + PartialEq>(of_ints: impl Fn(i32) -> T, unset: T) {
        for (array, exec) in arrays().flat_map(|array| execs().map(|exec| (array.clone(), exec))) {
            let array = array.mapv(&of_ints);
            for view in views(&array) {
                let (shape, strides) = (view.shape(), view.strides());
                let expected = theirs(&view);
                let copied = ours(&exec, &view).unwrap();
                assert!(copied.is_standard_layout() && copied == expected, "{shape:?} {strides:?}");
                for columns in [false, true] {
                    let mut to = Array::from_elem(IxDyn(shape).set_f(columns), unset);
                    assign(&exec, &view, &mut to).unwrap();
                    assert!(to == expected, "{shape:?} {strides:?} {columns}");
                }
            }
        }
    }

    #[test]
    fn copies_are_those_of_ndarray() {
        assert_copied(|i| i as i8, 99);
        assert_copied(|i| i as f32, f32::NAN);
        assert_copied(|i| i as f64, f64::NAN);
    }

    #[test]
    fn elementwise_results_are_those_of_ndarray() {
        let f = |a: f32, b: f32| a * 0.5 + b;
        for (first, exec) in arrays().flat_map(|array| execs().map(|exec| (array.clone(), exec))) {
            let first = first.mapv(|i| i as f32);
            for b in views(&first) {
                // Of the shape of `b`, with other elements and in its own order.
                let a = b.mapv(|x| 1000.0 - x * x);
                for a in [a.view(), theirs(&a.view()).view()] {
                    let mut expected = ArrayD::zeros(b.raw_dim());
                    Zip::from(&mut expected).and(&a).and(&b).for_each(|o, &a, &b| *o = f(a, b));
                    let mut out = ArrayD::from_elem(b.raw_dim(), f32::NAN);
                    zip(&exec, &a, &b, &mut out, f).unwrap();
                    assert_eq!(out, expected, "{:?} {:?}", b.shape(), b.strides());
                }
            }
        }
    }

    #[test]
    fn a_result_of_another_shape_is_an_error() {
        let (exec, from) = (execs()[0], array(&[3, 4], false));
        let floats = from.mapv(|i| i as f32);
        for shape in [&[4, 3][..], &[12], &[3, 5]] {
            assert!(assign(&exec, &from.view(), &mut array(shape, false)).is_err());
            let mut out = ArrayD::zeros(shape);
            assert!(zip(&exec, &floats.view(), &floats.view(), &mut out, |a, _| a).is_err());
        }
    }

    /// An array frees its memory as a vector; a tensor's is aligned to 64 bytes.
    #[test]
    fn memory_of_a_tensor_becomes_an_array_by_a_copy_that_is_counted() {
        let zeros = Tensor::<f32>::zeros([3, 4]).unwrap();
        let (array, copies) = count_copies(|| zeros.into_ndarray::<Ix2>());
        assert_eq!((array.unwrap().dim(), copies.count(), copies.bytes()), ((3, 4), 1, 48));
        let entry = &copies.entries()[0];
        assert_eq!((entry.op, entry.location.file()), ("into_ndarray", file!()));
        let given = Tensor::from_vec(vec![1.0f32; 12], [3, 4]).unwrap().t().unwrap();
        let (array, copies) = count_copies(|| given.into_ndarray::<Ix2>());
        assert_eq!((array.unwrap().dim(), copies.count()), ((4, 3), 0));
    }
}
