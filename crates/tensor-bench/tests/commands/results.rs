//! `results`: tables from the files of `suite --record`.

use crate::common::{Folder, run};

#[test]
fn a_group_is_a_line() {
    let folder = Folder::new();
    let record = folder.file("r.json", RECORD);
    let expected = "\
Some CPU, 2 cores, SIMD level v3 (AVX2)
L1 48 KiB; memory unknown; linux x86_64 6.1
measured by suite s.json --threads 1 --peers

Copies: percent of copy bandwidth

                                                     pre-
group  cases  threads  mean  worst              allocated  worst              allocating
dram       1        1  50 %   50 %  transposed       2.00   2.00  transposed
";
    assert!(run(&["results", &record]).succeeded().starts_with(expected));
}

#[test]
fn fault_records_are_put_together_unless_their_machines_differ() {
    let folder = Folder::new();
    let copies = folder.file("c.json", RECORD);
    let sums = RECORD
        .replace("\"copy\"", "\"add\"")
        .replace("\"path\"", "\"contiguous_ns\": 9e5, \"path\"");
    let sums = sums.replace("suite s.json", "suite e.json");
    let text = run(&["results", &copies, &folder.file("e.json", &sums)]).succeeded();
    for line in [
        "measured by suite s.json",
        "suite e.json",
        "dram       1        1  50 %",
        "dram       1        1  90 %",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let other = folder.file("o.json", sums.replace("Some CPU", "Other CPU"));
    run(&["results", &copies, &other]).refused("measured on another machine than");
}

#[test]
fn every_case_of_a_record_has_a_line() {
    let folder = Folder::new();
    let text = run(&["results", "--cases", &folder.file("r.json", RECORD)]).succeeded();
    let tables = "\
copy, dram, 1 thread

                                                                    % of
                           preallo-         allo-   naive   plain  band-
case        dtype   bytes     cated  GB/s  cating    loop    copy  width  path
transposed  f32    8.0 MB    1.0 ms   8.0  2.0 ms  9.0 ms  500 us   50 %  transpose
% of copy bandwidth: geometric mean 50 %, worst 50 % (transposed)
";
    assert!(text.contains(tables), "{text}");
    let beside = "\
copy, dram, 1 thread, preallocated, GB/s

case        this library  ndarray  speedup
transposed           8.0      4.0     2.00
speedup: geometric mean 2.00, worst 2.00 (transposed)

preallocated: the result is given (out=); allocating: a new result each time
speedup: over the fastest other library; –: not in the library
";
    assert!(text.ends_with(beside), "{text}");
}

/// The record of two drawn cases; the library was twice faster in the second.
fn population() -> String {
    let case = r#""family": "flip", "case": {"group": "large", "id": "flip_0", "dtype": "f32",
        "base": [4, 2], "ops": [["flip", 0]]}, "slower_than": ["ndarray"], "peers""#;
    let drawn = RECORD.replace("\"peers\"", case).replace("dram", "large");
    drawn.replace("suite s.json", "suite --random copy --seed 3 --count 2")
}

#[test]
fn drawn_cases_are_shown_as_a_distribution_and_as_markdown() {
    let folder = Folder::new();
    let drawn = folder.file("d.json", population());
    let text = run(&["results", &drawn, &folder.file("c.json", RECORD)]).succeeded();
    for part in [
        "\ndram       1        1  50 %",
        "\nsuite --random copy --seed 3 --count 2 --threads 1 --peers\n\ncopy, 1 case, 1 thread\n",
        "2 MB and more  4 B and more      1       50 %  50 %   50 %        9.00  9.00   9.00",
        "2 MB and more  4 B and more  0 of 1   1 of 1   1 of 1",
        "        zeros(4, 2).flip(0)\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let table = run(&["results", "--markdown", &drawn]).succeeded();
    let line = "| copy | 2 MB and more | 4 B and more | 1 | 50 % | 50 % | 50 % | 0 | 1 |\n";
    assert!(table.contains(line), "{table}");
    assert!(table.replace('\n', " ").contains("SIMD level v3 (AVX2), by `suite --ra"));
    let sweep = folder.file("s.json", population().replace("\"family\": \"flip\",", ""));
    let table = run(&["results", "--markdown", &sweep]).succeeded();
    assert!(table.contains("\n| transposed squares | 2 MB and more |"), "{table}");
    run(&["results", "--markdown", "--cases", &drawn]).refused("cannot be used with");
}

#[test]
fn the_regret_of_the_plans_is_shown_if_they_were_timed() {
    let folder = Folder::new();
    let candidates = r#""candidates": {"count": 3, "chosen_ns": 3e5, "best_ns": 2e5, "regret": 1.5,
        "chosen": "rows", "best": "transpose", "view": "zeros(4, 2).t()"}, "peers""#;
    for record in [RECORD.to_owned(), population()] {
        let timed = record.replace("\"peers\"", candidates);
        let without = run(&["results", &folder.file("r.json", record)]).succeeded();
        let text = run(&["results", &folder.file("t.json", timed)]).succeeded();
        assert!(text.starts_with(without.trim_end()), "{text}");
        let line = "\n2 MB and more        1      1         3.0    1.50  1.50  1.50  1.50   1.50\n";
        assert!(text.contains(line) && text.contains("\n        chosen: 300 us, rows\n"), "{text}");
        assert!(!without.contains("regret"), "{without}");
    }
}

#[test]
fn fault_what_is_no_record_of_a_suite_is_refused() {
    let folder = Folder::new();
    let cases = [
        ("{}", "not a record of a suite"),
        (&RECORD[..200], "not a whole record of a suite: EOF"),
        (
            &RECORD.replace("\"schema\": 1", "\"schema\": 9"),
            "schema 9; this program reads schema 1",
        ),
        (
            r#"{"form": "tensor-bench record", "schema": 2, "cases": []}"#,
            "r.json: not a record of a suite: written by `tensor-bench record`; read it with \
             `compare` or `history`",
        ),
    ];
    for (text, reason) in cases {
        run(&["results", &folder.file("r.json", text)]).refused(reason);
    }
    run(&["results", "/missing/r.json"]).refused("cannot read /missing/r.json");
}

const RECORD: &str = r#"{"schema": 1, "command": "suite s.json --threads 1 --peers",
    "machine": {"cpu": "Some CPU", "cores": 2, "caches": [{"level": 1, "bytes": 49152}],
        "simd": "v3",
        "memory": null, "system": "linux x86_64", "kernel": "6.1", "version": "0.1.0"},
    "rows": [{"group": "dram", "id": "transposed", "op": "copy", "dtype": "f32", "threads": 1,
        "bytes": 8000000, "into_ns": 1e6, "alloc_ns": 2e6, "naive_ns": 9e6,
        "slower_than_naive": false, "roof_ns": 5e5, "path": "transpose",
        "peers": [{"name": "ndarray", "into_ns": 2e6, "fresh_ns": null}]}]}"#;
