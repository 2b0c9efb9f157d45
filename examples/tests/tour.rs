//! `docs/tour.md`: its code is that of `tour.rs`, and its output what the program prints.

use std::process::Command;

const PAGE: &str = include_str!("../../docs/tour.md");
const SOURCE: &str = include_str!("../tour.rs");

/// Text that begins with a title, from one `mark` to the next.
fn sections<'a>(text: &'a str, mark: &str) -> Vec<(&'a str, &'a str)> {
    text.split(mark).skip(1).filter_map(|section| section.split_once('\n')).collect()
}

/// The lines of the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> String {
    let fence = format!("```{language}\n");
    let inside = text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    inside.collect()
}

/// Without empty lines, which separate blocks.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty()).collect()
}

/// The code behind each call of `section`, without its indentation.
fn program_sections() -> Vec<(String, String)> {
    let body = SOURCE.strip_suffix("    Ok(())\n}\n").expect("the end of main");
    let dedented = |code: &str| -> String {
        code.lines()
            .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
            .collect()
    };
    let found = sections(body, "    section(\"");
    found.into_iter().map(|(title, code)| (title.replace("\");", ""), dedented(code))).collect()
}

/// The steps of the page: those with a number.
fn page_sections() -> Vec<(&'static str, &'static str)> {
    let mut steps = sections(PAGE, "\n## ");
    steps.retain(|(title, _)| title.starts_with(|first: char| first.is_ascii_digit()));
    steps
}

#[test]
fn the_code_of_each_step_is_that_of_the_program() {
    let (page, program) = (page_sections(), program_sections());
    assert!(page.len() >= 10);
    assert_eq!(page.len(), program.len());
    for ((title, text), (program_title, body)) in page.iter().zip(&program) {
        assert_eq!(title, program_title);
        assert_eq!(code(&blocks(text, "rust")), code(body), "{title}");
    }
    let before = PAGE.split("\n## ").next().expect("an introduction");
    assert!(SOURCE.contains(&blocks(before, "rust")), "the helper is that of the program");
}

#[test]
fn the_output_of_each_step_is_what_the_program_prints() {
    // Call sites in the output are paths from the root of the workspace.
    let output = Command::new(env!("CARGO_BIN_EXE_tour")).output().expect("the program starts");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    let printed = format!("\n{printed}").replace("examples\\", "examples/");
    let (page, printed) = (page_sections(), sections(&printed, "\n## "));
    assert_eq!(page.len(), printed.len());
    for ((title, text), (printed_title, lines)) in page.iter().zip(&printed) {
        assert_eq!(title, printed_title);
        let expected = blocks(text, "text").replace("\\\n", "");
        assert_eq!(expected.trim_end(), lines.trim_end(), "{title} prints:\n{lines}");
    }
}
