//! DLPack: tensors of this library and of producers, also of producers that break the rules. Each
//! deleter counts its calls.

mod producer;

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::{Arc, atomic::Ordering},
};

use proptest::prelude::*;
use tensor_core::{
    AnyTensor, AnyValue, DType, Error, Layout, Tensor,
    interchange::{
        InterchangeError,
        dlpack::{
            DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
            DLTensor, FLAG_IS_COPIED, FLAG_READ_ONLY, Managed,
        },
    },
};

use crate::common::{all_dtypes, numbers, same, sample, views};
use producer::{Null, Producer, delete_versioned};

fn take<M: Managed>(managed: *mut M) -> Result<AnyTensor, InterchangeError> {
    // SAFETY: the pointer is that of a `Producer` or of an export. What a test breaks is what the
    // function has to find out.
    unsafe { AnyTensor::from_dlpack(managed) }
}

/// Both structs, with the deleter called once, at the end.
fn taken(producer: impl Fn() -> Producer, check: impl Fn(&AnyTensor)) {
    let (versioned, legacy) = (producer(), producer());
    let deleted = [Arc::clone(&versioned.deleted), Arc::clone(&legacy.deleted)];
    let tensors = [take(versioned.versioned()).unwrap(), take(legacy.legacy()).unwrap()];
    for (tensor, deleted) in tensors.into_iter().zip(deleted) {
        check(&tensor);
        let is_empty = tensor.numel() == 0;
        assert_eq!(deleted.load(Ordering::SeqCst), usize::from(is_empty));
        let view = tensor.clone();
        drop(tensor);
        assert_eq!(deleted.load(Ordering::SeqCst), usize::from(is_empty));
        drop(view);
        assert_eq!(deleted.load(Ordering::SeqCst), 1);
    }
}

/// Both structs are refused with a reason, and the deleter is called once.
fn refused(producer: impl Fn() -> Producer, reason: &str) {
    let (versioned, legacy) = (producer(), producer());
    let deleted = [Arc::clone(&versioned.deleted), Arc::clone(&legacy.deleted)];
    let errors = [take(versioned.versioned()).unwrap_err(), take(legacy.legacy()).unwrap_err()];
    for (error, deleted) in errors.into_iter().zip(deleted) {
        assert!(error.to_string().contains(reason), "{reason}: {error}");
        assert_eq!(deleted.load(Ordering::SeqCst), 1, "{reason}");
    }
}

fn elements(tensor: &AnyTensor) -> Vec<i32> {
    tensor.typed::<i32>().expect("a tensor of i32").to_vec().unwrap()
}

#[test]
fn a_producers_elements_are_taken_over_without_a_copy() {
    taken(Producer::new, |tensor| {
        assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], &[3, 1][..]));
        assert_eq!(elements(tensor), [0, 1, 2, 3, 4, 5]);
        tensor.set(&[1, 2], 50).unwrap();
        assert_eq!(tensor.get(&[1, 2]).unwrap(), AnyValue::Int(50));
    });
    let producer = Producer::new();
    let memory = producer.memory.as_ptr();
    let tensor = take(producer.versioned()).unwrap();
    assert_eq!(tensor.typed::<i32>().unwrap().data_ptr(), memory);
}

#[test]
fn null_strides_are_row_major() {
    let null = Null { strides: true, ..Null::default() };
    taken(
        || Producer::with(|producer| producer.null = null),
        |tensor| assert_eq!((tensor.strides(), elements(tensor)), (&[3, 1][..], (0..6).collect())),
    );
}

#[test]
fn negative_strides_and_byte_offsets_reach_below_and_above_the_pointer() {
    let reversed = || {
        let mut producer = Producer::layout(&[2, 3], &[-3, -1]);
        producer.tensor.byte_offset = 20;
        producer
    };
    taken(reversed, |tensor| {
        assert_eq!((tensor.strides(), elements(tensor)), (&[-3, -1][..], vec![5, 4, 3, 2, 1, 0]));
        assert_eq!(tensor.storage().bytes(), 24);
    });
    let part = || {
        let mut producer = Producer::layout(&[2], &[2]);
        producer.tensor.byte_offset = 4;
        producer
    };
    taken(part, |tensor| assert_eq!(elements(tensor), [1, 3]));
}

