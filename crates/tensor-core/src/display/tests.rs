//! Tables of values and their text; the texts are PyTorch's.

mod recorded;

use std::{cell::Cell, fmt::Write as _};

use super::{
    End,
    page::{PREFIX, Page},
    walk::Walk,
    write_elements, write_tensor,
};
use crate::Scalar;

fn text_of<T: Scalar>(shape: &[usize], at: impl Fn(&[usize]) -> T) -> String {
    let mut text = String::new();
    write_tensor(&mut text, shape, at).expect("a string takes any text");
    text
}

/// The position of a logical index in row-major order.
fn position(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |position, (size, i)| position * size + i)
}

fn text<T: Scalar>(shape: &[usize], values: &[T]) -> String {
    text_of(shape, |index| values[position(shape, index)])
}

/// Checks tensors of one dimension.
#[track_caller]
fn check<T: Scalar, const N: usize>(values: [T; N], expected: &str) {
    assert_eq!(text(&[N], &values), expected);
}

#[track_caller]
fn check_scalar<T: Scalar>(value: T, expected: &str) {
    assert_eq!(text(&[], &[value]), expected);
}

/// Checks a tensor whose elements are 0, 1, 2, … in logical order.
#[track_caller]
fn check_range<T: Scalar>(shape: &[usize], convert: impl Fn(usize) -> T, expected: &str) {
    assert_eq!(text_of(shape, |index| convert(position(shape, index))), expected);
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

#[test]
fn whole_numbers_have_no_digits_after_the_point() {
    check([1.0f32, 13.0], "tensor([ 1., 13.])");
    check([0.0f32, -0.0], "tensor([0., -0.])");
    check([1.0f32, 1000.0], "tensor([   1., 1000.])");
    check([1e8f32, 1e8], "tensor([100000000., 100000000.])");
}

#[test]
fn fractions_have_four_digits_rounded_half_to_even() {
    check([1.0f32, 1.5], "tensor([1.0000, 1.5000])");
    check([1.5f32, 1500.0], "tensor([   1.5000, 1500.0000])");
    check([0.03125f32, 0.09375], "tensor([0.0312, 0.0938])");
    check([-0.03125f32, 0.09375], "tensor([-0.0312,  0.0938])");
    check([0.99995f64, 1.0], "tensor([1.0000, 1.0000], dtype=torch.float64)");
    check([1e-4f64], "tensor([0.0001], dtype=torch.float64)");
}

#[test]
fn large_small_and_wide_ranging_numbers_are_scientific() {
    check([1.0f32, 1001.0], "tensor([1.0000e+00, 1.0010e+03])");
    check([1.5f32, 1501.5], "tensor([1.5000e+00, 1.5015e+03])");
    check([100_000_008.0f32], "tensor([1.0000e+08])");
    check([1e-4f32], "tensor([1.0000e-04])");
    check([9e-5f64, 0.0], "tensor([9.0000e-05, 0.0000e+00], dtype=torch.float64)");
    check([100_005.0f32, 1.0], "tensor([1.0000e+05, 1.0000e+00])");
    check([100_015.0f32, 1.0], "tensor([1.0002e+05, 1.0000e+00])");
    check([5e-324f64, -1.0], "tensor([4.9407e-324, -1.0000e+00], dtype=torch.float64)");
}

#[test]
fn zeros_and_non_finite_numbers_do_not_affect_notation_and_width() {
    check([NAN, -NAN, INF, -INF, 0.0], "tensor([nan, nan, inf, -inf, 0.])");
    check([1.0, NAN], "tensor([1., nan])");
    check([1.5, -INF, NAN], "tensor([1.5000,   -inf,    nan])");
    check([1e5, 1.0, NAN, -INF], "tensor([1.0000e+05, 1.0000e+00,        nan,       -inf])");
}

#[test]
fn integers_share_a_width() {
    check([1i64, -20, 300], "tensor([  1, -20, 300])");
    check([i64::MIN, 0], "tensor([-9223372036854775808,                    0])");
    check([0u8, 255], "tensor([  0, 255], dtype=torch.uint8)");
    check([1u16, u16::MAX], "tensor([    1, 65535], dtype=torch.uint16)");
    check([0u32, u32::MAX], "tensor([         0, 4294967295], dtype=torch.uint32)");
    check(
        [7u64, u64::MAX],
        "tensor([                   7, 18446744073709551615], dtype=torch.uint64)",
    );
    check([i8::MIN, 127], "tensor([-128,  127], dtype=torch.int8)");
    check([i16::MIN, 0], "tensor([-32768,      0], dtype=torch.int16)");
    check([i32::MIN, 5], "tensor([-2147483648,           5], dtype=torch.int32)");
}

#[test]
fn bools_are_spelled_as_in_python() {
    check([true, false], "tensor([ True, False])");
    check([true, true], "tensor([True, True])");
}

#[test]
fn scalars_have_no_brackets() {
    check_scalar(3.0f32, "tensor(3.)");
    check_scalar(1e-9f32, "tensor(1.0000e-09)");
    check_scalar(NAN, "tensor(nan)");
    check_scalar(2.5f64, "tensor(2.5000, dtype=torch.float64)");
    check_scalar(7i64, "tensor(7)");
    check_scalar(7u8, "tensor(7, dtype=torch.uint8)");
    check_scalar(true, "tensor(True)");
}

#[cfg(feature = "half")]
#[test]
fn half_precision_is_printed_through_f64() {
    use half::{bf16, f16};
    check(
        [1.0, 65504.0].map(f16::from_f64),
        "tensor([1.0000e+00, 6.5504e+04], dtype=torch.float16)",
    );
    check([0.1, -2.5].map(f16::from_f64), "tensor([ 0.1000, -2.5000], dtype=torch.float16)");
    check([6e-8, 1.0].map(f16::from_f64), "tensor([5.9605e-08, 1.0000e+00], dtype=torch.float16)");
    check([1.0, 2.0].map(bf16::from_f64), "tensor([1., 2.], dtype=torch.bfloat16)");
    check([0.1, 2.71].map(bf16::from_f64), "tensor([0.1001, 2.7031], dtype=torch.bfloat16)");
    check([3e38].map(bf16::from_f64), "tensor([3.0041e+38], dtype=torch.bfloat16)");
}

#[cfg(feature = "complex")]
#[test]
fn complex_parts_are_formatted_separately() {
    use num_complex::Complex as C;
    check([C::new(1f32, 2.0), C::new(3.0, -4.0)], "tensor([1.+2.j, 3.-4.j])");
    check([C::new(1.5f32, 2.0), C::new(-3.0, -40.0)], "tensor([ 1.5000+2.j, -3.0000-40.j])");
    check([C::new(0f32, -0.0), C::new(-0.0, 0.0)], "tensor([0.-0.j, -0.+0.j])");
    check(
        [C::new(NAN, INF), C::new(-INF, NAN), C::new(1.0, 1.0)],
        "tensor([nan+infj, -inf+nanj, 1.+1.j])",
    );
    check(
        [C::new(1e-9f32, 1.0), C::new(1.0, 2.5)],
        "tensor([1.0000e-09+1.0000j, 1.0000e+00+2.5000j])",
    );
    check_scalar(C::new(1f32, -2.0), "tensor(1.-2.j)");
    check_scalar(C::new(0.5f64, -1.0), "tensor(0.5000-1.j, dtype=torch.complex128)");
}

#[test]
fn rows_are_broken_at_the_line_width() {
    check_range(
        &[21],
        |i| i as i64 * 1000,
        "\
tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,
        10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000,
        20000])",
    );
    check_range(
        &[12],
        |i| i % 2 == 0,
        "\
tensor([ True, False,  True, False,  True, False,  True, False,  True, False,
         True, False])",
    );
    let digits = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2";
    let digit = |i| i as i64 % 10;
    check_range(&[1, 24], digit, &format!("tensor([[{digits}, 3]])"));
    check_range(&[1, 1, 24], digit, &format!("tensor([[[{digits},\n          3]]])"));
}

