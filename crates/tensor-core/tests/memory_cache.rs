//! Large buffers are kept for the next result, within limits. A single test in a program of its
//! own, because the cache belongs to the process.

use tensor_core::{
    Layout, Tensor, Uninit, cached_memory, empty_memory_cache, set_memory_cache_limit,
};

const MIB: usize = 1 << 20;

fn result(mib: usize) -> Uninit<u8> {
    Uninit::new(Layout::contiguous([mib * MIB]).unwrap()).unwrap()
}

fn start(result: &mut Uninit<u8>) -> *mut u8 {
    result.as_view_mut().base_mut_ptr().cast()
}

#[test]
fn large_buffers_are_kept_for_the_next_result_that_fits() {
    if !cfg!(target_os = "linux") {
        drop(result(16));
        return assert_eq!(cached_memory(), 0, "nothing is kept unless asked for");
    }
    set_memory_cache_limit(100 * MIB);
    drop(result(1));
    assert_eq!(cached_memory(), 0, "small ones are the allocator's");

    let mut first = result(40);
    let kept = start(&mut first);
    drop(first);
    assert!((40 * MIB..44 * MIB).contains(&cached_memory()));
    let mut again = result(40);
    assert_eq!((start(&mut again), cached_memory()), (kept, 0), "the same memory");
    assert_ne!(start(&mut result(40)), kept, "but never twice at a time");
    drop(again);
    empty_memory_cache();
    assert_eq!(cached_memory(), 0);

    let (mut small, mut large) = (result(20), result(60));
    let (small_start, large_start) = (start(&mut small), start(&mut large));
    drop((large, small));
    assert_ne!(start(&mut result(30)), large_start, "one of half its size does not get it");
    assert_eq!(start(&mut result(18)), small_start, "one that is a little smaller does");

    let mut used = result(9);
    let middle = start(&mut used).wrapping_add(4 * MIB);
    // SAFETY: the pointer lies in the result.
    unsafe { middle.write(7) };
    drop(used);
    let zeros = Tensor::<u8>::zeros([9 * MIB]).unwrap();
    assert_eq!(zeros.get(&[4 * MIB]).unwrap(), 0, "zeros are never what was left in a buffer");
    drop(zeros);

    drop([result(40), result(40), result(40)]);
    assert!((80 * MIB..=100 * MIB).contains(&cached_memory()), "no more than the limit");
    drop(result(200));
    assert!(cached_memory() <= 100 * MIB, "one that is larger is not kept");
    set_memory_cache_limit(50 * MIB);
    assert!((40 * MIB..=50 * MIB).contains(&cached_memory()), "a smaller limit holds at once");
    set_memory_cache_limit(0);
    drop(result(40));
    assert_eq!(cached_memory(), 0, "a limit of 0 keeps nothing");
}
