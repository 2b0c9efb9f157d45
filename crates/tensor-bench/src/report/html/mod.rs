//! The report as an HTML page: one file without scripts that loads nothing.
//!
//! [`page`] assembles it. A figure is a picture with a title and a collapsed table of its numbers;
//! each other module draws one kind of picture. Pictures are 380 units wide, the width of a phone,
//! so that text is readable there; wider screens show several side by side. `maud` escapes all
//! text. The page is also XML, so that tests can parse it strictly.

mod bars;
mod break_even;
mod copies;
mod curve;
mod distribution;
pub(crate) mod figure;
mod passes;
mod scale;
mod walk;
mod walks;

#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Report, Row};
use crate::{
    Result, measure::stats::geometric_mean, output::render, suite, system::machine::MachineInfo,
};
use figure::Figure;

/// Void elements of HTML, closed as XML needs.
pub(crate) const META: &str = concat!(
    r#"<meta charset="utf-8"/>"#,
    r#"<meta name="viewport" content="width=device-width, initial-scale=1"/>"#,
    r#"<meta name="color-scheme" content="light dark"/>"#
);

pub(crate) const STYLE: &str = include_str!("style.css");

/// The whole page. The same report gives the same page.
///
/// # Errors
/// None for layouts that could be measured.
pub fn page(report: &Report) -> Result<String> {
    let title = "The cost of non-contiguous memory on this machine";
    let figures = figures(report)?;
    let main = html! {
        (summary(&report.layouts))
        @for figure in figures { (figure.markup()) }
    };
    Ok(document(title, &card(report), &main, &report.command))
}

/// The page of a suite: a cumulative curve for each kind of work, group and number of threads.
pub fn suite_page(rows: &[suite::Row], machine: &MachineInfo, command: &str) -> String {
    let mut rows: Vec<&suite::Row> = rows.iter().collect();
    rows.sort_by_key(|row| (row.threads, suite::SizeClass::named(&row.group)));
    let groups = suite::groups(rows);
    let [cpu, caches] = machine.lines();
    let card = html! { dl { dt { "machine" } dd { (cpu) "; " (caches) } } };
    let main = html! {
        @for (number, rows) in groups.iter().enumerate() {
            (distribution::figure(number, rows).markup())
        }
    };
    document("How fast strided work is, case by case", &card, &main, command)
}

fn document(title: &str, card: &Markup, main: &Markup, command: &str) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head { (PreEscaped(META)) title { (title) } style { (PreEscaped(STYLE)) } }
            body {
                header { h1 { (title) } (card) }
                main { (main) }
                footer {
                    p {
                        "Written by " code { (command) }
                        ". Times are the best of many samples, taken in rounds."
                    }
                }
            }
        }
    };
    // Names come from files; control characters are invalid in XML.
    markup.into_string().replace(|c: char| c.is_control() && c != '\n', "?")
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

/// Machine, run, build and command.
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

/// Three geometric means over the views that are not contiguous.
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
