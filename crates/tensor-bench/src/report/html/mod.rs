//! The report as a page: one file with everything in it, no scripts, nothing loaded from anywhere.
//!
//! [`page`] puts it together. A figure is a picture with its title and, folded away, the numbers it is drawn from; each module besides makes
//! one kind of picture from the report. Pictures are 380 units wide, as a phone is, so that their words stay readable there; wider screens show
//! several beside each other. Text goes through `maud`, which escapes it; the page is XML, too, so that tests can read it strictly.

mod bars;
mod break_even;
mod copies;
mod curve;
mod figure;
mod passes;
mod scale;
mod walk;
mod walks;

#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Report, Row};
use crate::{Result, measure::stats::geometric_mean, output::render};
use figure::Figure;

/// What HTML writes without an end, written so that XML has one.
const META: &str = r#"<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/>"#;

const STYLE: &str = include_str!("style.css");

/// The whole page. The same report gives the same page.
///
/// # Errors
/// None for layouts that could be measured.
pub fn page(report: &Report) -> Result<String> {
    let title = "The cost of non-contiguous memory on this machine";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head { (PreEscaped(META)) title { (title) } style { (PreEscaped(STYLE)) } }
            body {
                header { h1 { (title) } (card(report)) }
                main {
                    (summary(&report.layouts))
                    @for figure in figures(report)? { (figure.markup()) }
                }
                footer {
                    p {
                        "Written by " code { (report.command) }
                        ". Times are the best of many samples, taken in rounds."
                    }
                }
            }
        }
    };
    // Names come from files; what is no text has no place in XML.
    Ok(markup.into_string().replace(|c: char| c.is_control() && c != '\n', "?"))
}

fn figures(report: &Report) -> Result<Vec<Figure>> {
    let rows = &report.layouts;
    let mut figures = vec![passes::elementwise(rows), passes::sum(rows), copies::figure(rows)];
    figures.push(break_even::figure(rows));
    if !report.curve.is_empty() {
        figures.push(curve::figure(&report.curve, &report.machine.caches));
    }
    figures.push(walks::figure(rows)?);
    Ok(figures)
}

/// What the figures depend on.
fn card(report: &Report) -> Markup {
    let [cpu, caches] = report.machine.lines();
    let s = if report.threads == 1 { "" } else { "s" };
    let quick = if report.quick { ", quick: small arrays, few samples" } else { "" };
    let lines = [
        ("machine", format!("{cpu}; {caches}")),
        ("run", format!("{} thread{s}{quick}", report.threads)),
        (
            "build",
            format!("{} {}, {}", report.machine.version, report.build.short(), report.build.rustc),
        ),
        ("command", report.command.clone()),
    ];
    html! { dl { @for (name, text) in &lines { dt { (name) } dd { (text) } } } }
}

/// The page in three figures: what is left of the contiguous speed over views that are not contiguous.
fn summary(rows: &[Row]) -> Markup {
    let strided: Vec<&Row> = rows.iter().filter(|row| !row.contiguous).collect();
    let mean = |of: &dyn Fn(&Row) -> Option<f64>| {
        geometric_mean(&strided.iter().filter_map(|row| of(row)).collect::<Vec<_>>())
    };
    let tiles = [
        (
            mean(&|row| Some(row.elementwise.naive_efficiency())),
            "efficiency of the naive loop over views, in percent of the contiguous speed",
        ),
        (
            mean(&|row| Some(row.elementwise.efficiency())),
            "efficiency of this library over the same views",
        ),
        (
            mean(&|row| Some(row.bandwidth_share())),
            "of copy bandwidth (the fastest plain copy of the same bytes) for contiguous()",
        ),
    ];
    html! {
        section.tiles aria-label="Summary" {
            @for (mean, words) in tiles {
                @if let Some(mean) = mean { p { strong { (render::percent(mean)) } " " (words) } }
            }
        }
    }
}
