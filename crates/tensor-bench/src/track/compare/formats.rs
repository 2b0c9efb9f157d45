//! JSON of a comparison, and the figures of a record in the formats of tools that plot them over
//! time.

use serde_json::{Map, Value, json};

use super::Comparison;
use crate::track::{Entry, Record, timing::Span};

/// The whole comparison.
pub fn json(comparison: &Comparison) -> Value {
    let mut value = json!(comparison);
    value["regressions"] = json!(comparison.regressions().count());
    value
}

/// One number of a case, and its range.
struct Measure {
    part: &'static str,
    /// The name of the measure in Bencher.
    slug: &'static str,
    unit: &'static str,
    value: f64,
    range: Option<(f64, f64)>,
}

/// Times and counts of a case; less is better.
fn measures(entry: &Entry) -> Vec<Measure> {
    let mut measures: Vec<Measure> = entry.times.parts().map(latency).collect();
    let Some(counts) = &entry.counts else { return measures };
    for (part, cost) in counts.parts() {
        for (slug, value) in [
            ("instructions", cost.instructions),
            ("l1-misses", cost.l1_misses),
            ("ll-misses", cost.ll_misses),
            ("estimated-cycles", cost.cycles),
        ] {
            measures.push(Measure { part, slug, unit: slug, value: value as f64, range: None });
        }
    }
    measures
}

fn latency((part, span): (&'static str, &Span)) -> Measure {
    let slowest = span.passes.iter().copied().fold(span.median_ns, f64::max);
    let range = Some((span.best_ns, slowest));
    Measure { part, slug: "latency", unit: "ns", value: span.median_ns, range }
}

/// The metric format of Bencher: benchmark, measure, value. Each part of a case is a benchmark.
pub fn bencher(record: &Record) -> Value {
    let mut document = Map::new();
    for entry in &record.cases {
        for measure in measures(entry) {
            let mut metric = json!({ "value": measure.value });
            if let Some((lower, upper)) = measure.range {
                metric["lower_value"] = json!(lower);
                metric["upper_value"] = json!(upper);
            }
            let benchmark = document.entry(format!("{}/{}", entry.name, measure.part));
            benchmark.or_insert_with(|| json!({}))[measure.slug] = metric;
        }
    }
    Value::Object(document)
}

/// The format `customSmallerIsBetter` of github-action-benchmark.
pub fn github_action_benchmark(record: &Record) -> Value {
    let mut list = Vec::new();
    for entry in &record.cases {
        for measure in measures(entry) {
            let Measure { part, slug, unit, value, range } = measure;
            let name = format!("{}/{part} {slug}", entry.name);
            let mut item = json!({ "name": name, "unit": unit, "value": value });
            if let Some((lower, upper)) = range {
                item["range"] = json!(format!("± {:.1}", (upper - lower) / 2.0));
            }
            item["extra"] = json!(format!("path: {}", entry.path));
            list.push(item);
        }
    }
    Value::Array(list)
}
