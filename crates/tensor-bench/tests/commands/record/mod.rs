//! `record`, `compare` and `history`: documents, verdicts, exit codes, errors.

mod compare;
mod history;

use std::{
    fs,
    process::{Command, Stdio},
};

use crate::common::{Folder, Run, command, finish, run};
use serde_json::Value;

const CASES: &str = r#"[
    {"group": "own", "id": "transposed", "dtype": "f32", "base": [8, 6],
        "ops": [["permute", [1, 0]]]},
    {"group": "own", "id": "row", "op": "add", "out_dtype": "f32", "operands": [
        {"dtype": "f32", "base": [6, 8], "ops": [["flip", 1]]},
        {"dtype": "f32", "base": [1, 8], "ops": [["expand", [6, 8]]]}]}]"#;

/// A folder with `cases.json` and a quick record of them without counts, `a.json`.
fn recorded() -> (Folder, Value) {
    let folder = Folder::new();
    let (cases, out) = (folder.file("cases.json", CASES), folder.name("a.json"));
    let args = ["record", "--cases", &cases, "--quick", "--counts", "never", "--commit", "here"];
    let ended = run(&[&args[..], &["--out", &out]].concat());
    let said = "a.json: 2 cases of here, 9 passes; no counts: counts were not asked for\n";
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.err.ends_with(said), "{ended:?}");
    let record = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    (folder, record)
}

/// Adds counts to every case, as if valgrind were installed.
fn counted(mut record: Value) -> Value {
    let by = r#"{"by": {"valgrind": "valgrind-3.19.0", "simd": "v3", "caches": ""}}"#;
    let cost = r#"{"instructions": 10000, "l1_misses": 1000, "ll_misses": 100, "cycles": 30000}"#;
    let cost: Value = serde_json::from_str(cost).unwrap();
    record["counting"] = serde_json::from_str(by).unwrap();
    for case in record["cases"].as_array_mut().unwrap() {
        case["counts"] = serde_json::json!({ "plan": cost, "run": cost, "allocator": 0 });
    }
    record
}

fn compare(folder: &Folder, base: &Value, new: &Value, args: &[&str]) -> Run {
    let (base, new) =
        (folder.file("base.json", base.to_string()), folder.file("new.json", new.to_string()));
    run(&[&["compare", &base, &new], args].concat())
}

/// A thousand times slower in every pass.
fn slower(mut record: Value) -> Value {
    let run = &mut record["cases"][0]["times"]["run"];
    for pass in run["passes"].as_array_mut().unwrap() {
        *pass = (pass.as_f64().unwrap() * 1000.0).into();
    }
    record
}

