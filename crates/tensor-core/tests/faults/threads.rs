//! `Send` and `Sync` of every type, as a table that is checked in both directions; and thousands of
//! readers and writers of one storage, each of which sees complete writes or gets an error.

use std::{
    marker::PhantomData,
    rc::Rc,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, Scope},
};

use tensor_core::{
    AnyTensor, Error, Handle, Iter, IterMut, Layout, Operand, Output, OutputSlice, Overlap,
    Storage, Tensor, TensorIter, TensorRef, TensorRefMut, TensorView, TensorViewMut, Uninit,
    ViewRef, ViewRefMut,
};

/// Tells whether a type has an auto trait: the inherent constants exist if their bounds hold, and
/// take precedence over those of [`Neither`].
struct Probe<T>(PhantomData<T>);

trait Neither {
    const IS_SEND: bool = false;
    const IS_SYNC: bool = false;
}

impl<T> Neither for Probe<T> {}

impl<T: Send> Probe<T> {
    const IS_SEND: bool = true;
}

impl<T: Sync> Probe<T> {
    const IS_SYNC: bool = true;
}

macro_rules! check {
    ($($type:ty => $send:literal, $sync:literal;)*) => {$(
        let found = (Probe::<$type>::IS_SEND, Probe::<$type>::IS_SYNC);
        assert_eq!(found, ($send, $sync), stringify!($type));
    )*};
}

/// A plain value that is neither `Send` nor `Sync`.
type Local = *const u8;

#[test]
fn fault_types_cross_threads_exactly_if_their_elements_do() {
    check! {
        Rc<u8> => false, false;
        Layout => true, true;
        Error => true, true;
        Overlap => true, true;
        Storage => true, true;
        Tensor<f32> => true, true;
        AnyTensor => true, true;
        Uninit<f32> => true, true;
        TensorRef<'static, f32> => true, true;
        TensorRefMut<'static, f32> => true, true;
        TensorView<'static, f32> => true, true;
        TensorViewMut<'static, f32> => true, true;
        ViewRef<'static, f32> => true, true;
        ViewRefMut<'static, f32> => true, true;
        Iter<'static, f32> => true, true;
        TensorIter<'static, f32> => true, true;
        OutputSlice<'static, f32> => true, true;
        IterMut<'static, f32> => true, true;
        Handle<'static, f32> => true, true;
        Operand<'static, f32> => true, true;
        Output<'static, f32> => true, true;
        TensorView<'static, Local> => false, false;
        TensorViewMut<'static, Local> => false, false;
        ViewRef<'static, Local> => false, false;
        ViewRefMut<'static, Local> => false, false;
        Iter<'static, Local> => false, false;
        TensorIter<'static, Local> => false, false;
        OutputSlice<'static, Local> => false, false;
        IterMut<'static, Local> => false, false;
        Operand<'static, Local> => false, false;
        Output<'static, Local> => false, false;
    }
}

/// Spawns a thread with a stack small enough for a thousand of them.
fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let builder = thread::Builder::new().stack_size(256 << 10);
    builder.spawn_scoped(scope, work).expect("a thousand small threads");
}

fn is_borrowed<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Borrowed { .. }))
}

#[test]
fn fault_thousands_of_readers_at_a_time_keep_every_writer_out() {
    const THREADS: usize = 4;
    const EACH: usize = 2500;
    let tensor = Tensor::full([64], 7u32).unwrap();
    let barrier = Barrier::new(THREADS + 1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            spawn(scope, || {
                let guards: Result<Vec<_>, Error> = (0..EACH).map(|_| tensor.read()).collect();
                barrier.wait();
                barrier.wait();
                assert!(guards.unwrap().iter().all(|guard| guard.as_view()[[63]] == 7));
            });
        }
        barrier.wait();
        // The assertions follow after all threads are released: a failure must not become a hang.
        let is_shut = (0..EACH).all(|_| is_borrowed(&tensor.write()) && tensor.read().is_ok());
        barrier.wait();
        assert!(is_shut, "a writer came in, or a reader did not");
    });
    assert!(tensor.write().is_ok(), "all of them are gone");
}

/// Each write changes every element, so a partial or a lost write is detected.
#[test]
fn fault_readers_and_writers_in_a_thousand_threads_see_whole_writes_or_an_error() {
    const THREADS: usize = 1000;
    let tensor = Tensor::full([256], 0u32).unwrap();
    let backwards = tensor.flip([0]).unwrap();
    let (written, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let read = || match backwards.read() {
        Ok(guard) => {
            let view = guard.as_view();
            let first = view[[0]];
            assert!(view.iter().all(|element| element == first), "half of a write");
        }
        conflict => {
            assert!(is_borrowed(&conflict));
            refused.fetch_add(1, Relaxed);
        }
    };
    let write = || match tensor.write() {
        Ok(mut guard) => {
            guard.as_view_mut().unwrap().iter_mut().for_each(|element| *element += 1);
            written.fetch_add(1, Relaxed);
        }
        conflict => {
            assert!(is_borrowed(&conflict));
            refused.fetch_add(1, Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            spawn(scope, || (0..8).for_each(|i| if i % 2 == 0 { read() } else { write() }));
        }
    });
    let written = written.into_inner();
    assert!(written > 0 && written + refused.into_inner() <= THREADS * 8);
    assert_eq!(tensor.to_vec(), Ok(vec![written as u32; 256]));
}
