//! Operations on inputs that lie alike, in another order than the result, and are computed in their
//! own order: of every number of inputs, several element widths and SIMD levels, with single values
//! between them, on one thread and on several, into results with and without gaps.

mod common;

use common::{Memory, Sample, levels, on_threads, ordered, strided};
use proptest::prelude::*;
use tensor_kernels::{Element, Exec, Layout, Machine, TensorView, ops};

/// Inputs in any order of dimensions, some of which descend or have gaps, and the result's layout.
fn layouts() -> impl Strategy<Value = (Layout, Layout)> {
    let dim = (1usize..40, any::<u8>(), 0u8..8);
    let dims = prop::collection::vec(dim, 2..5);
    (dims, 0usize..3).prop_filter_map("many elements", |(dims, gap)| {
        let (shape, strides) = ordered(&dims);
        let mut into = vec![1; shape.len()];
        for d in (1..shape.len()).rev() {
            into[d - 1] = into[d] * shape[d] as isize + gap as isize;
        }
        let (from, to) = (strided(&shape, &strides, 2), strided(&shape, &into, 1));
        (shape.iter().product::<usize>() <= 20_000).then_some((from, to))
    })
}

/// Machines with small caches, on which few elements are many tiles, and one that streams all.
fn execs() -> Vec<Exec> {
    let small = Machine { l1: 256, l2: 4 << 10, grain: 512, ..Machine::REFERENCE };
    let machines = [small, Machine { stream: 0, l2: 16 << 10, ..small }];
    let exec =
        |(level, machine)| Exec::current().unwrap().with_simd(level).unwrap().with_machine(machine);
    levels().into_iter().flat_map(|level| machines.map(|m| (level, m))).map(exec).collect()
}

/// Runs an operation on one thread and on several, and compares its results with these.
fn check<T: Sample + Element>(
    to: &Layout,
    expected: &[T],
    run: impl Fn(&Exec, &mut Memory<T>) + Sync,
) {
    let expected = Memory::<T>::for_layout(to, 5).with(to, expected);
    for exec in execs() {
        for exec in [exec.serial(), exec] {
            let mut result = Memory::for_layout(to, 5);
            on_threads(3, || run(&exec, &mut result));
            result.assert_is(&expected, || format!("{}: into {to:?}", exec.simd()));
        }
    }
}

macro_rules! widths {
    ($($name:ident: $type:ty, $add:expr, $mul_add:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(40))]
            $(#[test]
            fn $name((from, to) in layouts()) {
                let memories = [3, 8, 1].map(|skew| {
                    let value = |i: usize| ((i * 7 + skew) % 23) as $type;
                    let values: Vec<_> = (0..from.numel()).map(value).collect();
                    Memory::<$type>::for_layout(&from, skew).with(&from, &values)
                });
                let [x, y, z] = memories.each_ref().map(|memory| memory.values(&from));
                let sums: Vec<$type> = x.iter().zip(&y).map(|(&x, &y)| $add(x, y)).collect();
                let [a, b, c] = memories.each_ref().map(|memory| memory.view(&from));
                check(&to, &sums, |exec, out| {
                    ops::add_into(exec, &a, &b, &mut out.view_mut(&to)).unwrap();
                });
                let products = x.iter().zip(&y).zip(&z).map(|((&x, &y), &z)| $mul_add(x, y, z));
                let products: Vec<$type> = products.collect();
                check(&to, &products, |exec, out| {
                    ops::mul_add_into(exec, &a, &b, &c, &mut out.view_mut(&to)).unwrap();
                });
                // A single value between two that lie alike.
                let (one, shape) = (x[..1].to_vec(), from.shape());
                let zeros = vec![0; shape.len()];
                let value = TensorView::new(&one, strided(shape, &zeros, 0)).unwrap();
                let products = x.iter().zip(&z).map(|(&x, &z)| $mul_add(x, one[0], z));
                let products: Vec<$type> = products.collect();
                check(&to, &products, |exec, out| {
                    ops::mul_add_into(exec, &a, &value, &c, &mut out.view_mut(&to)).unwrap();
                });
            })*
        }
    };
}

widths! {
    floats: f32, |x: f32, y: f32| x + y, f32::mul_add;
    doubles: f64, |x: f64, y: f64| x + y, f64::mul_add;
    integers: u16, u16::wrapping_add, |x: u16, y: u16, z: u16| x.wrapping_mul(y).wrapping_add(z);
    bytes: u8, u8::wrapping_add, |x: u8, y: u8, z: u8| x.wrapping_mul(y).wrapping_add(z);
}