#[cfg(feature = "complex")]
#[test]
fn rows_of_complex_numbers_are_broken_where_pytorch_breaks_them() {
    check_range(
        &[11],
        |i| num_complex::Complex::new(i as f32 % 10.0, 1.0),
        "\
tensor([0.+1.j, 1.+1.j, 2.+1.j, 3.+1.j, 4.+1.j, 5.+1.j, 6.+1.j, 7.+1.j, 8.+1.j, 9.+1.j,
        0.+1.j])",
    );
}

#[test]
fn a_row_indented_beyond_the_line_width_has_one_element_per_line() {
    let mut shape = [1; 90];
    shape[89] = 2;
    let expected = format!("tensor({}0,\n{}1{})", "[".repeat(90), " ".repeat(97), "]".repeat(90));
    check_range(&shape, |i| i as i64, &expected);
}

#[test]
fn blocks_are_separated_by_one_newline_per_dimension() {
    check_range(&[2, 3], |i| i as i64, "tensor([[0, 1, 2],\n        [3, 4, 5]])");
    check_range(
        &[2, 1, 2, 2],
        |i| i as i64,
        "\
tensor([[[[0, 1],
          [2, 3]]],


        [[[4, 5],
          [6, 7]]]])",
    );
}

#[test]
fn more_than_a_thousand_elements_are_summarised() {
    assert!(!text(&[1000], &[0u8; 1000]).contains("..."));
    check_range(&[1001], |i| i as i64, "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
    check_range(
        &[3, 400],
        |i| i as i64,
        "\
tensor([[   0,    1,    2,  ...,  397,  398,  399],
        [ 400,  401,  402,  ...,  797,  798,  799],
        [ 800,  801,  802,  ..., 1197, 1198, 1199]])",
    );
    check_range(
        &[400, 1, 3],
        |i| i as i64,
        "\
tensor([[[   0,    1,    2]],

        [[   3,    4,    5]],

        [[   6,    7,    8]],

        ...,

        [[1191, 1192, 1193]],

        [[1194, 1195, 1196]],

        [[1197, 1198, 1199]]])",
    );
}

