//! The page is parsed strictly as XML.

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};
use tensor_kernels::Exec;

use super::{super::Explanation, OWN_STYLE, page, svg};
use crate::input::chain::Chain;

fn drawn(chain: &str) -> String {
    let explanation = Explanation::of(&Chain::parse(chain).unwrap()).unwrap();
    page(chain, &explanation, Exec::current().unwrap()).unwrap()
}

fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).expect("the page is well-formed")
}

fn elements<'a>(node: Node<'a, 'a>, name: &str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|node| node.has_tag_name(name)).collect()
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect()
}

fn by_id<'a>(page: &'a Document<'a>, id: &str) -> Node<'a, 'a> {
    page.descendants().find(|node| node.attribute("id") == Some(id)).expect("the id is there")
}

fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
}

/// The numbers in the cells of a picture, in the order of drawing.
fn numbers(page: &Document<'_>, picture: &str) -> Vec<usize> {
    let title = by_id(page, &format!("{picture}-title"));
    let picture = title.parent().unwrap();
    let texts = elements(picture, "text").into_iter().filter(|text| has_class(text, "offset"));
    texts.map(|text| words(text).parse().unwrap()).collect()
}

const CHAIN: &str = "arange(12).view(3, 4).t()[::2].contiguous().view(6)";

#[test]
fn each_call_is_a_step_with_two_pictures_and_what_it_does() {
    let page = drawn(CHAIN);
    let page = parsed(&page);
    let steps = elements(page.root(), "section");
    let calls: Vec<_> = steps.iter().map(|step| words(elements(*step, "h2")[0])).collect();
    let expected = [
        "arange(12) new tensor",
        ".view(3, 4) view",
        ".t() view",
        "[::2] view",
        ".contiguous() copy",
        ".view(6) view",
    ];
    assert_eq!(calls, expected);
    assert!(steps.iter().all(|step| elements(*step, "svg").len() == 2));
    assert!(words(page.root()).contains("5 calls on a new tensor; one copies, 48 B."));
}

#[test]
fn a_grid_has_the_offsets_by_index_and_a_strip_those_in_memory() {
    let page = drawn(CHAIN);
    let page = parsed(&page);
    assert_eq!(numbers(&page, "grid-2"), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    assert_eq!(numbers(&page, "strip-2"), (0..12).collect::<Vec<_>>());
    assert_eq!(numbers(&page, "grid-3"), [0, 4, 8, 2, 6, 10]);
    assert_eq!(numbers(&page, "strip-3"), [0, 2, 4, 6, 8, 10]);
    assert_eq!(numbers(&page, "grid-4"), [0, 1, 2, 3, 4, 5]);
}

/// A colour is a place in the storage, in both pictures, or in the part of it that is drawn.
#[test]
fn colours_are_places_in_the_storage() {
    let colours = |page: &Document<'_>, picture: &str| -> Vec<f64> {
        let picture = by_id(page, &format!("{picture}-title")).parent().unwrap();
        let cells = elements(picture, "rect").into_iter().filter(|cell| has_class(cell, "element"));
        let place = |style: &str| style.strip_prefix("--p:").unwrap().parse().unwrap();
        cells.map(|cell| place(cell.attribute("style").unwrap())).collect()
    };
    let page = drawn("arange(9)[::2].view(1, 5).t()[1:]");
    let page = parsed(&page);
    assert_eq!(colours(&page, "grid-4"), [0.25, 0.5, 0.75, 1.0]);
    assert_eq!(colours(&page, "strip-4"), [0.25, 0.5, 0.75, 1.0]);
    let page = drawn("zeros(3, 100000)[:, :2]");
    let page = parsed(&page);
    let rows = colours(&page, "grid-1");
    assert_eq!((rows[0], rows[2], rows[5]), (0.0, 0.5, 1.0));
}

