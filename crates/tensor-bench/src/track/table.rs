//! The table of cases for records, criterion and callgrind.
//!
//! It is a suite file, followed by the operations on layouts alone and the methods that read
//! tensors; a table of the user is a suite file too. Every path of copies and of elementwise
//! operations is in it. Most sizes fit into a cache, because the cases also run under valgrind,
//! about fifty times slower.
//!
//! Records have a small [`POPULATION`] besides: a change that helps the chosen cases and harms
//! others is seen there. Criterion, which takes seconds for a case, leaves it out.

use std::{collections::HashSet, ffi::OsString, path::Path};

use super::{Subject, metadata, reading};
use crate::{Failure, Result, input::file, suite};

/// The suite file of the table.
pub const CASES: &str = include_str!("../../../../benches/suite/tracked.json");

/// Random cases of fixed seeds, 30 copies and 20 elementwise operations of 1 to 100 kB.
pub const POPULATION: &str = include_str!("../../../../benches/suite/population.json");

/// The table without the population.
///
/// # Errors
/// Too little memory for the tensors that are read.
pub fn subjects() -> Result<Vec<Subject>> {
    let operations = metadata::operations()?.into_iter().map(Subject::Metadata);
    let readings = reading::readings()?.into_iter().map(Subject::Reading);
    Ok(parse(CASES)?.into_iter().chain(operations).chain(readings).collect())
}

/// A table of the user: a suite file.
///
/// # Errors
/// [`Failure::Input`] that names the case.
pub fn parse(text: &str) -> Result<Vec<Subject>> {
    Ok(suite::read(text)?.into_iter().map(Subject::Work).collect())
}

/// The built-in table with the population, or that of a file.
///
/// # Errors
/// Those of [`parse`], and a file that cannot be read.
pub fn load(file: Option<&Path>) -> Result<Vec<Subject>> {
    match file {
        None => Ok(parse(POPULATION)?.into_iter().chain(subjects()?).collect()),
        Some(path) => parse(&file::text(path)?).map_err(|failure| failure.at(path.display())),
    }
}

/// The names of the random cases of a table: those of the [`POPULATION`], none of a file.
///
/// # Errors
/// None; a test checks that.
pub fn population(file: Option<&Path>) -> Result<HashSet<String>> {
    match file {
        None => Ok(parse(POPULATION)?.iter().map(ToString::to_string).collect()),
        Some(_) => Ok(HashSet::new()),
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

    use tensor_kernels::{CopyPlan, Machine};

    use super::*;
    use crate::{
        measure::setting,
        population::{Bounds, Kind, Spec, draw},
    };

    #[test]
    fn every_subject_has_a_name_of_its_own() {
        let subjects = load(None).unwrap();
        let names: BTreeSet<String> = subjects.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), subjects.len());
    }

    /// Results are row-major, so paths for other results cannot occur. The machine is fixed,
    /// because plans depend on it.
    #[test]
    fn every_path_to_a_row_major_result_is_in_the_table() {
        let mut exec = setting::exec().unwrap();
        exec.machine = Machine::REFERENCE;
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
        for path in ["direct", "copied", "listed", "two_stages"] {
            assert!(taken.contains(path), "no reduction takes {path}");
        }
    }

    /// So that the file can be made again, and each of its cases be found by its seed.
    #[test]
    fn the_population_is_what_the_seed_gives() {
        let drawn = |kind, count| {
            let bounds = Bounds { low: 1000, high: 100_000 };
            let spec = Spec { kind, seed: 1, count, families: vec![], bounds, dtypes: vec![] };
            draw(&spec).unwrap().into_iter().map(|drawn| drawn.case)
        };
        let drawn = drawn(Kind::Copy, 30).chain(drawn(Kind::Elementwise, 20));
        assert_eq!(suite::read(POPULATION).unwrap(), drawn.collect::<Vec<_>>());
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        let case = r#"{"group": "g", "id": "a", "dtype": "u8", "base": [4], "ops": []}"#;
        let error = parse(&format!("[{case}, {case}]")).unwrap_err();
        assert_eq!(
            (error.exit_code(), error.to_string().as_str()),
            (2, "two cases are called g/a: numbers 0 and 1 of the list")
        );
    }
}
