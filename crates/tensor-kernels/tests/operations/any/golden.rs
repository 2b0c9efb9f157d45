//! Every pair of dtypes: the dtype and the values of results as PyTorch 2.15 computes them.
//!
//! Where the two differ on purpose the difference is stated here: [`more_here`] and
//! [`less_here`].

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::{
    AnyTensor, AnyTensorExt, AnyValue, DType, can_cast, promote_types, result_type,
};

use super::operations::{Operand, binary, sentence, unary};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    op: String,
    /// Of each operand: 1 and 0 for tensors of that rank, v for a value.
    ranks: String,
    a: String,
    results: BTreeMap<String, Value>,
}

fn dtype(name: &str) -> DType {
    match name {
        // PyTorch's complex numbers of halves, which do not exist here.
        "complex32" | "bcomplex32" => DType::C64,
        name => name.parse().expect(name),
    }
}

fn in_build(name: &str) -> bool {
    AnyTensor::zeros((), dtype(name)).is_ok()
}

/// The operands of the records: `FIRST` and `SECOND` of the script that made them.
fn values(dtype: DType, second: bool) -> [AnyValue; 3] {
    let ints = |values: [i32; 3]| values.map(AnyValue::from);
    match (dtype.name().as_bytes()[0], second) {
        (b'b', false) if dtype == DType::Bool => [true, false, true].map(AnyValue::from),
        (b'b', true) if dtype == DType::Bool => [true; 3].map(AnyValue::from),
        (b'u', false) => ints([3, 1, 6]),
        (b'i', false) => ints([-3, 1, 6]),
        (b'u' | b'i', true) => ints([2, 5, 1]),
        (b'c', false) => [(-1.5, 2.0), (0.5, -1.0), (3.0, 0.0)].map(complex),
        (b'c', true) => [(0.5, 1.0), (2.0, -0.5), (1.5, 0.0)].map(complex),
        (_, false) => [-1.5, 0.5, 6.25].map(AnyValue::from),
        (_, true) => [0.5, 2.0, 1.5].map(AnyValue::from),
    }
}

fn complex((re, im): (f64, f64)) -> AnyValue {
    AnyValue::Complex(re, im)
}

fn operand(dtype: DType, rank: char, second: bool) -> AnyTensor {
    let values = values(dtype, second);
    if rank == '0' {
        return AnyTensor::full((), values[0], dtype).expect("in the build");
    }
    let tensor = AnyTensor::zeros([3], dtype).expect("in the build");
    for (i, value) in values.into_iter().enumerate() {
        tensor.set(&[i], value).expect("an index of three");
    }
    tensor
}

fn value(name: &str) -> AnyValue {
    match name {
        "true" => true.into(),
        "3" => 3.into(),
        "2.5" => 2.5.into(),
        _ => complex((0.0, 1.0)),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::String(text) => text.parse().expect("inf or nan"),
        other => other.as_f64().expect("a number"),
    }
}

fn parts(value: &Value) -> [f64; 2] {
    value
        .as_array()
        .map_or_else(|| [number(value), 0.0], |pair| [number(&pair[0]), number(&pair[1])])
}

fn parts_of(value: AnyValue) -> [f64; 2] {
    match value {
        AnyValue::Bool(value) => [f64::from(u8::from(value)), 0.0],
        AnyValue::Int(value) => [value as f64, 0.0],
        AnyValue::Float(value) => [value, 0.0],
        AnyValue::Complex(re, im) => [re, im],
        _ => panic!("a new kind of value"),
    }
}

/// The relative error allowed, of the whole number. The records have 9 digits, of
/// doubles 13.
fn tolerance(dtype: &str) -> f64 {
    match dtype {
        "f16" | "complex32" => 2e-3,
        "bf16" | "bcomplex32" => 1.6e-2,
        "f32" | "c64" => 1e-6,
        "f64" | "c128" => 1e-12,
        _ => 0.0,
    }
}

fn close(got: [f64; 2], expected: [f64; 2], tolerance: f64) -> bool {
    let size = expected[0].hypot(expected[1]).max(1.0);
    got.into_iter().zip(expected).all(|(got, expected)| {
        got == expected
            || (got.is_nan() && expected.is_nan())
            || (got - expected).abs() <= tolerance * size
    })
}

/// Compares a tensor with a recorded one.
fn compare(got: &AnyTensor, recorded: &Value) -> Result<(), String> {
    let name = recorded[0].as_str().expect("a dtype");
    let flat = got.reshape([-1]).expect("one dimension");
    let expected = recorded[1].as_array().expect("values");
    let all: Vec<_> = (0..flat.numel()).map(|i| flat.get(&[i]).expect("an element")).collect();
    let same = all.len() == expected.len()
        && all
            .iter()
            .zip(expected)
            .all(|(&got, expected)| close(parts_of(got), parts(expected), tolerance(name)));
    match got.dtype() == dtype(name) && same {
        true => Ok(()),
        false => Err(format!("{} {all:?}, PyTorch's is {recorded}", got.dtype())),
    }
}

