//! Writes are refused if two indices share an element, and while the storage is borrowed.

use std::{sync::Barrier, thread};

use tensor_core::{Error, Layout, Overlap, Slice, Tensor, TensorViewMut};

fn table() -> Tensor<i32> {
    Tensor::arange(0, 12, 1).unwrap().view([3, 4]).unwrap()
}

/// Do the two indices of the error reach the same element?
fn names_a_collision(refused: Option<Error>, layout: &Layout) -> bool {
    let Some(Error::WriteOverlap { overlap, .. }) = refused else { return false };
    let Overlap::Yes { first, second } = *overlap else { return false };
    first != second && layout.offset_of(&first) == layout.offset_of(&second)
}

#[test]
fn fault_a_mutable_view_refuses_shared_elements() {
    for (shape, strides, is_injective) in [
        (&[2, 2][..], &[1, 1][..], false),
        (&[2, 2], &[0, 1], false),
        (&[3], &[0], false),
        (&[5, 4], &[3, 4], false),
        (&[4, 4], &[3, 4], true),
        (&[3, 2], &[2, 3], true),
        (&[1, 3], &[0, 1], true),
        (&[0, 3], &[0, 0], true),
        (&[3, 4], &[-4, 1], true),
        (&[3, 3], &[2, -1], false),
    ] {
        let layout = Layout::new(shape, strides, 20).unwrap();
        let mut buffer = [0u8; 64];
        let refused = TensorViewMut::new(&mut buffer, layout.clone()).err();
        assert_eq!(refused.is_none(), is_injective, "{layout:?}");
        assert!(is_injective || names_a_collision(refused, &layout), "{layout:?}");

        let shared = Tensor::from_vec_with_layout(buffer.to_vec(), layout.clone()).unwrap();
        let refused = shared.write().unwrap().as_view_mut().err();
        assert_eq!(refused.is_none(), is_injective, "{layout:?}");
        assert!(shared.read().unwrap().as_view().iter().all(|element| element == 0));
    }
}

#[test]
fn fault_a_mutable_view_does_not_become_one_that_overlaps() {
    let mut buffer = [0u8; 12];
    let mut view = TensorViewMut::new(&mut buffer, Layout::contiguous([3, 1, 4]).unwrap()).unwrap();
    let overlaps = |result: Option<Error>| matches!(result, Some(Error::WriteOverlap { .. }));
    assert!(overlaps(view.reborrow().expand([3, 2, 4]).err()));
    assert!(overlaps(view.reborrow().broadcast_to([2, 3, 1, 4]).err()));
    assert!(overlaps(view.reborrow().unfold(2, 2, 1).err()));
    assert!(view.reborrow().expand([3, 1, 4]).is_ok());
    assert!(view.reborrow().unfold(2, 2, 2).is_ok());
    assert!(view.expand([1, 3, 1, 4]).is_ok());
}

#[test]
fn fault_an_expanded_tensor_is_written_by_set_only() {
    let row = Tensor::from_vec(vec![1, 2, 3], [3]).unwrap();
    let rows = row.expand([4, 3]).unwrap();
    assert!(matches!(rows.write().unwrap().as_view_mut(), Err(Error::WriteOverlap { .. })));
    rows.set(&[2, 1], 9).unwrap();
    assert_eq!(row.to_vec(), Ok(vec![1, 9, 3]));
}

#[test]
fn fault_many_readers_or_one_writer() {
    let tensor = table();
    let view = tensor.t().unwrap();
    let is_borrowed = |result: Option<Error>| matches!(result, Some(Error::Borrowed { .. }));

    let reader = tensor.read().unwrap();
    assert!(view.read().is_ok());
    assert!(is_borrowed(view.write().err()));
    assert!(is_borrowed(tensor.set(&[0, 0], 1).err()));
    drop(reader);

    let writer = view.write().unwrap();
    assert!(is_borrowed(tensor.read().err()));
    assert!(is_borrowed(tensor.write().err()));
    assert!(is_borrowed(tensor.get(&[0, 0]).err()));
    assert!(is_borrowed(tensor.to_vec().err()));
    assert!(is_borrowed(tensor.equal(&tensor).err()));
    assert!(table().write().is_ok(), "another storage");
    assert!(tensor.transpose(0, 1).is_ok(), "views need no elements");
    assert_eq!(tensor.to_string(), "tensor(<being written>, size=[3, 4])");
    drop(writer);
    assert_eq!(tensor.get(&[0, 0]), Ok(0));
}

#[test]
fn fault_a_panic_releases_its_guard() {
    let tensor = table();
    let other = tensor.clone();
    let panicked = thread::spawn(move || {
        let _guard = other.write().unwrap();
        panic!("while writing");
    });
    assert!(panicked.join().is_err());
    assert!(tensor.write().is_ok());
}

