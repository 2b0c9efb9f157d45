//! Programs that must not compile, each with one that compiles and differs in the mistake only.
//!
//! The programs are documentation tests; the constants only name them. The module exists in
//! documentation tests only.

/// Elements of size zero, in a vector.
///
/// ```
/// tensor_core::Tensor::from_vec(vec![7u8; 6], [2, 3]).unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::from_vec(vec![(); 6], [2, 3]).unwrap();
/// ```
const ZERO_SIZED_FROM_VEC: () = ();

/// Elements of size zero, in a vector with a layout.
///
/// ```
/// # use tensor_core::{Layout, Tensor};
/// Tensor::from_vec_with_layout(vec![7u8; 6], Layout::contiguous(&[2]).unwrap()).unwrap();
/// ```
/// ```compile_fail,E0080
/// # use tensor_core::{Layout, Tensor};
/// Tensor::from_vec_with_layout(vec![(); 6], Layout::contiguous(&[2]).unwrap()).unwrap();
/// ```
const ZERO_SIZED_FROM_VEC_WITH_LAYOUT: () = ();

/// Elements of size zero, in a slice.
///
/// ```
/// tensor_core::Tensor::from_slice(&[7u8; 6], [2, 3]).unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::from_slice(&[(); 6], [2, 3]).unwrap();
/// ```
const ZERO_SIZED_FROM_SLICE: () = ();

/// Zeros of size zero.
///
/// ```
/// tensor_core::Tensor::<u8>::zeros([3]).unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::<()>::zeros(&[3]).unwrap();
/// ```
const ZERO_SIZED_ZEROS: () = ();

/// One value of size zero.
///
/// ```
/// tensor_core::Tensor::full([3], [7u8; 1]).unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::full([3], [7u8; 0]).unwrap();
/// ```
const ZERO_SIZED_FULL: () = ();

/// Values of size zero, from indices.
///
/// ```
/// tensor_core::Tensor::from_fn([3], |_| 7u8).unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::from_fn([3], |_| ()).unwrap();
/// ```
const ZERO_SIZED_FROM_FN: () = ();

/// Memory for elements of size zero.
///
/// ```
/// # use tensor_core::{Layout, Uninit};
/// Uninit::<u8>::new(Layout::contiguous(&[3]).unwrap()).unwrap();
/// ```
/// ```compile_fail,E0080
/// # use tensor_core::{Layout, Uninit};
/// Uninit::<()>::new(Layout::contiguous(&[3]).unwrap()).unwrap();
/// ```
const ZERO_SIZED_UNINIT: () = ();

/// Bytes viewed as elements of size zero.
///
/// ```
/// tensor_core::Tensor::full([3], 7u8).unwrap().view_dtype::<i8>().unwrap();
/// ```
/// ```compile_fail,E0080
/// tensor_core::Tensor::full([3], 7u8).unwrap().view_dtype::<()>().unwrap();
/// ```
const ZERO_SIZED_VIEW_DTYPE: () = ();

/// Bytes viewed as `bool`, which has invalid bit patterns.
///
/// ```
/// tensor_core::Tensor::full([3], 7u8).unwrap().view_dtype::<i8>().unwrap();
/// ```
/// ```compile_fail,E0277
/// tensor_core::Tensor::full([3], 7u8).unwrap().view_dtype::<bool>().unwrap();
/// ```
const BYTES_AS_BOOL: () = ();

/// Elements with padding, whose bytes are not all initialised.
///
/// ```
/// # #[derive(Clone, Copy)] struct Pair(u8, u16);
/// let pairs = [Pair(1, 2); 6];
/// tensor_core::TensorView::new(&pairs, tensor_core::Layout::contiguous(&[6]).unwrap()).unwrap();
/// ```
/// ```compile_fail,E0277
/// # #[derive(Clone, Copy)] struct Pair(u8, u16);
/// tensor_core::Tensor::from_vec(vec![Pair(1, 2); 6], [6]).unwrap();
/// ```
const PADDED_ELEMENTS: () = ();

/// Elements that may be uninitialised.
///
/// ```compile_fail,E0277
/// # use std::mem::MaybeUninit;
/// tensor_core::Tensor::from_vec(vec![MaybeUninit::new(7u8); 6], [6]).unwrap();
/// ```
const UNINITIALISED_ELEMENTS: () = ();

