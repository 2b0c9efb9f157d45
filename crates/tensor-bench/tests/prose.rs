//! `scripts/prose.sh`: finds what it is there to find, and nothing in what is right.

#![cfg(unix)]

mod common;

use std::process::{Command, Output};

use common::Folder;

fn prose(files: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/prose.sh");
    Command::new("bash").arg(script).args(files).output().expect("bash runs")
}

/// The findings on a file of this name with this text.
fn findings(name: &str, text: &str) -> Vec<String> {
    let folder = Folder::new();
    let file = folder.file(name, text);
    let output = prose(&[&file]);
    let lines = String::from_utf8(output.stdout).expect("the findings are text");
    assert_eq!(output.status.code(), Some(i32::from(!lines.is_empty())), "{lines}");
    lines
        .lines()
        .map(|line| line.rsplit_once(".x:").map_or(line, |(_, what)| what).into())
        .collect()
}

#[test]
fn lines_are_counted_in_columns() {
    let long = |columns: usize| format!("short\n{}\n", "é".repeat(columns));
    assert_eq!(findings("a.x", &long(100)), [""; 0]);
    assert_eq!(findings("a.x", &long(101)), ["2: more than 100 columns"]);
}

#[test]
fn tables_and_links_of_markdown_may_be_long() {
    let table = format!("| {} |\n[a](https://{})\n", "a".repeat(120), "b".repeat(120));
    assert!(prose(&[&Folder::new().file("a.md", table)]).status.success());
}

#[test]
fn a_retired_word_is_found_whatever_its_case_with_the_term_to_use() {
    // Not whole in this file, which is checked too.
    let word = |first: char| format!("{first}oof");
    let text =
        format!("// The {} of this copy.\nlet {}_ns = 1;\np{}\n", word('R'), word('r'), word('r'));
    let found = findings("a.x", &text);
    assert_eq!(found, [format!(r#"1: retired word ({}s?): say "copy bandwidth""#, word('r'))]);
}

#[test]
fn examples_are_missed_where_the_module_promises_them() {
    let module = "//! Every public function here has an example.\n\n\
        /// With one.\n///\n/// ```\n/// one();\n/// ```\n#[inline]\npub fn one() {}\n\n\
        /// Without.\npub fn two() {}\n\n/// Private.\nfn three() {}\n";
    assert_eq!(findings("a.x", module), ["12: no example of pub fn two"]);
    assert_eq!(
        findings("a.x", &module["//! Every public function here has an example.".len()..]),
        [""; 0]
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let output = prose(&["/missing/a.rs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read /missing/a.rs"));
}
