//! JSON documents: printing, and reading back.
//!
//! A stored document names its kind (`form`) and the version of its fields (`schema`).
//! [`DocumentKind::read`] refuses any other document and says why.

use std::io::{self, Write};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Failure, Result};

/// A kind of document that can be read back.
pub struct DocumentKind {
    /// The name in error messages: `record`.
    pub name: &'static str,
    /// The value of its field `form`; `None` for a kind that has only a `schema`.
    pub form: Option<&'static str>,
    /// The value of its field `schema`: changes when a field is removed or changes its meaning.
    pub schema: u32,
    /// The command that writes it.
    pub command: &'static str,
}

impl DocumentKind {
    /// Reads a document.
    ///
    /// # Errors
    /// [`Failure::Input`] for a document of another kind or schema, or a truncated one.
    pub fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        let DocumentKind { name, command, .. } = self;
        let value: Value = serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => Failure::input(format!("not a whole {name}: {error}")),
            false => Failure::input(format!("not a {name}: {error}")),
        })?;
        if !self.is_ours(&value) {
            let why = match other_kind(&value) {
                Some((writer, readers)) => format!("written by `{writer}`; read it with {readers}"),
                None => format!("it was not written by `tensor-bench {command}`"),
            };
            return Err(Failure::input(format!("not a {name}: {why}")));
        }
        let (found, schema) = (&value["schema"], self.schema);
        if *found != schema {
            let why = format!("a {name} of schema {found}; this program reads schema {schema}");
            return Err(Failure::input(why));
        }
        serde_json::from_value(value)
            .map_err(|error| Failure::input(format!("a {name} with a mistake: {error}")))
    }

    fn is_ours(&self, value: &Value) -> bool {
        match self.form {
            Some(form) => value["form"] == form,
            None => value["schema"].is_number() && value.get("form").is_none(),
        }
    }
}

/// The documents of this program: the command that writes one, and those that read it.
const KINDS: [(Option<&str>, &str, &str); 3] = [
    (Some("tensor-bench record"), "tensor-bench record", "`compare` or `history`"),
    (Some("tensor-bench calibration"), "tensor-bench calibrate", "`advise --calibration`"),
    (None, "tensor-bench suite --record", "`results`"),
];

/// What writes and what reads a document, if it is one of this program.
fn other_kind(value: &Value) -> Option<(&'static str, &'static str)> {
    let form = value.get("form");
    let is = |known: Option<&str>| match known {
        Some(known) => form.is_some_and(|form| form == known),
        None => form.is_none() && value["schema"].is_number() && value["rows"].is_array(),
    };
    KINDS.iter().find(|(form, ..)| is(*form)).map(|&(_, writer, readers)| (writer, readers))
}

/// Prints a document, indented.
///
/// # Errors
/// [`Failure::Output`] from the writer.
pub fn write(document: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, document).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Prints a document on one line.
///
/// # Errors
/// [`Failure::Output`] from the writer.
pub fn line(document: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer(&mut *out, document).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Note {
        form: String,
        schema: u32,
        text: String,
    }

    const NOTE: DocumentKind =
        DocumentKind { name: "note", form: Some("a note"), schema: 3, command: "note --keep" };

    fn note() -> Note {
        Note { form: "a note".to_owned(), schema: 3, text: "something".to_owned() }
    }

    #[test]
    fn a_document_is_read_as_it_was_printed() {
        for print in [write, line] {
            let mut text = Vec::new();
            print(&note(), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.ends_with("}\n"), "{text:?}");
            assert_eq!(NOTE.read::<Note>(&text).unwrap(), note());
        }
    }

    #[test]
    fn what_is_something_else_is_refused_with_the_reason() {
        let cases = [
            ("", "not a whole note: EOF"),
            (r#"{"form": "a note", "sch"#, "not a whole note: EOF"),
            ("]", "not a note: expected value"),
            ("[]", "not a note: it was not written by `tensor-bench note --keep`"),
            (r#"{"form": "a bill", "schema": 3}"#, "not a note: it was not written by"),
            (r#"{"form": "a note"}"#, "a note of schema null; this program reads schema 3"),
            (r#"{"form": "a note", "schema": 4}"#, "a note of schema 4; this program reads"),
            (r#"{"form": "a note", "schema": 3}"#, "a note with a mistake: missing field `text`"),
        ];
        for (text, reason) in cases {
            let refused = NOTE.read::<Note>(text).unwrap_err();
            assert_eq!(refused.exit_code(), 2);
            assert!(refused.to_string().starts_with(reason), "{refused}");
        }
    }

    #[test]
    fn another_document_of_this_program_is_named_with_what_reads_it() {
        let cases = [
            (
                r#"{"form": "tensor-bench record", "schema": 2, "cases": []}"#,
                "not a note: written by `tensor-bench record`; read it with `compare` or `history`",
            ),
            (
                r#"{"schema": 1, "rows": []}"#,
                "not a note: written by `tensor-bench suite --record`; read it with `results`",
            ),
        ];
        for (text, reason) in cases {
            assert_eq!(NOTE.read::<Note>(text).unwrap_err().to_string(), reason);
        }
        let suite = DocumentKind { form: None, ..NOTE };
        assert_eq!(suite.read::<Note>(cases[0].0).unwrap_err().to_string(), cases[0].1);
    }

    #[test]
    fn without_a_form_a_document_has_a_schema() {
        let kind = DocumentKind { form: None, ..NOTE };
        let refusal = |text: &str| kind.read::<Note>(text).unwrap_err().to_string();
        assert!(refusal(r#"{"text": "x"}"#).starts_with("not a note: it was not written by"));
        assert!(refusal(r#"{"schema": 9}"#).starts_with("a note of schema 9; this program"));
        #[derive(Debug, PartialEq, Deserialize)]
        struct Formless {
            schema: u32,
        }
        assert_eq!(kind.read::<Formless>(r#"{"schema": 3}"#).unwrap(), Formless { schema: 3 });
    }

    #[test]
    fn a_reader_who_went_away_is_told_from_other_failures() {
        let (reader, mut writer) = io::pipe().unwrap();
        drop(reader);
        assert!(write(&note(), &mut writer).unwrap_err().is_closed_pipe());
    }
}
