//! `suite --peers`: other libraries, if the program was built with them.

mod common;

use common::{Folder, run};

const TRANSPOSED: &str = r#"[{"group": "small", "id": "transposed", "dtype": "f32", "base": [8, 6],
    "ops": [["permute", [1, 0]]]}]"#;

#[cfg(not(feature = "peers"))]
#[test]
fn fault_a_program_without_peers_says_how_to_build_one() {
    let folder = Folder::new();
    let suite = folder.file("s.json", TRANSPOSED);
    run(&["suite", &suite, "--quick", "--peers"])
        .refused("cargo run --release -p tensor-bench --features peers -- suite FILE --peers");
}

#[cfg(feature = "peers")]
mod built {
    use serde_json::Value;

    use super::{Folder, TRANSPOSED, run};

    /// Layouts that only some libraries take. A wrong result would be exit code 1.
    const SUITE: &str = r#"[
        {"group": "g", "id": "transposed", "dtype": "f32", "base": [9, 7],
            "ops": [["permute", [1, 0]]]},
        {"group": "g", "id": "permuted", "dtype": "c128", "base": [3, 4, 5],
            "ops": [["permute", [2, 0, 1]]]},
        {"group": "g", "id": "flipped", "dtype": "u8", "base": [9, 7],
            "ops": [["flip", 1], ["slice", 0, 1, 9, 3]]},
        {"group": "g", "id": "expanded", "dtype": "i64", "base": [9, 1],
            "ops": [["expand", [9, 7]]]},
        {"group": "g", "id": "add", "op": "add", "out_dtype": "f32", "operands": [
            {"dtype": "f32", "base": [9, 7], "ops": [["flip", 0]]},
            {"dtype": "f32", "base": [1, 7], "ops": [["expand", [9, 7]]]}]},
        {"group": "g", "id": "exp", "op": "exp", "out_dtype": "f64", "operands": [
            {"dtype": "f64", "base": [9, 7], "ops": [["permute", [1, 0]]]}]},
        {"group": "g", "id": "whole", "op": "add", "out_dtype": "i32", "operands": [
            {"dtype": "i32", "base": [9, 7], "ops": []},
            {"dtype": "i32", "base": [9, 7], "ops": []}]}]"#;

    /// The libraries that have figures under the keys `into_ns` (preallocated) and `fresh_ns`
    /// (allocating).
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
            "transposed into ndarray rten-tensor strided-perm transpose fresh ndarray rten-tensor",
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
            .file("s.json", SUITE.replace("transposed", "a_name_longer_than_a_column_of_a_table"));
        let text = run(&["suite", &suite, "--quick", "--peers"]).succeeded();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("\ncopy, g, 1 thread, preallocated, ns\n"), "{text}");
        assert!(text.contains("\nelementwise, g, 1 thread, preallocated, ns\n"), "{text}");
    }

    #[test]
    fn peers_are_raced_at_one_thread_only() {
        let folder = Folder::new();
        let suite = folder.file("s.json", TRANSPOSED);
        let text = run(&["suite", &suite, "--json", "--quick", "--peers", "--threads", "2,1"]);
        let rows = text.succeeded();
        let has_peers: Vec<bool> = rows.lines().map(|row| row.contains("\"peers\"")).collect();
        assert_eq!(has_peers, [false, true]);
        run(&["suite", &suite, "--quick", "--peers", "--threads", "2"])
            .refused("--threads must have a 1");
    }
}
