//! The page is parsed strictly as XML and compared with the document of `--json`.

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use super::{STYLE, page, suite_page};
use crate::{
    report::{Pass, Point, Report, Row, SCHEMA},
    suite,
    system::machine::{Cache, MachineInfo},
    track::build::Build,
};

/// A name that would be markup if it were not escaped.
const HOSTILE: &str = "</text></svg><script>alert(\"x\")</script> & 'rows'";

fn report() -> Report {
    let caches = [(1, 32 << 10), (2, 1 << 20)].map(|(level, bytes)| Cache { level, bytes });
    let machine = MachineInfo {
        cpu: Some("some <fast> CPU".to_owned()),
        caches: caches.to_vec(),
        memory: None,
        kernel: None,
        ..MachineInfo::read(&"v4")
    };
    let build =
        Build { commit: Some("abc".to_owned()), changed: false, rustc: "rustc 1".to_owned() };
    let point = |side: usize| Point {
        side,
        bytes: 8 * (side * side) as u64,
        naive_ns: 1.5,
        strided_ns: 0.1 + 0.2,
        contiguous_ns: 0.25,
    };
    Report {
        schema: SCHEMA,
        command: "tensor-bench report".to_owned(),
        build,
        machine,
        threads: 2,
        quick: false,
        layouts: vec![
            row(HOSTILE, [1, 64], 0),
            row("flipped", [64, -1], 63),
            row("wide", [0, 1], 0),
        ],
        curve: [16, 64, 1024].map(point).to_vec(),
    }
}

fn row(name: &str, strides: [isize; 2], offset: usize) -> Row {
    Row {
        name: name.to_owned(),
        view: ".t()".to_owned(),
        dtype: "f32",
        result_dtype: "f32",
        shape: vec![64, 64],
        strides: strides.to_vec(),
        offset,
        contiguous: false,
        breaks_at: Some(1),
        why: "dim 1".to_owned(),
        path: "transpose".to_owned(),
        bytes: 16384,
        naive_copy_ns: 90_000.1,
        copy_ns: 10_000.7,
        plain_copy_ns: 9000.3,
        allocating_copy_ns: 11_000.9,
        elementwise: Pass::new(95_000.2, 12_000.4, 8000.6, 11_000.9),
        sum: Pass::new(70_000.8, 6000.9, 5000.5, 11_000.9),
        slow_strides: Vec::new(),
    }
}

fn text(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).expect("the page is well-formed")
}

fn elements<'a>(node: Node<'a, 'a>, name: &str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|node| node.has_tag_name(name)).collect()
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect()
}

/// The numbers of a figure's table, row by row.
fn numbers(page: &Document<'_>, figure: &str) -> Vec<Vec<f64>> {
    let figure = page.descendants().find(|node| node.attribute("id") == Some(figure)).unwrap();
    let rows = figure.descendants().filter(|node| node.has_tag_name("tbody"));
    let value = |data: Node<'_, '_>| data.attribute("value").unwrap().parse().unwrap();
    let row = |row: Node<'_, '_>| {
        row.descendants().filter(|node| node.has_tag_name("data")).map(value).collect()
    };
    rows.flat_map(|body| body.children().map(row).collect::<Vec<_>>()).collect()
}

