//! The kinds of operands and of outputs, as macros that try an expression with each.

use tensor_kernels::{Element, Scalar, Tensor};

/// The shape of all operands that are made here.
pub(crate) const SHAPE: [usize; 2] = [2, 3];

pub(crate) fn tensor<T: Element>(values: [T; 6]) -> Tensor<T> {
    Tensor::from_slice(&values, SHAPE).unwrap()
}

/// Zeros of the type of other elements.
pub(crate) fn zeros<T: Scalar>(_like: &[T], count: usize) -> Vec<T> {
    vec![T::ZERO; count]
}

/// The result, a tensor, is the same for a tensor, by reference and by value, a view, a mutable
/// view and a reshaped tensor. Returns its shape and elements.
macro_rules! each_operand {
    ($values:expr, |$x:ident| $result:expr) => {{
        let tensor = $crate::operand_kinds::kinds::tensor($values);
        let expected = {
            let $x = &tensor;
            let result = $result.unwrap();
            (result.shape().to_vec(), result.to_vec())
        };
        {
            let $x = tensor.clone();
            assert_eq!($result.unwrap().to_vec(), expected.1, "a tensor by value");
        }
        {
            let guard = tensor.read().unwrap();
            let view = guard.as_view();
            let $x = &view;
            assert_eq!($result.unwrap().to_vec(), expected.1, "a view");
        }
        {
            let guard = &mut tensor.write().unwrap();
            let view = guard.as_view_mut().unwrap();
            let $x = &view;
            assert_eq!($result.unwrap().to_vec(), expected.1, "a mutable view");
        }
        {
            let reshaped = tensor.reshape($crate::operand_kinds::kinds::SHAPE).unwrap();
            let $x = &reshaped;
            assert_eq!($result.unwrap().to_vec(), expected.1, "a reshaped tensor");
        }
        {
            let guard = tensor.read().unwrap();
            let reshaped = guard.as_view().reshape($crate::operand_kinds::kinds::SHAPE).unwrap();
            let $x = &reshaped;
            assert_eq!($result.unwrap().to_vec(), expected.1, "a reshaped view");
        }
        (expected.0, expected.1.unwrap())
    }};
}

/// The result is written to each kind of output, and refused by a slice of another length.
macro_rules! each_output {
    ($expected:expr, |$out:ident| $write:expr) => {{
        let (shape, elements) = $expected;
        let count = elements.len();
        let tensor =
            Tensor::from_vec($crate::operand_kinds::kinds::zeros(&elements, count), &shape)
                .unwrap();
        {
            let $out = &tensor;
            $write.unwrap();
        }
        assert_eq!(tensor.to_vec().unwrap(), elements, "a tensor");
        let mut tensor =
            Tensor::from_vec($crate::operand_kinds::kinds::zeros(&elements, count), &shape)
                .unwrap();
        {
            let $out = &mut tensor;
            $write.unwrap();
        }
        assert_eq!(tensor.to_vec().unwrap(), elements, "a mutable reference to a tensor");
        let mut numbers = $crate::operand_kinds::kinds::zeros(&elements, count);
        {
            let layout = Layout::contiguous(&shape).unwrap();
            let mut view = TensorViewMut::new(&mut numbers, layout).unwrap();
            let $out = &mut view;
            $write.unwrap();
        }
        assert_eq!(numbers, elements, "a mutable view");
        let mut numbers = $crate::operand_kinds::kinds::zeros(&elements, count);
        {
            let $out = &mut numbers[..];
            $write.unwrap();
        }
        assert_eq!(numbers, elements, "a slice");
        let mut numbers = $crate::operand_kinds::kinds::zeros(&elements, count);
        {
            let $out = &mut numbers;
            $write.unwrap();
        }
        assert_eq!(numbers, elements, "a vector");
        numbers.push($crate::operand_kinds::kinds::zeros(&elements, 1)[0]);
        {
            let $out = &mut numbers[..];
            let refused = $write.unwrap_err();
            assert!(matches!(refused, Error::OutputShape { .. }), "{refused}");
        }
    }};
}

/// The result is written in place of a tensor, a mutable view and a slice.
macro_rules! each_in_place {
    ($values:expr, $expected:expr, |$x:ident| $write:expr, |$method:ident| $call:expr) => {{
        let (_, elements) = $expected;
        let tensor = $crate::operand_kinds::kinds::tensor($values);
        {
            let $method = &tensor;
            $call.unwrap();
        }
        assert_eq!(tensor.to_vec().unwrap(), elements, "a method of a tensor");
        let mut numbers = $values;
        {
            let layout = Layout::contiguous(&$crate::operand_kinds::kinds::SHAPE).unwrap();
            let $method = &mut TensorViewMut::new(&mut numbers, layout).unwrap();
            $call.unwrap();
        }
        assert_eq!(numbers[..], elements, "a method of a mutable view");
        let mut tensor = $crate::operand_kinds::kinds::tensor($values);
        {
            let $x = &mut tensor;
            $write.unwrap();
        }
        assert_eq!(tensor.to_vec().unwrap(), elements, "a mutable reference to a tensor");
        let mut numbers = $values;
        {
            let $x = &mut numbers;
            $write.unwrap();
        }
        assert_eq!(numbers[..], elements, "an array");
    }};
}
