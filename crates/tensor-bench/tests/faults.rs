//! Faults around a run: each gives a reason on standard error and an exit code, leaves files
//! unchanged, and never panics. `cargo test -p tensor-bench fault` runs all these tests.
//!
//! # Which fault is tested where
//!
//! | | fault | tests, without `fault_`; here, where no module of `commands` is named |
//! |---|---|---|
//! | 29 | threads that cannot start, or too many | `threads_that_cannot_start_…`, |
//! | | | `a_number_of_threads_in_the_environment_…`, `usage`: `bad_arguments_…`, |
//! | | | `usage`: `thread_counts_of_a_suite_…` |
//! | 31 | a missing SIMD level | `a_forced_level_…`, `usage`: `an_unknown_simd_level_…` |
//! | 32 | a level that valgrind hides | `record`: `two_counts_of_one_build_…` |
//! | 33 | more bytes than 64 bits hold | `bytes_beyond_64_bits_…` |
//! | 34 | invalid sizes, shapes, names | `sizes_that_are_none_…`, `usage`: `bad_arguments_…`, |
//! | | | `advise`: `questions_without_an_answer_…`, `suite`: `malformed_suites_…`, |
//! | | | `report`: `a_view_that_is_refused_or_empty_…`, `explain`: `what_cannot_be_read_…` |
//! | 35 | output that cannot be written | `nobody_reads_the_complaint`, |
//! | | | `a_full_disk_…`, `usage`: `a_full_disk_…`, `usage`: `a_reader_who_stops_…`, |
//! | | | `record`: `an_output_that_cannot_…`, `record`: `a_folder_that_may_not_…`, |
//! | | | `record`: `a_reader_who_goes_away_…`, `report`: `a_page_that_cannot_…`, |
//! | | | `report`: `a_failed_run_…`, `convert`: `an_output_that_cannot_…`, |
//! | | | `convert`: `a_failed_conversion_…`, `convert`: `a_device_is_written_to_…` |
//! | 36 | an interrupted run | `an_interrupted_run_…` |
//! | 37 | a missing, broken or different baseline | `every_difference_of_two_records_…`, |
//! | | | `record`: `bad_input_is_exit_code_2`, `record`: `unlike_machines_…`, |
//! | | | `record`: `history_without_a_record_…`, `results`: `what_is_no_record_…`, |
//! | | | `results`: `records_are_put_together_…`, `advise`: `a_calibration_that_cannot_…` |
//! | 38 | missing cases, invalid figures | `figures_that_are_none_…`, |
//! | | | `record`: `what_has_become_worse_…` |
//! | 39 | missing or broken tools | `a_broken_valgrind_…`, `record`: `without_valgrind_…`, |
//! | | | `peers`: `a_program_without_peers_…` |
//! | 40 | hostile names, numbers of any size | `hostile_names_…`, `numbers_of_any_size_…`, |
//! | | | `record`: `profiles_are_found_…`, `record`: `a_file_of_cases_may_be_called_…` |
//! | 41 | times shorter than the clock shows | `an_operation_of_no_time_…` |
//! | 42 | too little memory | `bytes_beyond_64_bits_…`, `suite`: `a_case_beyond_memory_…`, |
//! | | | `advise`: `more_than_memory_holds_…`, `convert`: `a_sparse_file_…`, |
//! | | | `a_text_larger_than_memory_…`, `explain`: `no_array_is_made_…` |
//! | | files of any bytes | `convert`: `hostile_files_…`, `usage`: `devices_are_not_read` |

mod common;

use std::{
    collections::BTreeSet,
    fs,
    io::pipe,
    process::{Command, Stdio},
    time::Duration,
};

use common::{FORTRAN, Folder, Run, command, finish, npy, run};
use serde_json::Value;
use tensor_bench::{
    measure::engine::{Budget, Contender, race},
    output::render,
};

const CASES: &str = r#"[
    {"group": "own", "id": "transposed", "dtype": "f32", "base": [8, 6],
        "ops": [["permute", [1, 0]]]},
    {"group": "own", "id": "row", "dtype": "u8", "base": [1, 8], "ops": [["expand", [6, 8]]]}]"#;

