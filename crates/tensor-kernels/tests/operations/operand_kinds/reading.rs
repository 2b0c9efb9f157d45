//! Indexing, loops and comparisons.

use tensor_kernels::{Error, Layout, Tensor, TensorExt, TensorView, TensorViewMut};

use super::kinds::{SHAPE, tensor};

const A: [i32; 6] = [5, 3, 8, 1, 9, 2];
const COLUMNS: [i32; 6] = [5, 1, 3, 9, 8, 2];

#[test]
fn loops_over_tensors_and_views() {
    let x = tensor(A).t().unwrap();
    let mut seen = Vec::new();
    for element in &x {
        seen.push(element);
    }
    assert_eq!(seen, COLUMNS);
    assert_eq!(x.iter().unwrap().len(), 6);
    assert_eq!(x.iter().unwrap().sum::<i32>(), 28);
    let guard = x.read().unwrap();
    let view = guard.as_view();
    assert!((&view).into_iter().eq(COLUMNS) && view.clone().into_iter().eq(COLUMNS));
    drop(guard);
    let mut guard = x.write().unwrap();
    let mut view = guard.as_view_mut().unwrap();
    for element in &mut view {
        *element += 1;
    }
    assert!((&view).into_iter().eq(COLUMNS.map(|x| x + 1)));
    assert_eq!((view.to_vec(), view.iter().len()), (COLUMNS.map(|x| x + 1).to_vec(), 6));
}

#[test]
fn fault_a_loop_holds_the_borrow() {
    let x = tensor(A);
    let elements = x.iter().unwrap();
    assert!(matches!(x.write(), Err(Error::Borrowed { .. })));
    assert!(x.read().is_ok());
    drop(elements);
    let guard = x.write().unwrap();
    assert!(matches!(x.iter(), Err(Error::Borrowed { .. })));
    drop(guard);
    assert!(x.write().is_ok());
}

#[test]
fn indexing() {
    let mut numbers = A;
    let layout = Layout::contiguous(SHAPE).unwrap();
    let mut view = TensorViewMut::new(&mut numbers, layout).unwrap();
    assert_eq!((view[[0, 2]], view.as_view()[[1, 1]]), (8, 9));
    view[[1, 2]] = view[[0, 0]] + 1;
    assert_eq!(view.as_slice().unwrap()[5], 6);
    let beyond = std::panic::AssertUnwindSafe(|| view[[2, 0]]);
    assert!(std::panic::catch_unwind(beyond).is_err());
}

#[test]
fn comparisons_of_every_pair_of_kinds() {
    let (a, b) = (tensor(A), tensor(COLUMNS).view([3, 2]).unwrap().t().unwrap());
    let (guard, mut numbers) = (b.read().unwrap(), A);
    let view = guard.as_view();
    let layout = Layout::contiguous(SHAPE).unwrap();
    let mut m = TensorViewMut::new(&mut numbers, layout).unwrap();
    assert_eq!([a == b, a == view, view == a, a == m, m == a], [true; 5]);
    assert_eq!([view == view.clone(), view == m, m == view, m == m.as_view()], [true; 4]);
    assert!(a.equal(&view).unwrap() && view.equal(&a).unwrap() && m.equal(&view).unwrap());
    m[[0, 1]] = 0;
    assert_eq!([a == m, m == a, view == m, m == view, m.equal(&a).unwrap()], [false; 5]);
    assert!(Tensor::full([6], 1).unwrap() != Tensor::full([2, 3], 1).unwrap());
}

#[test]
fn the_only_element_and_the_text() {
    let x = Tensor::full([1, 1], 1.5f32).unwrap();
    let text = x.to_string();
    let mut guard = x.write().unwrap();
    let mut view = guard.as_view_mut().unwrap();
    assert_eq!((view.item(), view.as_view().item()), (Ok(1.5), Ok(1.5)));
    assert_eq!((view.to_string(), view.as_view().to_string()), (text.clone(), text));
    view.set(&[0, 0], 2.5).unwrap();
    assert!(view.set(&[0, 1], 2.5).is_err());
    assert_eq!(view.item(), Ok(2.5));
    drop(guard);
    let refused = tensor(A).read().unwrap().as_view().item().unwrap_err();
    assert_eq!(refused, tensor(A).item().unwrap_err());
}

#[test]
fn parts_of_a_mutable_view_are_read() {
    let mut numbers = A;
    let layout = Layout::contiguous(SHAPE).unwrap();
    let view = TensorViewMut::new(&mut numbers, layout).unwrap();
    let rows = view.unbind(0).unwrap();
    assert_eq!((rows[0].to_vec(), rows[1].to_vec()), (vec![5, 3, 8], vec![1, 9, 2]));
    assert_eq!(view.split(2, 1).unwrap()[1].to_vec(), [8, 2]);
    assert_eq!(view.chunk(2, 0).unwrap().len(), 2);
}

#[test]
fn views_of_bytes_as_other_elements() {
    let numbers = [1u32, 2, 3, 4];
    let view = TensorView::new(&numbers, Layout::contiguous([2, 2]).unwrap()).unwrap();
    let halves = view.view_dtype::<u16>().unwrap();
    assert_eq!(halves.shape(), [2, 4]);
    let low = usize::from(cfg!(target_endian = "big"));
    assert_eq!(halves.get(&[1, 2 + low]), Ok(4));
    assert!(matches!(view.t().unwrap().view_dtype::<u16>(), Err(Error::ViewDType { .. })));
    let bytes = view.view_dtype::<u8>().unwrap();
    let odd = bytes.flatten(0, 1).unwrap().narrow(0, 2, 4).unwrap();
    assert!(matches!(odd.view_dtype::<u32>(), Err(Error::ViewDType { .. })));
}