/// `assume_init` without `unsafe`.
///
/// ```
/// # use tensor_core::{Layout, Tensor, Uninit};
/// let empty = Uninit::<u8>::new(Layout::contiguous(&[0]).unwrap()).unwrap();
/// // SAFETY: there is no element to be written.
/// let tensor: Tensor<u8> = unsafe { empty.assume_init() };
/// ```
/// ```compile_fail,E0133
/// # use tensor_core::{Layout, Tensor, Uninit};
/// let empty = Uninit::<u8>::new(Layout::contiguous(&[0]).unwrap()).unwrap();
/// let tensor: Tensor<u8> = empty.assume_init();
/// ```
const UNINITIALISED_RESULT: () = ();

/// A layout built without a constructor's checks.
///
/// ```
/// let layout = tensor_core::Layout::SCALAR;
/// assert_eq!(layout.offset(), 0);
/// ```
/// ```compile_fail,E0451
/// let layout = tensor_core::Layout { offset: 7, ..tensor_core::Layout::SCALAR };
/// ```
const UNCHECKED_LAYOUT: () = ();

/// A tensor coerced to a supertype of its elements. Through the coerced tensor one could write a
/// function that takes `&'static u8`, and through the original call it with any lifetime. A vector
/// can be coerced, as it is not shared. Functions are no elements, but a byte that is marked with a
/// function type is one.
///
/// ```
/// # use std::marker::PhantomData;
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Tagged<F: 'static>(u8, PhantomData<F>);
/// // SAFETY: it is one byte.
/// unsafe impl<F: Copy + 'static> bytemuck::NoUninit for Tagged<F> {}
/// type Any = Tagged<for<'a> fn(&'a u8)>;
/// type Some = Tagged<fn(&'static u8)>;
/// fn narrow(elements: Vec<Any>) -> Vec<Some> { elements }
/// ```
/// ```compile_fail,E0308
/// # use std::marker::PhantomData;
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Tagged<F: 'static>(u8, PhantomData<F>);
/// // SAFETY: it is one byte.
/// unsafe impl<F: Copy + 'static> bytemuck::NoUninit for Tagged<F> {}
/// type Any = Tagged<for<'a> fn(&'a u8)>;
/// type Some = Tagged<fn(&'static u8)>;
/// fn narrow(elements: tensor_core::Tensor<Any>) -> tensor_core::Tensor<Some> { elements }
/// ```
const COVARIANT_TENSOR: () = ();

/// As [`COVARIANT_TENSOR`], in the other direction.
///
/// ```compile_fail,E0308
/// # use std::marker::PhantomData;
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Tagged<F: 'static>(u8, PhantomData<F>);
/// // SAFETY: it is one byte.
/// unsafe impl<F: Copy + 'static> bytemuck::NoUninit for Tagged<F> {}
/// type Any = Tagged<for<'a> fn(&'a u8)>;
/// type Some = Tagged<fn(&'static u8)>;
/// fn widen(elements: tensor_core::Tensor<Some>) -> tensor_core::Tensor<Any> { elements }
/// ```
const CONTRAVARIANT_TENSOR: () = ();