#[test]
fn dimensions_before_the_last_two_are_matrices_with_their_index() {
    let page = drawn("arange(24).view(2, 3, 2, 2).flip(0)");
    let page = parsed(&page);
    let grid = by_id(&page, "grid-2-title").parent().unwrap();
    let labels: Vec<_> = elements(grid, "text").into_iter().map(words).collect();
    for name in ["[0, 0, :, :]", "[0, 2, :, :]", "[1, 0, :, :]"] {
        assert!(labels.iter().any(|label| label == name), "{labels:?}");
    }
    assert_eq!(numbers(&page, "grid-2")[..6], [12, 13, 14, 15, 16, 17]);
}

#[test]
fn every_picture_has_a_name_and_a_description() {
    let page = drawn(CHAIN);
    let page = parsed(&page);
    for svg in elements(page.root(), "svg") {
        assert_eq!(svg.attribute("role"), Some("img"));
        for (attribute, tag) in [("aria-labelledby", "title"), ("aria-describedby", "desc")] {
            let node = by_id(&page, svg.attribute(attribute).unwrap());
            assert!(
                node.has_tag_name(tag) && node.parent() == Some(svg) && !words(node).is_empty()
            );
        }
    }
    let text = words(by_id(&page, "grid-2-text"));
    assert_eq!(
        text,
        "Offsets in the storage, row by row: 0 4 8; 1 5 9; 2 6 10; 3 7 11. All elements."
    );
    let text = words(by_id(&page, "strip-3-text"));
    assert_eq!(
        text,
        "A storage of 12; the view has 6 of them. In the view: 0 2 4 6 8 10. Dimension 0 steps \
         from 0 to 2. Dimension 1 steps from 0 to 4."
    );
}

#[test]
fn strides_are_arrows_also_backwards_and_of_0() {
    let page = drawn("arange(6).expand(2, 6).flip(1)");
    let page = parsed(&page);
    let strip = by_id(&page, "strip-2-title").parent().unwrap();
    let paths = elements(strip, "path");
    let dims: Vec<_> = paths.iter().map(|path| path.attribute("class").unwrap()).collect();
    assert_eq!(dims, ["arrow dim-0", "arrow dim-1"]);
    let labels = elements(strip, "text").into_iter().filter(|t| has_class(t, "label"));
    let labels: Vec<_> = labels.map(words).collect();
    assert_eq!(labels, ["+0", "-1"]);
    for dim in 0..svg::COLOURS {
        assert_eq!(OWN_STYLE.matches(&format!("--dim-{dim}: #")).count(), 2, "light and dark");
    }
}

#[test]
fn what_avoids_a_copy_is_listed_and_a_refused_call_is_drawn_last() {
    let page = drawn("arange(6).view(2, 3).t().reshape(6)");
    let step = words(elements(parsed(&page).root(), "section").pop().unwrap());
    assert!(step.contains("Without this copy") && step.contains(".permute(1, 0).view(6): no copy"));
    let page = drawn("arange(6).view(2, 3).t().view(6).t()");
    let page = parsed(&page);
    let sections = elements(page.root(), "section");
    assert_eq!(sections.len(), 4);
    let refused = words(sections[3]);
    assert!(refused.starts_with(".view(6) refusedview size is not compatible"), "{refused}");
    assert!(
        refused.contains("Instead") && refused.contains(".reshape(6): copies 48 B"),
        "{refused}"
    );
}

#[test]
fn what_is_large_is_cut_off_with_a_note() {
    for (chain, note) in [
        ("zeros(300, 300).t()", "Cut off: the first 12 of 300 along dim 0"),
        ("arange(1000)", "Cut off: the first 96 of 1000 along dim 0."),
        ("zeros(2, 3, 4, 5, 6)", "Cut off: the first 1 of 2 along dim 0"),
        ("zeros(1000000, 1000000)[7:].flip(0, 1)", "of a storage of 1000000000000."),
        ("arange(4000000000000)[3999999999999:]", "to 3999999999999 of a storage of"),
    ] {
        let page = drawn(chain);
        assert!(page.len() < 200_000, "{} bytes for {chain}", page.len());
        let page = parsed(&page);
        assert!(words(page.root()).contains(note), "{chain}: {note}");
        for text in elements(page.root(), "text") {
            let x: f64 = text.attribute("x").unwrap().parse().unwrap();
            assert!((0.0..=svg::WIDTH).contains(&x), "{chain}: {x}");
        }
    }
}

