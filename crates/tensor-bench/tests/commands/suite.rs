//! `suite`: the lines of JSON, the tables, and errors before anything is measured.

use crate::common::{Folder, command, finish, run};
use serde_json::Value;
use tensor_kernels::Machine;

const COPY: &str = r#"{"group": "small", "id": "transposed", "dtype": "f32", "base": [8, 6],
    "ops": [["permute", [1, 0]]],
    "shape": [6, 8], "strides": [1, 6], "offset": 0}"#;
const SUM: &str = r#"{"group": "small", "id": "sum", "op": "sum", "out_dtype": "f32", "dims": [0],
    "operands": [{"dtype": "f32", "base": [6, 8], "ops": [["permute", [1, 0]]],
        "shape": [8, 6], "strides": [1, 8], "offset": 0}]}"#;
const ADD: &str = r#"{"group": "small", "id": "row", "op": "add", "out_dtype": "f32", "operands": [
    {"dtype": "f32", "base": [6, 8],
        "ops": [["flip", 1]], 
        "shape": [6, 8], "strides": [8, -1], "offset": 7},
    {"dtype": "f32", "base": [1, 8],
        "ops": [["expand", [6, 8]]], 
        "shape": [6, 8], "strides": [0, 1], "offset": 0}]}"#;

fn lines(text: &str) -> Vec<serde_json::Map<String, Value>> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect()
}

#[test]
fn each_case_and_thread_count_is_one_line_of_known_keys() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}, {ADD}]"));
    let text = run(&["suite", &suite, "--json", "--quick", "--threads", "1,2"]).succeeded();
    let rows = lines(&text);
    assert_eq!(rows.len(), 4);
    let common = "alloc_ns bytes dtype group id into_ns naive_ns op path roof_ns slower_than \
                  slower_than_naive threads";
    for row in &rows {
        let mut keys: Vec<&str> =
            row.keys().map(String::as_str).filter(|key| *key != "contiguous_ns").collect();
        keys.sort_unstable();
        assert_eq!(keys.join(" "), common);
        assert_eq!(row.contains_key("contiguous_ns"), row["op"] == "add");
        for time in row.keys().filter(|key| key.ends_with("_ns")) {
            assert!(row[time].as_f64().unwrap() > 0.0, "{time} of {row:?}");
        }
    }
    let facts = |row: &serde_json::Map<String, Value>| {
        format!("{} {} {} {} {}", row["id"], row["op"], row["dtype"], row["threads"], row["bytes"])
    };
    let all: Vec<_> = rows.iter().map(facts).collect();
    let expected = [
        r#""transposed" "copy" "f32" 1 192"#,
        r#""row" "add" "f32" 1 416"#,
        r#""transposed" "copy" "f32" 2 192"#,
        r#""row" "add" "f32" 2 416"#,
    ];
    assert_eq!(all, expected);
}

#[test]
fn tables_fit_a_hundred_columns() {
    let folder = Folder::new();
    let long = COPY.replace("transposed", "a_name_much_longer_than_any_column_of_a_table_could_be");
    let suite = folder.file("s.json", format!("[{COPY}, {long}, {ADD}]"));
    let text = run(&["suite", &suite, "--quick"]).succeeded();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.starts_with("copy, small, 1 thread\n\n"), "{text}");
    assert!(text.contains("\nelementwise, small, 1 thread\n"), "{text}");
    assert_eq!(text.matches("geometric mean").count(), 2, "{text}");
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("case ")).collect();
    assert!(heads.len() == 2 && heads.iter().all(|head| head.contains(" loop ")), "{text}");
}