#[test]
fn fault_threads_read_concurrently_and_never_during_a_write() {
    let tensor = table();
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let guard = tensor.read();
                barrier.wait();
                let sum = guard.as_ref().map(|guard| guard.as_view().iter().sum::<i32>()).ok();
                barrier.wait();
                assert_eq!(sum, Some(66));
            });
        }
        // The assertion follows after all threads are released: a failure must not become a hang.
        barrier.wait();
        let refused = tensor.write().err();
        barrier.wait();
        assert!(matches!(refused, Some(Error::Borrowed { .. })));
    });
    let _writer = tensor.write().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(tensor.read().is_err()));
    });
}

/// Concurrent writes, or reads during a write, would lose increments.
#[test]
fn fault_writes_from_many_threads_are_not_lost() {
    const EACH: usize = 500;
    let counter = Tensor::from_vec(vec![0u64; 2], [2]).unwrap();
    let count = || loop {
        let Ok(mut guard) = counter.write() else { continue };
        let mut view = guard.as_view_mut().unwrap();
        view.iter_mut().for_each(|number| *number += 1);
        break;
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..EACH).for_each(|_| count()));
        }
    });
    assert_eq!(counter.to_vec(), Ok(vec![4 * EACH as u64; 2]));
}

#[test]
fn fault_split_views_are_written_from_two_threads() {
    for dim in 0..2 {
        let mut buffer = [0u8; 30];
        let layout = Layout::contiguous([5, 6]).unwrap().flip([1]).unwrap();
        let view = TensorViewMut::new(&mut buffer, layout).unwrap();
        let (mut left, mut right) = view.split_at_mut(dim, 2).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| left.iter_mut().for_each(|element| *element += 1));
            scope.spawn(|| right.iter_mut().for_each(|element| *element += 2));
        });
        let ones = buffer.iter().filter(|&&element| element == 1).count();
        assert_eq!(
            (ones, buffer.contains(&0), buffer.contains(&3)),
            ([12, 10][dim as usize], false, false)
        );
    }
}

#[test]
fn fault_a_split_beyond_the_dimension_is_refused() {
    let mut buffer = [0u8; 6];
    let mut view = TensorViewMut::new(&mut buffer, Layout::contiguous([2, 3]).unwrap()).unwrap();
    assert!(view.reborrow().split_at_mut(1, 4).is_err());
    assert!(view.reborrow().split_at_mut(2, 0).is_err());
    assert!(view.reborrow().split_at_mut(1, usize::MAX).is_err());
    for at in [0, 3] {
        let (left, right) = view.reborrow().split_at_mut(-1, at).unwrap();
        assert_eq!((left.numel(), right.numel()), (2 * at, 6 - 2 * at));
    }
}

#[test]
fn fault_a_pair_of_views_shares_no_element() {
    let tensor = Tensor::arange(0i32, 8, 1).unwrap();
    let even = tensor.slice(0, Slice::ALL.step_by(2)).unwrap();
    let odd = tensor.slice(0, Slice::new(Some(1), None, 2)).unwrap();
    let mut guard = odd.write().unwrap();
    let (read, mut write) = guard.as_view_pair("copy", &even).unwrap();
    write.iter_mut().zip(&read).for_each(|(to, from)| *to = from);

    let refused = guard.as_view_pair("copy", &tensor.narrow(0, 4, 4).unwrap()).err();
    let Some(Error::ReadWriteOverlap { op: "copy", operand: "input", overlap }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        *overlap,
        Overlap::Yes { first: [1].into_iter().collect(), second: [2].into_iter().collect() }
    );

    // A square and its transpose have a corner in common, which does no harm.
    let square = Tensor::arange(0i32, 9, 1).unwrap().view([3, 3]).unwrap();
    let refused = square.write().unwrap().as_view_pair("copy", &square.t().unwrap()).err();
    let text = refused.map(|refused| refused.to_string()).unwrap_or_default();
    assert!(text.ends_with("[copy: operand input at [0, 1] is the output at [1, 0]]"), "{text}");

    let unrelated = Tensor::from_vec(vec![0; 4], [4]).unwrap();
    let refused = guard.as_view_pair("copy", &unrelated).err();
    assert_eq!(refused, Some(Error::OtherStorage { op: "copy", operand: "input" }));
    let text = refused.map(|refused| refused.to_string()).unwrap_or_default();
    assert!(text.starts_with("copy: operand input has a storage of its own"), "{text}");
    drop(guard);
    assert_eq!(tensor.to_vec(), Ok(vec![0, 0, 2, 2, 4, 4, 6, 6]));
}