#[test]
fn dots_count_as_an_item_in_line_breaks() {
    check_range(
        &[1001],
        |i| u64::MAX - 1000 + i as u64,
        "\
tensor([18446744073709550615, 18446744073709550616, 18446744073709550617,
         ..., 18446744073709551613, 18446744073709551614,
        18446744073709551615], dtype=torch.uint64)",
    );
    check_range(
        &[3000],
        |i| 0.5 + i as f32,
        "\
tensor([5.0000e-01, 1.5000e+00, 2.5000e+00,  ..., 2.9975e+03, 2.9985e+03,
        2.9995e+03])",
    );
}

#[test]
fn elements_that_are_not_printed_do_not_affect_the_notation() {
    let middle_only = |i| if i == 1000 { 1e-9f32 } else { 1.0 };
    check_range(&[2001], middle_only, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
}

#[test]
fn empty_tensors_show_size_and_dtype() {
    assert_eq!(text::<f32>(&[0], &[]), "tensor([])");
    assert_eq!(text::<i64>(&[0], &[]), "tensor([], dtype=torch.int64)");
    assert_eq!(text::<bool>(&[0], &[]), "tensor([], dtype=torch.bool)");
    assert_eq!(text::<f32>(&[0, 3], &[]), "tensor([], size=(0, 3))");
    assert_eq!(text::<i64>(&[7, 0, 4, 2], &[]), "tensor([], size=(7, 0, 4, 2), dtype=torch.int64)");
    #[cfg(feature = "complex")]
    assert_eq!(text::<num_complex::Complex<f32>>(&[0], &[]), "tensor([], dtype=torch.complex64)");
}

#[test]
fn a_suffix_that_does_not_fit_starts_a_new_line() {
    let ones = ["1"; 17].join(", ");
    assert_eq!(text(&[17], &[1u8; 17]), format!("tensor([{ones}], dtype=torch.uint8)"));
    assert_eq!(text(&[18], &[1u8; 18]), format!("tensor([{ones}, 1],\n       dtype=torch.uint8)"));
    assert_eq!(
        text(&[2, 17], &[1u8; 34]),
        format!("tensor([[{ones}],\n        [{ones}]],\n       dtype=torch.uint8)"),
        "79 characters would fit, but PyTorch counts 81"
    );

    let mut shape = [1; 21];
    shape[0] = 0;
    let size = format!("size=(0, {})", ["1"; 20].join(", "));
    assert_eq!(
        text::<u8>(&shape, &[]),
        format!("tensor([],\n       {size},\n       dtype=torch.uint8)")
    );
    let size = format!("size=(0, {})", ["1"; 19].join(", "));
    assert_eq!(
        text::<u8>(&shape[..20], &[]),
        format!("tensor([], {size},\n       dtype=torch.uint8)")
    );
}

#[test]
fn printed_elements_are_read_once_and_no_others() {
    let reads = Cell::new(0);
    let text = text_of(&[1 << 20, 1 << 20], |_| {
        reads.set(reads.get() + 1);
        false
    });
    assert_eq!(reads.get(), 6 * 6);
    assert_eq!(text.matches("False").count(), 6 * 6);
}

#[test]
fn the_text_ends_at_the_limit() {
    let cut = |shape: &[usize], limit| {
        let mut text = String::new();
        let mut page = Page::new(&mut text);
        page.write_str(PREFIX).unwrap();
        let at = |index: &[usize]| position(shape, index) as i64 % 10;
        let end = write_elements(&mut page, shape, limit, at).unwrap();
        (end, text)
    };
    for (shape, limit, end, expected) in [
        (
            &[2, 2, 3][..],
            12,
            End::All,
            "tensor([[[0, 1, 2],\n         [3, 4, 5]],\n\n        \
             [[6, 7, 8],\n         [9, 0, 1]]]",
        ),
        (&[2, 2, 3], 6, End::Cut(6), "tensor([[[0, 1, 2],\n         [3, 4, 5]],\n\n        ...]"),
        (&[2, 2, 3], 4, End::Cut(4), "tensor([[[0, 1, 2],\n         [3,  ...]]]"),
        (&[2, 2, 3], 3, End::Cut(3), "tensor([[[0, 1, 2],\n         ...]]"),
        (&[2, 2, 3], 1, End::Cut(1), "tensor([[[0,  ...]]]"),
        (&[1001], 3, End::Cut(3), "tensor([0, 1, 2,  ...]"),
        (&[1001], 4, End::Cut(4), "tensor([0, 1, 2,  ..., 8,  ...]"),
        (&[1, 1], 1, End::All, "tensor([[0]]"),
    ] {
        assert_eq!(cut(shape, limit), (end, expected.to_owned()), "{shape:?} to {limit}");
    }
}

#[test]
fn a_text_that_ends_at_the_limit_has_a_note() {
    let text = text_of(&[6; 7], |_| true);
    let first = "tensor([[[[[[[True, True, True, True, True, True],\n";
    assert!(text.starts_with(first), "{}", &text[..100]);
    let last = "size=(6, 6, 6, 6, 6, 6, 6),\n       first 65536 of 279936 elements)";
    assert!(text.ends_with(last), "{}", &text[text.len() - 200..]);
    assert_eq!(text.matches("True").count(), 65536);
    assert!(text_of(&[6; 6], |_| true).ends_with("True]]]]]])"), "PyTorch prints all of these");
}

#[test]
fn the_length_of_the_text_is_bounded_for_any_rank() {
    for ndim in [24, 64, 1000, 100_000] {
        let mut shape = vec![1; ndim];
        shape[..23].fill(6);
        assert!(text_of(&shape, |_| 0i64).len() < 1 << 23, "{ndim}");
    }
}

#[test]
fn the_walk_keeps_three_items_at_either_end_of_long_dimensions() {
    let shape = [2, 1 << 40];
    let mut walk = Walk::new(&shape);
    let mut columns = vec![walk.index()[1]];
    while walk.advance().is_some() {
        columns.push(walk.index()[1]);
    }
    let end = 1 << 40;
    let row = [0, 1, 2, end - 3, end - 2, end - 1];
    assert_eq!(columns, [row, row].concat());
}
