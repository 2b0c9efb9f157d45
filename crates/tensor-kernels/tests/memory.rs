//! The number of allocations, failing allocations, and leaks: checked with an allocator that counts
//! and fails on demand.

#![cfg(feature = "reductions")]

#[path = "common/run_configs.rs"]
#[allow(dead_code, reason = "only pools are needed here")]
mod run_configs;

use std::{
    alloc::{GlobalAlloc, Layout as AllocLayout, System},
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::null_mut,
    sync::atomic::{AtomicIsize, Ordering},
};

use tensor_kernels::{
    AnyTensor, AnyTensorExt, CopyPlan, DType, Error, Exec, Layout, Machine, MemoryFormat, Result,
    Slice, Tensor, TensorExt, TensorMutExt, TensorView, TensorViewMut, Tolerance, copy_into, fill,
    map, map_inplace, map_into, ops, set_memory_cache_limit, to_contiguous,
};

struct Counting;

thread_local! {
    /// Allocations of this thread.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// The bytes of the largest of them.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    /// The number of large allocations of this thread that succeed before one fails. If negative
    /// none fails.
    static BEFORE_FAILURE: Cell<isize> = const { Cell::new(-1) };
}

/// The size from which an allocation is considered a buffer of elements, rather than a handle, a
/// string or the state of a thread.
const LARGE_BYTES: usize = 1024;

/// The number of live allocations, of all threads, of the sizes that only the leak tests use.
static WATCHED: AtomicIsize = AtomicIsize::new(0);

fn is_watched(layout: AllocLayout) -> bool {
    (WATCHED_BYTES..WATCHED_BYTES + LARGE_BYTES).contains(&layout.size())
}

const WATCHED_BYTES: usize = 777_000;

/// Counts an allocation; returns whether it may succeed.
fn may_allocate(layout: AllocLayout) -> bool {
    CALLS.set(CALLS.get() + 1);
    LARGEST.set(LARGEST.get().max(layout.size()));
    let left = BEFORE_FAILURE.get();
    if layout.size() >= LARGE_BYTES && left >= 0 {
        BEFORE_FAILURE.set(left - 1);
        if left == 0 {
            return false;
        }
    }
    WATCHED.fetch_add(is_watched(layout).into(), Ordering::Relaxed);
    true
}

