//! The workflow in `docs/tracking.md` that other projects copy: it builds the commits in the lock
//! files of both branches.
#![cfg(target_os = "linux")]

mod common;

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use common::{Folder, finish};

const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tracking.md"));

/// The build step of the workflow, without its indentation.
fn recipe() -> String {
    let (_, after) = DOCUMENT.split_once("        run: |\n").expect("a step of several lines");
    let lines = after.lines().map_while(|line| line.strip_prefix("          "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A `cargo` whose "build" is a program that prints the commit.
const CARGO: &str = r#"#!/bin/sh
mkdir -p target/release
printf '#!/bin/sh\necho %s\n' "$(git rev-parse HEAD)" > target/release/tensor-bench
chmod +x target/release/tensor-bench
"#;

fn git(folder: &Folder, repository: &str, args: &[&str]) -> String {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let mut git = Command::new("git");
    let out = finish(git.current_dir(folder.path(repository)).args(author).args(args));
    assert_eq!(out.code, Some(0), "{out:?}");
    out.out.trim().to_owned()
}

/// Commits a file with that content.
fn commit(folder: &Folder, repository: &str, file: &str, content: &str) -> String {
    folder.file(&format!("{repository}/{file}"), content);
    git(folder, repository, &["add", file]);
    git(folder, repository, &["commit", "--quiet", "--message", content]);
    git(folder, repository, &["rev-parse", "HEAD"])
}

fn lock(library: &str, commit: &str) -> String {
    format!(
        "version = 4\n\n[[package]]\nname = \"tensor-core\"\nversion = \"0.1.0\"\n\
         source = \"git+file:///core#0\"\n\n\
         [[package]]\nname = \"tensor-kernels\"\nversion = \"0.1.0\"\n\
         source = \"git+file://{library}?branch=main#{commit}\"\n\
         dependencies = [\n \"tensor-core\",\n]\n\n[[package]]\nname = \"other\"\n\
         version = \"1.0.0\"\nsource = \"git+file:///other#1\"\n"
    )
}

#[test]
fn each_branch_is_built_at_the_commit_of_its_lock_file() {
    let folder = Folder::new();
    for repository in ["library", "project"] {
        fs::create_dir(folder.path(repository)).unwrap();
        git(&folder, repository, &["init", "--quiet"]);
    }
    let versions = ["one", "two"].map(|text| commit(&folder, "library", "text", text));
    let library = folder.name("library");
    commit(&folder, "project", "Cargo.lock", &lock(&library, &versions[0]));
    git(&folder, "project", &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    commit(&folder, "project", "Cargo.lock", &lock(&library, &versions[1]));

    fs::create_dir(folder.path("bin")).unwrap();
    folder.file("bin/cargo", CARGO);
    fs::set_permissions(folder.path("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.name("bin"), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.current_dir(folder.path("project")).args(["-e", "-c", &recipe()]).env("PATH", path);
    shell.env("GITHUB_BASE_REF", "main").env("RUNNER_TEMP", folder.path(""));
    finish(&mut shell).succeeded();
    for (program, version) in ["base", "new"].into_iter().zip(&versions) {
        let said = finish(&mut Command::new(folder.path(&format!("project/{program}"))));
        assert_eq!(said.succeeded().trim(), version, "{program}");
    }
}
