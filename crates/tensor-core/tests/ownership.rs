//! Memory that comes from the caller and goes back: vectors, owners, raw parts; and parts of one
//! tensor that are written at the same time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tensor_core::{Error, Layout, Tensor, TensorView, TensorViewMut};

fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

/// An owner that counts how often it is dropped.
struct Counted(Vec<u16>, Arc<AtomicUsize>);

impl AsRef<[u16]> for Counted {
    fn as_ref(&self) -> &[u16] {
        &self.0
    }
}

impl AsMut<[u16]> for Counted {
    fn as_mut(&mut self) -> &mut [u16] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fill(u16::MAX);
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_owner_lives_as_long_as_the_last_tensor_and_is_dropped_once() {
    for writable in [false, true] {
        let drops = Arc::new(AtomicUsize::new(0));
        let owner = Counted((0..12).collect(), Arc::clone(&drops));
        let tensor: Tensor<u16> = match writable {
            false => Tensor::from_owner(owner, layout(&[3, 4])).unwrap(),
            true => Tensor::from_owner_mut(owner, layout(&[3, 4])).unwrap(),
        };
        assert_eq!(tensor.storage().is_read_only(), !writable);
        let column = tensor.select(1, 3).unwrap();
        drop(tensor);
        assert_eq!(drops.load(Ordering::SeqCst), 0);
        assert_eq!(thread::spawn(move || column.to_vec().unwrap()).join().unwrap(), [3, 7, 11]);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn an_owner_whose_elements_lie_in_it_stays_in_place() {
    let tensor = Tensor::from_owner_mut([1u64, 2, 3, 4], layout(&[2, 2])).unwrap();
    let moved = [tensor.t().unwrap(), tensor];
    moved[1].set(&[0, 1], 20).unwrap();
    assert_eq!(moved[0].to_vec().unwrap(), [1, 3, 20, 4]);
}

#[test]
fn fault_memory_that_is_shared_for_reading_cannot_be_written() {
    let shared: Arc<[f32]> = Arc::from(vec![1.0; 6]);
    let tensor = Tensor::from_owner(Arc::clone(&shared), layout(&[6])).unwrap();
    let view = tensor.view([2, 3]).unwrap().view_dtype::<u32>().unwrap();
    assert_eq!(tensor.set(&[0], 2.0), Err(Error::ReadOnly));
    assert_eq!(view.write().err(), Some(Error::ReadOnly));
    assert!(Error::ReadOnly.to_string().contains("deep_clone()"));
    let readers: Vec<_> = (0..3).map(|_| tensor.read().unwrap()).collect();
    assert_eq!((readers.len(), &shared[..]), (3, &[1.0; 6][..]));
}

#[test]
fn fault_a_layout_beyond_the_owner_s_memory_is_refused_and_the_owner_dropped() {
    let drops = Arc::new(AtomicUsize::new(0));
    let owner = || Counted(vec![0; 5], Arc::clone(&drops));
    let refused = Tensor::<u16>::from_owner(owner(), layout(&[2, 3])).unwrap_err();
    assert!(matches!(refused, Error::TooFewElements { .. }), "{refused}");
    assert!(Tensor::<u16>::from_owner_mut(owner(), layout(&[6])).is_err());
    assert_eq!(drops.load(Ordering::SeqCst), 2);
    let empty = Counted(Vec::new(), Arc::clone(&drops));
    let empty = Tensor::<u16>::from_owner(empty, layout(&[0, 3])).unwrap();
    assert!(empty.to_vec().unwrap().is_empty());
    assert_eq!(drops.load(Ordering::SeqCst), 3);
}

#[test]
fn the_vector_of_a_whole_tensor_without_other_handles_is_returned_uncopied() {
    let with_room = |len: i32| {
        let mut values = Vec::with_capacity(100);
        values.extend(0..len);
        values
    };
    for len in [1, 24, 100] {
        let (values, shape) = (with_room(len), [len as usize]);
        let memory = values.as_ptr();
        let back = Tensor::from_vec(values, shape).unwrap().into_vec().unwrap();
        assert_eq!((back.as_ptr(), back.capacity()), (memory, 100));
        assert!(back.into_iter().eq(0..len));
    }
    let tensor = Tensor::from_vec(with_room(24), [2, 3, 4]).unwrap();
    let (memory, same) = (tensor.data_ptr(), tensor.view([6, 4]).unwrap());
    drop(tensor);
    let back = same.into_vec().unwrap();
    assert_eq!(back.as_ptr(), memory);
    let words = Tensor::from_vec(vec![1.0f32, 2.0], [2]).unwrap().view_dtype::<u32>().unwrap();
    assert_eq!(words.into_vec().unwrap(), [0x3f80_0000, 0x4000_0000]);
}

#[test]
fn the_elements_of_other_tensors_are_copied_to_a_vector() {
    let tensor = Tensor::from_vec((0..6).collect(), [2, 3]).unwrap();
    assert_eq!(tensor.clone().into_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(tensor.t().unwrap().into_vec().unwrap(), [0, 3, 1, 4, 2, 5]);
    assert_eq!(tensor.narrow(0, 1, 1).unwrap().into_vec().unwrap(), [3, 4, 5]);
    let first = tensor.narrow(0, 0, 1).unwrap();
    drop(tensor);
    assert_eq!(first.into_vec().unwrap(), [0, 1, 2]);
    let bytes = Tensor::from_vec(vec![0x0201u16, 0x0403], [2]).unwrap().view_dtype::<u8>();
    assert_eq!(bytes.unwrap().into_vec().unwrap(), [1, 2, 3, 4]);
    let owned = Tensor::from_owner(vec![7u8; 3], layout(&[3])).unwrap();
    assert_eq!(owned.into_vec().unwrap(), [7; 3]);
    assert_eq!(Tensor::<f64>::zeros([2]).unwrap().into_vec().unwrap(), [0.0; 2]);
    assert!(Tensor::<f64>::zeros([0, 2]).unwrap().into_vec().unwrap().is_empty());
}

#[test]
fn fault_the_vector_of_a_tensor_that_is_being_written_is_refused() {
    let tensor = Tensor::from_vec(vec![1, 2], [2]).unwrap();
    let other = tensor.clone();
    let _guard = tensor.write().unwrap();
    assert!(matches!(other.into_vec(), Err(Error::Borrowed { .. })));
}

#[test]
fn views_of_raw_parts_reach_the_layout_s_elements_only() {
    let mut memory: Vec<u16> = (0..20).collect();
    let base = NonNull::new(memory[..].as_mut_ptr().wrapping_add(10)).unwrap();
    let rows = Layout::new([2, 3], [5, 1], 0).unwrap();
    // SAFETY: offsets 0 to 7 from element 10 lie in the vector; nothing else uses it meanwhile.
    let view = unsafe { TensorView::from_raw_parts(base, rows.clone()) };
    assert_eq!(view.to_vec(), [10, 11, 12, 15, 16, 17]);
    assert!(!view.gaps_readable());
    // SAFETY: as above; the read-only view is not used any more.
    let mut view = unsafe { TensorViewMut::from_raw_parts(base, rows) }.unwrap();
    view.iter_mut().for_each(|element| *element += 100);
    assert_eq!(memory[10..18], [110, 111, 112, 13, 14, 115, 116, 117]);
}

#[test]
fn fault_a_mutable_view_of_raw_parts_must_not_reach_an_element_twice() {
    let mut memory = [0u8; 4];
    let layout = Layout::new([2, 3], [1, 1], 0).unwrap();
    let base = NonNull::from(&mut memory).cast::<u8>();
    // SAFETY: offsets 0 to 3 lie in the array.
    let view = unsafe { TensorViewMut::from_raw_parts(base, layout) };
    assert!(matches!(view.err(), Some(Error::WriteOverlap { .. })));
}

#[test]
fn fault_strides_in_bytes_must_be_multiples_of_the_width() {
    let refused = |strides: &[isize], offset, width| {
        Layout::from_byte_strides([2, 2], strides, offset, width).unwrap_err()
    };
    assert_eq!(refused(&[8, 3], 0, 4), Error::ByteStride { bytes: 3, width: 4 });
    assert_eq!(refused(&[8, 4], 6, 4), Error::ByteStride { bytes: 6, width: 4 });
    assert_eq!(refused(&[8, 4], 0, 0), Error::ByteStride { bytes: 0, width: 0 });
    assert!(matches!(refused(&[8], 0, 4), Error::StridesLength { .. }));
    assert_eq!(refused(&[8, 4], 0, usize::MAX), Error::ByteStride { bytes: 0, width: usize::MAX });
    let backwards = Layout::from_byte_strides([2, 3], [-24, 8], 24, 8).unwrap();
    assert_eq!((backwards.strides(), backwards.offset()), (&[-3, 1][..], 3));
}

#[test]
fn parts_along_any_dimension_are_written_at_the_same_time() {
    for dim in 0..3 {
        let tensor = Tensor::<u32>::zeros([4, 5, 6]).unwrap().permute([2, 0, 1]).unwrap();
        let mut guard = tensor.write().unwrap();
        let parts = guard.as_view_mut().unwrap().split_mut(2, dim).unwrap();
        thread::scope(|scope| {
            for (number, mut part) in (1..).zip(parts) {
                scope.spawn(move || part.iter_mut().for_each(|element| *element += number));
            }
        });
        let rows = guard.as_view_mut().unwrap().unbind_mut(dim).unwrap();
        assert_eq!(rows.len(), tensor.shape()[dim as usize]);
        for (at, row) in rows.iter().enumerate() {
            assert!(row.as_view().iter().all(|element| element == at as u32 / 2 + 1));
        }
    }
}

#[test]
fn fault_parts_of_no_size_and_dimensions_out_of_range_are_refused() {
    let mut memory = [0u8; 6];
    let mut view = TensorViewMut::new(&mut memory, layout(&[2, 3])).unwrap();
    assert!(view.reborrow().split_mut(0, 0).is_err());
    assert!(view.reborrow().split_mut(1, 2).is_err());
    assert!(view.reborrow().unbind_mut(-3).is_err());
    assert_eq!(view.split_mut(usize::MAX, 1).unwrap().len(), 1);
}

#[test]
fn two_parts_of_a_tensor_are_written_from_two_threads() {
    for dim in 0..3 {
        let tensor = Tensor::<u32>::zeros([4, 5, 6]).unwrap().permute([2, 0, 1]).unwrap();
        for at in 0..=tensor.shape()[dim] {
            tensor
                .split_at_mut(dim, at, |mut first, mut rest| {
                    thread::scope(|scope| {
                        scope.spawn(|| first.iter_mut().for_each(|element| *element = 1));
                        scope.spawn(|| rest.iter_mut().for_each(|element| *element = 2));
                    });
                })
                .unwrap();
            for (index, part) in tensor.unbind(dim).unwrap().iter().enumerate() {
                let number = if index < at { 1 } else { 2 };
                assert!(part.to_vec().unwrap().iter().all(|&element| element == number));
            }
        }
    }
}

#[test]
fn the_tensor_is_borrowed_until_its_parts_are_written() {
    let tensor = Tensor::<u32>::zeros([2, 3]).unwrap();
    let meanwhile = tensor.split_at_mut(0, 1, |_, _| tensor.read().err()).unwrap();
    assert!(matches!(meanwhile, Some(Error::Borrowed { .. })));
    let result = tensor.split_at_mut(0, 1, |first, rest| (first.numel(), rest.numel()));
    assert_eq!(result, Ok((3, 3)));
    assert!(tensor.read().is_ok());
}

#[test]
fn fault_a_tensor_that_cannot_be_written_is_not_split() {
    let tensor = Tensor::<u32>::zeros([2, 3]).unwrap();
    let refused = |tensor: &Tensor<u32>, dim: isize, at| {
        tensor.split_at_mut(dim, at, |_, _| unreachable!("a refused split")).unwrap_err()
    };
    let reading = tensor.read().unwrap();
    assert!(matches!(refused(&tensor, 0, 1), Error::Borrowed { .. }));
    drop(reading);
    assert!(matches!(refused(&tensor, 2, 1), Error::DimOutOfRange { .. }));
    refused(&tensor, 1, 4);
    refused(&tensor, 1, usize::MAX);
    let expanded = Tensor::<u32>::zeros([1]).unwrap().expand([4]).unwrap();
    assert!(matches!(refused(&expanded, 0, 2), Error::WriteOverlap { .. }));
}

/// Asks from another thread whether a tensor can be read, and whether it can be written.
fn ask(tensor: &Tensor<u32>) -> [bool; 2] {
    thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let may_read = tensor.read().is_ok();
            [may_read, tensor.write().is_ok()]
        });
        asked.join().unwrap()
    })
}

