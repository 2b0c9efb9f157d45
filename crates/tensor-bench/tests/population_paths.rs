//! The paths of drawn cases, compared with `data/population_paths.txt`. They are planned for one
//! fixed machine, so they are the same everywhere.
//!
//! Named layouts cannot show what a change of the planner does to all others. To accept a change:
//!
//! ```sh
//! UPDATE_PATHS=1 cargo test -p tensor-bench --test population_paths
//! git diff crates/tensor-bench/tests/data/population_paths.txt
//! ```

use std::{collections::BTreeMap, fmt::Write, path::Path};

use tensor_bench::{
    cases::operand::Operand,
    population::{Bounds, Kind, Spec, draw},
    suite::{Case, path},
    track::counted,
};

/// The command that writes the file, and the seed of the cases.
const HEAD: &str = "# The paths of random cases of seed 1, planned for the fixed machine.\n\
    # Written by `UPDATE_PATHS=1 cargo test -p tensor-bench --test population_paths`.\n";

fn cases() -> Vec<Case> {
    let drawn = |kind, count| {
        let bounds = Bounds::default();
        let spec = Spec { kind, seed: 1, count, families: vec![], bounds, dtypes: vec![] };
        draw(&spec).expect("cases").into_iter().map(|drawn| drawn.case)
    };
    drawn(Kind::Copy, 270).chain(drawn(Kind::Elementwise, 150)).collect()
}

/// Each case with its path, then how many cases take each path.
fn table() -> String {
    let exec = counted::exec().expect("the level of this CPU");
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut lines = String::new();
    for case in cases() {
        let path = path(&exec, &case).expect("a plan");
        *counts.entry(path).or_default() += 1;
        let operands = case.operands.iter().map(Operand::notation);
        let operands = operands.collect::<Vec<_>>().join(" ");
        let (op, out) = (case.op.name(), case.out);
        writeln!(lines, "{case}: {op} {out} {operands}: {path}").expect("memory");
    }
    let counts: String = counts.iter().map(|(path, n)| format!("{n:>4} {path}\n")).collect();
    format!("{HEAD}\n{lines}\n{counts}")
}

#[test]
fn every_drawn_case_keeps_its_path() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/population_paths.txt");
    let now = table();
    if std::env::var_os("UPDATE_PATHS").is_some() {
        std::fs::write(&file, &now).expect("the table can be written");
    }
    let recorded = std::fs::read_to_string(&file).expect("the table can be read");
    let changed: Vec<String> = recorded
        .lines()
        .zip(now.lines())
        .filter(|(before, after)| before != after)
        .map(|(before, after)| format!("- {before}\n+ {after}"))
        .collect();
    assert!(
        changed.is_empty(),
        "cases on another path (if that is meant: UPDATE_PATHS=1):\n{}",
        changed.join("\n")
    );
    assert_eq!(recorded.lines().count(), now.lines().count());
}
