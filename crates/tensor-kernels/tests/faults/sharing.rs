//! Input and result in one storage: accepted if they share no element or are the same view,
//! otherwise refused with two indices that share an element. Threads that share parts of a storage.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use tensor_kernels::{Error, Layout, Overlap, Result, Slice, Tensor, TensorExt, TensorMutExt};

fn numbers() -> Tensor<i32> {
    Tensor::arange(0, 12, 1).unwrap()
}

/// Asserts an error that names an index of the input and one of the result that share an element.
#[track_caller]
fn assert_overlap(result: Result<()>, input: &Tensor<i32>, output: &Tensor<i32>) {
    let Err(Error::ReadWriteOverlap { overlap, operand, op }) = result else {
        panic!("{result:?}")
    };
    let Overlap::Yes { first, second } = &*overlap else { panic!("{overlap:?}") };
    let (read, written) = (input.layout().offset_of(first), output.layout().offset_of(second));
    assert_eq!(read.unwrap(), written.unwrap(), "{first:?} of the input, {second:?} of the output");
    let text = Error::ReadWriteOverlap { op, operand, overlap: overlap.clone() }.to_string();
    assert!(
        text.starts_with(
            "unsupported operation: some elements of the input tensor and the written-to tensor \
             refer to a single memory location. \
             Please deep_clone() the input before performing the operation, as clone() would share \
             its elements, or let it be copied: Exec::copying_first()."
        ),
        "{text}"
    );
    assert!(
        text.ends_with(&format!(
            "[{op}: operand {operand} at {first:?} is the output at {second:?}]"
        )),
        "{text}"
    );
}