#[test]
fn handles_are_refused_if_they_share_an_element_with_a_guard() {
    let table = Tensor::<u32>::zeros([4, 6]).unwrap();
    for dim in 0..2 {
        let size = table.shape()[dim] / 2;
        let (first, rest) = (table.narrow(dim, 0, size), table.narrow(dim, size, size));
        let (first, rest) = (first.unwrap(), rest.unwrap());
        let flipped = rest.flip([0, 1]).unwrap();
        let writing = first.write().unwrap();
        assert!(rest.write().is_ok() && flipped.write().is_ok(), "parts along {dim}");
        assert_eq!([ask(&table), ask(&first)], [[false; 2]; 2]);
        assert_eq!(ask(&rest), [true; 2]);
        drop(writing);
        let reading = first.read().unwrap();
        assert_eq!([ask(&table), ask(&first)], [[true, false]; 2]);
        assert_eq!(ask(&rest), [true, dim == 0], "a reader borrows the gaps between its elements");
        drop(reading);
        assert_eq!([ask(&rest), ask(&first), ask(&table)], [[true; 2]; 3]);
    }
}

#[test]
fn tensors_of_other_widths_and_without_elements_are_borrowed_by_their_bytes() {
    let table = Tensor::<u32>::zeros([4, 6]).unwrap();
    let row = table.select(0, 1).unwrap();
    let bytes = table.view_dtype::<u8>().unwrap();
    let writing = row.write().unwrap();
    assert!(bytes.narrow(0, 1, 1).unwrap().read().is_err());
    assert!(bytes.narrow(0, 2, 2).unwrap().write().is_ok());
    assert!(table.narrow(1, 0, 0).unwrap().write().is_ok(), "no elements");
    drop(writing);
    let one = table.select(0, 2).unwrap().expand([3, 6]).unwrap();
    let reading = one.read().unwrap();
    assert!(table.select(0, 2).unwrap().write().is_err());
    assert!(table.narrow(0, 0, 2).unwrap().write().is_ok());
    drop(reading);
    std::mem::forget(row.write().unwrap());
    assert!(row.read().is_err() && table.narrow(0, 2, 2).unwrap().write().is_ok());
}

