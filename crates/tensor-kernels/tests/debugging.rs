//! What a user sees when something goes wrong: where a panic is reported, and how tensors print for
//! debugging.

#![cfg(feature = "reductions")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    panic::{self, UnwindSafe},
    sync::{Arc, Mutex},
};

use tensor_kernels::{AnyTensor, Layout, Tensor, TensorExt, TensorView, TensorViewMut};

/// The file and line at which a panic is reported.
fn reported_at(f: impl FnOnce() + UnwindSafe) -> (String, u32) {
    static ONE_HOOK: Mutex<()> = Mutex::new(());
    let _one = ONE_HOOK.lock().unwrap();
    let place = Arc::new(Mutex::new((String::new(), 0)));
    let (seen, before) = (Arc::clone(&place), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        let location = info.location().unwrap();
        *seen.lock().unwrap() = (location.file().to_owned(), location.line());
    }));
    let outcome = panic::catch_unwind(f);
    panic::set_hook(before);
    assert!(outcome.is_err());
    place.lock().unwrap().clone()
}

macro_rules! assert_reported_here {
    ($($what:literal: $panics:expr;)*) => {$(
        let (file, line) = reported_at(|| { let _result = $panics; });
        assert_eq!((file.as_str(), line), (file!(), line!()), "{}", $what);
    )*};
}

#[test]
fn panics_are_reported_at_the_caller() {
    let (x, y) = (Tensor::full([2, 3], 1.5).unwrap(), Tensor::full([4], 1.0).unwrap());
    let (x, y) = (panic::AssertUnwindSafe(x), panic::AssertUnwindSafe(y));
    let of_slice = || TensorView::new(&[1, 2], Layout::contiguous([2]).unwrap()).unwrap();
    assert_reported_here! { "operator": &*x + &*y; }
    assert_reported_here! { "operator with a value": &Tensor::full([2], 1).unwrap() % 0; }
    assert_reported_here! { "negation": { let _g = x.write().unwrap(); -&*x }; }
    assert_reported_here! { "assignment": { let mut z = x.clone(); z += &*y; }; }
    assert_reported_here! { "index": of_slice()[[2]]; }
    let huge = || Layout::new([1_isize << 40, 1_isize << 20], [0, 0], 0).unwrap();
    assert_reported_here! { "vector": TensorView::new(&[1u8], huge()).unwrap().to_vec(); }
    assert_reported_here! { "comparison": { let _guard = x.write().unwrap(); *x == *x }; }
    let any = panic::AssertUnwindSafe(AnyTensor::from((*x).clone()));
    assert_reported_here! { "comparison of any": { let _g = x.write().unwrap(); *any == *any }; }
    assert_reported_here! { "operator of any": { let _g = x.write().unwrap(); &*any + &*any }; }
    let flat = panic::AssertUnwindSafe(x.reshape([6]).unwrap());
    assert_reported_here! { "operator of a reshape": &*flat + &*y; }
    assert_reported_here! { "its comparison": { let _g = x.write().unwrap(); *flat == *flat }; }
}

#[test]
fn debug_shows_element_type_layout_and_the_first_elements() {
    let x = Tensor::arange(0i64, 6, 1).unwrap().view([2, 3]).unwrap();
    assert_eq!(
        format!("{:?}", x.t().unwrap()),
        "Tensor { dtype: i64, shape: [3, 2], strides: [1, 3], offset: 0, \
         elements: [0, 3, 1, 4, 2, 5] }"
    );
    let many = Tensor::full([100], 0.5f32).unwrap();
    assert!(format!("{many:?}").ends_with("0.5, 0.5, ..] }"), "{many:?}");
    let guard = x.write().unwrap();
    assert!(format!("{x:?}").ends_with("elements: <being written> }"), "{x:?}");
    drop(guard);
    let mut memory = [true, false];
    let view = TensorViewMut::new(&mut memory, Layout::contiguous([2]).unwrap()).unwrap();
    assert_eq!(
        format!("{view:?}"),
        "TensorViewMut { dtype: bool, shape: [2], strides: [1], offset: 0, \
         elements: [true, false] }"
    );
    let any = AnyTensor::from(x.select(0, 0).unwrap());
    assert!(format!("{any:?}").starts_with("I64(Tensor { dtype: i64"), "{any:?}");
    assert!(format!("{:?}", x.reshape([6]).unwrap()).ends_with("copied: false }"));
    let huge = Tensor::full([1], 1u8).unwrap().expand([1_usize << 50]).unwrap();
    assert!(format!("{huge:?}").len() < 200);
}