/// A quick record of both cases, with counts as if valgrind were installed.
fn record() -> Value {
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let args = ["record", "--cases", &cases, "--quick", "--counts", "never", "--commit", "here"];
    let mut record: Value = serde_json::from_str(&run(&args).succeeded()).unwrap();
    let cost = r#"{"instructions": 10000, "l1_misses": 1000, "ll_misses": 100, "cycles": 30000}"#;
    let cost: Value = serde_json::from_str(cost).unwrap();
    record["counting"] =
        serde_json::json!({"by": {"valgrind": "valgrind-3.19.0", "simd": "v3", "caches": ""}});
    for case in record["cases"].as_array_mut().unwrap() {
        case["counts"] = serde_json::json!({ "plan": cost, "run": cost, "allocator": 0 });
    }
    record
}

fn compare(base: &str, new: &str) -> Run {
    let folder = Folder::new();
    let (base, new) = (folder.file("base.json", base), folder.file("new.json", new));
    run(&["compare", &base, &new, "--fail-on", "all"])
}

#[cfg(target_os = "linux")]
#[test]
fn fault_threads_that_cannot_start_are_an_error() {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 2000000 && exec \"$0\" \"$@\""]);
    limited.arg(env!("CARGO_BIN_EXE_tensor-bench"));
    limited.args(["report", "--quick", "--npy", FORTRAN, "--threads", "4"]);
    limited.env("RUST_MIN_STACK", (1u64 << 30).to_string()).stdin(Stdio::null());
    let out = finish(&mut limited).failed("error: cannot start 4 threads: ");
    assert_eq!(out, "");
}

#[test]
fn fault_a_number_of_threads_in_the_environment_does_not_matter_and_the_real_one_is_said() {
    for wish in ["abc", "0", "99999999999999999999"] {
        let args = ["report", "--quick", "--json", "--npy", FORTRAN, "--threads", "1"];
        let text = finish(command(&args).env("RAYON_NUM_THREADS", wish)).succeeded();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["threads"], 1, "{wish}");
    }
}

#[test]
fn fault_a_forced_level_is_named_in_results_and_one_that_is_not_there_is_refused() {
    let args = ["report", "--quick", "--json", "--npy", FORTRAN, "--threads", "1"];
    let text = finish(command(&args).env("TENSOR_SIMD", "scalar")).succeeded();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["machine"]["simd"], "scalar");
    let foreign = if cfg!(target_arch = "aarch64") { "v3" } else { "neon" };
    let refusal = format!("SIMD level {foreign} is not available on this CPU, which has scalar");
    finish(command(&args).env("TENSOR_SIMD", foreign)).refused(&refusal);
}

#[cfg(target_os = "linux")]
#[test]
fn fault_bytes_beyond_64_bits_are_counted() {
    let folder = Folder::new();
    let all = 1u64 << 62;
    let one = format!(r#"{{"dtype": "u8", "base": [1], "ops": [["expand", [{all}]]]}}"#);
    let sum = format!(
        r#"[{{"group": "g", "id": "huge", "op": "mul_add", "out_dtype": "u8",
            "operands": [{one}, {one}, {one}]}}]"#
    );
    let suite = folder.file("s.json", sum);
    for args in [&["suite", &suite][..], &["record", "--cases", &suite]] {
        let found = run(args);
        let numbers: Vec<&str> = found.err.split(" TB of memory, but only ").collect();
        let needed = numbers[0].rsplit(' ').next().unwrap().parse::<f64>();
        assert!(needed.is_ok_and(|tb| tb > 4.6e6), "{found:?}");
        assert_eq!(found.failed("case g/huge"), "");
    }
}