/// Threads that write parts of one tensor, and read others, again and again: none is ever refused.
#[test]
fn threads_that_use_disjoint_parts_are_never_refused() {
    const ROUNDS: u32 = 3000;
    let table = Tensor::<u32>::zeros([4, 4, 6]).unwrap();
    let write = |part: Tensor<u32>| {
        for round in 1..=ROUNDS {
            part.write().unwrap().as_view_mut().unwrap().iter_mut().for_each(|x| *x = round);
            assert!(part.to_vec().unwrap().iter().all(|&x| x == round));
        }
    };
    let only_write = |part: Tensor<u32>| {
        for round in 1..=ROUNDS {
            part.write().unwrap().as_view_mut().unwrap().iter_mut().for_each(|x| *x = round);
        }
    };
    thread::scope(|scope| {
        for row in 0..4 {
            let part = table.select(0, row).unwrap();
            scope.spawn(move || write(part));
        }
    });
    thread::scope(|scope| {
        for column in 0..3 {
            let part = table.narrow(2, 2 * column, 2).unwrap();
            scope.spawn(move || only_write(part));
        }
    });
    assert!(table.to_vec().unwrap().iter().all(|&x| x == ROUNDS));
    let (read, written) = (table.narrow(0, 0, 2).unwrap(), table.narrow(0, 2, 2).unwrap());
    thread::scope(|scope| {
        scope.spawn(|| (0..ROUNDS).for_each(|_| assert_eq!(read.get(&[1, 3, 5]), Ok(ROUNDS))));
        scope.spawn(|| write(written.clone()));
    });
}

