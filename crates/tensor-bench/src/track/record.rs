//! The document of `record`: one build on one machine.

use serde::{Deserialize, Serialize};

use super::{build::Build, counting::Counting, profile::Counts, regret::Regret, timing::Times};
use crate::{Failure, Result, output::document::DocumentKind, system::machine::MachineInfo};

/// The value of the field `form`.
pub const FORM: &str = "tensor-bench record";

/// Changes when a field is removed or changes its meaning.
pub const SCHEMA: u32 = 2;

const KIND: DocumentKind =
    DocumentKind { name: "record", form: Some(FORM), schema: SCHEMA, command: "record" };

/// One build on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORM`].
    pub form: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The time of completion, in seconds since 1970.
    pub time: u64,
    /// Commit and compiler.
    pub build: Build,
    /// The machine.
    pub machine: MachineInfo,
    /// How times were taken.
    pub run: Run,
    /// How counts were made.
    pub counting: Counting,
    /// How far the planner is from the fastest plans of the random copies, if there are enough of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret: Option<Regret>,
    /// One entry per subject.
    pub cases: Vec<Entry>,
}

/// How times were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The threads of the pool.
    pub threads: usize,
    /// Whether samples are few.
    pub quick: bool,
    /// The number of passes over the table.
    pub passes: usize,
    /// The SIMD level in `TENSOR_SIMD`; `None` for the best one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simd: Option<String>,
}

/// One subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The name, as group/id.
    pub name: String,
    /// The operation.
    pub op: String,
    /// The element type of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// The bytes moved: the result of a copy; operands and result of an elementwise operation.
    pub bytes: u64,
    /// The name of the path.
    pub path: String,
    /// The plan in words, for fixed machine parameters.
    pub plan: String,
    /// The times.
    pub times: Times,
    /// The counts, if valgrind was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl Entry {
    /// Whether no text has control characters.
    fn is_printable(&self) -> bool {
        let dtype = self.dtype.as_deref().unwrap_or_default();
        let texts = [&self.name, &self.op, dtype, &self.path, &self.plan];
        !texts.iter().any(|text| text.contains(char::is_control))
    }

    /// The work in words. Two entries of one name are compared only if it is equal.
    pub fn work(&self) -> String {
        let of = self.dtype.as_deref().map(|dtype| format!(" of {dtype}")).unwrap_or_default();
        format!("{}{of}, {} bytes", self.op, self.bytes)
    }
}

impl Record {
    /// Reads a document.
    ///
    /// # Errors
    /// [`Failure::Input`] for another document or schema, or a truncated one.
    pub fn read(text: &str) -> Result<Record> {
        let record: Record = KIND.read(text)?;
        record.check()
    }