#[test]
fn fault_sizes_that_are_none_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let page = folder.name("page.html");
    let more = "340282366920938463463374607431768211456";
    for shape in ["3x", "1e30", "0x10", "", ",", "4,,4", "4 4", "-4,4", more, "NaN"] {
        let shape = format!("--shape={shape}");
        run(&["advise", &shape]).refused("--shape");
    }
    for (view, reason) in [
        (["--permute", "0,0"], "duplicate"),
        (["--permute", "1e30,0"], "--permute"),
        (["--expand", "0x2"], "--expand"),
        (["--flip", "1.5"], "--flip"),
    ] {
        let args = ["report", "--quick", "--npy", FORTRAN, view[0], view[1], "--html", &page];
        let found = run(&args);
        assert!(matches!(found.code, Some(1 | 2)) && found.out.is_empty(), "{found:?}");
        assert!(found.err.contains(reason), "{found:?}");
    }
    run(&["report", "--threads", "0", "--html", &page]).refused("0 threads");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn fault_nobody_reads_the_complaint() {
    for (args, code) in [(&["frobnicate"][..], 2), (&["explain", "arange(6).t(0)"], 2)] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let ended = command(args).stderr(writer).stdout(Stdio::null()).status().unwrap();
        assert_eq!(ended.code(), Some(code), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fault_a_full_disk_is_an_error_of_every_document() {
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    let commands: [&[&str]; 3] = [
        &["record", "--cases", &cases, "--quick", "--counts", "never", "--out", "/dev/full"],
        &["suite", &cases, "--quick", "--record", "/dev/full"],
        &["report", "--quick", "--npy", FORTRAN, "--html", "/dev/full"],
    ];
    for args in commands {
        run(args).failed("cannot write /dev/full: No space left on device");
    }
    assert_eq!(folder.files(), ["cases.json"]);
}

/// The old document is unchanged, and there is no other file.
#[cfg(unix)]
#[test]
fn fault_an_interrupted_run_leaves_the_old_document() {
    use std::os::unix::process::ExitStatusExt;
    // Not SIGINT, which a job in the background of a script inherits as ignored.
    const TERMINATE: i32 = 15;
    let folder = Folder::new();
    let (cases, old) = (folder.file("cases.json", CASES), folder.file("old.json", "old"));
    let args = ["record", "--cases", &cases, "--counts", "never", "--out", &old];
    let mut child = command(&args).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let kill = ["-c", &format!("kill -s TERM {}", child.id())];
    assert!(Command::new("sh").args(kill).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(TERMINATE), "it was still measuring");
    assert_eq!(fs::read(&old).unwrap(), b"old");
    assert_eq!(folder.files(), ["cases.json", "old.json"]);
}

/// Each difference has its own note.
#[test]
fn fault_every_difference_of_two_records_is_said() {
    let base = record();
    let differences: [(&str, Value, &str); 7] = [
        ("/machine/cpu", "an abacus".into(), "note: different machines ("),
        ("/machine/cores", 4096.into(), "note: different machines ("),
        ("/run/threads", 7.into(), "note: different runs ("),
        ("/build/rustc", "rustc 0.1".into(), "note: different compilers ("),
        ("/counting/by/valgrind", "valgrind-9".into(), "note: counts by valgrind-3.19.0 and by"),
        ("/counting/by/caches", "--D1=1".into(), "note: cache lines were counted with other"),
        ("/machine/simd", "v9".into(), "SIMD level"),
    ];
    let mut said = BTreeSet::new();
    for (place, value, words) in differences {
        let mut new = base.clone();
        *new.pointer_mut(place).unwrap() = value;
        let found = compare(&base.to_string(), &new.to_string());
        assert!(found.code == Some(0) && found.out.contains(words), "{place}: {found:?}");
        said.insert(words);
    }
    assert_eq!(said.len(), 6, "cores and CPU are one machine");
}

/// An invalid figure is never taken for a good one.
#[test]
fn fault_figures_that_are_none_are_refused_or_fail() {
    let base = record();
    let good = base.to_string();
    assert_eq!(compare(&good, &good).code, Some(0));
    let edits: [(&str, Value, &str); 12] = [
        ("/cases/0/times/run/best_ns", 0.into(), "own/transposed takes no time"),
        ("/cases/0/times/run/best_ns", Value::Null, "with a mistake: invalid type: null"),
        ("/cases/0/times/run/best_ns", "NaN".into(), "with a mistake: invalid type: string"),
        ("/cases/0/times/run/passes/3", 0.into(), "own/transposed takes no time"),
        ("/cases/0/times/run/passes/3", (-1).into(), "own/transposed takes no time"),
        ("/cases/0/times/run/passes", Value::Array(vec![]), "own/transposed takes no time"),
        ("/cases/0/times/roof", Value::Array(vec![]), "own/transposed takes no time"),
        ("/cases/0/counts/run/instructions", 0.into(), "own/transposed takes no instructions"),
        ("/cases/0/counts/plan/instructions", 0.into(), "own/transposed takes no instructions"),
        ("/cases/0/counts/run/instructions", (-1).into(), "with a mistake: invalid value"),
        ("/cases/0/counts/run/instructions", 1e300.into(), "with a mistake: invalid type"),
        ("/cases", Value::Array(vec![]), "a record without a case"),
    ];
    for (place, value, reason) in edits {
        let mut broken = base.clone();
        *broken.pointer_mut(place).unwrap() = value;
        let broken = broken.to_string();
        compare(&good, &broken).refused(reason);
        compare(&broken, &good).refused(reason);
    }
    let infinite = good.replacen("\"best_ns\":", "\"best_ns\":1e999,\"_\":", 1);
    compare(&good, &infinite).refused("number out of range");
    let fails: [(&str, Value, &str); 4] = [
        ("/cases/1/name", "own/another".into(), "own/row: the case is missing"),
        ("/cases/1/bytes", 1.into(), "own/row: the case is not the same"),
        ("/cases/1/counts", Value::Null, "own/row: its counts are missing"),
        ("/cases/1/times/fresh", Value::Null, "own/row: the times of allocating are missing"),
    ];
    for (place, value, reason) in fails {
        let mut new = base.clone();
        *new.pointer_mut(place).unwrap() = value;
        compare(&good, &new.to_string()).failed(reason);
    }
}

/// A run with `script` in place of valgrind.
#[cfg(unix)]
fn with_valgrind(script: &str, counts: &str) -> Run {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let cases = folder.file("cases.json", CASES);
    folder.file("valgrind", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(folder.path("valgrind"), fs::Permissions::from_mode(0o755)).unwrap();
    let args =
        ["record", "--cases", &cases, "--quick", "--filter", "transposed", "--counts", counts];
    finish(command(&args).env("PATH", folder.path("")))
}

#[cfg(unix)]
#[test]
fn fault_a_broken_valgrind_is_an_error_or_a_note() {
    let version = "if [ \"$1\" = --version ]; then echo valgrind-3.0; exit; fi";
    for (then, reason) in [
        ("echo unknown option --cache-sim >&2; exit 1", "unknown option --cache-sim"),
        ("exit 0", "callgrind wrote no profile"),
        ("echo unrecognised instruction >&2; exit 132", "without -C target-cpu=native"),
        ("kill -9 $$", "signal: 9"),
    ] {
        let out = with_valgrind(&format!("{version}\n{then}"), "always").failed(reason);
        assert_eq!(out, "");
    }
    let found = with_valgrind(&format!("{version}\nexit 0"), "auto");
    let reason = "callgrind wrote no profile";
    assert!(found.code == Some(0) && found.err.contains(reason), "{found:?}");
    let record: Value = serde_json::from_str(&found.out).unwrap();
    let because = record["counting"]["missing"]["because"].as_str().unwrap();
    assert!(because.contains(reason), "{because}");
    with_valgrind("echo broken library >&2; exit 127", "always")
        .failed("valgrind does not start: broken library");
}

/// Characters with a meaning in HTML, tables, shells or paths.
const HOSTILE: &str = "</text><script>alert('x')</script> \"&|`$(..)%41 \u{202e}ünïcödé";

#[test]
fn fault_hostile_names_are_text_wherever_they_are_shown() {
    let folder = Folder::new();
    let name = HOSTILE.replace('/', "\u{2215}");
    let array = folder.file(&name, npy("<f4", true, "(3, 2)", &[1; 24]));
    let page = folder.name("page.html");
    run(&["report", "--quick", "--threads", "1", "--npy", &array, "--html", &page]).succeeded();
    let text = fs::read_to_string(&page).unwrap();
    assert!(!text.contains("<script") && text.contains("&lt;script&gt;alert("), "{text}");
    roxmltree::Document::parse_with_options(
        &text,
        roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
    )
    .expect("the page is XML");
    for foreign in ["http:", "https:", "url(", "@import", "src=", "href="] {
        assert!(!text.contains(foreign), "{foreign}: it opens without a network");
    }
    assert_eq!(folder.files().len(), 2, "{:?}", folder.files());
}

#[test]
fn fault_hostile_names_of_cases_are_text_in_every_document() {
    let folder = Folder::new();
    let mut cases: Value = serde_json::from_str(CASES).unwrap();
    cases[0]["group"] = "../../etc".into();
    cases[0]["id"] = HOSTILE.into();
    let name = format!("../../etc/{HOSTILE}");
    let cases = folder.file("cases.json", cases.to_string());
    let out = folder.name("out.json");
    let args = ["record", "--cases", &cases, "--quick", "--counts", "never", "--out", &out];
    assert_eq!(run(&args).code, Some(0));
    let record: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(record["cases"][0]["name"], name);
    let mut new = record.clone();
    new["cases"][0]["path"] = "blocked".into();
    let new = folder.file("new.json", new.to_string());
    let markdown =
        run(&["compare", &out, &new, "--format", "markdown"]).failed("1 regression; the worst");
    assert!(!markdown.contains("<script") && markdown.contains("script"), "{markdown}");
    let row = markdown.lines().find(|line| line.contains("REGRESSION")).unwrap();
    assert_eq!(row.replace("\\|", "").matches('|').count(), 4, "one row: {row}");
    let json = run(&["compare", &out, &new, "--format", "json"]).failed("1 regression; the worst");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["changed"][0]["case"], name);
    let text = run(&["suite", &cases, "--quick"]).succeeded();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(folder.files(), ["cases.json", "new.json", "out.json"]);
}

#[test]
fn fault_numbers_of_any_size_keep_their_unit() {
    let times = [0.0, 1e-300, 1e300, f64::MAX, f64::INFINITY, f64::NAN, -1.0];
    for time in times.map(render::time) {
        let (number, unit) = time.split_once(' ').unwrap();
        assert!(number.parse::<f64>().is_ok() && ["ns", "s"].contains(&unit), "{time}");
    }
    assert!(render::bytes(u128::MAX).ends_with(" TB"));
    assert_eq!(render::bytes(0), "0 B");
    for (bytes, ns) in [(u64::MAX, 0.0), (0, 0.0), (u64::MAX, 1e-300)] {
        assert!(render::bandwidth(bytes, ns).parse::<f64>().is_ok());
    }
}

/// An operation that takes no time is repeated until the clock shows some.
#[test]
fn fault_an_operation_of_no_time_is_timed_in_batches() {
    let mut calls = 0u64;
    let nothing = Contender::new(|| {
        calls = std::hint::black_box(calls + 1);
        Ok::<(), tensor_bench::Failure>(())
    });
    let budget = Budget { time: Duration::from_millis(5), ..Budget::QUICK };
    let [timing] = race(&budget, [nothing]).unwrap();
    assert!(timing.batch >= 100 && timing.samples >= budget.min_rounds, "{timing:?}");
    assert!(timing.best_ns > 0.0 && timing.best_ns <= timing.median_ns, "{timing:?}");
    assert!(timing.spread.is_finite() && timing.median_ns.is_finite(), "{timing:?}");
    assert!(calls >= timing.batch * timing.samples as u64);
}

/// A sparse file can be larger than memory.
#[cfg(target_os = "linux")]
#[test]
fn fault_a_text_larger_than_memory_is_refused_with_numbers() {
    let folder = Folder::new();
    let text = folder.file("huge.json", "[");
    let file = fs::OpenOptions::new().write(true).open(&text).unwrap();
    if file.set_len(1 << 43).is_err() {
        return; // A file system without sparse files of this size.
    }
    for args in [&["suite", &text][..], &["compare", &text, &text], &["record", "--cases", &text]] {
        run(args).failed("huge.json: needs 8.8 TB of memory, but only");
    }
}