#[test]
fn what_is_empty_has_no_elements_and_no_arrows() {
    let page = drawn("zeros(0, 3).view(3, 0)");
    let page = parsed(&page);
    assert!(words(page.root()).contains("It has no elements."));
    assert!(elements(page.root(), "rect").is_empty() && elements(page.root(), "path").is_empty());
    let page = drawn("zeros(4)[:0]");
    assert!(numbers(&parsed(&page), "strip-1").is_empty());
    let page = drawn("zeros(()).unsqueeze(0)");
    assert_eq!(numbers(&parsed(&page), "grid-0"), [0]);
}

/// A chain has only names of calls and numbers, but the page takes any text.
#[test]
fn text_of_the_user_is_escaped() {
    let hostile = "</code><script>alert(\"x\")</script> & 'rows'\u{1b}[31m";
    let explanation = Explanation::of(&Chain::parse("arange(2)").unwrap()).unwrap();
    let page = page(hostile, &explanation, Exec::current().unwrap()).unwrap();
    assert!(!page.contains("<script"));
    let shown = elements(parsed(&page).root(), "code").into_iter().map(words).next().unwrap();
    assert_eq!(shown, hostile.replace('\u{1b}', "?"));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = drawn(CHAIN);
    for forbidden in ["http:", "https:", "url(", "@import", "src=", "href=", "<script"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf,"));
    assert!(page.contains("@media (prefers-color-scheme: dark)"));
}

#[test]
fn names_of_places_on_the_page_are_given_once_and_the_page_is_deterministic() {
    let page = drawn(CHAIN);
    let document = parsed(&page);
    let ids: Vec<_> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    assert_eq!(page, drawn(CHAIN));
}

/// Left, top, right and bottom of a label, of letters as wide as those of usual fonts.
fn extent(label: Node<'_, '_>) -> [f64; 4] {
    let at = |name: &str| label.attribute(name).unwrap().parse::<f64>().unwrap();
    let (x, y, long) = (at("x"), at("y"), 5.6 * words(label).chars().count() as f64);
    if label.attribute("transform").is_some() {
        return [x - 9.0, y - long, x, y];
    }
    let left = match label.attribute("text-anchor") {
        Some("end") => x - long,
        Some("middle") => x - long / 2.0,
        _ => x,
    };
    [left, y - 9.0, left + long, y]
}

#[test]
fn no_label_covers_another_or_leaves_the_drawing() {
    for chain in [
        CHAIN,
        "arange(60).view(3, 4, 5).transpose(0, 2)[:, ::3]",
        "arange(24).view(2, 3, 4).permute(2, 0, 1)[:, :, ::2].unfold(0, 2, 1)",
        "zeros(64, 64).t()[::-1, 1:]",
        "zeros(2, 2, 100000)[:, :, :2].permute(2, 0, 1)",
        "arange(6).expand(2, 6).flip(1)",
    ] {
        let page = drawn(chain);
        let page = parsed(&page);
        for picture in elements(page.root(), "svg") {
            let height = picture.attribute("viewBox").unwrap().rsplit(' ').next().unwrap();
            let height: f64 = height.parse().unwrap();
            let labels = elements(picture, "text").into_iter().filter(|t| has_class(t, "label"));
            let labels: Vec<_> = labels.map(|label| (extent(label), words(label))).collect();
            for (at, ([left, top, right, bottom], text)) in labels.iter().enumerate() {
                assert!(*top >= -1.0 && *bottom <= height + 1.0, "{chain}: {text} {top} {height}");
                for ([l, t, r, b], other) in &labels[..at] {
                    let apart = right <= l || r <= left || bottom <= t || b <= top;
                    assert!(apart, "{chain}: {text} and {other}");
                }
            }
        }
    }
}