// SAFETY: every method forwards to the system's allocator or, as allowed, returns null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: AllocLayout) -> *mut u8 {
        if !may_allocate(layout) {
            return null_mut();
        }
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: AllocLayout) -> *mut u8 {
        if !may_allocate(layout) {
            return null_mut();
        }
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: AllocLayout) {
        WATCHED.fetch_sub(is_watched(layout).into(), Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's method.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations of `work` on this thread, in its second run: the first run detects the
/// machine.
fn allocations<R>(work: impl Fn() -> R) -> usize {
    work();
    let before = CALLS.get();
    let result = work();
    let calls = CALLS.get() - before;
    drop(result);
    calls
}

fn cube() -> Tensor<f32> {
    Tensor::arange(0.0, 512.0, 1.0).unwrap().view([8, 8, 8]).unwrap()
}

#[test]
fn a_contiguous_tensor_is_not_copied() {
    let x = cube();
    let image = Tensor::<u8>::zeros([2, 3, 4, 5]).unwrap();
    let pixels = image.to_contiguous(MemoryFormat::ChannelsLast).unwrap();
    let same = [
        allocations(|| x.contiguous().unwrap()),
        allocations(|| x.contiguous_canonical().unwrap()),
        allocations(|| x.narrow(0, 2, 3).unwrap().contiguous().unwrap()),
        allocations(|| x.reshape([2, -1]).unwrap()),
        allocations(|| x.flattened(0, -1).unwrap()),
        allocations(|| pixels.to_contiguous(MemoryFormat::ChannelsLast).unwrap()),
        allocations(|| x.copy_from(&x).unwrap()),
    ];
    assert_eq!(same, [0; 7]);
}

#[test]
fn a_reduction_allocates_nothing_but_its_result() {
    let exec = Exec::current().unwrap().serial();
    let numbers: Vec<f32> = (0..60_000u16).map(f32::from).collect();
    let large = Layout::contiguous([200, 300]).unwrap();
    for layout in small_layouts().into_iter().chain([large.clone(), large.t().unwrap()]) {
        let a = TensorView::new(&numbers, layout.clone()).unwrap();
        assert_eq!(allocations(|| ops::sum_all(&exec, &a).unwrap()), 0, "{layout:?}");
        if layout.ndim() == 0 {
            continue;
        }
        let reduced = layout.reduced("sum", 0).unwrap().shape();
        let dense = Layout::contiguous(&reduced).unwrap();
        let (mut sums, mut indices) = (vec![0.0; dense.numel()], vec![0; dense.numel()]);
        let into = std::cell::RefCell::new((
            TensorViewMut::new(&mut sums, dense.clone()).unwrap(),
            TensorViewMut::new(&mut indices, dense.clone()).unwrap(),
        ));
        let counts = [
            allocations(|| ops::sum_into(&exec, &a, 0, &mut into.borrow_mut().0).unwrap()),
            allocations(|| ops::argmax_into(&exec, &a, 0, &mut into.borrow_mut().1).unwrap()),
        ];
        assert_eq!(counts, [0; 2], "{layout:?}");
    }
}

/// A layout for each path, of a few hundred elements.
fn small_layouts() -> Vec<Layout> {
    let square = Layout::contiguous([16, 16]).unwrap();
    let wide = Layout::contiguous([16, 32]).unwrap();
    let second = Slice::ALL.step_by(2);
    let deep = Layout::contiguous([2, 3, 2, 3, 2, 3]).unwrap();
    vec![
        square.clone(),
        square.t().unwrap(),
        square.flip([0, 1]).unwrap(),
        square.flip([1]).unwrap().t().unwrap(),
        wide.slice(1, second).unwrap(),
        wide.slice(1, second).unwrap().t().unwrap(),
        wide.narrow(1, 3, 16).unwrap(),
        Layout::new([16, 16], [0, 1], 0).unwrap(),
        Layout::new([16, 16], [1, 0], 0).unwrap(),
        deep.permute([5, 4, 3, 2, 1, 0]).unwrap(),
        deep.permute([0, 2, 4, 1, 3, 5]).unwrap(),
        Layout::contiguous(()).unwrap(),
    ]
}

#[test]
fn a_small_copy_or_operation_allocates_nothing() {
    let exec = Exec::current().unwrap();
    let numbers: Vec<f32> = (0..512u16).map(f32::from).collect();
    for layout in small_layouts() {
        let a = TensorView::new(&numbers, layout.clone()).unwrap();
        let dense = Layout::contiguous(layout.shape()).unwrap();
        let into = |operation: &dyn Fn(&mut TensorViewMut<'_, f32>) -> Result<()>| {
            let mut output = [0.0f32; 512];
            let mut out = TensorViewMut::new(&mut output, dense.clone()).unwrap();
            let cell = std::cell::RefCell::new(&mut out);
            allocations(|| operation(&mut cell.borrow_mut()).unwrap())
        };
        let counts = [
            into(&|out| copy_into(exec, &a, out)),
            into(&|out| fill(exec, out, 1.0)),
            into(&|out| map_into(exec, &a, out, |x| x + 1.0)),
            into(&|out| ops::add_into(exec, &a, &a, out)),
            into(&|out| map_inplace(exec, out, |x| x + 1.0)),
        ];
        assert_eq!(counts, [0; 5], "{layout:?}");
        // A kept plan may have a list of offsets, or of picks, which grows while it is made.
        let new = || CopyPlan::new(&layout, &dense, 4, &Machine::REFERENCE).unwrap();
        assert!(allocations(new) <= 10, "plan of {layout:?}");
        let plan = new();
        assert_eq!(into(&|out| plan.run(exec, &a, out)), 0, "run of the plan of {layout:?}");
    }
}

#[test]
fn a_small_copy_of_any_width_allocates_nothing() {
    fn copied<T: tensor_kernels::Element>(value: T) -> usize {
        let layout = Layout::contiguous([16, 16]).unwrap();
        let (from, output) = ([value; 256], Cell::new([value; 256]));
        let transposed = TensorView::new(&from, layout.t().unwrap()).unwrap();
        allocations(|| {
            let mut output_now = output.get();
            let mut to = TensorViewMut::new(&mut output_now, layout.clone()).unwrap();
            copy_into(Exec::current().unwrap(), &transposed, &mut to).unwrap();
        })
    }
    let counts = [
        copied(1u8),
        copied(1u16),
        copied([1u8; 3]),
        copied(1u64),
        copied([1u32; 3]),
        copied(1u128),
    ];
    assert_eq!(counts, [0; 6]);
}

#[test]
fn a_new_result_allocates_its_elements_and_one_handle() {
    let x = cube();
    let transposed = x.transpose(0, 2).unwrap();
    let counts = [
        allocations(|| transposed.contiguous().unwrap()),
        allocations(|| transposed.deep_clone().unwrap()),
        allocations(|| transposed.map(|x| x + 1.0).unwrap()),
        allocations(|| transposed.add(&x).unwrap()),
        allocations(|| transposed.mul_add(&x, &transposed).unwrap()),
        allocations(|| transposed.cast::<f64>().unwrap()),
        allocations(|| transposed.repeat([2, 1, 3]).unwrap()),
    ];
    assert_eq!(counts, [2; 7]);
}

#[test]
fn a_comparison_within_tolerances_holds_a_part_of_its_operands_at_a_time() {
    // Kept buffers would be no allocations, neither here nor in the tests of missing memory.
    set_memory_cache_limit(0);
    let bytes = Tensor::<u8>::zeros([3000, 1000]).unwrap();
    let close = |a: &AnyTensor, b: &AnyTensor| {
        LARGEST.set(0);
        assert!(a.allclose(b, Tolerance::default()).unwrap());
        LARGEST.get()
    };
    run_configs::on_threads(1, || {
        for dtype in [DType::U8, DType::I64, DType::F16, DType::F32, DType::F64] {
            let bytes = AnyTensor::from(bytes.clone());
            for other in [[3000, 1000], [1000, 3000]] {
                let other = AnyTensor::zeros(other, dtype).unwrap();
                let other = if other.shape()[0] == 1000 { other.t().unwrap() } else { other };
                let largest = [close(&bytes, &other), close(&other, &bytes)];
                assert!(largest.iter().all(|&bytes| bytes <= 256 << 10), "{dtype}: {largest:?}");
            }
        }
    });
}

/// Runs an operation repeatedly, with each large allocation failing in turn; returns their number.
fn fails_cleanly<R>(what: &str, operation: impl Fn() -> Result<R>) -> usize {
    for before in 0.. {
        BEFORE_FAILURE.set(before);
        let result = operation();
        let has_failed = BEFORE_FAILURE.get() < 0;
        BEFORE_FAILURE.set(-1);
        match result {
            Ok(_) if !has_failed => return before as usize,
            Err(Error::OutOfMemory { bytes }) if has_failed => {
                assert!(bytes >= LARGE_BYTES, "{what}");
            }
            Ok(_) => panic!("{what} hides that memory is missing"),
            Err(other) => panic!("{what}: {other}"),
        }
    }
    unreachable!("an operation allocates finitely often")
}

#[test]
fn fault_missing_memory_is_an_error_and_changes_nothing() {
    let x = cube();
    let transposed = x.transpose(0, 2).unwrap();
    let numbers = [1.0f32; 512];
    let needed = [
        fails_cleanly("zeros", || Tensor::<f32>::zeros([512])),
        fails_cleanly("full", || Tensor::full([512], 1.0f32)),
        fails_cleanly("arange", || Tensor::arange(0i32, 512, 1)),
        fails_cleanly("from_slice", || Tensor::<f32>::from_slice(&numbers, [512])),
        fails_cleanly("from_fn", || Tensor::<usize>::from_fn(&[512], |index| index[0])),
        fails_cleanly("contiguous", || transposed.contiguous()),
        fails_cleanly("deep_clone", || transposed.deep_clone()),
        fails_cleanly("reshape", || transposed.reshape([-1])),
        fails_cleanly("reshape_copy", || x.reshape_copy([-1])),
        fails_cleanly("flattened", || transposed.flattened(0, 1)),
        fails_cleanly("repeat", || x.repeat([2, 1, 1])),
        fails_cleanly("cast", || x.cast::<f64>()),
        fails_cleanly("map", || transposed.map(|x| x + 1.0)),
        fails_cleanly("add", || transposed.add(&x)),
        fails_cleanly("mul_add", || transposed.mul_add(&x, &transposed)),
        fails_cleanly("sqrt", || x.sqrt()),
    ];
    assert_eq!(needed, [1; 16], "each needs memory for its elements");
    assert_eq!(x, cube());
    let in_place = fails_cleanly("in place", || x.zip_inplace(&transposed.contiguous()?, |x, _| x));
    assert_eq!(in_place, 1, "for the copy");
    assert_eq!(x, cube());
}

/// A transpose that is large for its machine uses scratch. Without memory for it the result is the
/// same.
#[test]
fn fault_missing_scratch_memory_is_no_error() {
    let mut exec = Exec::current().unwrap().serial();
    exec.machine = Machine { stream: 0, ..Machine::REFERENCE };
    let transposed =
        Tensor::arange(0u32, 90_000, 1).unwrap().view([300, 300]).unwrap().t().unwrap();
    let copy = |allowed: isize| -> Tensor<u32> {
        BEFORE_FAILURE.set(allowed);
        let copy = to_contiguous(&exec, transposed.read().unwrap().as_view());
        BEFORE_FAILURE.set(-1);
        copy.unwrap()
    };
    assert_eq!(copy(1), transposed, "without");
    assert_eq!(copy(-1), transposed, "with");
}

/// The bits of the sums over the first dimension, computed by new threads, each of which can
/// allocate scratch for `buffers` buffers.
#[cfg(feature = "rayon")]
fn sums_with_memory_for(buffers: isize, threads: usize, layout: &Layout) -> Vec<u32> {
    let numbers: Vec<f32> = (0..400_000u32).map(|n| (n % 1009) as f32 / 7.0).collect();
    let view = TensorView::new(&numbers, layout.clone()).unwrap();
    let dense = Layout::contiguous(&layout.shape()[1..]).unwrap();
    let mut sums = vec![0.0; dense.numel()];
    let mut out = TensorViewMut::new(&mut sums, dense).unwrap();
    let mut exec = *Exec::current().unwrap();
    exec.machine = Machine { grain: 1 << 10, ..Machine::REFERENCE };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        rayon::broadcast(|_| BEFORE_FAILURE.set(buffers));
        ops::sum_into(&exec, &view, 0, &mut out).unwrap();
        rayon::broadcast(|_| BEFORE_FAILURE.set(-1));
    });
    sums.into_iter().map(f32::to_bits).collect()
}

