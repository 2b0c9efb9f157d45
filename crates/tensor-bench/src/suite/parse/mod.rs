//! Parsing of suite files. Every error names its case and is reported before anything is measured.

mod operand;

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::DType;

use super::{Case, Op};
use crate::{Failure, Result, cases::operand::Operand};
use operand::operand;

/// Reads a suite.
///
/// # Errors
/// [`Failure::Input`] that names the case.
pub fn read(text: &str) -> Result<Vec<Case>> {
    let not_a_suite = |error| Failure::input(format!("not a suite: {error}"));
    let values: Vec<Value> = serde_json::from_str(text).map_err(not_a_suite)?;
    let cases = values.iter().enumerate().map(|(at, value)| {
        checked(value).map_err(|reason| Failure::input(reason).at(name(at, value)))
    });
    let cases = cases.collect::<Result<Vec<Case>>>()?;
    different(&cases)?;
    Ok(cases)
}

/// Reads one case.
///
/// # Errors
/// [`Failure::Input`] without the name of the case.
pub fn case(value: &Value) -> Result<Case> {
    checked(value).map_err(Failure::input)
}

fn name(at: usize, value: &Value) -> String {
    match value.get("id").and_then(Value::as_str) {
        Some(id) => format!("case {id}"),
        None => format!("case number {at}"),
    }
}

/// Figures are kept by name, so two cases of one name would be taken for each other.
fn different(cases: &[Case]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for (at, case) in cases.iter().enumerate() {
        if let Some(before) = seen.insert((&case.group, &case.id), at) {
            let why = format!("two cases are called {case}: numbers {before} and {at} of the list");
            return Err(Failure::input(why));
        }
    }
    Ok(())
}

/// The error is about one case; the caller adds its name.
type Checked<T> = Result<T, String>;

#[derive(Deserialize)]
struct Head {
    group: String,
    id: String,
    op: Option<String>,
    out_dtype: Option<String>,
    operands: Option<Vec<Value>>,
    dims: Option<Vec<isize>>,
}

/// The keys of a case with a list of operands. A copy has those of its operand instead of the list.
const KEYS: [&str; 6] = ["group", "id", "op", "out_dtype", "dims", "operands"];

fn checked(value: &Value) -> Checked<Case> {
    let of_copy = || KEYS[..4].iter().chain(&operand::KEYS).copied().collect();
    let known = if value.get("operands").is_some() { KEYS.to_vec() } else { of_copy() };
    let head = Head::deserialize(value).map_err(|error| error.to_string())?;
    known_keys(value, &known)?;
    if [&head.group, &head.id].iter().any(|name| name.contains(char::is_control)) {
        return Err("a name with a control character".to_owned());
    }
    let op = head.op.as_deref().map_or(Ok(Op::Copy), op)?;
    let operands = operands(value, op, head.operands.as_deref())?;
    let first = operands.first().ok_or("no operands")?;
    let dims = dims(op, first.layout.ndim(), head.dims)?;
    let out = match head.out_dtype {
        Some(name) => dtype(&name)?,
        None => op.usual_result(first.dtype),
    };
    let case = Case { group: head.group, id: head.id, op, out, operands, dims };
    check(&case)?;
    Ok(case)
}

/// A key that is passed over could be one that was misspelled, and another thing be measured.
fn known_keys(value: &Value, known: &[&str]) -> Checked<()> {
    let mut keys = value.as_object().into_iter().flat_map(|fields| fields.keys());
    match keys.find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("unknown key '{key}': expected one of {}", known.join(", "))),
    }
}

fn operands(value: &Value, op: Op, list: Option<&[Value]>) -> Checked<Vec<Operand>> {
    let listed = |(at, value): (usize, &Value)| {
        known_keys(value, &operand::KEYS).map_err(|why| format!("operand number {at}: {why}"))?;
        operand(value)
    };
    match list {
        None if op == Op::Copy => Ok(vec![operand(value)?]),
        None => Err(format!("{} needs operands", op.name())),
        Some([]) => Err(format!("{} takes {} operands, not 0", op.name(), op.arity())),
        Some(list) => list.iter().enumerate().map(listed).collect(),
    }
}

