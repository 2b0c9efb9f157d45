//! Permutations of any shape on the caller's pool and on one thread, of bytes and of elements.

use proptest::prelude::*;
use tensor_kernels::{
    Element, Exec, Layout, Machine, TensorViewMut, permute_bytes_inplace, permute_inplace,
};

use crate::{
    allocator::Account,
    common::{Memory, Sample, run_configs},
};

/// Runs on a new thread, or in a new pool of several, with work that is split finely if it may be:
/// a thread keeps scratch and plans. All allocations of all threads are those of the account.
pub(crate) fn accounted<R: Send>(
    threads: usize,
    work: impl FnOnce(&Account, &Exec) -> R + Send,
) -> R {
    let (account, mut exec) = (Account::new(), *Exec::current().unwrap());
    exec.machine = Machine { grain: 1 << 10, ..exec.machine };
    if threads == 1 {
        return on_new_thread(|| {
            account.join();
            work(account, &exec.serial())
        });
    }
    in_pool(threads, |_| account.join(), || work(account, &exec))
}

fn on_new_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs in a new pool, of which each thread has called `start`.
#[cfg(feature = "rayon")]
fn in_pool<R: Send>(
    threads: usize,
    start: impl Fn(rayon::BroadcastContext<'_>) + Sync,
    work: impl FnOnce() -> R + Send,
) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    // Until threads have taken work from each other, rayon allocates what they need for it.
    pool.install(|| rayon::join(|| (), || ()));
    pool.broadcast(start);
    pool.install(work)
}

/// Without the feature a new thread does all the work.
#[cfg(not(feature = "rayon"))]
fn in_pool<R: Send>(
    _threads: usize,
    start: impl Fn(()) + Sync,
    work: impl FnOnce() -> R + Send,
) -> R {
    on_new_thread(|| {
        start(());
        work()
    })
}