/// Which cases are slower depends on the machine. That rows, message and exit code agree does not.
#[test]
fn check_fails_if_and_only_if_a_case_is_slower_than_the_naive_loop() {
    let folder = Folder::new();
    let large = r#"{"group": "large", "id": "transposed", "dtype": "u8", "base": [512, 512],
        "ops": [["permute", [1, 0]]]}"#;
    let suite = folder.file("s.json", format!("[{COPY}, {large}, {ADD}]"));
    let judged = run(&["suite", &suite, "--json", "--quick", "--check"]);
    let rows = lines(&judged.out);
    let slower: Vec<String> = rows
        .iter()
        .filter(|row| row["slower_than_naive"] == true)
        .map(|row| format!("{}/{} (", row["group"].as_str().unwrap(), row["id"].as_str().unwrap()))
        .collect();
    assert_eq!(judged.code, Some(i32::from(!slower.is_empty())), "{judged:?}");
    assert_eq!(judged.err.contains("slower than the naive loop"), !slower.is_empty(), "{judged:?}");
    assert!(slower.iter().all(|case| judged.err.contains(case)), "{judged:?}");
    for row in &rows {
        let longer = row["into_ns"].as_f64() > row["naive_ns"].as_f64();
        assert!(longer || row["slower_than_naive"] == false, "{row:?}");
    }
}

#[test]
fn without_check_the_last_line_says_what_was_slower_and_the_run_succeeds() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}, {ADD}]"));
    let text = run(&["suite", &suite, "--quick"]).succeeded();
    let last = text.trim_end().rsplit("\n\n").next().unwrap();
    let none = last == "No case was slower than the naive loop.";
    assert!(
        none || last.starts_with("Slower than the naive loop, measured twice: small/"),
        "{text}"
    );
}

#[test]
fn a_record_is_one_document_with_machine_command_and_rows() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}, {ADD}]"));
    let record = folder.name("r.json");
    let args = ["suite", &suite, "--json", "--quick", "--threads", "1,2", "--filter", "small/"];
    let text = run(&[&args[..], &["--record", &record]].concat()).succeeded();
    let document: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    assert_eq!(document["schema"], 1);
    assert!(document["machine"]["cores"].as_u64().unwrap() >= 1);
    assert_eq!(document["command"], format!("suite {suite} --threads 1,2 --filter small/ --quick"));
    let rows: Vec<_> = lines(&text).into_iter().map(Value::Object).collect();
    assert_eq!(document["rows"].as_array(), Some(&rows));
    run(&["suite", &suite, "--quick", "--record", "/missing/r.json"]).failed("cannot write");
}

/// Every operation with every element type that has it. A wrong result would be exit code 1.
#[test]
fn every_operation_is_right_for_every_dtype() {
    let dtypes = "bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128";
    let operand = |dtype: &str| {
        format!(r#"{{"dtype": "{dtype}", "base": [9, 7], "ops": [["permute", [1, 0]]]}}"#)
    };
    let elementwise = |op: &str, out: &str, operands: &str| {
        format!(
            r#"{{"group": "g", "id": "{op}", "op": "{op}", "out_dtype": "{out}",
                "operands": [{operands}]}}"#
        )
    };
    let reduction = |op: &str, dtype: &str, dims: &str| {
        let operand = operand(dtype);
        format!(
            r#"{{"group": "g", "id": "", "op": "{op}", "dims": {dims}, "operands": [{operand}]}}"#
        )
    };
    let mut cases = Vec::new();
    for dtype in dtypes.split(' ') {
        let copy = operand(dtype).replacen('{', r#"{"group": "g", "id": "copy", "#, 1);
        cases.push(copy);
        let complex = dtype.starts_with('c');
        let fraction = complex || dtype.contains('f');
        let number = dtype != "bool";
        let integer = ["u8", "i32"].contains(&dtype);
        let ops = [
            ("add", 2, number),
            ("sub", 2, number),
            ("mul", 2, number),
            ("neg", 1, number),
            ("mul_add", 3, number),
            ("relu", 1, number && !complex),
            ("div", 2, fraction || integer),
            ("sqrt", 1, fraction || integer),
            ("exp", 1, fraction || integer),
        ];
        for (op, arity, _) in ops.into_iter().filter(|(_, _, has)| *has) {
            let operands = vec![operand(dtype); arity].join(", ");
            let is_float = integer && ["div", "sqrt", "exp"].contains(&op);
            cases.push(elementwise(op, if is_float { "f32" } else { dtype }, &operands));
        }
        let reduced = ["u8", "i32", "f16", "f32", "f64"].contains(&dtype);
        for op in ["sum", "max", "argmax", "mean"] {
            if reduced && (op != "mean" || fraction) {
                for dims in ["[0]", "[1]", "[0, 1]"] {
                    cases.push(reduction(op, dtype, dims));
                }
            }
        }
        for (from, to) in [(dtype, "f32"), (dtype, "f64"), ("f32", dtype), ("f64", dtype)] {
            let from = operand(from);
            cases.push(elementwise("cast", to, &from));
        }
    }
    // Every case needs a name of its own.
    let named = |(at, case): (usize, &String)| case.replacen("\"g\"", &format!("\"g{at}\""), 1);
    let named: Vec<String> = cases.iter().enumerate().map(named).collect();
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{}]", named.join(",")));
    let text = run(&["suite", &suite, "--verify", "--threads", "1,2"]).succeeded();
    let expected = format!("All results are right: {} cases, threads: 1, 2.\n", cases.len());
    assert_eq!(text, expected);
}

