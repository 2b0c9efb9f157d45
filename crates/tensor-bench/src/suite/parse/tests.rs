use super::{super::Against, *};

fn copy(fields: &str) -> String {
    format!("[{{\"group\": \"g\", \"id\": \"c1\", {fields}}}]")
}

fn refusal(text: &str) -> String {
    let error = read(text).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn a_copy_case_is_read_and_its_layout_worked_out() {
    let text = copy(
        r#""dtype": "u16", "base": [4, 6],
           "ops": [["slice", 1, 0, 6, 2], ["permute", [1, 0]], ["flip", 0]],
           "shape": [3, 4], "strides": [-2, 6], "offset": 4"#,
    );
    let case = &read(&text).unwrap()[0];
    assert_eq!((case.op, case.out, case.to_string().as_str()), (Op::Copy, DType::U16, "g/c1"));
    assert_eq!((case.bytes(), case.operands[0].layout.strides()), (24, &[-2, 6][..]));
}

#[test]
fn every_view_operation_is_applied() {
    let cases: &[(&str, &[usize], &[isize], usize)] = &[
        (r#"["view", [4, 6]], ["select", 0, -1]"#, &[6], &[1], 18),
        (r#"["view", [-1]], ["unfold", 0, 4, 2]"#, &[11, 4], &[2, 1], 0),
        (r#"["as_strided", [3, 5], [2, 3], 1]"#, &[3, 5], &[2, 3], 1),
        (r#"["as_strided", [3, 5], [2, 3]], ["flip", [0, 1]]"#, &[3, 5], &[-2, -3], 16),
        (r#"["as_strided", [4, 3], [0, 1], null]"#, &[4, 3], &[0, 1], 0),
    ];
    for (ops, shape, strides, offset) in cases {
        let text = copy(&format!(r#""dtype": "u8", "base": [2, 12], "ops": [{ops}]"#));
        let layout = &read(&text).unwrap()[0].operands[0].layout;
        let found = (layout.shape(), layout.strides(), layout.offset());
        assert_eq!(found, (*shape, *strides, *offset), "{ops}");
    }
    // Windows that overlap have no more distinct elements than the array.
    let text = copy(r#""dtype": "u8", "base": [9], "ops": [["unfold", 0, 5, 1]]"#);
    let operand = &read(&text).unwrap()[0].operands[0];
    assert_eq!((operand.result_bytes(), operand.stored_bytes()), (25, 9));
}

#[test]
fn an_elementwise_case_counts_the_bytes_it_reads_and_writes() {
    let text = r#"[{"group": "g", "id": "e", "op": "add", "out_dtype": "f32", "operands": [
        {"dtype": "f32", "base": [8, 4], "ops": []},
        {"dtype": "f32", "base": [4], "ops": [["expand", [8, 4]]]}]}]"#;
    let case = &read(text).unwrap()[0];
    assert_eq!((case.bytes(), case.result_bytes()), (128 + 16 + 128, 128));
    assert_eq!(case.memory(Against::NAIVE), 128 + 16 + 2 * 128 + 6 * 128);
}

#[test]
fn a_name_that_steers_a_terminal_is_refused() {
    let text = copy(r#""dtype": "u8", "base": [4], "ops": []"#).replace("c1", "\\u001b[2J");
    assert!(refusal(&text).ends_with("a name with a control character"), "{text}");
}

#[test]
fn whatever_is_wrong_is_said_with_the_case() {
    let cases = [
        (r#""dtype": "f31", "base": [2], "ops": []"#, "case c1: unknown dtype 'f31'"),
        (r#""dtype": "f32", "base": [2]"#, "case c1: missing field `ops`"),
        (r#""dtype": "f32", "base": [-2], "ops": []"#, "case c1: invalid value: integer `-2`"),
        (r#""dtype": "f32", "base": "2", "ops": []"#, "case c1: invalid type"),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [["permute", [0, 0]]]"#,
            "case c1: permute(): duplicate",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [["permute"]]"#,
            "case c1: malformed view operation [\"permute\"]: expected [\"permute\", [dims]]",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [["roll", 1]]"#,
            "case c1: unknown view operation",
        ),
        (
            r#""dtype": "f32", "base": [6], "ops": [["unfold", 0, -2, 1]]"#,
            "case c1: malformed view operation [\"unfold\",0,-2,1]: expected [\"unfold\", dim,",
        ),
        (
            r#""dtype": "f32", "base": [6], "ops": [["as_strided", [2], [1], -1]]"#,
            "case c1: malformed view operation [\"as_strided\"",
        ),
        (
            r#""dtype": "f32", "base": [6], "ops": [["as_strided", [2, 3], [1, 3]]]"#,
            "case c1: sizes [2, 3] with strides [1, 3] and storage offset 0 reach beyond the end",
        ),
        (
            r#""dtype": "f32", "base": [6], "ops": [["view", [4, -1]]]"#,
            "case c1: shape '[4, -1]' is invalid",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [["select", 1, 3]]"#,
            "case c1: select(): index 3 out of range",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [["slice", 0, 0, 2, 0]]"#,
            "case c1: slice step",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [], "shape": [3, 2]"#,
            "case c1: shape [3, 2] is stated",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [], "strides": [1, 2]"#,
            "case c1: strides [1, 2] are stated",
        ),
        (
            r#""dtype": "f32", "base": [2, 3], "ops": [], "offset": 1"#,
            "case c1: offset 1 is stated",
        ),
        (r#""dtype": "f32", "base": [2, 0], "ops": []"#, "case c1: shape [2, 0] has no elements"),
        (
            r#""dtype": "f32", "base": [4294967296, 4294967296], "ops": []"#,
            "case c1: Storage size calculation overflowed",
        ),
        (r#""op": "frob", "out_dtype": "f32", "operands": []"#, "case c1: unknown op 'frob'"),
        (
            r#""op": "add", "out_dtype": "f32", "operands": []"#,
            "case c1: add takes 2 operands, not 0",
        ),
        (r#""op": "add", "dtype": "f32", "base": [2], "ops": []"#, "case c1: add needs operands"),
        (
            r#""opp": "exp", "dtype": "f32", "base": [2], "ops": []"#,
            "case c1: unknown key 'opp': expected one of group, id, op, out_dtype, dtype, base",
        ),
        (
            r#""dtype": "f32", "base": [2], "ops": [], "dims": [0]"#,
            "case c1: unknown key 'dims': expected",
        ),
        (
            r#""op": "neg", "base": [2], "operands": [{"dtype": "f32", "base": [2], "ops": []}]"#,
            "case c1: unknown key 'base': expected one of group, id, op, out_dtype, dims",
        ),
        (
            r#""op": "neg", "operands": [{"dtype": "f32", "base": [2], "ops": [], "stride": [1]}]"#,
            "case c1: operand number 0: unknown key 'stride': expected one of dtype, base, ops",
        ),
    ];
    for (fields, reason) in cases {
        let text = refusal(&copy(fields));
        assert!(text.starts_with(reason), "{fields}: {text}");
    }
}

#[test]
fn operands_must_agree() {
    let pair = |other: &str| {
        format!(
            r#"[{{"group": "g", "id": "e", "op": "add", "out_dtype": "f32", "operands": [
                {{"dtype": "f32", "base": [2, 3], "ops": []}}, {{{other}, "ops": []}}]}}]"#
        )
    };
    let shape = refusal(&pair(r#""dtype": "f32", "base": [3, 2]"#));
    assert_eq!(shape, "case e: operands of different shapes [2, 3] and [3, 2]");
    let dtype = refusal(&pair(r#""dtype": "f64", "base": [2, 3]"#));
    assert_eq!(dtype, "case e: an operand of dtype f64 for a result of dtype f32");
    let root = r#"[{"group": "g", "id": "e", "op": "sqrt", "out_dtype": "i32", "operands": [
        {"dtype": "i32", "base": [2], "ops": []}]}]"#;
    let cast = root.replace("sqrt", "cast").replacen("i32", "u8", 1);
    assert_eq!(refusal(&cast), "case e: cast from i32 to u8: one of the two must be f32 or f64");
    assert_eq!(refusal(root), "case e: sqrt of i32 gives f32, not i32");
    let narrow = root.replace("i32", "i16");
    assert!(refusal(&narrow).starts_with("case e: sqrt of i16 is not measured: expected one of"));
    let mixed = r#"[{"group": "g", "id": "e", "op": "div", "out_dtype": "f32", "operands": [
        {"dtype": "i32", "base": [2], "ops": []}, {"dtype": "f32", "base": [2], "ops": []}]}]"#;
    assert_eq!(refusal(mixed), "case e: operands of different dtypes i32 and f32");
}

#[test]
fn what_is_not_a_list_of_cases_is_refused() {
    assert!(refusal("{}").starts_with("not a suite: "));
    assert!(refusal("[{").starts_with("not a suite: "));
    assert!(refusal("[5]").starts_with("case number 0: "));
}

#[test]
fn two_cases_of_one_name_are_refused_with_their_places() {
    let case = |group: &str| {
        format!(r#"{{"group": "{group}", "id": "a", "dtype": "u8", "base": [4], "ops": []}}"#)
    };
    let text = format!("[{}, {}, {}]", case("g"), case("h"), case("g"));
    assert_eq!(refusal(&text), "two cases are called g/a: numbers 0 and 2 of the list");
    assert_eq!(read(&format!("[{}, {}]", case("g"), case("h"))).unwrap().len(), 2);
}

fn reduction(op: &str, fields: &str) -> String {
    format!(
        r#"[{{"group": "g", "id": "r", "op": "{op}", "operands": [
            {{"dtype": "f32", "base": [2, 3, 4], "ops": []}}]{fields}}}]"#
    )
}

#[test]
fn a_reduction_has_dimensions_and_a_result_without_them() {
    let case = &read(&reduction("argmax", r#", "dims": [-1, 0]"#)).unwrap()[0];
    assert_eq!((case.dims.as_slice(), case.out), (&[2, 0][..], DType::I64));
    assert_eq!((case.shape().as_slice(), case.result_bytes()), (&[3][..], 24));
    assert_eq!((case.bytes(), case.full_bytes()), (96 + 24, 96));
    let all = &read(&reduction("sum", r#", "dims": [0, 1, 2], "out_dtype": "f32""#)).unwrap()[0];
    assert_eq!((all.shape().len(), all.result_bytes()), (0, 4));
}

#[test]
fn fault_dimensions_that_cannot_be_reduced_are_refused_with_the_reason() {
    let cases = [
        ("sum", "", "sum needs dims, as in \"dims\": [0]"),
        ("sum", r#", "dims": []"#, "dims [] names no dimension"),
        ("sum", r#", "dims": [3]"#, "dims: there is no dimension 3 of 3"),
        ("sum", r#", "dims": [-4]"#, "dims: there is no dimension -4 of 3"),
        ("sum", r#", "dims": [-9223372036854775808]"#, "dims: there is no dimension -92233720"),
        ("sum", r#", "dims": [1, -2]"#, "dims [1, -2] names dimension 1 twice"),
        ("sum", r#", "dims": 1"#, "invalid type: integer `1`, expected a sequence"),
        ("neg", r#", "dims": [0]"#, "neg takes no dims"),
        ("argmax", r#", "dims": [0], "out_dtype": "f32""#, "argmax of f32 gives i64, not f32"),
    ];
    for (op, fields, reason) in cases {
        let refused = refusal(&reduction(op, fields));
        assert!(refused.starts_with(&format!("case r: {reason}")), "{refused}");
    }
}
