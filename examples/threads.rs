//! One tensor among threads: parts that are written at the same time, readers side by side, and
//! what is refused instead of waiting.
//!
//! ```sh
//! cargo run --release -p examples --bin threads
//! ```
//!
//! ```text
//! tensor([[ 0., 10., 20., 30.],
//!         [ 0., 10., 20., 30.],
//!         [ 1., 11., 21., 31.],
//!         [ 1., 11., 21., 31.],
//!         [ 2., 12., 22., 32.],
//!         [ 2., 12., 22., 32.]])
//! sums of columns: [6.0, 66.0, 126.0, 186.0]
//! elements are already borrowed for reading or writing: cannot borrow them for writing [a guard \
//! of some of these elements is alive, or a reader of elements around them, which \
//! storage().share_parts() allows; parts of one guard, by split_at_mut, split_mut or unbind_mut, \
//! can be read and written at the same time]
//! ```

use std::thread;

use tensor_kernels::{Error, Result, Tensor, TensorExt, TensorMutExt};

fn main() -> Result<()> {
    let table = Tensor::<f32>::zeros([6, 4])?;
    write_in_parts(&table)?;
    println!("{table}");

    // Handles share the storage, and any number of threads reads it at once.
    let columns: Vec<f32> = thread::scope(|scope| {
        let sum = |column: usize| {
            let handle = table.select(1, column);
            scope.spawn(move || handle?.sum_all())
        };
        let threads: Vec<_> = (0..4).map(sum).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<_>>()
    })?;
    println!("sums of columns: {columns:?}");
    assert_eq!(columns, [6.0, 66.0, 126.0, 186.0]);

    // An element has many readers or one writer. What is not possible is an error at once, also
    // within one thread: nothing waits, so nothing can wait for ever.
    let reading = table.read()?;
    let refused = table.fill(1.0).expect_err("the table is being read");
    println!("{refused}");
    assert!(matches!(refused, Error::Borrowed { .. }));
    drop(reading);
    table.fill(1.0)
}

/// Three threads write two rows each. The parts of one guard have no element in common, so that
/// nothing is compared; handles of other rows can be written at the same time, too.
fn write_in_parts(table: &Tensor<f32>) -> Result<()> {
    let mut writing = table.write()?;
    let parts = writing.as_view_mut()?.split_mut(2, 0)?;
    thread::scope(|scope| {
        for (number, mut part) in (0u8..).zip(parts) {
            scope.spawn(move || {
                for (at, element) in (0u8..).zip(part.iter_mut()) {
                    *element = f32::from(at % 4) * 10.0 + f32::from(number);
                }
            });
        }
    });
    Ok(())
}