#[test]
fn verification_measures_nothing_and_goes_with_nothing_that_does() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}, {ADD}]"));
    for other in ["--json", "--quick", "--check", "--record=r.json"] {
        run(&["suite", &suite, "--verify", other]).refused("cannot be used with");
    }
}

#[test]
fn a_filter_chooses_by_group_and_id() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}, {ADD}]"));
    let text = run(&["suite", &suite, "--json", "--quick", "--filter", "small/trans"]).succeeded();
    assert_eq!(lines(&text).len(), 1);
    run(&["suite", &suite, "--json", "--quick", "--filter", "nothing"])
        .refused("no case to measure");
}

#[test]
fn a_reduction_is_compared_with_the_best_contiguous_order() {
    let folder = Folder::new();
    let suite = folder.file(
        "s.json",
        r#"[{"group": "g", "id": "r", "op": "sum", "dims": [1], "operands": [
            {"dtype": "u8", "base": [40, 30], "ops": [["permute", [1, 0]]]}]}]"#,
    );
    let text = run(&["suite", &suite, "--json", "--quick"]).succeeded();
    let row = &lines(&text)[0];
    assert_eq!((row["dtype"].as_str(), row["bytes"].as_u64()), (Some("i64"), Some(1200 + 240)));
    assert!(row["contiguous_ns"].as_f64().unwrap() > 0.0);
    let text = run(&["suite", &suite, "--quick"]).succeeded();
    assert!(text.starts_with("reduction, g, 1 thread\n"), "{text}");
}

