//! The table of cases for records, criterion and callgrind.
//!
//! It is a suite file, followed by the operations on layouts alone; a table of the user is a suite
//! file too. Every path of copies and of elementwise operations is in it. Most sizes fit into a
//! cache, because the cases also run under valgrind, about fifty times slower.

use std::{ffi::OsString, path::Path};

use super::{Subject, metadata};
use crate::{Failure, Result, input::file, suite};

/// The suite file of the table.
pub const CASES: &str = include_str!("../../../../benches/suite/tracked.json");

/// The whole table.
///
/// # Errors
/// None; a test checks that.
pub fn subjects() -> Result<Vec<Subject>> {
    let operations = metadata::operations()?.into_iter().map(Subject::Metadata);
    Ok(parse(CASES)?.into_iter().chain(operations).collect())
}

/// A table of the user: a suite file with unique names.
///
/// # Errors
/// [`Failure::Input`] that names the case.
pub fn parse(text: &str) -> Result<Vec<Subject>> {
    let subjects: Vec<Subject> = suite::read(text)?.into_iter().map(Subject::Work).collect();
    let names: Vec<String> = subjects.iter().map(ToString::to_string).collect();
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, twice)) => Err(Failure::input(format!("two cases are called {twice}"))),
        None => Ok(subjects),
    }
}

/// The built-in table, or that of a file.
///
/// # Errors
/// Those of [`parse`], and a file that cannot be read.
pub fn load(file: Option<&Path>) -> Result<Vec<Subject>> {
    match file {
        None => subjects(),
        Some(path) => parse(&file::text(path)?).map_err(|failure| failure.at(path.display())),
    }
}

/// The argument for the file when this program starts itself. It is one word, because a separate
/// `-x.json` would be parsed as an option.
pub fn argument(file: Option<&Path>) -> Option<OsString> {
    file.map(|path| {
        let mut argument = OsString::from("--cases=");
        argument.push(path);
        argument
    })
}

/// Subjects by their names.
///
/// # Errors
/// Those of [`load`], and [`Failure::Input`] for a name that is not in the table.
pub fn named(file: Option<&Path>, names: &[String]) -> Result<Vec<Subject>> {
    let subjects = load(file)?;
    let find = |name: &String| {
        let subject = subjects.iter().find(|subject| subject.to_string() == *name);
        subject.cloned().ok_or_else(|| Failure::input(format!("no case is called {name}")))
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tensor_kernels::CopyPlan;

    use super::*;
    use crate::measure::setting;

    #[test]
    fn every_subject_has_a_name_of_its_own() {
        let subjects = subjects().unwrap();
        let names: BTreeSet<String> = subjects.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), subjects.len());
    }

    /// Results are row-major, so paths for other results cannot occur.
    #[test]
    fn every_path_to_a_row_major_result_is_in_the_table() {
        let exec = setting::exec().unwrap();
        let taken = subjects().unwrap();
        let taken: BTreeSet<_> = taken.iter().map(|s| s.path(&exec).unwrap()).collect();
        let unreachable = ["nothing", "scatter", "fallback"];
        for path in CopyPlan::paths().filter(|path| !unreachable.contains(path)) {
            assert!(taken.contains(path), "no case takes {path}");
        }
        let elementwise = ["contiguous", "rows", "packed_rows", "transposed", "gathered", "tiled"];
        for path in elementwise {
            assert!(taken.contains(path), "no case takes {path}");
        }
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        let case = r#"{"group": "g", "id": "a", "dtype": "u8", "base": [4], "ops": []}"#;
        let error = parse(&format!("[{case}, {case}]")).unwrap_err();
        assert_eq!(
            (error.exit_code(), error.to_string().as_str()),
            (2, "two cases are called g/a")
        );
    }
}
