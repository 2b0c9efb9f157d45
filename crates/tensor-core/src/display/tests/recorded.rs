//! Every line of `tests/data/display.jsonl`, recorded from PyTorch.

use serde_json::Value;

use super::text;

const LINES: &str = include_str!("../../../tests/data/display.jsonl");

fn list<T>(row: &Value, key: &str, convert: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    let values = row[key].as_array().into_iter().flatten();
    values.map(|value| convert(value).unwrap_or_else(|| panic!("{value} in {key}"))).collect()
}

/// Non-finite numbers are recorded as strings.
fn float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn printed(row: &Value) -> String {
    let shape = list(row, "shape", |size| usize::try_from(size.as_u64()?).ok());
    match row["dtype"].as_str() {
        Some("bool") => text(&shape, &list(row, "values", Value::as_bool)),
        Some("u8") => text(&shape, &list(row, "values", |v| u8::try_from(v.as_u64()?).ok())),
        Some("i64") => text(&shape, &list(row, "values", Value::as_i64)),
        Some("f32") => text(&shape, &list(row, "values", |v| Some(float(v)? as f32))),
        Some("f64") => text(&shape, &list(row, "values", float)),
        other => panic!("no dtype of the record: {other:?}"),
    }
}

#[test]
fn every_recorded_text_is_reproduced() {
    for (number, line) in (1..).zip(LINES.lines()) {
        let row: Value = serde_json::from_str(line).expect("a line holds one object");
        assert_eq!(printed(&row), row["text"], "line {number}");
    }
    assert!(LINES.lines().count() >= 250, "the record is cut short");
}