fn op(name: &str) -> Checked<Op> {
    let names = || Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
    Op::named(name).ok_or_else(|| format!("unknown op '{name}': expected one of {}", names()))
}

fn dtype(name: &str) -> Checked<DType> {
    name.parse().map_err(|error: tensor_kernels::Error| error.to_string())
}

/// The dimensions that a reduction reduces, as indices from 0; none for other work.
fn dims(op: Op, ndim: usize, stated: Option<Vec<isize>>) -> Checked<Vec<usize>> {
    match stated {
        None if op.is_reduction() => Err(format!("{} needs dims, as in \"dims\": [0]", op.name())),
        None => Ok(Vec::new()),
        Some(_) if !op.is_reduction() => Err(format!("{} takes no dims", op.name())),
        Some(dims) if dims.is_empty() => Err("dims [] names no dimension".to_owned()),
        Some(dims) => {
            let found = dims.iter().map(|&dim| index(dim, ndim));
            let found = found.collect::<Checked<Vec<usize>>>()?;
            let twice = found.iter().enumerate().find(|(at, dim)| found[..*at].contains(dim));
            match twice {
                Some((_, dim)) => Err(format!("dims {dims:?} names dimension {dim} twice")),
                None => Ok(found),
            }
        }
    }
}

/// The dimensions that a reduction reduces, counted from 0.
///
/// # Errors
/// An operation that is no reduction; no dimension, one that does not exist, one named twice.
pub fn reduced_dims(op: Op, ndim: usize, stated: &[isize]) -> Result<Vec<usize>, String> {
    dims(op, ndim, Some(stated.to_vec()))
}

/// A dimension counted from 0; negative ones count from the end.
fn index(dim: isize, ndim: usize) -> Checked<usize> {
    let from_start = if dim < 0 { dim.checked_add_unsigned(ndim) } else { Some(dim) };
    let found = from_start.and_then(|dim| usize::try_from(dim).ok()).filter(|&dim| dim < ndim);
    found.ok_or_else(|| format!("dims: there is no dimension {dim} of {ndim}"))
}

fn check(case: &Case) -> Checked<()> {
    let Case { op, operands, .. } = case;
    if operands.len() != op.arity() {
        return Err(format!("{} takes {} operands, not {}", op.name(), op.arity(), operands.len()));
    }
    let shape = operands[0].layout.shape();
    if let Some(other) = operands.iter().find(|operand| operand.layout.shape() != shape) {
        return Err(format!(
            "operands of different shapes {shape:?} and {:?}",
            other.layout.shape()
        ));
    }
    check_dtypes(case)?;
    operands[0].layout.dense_bytes(case.out.size()).map_err(|error| error.to_string())?;
    if operands[0].layout.numel() == 0 {
        return Err(format!("shape {shape:?} has no elements: there is nothing to measure"));
    }
    Ok(())
}

fn check_dtypes(case: &Case) -> Checked<()> {
    let Case { op, out, operands, .. } = case;
    if let Some(why) = operands.iter().find_map(|operand| op.refusal(operand.dtype)) {
        return Err(why);
    }
    let from = operands[0].dtype;
    if *op == Op::Cast {
        return match Op::casts(from, *out) {
            true => Ok(()),
            false => Err(format!("cast from {from} to {out}: one of the two must be f32 or f64")),
        };
    }
    match operands.iter().find(|operand| op.usual_result(operand.dtype) != *out) {
        Some(other) if op.usual_result(other.dtype) != other.dtype => {
            let right = op.usual_result(other.dtype);
            Err(format!("{} of {} gives {right}, not {out}", op.name(), other.dtype))
        }
        Some(other) => {
            Err(format!("an operand of dtype {} for a result of dtype {out}", other.dtype))
        }
        None => match operands.iter().find(|operand| operand.dtype != from) {
            Some(other) => Err(format!("operands of different dtypes {from} and {}", other.dtype)),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests;