/// The oracle: the item at an index of the result is that at the same index of the source, counted
/// along the permuted dimensions.
pub(crate) fn moved<T: Copy>(items: &[T], shape: &[usize], dims: &[usize]) -> Vec<T> {
    let mut moved = Vec::with_capacity(items.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..items.len() {
        let at = index.iter().zip(shape).fold(0, |at, (&i, &size)| at * size + i);
        moved.push(items[at]);
        // The next index: the last dimension of the result is the fastest.
        for &d in dims.iter().rev() {
            index[d] = (index[d] + 1) % shape[d];
            if index[d] != 0 {
                break;
            }
        }
    }
    moved
}

#[test]
fn the_oracle_moves_items() {
    assert_eq!(moved(&[1, 2, 3, 4, 5, 6], &[2, 3], &[1, 0]), [1, 4, 2, 5, 3, 6]);
    let cube = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    assert_eq!(moved(&cube, &[2, 3, 2], &[2, 0, 1]), [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]);
}

/// Items of the size of `T`, as elements and as bytes, in a configuration.
fn check<T: Element + Sample>(shape: &[usize], dims: &[usize], config: usize) {
    let configs = run_configs();
    let config = configs[config % configs.len()];
    let width = size_of::<T>();
    let about = || format!("{width} bytes, {shape:?} {dims:?}, {config}");
    let signed: Vec<isize> = dims.iter().map(|&d| d as isize).collect();
    let from_end: Vec<isize> = signed.iter().map(|&d| d - dims.len() as isize).collect();
    let numel: usize = shape.iter().product();
    let blank = Memory::<T>::samples(numel + 3, skew(dims));
    let layout = Layout::contiguous(shape).unwrap();
    let placed = Layout::new(shape, layout.strides(), 3).unwrap();

    let (mut expected, mut result) = (blank.clone(), blank.clone());
    let elements = moved(&blank.elements()[3..], shape, dims);
    expected.elements_mut()[3..].copy_from_slice(&elements);
    let view = TensorViewMut::new(result.elements_mut(), placed).unwrap();
    config.run(|exec| permute_inplace(exec, view, &from_end).map(drop)).unwrap();
    result.assert_is(&expected, || format!("elements, {}", about()));

    let mut result = blank;
    let bytes = &mut bytemuck::cast_slice_mut(result.elements_mut())[3 * width..];
    config.run(|exec| permute_bytes_inplace(exec, bytes, width, shape, &signed)).unwrap();
    result.assert_is(&expected, || format!("bytes, {}", about()));
}

/// Some alignment of elements within a cache line.
fn skew(dims: &[usize]) -> usize {
    dims.iter().fold(0, |sum, &d| 3 * sum + d) % 16
}

/// The types of these widths.
fn check_width(width: usize, shape: &[usize], dims: &[usize], config: usize) {
    match width {
        1 => check::<u8>(shape, dims, config),
        2 => check::<u16>(shape, dims, config),
        3 => check::<[u8; 3]>(shape, dims, config),
        4 => check::<u32>(shape, dims, config),
        6 => check::<[u8; 6]>(shape, dims, config),
        8 => check::<f64>(shape, dims, config),
        12 => check::<[f32; 3]>(shape, dims, config),
        16 => check::<u128>(shape, dims, config),
        _ => check::<[u64; 3]>(shape, dims, config),
    }
}

const WIDTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// The most bytes of a random shape: more than fit into scratch.
const MAX_BYTES: usize = 1 << 20;

/// Sizes up to 40 with some of 0 and of 1, the longest ones shortened until there are few enough
/// items, and an order of the dimensions.
fn permutations(max_items: usize) -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    let size = prop_oneof![1 => Just(0), 8 => Just(1), 60 => 2..=40usize];
    prop::collection::vec(size, 0..7).prop_flat_map(move |mut shape| {
        while shape.iter().product::<usize>() > max_items {
            let longest = shape.iter_mut().max().expect("many items");
            *longest -= *longest / 3;
        }
        let dims: Vec<usize> = (0..shape.len()).collect();
        (Just(shape), Just(dims).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_shape_on_any_threads(
        (width, (shape, dims)) in prop::sample::select(&WIDTHS[..]).prop_flat_map(|width| {
            (Just(width), permutations(MAX_BYTES / width))
        }),
        config in 0..64usize,
    ) {
        check_width(width, &shape, &dims, config);
    }
}

/// The calling thread alone, or the pool that the call is made in: the global one is not started.
/// In a process of its own, in which nothing else has started it.
#[cfg(feature = "rayon")]
#[test]
fn no_other_pool_than_the_callers_is_used() {
    use crate::common::child::{again, is_child, printed};

    if !is_child() {
        printed(again("runs::no_other_pool_than_the_callers_is_used"));
        return;
    }
    for threads in [1, 3] {
        accounted(threads, |_, exec| {
            for (shape, dims) in [([300, 500], [1, 0]), ([400, 400], [1, 0])] {
                let mut bytes = crate::samples(4 * shape.iter().product::<usize>());
                permute_bytes_inplace(exec, &mut bytes, 4, shape, dims).unwrap();
            }
        });
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("not started before");
}

/// Every width in every configuration: a rectangle, a square, and several dimensions.
#[test]
fn every_width_in_every_configuration() {
    for config in 0..run_configs().len() {
        for width in WIDTHS {
            for (shape, dims) in [
                (&[0, 3][..], &[1, 0][..]),
                (&[1, 1, 5], &[2, 0, 1]),
                (&[41, 37], &[1, 0]),
                (&[40, 40], &[1, 0]),
                (&[5, 7, 3, 11], &[3, 1, 2, 0]),
            ] {
                check_width(width, shape, dims, config);
            }
        }
        // More than fits into scratch.
        check_width(4, &[331, 337], &[1, 0], config);
        check_width(1, &[67, 71, 73], &[2, 1, 0], config);
    }
}
