//! `suite --random` and `suite --sweep`: which cases are measured, and what is said of them.

use std::collections::BTreeSet;

use crate::common::{Folder, run};
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect()
}

fn names(text: &str) -> Vec<String> {
    let named = |row: &Value| Some(format!("{}/{}", row["group"].as_str()?, row["id"].as_str()?));
    lines(text).iter().filter_map(named).collect()
}

const SMALL: [&str; 4] = ["--quick", "--mb", "0.0002,0.02", "--json"];

fn drawn(args: &[&str]) -> String {
    run(&[&["suite"], args, &SMALL].concat()).succeeded()
}

#[test]
fn every_case_is_a_line_and_the_last_line_sums_them_up() {
    let text = drawn(&["--random", "copy", "--seed", "7", "--count", "9", "--threads", "1,2"]);
    let rows = lines(&text);
    let (summary, rows) = rows.split_last().unwrap();
    assert_eq!(rows.len(), 18);
    let families: BTreeSet<_> = rows.iter().map(|row| row["family"].as_str().unwrap()).collect();
    assert_eq!(families.len(), 9);
    for row in rows {
        assert!(row["into_ns"].as_f64().unwrap() > 0.0 && row["slower_than"].is_array(), "{row}");
        assert_eq!(row["case"]["id"], row["id"]);
    }
    let summary = summary["summary"].as_array().unwrap();
    assert_eq!((&summary[0]["threads"], &summary[1]["threads"]), (&1.into(), &2.into()));
    let classes = summary[0]["classes"].as_array().unwrap();
    let cases: u64 = classes.iter().map(|class| class["cases"].as_u64().unwrap()).sum();
    assert_eq!(cases, 9);
    for class in classes {
        let score = &class["score"];
        let [median, fifth, worst] =
            ["median", "fifth_percentile", "worst"].map(|key| score[key].as_f64().unwrap());
        assert!(median >= fifth && fifth >= worst && worst > 0.0, "{class}");
        assert_eq!(class["slower_than"][0]["name"], "naive loop");
        assert_eq!(class["slower_than"][0]["of"], class["cases"]);
    }
    assert!(summary[0]["slowest"][0]["ids"].as_array().unwrap().len() <= 10);
}

#[test]
fn candidates_of_copies_are_timed_on_request() {
    let random = ["--random", "copy", "--seed", "7", "--count", "12", "--candidates"];
    let text = drawn(&random);
    let rows = lines(&text);
    let (summary, rows) = rows.split_last().unwrap();
    for row in rows {
        let candidates = &row["candidates"];
        let [chosen, best, regret] =
            ["chosen_ns", "best_ns", "regret"].map(|key| candidates[key].as_f64().unwrap());
        assert!(chosen >= best && best > 0.0 && regret == chosen / best, "{row}");
        let same = candidates["chosen"] == candidates["best"];
        assert!(candidates["count"].as_u64().unwrap() > 0 && (regret == 1.0 || !same), "{row}");
        assert!(candidates["view"].as_str().unwrap().starts_with("zeros("), "{row}");
    }
    let regret = &summary["regret"][0];
    assert_eq!((&regret["name"], &regret["cases"]), (&"small".into(), &12.into()));
    let shares = ["median", "p75", "p90", "p95", "worst"].map(|key| regret[key].as_f64().unwrap());
    assert!(shares[0] >= 1.0 && shares.is_sorted(), "{regret}");
    let tables = run(&[&["suite"], &random[..], &["--quick", "--mb", "0.0002,0.02"]].concat());
    let tables = tables.succeeded();
    assert!(tables.contains("\nRegret of the chosen plan of a copy\n"), "{tables}");
    let without = lines(&drawn(&["--random", "copy", "--seed", "7", "--count", "2"]));
    assert!(without.iter().all(|row| row.get("candidates").or(row.get("regret")).is_none()));
}

#[test]
fn the_same_seed_gives_the_same_cases_and_another_one_others() {
    let of = |seed: &str| {
        let folder = Folder::new();
        let file = folder.name("s.json");
        let args =
            ["suite", "--random", "reduce", "--seed", seed, "--count", "20", "--save", &file];
        assert_eq!(run(&args).succeeded(), "");
        std::fs::read_to_string(&file).unwrap()
    };
    assert_eq!(of("3"), of("3"));
    assert_ne!(of("3"), of("4"));
}

#[test]
fn saved_cases_are_a_suite_file_of_the_same_cases() {
    let folder = Folder::new();
    let file = folder.name("s.json");
    let random = ["--random", "elementwise", "--seed", "5", "--count", "10", "--mb", "0.001,0.02"];
    run(&[&["suite"], &random[..], &["--save", &file]].concat()).succeeded();
    let measured = run(&[&["suite"], &random[..], &["--quick", "--json"]].concat()).succeeded();
    let repeated = run(&["suite", &file, "--quick", "--json"]).succeeded();
    assert_eq!(names(&measured), names(&repeated));
    let verified = run(&["suite", &file, "--verify"]).succeeded();
    assert_eq!(verified, "All results are right: 10 cases, threads: 1.\n");
}

