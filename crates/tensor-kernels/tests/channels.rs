//! Every candidate of transposes whose rows share a channel of the memory: streamed ones are
//! written a few rows and a few lines at a time. Every element width and SIMD level, results that
//! start at cache lines and others, numbers of rows around those that are written at once.

mod common;

use common::{check_candidates, levels};
use tensor_kernels::{Element, Exec, Layout, Machine};

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

fn check<T: Element + PartialEq>(nth: fn(usize) -> T) {
    for (rows, bytes) in [1, 31, 33, 40, 65, 97].into_iter().zip(ROW_BYTES.into_iter().cycle()) {
        for columns in [bytes / size_of::<T>(), bytes / size_of::<T>() + 3] {
            let source: Vec<T> = (0..rows * columns).map(nth).collect();
            let from = Layout::contiguous([columns, rows]).unwrap().t().unwrap();
            for (exec, behind) in execs().iter().flat_map(|exec| [0, 1].map(|b| (exec, b))) {
                // Rows lie a multiple of a channel apart, and have gaps between them.
                let pitch = columns.next_multiple_of(512 / size_of::<T>());
                let to = Layout::new([rows, columns], [pitch, 1], behind).unwrap();
                check_candidates(exec, (&source, &from), &to, nth(1));
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
