//! What may cross threads and what may not: a table of types, checked in both directions.

use std::{marker::PhantomData, rc::Rc};

use tensor_core::{
    AnyTensor, Error, Layout, Overlap, Storage, Tensor, TensorRef, TensorRefMut, TensorView,
    TensorViewMut, Uninit,
};

/// Says of a type whether it has an auto trait: the inherent constants, where their bounds hold, hide those of [`Neither`].
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
        assert_eq!((Probe::<$type>::IS_SEND, Probe::<$type>::IS_SYNC), ($send, $sync), stringify!($type));
    )*};
}

/// A plain value that belongs to one thread.
type Local = *const u8;

#[test]
fn types_cross_threads_exactly_if_their_elements_do() {
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
        TensorView<'static, Local> => false, false;
        TensorViewMut<'static, Local> => false, false;
    }
}