#[test]
fn results_of_drawn_cases_of_every_kind_are_right() {
    for kind in ["copy", "elementwise", "reduce"] {
        let args = ["suite", "--random", kind, "--count", "60", "--mb", "0.0002,0.05"];
        let text = run(&[&args[..], &["--verify", "--threads", "2"]].concat()).succeeded();
        assert_eq!(text, "All results are right: 60 cases, threads: 2.\n");
    }
}

#[test]
fn families_element_types_and_sizes_can_be_chosen() {
    let copies = ["--random", "copy", "--family", "flip,short-rows", "--dtype", "u8,f64"];
    let text = drawn(&[&copies[..], &["--count", "12"]].concat());
    for row in lines(&text).iter().filter(|row| row.get("id").is_some()) {
        let id = row["id"].as_str().unwrap();
        assert!(id.starts_with("flip_") || id.starts_with("short_rows_"), "{id}");
        assert!(["u8", "f64"].contains(&row["dtype"].as_str().unwrap()), "{row}");
        assert!((200..=20_000).contains(&row["bytes"].as_u64().unwrap()), "{row}");
    }
    let flips = ["--random", "copy", "--count", "18", "--filter", "flip"];
    assert_eq!(names(&drawn(&flips)).len(), 2);
}

#[test]
fn a_sweep_has_squares_of_all_sizes() {
    let text = drawn(&["--sweep", "--dtype", "f32"]);
    let names = names(&text);
    assert_eq!(names[..3], ["small/48_f32", "small/51_f32", "small/52_f32"]);
    let rows = lines(&text);
    assert!(rows[0].get("family").is_none() && rows[0]["case"]["base"][0] == 48);
}

#[test]
fn tables_fit_a_hundred_columns_and_show_the_slowest_layouts() {
    let args = ["suite", "--quick", "--mb", "0.0002,0.02", "--count", "12", "--random"];
    for (kind, score) in [("copy", "% of copy"), ("elementwise", "efficiency"), ("reduce", "eff")] {
        let text = run(&[&args[..], &[kind]].concat()).succeeded();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for expected in [score, "By family\n", "Slower by over 5 %", "below 32 kB", "zeros("] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
    }
}

#[test]
fn a_page_of_curves_is_written_beside_the_tables() {
    let folder = Folder::new();
    let page = folder.name("page.html");
    let args = ["suite", "--random", "copy", "--count", "9", "--mb", "0.001,0.1", "--quick"];
    let text = run(&[&args[..], &["--html", &page]].concat()).succeeded();
    assert!(text.starts_with("copy, 9 cases, 1 thread\n"), "{text}");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<polyline"), "{page}");
    assert!(page.contains("suite --random copy --seed 1 --count 9 --mb 0.001,0.1 --threads 1"));
}

#[test]
fn fault_what_cannot_be_drawn_is_refused() {
    let cases: [(&[&str], &str); 12] = [
        (&[], "required arguments were not provided"),
        (&["--random", "matmul"], "invalid value 'matmul'"),
        (&["--random", "copy", "--family", "mixed"], "copy has no family mixed: expected one of"),
        (&["--random", "copy", "--family", "spiral"], "invalid value 'spiral'"),
        (&["--random", "copy", "--mb", "3,2"], "LOW is more than HIGH: 3,2"),
        (&["--random", "copy", "--mb", "3"], "expected two numbers: LOW,HIGH"),
        (&["--random", "copy", "--mb", "0,2"], "a size must be above 0"),
        (&["--random", "copy", "--mb", "nan,2"], "a size must be above 0"),
        (&["--random", "copy", "--dtype", "f31"], "unknown dtype 'f31'"),
        (&["--random", "copy", "--count", "0"], "0 is not in 1..=100000"),
        (&["--random", "copy", "--filter", "nothing"], "no case to measure"),
        (&["--random", "copy", "--sweep"], "cannot be used with"),
    ];
    for (args, reason) in cases {
        run(&[&["suite"], args].concat()).refused(reason);
    }
    run(&["suite", "s.json", "--random", "copy"]).refused("cannot be used with");
    run(&["suite", "s.json", "--seed", "2"]).refused("cannot be used with");
    run(&["suite", "--sweep", "--family", "flip"]).refused("cannot be used with");
    run(&["suite", "s.json", "--save", "x"]).refused("cannot be used with");
    run(&["suite", "--random", "copy", "--save", "/missing/s.json"]).failed("cannot write");
}
