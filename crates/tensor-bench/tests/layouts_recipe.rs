//! `scripts/layouts.sh` and the workflow in `docs/tracking.md` that calls it, in projects that use
//! the library by git, by a path within the project, and by a path beside it.
//!
//! The library of these projects has empty crates, and its "build" is a copy of the program under
//! test: cargo resolves the dependencies, and the program records and compares.
#![cfg(target_os = "linux")]

mod common;

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use common::{Folder, Run, finish};

const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tracking.md"));

const SCRIPT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/layouts.sh"));

/// The step of the workflow, without its indentation.
fn recipe() -> String {
    let (_, after) = DOCUMENT.split_once("        run: |\n").expect("a step of several lines");
    let lines = after.lines().map_while(|line| line.strip_prefix("          "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A `cargo` whose "build" copies the program and notes what it was to build.
const CARGO: &str = r#"#!/bin/sh
if [ "$1" != build ]; then exec "$REAL_CARGO" "$@"; fi
while [ $# != 0 ]; do
  case $1 in --target-dir) target=$2 ;; --manifest-path) manifest=$2 ;; esac
  shift
done
echo "$manifest" >> "$BUILDS"
mkdir -p "$target/release" && cp "$PROGRAM" "$target/release/tensor-bench"
"#;

const LAYOUTS: &str = r#"[
    {"group": "own", "id": "plain", "dtype": "f32", "base": [60, 40], "ops": []},
    {"group": "own", "id": "rows", "dtype": "f32", "base": [60, 40],
        "ops": [["slice", 0, null, null, 2]]}]"#;

/// The same with a view that somebody has made slower.
fn slower() -> String {
    let transposed = r#"[40, 60], "ops": [["permute", [1, 0]]]"#;
    LAYOUTS.replacen(r#"[60, 40], "ops": []"#, transposed, 1)
}

/// A repository `library` and a project with its layouts, of one commit each.
struct Scratch {
    folder: Folder,
}

impl Scratch {
    /// `dependency` is the source of the library in the manifest of the project.
    fn new(library: &str, dependency: impl Fn(&Folder) -> String) -> Scratch {
        let folder = Folder::new();
        for name in ["bin", "home", "project", "project/src"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        folder.file("bin/cargo", CARGO);
        executable(&folder, "bin/cargo");
        let scratch = Scratch { folder };
        git(&scratch.folder, "project", &["init", "--quiet"]);
        scratch.write_library(library);
        let manifest = format!(
            "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\ntensor-kernels = {}\n\n[workspace]\nexclude = [\"vendor\"]\n",
            dependency(&scratch.folder)
        );
        scratch.folder.file("project/Cargo.toml", manifest);
        scratch.folder.file("project/.gitignore", "target\n");
        scratch.folder.file("project/src/lib.rs", "");
        scratch.cargo("generate-lockfile");
        scratch.commit("layouts.json", LAYOUTS);
        git(&scratch.folder, "project", &["update-ref", "refs/remotes/origin/main", "HEAD"]);
        scratch
    }

    /// The library as a repository beside the project, and as a folder in it.
    fn write_library(&self, at: &str) {
        for name in ["tensor-kernels", "tensor-bench"] {
            let package = format!("{at}/crates/{name}");
            fs::create_dir_all(self.folder.path(&format!("{package}/src"))).unwrap();
            let manifest =
                format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
            self.folder.file(&format!("{package}/Cargo.toml"), manifest);
            self.folder.file(&format!("{package}/src/lib.rs"), "");
        }
        self.folder.file(&format!("{at}/Cargo.toml"), "[workspace]\nmembers = [\"crates/*\"]\n");
        fs::create_dir(self.folder.path(&format!("{at}/scripts"))).unwrap();
        self.folder.file(&format!("{at}/scripts/layouts.sh"), SCRIPT);
        executable(&self.folder, &format!("{at}/scripts/layouts.sh"));
        if at == "library" {
            git(&self.folder, at, &["init", "--quiet", "--initial-branch=main"]);
            self.commit_library("one");
        }
    }

    /// Runs cargo in the project.
    fn cargo(&self, command: &str) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg(command).arg("--quiet").env("CARGO_HOME", self.folder.path("home"));
        let run = finish(cargo.current_dir(self.folder.path("project")));
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    fn commit_library(&self, text: &str) {
        self.folder.file("library/text", text);
        commit_all(&self.folder, "library", text);
    }

    /// Commits a file of the project.
    fn commit(&self, file: &str, content: &str) {
        self.folder.file(&format!("project/{file}"), content);
        commit_all(&self.folder, "project", file);
    }

    /// Runs the step of the workflow; its result, the markdown it leaves, and what was built.
    fn run(&self) -> (Run, String, Vec<String>) {
        let _ = fs::remove_file(self.folder.path("builds"));
        let path = format!("{}:{}", self.folder.name("bin"), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell.current_dir(self.folder.path("project")).args(["-e", "-c", &recipe()]);
        shell.env("PATH", path).env("CARGO_HOME", self.folder.path("home"));
        shell.env("REAL_CARGO", env!("CARGO")).env("PROGRAM", env!("CARGO_BIN_EXE_tensor-bench"));
        shell.env("BUILDS", self.folder.path("builds")).env("GITHUB_BASE_REF", "main");
        shell.env("LAYOUTS_RECORD", "--quick --counts never").env_remove("CARGO_TARGET_DIR");
        shell.env("GITHUB_STEP_SUMMARY", self.folder.path("summary")).env_remove("TENSOR_SIMD");
        let run = finish(&mut shell);
        let summary = fs::read_to_string(self.folder.path("summary")).unwrap_or_default();
        fs::remove_file(self.folder.path("summary")).unwrap();
        let builds = fs::read_to_string(self.folder.path("builds")).unwrap_or_default();
        let left = self.folder.path(".project-base");
        assert!(!left.exists(), "the base is left behind");
        (run, summary, builds.lines().map(str::to_owned).collect())
    }

    /// Nothing was built, and the reason is said.
    #[track_caller]
    fn has_nothing_to_compare(&self) {
        let (run, summary, builds) = self.run();
        assert_eq!((run.code, builds), (Some(0), vec![]), "{run:?}");
        assert!(summary.contains("Neither the layouts nor the library have changed."), "{summary}");
    }

    /// The view that was made slower is found, after a second look; so often was something built.
    #[track_caller]
    fn finds_the_slower_layout(&self, builds: usize) {
        let (run, summary, built) = self.run();
        assert_eq!((run.code, built.len()), (Some(1), builds), "{run:?} {built:?}");
        assert!(summary.starts_with("### Performance: 1 regression"), "{summary}");
        assert!(summary.contains("| REGRESSION | own/plain | path "), "{summary}");
        assert!(run.out.contains("REGRESSION  own/plain"), "{run:?}");
        let records = ["base", "base2", "new", "new2"];
        let record = |name| format!("project/target/layouts/{name}.json");
        assert!(records.iter().all(|name| self.folder.path(&record(name)).exists()));
    }
}

fn executable(folder: &Folder, name: &str) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn git(folder: &Folder, repository: &str, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let mut git = Command::new("git");
    let out = finish(git.current_dir(folder.path(repository)).args(author).args(args));
    assert_eq!(out.code, Some(0), "{out:?}");
}

fn commit_all(folder: &Folder, repository: &str, message: &str) {
    git(folder, repository, &["add", "--all"]);
    git(folder, repository, &["commit", "--quiet", "--message", message]);
}

#[test]
fn a_library_from_git_is_built_once_for_each_commit_of_it() {
    let by_git = |folder: &Folder| {
        let library = folder.name("library");
        format!("{{ git = \"file://{library}\", branch = \"main\" }}")
    };
    let scratch = Scratch::new("library", by_git);
    scratch.commit("README", "nothing that matters");
    scratch.has_nothing_to_compare();

    scratch.commit("layouts.json", &slower());
    scratch.finds_the_slower_layout(1);

    scratch.commit_library("two");
    scratch.cargo("update");
    scratch.commit("layouts.json", LAYOUTS);
    let (run, summary, builds) = scratch.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(summary.starts_with("### Performance: no regression"), "{summary}");
    let text = |manifest: &String| {
        let folder = Path::new(manifest).ancestors().nth(3).unwrap();
        fs::read_to_string(folder.join("text")).unwrap()
    };
    assert_eq!(builds.iter().map(text).collect::<Vec<_>>(), ["two", "one"]);
}

#[test]
fn a_library_in_the_project_is_built_for_both_sides_if_it_has_changed() {
    let in_project = |_: &Folder| "{ path = \"vendor/crates/tensor-kernels\" }".to_owned();
    let scratch = Scratch::new("project/vendor", in_project);
    scratch.commit("README", "nothing that matters");
    scratch.has_nothing_to_compare();

    scratch.commit("layouts.json", &slower());
    scratch.finds_the_slower_layout(1);
    scratch.commit("vendor/crates/tensor-kernels/src/lib.rs", "// changed\n");
    scratch.finds_the_slower_layout(2);
}

#[test]
fn a_library_beside_the_project_is_the_same_for_both_sides() {
    let beside = |_: &Folder| "{ path = \"../library/crates/tensor-kernels\" }".to_owned();
    let scratch = Scratch::new("library", beside);
    scratch.has_nothing_to_compare();
    scratch.commit("layouts.json", &slower());
    scratch.finds_the_slower_layout(1);

    scratch.commit("accepted-layouts.txt", "own/plain path the batch comes transposed now\n");
    let (run, summary, _) = scratch.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(summary.contains("the batch comes transposed now"), "{summary}");
}

#[test]
fn where_nothing_can_be_compared_the_reason_is_said() {
    let beside = |_: &Folder| "{ path = \"../library/crates/tensor-kernels\" }".to_owned();
    let scratch = Scratch::new("library", beside);
    scratch.commit("layouts.json", &slower().replace("permute", "roll"));
    let (run, summary, _) = scratch.run();
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("unknown view operation [\"roll\""), "{run:?}");
    assert!(summary.contains("cannot be recorded by the new build"), "{summary}");
}
