//! `suite --peers` and `peers`: other libraries beside ourselves, if the program was built with them.

mod common;

use common::{Folder, run};

const TURNED: &str = r#"[{"group": "small", "id": "turned", "dtype": "f32", "base": [8, 6], "ops": [["permute", [1, 0]]]}]"#;

#[cfg(not(feature = "peers"))]
#[test]
fn a_program_without_peers_says_how_to_build_one() {
    let folder = Folder::new();
    let suite = folder.file("s.json", TURNED);
    run(&["suite", &suite, "--quick", "--peers"])
        .refused("cargo run --release -p tensor-bench --features peers -- suite FILE --peers");
}

#[test]
fn tables_are_made_of_a_record() {
    let folder = Folder::new();
    let record = folder.file("r.json", RECORD);
    let expected = "\
Some CPU, 2 cores, v3
L1 48 KiB; memory unknown; linux x86_64 6.1
measured by suite s.json --threads 1 --peers

copy, dram, 1 thread, GB/s

case    into
        ours  ndarray  ratio
turned   8.0      4.0   2.00
ratio, into: geometric mean 2.00, worst 2.00 (turned)

into: result there already; fresh: a new result each time; –: not in the library
ratio: how many times as fast as the fastest other library
";
    assert_eq!(run(&["peers", &record]).succeeded(), expected);
}

#[test]
fn what_is_no_record_of_peers_is_refused() {
    let folder = Folder::new();
    let cases = [
        ("{}", "not a record of a suite"),
        (&RECORD.replace("\"schema\": 1", "\"schema\": 9"), "schema 9, not 1"),
        (&RECORD.replace("\"peers\"", "\"others\""), "no other library was measured"),
    ];
    for (text, reason) in cases {
        run(&["peers", &folder.file("r.json", text)]).refused(reason);
    }
    run(&["peers", "/nowhere/r.json"]).refused("cannot read /nowhere/r.json");
}

const RECORD: &str = r#"{"schema": 1, "command": "suite s.json --threads 1 --peers",
    "machine": {"cpu": "Some CPU", "cores": 2, "caches": [{"level": 1, "bytes": 49152}], "simd": "v3", "memory": null,
        "system": "linux x86_64", "kernel": "6.1", "version": "0.1.0"},
    "rows": [{"group": "dram", "id": "turned", "op": "copy", "dtype": "f32", "threads": 1, "bytes": 8000000,
        "into_ns": 1e6, "alloc_ns": 2e6, "naive_ns": 9e6, "slower_than_naive": false, "roof_ns": 5e5, "path": "tile",
        "peers": [{"name": "ndarray", "into_ns": 2e6, "fresh_ns": null}]}]}"#;

#[cfg(feature = "peers")]
mod built {
    use serde_json::Value;

    use super::{Folder, TURNED, run};

    /// Layouts that some libraries take and others do not; wrong results would be exit code 1.
    const SUITE: &str = r#"[
        {"group": "g", "id": "turned", "dtype": "f32", "base": [9, 7], "ops": [["permute", [1, 0]]]},
        {"group": "g", "id": "permuted", "dtype": "c128", "base": [3, 4, 5], "ops": [["permute", [2, 0, 1]]]},
        {"group": "g", "id": "flipped", "dtype": "u8", "base": [9, 7], "ops": [["flip", 1], ["slice", 0, 1, 9, 3]]},
        {"group": "g", "id": "expanded", "dtype": "i64", "base": [9, 1], "ops": [["expand", [9, 7]]]},
        {"group": "g", "id": "add", "op": "add", "out_dtype": "f32", "operands": [
            {"dtype": "f32", "base": [9, 7], "ops": [["flip", 0]]},
            {"dtype": "f32", "base": [1, 7], "ops": [["expand", [9, 7]]]}]},
        {"group": "g", "id": "exp", "op": "exp", "out_dtype": "f64", "operands": [
            {"dtype": "f64", "base": [9, 7], "ops": [["permute", [1, 0]]]}]},
        {"group": "g", "id": "whole", "op": "add", "out_dtype": "i32", "operands": [
            {"dtype": "i32", "base": [9, 7], "ops": []}, {"dtype": "i32", "base": [9, 7], "ops": []}]}]"#;

    /// Who has figures, `into` and `fresh`.
    fn able(row: &Value) -> String {
        let peers = row["peers"].as_array().map_or(&[][..], Vec::as_slice);
        let names = |way: &str| {
            let able = peers.iter().filter(|peer| peer[way].is_f64());
            able.map(|peer| peer["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        format!(
            "{} into {} fresh {}",
            row["id"].as_str().unwrap(),
            names("into_ns"),
            names("fresh_ns")
        )
    }

    #[test]
    fn each_library_is_raced_where_it_can_do_the_work() {
        let folder = Folder::new();
        let suite = folder.file("s.json", SUITE);
        let text = run(&["suite", &suite, "--json", "--quick", "--peers"]).succeeded();
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected = [
            "turned into ndarray rten-tensor strided-perm transpose fresh ndarray rten-tensor",
            "permuted into ndarray rten-tensor strided-perm fresh ndarray rten-tensor",
            "flipped into ndarray strided-perm fresh ndarray",
            "expanded into ndarray rten-tensor strided-perm fresh ndarray rten-tensor",
            "add into ndarray fresh ",
            "exp into ndarray fresh ",
            "whole into  fresh ",
        ];
        assert_eq!(rows.iter().map(able).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_tables_fit_a_hundred_columns() {
        let folder = Folder::new();
        let suite = folder
            .file("s.json", SUITE.replace("turned", "a_name_longer_than_a_column_of_a_table"));
        let text = run(&["suite", &suite, "--quick", "--peers"]).succeeded();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("\ncopy, g, 1 thread, ns\n"), "{text}");
        assert!(text.contains("\nelementwise, g, 1 thread, ns\n"), "{text}");
    }

    #[test]
    fn peers_are_raced_at_one_thread_only() {
        let folder = Folder::new();
        let suite = folder.file("s.json", TURNED);
        let text = run(&["suite", &suite, "--json", "--quick", "--peers", "--threads", "2,1"]);
        let rows = text.succeeded();
        let has_peers: Vec<bool> = rows.lines().map(|row| row.contains("\"peers\"")).collect();
        assert_eq!(has_peers, [false, true]);
        run(&["suite", &suite, "--quick", "--peers", "--threads", "2"])
            .refused("--threads must have a 1");
    }
}
