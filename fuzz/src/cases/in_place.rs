//! Permutations in place, of any shape, order and item size, against moving items one by one. What
//! is refused stays as it was.

use tensor_kernels::{Exec, permute_bytes_inplace};

use super::Input;

const SIZES: [usize; 16] = [1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 12, 16, 24, 33, 70, 3000];

/// The most bytes that are permuted: more than fit into scratch.
const MAX_BYTES: usize = 512 << 10;

/// Runs the case of an input.
///
/// # Panics
/// If the library is wrong.
pub fn run(input: &[u8]) {
    let input = &mut Input(input);
    let item = SIZES[input.below(SIZES.len())];
    let kind = input.byte();
    let mut shape: Vec<usize> =
        (0..input.below(7)).map(|_| input.below(if kind & 1 == 1 { 256 } else { 12 })).collect();
    while shape.iter().product::<usize>() * item > MAX_BYTES {
        let longest = shape.iter_mut().max().expect("many items");
        *longest = *longest * 3 / 4;
    }
    let bytes = item * shape.iter().product::<usize>();
    let order = order(input, shape.len());
    // Sometimes no order of the dimensions, or a slice of another length.
    let mut dims: Vec<isize> = order.iter().map(|&d| d as isize).collect();
    if let Some(dim) = dims.first_mut().filter(|_| input.once_in(16)) {
        *dim += input.signed();
    }
    let is_order = is_order(&dims);
    let len = if input.once_in(16) { bytes + 1 } else { bytes };
    let before: Vec<u8> =
        (0..len).map(|at| (at ^ ((at >> 8) * 131) ^ ((at >> 16) * 57)) as u8).collect();
    let mut result = before.clone();
    let mut exec = *Exec::current().expect("a level of this CPU");
    if kind & 2 == 2 {
        exec = exec.serial();
    }
    let done = permute_bytes_inplace(&exec, &mut result, item, &shape, &dims);
    assert_eq!(done.is_ok(), is_order && len == bytes, "{item}: {shape:?} {dims:?}: {done:?}");
    if done.is_ok() {
        let wrapped = dims.iter().map(|d| d.rem_euclid(shape.len() as isize) as usize);
        let expected = moved(&before, item, &shape, &wrapped.collect::<Vec<_>>());
        assert!(result == expected, "{item} bytes: {shape:?} {dims:?}");
    } else {
        assert!(result == before, "{item} bytes: {shape:?} {dims:?} moved");
    }
}

fn order(input: &mut Input<'_>, rank: usize) -> Vec<usize> {
    let mut remaining: Vec<usize> = (0..rank).collect();
    (0..rank).map(|_| remaining.remove(input.below(remaining.len()))).collect()
}

/// Whether each dimension is named once, counted from either end.
fn is_order(dims: &[isize]) -> bool {
    let rank = dims.len() as isize;
    let mut wrapped: Vec<isize> = dims.iter().map(|&d| if d < 0 { d + rank } else { d }).collect();
    wrapped.sort_unstable();
    wrapped.into_iter().eq(0..rank)
}

/// The items in the order of `dims`.
fn moved(bytes: &[u8], item: usize, shape: &[usize], dims: &[usize]) -> Vec<u8> {
    let (mut moved, mut index) = (Vec::with_capacity(bytes.len()), vec![0; shape.len()]);
    for _ in 0..bytes.len() / item {
        let at = index.iter().zip(shape).fold(0, |at, (&i, &size)| at * size + i);
        moved.extend_from_slice(&bytes[at * item..][..item]);
        for &d in dims.iter().rev() {
            index[d] = (index[d] + 1) % shape[d];
            if index[d] != 0 {
                break;
            }
        }
    }
    moved
}
