//! The scripts that build, record and compare, in a temporary repository with a fake `cargo`.
#![cfg(target_os = "linux")]

mod common;

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use common::{Folder, Run, finish};

/// A `cargo` whose "build" copies the program beside it.
const CARGO: &str = r#"#!/bin/sh
target=$CARGO_TARGET_DIR program=$(dirname "$0")/tensor-bench
while [ $# != 0 ]; do
  if [ "$1" = --target-dir ]; then target=$2; fi
  shift
done
mkdir -p "$target/release" && cp "$program" "$target/release/"
"#;

/// A repository of two commits and the comparison of an earlier run. `program` is what its `cargo`
/// builds.
fn repository(program: &str) -> Folder {
    let folder = Folder::new();
    for name in ["scripts", "bin", "target", "target/perf"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let executable = |name: &str, text: &str| {
        folder.file(name, text);
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    for name in ["layouts.sh", "perf.sh", "proof.sh", "push-base.sh", "results.sh"] {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
        executable(&format!("scripts/{name}"), &fs::read_to_string(ours).unwrap());
    }
    executable("bin/cargo", CARGO);
    executable("bin/tensor-bench", program);
    folder.file("target/perf/comparison.md", "no regression");
    git(&folder, &["init", "--quiet"]);
    record_commit(&folder, &["--message", "one"]);
    record_commit(&folder, &["--message", "two"]);
    folder
}

fn record_commit(folder: &Folder, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    git(folder, &[&author[..], &["commit", "--quiet", "--allow-empty"], args].concat());
}

fn git(folder: &Folder, args: &[&str]) {
    assert!(
        Command::new("git").current_dir(folder.path("")).args(args).status().unwrap().success()
    );
}

/// A script of the repository, with the fake `cargo` in `PATH`.
fn script(folder: &Folder, name: &str) -> Command {
    let path = format!("{}:{}", folder.name("bin"), std::env::var("PATH").unwrap());
    let mut script = Command::new(folder.path("scripts").join(name));
    script.env("PATH", path).env_remove("CARGO_TARGET_DIR").current_dir(folder.path(""));
    script
}

/// Runs `perf.sh`; its exit code, and the comparison it leaves.
fn perf(folder: &Folder, base: &str) -> (Run, String) {
    let run = finish(script(folder, "perf.sh").arg(base));
    (run, fs::read_to_string(folder.path("target/perf/comparison.md")).unwrap())
}

const MARKER: &str = "<!-- tensor-bench perf -->\n";

#[test]
fn a_comparison_is_left_under_the_marker_with_the_exit_code() {
    for code in [0, 1] {
        let program = format!("#!/bin/sh\nif [ $1 = compare ]; then echo found; exit {code}; fi\n");
        let (run, comparison) = perf(&repository(&program), "HEAD~1");
        assert_eq!((run.code, run.out.as_str()), (Some(code), "found\n"), "{run:?}");
        assert_eq!(comparison, format!("{MARKER}found\n"));
    }
}

#[test]
fn where_nothing_is_compared_the_reason_takes_the_place_of_an_old_comparison() {
    let cases = [
        ("#!/bin/sh\nexit 9\n", "HEAD~1", "has no command 'record'"),
        ("#!/bin/sh\n[ $2 = --help ]\n", "HEAD~1", "The base build cannot be recorded."),
        (
            "#!/bin/sh\nif [ $1 = compare ]; then echo 'unlike' >&2; exit 2; fi\n",
            "HEAD~1",
            "The records cannot be compared: unlike",
        ),
        ("#!/bin/sh\n", "missing", "There is no commit that 'missing' and HEAD have in common."),
    ];
    for (program, base, reason) in cases {
        let (run, comparison) = perf(&repository(program), base);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(reason), "{run:?}");
        let head = format!("{MARKER}### Performance: nothing was compared\n\n");
        assert!(comparison.starts_with(&head) && comparison.contains(reason), "{comparison}");
    }
}

#[test]
fn a_run_that_is_cut_off_leaves_no_old_comparison() {
    let folder = repository("#!/bin/sh\n[ $2 = --help ] || kill -9 $PPID\n");
    let (run, comparison) = perf(&folder, "HEAD~1");
    assert_eq!(run.code, None, "{run:?}");
    assert!(comparison.contains("nothing was compared") && !comparison.contains("no regression"));
}

/// The hash of a revision such as `HEAD~1`.
fn commit(folder: &Folder, name: &str) -> String {
    let mut git = Command::new("git");
    finish(git.current_dir(folder.path("")).args(["rev-parse", name])).succeeded()
}

fn push_base(folder: &Folder, before: &str) -> Run {
    finish(script(folder, "push-base.sh").arg(before.trim()))
}

#[test]
fn a_push_is_compared_with_where_the_branch_stood() {
    let folder = repository("");
    record_commit(&folder, &["--message", "three"]);
    let before = commit(&folder, "HEAD~2");
    assert_eq!(push_base(&folder, &before).succeeded(), before);
}

#[test]
fn where_that_is_no_answer_it_is_the_commit_before_and_the_reason_is_said() {
    let folder = repository("");
    let (base, rewritten) = (commit(&folder, "HEAD~1"), commit(&folder, "HEAD"));
    record_commit(&folder, &["--amend", "--message", "other"]);
    let zeros = "0".repeat(40);
    let unknown = "1".repeat(40);
    let cases = [
        (&zeros, "the branch is new"),
        (&rewritten, "HEAD was not reached"),
        (&unknown, "HEAD was"),
    ];
    for (before, reason) in cases {
        let run = push_base(&folder, before);
        assert_eq!((run.code, &run.out), (Some(0), &base), "{run:?}");
        assert!(run.err.contains(reason), "{run:?}");
    }
    git(&folder, &["checkout", "--quiet", "HEAD~1"]);
    push_base(&folder, &zeros).refused("there is nothing to compare with");
}

#[test]
fn how_a_script_is_used_is_said_to_the_end() {
    let folder = repository("");
    let perf = finish(&mut script(&folder, "perf.sh"));
    let proof = finish(script(&folder, "proof.sh").arg("frobnicate"));
    let layouts = finish(&mut script(&folder, "layouts.sh"));
    for (run, last) in [
        (perf, "--quick --counts always by default."),
        (proof, "as they should be."),
        (layouts, "It needs git, cargo and jq."),
    ] {
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.trim_end().ends_with(last), "{run:?}");
    }
}

#[test]
fn proofs_are_built_in_a_folder_that_is_named_from_where_they_are_called() {
    // The program writes empty records and finds no regression.
    let folder = repository(
        r#"#!/bin/sh
if [ $1 = record ]; then while [ "$1" != --out ]; do shift; done; : > "$2"; fi
"#,
    );
    fs::create_dir(folder.path("elsewhere")).unwrap();
    let mut proof = script(&folder, "proof.sh");
    proof.current_dir(folder.path("elsewhere")).env("CARGO_TARGET_DIR", "built");
    let run = finish(proof.args(["same", "1"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(folder.path("elsewhere/built/proof/release/tensor-bench").exists());
}

#[test]
fn a_document_without_a_marker_is_refused_before_anything_is_measured() {
    let folder = repository("");
    folder.file("bin/cargo", "#!/bin/sh\n: > measured\n");
    fs::create_dir(folder.path("docs")).unwrap();
    let markers = |names: &[&str]| -> String {
        names.iter().map(|name| format!("<!-- {name} -->\n<!-- /{name} -->\n")).collect()
    };
    let performance = markers(&["results", "ttc", "populations", "report"]);
    let readme = markers(&["populations", "copies", "slowdown", "excerpt"]);
    let results = |performance: &str, readme: &str, args: &[&str]| {
        folder.file("docs/performance.md", performance);
        folder.file("README.md", readme);
        finish(script(&folder, "results.sh").args(args))
    };
    for missing in [performance.lines(), readme.lines()].into_iter().flatten() {
        let without = |document: &str| document.replace(missing, "");
        let run = results(&without(&performance), &without(&readme), &[]);
        assert_eq!(run.code, Some(2), "{missing}: {run:?}");
        assert!(run.err.contains(missing), "{run:?}");
    }
    let wrong_way_round = performance
        .replace("<!-- results -->\n<!-- /results -->", "<!-- /results -->\n<!-- results -->");
    assert_eq!(results(&wrong_way_round, &readme, &[]).code, Some(2));
    assert!(!folder.path("measured").exists());
    // A quick run does not refresh the report, so its markers are not needed.
    results(&performance.replace("<!-- report -->", ""), &readme, &["--quick"]);
    assert!(folder.path("measured").exists());
}

#[test]
fn tables_and_pictures_are_made_of_recorded_results() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let figures = |what: &str| {
        let run = finish(Command::new(repository.join("scripts/figures.sh")).arg(what));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{what}: {run:?}");
        run.out
    };
    let readme = fs::read_to_string(repository.join("README.md")).unwrap();
    for (name, table) in [("copies", figures("table")), ("slowdown", figures("slowdown"))] {
        let expected = format!("<!-- {name} -->\n{table}<!-- /{name} -->\n");
        assert!(readme.contains(&expected), "scripts/figures.sh gives another table:\n{table}");
    }
    let picture = fs::read_to_string(repository.join("docs/images/copies.svg")).unwrap();
    assert!(figures("picture") == picture, "scripts/figures.sh draws another picture");
    roxmltree::Document::parse(&picture).unwrap();
}

/// The code that the proof damages moves now and then.
#[test]
fn the_functions_that_the_proof_damages_exist() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = fs::read_to_string(repository.join("scripts/proof.sh")).unwrap();
    let (_, table) = script.split_once("<< 'TABLE'\n").unwrap();
    let (table, _) = table.split_once("\nTABLE\n").unwrap();
    for damage in table.lines() {
        let [name, file, function, ..] = damage.split('|').collect::<Vec<_>>()[..] else {
            panic!("{damage} has no function");
        };
        let source = repository.join("crates/tensor-kernels/src").join(file);
        let source = fs::read_to_string(source).unwrap_or_else(|_| panic!("{name}: no {file}"));
        let called = |bracket: char| source.contains(&format!("{function}{bracket}"));
        assert!(called('(') || called('<'), "{name}: no {function} in {file}");
    }
}

/// Fails if `name` finds the same name in two lines of a file of a folder.
fn assert_names_differ(folder: &str, name: fn(&str) -> Option<&str>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let mut names: Vec<&str> = text.lines().filter_map(name).collect();
        found += names.len();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{}", path.display());
    }
    assert!(found > 0, "no names");
}

/// A workflow with two jobs of one name is invalid as a whole; a second function of a name in a
/// script replaces the first.
#[test]
fn jobs_and_functions_are_defined_once() {
    fn job(line: &str) -> Option<&str> {
        let key = line.strip_prefix("  ")?.strip_suffix(':')?;
        (!key.starts_with([' ', '#'])).then_some(key)
    }
    fn function(line: &str) -> Option<&str> {
        line.split_once("() {").map(|(name, _)| name)
    }
    assert_names_differ(".github/workflows", job);
    assert_names_differ("scripts", function);
}