/// An input and an output over the same storage.
type Pair = (&'static str, Tensor<i32>, Tensor<i32>);

fn overlapping(x: &Tensor<i32>) -> Vec<Pair> {
    let grid = x.view([3, 4]).unwrap();
    let square = grid.narrow(1, 0, 3).unwrap();
    let steps = |start| x.slice(0, Slice::new(Some(start), Some(start + 7), 2)).unwrap();
    vec![
        ("shifted by one", x.narrow(0, 0, 8).unwrap(), x.narrow(0, 1, 8).unwrap()),
        ("shifted back", x.narrow(0, 1, 8).unwrap(), x.narrow(0, 0, 8).unwrap()),
        ("only the ends", x.narrow(0, 0, 6).unwrap(), x.narrow(0, 5, 6).unwrap()),
        ("transposed", square.t().unwrap(), square),
        ("flipped", x.flip([0]).unwrap(), x.clone()),
        ("a row for all rows", grid.narrow(0, 1, 1).unwrap(), grid),
        ("steps over the same elements", steps(0), steps(2)),
    ]
}

#[test]
fn fault_overlap_is_refused_with_its_indices() {
    let x = numbers();
    for (what, input, output) in overlapping(&x) {
        println!("{what}");
        let read = input.broadcast_to(output.shape()).unwrap();
        assert_overlap(output.copy_from(&input), &read, &output);
        assert_overlap(output.zip_inplace(&input, |a, b| a + b), &input, &output);
        assert_eq!(x, numbers());
    }
}

fn disjoint(x: &Tensor<i32>) -> Vec<Pair> {
    let grid = x.view([3, 4]).unwrap();
    let column = |at| grid.select(1, at).unwrap();
    let every = |start, step| x.slice(0, Slice::new(Some(start), None, step)).unwrap();
    vec![
        ("halves", x.narrow(0, 0, 6).unwrap(), x.narrow(0, 6, 6).unwrap()),
        ("even and odd", every(0, 2), every(1, 2)),
        ("odd and even, backwards", every(11, -2), every(0, 2)),
        ("columns", column(0), column(3)),
        ("a row for the other rows", grid.narrow(0, 0, 1).unwrap(), grid.narrow(0, 1, 2).unwrap()),
        ("nothing", x.narrow(0, 3, 0).unwrap(), x.narrow(0, 3, 0).unwrap()),
    ]
}

/// The result must be that of a copy of the input in other memory.
#[test]
fn fault_disjoint_views_are_copied_and_computed() {
    type Operation = fn(&Tensor<i32>, &Tensor<i32>) -> Result<()>;
    let operations: [Operation; 2] = [
        |input, output| output.copy_from(input),
        |input, output| output.zip_inplace(input, |a, b| a * 100 + b),
    ];
    for operation in operations {
        for at in 0..disjoint(&numbers()).len() {
            let (x, y) = (numbers(), numbers());
            let (what, input, output) = disjoint(&x).swap_remove(at);
            let (_, _, expected) = disjoint(&y).swap_remove(at);
            operation(&input, &output).unwrap();
            operation(&input.deep_clone().unwrap(), &expected).unwrap();
            assert_eq!(x, y, "{what}");
        }
    }
}

#[test]
fn fault_a_copy_of_a_view_to_itself_does_nothing() {
    let x = numbers().view([3, 1, 4]).unwrap();
    let same_but_for_an_unused_stride =
        x.with_layout(Layout::new([3, 1, 4], [4, 99, 1], 0).unwrap()).unwrap();
    let transposed = x.transpose(0, 2).unwrap();
    for (from, to) in [
        (&x, &x),
        (&transposed, &transposed),
        (&same_but_for_an_unused_stride, &x),
        (&x, &same_but_for_an_unused_stride),
    ] {
        to.copy_from(from).unwrap();
        assert_eq!(x.to_vec().unwrap(), numbers().to_vec().unwrap());
    }
    x.zip_inplace(&same_but_for_an_unused_stride, |a, b| a * 10 + b).unwrap();
    assert_eq!(x.to_vec().unwrap(), (0..12).map(|n| 11 * n).collect::<Vec<_>>());
}

#[test]
fn fault_a_tensor_combines_with_itself() {
    let x = numbers().view([3, 4]).unwrap().t().unwrap();
    x.zip_inplace(&x, |a, b| a * b).unwrap();
    let squares: Vec<_> = (0..12).map(|n| n * n).collect();
    assert_eq!(x.t().unwrap().to_vec().unwrap(), squares);
    assert_eq!(
        x.add(&x).unwrap().t().unwrap().to_vec().unwrap(),
        squares.iter().map(|n| 2 * n).collect::<Vec<_>>()
    );
}

/// Some channels of an image, which lie between those of another thread.
fn channels(image: &Tensor<i32>, from: usize) -> [Tensor<i32>; 3] {
    let some = image.narrow(2, from, 2).unwrap();
    [some.permute([2, 0, 1]).unwrap(), some.flip([1, 2]).unwrap(), some]
}

/// Copies, operations and sums read two of four channels in each order while a thread writes the
/// other two. With `parts_are_shared` neither is ever refused; without, the readers are not.
fn read_beside_a_writer(parts_are_shared: bool) {
    let image = Tensor::arange(0, 40 * 30 * 4, 1).unwrap().view([40, 30, 4]).unwrap();
    if parts_are_shared {
        image.storage().share_parts().unwrap();
    }
    let read = channels(&image, 0);
    let expected = read.each_ref().map(|part| part.deep_clone().unwrap());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (done, [_, _, written]) = (&done, channels(&image, 2));
        let writer = scope.spawn(move || {
            let mut refused = 0;
            while !done.load(Relaxed) {
                refused += usize::from(written.add_inplace(1).is_err());
            }
            refused
        });
        let readers = || -> Result<()> {
            for _ in 0..200 {
                for (part, expected) in read.iter().zip(&expected) {
                    assert_eq!(part.contiguous()?, *expected);
                    assert_eq!(part.add(part)?, expected.add(expected)?);
                    assert_eq!(part.sum([1])?, expected.sum([1])?);
                    assert_eq!(part.to_vec()?, expected.to_vec()?);
                }
            }
            Ok(())
        };
        let result = readers();
        done.store(true, Relaxed);
        let refused = writer.join().unwrap();
        assert_eq!(result, Ok(()), "readers are never refused");
        assert!(!parts_are_shared || refused == 0, "{refused} writes were refused");
    });
}

#[test]
fn fault_who_reads_beside_a_writer_is_not_refused() {
    read_beside_a_writer(false);
}

#[test]
fn fault_threads_that_share_parts_are_not_refused() {
    read_beside_a_writer(true);
}
