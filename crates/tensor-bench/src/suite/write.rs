//! Cases in the form of a suite file: the inverse of parsing.

use std::io::Write;

use serde_json::{Map, Value, json};
use tensor_kernels::Slice;

use super::{Case, Op};
use crate::{
    Failure, Result,
    cases::{operand::Operand, view_op::ViewOp},
};

/// Writes a suite file, a case on each line.
///
/// # Errors
/// [`Failure::Output`] from the writer; a view operation that suite files do not have.
pub fn write(cases: &[Case], out: &mut dyn Write) -> Result<()> {
    let lines = cases.iter().map(|case| Ok(document(case)?.to_string()));
    let lines = lines.collect::<Result<Vec<String>>>()?;
    Ok(writeln!(out, "[\n{}\n]", lines.join(",\n"))?)
}

/// A case as an element of a suite file, with its layouts stated.
///
/// # Errors
/// A view operation that suite files do not have.
pub fn document(case: &Case) -> Result<Value> {
    let mut fields = Map::new();
    fields.insert("group".to_owned(), json!(case.group));
    fields.insert("id".to_owned(), json!(case.id));
    match case.operands.as_slice() {
        [operand] if case.op == Op::Copy => fields.extend(stated(operand)?),
        operands => {
            let operands = operands.iter().map(|operand| Ok(Value::Object(stated(operand)?)));
            fields.insert("op".to_owned(), json!(case.op.name()));
            fields.insert("out_dtype".to_owned(), json!(case.out.name()));
            if case.op.is_reduction() {
                fields.insert("dims".to_owned(), json!(case.dims));
            }
            fields.insert("operands".to_owned(), operands.collect::<Result<_>>()?);
        }
    }
    Ok(Value::Object(fields))
}

fn stated(operand: &Operand) -> Result<Map<String, Value>> {
    let ops = operand.ops.iter().map(view_op).collect::<Result<Vec<Value>>>()?;
    let layout = &operand.layout;
    let fields = [
        ("dtype", json!(operand.dtype.name())),
        ("base", json!(operand.base)),
        ("ops", Value::Array(ops)),
        ("shape", json!(layout.shape())),
        ("strides", json!(layout.strides())),
        ("offset", json!(layout.offset())),
    ];
    Ok(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn view_op(op: &ViewOp) -> Result<Value> {
    match op {
        ViewOp::Permute(dims) => Ok(json!(["permute", dims])),
        ViewOp::Expand(sizes) => Ok(json!(["expand", sizes])),
        ViewOp::Flip(dims) => Ok(json!(["flip", dims])),
        ViewOp::Slice(dim, Slice { start, end, step, .. }) => {
            Ok(json!(["slice", dim, start, end, step]))
        }
        ViewOp::Select(dim, index) => Ok(json!(["select", dim, index])),
        ViewOp::View(sizes) => Ok(json!(["view", sizes])),
        ViewOp::Unfold(dim, size, step) => Ok(json!(["unfold", dim, size, step])),
        ViewOp::AsStrided(sizes, strides, offset) => {
            Ok(json!(["as_strided", sizes, strides, offset]))
        }
        other => Err(Failure::input(format!("a suite file has no view operation {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::read, *};

    #[test]
    fn what_is_written_is_read_back_as_it_was() {
        let text = r#"[
            {"group": "g", "id": "c", "dtype": "u16", "base": [4, 6], "ops": [
                ["slice", 1, 0, null, 2], ["permute", [1, 0]], ["flip", 0]]},
            {"group": "g", "id": "v", "dtype": "f32", "base": [4, 6], "ops": [
                ["view", [24]], ["unfold", 0, 4, 2], ["select", 1, -1],
                ["as_strided", [3, 2], [4, 5], null]]},
            {"group": "g", "id": "o", "dtype": "f32", "base": [24], "ops": [
                ["as_strided", [3, 2], [4, 5], 7]]},
            {"group": "g", "id": "e", "op": "cast", "out_dtype": "f32", "operands": [
                {"dtype": "u8", "base": [1, 4], "ops": [["expand", [8, 4]]]}]},
            {"group": "g", "id": "r", "op": "argmax", "dims": [-1, 0], "operands": [
                {"dtype": "f32", "base": [2, 3, 4], "ops": []}]}]"#;
        let cases = read(text).unwrap();
        let mut written = Vec::new();
        write(&cases, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(read(&written).unwrap(), cases);
        assert_eq!(written.lines().count(), cases.len() + 2);
        assert!(written.contains(r#""shape":[3,4],"strides":[-2,6]"#), "{written}");
    }

    #[test]
    fn what_suite_files_do_not_have_is_refused() {
        let mut cases =
            read(r#"[{"group": "g", "id": "c", "dtype": "u8", "base": [4], "ops": []}]"#).unwrap();
        cases[0].operands[0].ops.push(ViewOp::T);
        let refused = document(&cases[0]).unwrap_err().to_string();
        assert_eq!(refused, "a suite file has no view operation .t()");
    }
}
