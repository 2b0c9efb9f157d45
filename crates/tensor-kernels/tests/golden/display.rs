//! The text of a tensor, character for character.

use serde::Deserialize;
use serde_json::Value;
use tensor_kernels::{Scalar, Tensor};

use crate::record::{Failure, Tally};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Printed {
    dtype: String,
    shape: Vec<usize>,
    values: Vec<Value>,
    text: String,
}

pub(crate) fn check(record: &Printed, tally: &mut Tally) -> Result<(), Failure> {
    tally.steps += 1;
    let ours = record.print()?;
    if ours == record.text {
        return Ok(());
    }
    let Printed { dtype, shape, text, .. } = record;
    Err(format!("{dtype} of size {shape:?}\n{ours}\nbut PyTorch prints\n{text}"))
}

impl Printed {
    fn print(&self) -> Result<String, Failure> {
        match self.dtype.as_str() {
            "bool" => self.print_as(Value::as_bool),
            "u8" => self.print_as(|value| u8::try_from(value.as_u64()?).ok()),
            "i64" => self.print_as(Value::as_i64),
            "f32" => self.print_as(|value| Some(number(value)? as f32)),
            "f64" => self.print_as(number),
            other => Err(format!("no dtype of these records: {other}")),
        }
    }

    fn print_as<T: Scalar>(
        &self,
        element: impl Fn(&Value) -> Option<T>,
    ) -> Result<String, Failure> {
        let element = |value| element(value).ok_or_else(|| format!("no {}: {value}", self.dtype));
        let values = self.values.iter().map(element).collect::<Result<_, _>>()?;
        let tensor: Tensor<T> =
            Tensor::from_vec(values, &self.shape).map_err(|e| format!("{:?}: {e}", self.shape))?;
        Ok(tensor.to_string())
    }
}

/// Non-finite numbers are recorded as strings.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}
