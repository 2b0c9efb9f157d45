//! Reads a file of records, checks each line, and fails once with all that disagree.

use std::{
    collections::BTreeMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
};

use serde::de::DeserializeOwned;

/// The number of failures, or of differing texts, that are printed.
const SHOWN: usize = 20;

/// Counts of what was checked.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) steps: usize,
    refusals: usize,
    /// Error texts that differ from PyTorch's, with their number.
    own_texts: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts an operation that both refuse. Our text may be longer than PyTorch's, but should
    /// start with it.
    pub(crate) fn refused(&mut self, ours: &str, theirs: &str) {
        self.refusals += 1;
        if !ours.starts_with(theirs) {
            *self.own_texts.entry(format!("{ours:?}, PyTorch's is {theirs:?}")).or_default() += 1;
        }
    }

    fn print(&self, file: &str, cases: usize) {
        let own: usize = self.own_texts.values().sum();
        println!("{file}: {cases} cases, {} steps checked", self.steps);
        if self.refusals > 0 {
            println!(
                "{file}: {} refusals, {} in PyTorch's words",
                self.refusals,
                self.refusals - own
            );
        }
        for (text, count) in self.own_texts.iter().take(SHOWN) {
            println!("  {count} x {text}");
        }
    }
}

/// Why a line disagrees.
pub(crate) type Failure = String;

/// Checks every line of a file, then fails if any disagrees.
pub(crate) fn replay<R: DeserializeOwned>(
    file: &str,
    check: fn(&R, &mut Tally) -> Result<(), Failure>,
) {
    let text = read(file);
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    let lines = || (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines() {
        if let Err(failure) = check_line(line, check, &mut tally) {
            failures.push(format!("line {number}: {failure}"));
        }
    }
    let cases = lines().count();
    tally.print(file, cases);
    assert!(cases > 0, "{file} holds no records");
    let shown = failures[..failures.len().min(SHOWN)].join("\n");
    assert!(failures.is_empty(), "{file}: {} of {cases} lines disagree\n{shown}", failures.len());
}

/// A panic is a failure of this line, not the end of the test.
fn check_line<R: DeserializeOwned>(
    line: &str,
    check: fn(&R, &mut Tally) -> Result<(), Failure>,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let record = serde_json::from_str(line).map_err(|e| format!("not such a record: {e}"))?;
    catch_unwind(AssertUnwindSafe(|| check(&record, tally)))
        .unwrap_or_else(|_| Err(format!("panicked on {line}")))
}

fn read(file: &str) -> String {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../tensor-core/tests/data");
    let folder = env::var_os("TENSOR_GOLDEN").map_or_else(|| PathBuf::from(own), PathBuf::from);
    let path = folder.join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("no records at {}: {e}", path.display()))
}
