//! Numbers, lists and layouts drawn from the fuzzer's bytes: mostly small, sometimes extreme.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use tensor_kernels::Slice;

/// Any number; mostly small, often a power of two or an extreme.
pub fn number(u: &mut Unstructured<'_>) -> Result<isize> {
    Ok(match u.arbitrary::<u8>()? {
        kind @ 0..=199 => isize::from(kind % 17) - 8,
        200..=229 => u.arbitrary::<i8>()?.into(),
        230..=237 => 1 << (u.arbitrary::<u8>()? % 63),
        238..=243 => -1 << (u.arbitrary::<u8>()? % 64),
        244..=246 => isize::MAX,
        247 => isize::MIN,
        248 => -isize::MAX,
        249.. => u.arbitrary()?,
    })
}

/// Any size; mostly small.
pub fn size(u: &mut Unstructured<'_>) -> Result<usize> {
    Ok(match u.arbitrary::<u8>()? {
        kind @ 0..=219 => usize::from(kind % 7),
        220..=231 => u.arbitrary::<u8>()?.into(),
        232..=243 => 1 << (u.arbitrary::<u8>()? % 64),
        244..=247 => isize::MAX as usize,
        248.. => u.arbitrary()?,
    })
}

/// A size of an array that is small enough to enumerate.
pub fn small_size(u: &mut Unstructured<'_>) -> Result<usize> {
    u.int_in_range(0..=6)
}

/// At most `longest` values.
pub fn list<T>(
    u: &mut Unstructured<'_>,
    longest: usize,
    value: impl Fn(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let len = u.int_in_range(0..=longest)?;
    (0..len).map(|_| value(u)).collect()
}

/// A dimension of a tensor of a rank, counted from either end; sometimes out of range.
pub fn dim(u: &mut Unstructured<'_>, rank: usize) -> Result<isize> {
    if u.ratio(1, 16)? {
        return number(u);
    }
    let rank = rank as isize;
    u.int_in_range(-rank..=(rank - 1).max(0))
}

/// All dimensions in some order; sometimes arbitrary numbers.
pub fn order(u: &mut Unstructured<'_>, rank: usize) -> Result<Vec<isize>> {
    if u.ratio(1, 16)? {
        return list(u, rank + 1, number);
    }
    let mut remaining: Vec<isize> = (0..rank as isize).collect();
    let mut order = Vec::new();
    while !remaining.is_empty() {
        let dim = remaining.remove(u.int_in_range(0..=remaining.len() - 1)?);
        order.push(if u.arbitrary()? { dim } else { dim - rank as isize });
    }
    Ok(order)
}

/// The bounds and the step of a slice, in any combination.
pub fn slice(u: &mut Unstructured<'_>) -> Result<Slice> {
    let start = if u.arbitrary()? { Some(number(u)?) } else { None };
    let end = if u.arbitrary()? { Some(number(u)?) } else { None };
    Ok(Slice::new(start, end, number(u)?))
}

/// Sizes for `numel` elements, one of them possibly −1; sometimes arbitrary numbers.
pub fn sizes(u: &mut Unstructured<'_>, numel: usize) -> Result<Vec<isize>> {
    if u.ratio(1, 8)? {
        return list(u, 4, number);
    }
    let (mut sizes, mut remaining) = (Vec::new(), numel);
    for _ in 0..u.int_in_range(0..=5)? {
        let size = u.int_in_range(1..=8)?;
        if remaining.is_multiple_of(size) {
            remaining /= size;
            sizes.push(size as isize);
        }
    }
    let last = if u.arbitrary()? { -1 } else { remaining as isize };
    let at = u.int_in_range(0..=sizes.len())?;
    sizes.insert(at, last);
    Ok(sizes)
}

/// Sizes that a shape can be expanded to; sometimes arbitrary numbers.
pub fn expanded(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Vec<isize>> {
    let mut sizes = list(u, 2, number)?;
    for &size in shape {
        sizes.push(match u.arbitrary::<u8>()? {
            0..=63 => -1,
            64..=79 => number(u)?,
            byte if size == 1 => isize::from(byte % 5),
            _ => isize::try_from(size).unwrap_or(isize::MAX),
        });
    }
    Ok(sizes)
}

/// Sizes, strides and an offset that need not be a layout.
pub fn raw(u: &mut Unstructured<'_>) -> Result<(Vec<usize>, Vec<isize>, usize)> {
    let shape = list(u, 10, size)?;
    let rank = if u.ratio(1, 16)? { u.int_in_range(0..=10)? } else { shape.len() };
    let strides = (0..rank).map(|_| number(u)).collect::<Result<_>>()?;
    Ok((shape, strides, size(u)?))
}

/// Sizes, strides and an offset of a small array, mostly a layout.
pub fn small(u: &mut Unstructured<'_>) -> Result<(Vec<usize>, Vec<isize>, usize)> {
    let shape = list(u, 5, small_size)?;
    let mut strides = Vec::new();
    let mut dense = 1isize;
    for &size in shape.iter().rev() {
        let stride = if u.ratio(1, 3)? { u.int_in_range(-12..=20)? } else { dense };
        strides.insert(0, stride);
        dense = stride.abs() * size.max(1) as isize;
    }
    Ok((shape, strides, u.int_in_range(0..=200)?))
}