    /// Checks that names are unique and printable, that there is a case, and that no time or count
    /// is 0.
    fn check(self) -> Result<Record> {
        let mut names: Vec<&str> = self.cases.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_unstable();
        if names.is_empty() {
            return Err(Failure::input("a record without a case"));
        }
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Failure::input(format!("a record with two cases called {}", pair[0])));
        }
        if self.cases.iter().any(|entry| !entry.is_printable()) {
            return Err(Failure::input("a record with a name that cannot be printed"));
        }
        let takes_no = |entry: &Entry, what: &str| {
            Failure::input(format!("a record in which {} takes no {what}", entry.name))
        };
        if let Some(entry) = self.cases.iter().find(|entry| !entry.times.are_times()) {
            return Err(takes_no(entry, "time"));
        }
        if self.regret.as_ref().is_some_and(|regret| !regret.is_regret()) {
            return Err(Failure::input("a record in which a plan is faster than the fastest"));
        }
        // A count of 0 would look like the best of all builds.
        let is_uncounted = |entry: &&Entry| entry.counts.as_ref().is_some_and(Counts::lack_some);
        match self.cases.iter().find(is_uncounted) {
            Some(entry) => Err(takes_no(entry, "instructions")),
            None => Ok(self),
        }
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.cases.iter().find(|entry| entry.name == name)
    }

    /// Whether it has counts.
    pub fn is_counted(&self) -> bool {
        matches!(self.counting, Counting::By { .. })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::track::{profile::Cost, timing::Span};

    /// A record of two cases, `g/a` and `g/b`, with counts.
    pub(in crate::track) fn record() -> Record {
        let machine = MachineInfo {
            cpu: Some("some CPU".to_owned()),
            identity: None,
            cores: 2,
            caches: Vec::new(),
            simd: "v4".to_owned(),
            memory: None,
            system: "linux x86_64".to_owned(),
            kernel: None,
            version: "0.1.0".to_owned(),
        };
        let by = |text: &str| text.to_owned();
        Record {
            form: FORM.to_owned(),
            schema: SCHEMA,
            time: 1000,
            build: Build {
                commit: Some("base".to_owned()),
                changed: false,
                rustc: "rustc 1.95.0".to_owned(),
            },
            machine,
            run: Run { threads: 1, quick: true, passes: 3, simd: None },
            counting: Counting::By {
                valgrind: by("valgrind-3.19.0"),
                simd: by("v3"),
                caches: by(""),
            },
            regret: Some(regret()),
            cases: vec![entry("g/a"), entry("g/b")],
        }
    }

    pub(in crate::track) fn regret() -> Regret {
        let passes = vec![1.06, 1.05, 1.07, 1.05, 1.06, 1.10, 1.05, 1.06, 1.05];
        Regret { cases: 30, p95: 1.05, passes, worst: "g/a".to_owned(), worst_regret: 1.2 }
    }

    pub(in crate::track) fn entry(name: &str) -> Entry {
        let cost = Cost { instructions: 10_000, l1_misses: 1000, ll_misses: 100, cycles: 30_000 };
        let plan = Cost { instructions: 500, ..Cost::default() };
        let passes = vec![100.0, 103.0, 101.0, 106.0];
        let span = Span { best_ns: 100.0, median_ns: 104.0, spread: 0.03, samples: 30, passes };
        Entry {
            name: name.to_owned(),
            op: "copy".to_owned(),
            dtype: Some("f32".to_owned()),
            bytes: 1024,
            path: "transpose".to_owned(),
            plan: "transpose of 4-byte units".to_owned(),
            times: Times {
                run: span.clone(),
                allocating: Some(span),
                contiguous: None,
                plain_copy: Some(vec![90.0, 91.0, 90.0, 94.0]),
                share: Some(0.89),
            },
            counts: Some(Counts {
                plan: Some(plan),
                run: cost,
                allocating: Some(cost),
                allocator: 100,
            }),
        }
    }

    fn refusal(text: &str) -> String {
        let error = Record::read(text).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let text = serde_json::to_string(&record()).unwrap();
        assert_eq!(Record::read(&text).unwrap(), record());
        // Earlier programs recorded no regret.
        let mut old: serde_json::Value = serde_json::from_str(&text).unwrap();
        old.as_object_mut().unwrap().remove("regret");
        let old = Record::read(&old.to_string()).unwrap();
        assert_eq!(old, Record { regret: None, ..record() });
    }

    #[test]
    fn what_is_no_record_is_refused_with_the_reason() {
        let text = serde_json::to_string(&record()).unwrap();
        let cases = [
            (String::new(), "not a whole record"),
            (text[..text.len() / 2].to_owned(), "not a whole record"),
            ("]".to_owned(), "not a record: expected value"),
            ("[]".to_owned(), "not a record: it was not written by"),
            (
                r#"{"schema": 1, "rows": []}"#.to_owned(),
                "not a record: written by `tensor-bench suite --record`; read it with `results`",
            ),
            (text.replace("\"schema\":2", "\"schema\":1"), "a record of schema 1; this program"),
            (text.replace("\"schema\":2,", ""), "a record of schema null; this program"),
            (
                text.replace("\"path\":", "\"route\":"),
                "a record with a mistake: missing field `path`",
            ),
            (text.replace("g/b", "g/a"), "a record with two cases called g/a"),
            (text.replace("\"transpose\"", "\"\\u001b[2J\""), "a name that cannot be printed"),
            (text.replace("\"best_ns\":100.0", "\"best_ns\":0.0"), "in which g/a takes no time"),
            (text.replace("[100.0,", "[-100.0,"), "in which g/a takes no time"),
            (
                text.replacen("\"instructions\":10000", "\"instructions\":0", 1),
                "in which g/a takes no instructions",
            ),
            (text.replace("\"p95\":1.05", "\"p95\":0.5"), "a plan is faster than the fastest"),
            (text.replace("\"roof\":[90.0,", "\"roof\":["), "in which g/a takes no time"),
        ];
        for (text, reason) in cases {
            let refusal = refusal(&text);
            assert!(refusal.contains(reason), "{refusal}");
        }
        let empty = Record { cases: Vec::new(), ..record() };
        assert_eq!(refusal(&serde_json::to_string(&empty).unwrap()), "a record without a case");
    }
}