/// Numbers of the document, under each of the pointers.
fn document(entries: &Value, pointers: &[&str]) -> Vec<Vec<f64>> {
    let number = |entry: &Value, pointer: &str| entry.pointer(pointer).and_then(Value::as_f64);
    let entry = |entry: &Value| pointers.iter().filter_map(|p| number(entry, p)).collect();
    entries.as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn every_figure_has_a_name_a_picture_and_its_numbers() {
    let page = page(&report()).unwrap();
    let page = text(&page);
    let figures = elements(page.root(), "figure");
    assert_eq!(figures.len(), 6);
    for figure in figures {
        assert_eq!(elements(figure, "h2").len(), 1);
        assert!(!elements(figure, "tbody").is_empty(), "no numbers");
        let drawings = elements(figure, "svg");
        assert!(!drawings.is_empty(), "no picture");
        for svg in drawings {
            let title = svg.first_element_child().unwrap();
            assert!(title.has_tag_name("title") && !words(title).is_empty());
            assert_eq!(svg.attribute("aria-labelledby"), title.attribute("id"));
            assert_eq!(svg.attribute("role"), Some("img"));
        }
    }
}

#[test]
fn names_of_places_on_the_page_are_given_once() {
    let page = page(&report()).unwrap();
    let page = text(&page);
    let ids: Vec<_> = page.descendants().filter_map(|node| node.attribute("id")).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
}

#[test]
fn the_numbers_are_those_of_the_document() {
    let report = report();
    let (page, json) = (page(&report).unwrap(), serde_json::to_value(&report).unwrap());
    let page = text(&page);
    let pass = |name: &str| {
        ["naive_ns", "strided_ns", "contiguous_ns", "copied_first_ns"]
            .map(|f| format!("/{name}/{f}"))
    };
    for name in ["elementwise", "sum"] {
        let pointers = pass(name);
        let pointers = pointers.each_ref().map(String::as_str);
        assert_eq!(numbers(&page, name), document(&json["layouts"], &pointers), "{name}");
    }
    let break_even = ["/contiguous_ns", "/elementwise/pays_after", "/sum/pays_after"];
    assert_eq!(numbers(&page, "break-even"), document(&json["layouts"], &break_even));
    let curve = ["/side", "/bytes", "/naive_ns", "/strided_ns", "/contiguous_ns"];
    assert_eq!(numbers(&page, "curve"), document(&json["curve"], &curve));
    let copies = document(&json["layouts"], &["/naive_copy_ns", "/copy_ns", "/roof_ns"]);
    let shares: Vec<Vec<f64>> =
        copies.into_iter().map(|c| vec![c[0], c[1], c[2], c[2] / c[1]]).collect();
    assert_eq!(numbers(&page, "share"), shares);
}

/// The colours of methods have a meaning, so kinds of work need other colours.
#[test]
fn kinds_of_work_have_colours_of_their_own() {
    let page = page(&report()).unwrap();
    let page = text(&page);
    let figure =
        page.descendants().find(|node| node.attribute("id") == Some("break-even")).unwrap();
    let dots: HashSet<_> =
        elements(figure, "circle").iter().filter_map(|dot| dot.attribute("class")).collect();
    assert_eq!(dots, HashSet::from(["elementwise", "sum"]));
    for class in dots {
        assert!(STYLE.contains(&format!("\n.{class} {{ fill: var(--{class})")), "{class}");
        assert!(STYLE.contains(&format!("\n.stem.{class} {{ stroke: var(--{class})")), "{class}");
        assert_eq!(STYLE.matches(&format!("--{class}: #")).count(), 2, "light and dark, {class}");
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = page(&report()).unwrap();
    for forbidden in ["http:", "https:", "url(", "@import", "src=", "href=", "<script"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn names_are_shown_as_they_are() {
    let page = page(&report()).unwrap();
    let page = text(&page);
    let shown =
        |tag: &str| elements(page.root(), tag).into_iter().any(|node| words(node) == HOSTILE);
    assert!(shown("text") && shown("th"));
    assert!(words(page.root()).contains("some <fast> CPU"));
}

#[test]
fn what_could_steer_something_is_shown_as_a_question_mark() {
    let mut report = report();
    report.layouts[0].name = "a\u{1b}[31m\u{0}".to_owned();
    let page = page(&report).unwrap();
    assert!(words(text(&page).root()).contains("a?[31m?"));
}

#[test]
fn the_same_report_gives_the_same_page() {
    assert_eq!(page(&report()).unwrap(), page(&report()).unwrap());
}

#[test]
fn a_report_of_one_array_has_no_curve() {
    let page = page(&Report { curve: Vec::new(), ..report() }).unwrap();
    assert!(text(&page).descendants().all(|node| node.attribute("id") != Some("curve")));
}

/// Caches smaller than the first size and larger than the last, and only one point.
#[test]
fn odd_figures_are_drawn_within_the_picture() {
    let mut report = report();
    report.machine.caches = vec![Cache { level: 1, bytes: 1 }, Cache { level: 2, bytes: 1 << 60 }];
    report.curve.truncate(1);
    let page = page(&report).unwrap();
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

fn suite_row(group: &str, speed: f64, naive: f64, peer: Option<f64>) -> suite::Row {
    let value = serde_json::json!({
        "group": group, "id": HOSTILE, "op": "copy", "dtype": "f32", "threads": 1, "bytes": 64,
        "into_ns": 100.0 / speed, "alloc_ns": 1.0, "naive_ns": 100.0 / naive, "roof_ns": 100.0,
        "slower_than_naive": false, "path": "transpose",
        "peers": peer.map(|peer| serde_json::json!([
            {"name": "slow", "into_ns": 200.0 / peer, "fresh_ns": null},
            {"name": "fast", "into_ns": 100.0 / peer, "fresh_ns": null},
            {"name": "unable", "into_ns": null, "fresh_ns": null}
        ])).unwrap_or(serde_json::json!([])),
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_suite_has_a_curve_for_each_size_with_its_percentiles() {
    let large = [0.8, 0.2, 0.4].map(|speed| suite_row("large", speed, 0.1, Some(0.5)));
    let rows = [large.to_vec(), vec![suite_row("small", 0.05, 3.0, None)]].concat();
    let page = suite_page(&rows, &report().machine, "tensor-bench suite <a> & b");
    let read = text(&page);
    assert_eq!(elements(read.root(), "figure").len(), 2);
    assert_eq!(numbers(&read, "cases-0"), vec![vec![0.05, 3.0]; 6]);
    let of_large = numbers(&read, "cases-1");
    assert_eq!(
        (of_large[0].clone(), of_large[3].clone()),
        (vec![0.2, 0.1, 0.5], vec![0.4, 0.1, 0.5])
    );
    let titles: Vec<_> = elements(read.root(), "h2").into_iter().map(words).collect();
    let expected =
        ["copy, below 32 kB, 1 thread: 1 case", "copy, 2 MB and more, 1 thread: 3 cases"];
    assert_eq!(titles, expected);
    assert!(words(read.root()).contains("tensor-bench suite <a> & b"));
    assert!(!page.contains("NaN") && !page.contains("<script") && !page.contains("href="));
}

/// Each case is a step up at its speed; all of them together reach the top.
#[test]
fn a_curve_rises_by_a_step_for_each_case() {
    let rows = [0.1, 1.0].map(|speed| suite_row("own", speed, 0.01, None));
    let page = suite_page(&rows, &report().machine, "");
    let page = text(&page);
    let lines = elements(page.root(), "polyline");
    let points = |class: &str| {
        let line = lines.iter().find(|line| line.attribute("class") == Some(class)).unwrap();
        line.attribute("points").unwrap().to_owned()
    };
    assert_eq!(points("line strided"), "44.0,220.0 155.3,220.0 155.3,127.0 266.5,127.0 266.5,34.0");
    assert_eq!(points("line naive"), "44.0,220.0 44.0,220.0 44.0,127.0 44.0,127.0 44.0,34.0");
}
