//! `report`: the JSON document, the tables, and arrays of the user.

use crate::common::{FORTRAN, Folder, npy, npy_with_header, run};
use serde_json::Value;

#[test]
fn the_document_has_a_schema_a_machine_and_rows() {
    let text = run(&[
        "report",
        "--quick",
        "--json",
        "--threads",
        "1",
        "--npy",
        FORTRAN,
        "--slice",
        ":8, 1:",
    ])
    .succeeded();
    let report: Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(
        (&report["schema"], &report["threads"], &report["quick"]),
        (&2.into(), &1.into(), &true.into())
    );
    assert_eq!(
        report["command"],
        format!("tensor-bench report --quick --threads 1 --npy {FORTRAN} --slice ':8, 1:'")
    );
    assert!(report["build"]["rustc"].is_string() && report["curve"] == Value::Array(vec![]));
    assert!(
        report["machine"]["cores"].as_u64().unwrap() >= 1 && report["machine"]["simd"].is_string()
    );
    let row = &report["layouts"][0];
    assert_eq!(row["name"], "fortran_64x48_f32.npy");
    assert_eq!(row["view"], "[:8, 1:]");
    assert_eq!(
        (row["shape"].to_string(), row["strides"].to_string()),
        ("[8,47]".into(), "[1,64]".into())
    );
    assert_eq!(
        (&row["contiguous"], &row["breaks_at"], &row["bytes"]),
        (&false.into(), &1.into(), &1504.into())
    );
    assert_eq!(row["why"], "dim 1 stride 64, not 1");
    for time in ["naive_copy_ns", "copy_ns", "roof_ns", "contiguous_ns"] {
        assert!(row[time].as_f64().unwrap() > 0.0, "{time}");
    }
    for pass in ["elementwise", "sum"] {
        for time in ["naive_ns", "strided_ns", "contiguous_ns", "copied_first_ns"] {
            assert!(row[pass][time].as_f64().unwrap() > 0.0, "{pass} {time}");
        }
        assert!(row[pass].get("pays_after").is_some(), "{pass}");
    }
}

#[test]
fn slow_strides_are_in_the_document_and_in_the_text() {
    let folder = Folder::new();
    let path = folder.file("rows.npy", npy("|u1", false, "(64, 1024)", &[7; 64 << 10]));
    let args = ["report", "--quick", "--threads", "1", "--npy", &path, "--permute", "1,0"];
    let json = run(&[&args[..], &["--json"]].concat()).succeeded();
    let report: Value = serde_json::from_str(&json).expect("one document");
    let slow = &report["layouts"][0]["slow_strides"][0];
    assert_eq!(
        (slow["lints"].to_string(), &slow["dim"]),
        ("[\"power-of-two stride\"]".into(), &1.into())
    );
    assert_eq!(slow["padded_stride"], 1088);
    assert!(slow["ns"].as_f64().unwrap() > 0.0 && slow["avoided_ns"].as_f64().unwrap() > 0.0);
    let text = run(&args).succeeded();
    assert!(text.contains("\nSlow strides, each timed as it is"), "{text}");
    assert!(text.contains("power-of-two stride  "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn the_text_fits_a_hundred_columns_and_ends_with_advice() {
    let text = run(&["--quick", "--npy", FORTRAN]).succeeded();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("no: dim 1 stride 64, not 1"), "{text}");
    assert!(
        text.split("What to do\n\n").nth(1).is_some_and(|advice| advice.starts_with("- ")),
        "{text}"
    );
}

#[test]
fn the_text_has_times_and_efficiency() {
    let text = run(&["--quick", "--npy", FORTRAN]).succeeded();
    for title in ["Copy to contiguous memory", "Elementwise, 2x + 1", "Sum of all elements"] {
        let table = text.split_once(title).unwrap_or_else(|| panic!("{title} in {text}")).1;
        let head: Vec<&str> = table.lines().skip(2).take(3).collect();
        let copies = title.starts_with("Copy");
        let compared = if copies { ["% of", "bandwidth"] } else { ["efficiency", "copy,"] };
        assert!(compared.iter().all(|column| head[0].contains(column)), "{head:?}");
        assert_eq!(head[1].matches("naive").count(), 2, "{head:?}");
        assert_eq!(head[2].matches("library").count(), 2, "{head:?}");
        let last = if copies { "allocating" } else { "(passes)" };
        assert!(head[2].starts_with("layout ") && head[2].ends_with(last), "{head:?}");
    }
}

#[test]
fn a_page_is_written_beside_the_document_with_its_numbers() {
    let folder = Folder::new();
    let (page, name) = (folder.path("page.html"), folder.name("page.html"));
    let args = ["report", "--quick", "--json", "--npy", FORTRAN, "--html", &name];
    let report: Value = serde_json::from_str(&run(&args).succeeded()).expect("one document");
    let page = std::fs::read_to_string(page).unwrap();
    let row = &report["layouts"][0];
    for number in [&row["copy_ns"], &row["elementwise"]["naive_ns"], &row["sum"]["contiguous_ns"]] {
        assert!(page.contains(&format!("<data value=\"{number}\">")), "{number}");
    }
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
}

#[test]
fn fault_a_page_that_cannot_be_written_is_an_error_before_anything_is_measured() {
    let folder = Folder::new();
    let missing = folder.name("no/page.html");
    for place in [missing.as_str(), "/"] {
        let out = run(&["report", "--npy", FORTRAN, "--html", place]).failed("cannot write");
        assert_eq!(out, "");
    }
}

#[test]
fn fault_a_failed_run_leaves_the_old_page() {
    let folder = Folder::new();
    let page = folder.file("page.html", "old");
    run(&["report", "--quick", "--npy", FORTRAN, "--permute", "0", "--html", &page])
        .failed("permute");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "old");
    assert_eq!(folder.files(), ["page.html"]);
}

#[test]
fn a_contiguous_array_is_said_to_be_one() {
    let text = run(&["report", "--quick", "--npy", FORTRAN, "--transpose", "0,1"]).succeeded();
    assert!(text.contains("yes: in logical order"), "{text}");
    assert!(text.contains("Already contiguous"), "{text}");
}

#[test]
fn every_dtype_of_a_file_can_be_measured() {
    let folder = Folder::new();
    for (descr, width) in
        [("|b1", 1), ("<u2", 2), ("<i8", 8), ("<f2", 2), ("<f8", 8), ("<c8", 8), ("<c16", 16)]
    {
        let array = folder.file("a.npy", npy(descr, true, "(5, 7)", &vec![1; 35 * width]));
        run(&["report", "--quick", "--json", "--npy", &array]).succeeded();
    }
}

#[test]
fn fault_a_view_that_is_refused_or_empty_is_an_error() {
    run(&["report", "--quick", "--npy", FORTRAN, "--permute", "0"]).failed("permute");
    run(&["report", "--quick", "--npy", FORTRAN, "--slice", "5:5"]).refused("without elements");
}

/// The naive loop sums in single precision: of many equal numbers it loses more than others do.
#[test]
fn sums_that_single_precision_rounds_or_overflows_are_no_wrong_results() {
    let folder = Folder::new();
    for (name, value, rows) in [("tenths", 0.1f32, 1024usize), ("large", 1e37, 64)] {
        let header =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {rows}), }}");
        let data: Vec<u8> = value.to_le_bytes().repeat(rows * rows);
        let file = folder.file(name, npy_with_header(&header, &data));
        run(&["report", "--npy", &file, "--quick", "--threads", "1"]).succeeded();
    }
}
