//! Tensors of a producer of DLPack that breaks the rules which a consumer can check: null pointers,
//! negative sizes, other types and devices, strides that lead out of the address space. An import
//! is an error or has the elements, and the deleter is called once.

use std::{cell::Cell, ffi::c_void, ptr::null_mut, rc::Rc};

use tensor_kernels::{
    AnyTensor,
    interchange::dlpack::{
        DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    },
};

use super::Input;

/// The bytes of the producer's memory; strides lead at most so far to either side of its middle.
const BYTES: usize = 1 << 14;

/// What is handed over. It owns all that the pointers lead to.
struct Producer {
    memory: Vec<u64>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: Rc<Cell<usize>>,
}

/// A number that is mostly small.
fn number(input: &mut Input<'_>) -> i64 {
    match input.byte() {
        kind @ 0..=239 => i64::from(kind % 6),
        240..=246 => i64::from(input.byte() as i8),
        247 => i64::MIN,
        248 => i64::MAX,
        kind => 1 << (kind - 193),
    }
}

/// The codes and bits of types, with some that there are not.
const TYPES: [(u8, u8); 12] = [
    (0, 8),
    (0, 16),
    (0, 32),
    (0, 64),
    (1, 8),
    (1, 32),
    (2, 32),
    (2, 64),
    (6, 8),
    (5, 64),
    (2, 128),
    (3, 64),
];

/// A struct of either version, boxed, and what it says.
struct Draw {
    tensor: DLTensor,
    producer: Box<Producer>,
    major: u32,
    flags: u64,
    has_deleter: bool,
}

impl Draw {
    fn new(input: &mut Input<'_>, deleted: &Rc<Cell<usize>>) -> Self {
        let ndim = input.below(5);
        let (code, bits) = TYPES[input.below(TYPES.len())];
        let shape = (0..ndim).map(|_| number(input)).collect();
        let strides = (0..ndim).map(|_| number(input).wrapping_sub(2)).collect();
        let memory = (0..BYTES as u64 / 8).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let deleted = Rc::clone(deleted);
        let mut producer = Box::new(Producer { memory, shape, strides, deleted });
        // One field of many is odd, mostly none.
        let odd = input.byte();
        let unless = |is_null: bool, pointer: *mut i64| if is_null { null_mut() } else { pointer };
        let middle = producer.memory.as_mut_ptr().wrapping_byte_add(BYTES / 2).cast::<c_void>();
        let tensor = DLTensor {
            data: if odd == 1 { null_mut() } else { middle },
            device: DLDevice { device_type: if odd == 2 { 2 } else { 1 }, device_id: 0 },
            ndim: if odd == 3 {
                -1
            } else if odd == 4 {
                i32::MAX
            } else {
                ndim as i32
            },
            dtype: DLDataType { code, bits, lanes: if odd == 5 { 2 } else { 1 } },
            shape: unless(odd == 6, producer.shape.as_mut_ptr()),
            strides: unless((7..40).contains(&odd), producer.strides.as_mut_ptr()),
            byte_offset: if odd == 40 { u64::MAX } else { input.below(32) as u64 },
        };
        let major = if odd == 41 { 2 } else { 1 };
        Self { tensor, producer, major, flags: u64::from(odd) & 3, has_deleter: odd != 42 }
    }

    /// The offsets in bytes of the elements from the start of the memory, if all are within it.
    fn offsets(&self) -> Option<Vec<usize>> {
        let item = i128::from(self.tensor.dtype.bits / 8);
        let shape = &self.producer.shape;
        let mut dense: i128 = 1;
        let mut offsets = vec![(BYTES / 2) as i128 + i128::from(self.tensor.byte_offset)];
        for d in (0..shape.len()).rev() {
            let stride = match self.tensor.strides.is_null() {
                true => dense,
                false => i128::from(self.producer.strides[d]),
            };
            dense = dense.checked_mul(shape[d].into())?;
            if shape[d] > BYTES as i64 || dense > BYTES as i128 {
                return None;
            }
            let along = |i: i64| offsets.iter().map(move |at| at + i128::from(i) * stride * item);
            offsets = (0..shape[d]).flat_map(along).collect();
        }
        let within = |&at: &i128| at >= 0 && at + item <= BYTES as i128;
        // Dimensions were nested from the last to the first, so that the last is the fastest.
        offsets.iter().all(within).then(|| offsets.into_iter().map(|at| at as usize).collect())
    }

    /// Whether all fields are as a consumer wants them, beside the places of elements.
    fn is_valid(&self) -> bool {
        let tensor = &self.tensor;
        let is_known = !matches!((tensor.dtype.code, tensor.dtype.bits), (2, 128) | (3, 64));
        let rank = self.producer.shape.len();
        let is_named = rank == 0 || !tensor.shape.is_null();
        tensor.device.device_type == 1
            && is_known
            && tensor.dtype.lanes == 1
            && tensor.ndim == rank as i32
            && is_named
            && self.major == 1
            && self.producer.shape.iter().all(|&size| size >= 0)
    }