/// PyTorch refuses it, and it is defined here.
fn more_here(op: &str, dtypes: &[DType], refusal: &str) -> bool {
    let wide = dtypes.iter().any(|d| matches!(d, DType::U16 | DType::U32 | DType::U64));
    let not_implemented = refusal.contains("not implemented for");
    // The typed operations are defined for these, too.
    let of_bool = matches!(op, "argmin" | "argmax") && dtypes == [DType::Bool];
    // bcomplex32 has no arithmetic there.
    let halves = refusal.contains("BComplex32") || refusal.contains("ComplexHalf");
    (wide && not_implemented) || of_bool || halves
}

/// It is defined in PyTorch, and refused here.
fn less_here(op: &str, dtypes: &[DType]) -> bool {
    let complex = dtypes.iter().any(|d| matches!(d, DType::C64 | DType::C128));
    let bools = dtypes.iter().all(|&d| d == DType::Bool);
    // The power of bools is refused there as well, but for the value True, which is 1.
    (complex && matches!(op, "silu" | "logsumexp" | "var" | "std" | "norm"))
        || (bools && op == "pow")
}

fn check(
    op: &str,
    dtypes: &[DType],
    got: tensor_kernels::Result<AnyTensor>,
    recorded: &Value,
) -> Result<(), String> {
    match (got, recorded.as_str()) {
        (Ok(got), None) => compare(&got, recorded),
        (Ok(_), Some(refusal)) if more_here(op, dtypes, refusal) => Ok(()),
        (Ok(got), Some(refusal)) => Err(format!("{got:?}, PyTorch: {refusal}")),
        (Err(_), None) if less_here(op, dtypes) => Ok(()),
        (Err(refused), None) => Err(format!("refused: {refused}; PyTorch's is {recorded}")),
        (Err(refused), Some("Promotion")) => {
            let text = sentence(&refused);
            let same = text.starts_with("Promotion for uint16, uint32, uint64 types");
            if same { Ok(()) } else { Err(text) }
        }
        (Err(refused), Some(_)) if refused.to_string().is_empty() => Err("no text".to_owned()),
        (Err(_), Some(_)) => Ok(()),
    }
}

fn check_record(record: &Record, b: &str, recorded: &Value) -> Result<(), String> {
    let ranks: Vec<char> = record.ranks.chars().collect();
    let (op, first) = (record.op.as_str(), record.a.as_str());
    match (op, &ranks[..]) {
        ("promote_types", _) => match (promote_types(dtype(first), dtype(b)), recorded.as_str()) {
            (Ok(got), Some(name)) if got.name() == name => Ok(()),
            (Err(refused), Some(text)) if sentence(&refused) == text => Ok(()),
            (got, _) => Err(format!("{got:?}, PyTorch: {recorded}")),
        },
        ("can_cast", _) => {
            match can_cast(dtype(first), dtype(b)) == recorded.as_bool().expect("a bool") {
                true => Ok(()),
                false => Err(format!("PyTorch: {recorded}")),
            }
        }
        (_, &[rank]) => {
            check(op, &[dtype(b)], unary(op, &operand(dtype(b), rank, false)), recorded)
        }
        (_, &[rank, 'v']) => {
            let a = operand(dtype(first), rank, false);
            check_binary(op, &a, value(b).into(), recorded)
        }
        (_, &[rank, other]) => {
            let (a, b) = (operand(dtype(first), rank, false), operand(dtype(b), other, true));
            check_binary(op, &a, (&b).into(), recorded)
        }
        _ => Err("a record of another kind".to_owned()),
    }
}

fn check_binary(op: &str, a: &AnyTensor, b: Operand<'_>, recorded: &Value) -> Result<(), String> {
    let dtypes = [a.dtype(), b.dtype()];
    if op != "result_type" {
        return check(op, &dtypes, binary(op, a, b), recorded);
    }
    match (result_type(&[a.into(), b]), recorded.as_str().expect("a name or an error")) {
        (Err(_), "Promotion") => Ok(()),
        (Ok(got), name) if name != "Promotion" && got == dtype(name) => Ok(()),
        (got, name) => Err(format!("{got:?}, PyTorch: {name}")),
    }
}

/// Needs a value of this build: complex ones need complex numbers.
fn available(record: &Record, b: &str, recorded: &Value) -> bool {
    let names = [record.a.as_str(), b];
    let of_build = |name: &&str| name.parse::<DType>().is_err() || in_build(name);
    let result = recorded.as_str().or_else(|| recorded[0].as_str()).unwrap_or("bool");
    let result = if result.contains("complex") { "c64" } else { result };
    names.iter().all(of_build) && of_build(&result)
}

#[test]
fn results_are_those_of_pytorch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/promotion.jsonl");
    let text = fs::read_to_string(path).expect("the records");
    let (mut failures, mut checked) = (Vec::new(), 0);
    for line in text.lines() {
        let record: Record = serde_json::from_str(line).expect("a record");
        for (b, recorded) in &record.results {
            if !available(&record, b, recorded) {
                continue;
            }
            checked += 1;
            if let Err(why) = check_record(&record, b, recorded) {
                failures.push(format!("{} {} {} {b}: {why}", record.op, record.ranks, record.a));
            }
        }
    }
    println!("{checked} results");
    let shown = failures.iter().take(60).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {checked} differ:\n{shown}", failures.len());
}