#[test]
fn strides_of_0_and_of_single_elements_are_allowed() {
    taken(
        || Producer::layout(&[4, 2], &[0, 5]),
        |tensor| {
            assert_eq!(elements(tensor), [0, 5].repeat(4));
            let typed = tensor.typed::<i32>().unwrap();
            assert!(typed.write().unwrap().as_view_mut().is_err());
        },
    );
    for junk in [i64::MIN, i64::MAX, -7, 0] {
        taken(
            || Producer::layout(&[1, 3], &[junk, 1]),
            |tensor| {
                assert_eq!(elements(tensor), [0, 1, 2]);
                assert!(tensor.is_contiguous());
            },
        );
    }
}

#[test]
fn no_dimensions_are_one_element_and_pointers_to_none_may_be_null() {
    let null = Null { shape: true, strides: true, ..Null::default() };
    let scalar = || {
        let mut producer = Producer::layout(&[], &[]);
        producer.null = null;
        producer
    };
    taken(scalar, |tensor| assert_eq!(tensor.item().unwrap(), AnyValue::Int(0)));
}

#[test]
fn without_elements_the_memory_may_be_null_and_strides_are_not_used() {
    let empty = || {
        let mut producer = Producer::layout(&[0, 3, 1 << 40], &[i64::MIN, i64::MAX, -1]);
        producer.null.data = true;
        producer.tensor.byte_offset = u64::MAX;
        producer
    };
    taken(empty, |tensor| assert_eq!((tensor.shape(), tensor.numel()), (&[0, 3, 1 << 40][..], 0)));
}

#[test]
fn a_read_only_tensor_cannot_be_written() {
    let producer = Producer::with(|producer| producer.flags = FLAG_READ_ONLY);
    let tensor = take(producer.versioned()).unwrap();
    assert!(tensor.storage().is_read_only());
    assert!(matches!(tensor.set(&[0, 0], 1), Err(Error::ReadOnly)));
    let copied = Producer::with(|producer| producer.flags = FLAG_IS_COPIED | 1 << 40);
    assert!(!take(copied.versioned()).unwrap().storage().is_read_only());
}

