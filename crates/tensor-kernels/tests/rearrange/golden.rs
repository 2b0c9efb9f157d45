//! What einops made of patterns, recorded by `scripts/golden_rearrange.py`.

use std::collections::BTreeMap;

use serde::Deserialize;
use tensor_kernels::{
    Error, PatternRule, Reduction, Reshaped, Result, Slice, Tensor, TensorExt, TensorView,
    rearrange, repeat_axes,
};

const RECORDS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rearrange.jsonl"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    op: String,
    base: Vec<isize>,
    permute: Option<Vec<isize>>,
    step: Option<Vec<isize>>,
    pattern: String,
    sizes: BTreeMap<String, usize>,
    shape: Option<Vec<usize>>,
    values: Option<Vec<Option<f64>>>,
    strides: Option<Vec<isize>>,
    refused: Option<String>,
}

#[test]
fn einops_results_and_refusals_are_reproduced() {
    let mut refusals = 0;
    for line in RECORDS.lines() {
        let record: Record = serde_json::from_str(line).expect("a record");
        let input = record.input().expect("an input");
        match &record.refused {
            Some(_) => record.check_refusal(&input),
            None => record.check_result(&input),
        }
        refusals += usize::from(record.refused.is_some());
    }
    assert!(RECORDS.lines().count() > 1000 && refusals > 300);
}

impl Record {
    fn input(&self) -> Result<Tensor<f64>> {
        let numel: isize = self.base.iter().product();
        let mut x = Tensor::arange(0.0, numel as f64, 1.0)?;
        if self.op == "prod" {
            x = x.map(|value| value % 3.0 + 1.0)?;
        }
        x = x.view(&self.base)?;
        if let Some(dims) = &self.permute {
            x = x.permute(dims)?;
        }
        for (dim, &step) in self.step.iter().flatten().enumerate() {
            x = x.slice(dim as isize, Slice::new(None, None, step))?;
        }
        Ok(x)
    }

    fn sizes(&self) -> Vec<(&str, usize)> {
        self.sizes.iter().map(|(name, &size)| (&name[..], size)).collect()
    }

    /// Rearranged or repeated; `None` for a reduction.
    fn rearranged(&self, x: &Tensor<f64>) -> Option<Result<Reshaped<f64>>> {
        match &self.op[..] {
            "rearrange" => Some(x.rearrange(&self.pattern, &self.sizes())),
            "repeat" => Some(x.repeat_axes(&self.pattern, &self.sizes())),
            _ => None,
        }
    }

    fn reduced(&self, x: &Tensor<f64>) -> Result<Tensor<f64>> {
        let reduction = match &self.op[..] {
            "min" => Reduction::Min,
            "max" => Reduction::Max,
            "sum" => Reduction::Sum,
            "mean" => Reduction::Mean,
            "prod" => Reduction::Prod,
            op => panic!("unknown operation {op}"),
        };
        x.reduce(&self.pattern, reduction, &self.sizes())
    }

    fn check_result(&self, x: &Tensor<f64>) {
        let y = match self.rearranged(x) {
            Some(y) => {
                let y = y.unwrap_or_else(|refused| panic!("{refused}\n{self:?}"));
                self.check_layout(x, &y);
                self.check_view(&x.read().unwrap().as_view(), &y);
                y.into_tensor()
            }
            None => self.reduced(x).unwrap_or_else(|refused| panic!("{refused}\n{self:?}")),
        };
        assert_eq!(Some(y.shape()), self.shape.as_deref(), "{self:?}");
        let null = |value: f64| (!value.is_nan()).then_some(value);
        let values: Vec<_> = y.to_vec().unwrap().into_iter().map(null).collect();
        assert_eq!(Some(values), self.values, "{self:?}");
    }