#[cfg(feature = "rayon")]
#[test]
fn fault_missing_scratch_for_a_reduction_is_no_error_and_changes_no_bit() {
    let wide = Layout::contiguous([1000, 400]).unwrap();
    let layouts = [
        wide.slice(1, Slice::ALL.step_by(2)).unwrap(),
        Layout::contiguous([4000, 100]).unwrap(),
        Layout::contiguous([100, 10, 400]).unwrap().narrow(2, 0, 390).unwrap(),
        Layout::contiguous([133_000, 3]).unwrap(),
        wide,
    ];
    for layout in layouts {
        let expected = sums_with_memory_for(-1, 1, &layout);
        for (buffers, threads) in [(0, 1), (-1, 3), (0, 3), (1, 3), (2, 3)] {
            let sums = sums_with_memory_for(buffers, threads, &layout);
            assert!(
                sums == expected,
                "{layout:?}: scratch for {buffers} buffers on {threads} threads"
            );
        }
    }
}

const LEN: usize = WATCHED_BYTES / 4;

/// Runs `work` and checks that no watched allocation is left. One at a time, as the count is for
/// the whole process.
fn leaks_nothing(work: impl FnOnce()) {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert_eq!(WATCHED.load(Ordering::Relaxed), 0);
    work();
    assert_eq!(WATCHED.load(Ordering::Relaxed), 0, "a buffer is left allocated");
}