/// As [`COVARIANT_TENSOR`], for the handle of a tensor.
///
/// ```
/// type Some = fn(&'static u8);
/// fn same(handle: tensor_core::Handle<'_, Some>) -> tensor_core::Handle<'_, Some> { handle }
/// ```
/// ```compile_fail,E0308
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(handle: tensor_core::Handle<'_, Any>) -> tensor_core::Handle<'_, Some> { handle }
/// ```
const COVARIANT_HANDLE: () = ();

/// As [`COVARIANT_TENSOR`], for an operand, which contains the tensor's handle.
///
/// ```compile_fail,E0308
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(operand: tensor_core::Operand<'_, Any>) -> tensor_core::Operand<'_, Some> { operand }
/// ```
const COVARIANT_OPERAND: () = ();

/// As [`COVARIANT_TENSOR`], for an output.
///
/// ```compile_fail,E0308
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(output: tensor_core::Output<'_, Any>) -> tensor_core::Output<'_, Some> { output }
/// ```
const COVARIANT_OUTPUT: () = ();

/// As [`COVARIANT_TENSOR`], for a write guard.
///
/// ```compile_fail,E0308
/// # use tensor_core::TensorRefMut;
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(guard: TensorRefMut<'_, Any>) -> TensorRefMut<'_, Some> { guard }
/// ```
const COVARIANT_WRITE_GUARD: () = ();

/// As [`COVARIANT_TENSOR`], for a mutable view. A read-only view is covariant, like a slice.
///
/// ```
/// # use tensor_core::TensorView;
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(view: TensorView<'_, Any>) -> TensorView<'_, Some> { view }
/// ```
/// ```compile_fail,E0308
/// # use tensor_core::TensorViewMut;
/// type Any = for<'a> fn(&'a u8);
/// type Some = fn(&'static u8);
/// fn narrow(view: TensorViewMut<'_, Any>) -> TensorViewMut<'_, Some> { view }
/// ```
const COVARIANT_MUTABLE_VIEW: () = ();

/// Elements that are not `Sync`, in a view that is sent to a thread.
///
/// ```
/// # use tensor_core::{Layout, TensorView};
/// let numbers = [1, 2, 3];
/// let view = TensorView::new(&numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// std::thread::scope(|scope| { scope.spawn(move || view.to_vec()); });
/// ```
/// ```compile_fail,E0277
/// # use tensor_core::{Layout, TensorView};
/// let numbers = [&raw const *&1];
/// let view = TensorView::new(&numbers, Layout::contiguous(&[1]).unwrap()).unwrap();
/// std::thread::scope(|scope| { scope.spawn(move || view.to_vec()); });
/// ```
const VIEW_OF_UNSYNC_ELEMENTS_IN_A_THREAD: () = ();

/// A view in a thread that can outlive the buffer.
///
/// ```compile_fail,E0597
/// # use tensor_core::{Layout, TensorView};
/// let numbers = [1, 2, 3];
/// let view = TensorView::new(&numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// std::thread::spawn(move || view.to_vec());
/// ```
const VIEW_IN_A_THREAD_THAT_OUTLIVES_THE_BUFFER: () = ();

/// A buffer written while a view reads it.
///
/// ```
/// # use tensor_core::{Layout, TensorView};
/// let mut numbers = [1, 2, 3];
/// let view = TensorView::new(&numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// view.to_vec();
/// numbers[0] = 7;
/// ```
/// ```compile_fail,E0506
/// # use tensor_core::{Layout, TensorView};
/// let mut numbers = [1, 2, 3];
/// let view = TensorView::new(&numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// numbers[0] = 7;
/// view.to_vec();
/// ```
const BUFFER_WRITTEN_DURING_A_VIEW: () = ();

/// Two mutable views of the same elements.
///
/// ```
/// # use tensor_core::{Layout, TensorViewMut};
/// let mut numbers = [1, 2, 3];
/// let mut view = TensorViewMut::new(&mut numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// *view.reborrow().get_mut(&[0]).unwrap() = 7;
/// *view.get_mut(&[0]).unwrap() = 8;
/// ```
/// ```compile_fail,E0499
/// # use tensor_core::{Layout, TensorViewMut};
/// let mut numbers = [1, 2, 3];
/// let mut view = TensorViewMut::new(&mut numbers, Layout::contiguous(&[3]).unwrap()).unwrap();
/// let mut other = view.reborrow();
/// *view.get_mut(&[0]).unwrap() = 7;
/// *other.get_mut(&[0]).unwrap() = 8;
/// ```
const TWO_MUTABLE_VIEWS: () = ();

/// Two mutable views through one write guard.
///
/// ```compile_fail,E0499
/// let tensor = tensor_core::Tensor::full([3], 7).unwrap();
/// let mut guard = tensor.write().unwrap();
/// let mut first = guard.as_view_mut().unwrap();
/// let mut second = guard.as_view_mut().unwrap();
/// first.iter_mut().zip(second.iter_mut()).for_each(|(a, b)| *a = *b);
/// ```
const TWO_MUTABLE_VIEWS_OF_A_GUARD: () = ();

/// A view that is read after its guard is dropped, when the storage can be written.
///
/// ```
/// let tensor = tensor_core::Tensor::full([3], 7).unwrap();
/// let guard = tensor.read().unwrap();
/// let view = guard.as_view();
/// view.to_vec();
/// drop(guard);
/// ```
/// ```compile_fail,E0505
/// let tensor = tensor_core::Tensor::full([3], 7).unwrap();
/// let guard = tensor.read().unwrap();
/// let view = guard.as_view();
/// drop(guard);
/// view.to_vec();
/// ```
const VIEW_WITHOUT_ITS_GUARD: () = ();

/// A guard that outlives its tensor.
///
/// ```compile_fail,E0505
/// let tensor = tensor_core::Tensor::full([3], 7).unwrap();
/// let guard = tensor.read().unwrap();
/// drop(tensor);
/// guard.as_view().to_vec();
/// ```
const GUARD_WITHOUT_ITS_TENSOR: () = ();
