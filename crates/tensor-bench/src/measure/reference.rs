//! The reference results, element by element in logical order. Every measured result is checked
//! against them.

use bytemuck::NoUninit;
use tensor_kernels::{Element, Layout};

use crate::{Failure, Result};

/// The elements of a view of `base` in logical order.
pub fn elements<T: Element>(base: &[T], layout: &Layout) -> impl Iterator<Item = T> {
    layout.offsets().map(|place| base[place])
}

/// Bitwise equality. A copy keeps the sign of zero and the payload of a NaN.
pub fn identical<T: NoUninit>(a: T, b: T) -> bool {
    bytemuck::bytes_of(&a) == bytemuck::bytes_of(&b)
}

/// Compares a result with the expected elements.
///
/// # Errors
/// [`Failure::Work`] with the first difference.
pub fn check<T: Element + std::fmt::Debug>(
    result: &[T],
    expected: impl Iterator<Item = T>,
    same: impl Fn(T, T) -> bool,
) -> Result<()> {
    let mut compared = 0;
    for (place, (&got, right)) in result.iter().zip(expected).enumerate() {
        if !same(got, right) {
            return Err(Failure::work(format!(
                "wrong result: element {place} is {got:?}, not {right:?}"
            )));
        }
        compared += 1;
    }
    if compared == result.len() {
        Ok(())
    } else {
        Err(Failure::work("wrong result: too many elements"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_read_in_logical_order() {
        let transposed = Layout::new([3, 2], [1, 3], 0).unwrap();
        assert_eq!(
            elements(&[0, 1, 2, 3, 4, 5], &transposed).collect::<Vec<_>>(),
            [0, 3, 1, 4, 2, 5]
        );
    }

    #[test]
    fn a_difference_is_found_and_named() {
        assert!(check(&[1, 2], [1, 2].into_iter(), identical).is_ok());
        let error = check(&[1, 3], [1, 2].into_iter(), identical).unwrap_err();
        assert_eq!(error.to_string(), "wrong result: element 1 is 3, not 2");
        assert!(check(&[1, 2, 3], [1, 2].into_iter(), identical).is_err());
    }

    #[test]
    fn identical_is_to_the_bit() {
        assert!(identical(f32::NAN, f32::NAN) && !identical(0.0, -0.0));
    }
}