    fn is_bool(&self) -> bool {
        self.tensor.dtype.code == 6
    }
}

macro_rules! deleters {
    ($($name:ident($managed:ty);)*) => {$(
        unsafe extern "C" fn $name(managed: *mut $managed) {
            // SAFETY: the pointer is that of a box, and a consumer calls the deleter once.
            let managed = unsafe { Box::from_raw(managed) };
            // SAFETY: as above.
            let producer = unsafe { Box::from_raw(managed.manager_ctx.cast::<Producer>()) };
            producer.deleted.set(producer.deleted.get() + 1);
        }
    )*};
}

deleters! { delete_versioned(DLManagedTensorVersioned); delete_legacy(DLManagedTensor); }

/// Runs the case of an input.
///
/// # Panics
/// If the library is wrong.
pub fn run(input: &[u8]) {
    let input = &mut Input(input);
    let deleted = Rc::new(Cell::new(0));
    let is_versioned = input.below(2) == 1;
    let mut draw = Draw::new(input, &deleted);
    if !is_versioned {
        draw.major = 1;
    }
    let offsets = draw.offsets();
    // A consumer reads the bytes of bools, which are the producer's word.
    if offsets.is_none() && draw.is_bool() {
        return;
    }
    let is_valid = draw.is_valid();
    let (is_null, bits) = (draw.tensor.data.is_null(), draw.tensor.dtype.bits);
    // A complex number is aligned as its parts are.
    let align = u64::from(if draw.tensor.dtype.code == 5 { bits / 16 } else { bits / 8 });
    let is_aligned = draw.tensor.byte_offset.is_multiple_of(align);
    let (shape, is_bool) = (draw.producer.shape.clone(), draw.is_bool());
    let memory: Vec<u8> = draw.producer.memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let has_deleter = draw.has_deleter;
    let imported = import(draw, is_versioned);
    match (&imported, &offsets) {
        (Ok(tensor), offsets) => {
            assert!(is_valid, "accepted: {shape:?} {:?}", tensor.dtype());
            let sizes: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
            assert_eq!(sizes, shape);
            if let Some(offsets) = offsets.as_ref().filter(|_| !is_bool) {
                assert!(offsets.is_empty() || (is_aligned && !is_null), "accepted: {shape:?}");
                check_elements(tensor, offsets, &memory);
            }
        }
        (Err(refused), Some(offsets)) => {
            let has_elements = !offsets.is_empty() && (is_null || !is_aligned || is_bool);
            assert!(!is_valid || has_elements, "{shape:?}: {refused}");
        }
        (Err(refused), None) => assert!(!refused.to_string().is_empty()),
    }
    drop(imported);
    assert_eq!(deleted.get(), usize::from(has_deleter), "calls of the deleter");
}

fn import(draw: Draw, is_versioned: bool) -> tensor_kernels::interchange::Result<AnyTensor> {
    let Draw { tensor: dl_tensor, producer, major, flags, has_deleter } = draw;
    let manager_ctx = Box::into_raw(producer).cast();
    if is_versioned {
        let deleter = has_deleter.then_some(delete_versioned as _);
        let version = DLPackVersion { major, minor: 0 };
        let managed = DLManagedTensorVersioned { version, manager_ctx, deleter, flags, dl_tensor };
        // SAFETY: the struct is a producer's, and its arrays are as long as it says unless it is
        // refused. Elements outside of its memory are not accessed by the caller.
        unsafe { AnyTensor::from_dlpack(Box::into_raw(Box::new(managed))) }
    } else {
        let deleter = has_deleter.then_some(delete_legacy as _);
        let managed = DLManagedTensor { dl_tensor, manager_ctx, deleter };
        // SAFETY: as above.
        unsafe { AnyTensor::from_dlpack(Box::into_raw(Box::new(managed))) }
    }
}

/// The elements of some types, compared bit by bit with the producer's bytes.
fn check_elements(tensor: &AnyTensor, offsets: &[usize], memory: &[u8]) {
    macro_rules! of_types {
        ($($type:ty)*) => {$(
            if let Some(tensor) = tensor.typed::<$type>() {
                let elements = tensor.to_vec().expect("nobody writes");
                let found = elements.iter().map(|element| element.to_ne_bytes());
                let expected = offsets.iter().map(|&at| &memory[at..][..size_of::<$type>()]);
                assert!(found.eq(expected), "{:?}", tensor.layout());
            }
        )*};
    }
    of_types!(u8 i8 i16 i32 u32 i64 f32 f64);
}
