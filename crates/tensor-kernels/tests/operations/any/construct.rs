//! Constructors and `item`, against the records of PyTorch that `scripts/golden_construct.py` made.

use std::{fs, path::Path};

use serde::Deserialize;
use tensor_kernels::{AnyTensor, AnyValue, DType, Result};

use super::operations::sentence;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    op: String,
    dtype: String,
    args: serde_json::Value,
    ok: Option<(Vec<usize>, Vec<isize>, Vec<f64>)>,
    error: Option<String>,
}

impl Record {
    fn run(&self) -> Result<AnyTensor> {
        let dtype: DType = self.dtype.parse().expect("a dtype");
        let numbers = || -> Vec<f64> { serde_json::from_value(self.args.clone()).unwrap() };
        let sizes = || -> Vec<usize> { numbers().into_iter().map(|size| size as usize).collect() };
        let base = || {
            let (shape, order): (Vec<usize>, Vec<usize>) =
                serde_json::from_value(self.args.clone()).unwrap();
            AnyTensor::zeros(shape, dtype)?.permute(order)
        };
        match &self.op[..] {
            "arange" => {
                let values: Vec<serde_json::Value> =
                    serde_json::from_value(self.args.clone()).unwrap();
                let value = |at: usize| match values[at].as_i64() {
                    Some(integer) => AnyValue::from(integer),
                    None => AnyValue::from(values[at].as_f64().expect("a number")),
                };
                AnyTensor::arange(value(0), value(1), value(2), dtype)
            }
            "linspace" => {
                let [start, end, steps] = numbers()[..] else { panic!("three numbers") };
                AnyTensor::linspace(start, end, steps as usize, dtype)
            }
            "eye" => AnyTensor::eye(sizes()[0], sizes()[1], dtype),
            "ones" => AnyTensor::ones(sizes(), dtype),
            "full" => AnyTensor::full(sizes(), 2, dtype),
            "zeros_like" => base()?.zeros_like(),
            "ones_like" => base()?.ones_like(),
            "full_like" => base()?.full_like(3),
            "item" => {
                let item = AnyTensor::ones(sizes(), dtype)?.item()?;
                AnyTensor::full((), item, dtype)
            }
            other => panic!("no operation {other}"),
        }
    }
}

/// Values of floats may differ in the last place: PyTorch computes equal distances in the dtype.
fn is_close(found: f64, expected: f64, dtype: DType) -> bool {
    let last_place = match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::Bf16 => 2f64.powi(-7),
        DType::F32 => 2f64.powi(-23),
        DType::F64 => 2f64.powi(-52),
        _ => 0.0,
    };
    (found - expected).abs() <= last_place * expected.abs().max(0.5)
}

#[test]
fn constructors_give_what_pytorch_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/construct.jsonl");
    let records = fs::read_to_string(path).expect("the records");
    let mut count = 0;
    for line in records.lines() {
        let record: Record = serde_json::from_str(line).expect("a record");
        let Ok(dtype) = record.dtype.parse::<DType>() else { panic!("{line}") };
        if AnyTensor::zeros((), dtype).is_err() {
            continue; // a build without this dtype
        }
        count += 1;
        let result = record.run();
        match (&record.ok, &record.error, result) {
            (Some((shape, strides, values)), _, Ok(found)) => {
                assert_eq!((found.shape(), found.strides()), (&shape[..], &strides[..]), "{line}");
                assert_eq!(found.dtype(), dtype, "{line}");
                let found: Vec<f64> = found.iter().unwrap().map(AnyValue::to).collect();
                let pairs = || found.iter().zip(values);
                assert_eq!(found.len(), values.len(), "{line}");
                assert!(pairs().all(|(&a, &b)| is_close(a, b, dtype)), "{found:?}: {line}");
            }
            (_, Some(expected), Err(refused)) => {
                assert_eq!(sentence(&refused), *expected, "{line}");
            }
            (_, _, result) => panic!("{result:?}: {line}"),
        }
    }
    assert!(count >= 300, "{count} records");
}