#[test]
fn the_leak_check_sees_buffers() {
    leaks_nothing(|| {
        let x = Tensor::<u32>::zeros([LEN]).unwrap();
        let y = x.map(|x| x + 1).unwrap();
        assert_eq!(WATCHED.load(Ordering::Relaxed), 2);
        drop((x, y));
    });
}

#[test]
fn fault_a_closure_that_panics_leaks_nothing() {
    let panic_at = |at: u32| move |x: u32| if x == at { resume_unwind(Box::new(at)) } else { x };
    let exec = *Exec::current().unwrap();
    leaks_nothing(|| {
        let x = Tensor::arange(0, LEN as u32, 1).unwrap();
        let backwards = x.flip([0]).unwrap();
        for at in [0, LEN as u32 / 2, LEN as u32 - 1] {
            let new =
                || map::<_, u32, ()>(&exec, &backwards.read().unwrap().as_view(), panic_at(at));
            for threads in [1, 2, 7] {
                let caught =
                    catch_unwind(AssertUnwindSafe(|| run_configs::on_threads(threads, new)));
                assert_eq!(
                    caught.err().and_then(|payload| payload.downcast().ok()),
                    Some(Box::new(at))
                );
            }
            let caught = catch_unwind(AssertUnwindSafe(|| x.map_inplace(panic_at(at))));
            assert!(caught.is_err());
        }
    });
}

#[test]
fn fault_refused_operations_leak_nothing() {
    leaks_nothing(|| {
        let x = Tensor::<u32>::zeros([LEN]).unwrap();
        let other = Tensor::<u32>::zeros([3]).unwrap();
        assert!(x.add(&other).is_err());
        assert!(x.flip([0]).unwrap().reshape([7, 7]).is_err());
        assert!(x.copy_from(x.flip([0]).unwrap()).is_err());
        BEFORE_FAILURE.set(0);
        let refused = x.map(|x| x);
        BEFORE_FAILURE.set(-1);
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
    });
}
