//! A producer whose tensors a test can break, and whose deleter counts its calls.

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tensor_core::interchange::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};

/// What a producer hands over: a row-major i32 tensor of two rows of three elements, which a test
/// changes before.
pub(super) struct Producer {
    pub(super) memory: Vec<i32>,
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) tensor: DLTensor,
    pub(super) version: DLPackVersion,
    pub(super) flags: u64,
    /// How often the deleter has been called.
    pub(super) deleted: Arc<AtomicUsize>,
    pub(super) null: Null,
}

/// Which pointers are null.
#[derive(Clone, Copy, PartialEq, Default)]
pub(super) struct Null {
    pub(super) shape: bool,
    pub(super) strides: bool,
    pub(super) data: bool,
    pub(super) deleter: bool,
}

impl Producer {
    pub(super) fn new() -> Self {
        Self {
            memory: (0..6).collect(),
            shape: vec![2, 3],
            strides: vec![3, 1],
            tensor: DLTensor {
                data: null_mut(),
                device: DLDevice { device_type: 1, device_id: 0 },
                ndim: 2,
                dtype: DLDataType { code: 0, bits: 32, lanes: 1 },
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
            version: DLPackVersion { major: 1, minor: 3 },
            flags: 0,
            deleted: Arc::default(),
            null: Null::default(),
        }
    }

    pub(super) fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut producer = Self::new();
        change(&mut producer);
        producer
    }

    pub(super) fn layout(shape: &[i64], strides: &[i64]) -> Self {
        Self::with(|producer| {
            (producer.shape, producer.strides) = (shape.to_vec(), strides.to_vec());
            producer.tensor.ndim = shape.len() as i32;
        })
    }

    /// The tensor, with its pointers.
    fn filled_in(&mut self) -> DLTensor {
        let unless = |null: bool, pointer: *mut i64| if null { null_mut() } else { pointer };
        DLTensor {
            data: if self.null.data {
                null_mut()
            } else {
                self.memory.as_mut_ptr().cast::<c_void>().wrapping_byte_add(self.tensor.data.addr())
            },
            shape: unless(self.null.shape, self.shape.as_mut_ptr()),
            strides: unless(self.null.strides, self.strides.as_mut_ptr()),
            ..self.tensor
        }
    }

    pub(super) fn versioned(mut self) -> *mut DLManagedTensorVersioned {
        let dl_tensor = self.filled_in();
        let (version, flags, null) = (self.version, self.flags, self.null);
        let manager_ctx = Box::into_raw(Box::new(self)).cast();
        let deleter = (!null.deleter).then_some(delete_versioned as _);
        let managed = DLManagedTensorVersioned { version, manager_ctx, deleter, flags, dl_tensor };
        Box::into_raw(Box::new(managed))
    }

    pub(super) fn legacy(mut self) -> *mut DLManagedTensor {
        let (dl_tensor, null) = (self.filled_in(), self.null);
        let manager_ctx = Box::into_raw(Box::new(self)).cast();
        let deleter = (!null.deleter).then_some(delete_legacy as _);
        Box::into_raw(Box::new(DLManagedTensor { dl_tensor, manager_ctx, deleter }))
    }
}

macro_rules! deleters {
    ($($name:ident($managed:ty);)*) => {$(
        pub(super) unsafe extern "C" fn $name(managed: *mut $managed) {
            // SAFETY: the pointer is that of a box, and the deleter is called once.
            let managed = unsafe { Box::from_raw(managed) };
            // SAFETY: as above.
            let producer = unsafe { Box::from_raw(managed.manager_ctx.cast::<Producer>()) };
            producer.deleted.fetch_add(1, Ordering::SeqCst);
        }
    )*};
}

deleters! { delete_versioned(DLManagedTensorVersioned); delete_legacy(DLManagedTensor); }
