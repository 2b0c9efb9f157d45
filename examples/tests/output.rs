//! Each program prints what its header says, and the tour what `docs/tour.md` shows.

use std::{fs, process::Command};

/// Tested elsewhere: the tour beside this file, the benchmark by `cargo test`, the layouts by the
/// tests of tensor-bench.
const OTHERS: [&str; 7] = [
    "Cargo.toml",
    "README.md",
    "tour.rs",
    "own_layout.rs",
    "layouts.json",
    "layouts.sh",
    "layouts.yml",
];

fn output_of(program: &str) -> String {
    let output = Command::new(program).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The lines of the block of output in the header of a program. A backslash at the end of a line
/// marks one that is broken there.
fn header_output(source: &str) -> String {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut lines = header.skip_while(|line| *line != " ```text").skip(1);
    let block = lines.by_ref().take_while(|line| *line != " ```");
    let text: String =
        block.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    text.replace("\\\n", "")
}

macro_rules! prints_its_header {
    ($($name:ident)*) => {
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];

        $(
        #[test]
        fn $name() {
            let source = include_str!(concat!("../", stringify!($name), ".rs"));
            let expected = header_output(source);
            assert!(!expected.is_empty(), "there is no block of output");
            let printed = output_of(env!(concat!("CARGO_BIN_EXE_", stringify!($name))));
            assert_eq!(printed, expected, "printed:\n{printed}");
            assert!(source.lines().count() <= 100, "an example is short");
            let command = concat!("//! cargo run --release -p examples --bin ", stringify!($name));
            assert!(source.contains(command), "the header says how to run it");
        }
        )*
    };
}

prints_its_header! { image_batch own_buffers chunks attention windows generic interchange threads }

/// A file that is not in the list would be neither tested nor found.
#[test]
fn every_file_is_known_and_in_the_list() {
    let list = include_str!("../README.md");
    for entry in fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder is readable") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let is_program = name.strip_suffix(".rs").is_some_and(|stem| PROGRAMS.contains(&stem));
        assert!(is_program || OTHERS.contains(&name.as_str()) || name == "tests", "{name}");
        let is_example = !["Cargo.toml", "README.md", "tests"].contains(&name.as_str());
        assert!(!is_example || list.contains(&format!("]({name})")), "{name}");
    }
}