/// Threads write columns and read the others' again and again, through guards and element by
/// element: whoever comes first, none is ever refused.
#[test]
fn threads_that_share_parts_are_never_refused() {
    const ROUNDS: u32 = 3000;
    let table = Tensor::<u32>::zeros([4, 6]).unwrap();
    table.storage().share_parts().unwrap();
    let columns = |at| table.narrow(1, at, 2).unwrap();
    let read = columns(2);
    thread::scope(|scope| {
        for at in [0, 4] {
            let part = columns(at);
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    part.write()
                        .unwrap()
                        .as_view_mut()
                        .unwrap()
                        .iter_mut()
                        .for_each(|x| *x = round);
                    assert!(part.to_vec().unwrap().iter().all(|&x| x == round));
                }
            });
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    assert!(read.iter().unwrap().all(|x| x == 0));
                    assert!(!read.read().unwrap().as_view().gaps_readable());
                }
            });
        }
    });
    assert_eq!(ask(&columns(1)), [true; 2]);
    let reading = read.read().unwrap();
    assert_eq!([ask(&columns(1)), ask(&columns(0))], [[true, false], [true; 2]]);
    drop(reading);
    assert_eq!((table.get(&[0, 0]), table.get(&[3, 5])), (Ok(ROUNDS), Ok(ROUNDS)));
}

