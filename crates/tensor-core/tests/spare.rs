//! Large buffers are kept for the next result, within limits. One test in a process of its own: what is kept belongs to the process.

use tensor_core::{Tensor, keep_spare_memory, release_spare_memory, spare_memory};

const MIB: usize = 1 << 20;

fn result(mib: usize) -> Tensor<u8> {
    Tensor::full(&[mib * MIB], 7).unwrap()
}

/// Where the memory of a result is that is dropped at once.
fn place(mib: usize) -> *const u8 {
    result(mib).data_ptr()
}

#[test]
fn large_buffers_are_kept_for_the_next_result_that_fits() {
    if !cfg!(target_os = "linux") {
        drop(result(16));
        return assert_eq!(spare_memory(), 0, "nothing is kept unless asked for");
    }
    keep_spare_memory(100 * MIB);
    drop(result(1));
    assert_eq!(spare_memory(), 0, "small ones are the allocator's");

    let first = place(40);
    assert!((40 * MIB..44 * MIB).contains(&spare_memory()));
    let again = result(40);
    assert_eq!((again.data_ptr(), spare_memory()), (first, 0), "the same memory");
    assert_ne!(result(40).data_ptr(), first, "but never twice at a time");
    assert_eq!(again.get(&[40 * MIB - 1]).unwrap(), 7);
    drop(again);
    release_spare_memory();
    assert_eq!(spare_memory(), 0);

    let (small, large) = (result(20), result(60));
    let places = (small.data_ptr(), large.data_ptr());
    drop((large, small));
    assert_ne!(place(30), places.1, "twice as large does not fit");
    assert_eq!(result(18).data_ptr(), places.0, "a little larger does");

    let zeros = Tensor::<u8>::zeros(&[60 * MIB]).unwrap();
    assert!(
        zeros.read().unwrap().as_view().iter().all(|byte| byte == 0),
        "zeros are never what was left in a buffer"
    );
    drop(zeros);

    drop([result(40), result(40), result(40)]);
    assert!((80 * MIB..=100 * MIB).contains(&spare_memory()), "no more than the limit");
    drop(result(200));
    assert!(spare_memory() <= 100 * MIB, "one that is larger is not kept");
    keep_spare_memory(50 * MIB);
    assert!((40 * MIB..=50 * MIB).contains(&spare_memory()), "a smaller limit holds at once");
    keep_spare_memory(0);
    drop(result(40));
    assert_eq!(spare_memory(), 0, "a limit of 0 keeps nothing");
}
