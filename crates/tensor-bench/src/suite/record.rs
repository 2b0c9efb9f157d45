//! The document of `suite --record`: machine, command, and a row for each case and number of
//! threads.

use serde::{Deserialize, Serialize};

use super::Row;
use crate::{Result, output::document, system::machine::MachineInfo};

/// Changes when a field is removed or changes its meaning.
pub const SCHEMA: u32 = 1;

const KIND: document::DocumentKind = document::DocumentKind {
    name: "record of a suite",
    form: None,
    schema: SCHEMA,
    command: "suite --record",
};

/// One run of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The machine.
    pub machine: MachineInfo,
    /// The arguments of the program.
    pub command: String,
    /// One for each case and number of threads.
    pub rows: Vec<Row>,
}

impl Record {
    /// Reads a document.
    ///
    /// # Errors
    /// [`Failure::Input`](crate::Failure::Input) for another document or schema, or a truncated
    /// one.
    pub fn read(text: &str) -> Result<Record> {
        KIND.read(text)
    }

    /// Whether the cases were drawn or swept, not read from a file.
    pub fn is_population(&self) -> bool {
        self.rows.iter().any(|row| row.case.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{PeerTimes, tests::row},
        *,
    };

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let peer = PeerTimes { name: "p".into(), preallocated_ns: Some(1.5), allocating_ns: None };
        let rows = vec![Row { peers: vec![peer], contiguous_ns: Some(2.5), ..row("a") }, row("b")];
        let machine = MachineInfo::read(&"v3");
        let record = Record { schema: SCHEMA, machine, command: "suite s.json".into(), rows };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(Record::read(&text).unwrap(), record);
        let later = text.replacen("\"schema\":1", "\"schema\":2", 1);
        let refused = Record::read(&later).unwrap_err().to_string();
        assert_eq!(refused, "a record of a suite of schema 2; this program reads schema 1");
        assert_eq!(Record::read("[]").unwrap_err().exit_code(), 2);
    }
}