#[test]
fn fault_parts_are_not_shared_while_gaps_are_being_read() {
    let table = Tensor::<u32>::zeros([4, 6]).unwrap();
    let columns = table.narrow(1, 0, 2).unwrap();
    let reading = columns.read().unwrap();
    let refused = table.storage().share_parts().unwrap_err();
    assert!(matches!(refused, Error::Borrowed { .. }), "{refused}");
    assert!(refused.to_string().contains("for reading, with gaps"), "{refused}");
    drop(reading);
    let (whole, writing) = (table.read().unwrap(), Tensor::<u32>::zeros([3]).unwrap());
    assert_eq!(table.storage().share_parts(), Ok(()));
    assert!(whole.as_view().gaps_readable());
    let _writing = writing.write().unwrap();
    assert_eq!(writing.storage().share_parts(), Ok(()));
}

/// A guard that writes one part, and reads another, borrows both.
#[test]
fn the_read_tensor_of_a_pair_is_borrowed() {
    let table = Tensor::<u32>::zeros([6, 2]).unwrap();
    let [a, b, c] = [0, 2, 4].map(|at| table.narrow(0, at, 2).unwrap());
    let mut guard = a.write().unwrap();
    let other = c.write().unwrap();
    assert!(matches!(guard.as_view_pair("copy", &c), Err(Error::Borrowed { .. })));
    drop(other);
    let pair = guard.as_view_pair("copy", &b).unwrap();
    assert_eq!([ask(&b), ask(&c)], [[true, false], [true; 2]]);
    drop(pair);
    guard.as_view_pair("copy", &c).unwrap();
    assert_eq!([ask(&b), ask(&c)], [[true; 2], [true, false]]);
    drop(guard);
    assert_eq!(ask(&table), [true; 2]);
}
