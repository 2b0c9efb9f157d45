//! Indexing, loops and comparisons.

use tensor_kernels::{Error, Layout, Tensor, TensorExt, TensorViewMut};

use crate::kinds::{SHAPE, tensor};

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
    let layout = Layout::contiguous(&SHAPE).unwrap();
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
    let layout = Layout::contiguous(&SHAPE).unwrap();
    let mut m = TensorViewMut::new(&mut numbers, layout).unwrap();
    assert_eq!([a == b, a == view, view == a, a == m, m == a], [true; 5]);
    assert_eq!([view == view.clone(), view == m, m == view, m == m.as_view()], [true; 4]);
    assert!(a.equal(&view).unwrap() && view.equal(&a).unwrap() && m.equal(&view).unwrap());
    m[[0, 1]] = 0;
    assert_eq!([a == m, m == a, view == m, m == view, m.equal(&a).unwrap()], [false; 5]);
    assert!(Tensor::full([6], 1).unwrap() != Tensor::full([2, 3], 1).unwrap());
}
