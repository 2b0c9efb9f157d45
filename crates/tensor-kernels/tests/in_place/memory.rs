//! What a permutation in place allocates, and what it leaves behind without memory.

use tensor_kernels::{Error, Exec, permute_bytes_inplace};

use crate::{
    allocator::{Account, Allocated, LARGE_BYTES},
    permuted, runs, samples,
};

/// Shapes and the steps of a plan, which do not grow with the number of elements.
const STEPS_BYTES: usize = 1 << 10;

/// What a thread allocates for its first copies and keeps: plans of tiles, in small allocations,
/// and scratch.
const KEPT_PLANS_BYTES: usize = 16 << 10;
const KEPT_BYTES: usize = KEPT_PLANS_BYTES + (257 << 10);

/// The most scratch for a permutation of `bytes` bytes, as documented; never more than `bytes`.
fn scratch_limit(bytes: usize) -> usize {
    (bytes / 100).max(256 << 10).min(bytes)
}

/// Checks what the calling thread has allocated for a permutation of `bytes` bytes.
pub(crate) fn check(allocated: Allocated, bytes: usize, what: &dyn Fn() -> String) {
    let limit = scratch_limit(bytes);
    assert!(allocated.large <= limit, "{allocated:?}, {}", what());
    assert!(allocated.bytes - allocated.large <= KEPT_PLANS_BYTES, "{allocated:?}, {}", what());
}

/// Item sizes, shapes and permutations, whose steps need scratch.
const WITH_SCRATCH: [(usize, &[usize], &[isize]); 9] = [
    (4, &[701, 709], &[1, 0]),
    (4, &[512, 256], &[1, 0]),
    (4, &[80, 90, 100], &[2, 1, 0]),
    (1, &[3, 200_003], &[1, 0]),
    (4, &[60, 70], &[1, 0]),
    (16, &[5, 70, 6, 71], &[2, 3, 0, 1]),
    (1, &[3, 4, 5, 6, 7, 8, 9, 20], &[7, 6, 5, 4, 3, 2, 1, 0]),
    (4, &[3000, 20, 30], &[0, 2, 1]),
    (70_000, &[2, 3], &[1, 0]),
];

/// The bytes that a permutation allocates on the threads of an account.
fn allocated(account: &Account, exec: &Exec, (item, shape, dims): Permutation<'_>) -> usize {
    let mut bytes = samples(item * shape.iter().product::<usize>());
    let work = || permute_bytes_inplace(exec, &mut bytes, item, shape, dims);
    let (result, allocated) = account.measured(work);
    result.unwrap();
    allocated.bytes
}

type Permutation<'a> = (usize, &'a [usize], &'a [isize]);

/// Every byte is counted, of the first permutation and of a later one.
#[test]
fn no_more_scratch_than_documented() {
    let of_a_few_mb = [(4, &[1201, 1301][..], &[1, 0][..]), (8, &[60, 900, 120], &[1, 2, 0])];
    for case in WITH_SCRATCH.into_iter().chain(of_a_few_mb) {
        let bytes = case.0 * case.1.iter().product::<usize>();
        for threads in [1, 3] {
            runs::accounted(threads, |account, exec| {
                let first = allocated(account, exec, case);
                let most = scratch_limit(bytes) + STEPS_BYTES + threads * KEPT_BYTES;
                assert!(first <= most, "{first} of at most {most} bytes: {case:?}");
                // Threads that had no part of the first one may have one of this.
                let second = allocated(account, exec, case);
                let most = scratch_limit(bytes) + STEPS_BYTES + (threads - 1) * KEPT_BYTES;
                assert!(second <= most, "{second} of at most {most} bytes: {case:?} again");
            });
        }
    }
}

/// 1 % is more than 256 KiB here.
#[test]
fn one_percent_of_many_bytes() {
    let case = (8, &[2003, 2011][..], &[1, 0][..]);
    let bytes = 8 * 2003 * 2011;
    assert!(bytes / 100 > 256 << 10);
    runs::accounted(1, |account, exec| {
        allocated(account, exec, case);
        let second = allocated(account, exec, case);
        assert!(second <= bytes / 100 + STEPS_BYTES, "{second} of {bytes} bytes");
    });
}

#[test]
fn equal_dimensions_need_no_scratch() {
    for case in [
        (4, &[300, 300][..], &[1, 0][..]),
        (1, &[1000, 1000], &[1, 0]),
        (2, &[512, 512], &[1, 0]),
        (16, &[3, 150, 150], &[0, 2, 1]),
        (4, &[900, 15, 15], &[0, 2, 1]),
        (4, &[90, 7, 90], &[2, 1, 0]),
        (4, &[40, 40, 50], &[1, 0, 2]),
        (4, &[40, 41, 40, 41], &[2, 3, 0, 1]),
        (9000, &[12, 12], &[1, 0]),
    ] {
        for threads in [1, 3] {
            runs::accounted(threads, |account, exec| {
                let (item, shape, dims) = case;
                let mut memory = samples(item * shape.iter().product::<usize>());
                let work = || permute_bytes_inplace(exec, &mut memory, item, shape, dims);
                // Plans of small squares, which are kept.
                let (_, first) = account.measured(work);
                assert!(first.large == 0 && first.bytes <= KEPT_PLANS_BYTES, "{first:?}: {case:?}");
                let again = allocated(account, exec, case);
                assert!(again <= STEPS_BYTES, "{again} bytes: {case:?}");
            });
        }
    }
}

#[test]
fn an_account_counts_every_byte() {
    runs::accounted(3, |account, _| {
        let (_, allocated) = account.measured(|| vec![1u8; 5]);
        assert_eq!(allocated, Allocated { bytes: 5, large: 0 });
        let (_, allocated) = account.measured(|| [vec![1u8; 7], vec![0; LARGE_BYTES]]);
        assert_eq!(allocated, Allocated { bytes: 7 + LARGE_BYTES, large: LARGE_BYTES });
    });
}

/// Each large allocation fails in turn. The bytes are as they were if that is an error, and
/// permuted if it makes no difference.
#[test]
fn fault_without_memory_nothing_moves() {
    for (item, shape, dims) in WITH_SCRATCH {
        let before = samples(item * shape.iter().product::<usize>());
        let expected = permuted(&before, item, shape, dims);
        for threads in [1, 3] {
            let refused = runs::accounted(threads, |account, exec| {
                let mut refused = 0;
                for at in 0.. {
                    let mut bytes = before.clone();
                    let work = || permute_bytes_inplace(exec, &mut bytes, item, shape, dims);
                    let (result, has_failed) = account.failing_at(at, work);
                    match result {
                        Ok(_) => assert!(bytes == expected, "{shape:?}, allocation {at}"),
                        Err(Error::OutOfMemory { bytes: asked }) => {
                            assert!(has_failed && asked <= scratch_limit(before.len()));
                            assert!(bytes == before, "{shape:?}, allocation {at}");
                            refused += 1;
                        }
                        Err(other) => panic!("{shape:?}, allocation {at}: {other}"),
                    }
                    if !has_failed {
                        break;
                    }
                }
                refused
            });
            assert_eq!(refused, 1, "{shape:?}: scratch is allocated once");
        }
    }
}