#[test]
fn a_null_deleter_is_not_called() {
    let producer = Producer::with(|producer| producer.null.deleter = true);
    let deleted = Arc::clone(&producer.deleted);
    let pointer = producer.versioned();
    assert_eq!(elements(&take(pointer).unwrap()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(deleted.load(Ordering::SeqCst), 0);
    // SAFETY: nobody has freed the struct, as its deleter is null.
    unsafe { delete_versioned(pointer) };
}

#[test]
fn a_null_pointer_is_refused() {
    assert!(take(null_mut::<DLManagedTensorVersioned>()).is_err());
    assert!(take(null_mut::<DLManagedTensor>()).is_err());
}

#[test]
fn other_major_versions_are_refused_and_other_minor_ones_are_not() {
    for (major, minor, is_known) in [(0, 8, false), (1, 0, true), (1, 99, true), (2, 0, false)] {
        let version = DLPackVersion { major, minor };
        let producer = Producer::with(|producer| {
            producer.version = version;
            // What another version means is not known.
            if !is_known {
                producer.tensor.ndim = i32::MAX;
                producer.null.shape = true;
            }
        });
        let deleted = Arc::clone(&producer.deleted);
        let tensor = take(producer.versioned());
        assert_eq!(tensor.is_ok(), is_known, "{major}.{minor}");
        drop(tensor);
        assert_eq!(deleted.load(Ordering::SeqCst), 1);
    }
}

/// A producer of a tensor with one change.
fn tensor(change: impl Fn(&mut DLTensor)) -> impl Fn() -> Producer {
    move || Producer::with(|producer| change(&mut producer.tensor))
}

#[test]
fn other_devices_are_refused() {
    for device_type in [0, 2, 3, 4, 10, 13, -1, i32::MAX] {
        let device = DLDevice { device_type, device_id: 7 };
        let reason = format!("device 7 of type {device_type}");
        refused(tensor(|tensor| tensor.device = device), &reason);
    }
}

#[test]
fn other_element_types_are_refused() {
    let types = [
        (0, 4, 1),
        (0, 128, 1),
        (0, 32, 2),
        (0, 32, 0),
        (1, 1, 1),
        (2, 8, 1),
        (2, 128, 1),
        (3, 64, 1),
        (4, 32, 1),
        (5, 32, 1),
        (6, 1, 1),
        (6, 32, 1),
        (7, 8, 1),
        (10, 8, 1),
        (255, 32, 1),
        (2, 32, 4),
        (0, 0, 1),
        (2, 32, u16::MAX),
    ];
    for (code, bits, lanes) in types {
        let dtype = DLDataType { code, bits, lanes };
        let reason =
            format!("dtype of code {code}, {bits} bits and {lanes} lanes is not supported");
        refused(tensor(|tensor| tensor.dtype = dtype), &reason);
    }
}

#[test]
fn numbers_of_dimensions_and_sizes_are_checked() {
    for ndim in [-1, i32::MIN, 65, i32::MAX] {
        refused(tensor(|tensor| tensor.ndim = ndim), &format!("{ndim} dimensions"));
    }
    let null = Null { shape: true, ..Null::default() };
    refused(|| Producer::with(|producer| producer.null = null), "pointer to the sizes is null");
    refused(|| Producer::layout(&[2, -1], &[1, 1]), "a negative size");
    refused(|| Producer::layout(&[0, i64::MIN], &[1, 1]), "a negative size");
    refused(|| Producer::layout(&[1 << 32, 1 << 32], &[1, 1]), "overflow");
    refused(|| Producer::layout(&[0, 1 << 32, 1 << 32], &[1, 1, 1]), "overflow");
}

#[test]
fn strides_and_offsets_stay_in_the_address_space() {
    refused(|| Producer::layout(&[2, 3], &[i64::MIN, 1]), "a stride of -9223372036854775808");
    refused(|| Producer::layout(&[2, 3], &[i64::MAX, 1]), "overflow");
    refused(|| Producer::layout(&[2, 3], &[i64::MAX / 4, 1]), "outside the address space");
    refused(|| Producer::layout(&[2, 3], &[-(i64::MAX / 4), 1]), "outside the address space");
    refused(|| Producer::layout(&[3, 3], &[-i64::MAX, 1]), "overflow");
    refused(|| Producer::layout(&[1 << 61], &[1]), "outside the address space");
    refused(tensor(|tensor| tensor.byte_offset = u64::MAX), "outside the address space");
    refused(tensor(|tensor| tensor.byte_offset = u64::MAX - 100), "outside the address space");
}

#[test]
fn the_address_is_checked() {
    let null = Null { data: true, ..Null::default() };
    refused(|| Producer::with(|producer| producer.null = null), "6 elements at a null pointer");
    for offset in [1, 2, 3] {
        refused(
            || {
                Producer::with(|producer| {
                    producer.shape = vec![1, 1];
                    producer.tensor.byte_offset = offset;
                })
            },
            "aligned",
        );
        refused(
            || {
                Producer::with(|producer| {
                    producer.shape = vec![1, 1];
                    producer.tensor.data = null_mut::<c_void>().wrapping_byte_add(offset as usize);
                })
            },
            "aligned",
        );
    }
}

#[test]
fn bools_are_zero_or_one() {
    let bools = |memory: i32| {
        move || {
            Producer::with(|producer| {
                producer.memory = vec![memory; 6];
                producer.tensor.dtype = DLDataType { code: 6, bits: 8, lanes: 1 };
            })
        }
    };
    taken(bools(0x0101_0101), |tensor| assert_eq!(tensor.dtype(), DType::Bool));
    refused(bools(0x0101_0201u32 as i32), "is 2, which is no bool");
}

#[test]
fn every_dtype_survives_a_round_trip_in_the_same_memory() {
    for dtype in all_dtypes() {
        let tensor = sample(dtype).t().unwrap();
        let exported = tensor.to_dlpack();
        assert_eq!(tensor.storage().ref_count(), 2);
        let again = take(exported.into_raw()).unwrap();
        assert_eq!((again.dtype(), again.layout()), (dtype, tensor.layout()));
        assert!(same(&again, &tensor), "{dtype}");
        again.set(&[0, 0], 1).unwrap();
        assert_eq!(again.get(&[0, 0]).unwrap(), tensor.get(&[0, 0]).unwrap());
        drop(again);
        assert_eq!(tensor.storage().ref_count(), 1);
        let again = take(tensor.to_dlpack().unversioned().unwrap().into_raw()).unwrap();
        assert_eq!((again.dtype(), again.layout()), (dtype, tensor.layout()));
        assert!(same(&again, &tensor), "{dtype}, before version 1");
        drop(again);
        assert_eq!(tensor.storage().ref_count(), 1);
    }
}

proptest! {
    #[test]
    fn any_layout_survives_a_round_trip((shape, layout) in views()) {
        let memory: AnyTensor = Tensor::from_vec(numbers(&shape), &shape[..]).unwrap().into();
        let view = memory.with_layout(layout).unwrap();
        let exported = view.to_dlpack();
        {
            // SAFETY: the pointer is valid while `exported` lives.
            let managed = unsafe { exported.as_ptr().as_ref() };
            let tensor = managed.dl_tensor;
            prop_assert!(!tensor.strides.is_null() && !tensor.shape.is_null());
            prop_assert_eq!(tensor.data.is_null(), view.numel() == 0);
        }
        let again = take(exported.into_raw()).unwrap();
        prop_assert_eq!((again.shape(), again.strides()), (view.shape(), view.strides()));
        prop_assert_eq!(elements(&again), elements(&view));
        drop((again, view));
        prop_assert_eq!(memory.storage().ref_count(), 1);
    }

    /// Random numbers in place of sizes, strides and offsets never reach an element. Whatever is
    /// accepted has none.
    #[test]
    fn numbers_without_meaning_are_refused(
        shape in proptest::collection::vec(any::<i64>(), 0..4),
        stride in any::<i64>(),
        offset in any::<u64>(),
    ) {
        let mut producer = Producer::layout(&shape, &vec![stride; shape.len()]);
        producer.tensor.byte_offset = offset;
        producer.null.data = true;
        let deleted = Arc::clone(&producer.deleted);
        prop_assert!(take(producer.versioned()).is_ok_and(|tensor| tensor.numel() == 0)
            || deleted.load(Ordering::SeqCst) == 1);
        prop_assert_eq!(deleted.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn what_no_consumer_takes_is_freed() {
    let tensor = Tensor::from_vec(vec![1, 2, 3], [3]).unwrap();
    drop(tensor.to_dlpack());
    let exported = tensor.to_dlpack().read_only().copied();
    // SAFETY: the pointer is valid while `exported` lives.
    let flags = unsafe { exported.as_ptr().as_ref() }.flags;
    assert_eq!(flags, FLAG_READ_ONLY | FLAG_IS_COPIED);
    drop(exported);
    assert_eq!(tensor.storage().ref_count(), 1);
    let exported = tensor.to_dlpack();
    drop(tensor);
    assert_eq!(elements(&take(exported.into_raw()).unwrap()), [1, 2, 3]);
}

#[test]
fn the_struct_before_version_1_is_for_elements_that_may_be_written() {
    let tensor = Tensor::from_vec(vec![1, 2, 3], [3]).unwrap();
    let exported = tensor.to_dlpack().copied().unversioned().unwrap();
    // SAFETY: the pointer is valid while `exported` lives.
    let managed = unsafe { exported.as_ptr().as_ref() };
    assert_eq!(managed.dl_tensor.data.cast(), tensor.data_ptr().cast_mut());
    drop(exported);
    assert_eq!(tensor.storage().ref_count(), 1);
    let refused = tensor.to_dlpack().read_only().unversioned().unwrap_err();
    assert!(matches!(refused, InterchangeError::ReadOnlyUnversioned), "{refused}");
    assert!(refused.to_string().starts_with("DLPack: the elements are read-only"), "{refused}");
    assert_eq!(tensor.storage().ref_count(), 1);
}

#[test]
fn read_only_storages_stay_read_only() {
    let weights: Arc<[f32]> = Arc::from([1.0, 2.0]);
    let layout = Layout::contiguous([2]).unwrap();
    let tensor = Tensor::from_owner(Arc::clone(&weights), layout).unwrap();
    let again = take(tensor.to_dlpack().into_raw()).unwrap();
    assert!(again.storage().is_read_only());
    let refused = tensor.to_dlpack().unversioned().unwrap_err();
    assert!(matches!(refused, InterchangeError::ReadOnlyUnversioned), "{refused}");
    drop(tensor);
    assert_eq!(Arc::strong_count(&weights), 2);
    drop(again);
    assert_eq!(Arc::strong_count(&weights), 1);
}

#[test]
fn the_last_handle_may_be_dropped_on_another_thread() {
    let producer = Producer::new();
    let deleted = Arc::clone(&producer.deleted);
    let tensor = take(producer.versioned()).unwrap();
    std::thread::spawn(move || drop(tensor)).join().unwrap();
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
}