#[test]
fn a_record_has_machine_build_and_cases() {
    let (_, record) = recorded();
    assert_eq!((&record["form"], &record["schema"]), (&"tensor-bench record".into(), &2.into()));
    assert_eq!(record["build"]["commit"], "here");
    assert!(record["build"]["rustc"].as_str().unwrap().starts_with("rustc "));
    assert!(record["machine"]["cores"].as_u64().unwrap() >= 1);
    assert!(record["time"].as_u64().unwrap() > 1_700_000_000);
    let cases = record["cases"].as_array().unwrap();
    let facts = |case: &Value| {
        format!("{} {} {} {}", case["name"], case["op"], case["bytes"], case["path"])
    };
    let facts: Vec<String> = cases.iter().map(facts).collect();
    assert_eq!(facts[0], r#""own/transposed" "copy" 192 "transpose""#);
    assert!(facts[1].starts_with(r#""own/row" "add" 416 "#), "{}", facts[1]);
    for case in cases {
        let run = &case["times"]["run"];
        let [best, median] = ["best_ns", "median_ns"].map(|field| run[field].as_f64().unwrap());
        assert!(0.0 < best && best <= median, "{run}");
        let passes = |times: &Value| times.as_array().unwrap().len();
        assert_eq!((passes(&run["passes"]), passes(&case["times"]["roof"])), (9, 9));
        assert!(run["samples"].as_u64().unwrap() >= 10 && case.get("counts").is_none());
        assert!(case["times"]["share"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_record_has_the_regret_of_the_random_copies() {
    let args = ["record", "--quick", "--counts", "never", "--filter", "small/"];
    let record: Value = serde_json::from_str(&run(&args).succeeded()).unwrap();
    let regret = &record["regret"];
    let [p95, worst] = ["p95", "worst_regret"].map(|key| regret[key].as_f64().unwrap());
    assert!(1.0 <= p95 && p95 <= worst, "{regret}");
    assert_eq!((&regret["cases"], regret["passes"].as_array().unwrap().len()), (&21.into(), 9));
    let (folder, own) = recorded();
    assert!(own.get("regret").is_none(), "cases of the user are not drawn");
    assert_eq!(compare(&folder, &record, &record, &["--fail-on", "time"]).code, Some(0));
    let mut other = record.clone();
    other["regret"]["p95"] = (2.0 * p95).into();
    for pass in other["regret"]["passes"].as_array_mut().unwrap() {
        *pass = (4.0 * pass.as_f64().unwrap()).into();
    }
    let said = "regret of the plans (95th percentile)";
    let text = compare(&folder, &record, &other, &["--fail-on", "time"]).failed(said);
    assert!(text.contains("REGRESSION  all"), "{text}");
}

/// A repository of the user has commits of its own.
#[test]
fn a_record_is_of_the_commit_of_the_build_wherever_it_is_made() {
    let folder = Folder::new();
    folder.file("cases.json", CASES);
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let commit = [&author[..], &["commit", "--quiet", "--allow-empty", "-m", "one"]].concat();
    for args in [&["init", "--quiet"][..], &commit] {
        let mut git = Command::new("git");
        assert!(git.current_dir(folder.path("")).args(args).status().unwrap().success());
    }
    let args = ["record", "--cases", "cases.json", "--quick", "--counts", "never"];
    let text = finish(command(&args).current_dir(folder.path(""))).succeeded();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["build"]["commit"].as_str(), tensor_bench::track::build::COMMIT);
}

#[test]
fn without_a_file_the_record_is_printed() {
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let args = ["record", "--cases", &cases, "--quick", "--counts", "never", "--filter", "row"];
    let record: Value = serde_json::from_str(&run(&args).succeeded()).unwrap();
    assert_eq!(record["cases"].as_array().unwrap().len(), 1);
}

#[test]
fn fault_a_file_of_cases_may_be_called_like_an_option() {
    let folder = Folder::new();
    folder.file("-x.json", CASES);
    let mut record = command(&["record", "--cases=-x.json", "--quick", "--filter", "transposed"]);
    let ended = finish(record.current_dir(folder.path("")));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.err.contains("-x.json"), "{ended:?}");
}

#[cfg(unix)]
#[test]
fn standard_output_may_be_named_as_the_file() {
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let args = ["record", "--cases", &cases, "--quick", "--counts", "never", "--out"];
    let ended = run(&[&args[..], &["/dev/stdout"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let record: Value = serde_json::from_str(&ended.out).expect("one document");
    assert_eq!(record["cases"].as_array().unwrap().len(), 2);
}

/// A run with an empty `PATH`.
fn bare(args: &[&str]) -> Run {
    let nothing = Folder::new();
    finish(command(args).env("PATH", nothing.path("")))
}

#[test]
fn fault_without_valgrind_the_record_says_so_and_always_fails() {
    let folder = Folder::new();
    let (cases, out) = (folder.file("cases.json", CASES), folder.name("a.json"));
    let args = ["record", "--cases", &cases, "--quick", "--out", &out];
    let found = bare(&args);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(
        found.err.starts_with("note: the record will have no counts: valgrind is not installed")
    );
    let record: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let because = record["counting"]["missing"]["because"].as_str().unwrap();
    assert!(because.starts_with("valgrind is not installed ("), "{because}");
    // The old file is unchanged.
    let old = folder.file("a.json", "old");
    bare(&[&args[..], &["--counts", "always"]].concat()).failed("valgrind is not installed");
    assert_eq!(fs::read(old).unwrap(), b"old");
    assert_eq!(folder.files(), ["a.json", "cases.json"]);
}

fn valgrind_is_installed() -> bool {
    std::process::Command::new("valgrind").arg("--version").output().is_ok()
}

/// Only where valgrind is installed.
#[cfg(unix)]
#[test]
fn fault_profiles_are_found_in_a_folder_of_any_name() {
    if !valgrind_is_installed() {
        return;
    }
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    fs::create_dir(folder.path("100%p")).unwrap();
    let args =
        ["record", "--cases", &cases, "--quick", "--filter", "transposed", "--counts", "always"];
    finish(command(&args).env("TMPDIR", folder.path("100%p"))).succeeded();
}

/// Where valgrind is installed.
#[test]
fn two_counts_of_one_build_are_equal() {
    if !valgrind_is_installed() {
        return;
    }
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let args = ["record", "--cases", &cases, "--quick", "--counts", "always"];
    let record = || serde_json::from_str::<Value>(&run(&args).succeeded()).unwrap();
    let (one, other) = (record(), record());
    for at in 0..2 {
        let counts = &one["cases"][at]["counts"];
        assert_eq!(counts, &other["cases"][at]["counts"]);
        for part in ["plan", "run", "fresh"] {
            assert!(counts[part]["instructions"].as_u64().unwrap() > 100, "{part} of {counts}");
        }
        assert!(counts["allocator"].as_u64().unwrap() > 10, "{counts}");
    }
    assert_ne!(one["counting"]["by"]["simd"], "v4");
}

#[test]
fn fault_bad_input_is_exit_code_2() {
    let (folder, record) = recorded();
    let good = folder.name("a.json");
    let text = record.to_string();
    let suite = r#"{"schema": 1, "machine": {}, "command": "suite", "rows": []}"#;
    let cases = [
        (text[..text.len() - 9].to_owned(), "bad.json: not a whole record: EOF"),
        ("a, b".to_owned(), "bad.json: not a record: "),
        (
            suite.to_owned(),
            "bad.json: not a record: written by `tensor-bench suite --record`; read",
        ),
        (
            text.replace("\"schema\":2", "\"schema\":9"),
            "a record of schema 9; this program reads schema 2",
        ),
        (text.replace("own/", "their/"), "the two records have no case in common"),
    ];
    for (text, reason) in cases {
        let bad = folder.file("bad.json", text);
        run(&["compare", &good, &bad]).refused(reason);
        run(&["compare", &bad, &good]).refused(reason);
    }
    run(&["compare", &good, "/missing.json"]).refused("cannot read /missing.json");
    run(&["compare", &good, &folder.name("")]).refused("is not a regular file");
    run(&["compare", &good, &good, "--time=-1"]).refused("expected a percentage, 0 or more");
    run(&["compare", &good, &good, "--format", "xml"]).refused("invalid value 'xml'");
    run(&["compare", &good]).refused("required arguments");
    let twice = folder.file("twice.json", CASES.replace("row", "transposed"));
    run(&["record", "--cases", &twice]).refused("twice.json: two cases are called own/transposed");
    run(&["record", "--filter", "nothing at all"]).refused("no case to record");
    run(&["record", "--threads", "0"]).refused("0 threads: give at least 1");
}

#[test]
fn fault_an_output_that_cannot_be_written_fails_before_anything_is_measured() {
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let args = ["record", "--cases", &cases, "--counts", "never", "--out", "/missing/r.json"];
    run(&args).failed("cannot write /missing/r.json");
}

#[cfg(unix)]
#[test]
fn fault_a_folder_that_may_not_be_written_is_left_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let (cases, old) = (folder.file("cases.json", CASES), folder.file("r.json", "old"));
    let allow =
        |mode| fs::set_permissions(folder.path(""), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // root may write anywhere.
    let everywhere = fs::write(folder.path("probe"), "").is_ok();
    let found = run(&["record", "--cases", &cases, "--quick", "--counts", "never", "--out", &old]);
    allow(0o755);
    if !everywhere {
        found.failed("cannot write");
        assert_eq!(fs::read(&old).unwrap(), b"old");
    }
}
