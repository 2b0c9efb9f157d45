//! What each operation means, element by element.

use tensor_kernels::{Result, Tensor};

/// The elements of a result, computed from the index of each.
pub(crate) fn by_index(shape: &[usize], mut f: impl FnMut(&[usize]) -> i64) -> Vec<i64> {
    let mut elements = Vec::new();
    for number in 0..shape.iter().product() {
        elements.push(f(&index_of(number, shape)));
    }
    elements
}

pub(crate) fn index_of(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        (*i, number) = (number % size, number / size);
    }
    index
}

/// The index with another coordinate along a dimension.
pub(crate) fn with(index: &[usize], dim: usize, at: usize) -> Vec<usize> {
    let mut index = index.to_vec();
    index[dim] = at;
    index
}

pub(crate) fn cat(parts: &[Tensor<i64>], dim: usize) -> Result<(Vec<usize>, Vec<i64>)> {
    let mut shape = parts[0].shape().to_vec();
    shape[dim] = parts.iter().map(|part| part.shape()[dim]).sum();
    let elements = by_index(&shape, |index| {
        let mut at = index[dim];
        for part in parts {
            match at.checked_sub(part.shape()[dim]) {
                None => return part.get(&with(index, dim, at)).unwrap(),
                Some(rest) => at = rest,
            }
        }
        unreachable!("the parts have as many indices as the result")
    });
    Ok((shape, elements))
}

/// The index of the padded tensor's element in the one that is padded, if there is one.
pub(crate) fn padded_from(mode: &str, at: isize, size: isize) -> Option<usize> {
    let at = match mode {
        "reflect" if at < 0 => -at,
        "reflect" if at >= size => 2 * (size - 1) - at,
        "replicate" => at.clamp(0, size - 1),
        "circular" => at.rem_euclid(size),
        _ => at,
    };
    usize::try_from(at).ok().filter(|&at| at < size as usize)
}