#[test]
fn fault_malformed_suites_are_refused_with_the_case() {
    let cases = [
        ("".to_owned(), "not a suite"),
        ("[]".to_owned(), "no case to measure"),
        ("{}".to_owned(), "not a suite"),
        (format!("[{COPY}"), "not a suite"),
        (format!("[{COPY}, 7]"), "case number 1"),
        (format!("[{COPY}, {{\"id\": \"x\"}}]"), "case x: missing field `group`"),
        (COPY.replace("f32", "f33"), "case transposed: unknown dtype 'f33'"),
        (COPY.replace("permute", "rotate"), "case transposed: unknown view operation"),
        (
            COPY.replace("[[\"permute\", [1, 0]]]", "[[\"permute\", [0, 0]]]"),
            "case transposed: permute(): duplicate",
        ),
        (COPY.replace("[6, 8]", "[8, 6]"), "case transposed: shape [8, 6] is stated"),
        (COPY.replace("[1, 6]", "[1, 7]"), "case transposed: strides [1, 7] are stated"),
        (COPY.replace("\"offset\": 0", "\"offset\": 1"), "case transposed: offset 1 is stated"),
        (COPY.replace("\"base\": [8, 6]", "\"base\": [8.5, 6]"), "case transposed: invalid type"),
        (ADD.replace("\"op\": \"add\"", "\"op\": \"frob\""), "case row: unknown op 'frob'"),
        (
            ADD.replace("\"op\": \"add\"", "\"op\": \"neg\""),
            "case row: neg takes 1 operands, not 2",
        ),
        (
            COPY.replacen("\"dtype\"", "\"opp\": \"exp\", \"dtype\"", 1),
            "case transposed: unknown key 'opp'",
        ),
        (format!("[{COPY}, {COPY}]"), "two cases are called small/transposed: numbers 0 and 1"),
        (
            ADD.replace("\"out_dtype\": \"f32\"", "\"out_dtype\": \"f64\""),
            "case row: an operand of dtype f32",
        ),
    ];
    for (text, reason) in cases {
        let text = if text.starts_with('{') && text.len() > 2 { format!("[{text}]") } else { text };
        let folder = Folder::new();
        let suite = folder.file("s.json", &text);
        run(&["suite", &suite, "--json", "--quick"]).refused(reason);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fault_a_case_beyond_memory_is_refused_before_the_others_run() {
    let folder = Folder::new();
    let huge =
        r#"{"group": "g", "id": "huge", "dtype": "f64", "base": [1099511627776], "ops": []}"#;
    let suite = folder.file("s.json", format!("[{COPY}, {huge}]"));
    let out = run(&["suite", &suite, "--json", "--quick"])
        .failed("case g/huge: needs 61.6 TB of memory, but only");
    assert_eq!(out, "");
}

#[test]
fn fault_calibrated_plans_need_a_calibration_of_this_machine() {
    let folder = Folder::new();
    let suite = folder.file("s.json", format!("[{COPY}]"));
    let args = ["suite", &suite, "--json", "--quick", "--calibrated"];
    let run = || finish(command(&args).env("XDG_CACHE_HOME", folder.path("")));
    run().refused("`tensor-bench calibrate --machine` writes it");
    std::fs::create_dir(folder.path("tensor")).unwrap();
    let file = folder.path("tensor").join("machine");
    Machine::detect().write_calibration(&file).unwrap();
    assert_eq!(lines(&run().succeeded()).len(), 1);
    let other = std::fs::read_to_string(&file).unwrap().replace("cpu ", "cpu Other ");
    std::fs::write(&file, other).unwrap();
    run().refused("it was measured on \"Other ");
}

/// Contenders of one race, so that their times can be compared.
#[test]
fn a_copy_by_bytes_is_raced_beside_the_typed_one() {
    let folder = Folder::new();
    let bools = COPY.replace("f32", "bool").replace("transposed", "bools");
    let suite = folder.file("s.json", format!("[{COPY}, {bools}, {ADD}]"));
    let rows = lines(&run(&["suite", &suite, "--bytes", "--quick", "--json"]).succeeded());
    let peers: Vec<_> = rows.iter().map(|row| row.get("peers")).collect();
    let peer = &peers[0].expect("a copy has a peer")[0];
    assert_eq!(peer["name"], "by bytes");
    assert!(peer["into_ns"].as_f64().unwrap() > 0.0, "{peer}");
    assert!(peers[1].is_none_or(|bools| bools[0].get("into_ns").is_none_or(Value::is_null)));
    assert_eq!(peers[2], None, "an operation has none");
    let text = run(&["suite", &suite, "--bytes", "--quick"]).succeeded();
    assert!(text.contains("case        this library  by bytes  speedup"), "{text}");
    run(&["suite", &suite, "--bytes", "--verify"]).succeeded();
    let reason = "--bytes races on one thread: --threads must have a 1";
    run(&["suite", &suite, "--bytes", "--threads", "2"]).refused(reason);
}

#[test]
fn bounds_are_measured_on_request() {
    let folder = Folder::new();
    let rows = COPY.replace("[[\"permute\", [1, 0]]]", "[]").replace("transposed", "contiguous");
    let rows = rows.replace("[6, 8], \"strides\": [1, 6]", "[8, 6], \"strides\": [6, 1]");
    let suite = folder.file("s.json", format!("[{COPY}, {rows}, {ADD}, {SUM}]"));
    let args = ["suite", &suite, "--bound", "--quick"];
    let found = lines(&run(&[&args[..], &["--json", "--threads", "1,2"]].concat()).succeeded());
    let has: Vec<bool> = found.iter().map(|row| row.contains_key("bound_ns")).collect();
    let expected = [true, true, true, false, false, false, false, false];
    assert_eq!(has, expected, "on one thread all but reductions have one");
    for row in &found[..3] {
        let [bound, own] = ["bound_ns", "into_ns"].map(|key| row[key].as_f64());
        assert!(bound <= own && bound > Some(0.0), "{row:?}");
    }
    let text = run(&args).succeeded();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(text.matches("share of the bound: median").count(), 2, "{text}");
    assert!(text.contains("width  bound  path"), "{text}");
    let without = run(&["suite", &suite, "--quick"]).succeeded();
    assert!(!without.contains("bound"), "{without}");
    let reason = "the bound is measured on one thread: --threads must have a 1";
    run(&["suite", &suite, "--bound", "--threads", "2"]).refused(reason);
    run(&["suite", &suite, "--bound", "--verify"]).refused("cannot be used with");
}

#[test]
fn a_record_keeps_bounds() {
    let folder = Folder::new();
    let record = folder.name("r.json");
    let args = ["suite", "--random", "copy", "--count", "9", "--mb", "0.001,0.02", "--quick"];
    let text = run(&[&args[..], &["--bound", "--record", &record]].concat()).succeeded();
    assert!(text.contains("Bounds\n\n"), "{text}");
    assert!(text.contains("Slowest by share of the bound, below 32 kB\n\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let document: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    assert!(document["command"].as_str().unwrap().contains(" --bound"), "{document}");
    let kept = document["rows"].as_array().unwrap();
    assert!(kept.iter().all(|row| row["bound_ns"].as_f64() > Some(0.0)), "{document}");
    assert!(run(&["results", &record]).succeeded().contains("Bounds\n\n"));
}

/// A file that is read or written twice would be lost.
#[test]
fn fault_a_suite_is_not_overwritten_by_what_it_gave() {
    let folder = Folder::new();
    let text = format!("[{COPY}]");
    let suite = folder.file("s.json", text.clone());
    let other = folder.name("r.json");
    for args in [["--record", &suite, "--html", &other], ["--record", &other, "--html", &other]] {
        run(&[&["suite", &suite, "--quick"], &args[..]].concat()).refused("are one file");
    }
    assert_eq!(std::fs::read_to_string(&suite).unwrap(), text);
    run(&["suite", &suite, "--quick", "--record", &folder.name("none/")]).failed("cannot write");
}

#[test]
fn fault_what_is_given_twice_is_refused() {
    let draw = ["suite", "--random", "copy", "--count", "2", "--quick"];
    for (option, value) in
        [("--family", "square,mixed,square"), ("--dtype", "f32,f32"), ("--threads", "1,2,1")]
    {
        let refusal = format!("{option} names something twice");
        run(&[&draw[..], &[option, value]].concat()).refused(&refusal);
    }
}

/// What is drawn is a case of a suite file: it can be written and read again.
#[test]
fn elementwise_cases_of_integers_can_be_saved() {
    let folder = Folder::new();
    let file = folder.name("u8.json");
    let draw =
        ["--random", "elementwise", "--dtype", "u8", "--count", "60", "--mb", "0.0001,0.001"];
    run(&[&["suite"], &draw[..], &["--save", &file]].concat()).succeeded();
    run(&["suite", &file, "--verify"]).succeeded();
}

/// A reader that closes the output does not keep the record from being written.
#[cfg(unix)]
#[test]
fn a_record_is_written_though_nobody_reads_the_output() {
    let folder = Folder::new();
    let (suite, record) = (folder.file("s.json", format!("[{COPY}]")), folder.name("r.json"));
    for format in [&["--json"][..], &[]] {
        let _ = std::fs::remove_file(&record);
        let mut child =
            command(&[&["suite", &suite, "--quick", "--record", &record], format].concat())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success());
        assert!(std::fs::read_to_string(&record).unwrap().contains("\"rows\""));
    }
}
