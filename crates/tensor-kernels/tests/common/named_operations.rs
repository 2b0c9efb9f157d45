//! The named operations, as rows that each of these macros passes to another macro: the values of
//! the operands, and the names of the forms of the operation.

pub(crate) const FLOATS: [f32; 6] = [0.5, 1.5, 2.25, 3.5, 4.0, 5.75];
pub(crate) const OTHERS: [f32; 6] = [2.0, 1.5, 1.0, 3.0, 0.25, 6.0];
pub(crate) const INTEGERS: [i32; 6] = [1, 6, 3, 12, 5, 9];
pub(crate) const DISTANCES: [i32; 6] = [1, 2, 3, 2, 1, 1];

/// On one operand: to a new tensor, into a given result, in place.
macro_rules! each_unary {
    ($test:ident) => {
        $test! {
            FLOATS:
                neg neg_into neg_inplace, abs abs_into abs_inplace, sign sign_into sign_inplace,
                recip recip_into recip_inplace, sqrt sqrt_into sqrt_inplace,
                rsqrt rsqrt_into rsqrt_inplace, square square_into square_inplace,
                exp exp_into exp_inplace, ln ln_into ln_inplace, log2 log2_into log2_inplace,
                log10 log10_into log10_inplace, sin sin_into sin_inplace, cos cos_into cos_inplace,
                tanh tanh_into tanh_inplace, sigmoid sigmoid_into sigmoid_inplace,
                relu relu_into relu_inplace, gelu gelu_into gelu_inplace,
                silu silu_into silu_inplace, floor floor_into floor_inplace,
                ceil ceil_into ceil_inplace, round round_into round_inplace,
                trunc trunc_into trunc_inplace, is_nan is_nan_into, logical_not logical_not_into;
            INTEGERS: bitwise_not bitwise_not_into bitwise_not_inplace;
        }
    };
}

/// On two operands: the function, the method, into a given result, in place.
macro_rules! each_binary {
    ($test:ident) => {
        $test! {
            FLOATS, OTHERS:
                add add add_into add_inplace, sub sub sub_into sub_inplace,
                mul mul mul_into mul_inplace, div div div_into div_inplace,
                div_floor div_floor div_floor_into div_floor_inplace,
                div_trunc div_trunc div_trunc_into div_trunc_inplace,
                rem rem rem_into rem_inplace, pow pow pow_into pow_inplace,
                atan2 atan2 atan2_into atan2_inplace, minimum minimum minimum_into minimum_inplace,
                maximum maximum maximum_into maximum_inplace,
                eq elem_eq eq_into, ne elem_ne ne_into, lt elem_lt lt_into, le elem_le le_into,
                gt elem_gt gt_into, ge elem_ge ge_into, logical_and logical_and logical_and_into,
                logical_or logical_or logical_or_into, logical_xor logical_xor logical_xor_into;
            INTEGERS, DISTANCES:
                bitwise_and bitwise_and bitwise_and_into bitwise_and_inplace,
                bitwise_or bitwise_or bitwise_or_into bitwise_or_inplace,
                bitwise_xor bitwise_xor bitwise_xor_into bitwise_xor_inplace,
                shl shl shl_into shl_inplace, shr shr shr_into shr_inplace;
        }
    };
}

/// On three operands: to a new tensor, into a given result, in place.
macro_rules! each_ternary {
    ($test:ident) => {
        $test! {
            mul_add mul_add_into mul_add_inplace;
            clamp clamp_into clamp_inplace;
        }
    };
}

/// Over dimensions: to a new tensor, into a given result, to a value.
macro_rules! each_reduction {
    ($test:ident) => {
        $test! {
            sum sum_into sum_all;
            prod prod_into prod_all;
            mean mean_into mean_all;
            min min_into min_all;
            max max_into max_all;
            any any_into any_all;
            all all_into all_all;
            argmin argmin_into argmin_all;
            argmax argmax_into argmax_all;
        }
    };
}
