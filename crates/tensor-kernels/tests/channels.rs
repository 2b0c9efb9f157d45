//! Every candidate of transposes whose rows share a channel of the memory: streamed ones are
//! written a few rows and a few lines at a time. Every element width and SIMD level, results that
//! start at cache lines and others, numbers of rows around those that are written at once.

mod common;

use common::{levels, values_of};
use tensor_kernels::{CopyPlan, Element, Exec, Layout, Machine, TensorView, TensorViewMut};

/// Of a row, without the last few elements that do not fill a line.
const ROW_BYTES: [usize; 3] = [512, 768, 1024 + 64];

/// Every level, on a machine that streams everything, with and without channels.
fn execs() -> Vec<Exec> {
    let exec = |(level, channel)| {
        let mut exec = Exec::current().unwrap().with_simd(level).unwrap().serial();
        exec.machine = Machine { stream: 0, l1: 4 << 10, channel, ..Machine::REFERENCE };
        exec
    };
    levels().into_iter().flat_map(|level| [0, 64, 512].map(|c| (level, c))).map(exec).collect()
}

/// The first element at a cache line, if the memory has as many elements more.
fn first_at_line<T>(memory: &[T]) -> usize {
    memory.as_ptr().align_offset(64)
}

fn check<T: Element + PartialEq + std::fmt::Debug>(nth: fn(usize) -> T) {
    let line = 64 / size_of::<T>();
    for (rows, bytes) in [1, 31, 33, 40, 65, 97].into_iter().zip(ROW_BYTES.into_iter().cycle()) {
        for columns in [bytes / size_of::<T>(), bytes / size_of::<T>() + 3] {
            let source: Vec<T> = (0..rows * columns).map(nth).collect();
            let from = Layout::contiguous([columns, rows]).unwrap().t().unwrap();
            let expected = values_of(&source, &from);
            for (exec, behind) in execs().iter().flat_map(|exec| [0, 1].map(|b| (exec, b))) {
                // Rows lie a multiple of a channel apart, and have gaps between them.
                let pitch = columns.next_multiple_of(512 / size_of::<T>());
                let mut memory = vec![nth(1); rows * pitch + 2 * line];
                let offset = first_at_line(&memory) + behind;
                let to = Layout::new([rows, columns], [pitch, 1], offset).unwrap();
                let view = TensorView::new(&source, from.clone()).unwrap();
                let candidates = CopyPlan::candidates(&from, &to, size_of::<T>(), &exec.machine);
                for plan in candidates.unwrap().into_iter().map(|candidate| candidate.plan) {
                    memory.fill(nth(1));
                    let mut into = TensorViewMut::new(&mut memory, to.clone()).unwrap();
                    plan.run(exec, &view, &mut into).unwrap();
                    let what = || format!("{}, {plan}, {behind} elements on", exec.simd());
                    assert!(values_of(&memory, &to) == expected, "{}", what());
                    let written =
                        |elements: &[T]| elements.iter().filter(|x| **x != nth(1)).count();
                    assert_eq!(written(&memory), written(&expected), "{}: gaps", what());
                }
            }
        }
    }
}

macro_rules! widths {
    ($($name:ident: $nth:expr;)*) => {$(
        #[test]
        fn $name() {
            check($nth);
        }
    )*};
}

widths! {
    width_1: |i| (i * 7) as u8;
    width_2: |i| (i * 3) as u16;
    width_4: |i| i as f32;
    width_8: |i| i as f64;
    width_16: |i| (i as u128) << 64 | 5;
}