    /// A view where einops makes one, with its strides, else a contiguous copy.
    fn check_layout(&self, x: &Tensor<f64>, y: &Reshaped<f64>) {
        if y.numel() == 0 {
            return;
        }
        assert_eq!(y.copied(), self.strides.is_none(), "{self:?}");
        assert_eq!(y.copied(), !y.same_storage(x), "{self:?}");
        assert!(!y.copied() || y.is_contiguous());
        for (d, &stride) in self.strides.iter().flatten().enumerate() {
            assert!(y.shape()[d] == 1 || y.strides()[d] == stride, "{self:?}: {y:?}");
        }
    }

    /// The same of a borrowed view.
    fn check_view(&self, x: &TensorView<'_, f64>, y: &Reshaped<f64>) {
        let exec = tensor_kernels::Exec::current().unwrap();
        let of_view = match &self.op[..] {
            "rearrange" => rearrange(exec, x, &self.pattern, &self.sizes()).unwrap(),
            _ => repeat_axes(exec, x, &self.pattern, &self.sizes()).unwrap(),
        };
        assert_eq!(of_view.copied(), y.copied(), "{self:?}");
        assert_eq!(of_view.layout(), y.layout(), "{self:?}");
        assert_eq!(of_view.to_vec(), y.to_vec(), "{self:?}");
    }

    fn check_refusal(&self, x: &Tensor<f64>) {
        let refused = match self.rearranged(x) {
            Some(y) => y.err(),
            None => self.reduced(x).err(),
        };
        let theirs = self.refused.as_deref().unwrap_or_default();
        match refused.unwrap_or_else(|| panic!("not refused: {self:?}")) {
            Error::Pattern(error) => {
                assert!(error.pattern.get(error.at.clone()).is_some(), "{error:?}");
                assert!(is_same_rule(theirs, &error.rule), "{error}\n{self:?}");
            }
            Error::ReduceEmpty { .. } => assert!(theirs.contains("non-zero size"), "{self:?}"),
            other => panic!("{other}\n{self:?}"),
        }
    }
}

/// Is this the rule that einops' text names? Where a pattern breaks several, einops may see dots or
/// parentheses before the character or name that is seen first here.
fn is_same_rule(theirs: &str, ours: &PatternRule) -> bool {
    use PatternRule as R;
    match ours {
        R::Arrow { .. } => theirs.contains("values to unpack"),
        R::Character { .. } => theirs.starts_with("Unknown char") || theirs.contains("dots"),
        R::Dots { .. } => theirs.contains("dots") || theirs.contains('…'),
        R::TwoEllipses => theirs.contains("only one ellipsis"),
        R::EllipsisInParentheses => theirs.contains("Ellipsis inside parenthesis"),
        R::EllipsisOnRight => theirs.starts_with("Ellipsis found in right side"),
        R::Name { .. } => {
            ["identifier", "underscore", "Imbalanced"].iter().any(|word| theirs.contains(word))
        }
        R::Number { .. } => theirs.contains("positive length") || theirs.contains("failed to unp"),
        R::Unnamed { .. } => theirs.contains("anonymous axes") || theirs.contains("Unexpected"),
        R::Nested => theirs.contains("brackets inside brackets"),
        R::Unclosed | R::Unopened => theirs.contains("balanced") || theirs.contains("Imbalanced"),
        R::Duplicate { .. } => theirs.contains("duplicate dimension"),
        R::OneSide { .. } => theirs.contains("dentifiers") || theirs.contains("Unexpected"),
        R::Rank { .. } => theirs.starts_with("Wrong shape"),
        R::UnknownAxis { .. } => theirs.contains("not used") || theirs.contains("Invalid name"),
        R::NoSize { .. } => theirs.starts_with("Specify sizes"),
        R::NotInferable { .. } => theirs.starts_with("Could not infer"),
        R::Mismatch { .. } => theirs.starts_with("Shape mismatch"),
        R::NotDivisible { .. } => theirs.contains("divide") || theirs.contains("modulo by zero"),
        other => panic!("einops has no such rule: {other:?}"),
    }
}
